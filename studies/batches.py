"""What does it cost to choose several points before any of their rewards is known?

Batches are asked for and told together; workers ask whenever one of them has finished. All methods share the tasks, the
design and the noise, and end after the same number of evaluations. The sequential search is told every reward at once.

    python -m studies.batches [--seeds 5] [--tasks a,b] [--methods a,b] [--jobs 2]     # goes on where it stopped
    python -m studies.batches --quick      # one task, 30 evaluations; writes nothing
    python -m studies.batches --table      # writes results/batches/table.md
"""

from __future__ import annotations

from functools import partial

import numpy as np

from infgp.bench.cells import number, ratio, table
from infgp.bench.methods.variants import FITTED, PARALLEL, SIZES, VARIANTS
from infgp.bench.pool import measure_with
from infgp.bench.statistics import by_task, log_ratios
from infgp.bench.study import FLOOR, Study
from studies.scales import unit

ALL = VARIANTS | FITTED | PARALLEL
#: The sequential search.
SEQUENTIAL = "infgp-final"
#: BoTorch's sequential search.
PEER = "botorch-qlognei"
TASKS = (
    "ackley-small-d2",
    "levy-outliers-d2",
    "rosenbrock-heteroscedastic-d2",
    "schwefel-cauchy-d2",
    "ackley-outliers-d5",
    "rosenbrock-small-d5",
    "levy-nonstationary-d5",
    "success-d2",
    "counts-d5",
    "decades-ripple-d5",
)
TEXT = f"""\
Regret of the recommendation after all evaluations, 1 being the median regret of a uniform point of the task; at least
{FLOOR:g} counts. Cells are geometric means over runs (number of seeds). Ratios are geometric means over the tasks and
seeds that both methods have (95 % interval). The last line has the mean seconds of CPU that a method takes for a point.
"""


def final(record):
    """Regret of the recommendation."""
    return max(record["recommend_regret"] / unit(record["task"]), FLOOR) if "recommend_regret" in record else None


def seconds(record):
    """Seconds of CPU for a point, over the points that the method chose."""
    return float(np.mean(record["cpu_seconds"][record["initial"] :]))


def values(mine, method, value):
    """The values of a method's runs on a task."""
    found = [value(record) for record in mine.get(method, {}).values()]
    return [regret for regret in found if regret is not None]


def ratios(runs, method, other):
    """Logarithms of the ratios of a method's regret to that of another, over tasks and seeds."""
    return [log for mine in runs.values() for log in log_ratios(mine.get(method, {}), mine.get(other, {}), final)]


def tables(records):
    """Tasks in rows, methods in columns, and ratios below."""
    runs = by_task(records)
    methods = [m for m in STUDY.methods if any(m in mine for mine in runs.values())]
    rows = []
    for name in (name for name in TASKS if name in runs):
        cells = [values(runs[name], method, final) for method in methods]
        rows.append([name, *(f"{number(np.exp(np.mean(np.log(c))))} ({len(c)})" if c else "" for c in cells)])
    rows.append(["**ratio to the sequential search**", *(ratio(ratios(runs, m, SEQUENTIAL)) for m in methods)])
    for q in SIZES:
        logs = [ratios(runs, m, f"botorch-batch-{q}") if m.endswith(f"-{q}") else [] for m in methods]
        rows.append([f"ratio to BoTorch qLogNEI, batches of {q}", *map(ratio, logs)])
    spent = [[s for mine in runs.values() for s in values(mine, method, seconds)] for method in methods]
    rows.append(["seconds for a point", *(f"{np.mean(s):.3f}" if s else "" for s in spent)])
    return TEXT + "\n" + table(["task", *(ALL[method].label for method in methods)], rows)


measure = partial(measure_with, ALL)
STUDY = Study(
    name="batches",
    text=__doc__,
    tasks=TASKS,
    methods=(SEQUENTIAL, *(m for m in PARALLEL if m.startswith("infgp")), PEER, "botorch-batch-8"),
    table=tables,
    seeds=5,
    quick=("ackley-small-d2",),
    quick_methods=(SEQUENTIAL, "infgp-batch-8", "infgp-workers-8"),
    quick_steps=30,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
