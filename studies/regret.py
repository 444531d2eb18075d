"""Is the stated law of the regret true? Stated quantiles against the realised regret, and what stopping by it costs.

The default searches tasks with a known optimum, of six kinds. After every fifth evaluation from the twentieth on,
`Optimizer.regret` is asked. The record has quantiles of the regret, the mean, the probability of less than epsilon, and
what the regret of the recommended point is in truth. Epsilon is a share of a uniform point's regret.

    python -m studies.regret [--seeds 20] [--tasks a,b] [--jobs 2]      # goes on where it stopped
    python -m studies.regret --quick       # one task, 30 evaluations; writes nothing
    python -m studies.regret --table       # writes results/regret/table.md
"""

from __future__ import annotations

import time
from functools import cache

import numpy as np
from scipy.stats import beta

from infgp.bench.runner import initial_design, noise, versions
from infgp.bench.study import Study
from infgp.bench.tables import table
from infgp.bench.tasks import task
from infgp.core.linalg import one_blas_thread
from infgp.search.optimizer import Optimizer
from infgp.search.stopping import RegretBelow
from infgp.space import Float, Space

#: Tasks, by what is special about them.
KINDS = {
    "smooth": (
        "rosenbrock-gaussian-d2",
        "rosenbrock-gaussian-d5",
        "rosenbrock-outliers-d2",
        "levy-gaussian-d1",
        "levy-gaussian-d2",
    ),
    "multimodal": (
        "styblinski_tang-gaussian-d1",
        "styblinski_tang-gaussian-d2",
        "styblinski_tang-gaussian-d5",
        "styblinski_tang-outliers-d2",
        "schwefel-gaussian-d1",
        "schwefel-outliers-d2",
    ),
    "needle": ("ackley-gaussian-d1", "ackley-gaussian-d2", "ackley-gaussian-d5", "ackley-outliers-d2"),
    "non-stationary": (
        "ackley-nonstationary-d1",
        "ackley-nonstationary-d2",
        "levy-nonstationary-d2",
        "styblinski_tang-nonstationary-d5",
        "ackley-nonstationary_outliers-d2",
    ),
    "skewed": (
        "exponential-d1",
        "exponential-d2",
        "gamma-d5",
        "log-normal-d2",
        "jackpot-d2",
        "levy-weibull-d2",
    ),
    "success or failure": ("success-d1", "success-d2", "success-d5", "zero-inflated-d2"),
}
TASKS = tuple(name for names in KINDS.values() for name in names)
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}
#: Evaluations of a run.
STEPS = 100
#: Numbers of evaluations after which quantiles are compared with the truth.
AFTER = (30, 60, 100)
#: First number of evaluations after which the regret is asked for.
FIRST = 20
#: Evaluations between two questions.
EVERY = 5
#: Levels of the quantiles.
LEVELS = (0.5, 0.8, 0.9, 0.95)
#: The quantile of the main table.
MAIN = 0.9
#: Epsilon of the rule to stop, as a share of a uniform point's regret.
SHARE = 0.1
#: Least regret that counts, as a share of a uniform point's: points closer than this to the best are equal to it.
LEAST = 1e-4
TEXT = f"""\
Share of the runs in which the realised regret is below the stated quantile, by the number of evaluations (number of
runs). A regret below {LEAST:g} of a uniform point's counts as none. Stopping: `RegretBelow(epsilon, 0.95)`, asked after
every {EVERY} evaluations, where epsilon is {SHARE:g} of the regret of a uniform point. Of the runs that stopped, the
share whose regret is above epsilon, with its upper 95 % confidence limit, and the evaluations used, on average."""


@cache
def uniform(name):
    """Regret of a uniform point of a task."""
    made = task(name)
    x = np.random.default_rng(0).random((20_000, made.d))
    return made.best - float(made.expected(x).mean())


