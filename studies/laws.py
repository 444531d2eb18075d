"""How well does `InfiniteGP` learn reward laws, where noise is a nuisance and where the law carries the value?

A task is a general reward law of `infgp.bench.tasks.general` (``success-d1``, 100 inputs), rewards over decades of
`infgp.bench.tasks.scales` (100 inputs) or a family of `infgp.bench.tasks.families` (``cauchy-d1-n60``); inputs are
uniform. Methods are options of `InfiniteGP`: the default, the warp learned, constant odds, odds that are smooth in the
joint model, and one surface, an ordinary GP. Recorded are the log density of held-out rewards, the share of them within
the 90 % interval and, for general laws, whose means are known, the root mean squared error of the predicted mean.

    python -m studies.laws [--seeds 3] [--tasks a,b] [--methods a,b] [--jobs 2]     # goes on where it stopped
    python -m studies.laws --quick      # one task; writes nothing
    python -m studies.laws --table      # writes results/laws/table.md
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from infgp import InfiniteGP
from infgp.bench.cells import ratio, table
from infgp.bench.study import Study
from infgp.bench.tasks import task as task_of
from infgp.bench.tasks.families import FAMILIES, draw
from infgp.bench.tasks.general import GENERAL
from infgp.bench.tasks.scales import MADE

#: Options of `InfiniteGP` by method.
OPTIONS = {
    "default": {},
    "warped": {"warp": "learned"},
    "constant": {"odds": "constant"},
    "smooth": {"odds": "smooth"},
    "one": {"surfaces": 1},
}
#: Inputs to learn from, and inputs at which what was learned is judged.
LEARNED = 100
JUDGED = 300
#: Inputs of a family's task.
FAMILY = 60
#: Least density that counts.
LEAST = 1e-300
#: Ends of the interval whose coverage is recorded, as probabilities.
INTERVAL = (0.05, 0.95)
#: Tasks of the families.
FAMILY_TASKS = tuple(f"{family}-d{d}-n{FAMILY}" for d in (1, 2, 5) for family in FAMILIES)


def dimension(name):
    """Number of inputs."""
    return int(name.split("-d")[1].split("-")[0])


def sample(name, seed):
    """Inputs and rewards to learn from, inputs and rewards to judge by, and the mean where it is judged, if known."""
    if name in FAMILY_TASKS:  # a general law may have the name of a family
        made = draw(name.split("-d")[0], dimension(name), FAMILY, seed)
        return made.x, made.y, made.x_test, made.y_test, None
    task, rng = task_of(name), np.random.default_rng([seed, 19])
    x, at = rng.random((LEARNED, task.d)), rng.random((JUDGED, task.d))
    y, y_at = (np.array([task.draw(rng, row) for row in rows]) for rows in (x, at))
    return x, y, at, y_at, task.expected(at) if name in GENERAL else None


def measure(job, warm):
    """The record of one fit."""
    x, y, at, y_at, truth = sample(job.task, job.seed)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        begin = time.process_time()
        model = InfiniteGP(random_state=job.seed, **OPTIONS[job.method]).fit(x, y)
        seconds = time.process_time() - begin
        density = np.log(np.maximum(model.predict_density(at, y_at), LEAST))
        low, high = model.predict_quantiles(at, INTERVAL).T
        rmse = None if truth is None else float(np.sqrt(np.mean((model.predict(at) - truth) ** 2)))
    covered = float(np.mean((low <= y_at) & (y_at <= high)))
    found = {"log_density": float(density.mean()), "covered": covered, "rmse": rmse, "seconds": seconds}
    return {"task": job.task, "method": job.method, "seed": job.seed, "d": job.d, **found}


def densities(by_key, tasks):
    """Log density, and how much more that is than of each other method, on the same seeds."""
    rows = []
    for name in tasks:
        mine = by_key.get((name, "default"), {})
        cells = []
        for other in list(OPTIONS)[1:]:
            theirs = by_key.get((name, other), {})
            gaps = [mine[s]["log_density"] - theirs[s]["log_density"] for s in mine if s in theirs]
            cells.append(f"{np.mean(gaps):+.2f} ({min(gaps):+.2f})" if gaps else "")
        if mine:
            rows.append([name, len(mine), f"{np.mean([r['log_density'] for r in mine.values()]):.2f}", *cells])
    head = ["task", "seeds", "log density", *(f"less that of {other}" for other in list(OPTIONS)[1:])]
    return "Log density of a held-out reward, mean over seeds; differences with the least of any seed.\n\n" + table(
        head, rows
    )


def errors(by_key):
    """Root mean squared error of the mean, as ratios to that of one surface."""
    rows, every = [], {method: [] for method in OPTIONS}
    for name in GENERAL:
        one, cells = by_key.get((name, "one"), {}), []
        for method in OPTIONS:
            mine = by_key.get((name, method), {})
            logs = [float(np.log(mine[s]["rmse"] / one[s]["rmse"])) for s in mine if s in one]
            every[method] += logs
            cells.append(f"{np.exp(np.mean(logs)):.2f}" if logs else "")
        if one:
            rows.append([name, len(one), *cells])
    rows.append(["all", "", *(ratio(logs) for logs in every.values())])
    return "RMSE of the predicted mean over that of one surface, geometric mean over seeds.\n\n" + table(
        ["task", "seeds", *OPTIONS], rows
    )


def coverage(shares):
    """Mean, least and most of some shares, how many there are, and which part of them is what was wanted."""
    if not shares:
        return ""
    within = np.mean([abs(share - 0.9) <= 0.03 for share in shares])
    return f"{np.mean(shares):.3f} ({min(shares):.2f}–{max(shares):.2f}), {len(shares)}, {within:.0%}"


def coverages(by_key):
    """Share of held-out rewards within the 90 % interval, by kind of task and method."""
    kinds = {"general rewards": GENERAL, "rewards over decades": MADE, "families": FAMILY_TASKS}
    rows = []
    for kind, names in kinds.items():
        cells = []
        for method in OPTIONS:
            mine = [r for name in names for r in by_key.get((name, method), {}).values() if "covered" in r]
            cells.append(coverage([r["covered"] for r in mine]))
        rows.append([kind, *cells])
    return (
        "Share of held-out rewards within the 90 % interval: mean over fits (least and most of any fit), number of "
        "fits, share of the fits between 0.87 and 0.93.\n\n" + table(["tasks", *OPTIONS], rows)
    )


def tables(records):
    """All tables."""
    by_key = {}
    for record in records:
        by_key.setdefault((record["task"], record["method"]), {})[record["seed"]] = record
    return "\n\n".join([densities(by_key, STUDY.tasks), coverages(by_key), errors(by_key)])


STUDY = Study(
    name="laws",
    text=__doc__,
    tasks=(*GENERAL, *MADE, *FAMILY_TASKS),
    methods=tuple(OPTIONS),
    table=tables,
    seeds=2,
    quick=("success-d1",),
    quick_methods=("default", "one"),
    dimension=dimension,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
