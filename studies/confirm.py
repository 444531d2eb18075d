"""Twenty evaluations are left after a search of eighty: what are they best spent on?

All arms go on from the same search by the default: `confirm` evaluates the best points again
(`Optimizer.ask(confirm=True)`), `search` searches on, `luckiest` repeats the five points with the best rewards four
times each. Then each recommends a point. `observed` is the point with the best reward after the arm `search`. After the
search, the record has the stated P(best) of the likeliest points, and whether each is best of the evaluated ones.

    python -m studies.confirm [--seeds 10] [--tasks a,b] [--jobs 2]      # goes on where it stopped
    python -m studies.confirm --quick      # one task, 20 evaluations before and after; writes nothing
    python -m studies.confirm --table      # writes results/confirm/table.md
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from infgp.bench.cells import ratio, table
from infgp.bench.runner import initial_design, noise, versions
from infgp.bench.study import FLOOR, Study
from infgp.bench.tasks import task
from infgp.core.linalg import one_blas_thread
from infgp.search.optimizer import Optimizer
from infgp.space import Float, Space
from studies.regret import uniform

#: Tasks by how noisy a reward is, against the differences between good points.
GROUPS = {
    "noisy": (
        "success-d1",
        "success-d2",
        "counts-d2",
        "exponential-d1",
        "exponential-d2",
        "gamma-d2",
        "log-normal-d2",
        "jackpot-d2",
    ),
    "quiet": (
        "ackley-gaussian-d2",
        "levy-gaussian-d2",
        "levy-outliers-d2",
        "rosenbrock-gaussian-d2",
        "schwefel-gaussian-d2",
        "styblinski_tang-gaussian-d2",
        "styblinski_tang-small-d5",
        "ackley-weibull-d2",
    ),
}
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}
ARMS = ("confirm", "search", "luckiest", "observed")
#: Evaluations of the search.
BEFORE = 80
#: Evaluations of each arm.
AFTER = 20
#: Points that the arm `luckiest` repeats.
LUCKIEST = 5
#: Points whose P(best) is recorded.
TOP = 10
#: Borders of the classes of P(best) in the table.
CLASSES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
TEXT = f"""\
Regret of the recommended point after {AFTER} evaluations more, 1 being that of a uniform point: mean over runs (number
of runs). The last lines have the geometric mean, over runs, of the ratio of `confirm` to each arm (95 % interval; a
regret counts at least {FLOOR:g})."""


def measure(job, warm):
    """A record with the regret of each arm."""
    made, begin = task(job.task), time.perf_counter()
    before = BEFORE if job.steps is None else job.steps
    space = Space.of({f"x{k}": Float(0.0, 1.0) for k in range(made.d)})
    design, rewards = initial_design(made, job.seed), noise(made, job.seed)

    def draw(n, point):
        return made.draw(rewards(n), space.to_unit([point])[0])

    def regret(point):
        value = (made.best - float(made.expected(space.to_unit([point]))[0])) / uniform(job.task)
        return float(f"{value:.5g}")

    def go_on(choose):
        after = Optimizer.from_json(content)
        for n in range(before, before + AFTER):
            point = choose(after, n - before)
            after.tell(point, draw(n, point))
        return after

    with one_blas_thread():
        optimizer = Optimizer(space, seed=job.seed)
        for n in range(before):
            point = space.from_unit(design[n][None])[0] if n < len(design) else optimizer.ask()
            optimizer.tell(point, draw(n, point))
        content = optimizer.to_json()
        lucky = sorted(optimizer.observations, key=lambda o: -o.value)
        points = list({space.key(o.point): o.point for o in lucky}.values())[:LUCKIEST]
        ends = {
            "confirm": go_on(lambda after, k: after.ask(confirm=True)),
            "search": go_on(lambda after, k: after.ask()),
            "luckiest": go_on(lambda after, k: points[k % len(points)]),
        }
        arms = {"before": regret(optimizer.recommend().point)}
        arms |= {name: regret(after.recommend().point) for name, after in ends.items()}
        arms["observed"] = regret(ends["search"].best_observed.point)
        rows = optimizer.candidates(TOP)
    contest = [o.point for o in optimizer.observations] + [row.point for row in rows if row.recommended]
    best = min(map(regret, contest))
    return {
        "task": job.task,
        "method": job.method,
        "seed": job.seed,
        "d": made.d,
        "steps": before + AFTER,
        "arms": arms,
        "best": [[round(row.probability, 4), regret(row.point) == best] for row in rows],
        "seconds": [round(time.perf_counter() - begin, 3)],
        "versions": versions(()),
    }


def regrets(records):
    """Tasks in rows, arms in columns, and ratios of `confirm` to the arms."""
    names = ("before", *ARMS)
    rows = []
    for group, tasks in GROUPS.items():
        for name in tasks:
            mine = [r["arms"] for r in records if r["task"] == name]
            if mine:
                rows.append([group, name, *(f"{np.mean([m[a] for m in mine]):.3f} ({len(mine)})" for a in names)])
    for group in GROUPS:
        mine = [r["arms"] for r in records if GROUP_OF[r["task"]] == group]
        logs = [[np.log(max(m["confirm"], FLOOR) / max(m[a], FLOOR)) for m in mine] for a in names]
        if mine:
            rows.append([group, "ratio of confirm", *map(ratio, logs)])
    return table(["group", "task", *names], rows)


def classes(records):
    """By class of P(best): mean of what was stated, share of points that are best, its standard error, and points."""
    pairs = np.array([pair for record in records for pair in record["best"]], dtype=float).reshape(-1, 2)
    rows = []
    for low, high in pairwise(CLASSES):
        mine = pairs[(pairs[:, 0] > low) & (pairs[:, 0] <= high)]
        if len(mine):
            stated, true = mine.mean(axis=0)
            even = (mine[:, 1].sum() + 0.5) / (len(mine) + 1.0)  # no share is 0 or 1 for certain
            rows.append(
                (stated, true, float(np.sqrt(even * (1.0 - even) / len(mine))), len(mine), f"{low:g} to {high:g}")
            )
    return rows


def reliability(records):
    """Share of points that are best of the evaluated ones, by the probability that was stated."""
    rows = [[name, f"{p:.3f}", f"{true:.3f} ± {error:.3f}", str(n)] for p, true, error, n, name in classes(records)]
    return table(["stated P(best)", "mean", "share that is best", "points"], rows)


def tables(records):
    """Regrets of the arms, and whether P(best) is what it says."""
    return "\n\n".join([TEXT, regrets(records), "**P(best) after the search**", reliability(records)])


STUDY = Study(
    name="confirm",
    text=__doc__,
    tasks=tuple(GROUP_OF),
    methods=("arms",),
    table=tables,
    seeds=10,
    quick=("success-d1",),
    quick_steps=20,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
