"""What do the targets of infgp's search make of tasks whose most common reward says nothing of the expected one?

The tasks are those of `infgp.bench.tasks.odds`, with the paper's uniform points in between as in the paper suite.

    python -m studies.odds [--seeds 5] [--tasks a,b] [--methods a,b] [--jobs 2]     # goes on where it stopped
    python -m studies.odds --quick      # one task, 15 evaluations; writes nothing
    python -m studies.odds --table      # writes results/odds/table.md
"""

from __future__ import annotations

from functools import partial

from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import VARIANTS
from infgp.bench.pool import measure_with
from infgp.bench.statistics import against, by_task
from infgp.bench.study import Study
from infgp.bench.tables import cumulative, paired, recommended
from infgp.bench.tasks.odds import ODDS


def tables(records):
    """Regret, recommendations, and infgp's default against each of the others."""
    runs = by_task(records)
    return "\n\n".join([cumulative(runs), recommended(runs), paired(against(runs, ["infgp"]))])


measure = partial(measure_with, METHODS | VARIANTS)
STUDY = Study(
    name="odds",
    text=__doc__,
    tasks=tuple(ODDS),
    methods=("infgp", "infgp-main", "infgp-ignore", "infgp-one", "gp-ei", "optuna-tpe", "random"),
    table=tables,
    seeds=5,
    quick=tuple(ODDS)[:1],
    quick_steps=15,
    greedy=tuple(ODDS),
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
