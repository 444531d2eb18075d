"""What is each default of the search worth? Regret with one of them changed, on the tasks of `studies.regimes`.

python -m studies.search_variants [--seeds 1] [--tasks a,b] [--methods a,b] [--jobs 2]      # goes on where it stopped
python -m studies.search_variants --quick       # one task, 15 evaluations; writes nothing
python -m studies.search_variants --table       # writes results/search_variants/table.md
"""

from __future__ import annotations

from functools import partial

from infgp.bench.cells import ratio, table
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import VARIANTS
from infgp.bench.pool import measure_with
from infgp.bench.statistics import by_task, log_ratios
from infgp.bench.study import Study, recommended
from infgp.bench.tasks.noises import HEAVY
from infgp.bench.tasks.noisy import Problem
from studies.regimes import TASKS

REFERENCE = "infgp"
CHANGED = (
    "infgp-ignore",
    "infgp-no-regions",
    "infgp-unwarped",
    "infgp-one-warped",
    "infgp-gradients",
    "infgp-long-lengthscales",
    "infgp-estimator-priors",
    "infgp-more-surfaces",
    "infgp-ts",
    "infgp-local",
    "infgp-explore",
)
#: Variants that were made by patching infgp; their records are kept.
GONE = ("votes", "each state's own incumbent", "improvement augmented", "24 points far away")


def tables(records):
    """The table."""
    runs, rows = by_task(records), []
    for variant in (*CHANGED, *GONE):
        pairs = {task: (found[variant], found.get(REFERENCE, {})) for task, found in runs.items() if variant in found}
        every = {task: log_ratios(*pair) for task, pair in pairs.items()}
        logs = [log for found in every.values() for log in found]
        heavy = [log for task, found in every.items() if Problem.of(task).noise in HEAVY for log in found]
        best = [log for pair in pairs.values() for log in log_ratios(*pair, recommended)]
        if logs:
            name = VARIANTS[variant].label if variant in VARIANTS else STUDY.row(variant)
            rows.append([name, ratio(logs), ratio(heavy), ratio(best), len(logs)])
    caption = "Regret over the default's on the same run: geometric means over the runs of a variant (95 % interval)."
    return f"{caption}\n\n{table(['variant', 'cumulative', 'heavy-tailed', 'recommended', 'runs'], rows)}"


measure = partial(measure_with, METHODS | VARIANTS)
STUDY = Study(
    name="search_variants",
    text=__doc__,
    tasks=TASKS,
    methods=(REFERENCE, *CHANGED),
    table=tables,
    seeds=1,
    quick=TASKS[:1],
    quick_steps=15,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
