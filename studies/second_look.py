"""Which evaluated point is worth a second look? Rules of allocation where the posterior is exact.

Functions are drawn from a Gaussian process of two inputs over 125 points. A search with 80 noisy evaluations leaves an
exact posterior over the points that it has evaluated. Twenty evaluations of them follow, each chosen by a rule; then
the point with the best posterior mean is taken. Its regret is that against the best of the evaluated points, in
standard deviations of the function. Each record has a block of repetitions, the same for all rules.

    python -m studies.second_look [--seeds 15] [--tasks a,b] [--methods a,b]    # goes on where it stopped
    python -m studies.second_look --quick      # one block; writes nothing
    python -m studies.second_look --table      # writes results/second_look/table.md
"""

from __future__ import annotations

import time

import numpy as np

from infgp.bench.cells import table
from infgp.bench.runner import versions
from infgp.bench.study import Study

#: Standard deviation of the noise, in standard deviations of the function, by task.
NOISES = {"noise-0.1": 0.1, "noise-0.4": 0.4, "noise-1": 1.0}
#: Points that are evaluated first.
DESIGN = 25
#: Points from which the search chooses besides.
POOL = 100
#: Evaluations of the search, the design included.
SEARCH = 80
#: Evaluations that follow.
LOOKS = 20
#: Length-scale of the functions, in units of the square's side.
LENGTH = 0.25
#: Draws of the posterior that a rule sees.
DRAWS = 192
#: Repetitions of a record.
BLOCK = 20
#: Points that are repeated by the rule `best five`.
FIVE = 5
#: Least gap between two means that optimal computing budget allocation believes in, in standard deviations of draws.
LEAST_GAP = 0.05
#: Least share of the draws in which a point is best that makes it likely.
LIKELY = 0.02
NODES = np.polynomial.hermite_e.hermegauss(9)
TEXT = """\
Regret after the second looks: mean over repetitions ± its standard error, and the ratio of the mean to that of the
knowledge gradient on the same repetitions."""


def draws(rng, mean, covariance, count):
    """Draws of the posterior, shape (points, count)."""
    values, vectors = np.linalg.eigh(covariance)
    return mean[:, None] + (vectors * np.sqrt(np.maximum(values, 0.0))) @ rng.standard_normal((mean.size, count))


def update(mean, covariance, i, y, variance):
    """The posterior after a reward y at point i."""
    gain = covariance[:, i] / (covariance[i, i] + variance)
    return mean + gain * (y - mean[i]), covariance - np.outer(gain, covariance[i])


def knowledge_gradient(rng, mean, covariance, variance, counts):
    """The look that is expected to raise the best mean most."""
    moved = covariance / np.sqrt(np.diag(covariance) + variance)
    return np.argmax(sum(w * np.max(mean[:, None] + z * moved, axis=0) for z, w in zip(*NODES, strict=True)))


def knowledge_gradient_of_likely(rng, mean, covariance, variance, counts):
    """The same among the points that may be best: those that are best in one draw of fifty or more."""
    best = np.bincount(np.argmax(draws(rng, mean, covariance, DRAWS), axis=0), minlength=mean.size)
    likely = np.flatnonzero(best >= LIKELY * DRAWS)
    part = covariance[np.ix_(likely, likely)]
    return likely[knowledge_gradient(rng, mean[likely], part, variance, counts)]


def two_best(rng, mean, covariance):
    """The best point of one draw, and the best of another draw in which that one is not best."""
    best = np.argmax(draws(rng, mean, covariance, DRAWS), axis=0)
    first = best[rng.integers(best.size)]
    others = np.flatnonzero(best != first)
    return first, best[rng.choice(others)] if others.size else first


def top_two(rng, mean, covariance, variance, counts):
    """Top-two Thompson sampling: a coin decides between two points."""
    return two_best(rng, mean, covariance)[int(rng.random() < 0.5)]


def top_two_uncertain(rng, mean, covariance, variance, counts):
    """Top-two Thompson sampling, where the point that is less certain is looked at."""
    first, second = two_best(rng, mean, covariance)
    return first if covariance[first, first] > covariance[second, second] else second


