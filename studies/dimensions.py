"""Who copes with many inputs: ten, twenty, fifty, a hundred?

The tasks are those of `infgp.bench.tasks.dimensions`: 200 evaluations, of which all methods share the first 20. No
uniform points in between. TuRBO and BoTorch fit a model at each step and take minutes a run: give them fewer seeds.

    python -m studies.dimensions [--seeds 5] [--tasks a,b] [--methods a,b] [--jobs 2]     # goes on where it stopped
    python -m studies.dimensions --quick      # one task, 24 evaluations; writes nothing
    python -m studies.dimensions --table      # writes results/dimensions/table.md
"""

from __future__ import annotations

from functools import partial

import numpy as np

from infgp.bench.cells import number, ratio, table
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import FITTED, PEERS, VARIANTS
from infgp.bench.pool import measure_with
from infgp.bench.statistics import by_task, log_ratios
from infgp.bench.study import FLOOR, Study
from infgp.bench.tasks import task
from infgp.bench.tasks.dimensions import DIMENSIONS, WIDE
from studies.scales import unit

ALL = METHODS | VARIANTS | FITTED | PEERS
#: infgp in its forms.
OWN = ("infgp-final", "infgp", "infgp-one-final")
#: What infgp is compared with.
OTHERS = ("optuna-tpe", "cma-es", "botorch-logei", "turbo", "random")
TEXT = f"""\
Regret of expected rewards, 1 being the median regret of a uniform point of the task; at least {FLOOR:g} counts.
Cells are geometric means over runs (number of seeds). Below, for each number of inputs d, are geometric means over
tasks and seeds of the ratio of infgp, goal: the best point in the end, to each other method on the runs that both have
(95 % interval), and the mean seconds of CPU that each method takes for a suggestion."""


def final(record):
    """Regret of the recommendation; None where there is none."""
    regret = record.get("recommend_regret")
    return None if regret is None else max(regret / unit(record["task"]), FLOOR)


def along(record):
    """Mean regret of the points that the method chose; None where there are none."""
    regret = np.array(record["regret"][record["initial"] :])
    return max(float(np.mean(regret)) / unit(record["task"]), FLOOR) if regret.size else None


def seconds(record):
    """Seconds of CPU a suggestion, over the points that the method chose; None where there are none."""
    spent = record["cpu_seconds"][record["initial"] :]
    return float(np.mean(spent)) if spent else None


def values(runs, method, value):
    """The values of a method's runs over tasks and seeds."""
    found = [value(record) for mine in runs.values() for record in mine.get(method, {}).values()]
    return [number for number in found if number is not None]


def one_table(runs, methods, value):
    """Tasks in rows, methods in columns; a line of ratios for each number of inputs."""
    rows = []
    for name in (name for name in WIDE if name in runs):
        cells = [values({name: runs[name]}, method, value) for method in methods]
        rows.append([name, *(f"{number(np.exp(np.mean(np.log(c))))} ({len(c)})" if c else "" for c in cells)])
    for d in DIMENSIONS:
        those = {name: mine for name, mine in runs.items() if task(name).d == d}
        if not those:
            continue
        logs = [
            [log for mine in those.values() for log in log_ratios(mine.get(OWN[0], {}), mine.get(method, {}), value)]
            for method in methods
        ]
        rows.append([f"**infgp over it, d = {d}**", *map(ratio, logs)])
        spent = [values(those, method, seconds) for method in methods]
        rows.append([f"seconds a suggestion, d = {d}", *(f"{np.mean(s):.3f}" if s else "" for s in spent)])
    return table(["task", *(ALL[method].label for method in methods)], rows)


def tables(records):
    """The recommendation, and what was evaluated on the way."""
    if not records:
        return "Not measured."
    runs = by_task(records)
    methods = [m for m in STUDY.methods if any(m in mine for mine in runs.values())]
    parts = (("The recommendation after all evaluations", final), ("The points that the method chose, mean", along))
    return "\n\n".join([TEXT, *(f"**{title}**\n\n{one_table(runs, methods, value)}" for title, value in parts)])


measure = partial(measure_with, ALL)
STUDY = Study(
    name="dimensions",
    text=__doc__,
    tasks=WIDE,
    methods=(*OWN, *OTHERS),
    table=tables,
    seeds=5,
    quick=("wide-levy-small-d20",),
    quick_methods=("infgp-final", "cma-es", "random"),
    quick_steps=24,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