def measure(job, warm):
    """A record of what was stated, and what was true, after some numbers of evaluations of one run."""
    made, seconds, stated = task(job.task), [], []
    steps = STEPS if job.steps is None else job.steps
    space = Space.of({f"x{k}": Float(0.0, 1.0) for k in range(made.d)})
    optimizer, design, rewards = Optimizer(space, seed=job.seed), initial_design(made, job.seed), noise(made, job.seed)
    epsilon = SHARE * uniform(job.task)
    rule = RegretBelow(epsilon)
    with one_blas_thread():
        for n in range(steps):
            begin = time.perf_counter()
            point = space.from_unit(design[n][None])[0] if n < len(design) else optimizer.ask()
            optimizer.tell(point, made.draw(rewards(n), space.to_unit([point])[0]))
            if n + 1 >= FIRST and (n + 1) % EVERY == 0:
                asked = time.perf_counter()
                regret = optimizer.regret()
                true = made.best - float(made.expected(space.to_unit([regret.point]))[0])
                stated.append(
                    {
                        "n": n + 1,
                        "true": float(f"{true:.5g}"),
                        "mean": float(f"{regret.mean:.5g}"),
                        "quantiles": [float(f"{regret.quantile(q):.5g}") for q in LEVELS],
                        "below": regret.probability_below(epsilon),
                        "stops": rule.met(regret),
                        "seconds": round(time.perf_counter() - asked, 3),
                    }
                )
            seconds.append(round(time.perf_counter() - begin, 3))
    return {
        "task": job.task,
        "method": job.method,
        "seed": job.seed,
        "d": made.d,
        "steps": steps,
        "stated": stated,
        "seconds": seconds,
        "versions": versions(()),
    }


def covered(records, n, level):
    """For each run, whether the realised regret after n evaluations is below the stated quantile."""
    k, found = LEVELS.index(level), []
    for record in records:
        least = LEAST * uniform(record["task"])
        found += [s["true"] <= max(s["quantiles"][k], least) for s in record["stated"] if s["n"] == n]
    return found


def share(hits):
    """Share of hits and their number."""
    return f"{np.mean(hits):.2f} ({len(hits)})" if hits else "–"


def limit(bad, total):
    """Upper 95 % confidence limit of a share (Clopper and Pearson)."""
    return 1.0 if bad == total else float(beta.ppf(0.95, bad + 1, total - bad))


def stopping(records):
    """Runs that stopped, share of them whose regret is above epsilon with its limit, and evaluations used."""
    stops = []
    for record in records:
        first = next((s for s in record["stated"] if s["stops"]), None)
        if first is not None:
            stops.append((first["n"], first["true"] > SHARE * uniform(record["task"])))
    if not stops:
        return [f"0 of {len(records)}", "–", "–"]
    bad = sum(above for _, above in stops)
    used = np.mean([n for n, _ in stops])
    return [
        f"{len(stops)} of {len(records)}",
        f"{bad / len(stops):.2f} (at most {limit(bad, len(stops)):.2f})",
        f"{used:.0f}",
    ]


def tables(records):
    """Coverage by kind and by level, and stopping by kind."""
    groups = {kind: [r for r in records if KIND_OF[r["task"]] == kind] for kind in KINDS}
    groups = {kind: mine for kind, mine in groups.items() if mine} | {"all": records}
    main = [[kind, *(share(covered(mine, n, MAIN)) for n in AFTER)] for kind, mine in groups.items()]
    levels = [[f"{100 * q:g} %", *(share(covered(records, n, q)) for n in AFTER)] for q in LEVELS]
    stops = [[kind, *stopping(mine)] for kind, mine in groups.items()]
    numbers = [f"n = {n}" for n in AFTER]
    parts = [
        (f"The stated {100 * MAIN:g} % quantile", table(["kind", *numbers], main)),
        ("All stated quantiles", table(["quantile", *numbers], levels)),
        ("Stopping", table(["kind", "stopped", "regret above epsilon", "evaluations"], stops)),
    ]
    return "\n\n".join([TEXT, *(f"**{title}**\n\n{text}" for title, text in parts)])


STUDY = Study(
    name="regret",
    text=__doc__,
    tasks=TASKS,
    methods=("infgp",),
    table=tables,
    seeds=20,
    quick=("levy-gaussian-d1",),
    quick_steps=30,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
