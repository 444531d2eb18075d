"""How well does infgp optimise another functional of the reward law than its mean, against replicates and a GP?

The tasks are those of `infgp.bench.tasks.objectives`: median, 10 % quantile, mean of the worst tenth (CVaR), and chance
of a reward above a threshold, all exact. The usual way evaluates each point several times (5 times for the median, 10
times for others) and gives the functional of the rewards to a GP, infgp's own with one surface; all methods have the
same number of evaluations. No uniform points in between.

    python -m studies.objectives [--seeds 5] [--tasks a,b] [--methods a,b] [--jobs 1]     # goes on where it stopped
    python -m studies.objectives --quick      # one task, 24 evaluations; writes nothing
    python -m studies.objectives --table      # writes results/objectives/table.md
"""

from __future__ import annotations

import numpy as np

from infgp.bench.cells import ratio, table
from infgp.bench.methods import METHODS
from infgp.bench.methods.objectives import FEW, MANY, methods_for
from infgp.bench.pool import measure_with
from infgp.bench.statistics import by_task
from infgp.bench.study import FLOOR, Study
from infgp.bench.tasks.objectives import OBJECTIVES, OPTIONS, parts
from studies.general import along, final, settled

#: infgp with the objective of the task, to find the best point in the end, and good rewards along the way.
FINAL, ALONG = "infgp-objective-final", "infgp-objective"
#: Columns of the tables.
LABELS = {
    FINAL: "infgp, the task's objective, goal: final",
    ALONG: "infgp, the task's objective, goal: along",
    "infgp": "infgp, mean, goal: along",
    "replicates": "replicates, GP",
    "random": "random",
}
#: Functionals by name, as rows of the ratios.
KINDS = {"median": "median", "quantile": "10 % quantile", "cvar": "CVaR 10 %", "probability": "probability"}
TEXT = f"""\
Regret of the functional, 1 being that of a uniform point: mean over runs (number of seeds). Replicates are {FEW}
rewards at each point for the median and {MANY} for all others. Random points recommend the one with the best reward.
Ratios are those of infgp with the task's objective, and with the goal that the table is about, to another method:
geometric mean over tasks and seeds, on the same seeds (95 % interval; a regret counts at least {FLOOR:g}). Below 1,
infgp with the task's objective is better."""


def of_tasks(runs, methods, value):
    """Tasks in rows, methods in columns."""
    rows = []
    for name in (name for name in OBJECTIVES if name in runs):
        cells = [[value(r) for r in settled(runs[name], method).values()] for method in methods]
        rows.append([name, *(f"{np.mean(c):.2f} ({len(c)})" if c else "" for c in cells)])
    return table(["task", *(LABELS[method] for method in methods)], rows)


def logarithms(runs, names, own, method, value):
    """Logarithms of the ratio of infgp to a method, over tasks and seeds."""
    found = []
    for name in names:
        mine, other = (settled(runs.get(name, {}), m) for m in (own, method))
        both = [(value(mine[seed]), value(other[seed])) for seed in mine if seed in other]
        found += [float(np.log(max(a, FLOOR) / max(b, FLOOR))) for a, b in both]
    return found


def ratios(runs, own, methods, value):
    """Functionals in rows, methods that infgp with the objective is compared with in columns."""
    others = [method for method in methods if method != own]
    groups = {text: [name for name in OBJECTIVES if parts(name)[1] == kind] for kind, text in KINDS.items()}
    groups["all"] = list(OBJECTIVES)
    rows = [
        [text, *(ratio(logarithms(runs, names, own, method, value)) for method in others)]
        for text, names in groups.items()
        if any(name in runs for name in names)
    ]
    return table(["functional", *(f"over {LABELS[method]}" for method in others)], rows)


def tables(records):
    """The recommendation, what was evaluated on the way, and the ratios of both."""
    runs = by_task(records)
    methods = [m for m in STUDY.methods if any(m in mine for mine in runs.values())]
    page = [TEXT]
    for title, own, value in (
        ("The recommendation after all evaluations", FINAL, final),
        ("The evaluated points, on average", ALONG, along),
    ):
        page += [f"**{title}**", of_tasks(runs, methods, value)]
        if own in methods and len(methods) > 1:
            page.append(ratios(runs, own, methods, value))
    return "\n\n".join(part.strip("\n") for part in page)


def measure(job, warm):
    """The record of one run; a method that knows what is optimised is told the objective of the task."""
    return measure_with(METHODS | methods_for(OPTIONS[parts(job.task)[1]]), job, warm)


STUDY = Study(
    name="objectives",
    text=__doc__,
    tasks=OBJECTIVES,
    methods=tuple(LABELS),
    table=tables,
    seeds=5,
    quick=("spread-cvar-d1",),
    quick_methods=(FINAL, "replicates"),
    quick_steps=24,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
