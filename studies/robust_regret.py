"""How much regret do optimizers have when rewards are heavy-tailed?

Three functions in two and five dimensions, six noises. Every method gets 100 evaluations, the first 2 (d + 1) at the
same scrambled Sobol points, and the same stream of noise. Regret is the optimum less the expected reward of the point
evaluated (for Cauchy noise, which has no mean, its location), in standard deviations of the function over the cube.

    python -m studies.robust_regret [--seeds 10] [--tasks a,b] [--methods a,b] [--jobs 2]   # goes on where it stopped
    python -m studies.robust_regret --quick         # d = 2, 15 evaluations, one seed; writes nothing
    python -m studies.robust_regret --table         # writes results/robust_regret/table.md
"""

from __future__ import annotations

from functools import partial

import numpy as np

from infgp.bench.cells import ratio, table
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import FITTED, VARIANTS
from infgp.bench.pool import measure_with
from infgp.bench.statistics import by_task, log_ratios, total
from infgp.bench.study import FLOOR, Study, recommended
from infgp.bench.tasks.noises import HEAVY
from infgp.bench.tasks.noisy import Problem

#: What is compared with the others: in cumulative regret, and in the recommendation.
ALONG, FINAL = "infgp", "infgp-final"
NOISES = ("gaussian", *HEAVY, "heteroscedastic")
TASKS = tuple(
    Problem(function, noise, d).name
    for d in (2, 5)
    for function in ("ackley", "rosenbrock", "styblinski_tang")
    for noise in NOISES
)
OURS = (FINAL, ALONG, "infgp-one-ts", "infgp-one")
PEERS = ("random", "optuna-tpe", "optuna-gp", "botorch-logei", "botorch-winsorised")
COMPARED = METHODS | VARIANTS | FITTED
GROUPS = {
    "heavy-tailed": HEAVY,
    "Gaussian": ("gaussian",),
    "heteroscedastic": ("heteroscedastic",),
    **{noise: (noise,) for noise in HEAVY},
}


def complete(records, methods):
    """Runs by task and method of the seeds on which all of the methods have one."""
    runs = {}
    for task, found in by_task(records).items():
        seeds = set.intersection(*(set(found.get(m, ())) for m in methods))
        if seeds:
            runs[task] = {m: {seed: found[m][seed] for seed in seeds} for m in methods}
    return runs


def ratios(title, value, reference, runs, methods):
    """One row for each method: its value over the reference's on the same run, by kind of noise."""
    rows = []
    for method in methods:
        entries = []
        for noises in GROUPS.values():
            mine = [task for task in runs if Problem.of(task).noise in noises]
            logs = [log for task in mine for log in log_ratios(runs[task][method], runs[task][reference], value)]
            entries.append(ratio(logs))
        rows.append([STUDY.row(method), *entries])
    caption = f"{title}, over that of `{reference}`: geometric mean over runs (95 % interval)."
    return f"{caption}\n\n{table(['method', *GROUPS], rows)}"


def cells(runs, methods):
    """Mean cumulative regret of each cell, its winner, and the best peer where that beats the reference."""
    peers, rows, lost = [m for m in methods if m in PEERS], [], 0
    for task in (task for task in TASKS if task in runs):
        problem = Problem.of(task)
        means = {m: np.mean([total(r) for r in runs[task][m].values()]) for m in methods}
        best = min(peers, key=means.get)
        loses = means[best] < means[ALONG]
        lost += loses
        verdict = f"{best}, by {means[ALONG] / means[best] - 1.0:.0%}" if loses else ""
        cell = (problem.function, problem.noise, problem.d)
        rows.append([*cell, *(f"{v:.1f}" for v in means.values()), min(means, key=means.get), verdict])
    caption = (
        f"Cumulative regret, mean over seeds. `{ALONG}` loses {lost} of {len(rows)} cells to the best of the "
        f"{len(peers)} peers, picked for each cell after the fact, which favours the peers."
    )
    head = ["function", "noise", "d", *methods, "winner", f"{ALONG} loses to"]
    return f"{caption}\n\n{table(head, rows)}"


def seconds(records, methods):
    """CPU seconds and failures."""
    dims, rows = sorted({r["d"] for r in records}), []
    for method in methods:
        mine = [r for r in records if r["method"] == method]
        medians = [np.median([sum(r["cpu_seconds"]) for r in mine if r["d"] == d]) for d in dims]
        failed = [len(r["failures"]) for r in mine]
        rows.append([method, *(f"{m:.1f}" for m in medians), len(mine), sum(failed), np.count_nonzero(failed)])
    head = ["method", *(f"d = {d}" for d in dims), "runs", "failed steps", "runs with failures"]
    return f"CPU seconds of the optimizer for a run, median; steps and runs with failures.\n\n{table(head, rows)}"


def tables(records):
    """All tables."""
    methods = [m for m in STUDY.methods if any(r["method"] == m for r in records)]
    runs = complete(records, methods)
    keys = [(task, seed) for task, found in runs.items() for seed in found[methods[0]]]
    parts = [
        f"{len(keys)} runs (function × noise × d × seed, {len({seed for _, seed in keys})} seeds) by all "
        f"{len(methods)} methods; {max(r['steps'] for r in records)} evaluations a run; regret in standard deviations "
        "of the function over the cube."
    ]
    if ALONG in methods:
        parts.append(ratios("Cumulative regret", total, ALONG, runs, methods))
    if FINAL in methods:
        title = f"Regret of the recommendation (at least {FLOOR:g})"
        parts.append(ratios(title, recommended, FINAL, runs, methods))
    if ALONG in methods and set(methods) & set(PEERS):
        parts.append(cells(runs, methods))
    return "\n\n".join([*parts, seconds(records, methods)])


measure = partial(measure_with, COMPARED)
STUDY = Study(
    name="robust_regret",
    text=__doc__,
    tasks=TASKS,
    methods=(*OURS, *PEERS),
    table=tables,
    seeds=10,
    quick=tuple(task for task in TASKS if Problem.of(task).d == 2),
    quick_steps=15,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
