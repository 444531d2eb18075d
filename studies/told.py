"""How little regret can be had on the tasks of `studies.general`? A Gaussian process that is told all but the function.

It is told what a search has to learn otherwise: the mean and the variance of the expected reward over the cube, the
length-scale with the most evidence on the expected reward itself, and the variance of the noise. It sees the rewards of
`studies.general` after the same initial designs, chooses points in one of several ways, and recommends the point with
the best posterior mean. What it does not reach on a task is not for want of a better prior of mean, variances or
length-scale. It can be surpassed: it takes noise for Gaussian and equally large everywhere. It is also the place to
compare ways to choose points, since nothing but the choice differs and a run takes a second: *inwards* are scores that
fall towards the border of the cube (`infgp.search.border`), as those of infgp do.

    python -m studies.told [--seeds 10] [--tasks a,b] [--methods a,b] [--jobs 2]     # goes on where it stopped
    python -m studies.told --quick      # one task, 20 evaluations; writes nothing
    python -m studies.told --table      # writes results/told/table.md; it compares with results/general
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from infgp.bench.cells import ratio, table
from infgp.bench.records import load
from infgp.bench.runner import generator, initial_design, noise
from infgp.bench.statistics import by_task
from infgp.bench.study import FLOOR, RESULTS, Study
from infgp.bench.tasks import task
from infgp.bench.tasks.general import GENERAL
from infgp.core.linalg import one_blas_thread
from infgp.search.border import lowered
from infgp.search.improvement import log_h
from infgp.search.knowledge import NODES, WEIGHTS, expected_best
from infgp.search.maximise import candidates
from infgp.space import Float, Space
from studies.general import REFERENCE, TEMPTING, along, final, settled

#: Ways to choose the next point, and what they are called in tables.
WAYS = {
    "told-kg": "told, knowledge gradient",
    "told-kg-inwards": "told, knowledge gradient, inwards",
    "told-ei": "told, expected improvement",
    "told-ei-inwards": "told, expected improvement, inwards",
    "told-ts": "told, Thompson sampling",
    "told-uniform": "told, uniform points",
}
#: What the told process is compared with: records of `studies.general`.
PEERS = (REFERENCE, "infgp-final", "infgp")
#: Length-scales of which the process is told the best, in units of the cube's side.
LENGTHS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 2.0)
#: Number of inputs at which the expected reward is averaged.
MANY = 20_000
#: Number of inputs at which a length-scale's evidence is computed.
SOME = 400
#: Number of inputs at which noise is drawn.
DRAWN = 5_000
#: Variance added to correlations, so that they can be factorised.
JITTER = 1e-6
#: Candidates for the next point over the whole cube, and around each good point.
FAR, NEAR = 128, 40
#: Number of evaluated points with the best posterior mean around which is searched.
GOOD = 5
#: First number of the key that the randomness of the choices is derived from.
CHOICES = 4
TEXT = f"""\
Regret, 1 being that of a uniform point, of a Gaussian process that is told the mean, the variance and the length-scale
of the expected reward and the variance of the noise: geometric means over runs (number of seeds); a regret counts at
least {FLOOR:g}. Ratios are to `{REFERENCE}` of `studies.general`, an ordinary Gaussian process that learns these
numbers: geometric means over tasks and seeds, on the same seeds and the same initial designs (95 % interval)."""


@dataclass(frozen=True)
class Told:
    """What the process is told of a task."""

    mean: float
    variance: float
    length: float
    noise: float


def correlation(a, b, length):
    """Squared exponential correlations between the rows of two arrays."""
    return np.exp(-0.5 * cdist(a, b, "sqeuclidean") / length**2)


@cache
def told(name):
    """What the process is told of a task: moments of the expected reward, the best length-scale, the noise."""
    made, rng = task(name), np.random.default_rng(0)
    x = rng.random((MANY, made.d))
    expected = made.expected(x)
    z, found = expected[:SOME] - expected.mean(), []
    for length in LENGTHS:
        factor = cho_factor(correlation(x[:SOME], x[:SOME], length) + 1e-4 * np.eye(SOME), lower=True)
        variance = float(z @ cho_solve(factor, z)) / SOME
        found.append((-0.5 * SOME * np.log(variance) - np.log(np.diag(factor[0])).sum(), length, variance))
    _, length, variance = max(found)
    rewards = np.array([made.draw(rng, row) for row in x[:DRAWN]])
    return Told(float(expected.mean()), variance, length, float(np.mean((rewards - expected[:DRAWN]) ** 2)))


class Process:
    """The posterior of a told process."""

    def __init__(self, known, x, y):
        self.known, self.x = known, x
        gram = known.variance * correlation(x, x, known.length)
        self.factor = cho_factor(gram + known.noise * np.eye(len(x)), lower=True)
        self.weights = cho_solve(self.factor, y - known.mean)

    def cross(self, at):
        """Prior covariances of the rows of `at` with the evaluated inputs."""
        return self.known.variance * correlation(at, self.x, self.known.length)

    def mean(self, at):
        """Posterior mean."""
        return self.known.mean + self.cross(at) @ self.weights

    def covariance(self, at):
        """Posterior covariance."""
        cross = self.cross(at)
        prior = self.known.variance * (correlation(at, at, self.known.length) + JITTER * np.eye(len(at)))
        return prior - cross @ cho_solve(self.factor, cross.T)


def choose(way, rng, space, known, x, y):
    """The next point."""
    if way == "told-uniform":
        return rng.random(space.d)
    process = Process(known, x, y)
    good = x[np.argsort(-process.mean(x), kind="stable")[:GOOD]]
    points = candidates(rng, space, good, FAR, NEAR)
    both = np.vstack((points, x))
    mean, covariance, m = process.mean(both), process.covariance(both), len(points)
    if way == "told-ts":
        draw = mean + np.linalg.cholesky(covariance) @ rng.standard_normal(len(both))
        return both[np.argmax(draw)]
    variance = np.diag(covariance)[:m]
    if way.startswith("told-ei"):
        sd = np.sqrt(variance)
        score = np.log(sd) + log_h((mean[:m] - mean[m:].max()) / sd)
    else:
        per_sd = 1.0 / np.sqrt(variance + known.noise)
        moved = np.ascontiguousarray(covariance[:m] * per_sd[:, None])
        gain = expected_best(mean[:m], variance * per_sd, mean, moved, NODES, WEIGHTS) - mean.max()
        score = np.log(np.maximum(gain, np.finfo(float).tiny))
    left = float(np.mean(known.noise / (variance[:FAR] + known.noise)))
    if way.endswith("inwards"):
        score = lowered(lambda at: score, space, left)(points)
    return points[np.argmax(score)]


def recommended(rng, space, process):
    """The point with the best posterior mean."""
    points = candidates(rng, space, process.x, 4096, 10)
    best = points[np.argsort(-process.mean(points))[:20]]
    points = candidates(rng, space, best, 1, 200)
    return points[np.argmax(process.mean(points))]


def measure(job, warm):
    """A record of one run."""
    made, known, begin = task(job.task), told(job.task), time.perf_counter()
    steps = made.steps if job.steps is None else job.steps
    space, rewards = Space.of({f"x{k}": Float(0.0, 1.0) for k in range(made.d)}), noise(made, job.seed)
    x, y = initial_design(made, job.seed)[:steps], []
    with one_blas_thread():
        for n in range(steps):
            rng = generator(made.name, job.seed, CHOICES, n)
            if n == len(x):
                x = np.vstack((x, choose(job.method, rng, space, known, x, np.array(y))))
            y.append(made.draw(rewards(n), x[n]))
        rng = generator(made.name, job.seed, CHOICES, steps)
        point = recommended(rng, space, Process(known, x, np.array(y)))
    regrets = made.best - made.expected(np.vstack((x, point)))
    return {
        "task": job.task,
        "method": job.method,
        "seed": job.seed,
        "d": made.d,
        "steps": steps,
        "regret": [float(f"{regret:.4g}") for regret in regrets[:-1]],
        "recommend_regret": float(f"{regrets[-1]:.6g}"),
        "seconds": [round(time.perf_counter() - begin, 3)],
        "failures": [],
    }


def one_table(runs, value):
    """Tasks in rows, ways and peers in columns, and ratios to an ordinary process."""

    def cell(found):
        return f"{np.exp(np.mean(np.log(found))):.2f} ({len(found)})" if found else ""

    columns, rows = [*WAYS, *PEERS], []
    logs = {name: {} for name in columns}
    for name in GENERAL:
        mine = {m: {s: max(value(r), FLOOR) for s, r in settled(runs.get(name, {}), m).items()} for m in columns}
        if any(mine[way] for way in WAYS):
            rows.append([name, *(cell(list(mine[m].values())) for m in columns)])
        for m in columns:
            pairs = [(v, mine[REFERENCE][seed]) for seed, v in mine[m].items() if seed in mine[REFERENCE]]
            logs[m][name] = [float(np.log(own / other)) for own, other in pairs]
    quiet = [name for name in GENERAL if not name.startswith(TEMPTING)]
    for title, names in (("ratio", GENERAL), (f"ratio without {' and '.join(TEMPTING)}", quiet)):
        rows.append([title, *(ratio([v for name in names for v in logs[m][name]]) for m in columns)])
    for d in (1, 2, 5):
        names = [name for name in quiet if name.endswith(f"-d{d}")]
        rows.append([f"the same, d = {d}", *(ratio([v for name in names for v in logs[m][name]]) for m in columns)])
    labels = ["one surface, learns them", "infgp, goal: the best point in the end", "infgp, goal: along"]
    return table(["task", *WAYS.values(), *labels], rows)


def tables(records):
    """The recommendation, and what was evaluated on the way."""
    others = [record for record in load(RESULTS / "general") if record["method"] in PEERS]
    runs = by_task([*records, *others])
    parts = [("The recommendation after all evaluations", final), ("The evaluated points, on average", along)]
    return "\n\n".join([TEXT, *(f"**{title}**\n\n{one_table(runs, value)}" for title, value in parts)])


STUDY = Study(
    name="told",
    text=__doc__,
    tasks=GENERAL,
    methods=tuple(WAYS),
    table=tables,
    seeds=10,
    quick=("success-d1",),
    quick_steps=20,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
