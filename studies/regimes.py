"""Is one default good in every regime: well-behaved rewards, non-stationary, heavy-tailed, or both?

As in `studies.robust_regret`, with more functions and with the non-stationary factor of `infgp.bench.tasks.noisy`.
Compared are infgp with both goals, the search along the way for the dominant surface, with one surface (an ordinary
GP), that with the warp learned as for infgp, the paper's Algorithm 1, and peers.

    python -m studies.regimes [--seeds 10] [--tasks a,b] [--methods a,b] [--jobs 2]     # goes on where it stopped
    python -m studies.regimes --quick       # 15 evaluations of four tasks; writes nothing
    python -m studies.regimes --table       # writes results/regimes/table.md
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
from infgp.bench.tasks.noisy import FACTOR, Problem

#: Noises of each regime.
REGIMES = {
    "small noise": ("small",),
    "non-stationary": ("nonstationary",),
    "heavy-tailed": ("weibull", "cauchy", "outliers"),
    "heteroscedastic": ("heteroscedastic",),
    "non-stationary and outliers": ("nonstationary_outliers",),
}
NOISES = tuple(noise for noises in REGIMES.values() for noise in noises)
TASKS = (
    *(
        Problem(function, noise, 2).name
        for function in ("ackley", "rosenbrock", "styblinski_tang", "levy", "schwefel")
        for noise in NOISES
    ),
    *(
        Problem(function, noise, 5).name
        for function in ("ackley", "rosenbrock", "levy")
        for noise in ("small", "nonstationary", "outliers", "nonstationary_outliers")
    ),
)
#: What is compared with the others: in the recommendation, and in cumulative regret.
FINAL, ALONG = "infgp-final", "infgp"
BASELINE = "infgp-one"
#: Ratio of the regret of the reference to that of the baseline above which a cell is listed.
WORST = 1.2


def by_regime(runs, reference, other, value):
    """Ratios of the reference to another method, by regime, and on how many runs they rest."""
    entries, count = [], 0
    for noises in REGIMES.values():
        mine = [found for task, found in runs.items() if Problem.of(task).noise in noises]
        logs = [log for found in mine for log in log_ratios(found.get(reference, {}), found.get(other, {}), value)]
        entries.append(ratio(logs))
        count += len(logs)
    return [*entries, count]


def quiet(task):
    """The task with small noise, the factor, if any, kept."""
    problem = Problem.of(task)
    return Problem(problem.function, FACTOR if problem.noise.startswith(FACTOR) else "small", problem.d).name


def floors(runs):
    """What little noise leaves to be won: the least that denoising alone could bring the ratio to."""
    entries = []
    for noises in REGIMES.values():
        logs = []
        for task in (task for task in runs if Problem.of(task).noise in noises):
            logs += log_ratios(runs.get(quiet(task), {}).get(ALONG, {}), runs[task].get(BASELINE, {}))
        entries.append(ratio(logs))
    caption = (
        f"Cumulative regret of `{ALONG}` on the same function with small noise (the factor, if any, kept), over "
        f"that of `{BASELINE}` in the regime: the ratio if noise cost nothing."
    )
    return f"{caption}\n\n{table(list(REGIMES), [entries])}"


def worst(runs):
    """Cells in which cumulative regret is worse than the baseline's by more than is wanted."""
    rows, count = [], 0
    for task in (task for task in TASKS if task in runs):
        logs, problem = log_ratios(runs[task].get(ALONG, {}), runs[task].get(BASELINE, {})), Problem.of(task)
        count += bool(logs)
        if logs and np.exp(np.mean(logs)) > WORST:
            rows.append([problem.function, problem.noise, problem.d, ratio(logs), len(logs)])
    title = f"Cells in which cumulative regret is more than {WORST} times that of `{BASELINE}`: {len(rows)} of {count}."
    return title + (f"\n\n{table(['function', 'noise', 'd', 'ratio', 'runs'], rows)}" if rows else "")


def tables(records):
    """All tables."""
    runs = by_task(records)
    methods = [m for m in STUDY.methods if any(m in found for found in runs.values())]
    parts = [
        f"{max(r['steps'] for r in records)} evaluations a run. Each ratio is a geometric mean over the runs that both "
        "have (95 % interval)."
    ]
    values = {
        "Cumulative regret": (ALONG, total),
        f"Regret of the recommendation (at least {FLOOR:g})": (FINAL, recommended),
    }
    for title, (reference, value) in values.items():
        rows = [[STUDY.row(m), *by_regime(runs, reference, m, value)] for m in methods if m != reference]
        caption = f"{title} of `{reference}`, over that of another method."
        parts.append(f"{caption}\n\n{table(['over', *REGIMES, 'runs'], rows)}")
    rows = []
    for task in (task for task in TASKS if task in runs):
        problem, totals = Problem.of(task), [[total(r) for r in runs[task].get(m, {}).values()] for m in methods]
        means = [f"{np.mean(t):.1f}" if t else "–" for t in totals]
        rows.append([problem.function, problem.noise, problem.d, *means])
    caption = "Cumulative regret, mean over the seeds that a method has."
    every = f"{caption}\n\n{table(['function', 'noise', 'd', *methods], rows)}"
    return "\n\n".join([*parts, floors(runs), worst(runs), every])


measure = partial(measure_with, METHODS | VARIANTS | FITTED)
STUDY = Study(
    name="regimes",
    text=__doc__,
    tasks=TASKS,
    methods=(
        *("infgp-final", "infgp", "infgp-ignore", "infgp-main", "infgp-one", "infgp-one-final", "infgp-one-warped"),
        "infgp-algorithm-1",
        *("botorch-logei", "botorch-winsorised", "botorch-warped", "optuna-tpe", "cma-es"),
    ),
    table=tables,
    seeds=10,
    quick=TASKS[:4],
    quick_steps=15,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
