"""Why do ∞-GP-TS and infgp's default lose where they do?

Regret with a part of them changed, on tasks of the paper suite. The table compares with the records of the paper suite
(`infgp bench run --suite paper`) on the same seeds.

    python -m studies.diagnosis [--seeds 3] [--tasks a,b] [--methods a,b] [--jobs 2]    # goes on where it stopped
    python -m studies.diagnosis --quick         # one task, 15 evaluations; writes nothing
    python -m studies.diagnosis --table         # writes results/diagnosis/table.md
"""

from __future__ import annotations

from functools import partial

from infgp.bench.cells import table
from infgp.bench.figures import title
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import VARIANTS, variant
from infgp.bench.pool import measure_with
from infgp.bench.provenance import age
from infgp.bench.records import load
from infgp.bench.statistics import by_task, compare
from infgp.bench.study import GONE, RESULTS, Study

PAPER = "infgp-ts-paper"
TASKS = (
    *("ackley-ht-d5", "ackley-ht", "ackley-ns-d5", "hpo-segment", "mnist-mlp", "nasbench201", "portfolio"),
    *("rosenbrock-ht", "rosenbrock-ns", "rosenbrock", "stybtang-ht", "stybtang"),
)
#: Between ∞-GP-TS and infgp's default: methods whose records are kept, and methods that can be run.
GONE_STEPS = {
    "ts-target": "target: the expected reward in place of one surface",
    "ts-sampler": "sampler: collapsed",
    "ts-both": "… and target",
    "ts-ard": "… and a length-scale for each input",
    "ts-prior": "… and the priors of infgp's search",
    "ts-one": "… but a single surface",
    "ts-bent": "log expected improvement, rewards bent by a fixed map, rare clutter set aside",
}
STEPS = {
    method.name: method
    for method in (
        variant(
            "ts-search",
            "priors; infgp's chain, robust units, scales for each surface; still Thompson sampling",
            **{"regions": False, "warp": None, "acquisition": "thompson"},
        ),
        variant(
            "ts-improvement",
            "… and log expected improvement for Thompson sampling",
            **{"regions": False, "warp": None},
        ),
        variant("ts-warped", "… and the warp learned, rare clutter set aside", regions=False, outliers="ignore"),
    )
}
#: Parts of infgp's default that were changed, each alone, when a fixed map bent rewards; their records are kept.
GONE_PARTS = {
    "infgp-unbent": "target: rewards not bent",
    "infgp-one-bent": "model: one surface, rewards bent",
}
#: Parts of infgp's default that are changed, each alone.
PARTS = {
    "infgp-gradients": "exploration: improvement maximised with gradients",
    "infgp-unwarped": "target: rewards as they are",
    "infgp-main": "target: the dominant surface",
    "infgp-one": "model: one surface, rewards as they are",
    "infgp-one-warped": "model: one surface",
    "infgp-longer": "prior: length-scales as in BoTorch",
    "infgp-one-longer": "prior and model: one surface, length-scales as in BoTorch",
}
PEERS = ("infgp", "gp-ts", "gp-ei", "tgp-ucb", "pursuit", "optuna-tpe")


def section(runs, reference, labels):
    """A table of the tasks on which some of the variants were run."""
    tasks = [task for task in runs if labels.keys() & runs[task].keys() and reference in runs[task]]
    if not tasks:
        return "Not measured."

    def entry(task, method):
        found = compare(task, method, reference, runs[task].get(method, {}), runs[task][reference])
        if found is None:
            return ""
        interval = f" ({found.low:.2f}–{found.high:.2f})" if found.count > 1 else ""
        return f"{found.ratio:.2f}{interval}, {found.count}"

    labels = labels | {m: METHODS[m].label for m in PEERS if m != reference}
    rows = [[label, *(entry(task, m) for task in tasks)] for m, label in labels.items()]
    return table(["", *map(title, tasks)], rows)


def tables(records):
    """Both tables, the records of the paper suite taken in."""
    lengths = {r["steps"] for r in records}
    suite = [r for r in load(RESULTS / "paper") if r["method"] in (PAPER, *PEERS) and r["steps"] in lengths]
    runs = by_task([*suite, *records])
    steps = {name: f"{label} {GONE}" for name, label in GONE_STEPS.items()}
    steps |= {name: method.label for name, method in STEPS.items()}
    parts = {name: f"{label} {GONE}" for name, label in GONE_PARTS.items()} | PARTS
    intro = (
        "Cumulative regret over that of the method unchanged on the same seeds: geometric mean (95 % interval), "
        f"seeds. Below 1 is better. Of the paper suite's records that are compared with: {age(suite)}"
    )
    return (
        f"{intro}\n\n## ∞-GP-TS, the paper's configuration\n\nEach line that begins with … changes one thing more than "
        "the line before it; the single surface goes with the line on length-scales. With regions on top of the last "
        f"of them it is infgp's default.\n\n{section(runs, PAPER, steps)}\n\n"
        f"## infgp's default\n\n{section(runs, 'infgp', parts)}"
    )


measure = partial(measure_with, METHODS | VARIANTS | STEPS)
STUDY = Study(
    name="diagnosis",
    text=__doc__,
    tasks=TASKS,
    methods=(*STEPS, *PARTS),
    table=tables,
    seeds=3,
    quick=("rosenbrock-ht",),
    quick_steps=15,
    greedy=TASKS,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