def budget_allocation(rng, mean, covariance, variance, counts):
    """Optimal computing budget allocation: the point that is farthest behind its share."""
    gap = np.maximum(mean.max() - mean, LEAST_GAP * draws(rng, mean, covariance, DRAWS).std())
    share = gap**-2.0
    best = int(np.argmax(mean))
    share[best] = 0.0
    share[best] = np.sqrt(np.sum(share**2))
    return np.argmax(share / share.sum() * (counts.sum() + 1.0) - counts)


def best_five(rng, mean, covariance, variance, counts):
    """The five points with the best means in turn."""
    return np.argsort(-mean)[int(counts.sum()) % FIVE]


def nothing(rng, mean, covariance, variance, counts):
    """No second look."""
    return None


RULES = {
    "knowledge gradient": knowledge_gradient,
    "knowledge gradient of likely points": knowledge_gradient_of_likely,
    "top two": top_two,
    "top two, less certain": top_two_uncertain,
    "budget allocation": budget_allocation,
    "best five": best_five,
    "nothing": nothing,
}


def searched(rng, noise):
    """Values of the evaluated points, and what is known of them after a search."""
    x = rng.random((DESIGN + POOL, 2))
    prior = np.exp(-0.5 * np.sum((x[:, None] - x[None]) ** 2, axis=2) / LENGTH**2)
    f = np.linalg.cholesky(prior + 1e-8 * np.eye(len(x))) @ rng.standard_normal(len(x))
    mean, covariance, told = np.zeros(len(x)), prior, []
    for n in range(SEARCH):
        i = n
        if n >= DESIGN:  # Thompson sampling and an upper bound in turn
            bound = mean + np.sqrt(np.maximum(np.diag(covariance), 0.0))
            i = int(np.argmax(draws(rng, mean, covariance, 1)[:, 0] if n % 2 else bound))
        mean, covariance = update(mean, covariance, i, f[i] + noise * rng.standard_normal(), noise**2)
        told.append(i)
    known = np.unique(told)
    return f[known], mean[known], covariance[np.ix_(known, known)]


def measure(job, warm):
    """A record of one block of repetitions of one rule."""
    noise, rule, begin, regret = NOISES[job.task], RULES[job.method], time.perf_counter(), []
    for k in range(BLOCK):
        f, mean, covariance = searched(np.random.default_rng([job.seed, k]), noise)
        rng, counts = np.random.default_rng([job.seed, k, 1]), np.zeros(f.size)
        for _ in range(LOOKS):
            i = rule(rng, mean, covariance, noise**2, counts)
            if i is not None:
                counts[i] += 1.0
                y = f[i] + noise * rng.standard_normal()
                mean, covariance = update(mean, covariance, i, y, noise**2)
        regret.append(float(f"{f.max() - f[np.argmax(mean)]:.5g}"))
    return {
        "task": job.task,
        "method": job.method,
        "seed": job.seed,
        "d": 2,
        "block": regret,
        "seconds": [round(time.perf_counter() - begin, 3)],
        "versions": versions(()),
    }


def tables(records):
    """Rules in rows, noises in columns."""
    rows = []
    for rule in RULES:
        cells = []
        for name in NOISES:
            mine, base = (
                {r["seed"]: r["block"] for r in records if (r["task"], r["method"]) == (name, method)}
                for method in (rule, "knowledge gradient")
            )
            both = [seed for seed in mine if seed in base]
            if not both:
                cells.append("–")
                continue
            own, other = (np.concatenate([part[seed] for seed in both]) for part in (mine, base))
            error = own.std() / np.sqrt(own.size)
            cells.append(f"{own.mean():.4f} ± {error:.4f}, ratio {own.mean() / max(other.mean(), 1e-12):.2f}")
        if any(cell != "–" for cell in cells):
            rows.append([rule, *cells])
    return f"{TEXT}\n\n{table(['rule', *NOISES], rows)}"


STUDY = Study(
    name="second_look",
    text=__doc__,
    tasks=tuple(NOISES),
    methods=tuple(RULES),
    table=tables,
    seeds=15,
    quick=("noise-1",),
    dimension=lambda task: 2,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
