"""What has to change in the paper's Algorithm 1 until Thompson sampling is ahead of GP-TS, GP-EI and GP-UCB?

Regret on tasks of the paper suite, from preset="paper" to preset="thompson", one change after the other. The runner
evaluates uniform points with the paper's chance ζ_n at the same steps for all methods, as in the paper suite
(`infgp bench run --suite paper`), whose records of the GPs are compared with on the same seeds.

    python -m studies.thompson [--seeds 2] [--tasks a,b] [--methods a,b] [--jobs 2]    # goes on where it stopped
    python -m studies.thompson --quick          # one task, 15 evaluations; writes nothing
    python -m studies.thompson --table          # writes results/thompson/table.md
"""

from __future__ import annotations

from functools import partial

from infgp import Priors
from infgp.bench.figures import title
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import variant
from infgp.bench.pool import measure_with
from infgp.bench.provenance import age
from infgp.bench.records import load
from infgp.bench.statistics import by_task, log_ratios
from infgp.bench.study import RESULTS, Study
from infgp.bench.tables import ratio, table
from infgp.search.presets import PRESETS

TASKS = (
    *("ackley-ht", "rosenbrock-ht", "stybtang-ht", "ackley-ns", "rosenbrock-ns", "stybtang-ns"),
    *("portfolio", "hpo-segment", "nasbench201"),
)
PRINTED = "printed"
THOMPSON = "thompson"
PEERS = ("gp-ts", "gp-ei", "gp-ucb")


def estimator_priors(d):
    """The priors of the truncated sampler."""
    return Priors()


#: What each row changes on top of the row before it; options of the runs, priors as a function of the dimension.
CHANGES = {
    PRINTED: ('as printed: preset="paper"', {**PRESETS["paper"], "exploration": 0.0}),
    "sampler": ("… sampler: collapsed", {"sampler": "collapsed", "priors": estimator_priors}),
    "ard": ("… metric: a length-scale for each input", {"ard": True}),
    "priors": ("… priors of infgp's search", {"priors": None}),
    "expected": ("… drawn: the expected reward in place of one surface", {"target": "objective"}),
    "model": (
        "… model: places, grades, scales and odds of the surfaces",
        {"regions": True, "surface_scales": "own", "odds": "kriged"},
    ),
    THOMPSON: ('… warp learned: preset="thompson"', {"warp": "auto"}),
}


def rows():
    """The methods, each with the options of all rows up to its own."""
    options, methods = {}, {}
    for name, (label, changed) in CHANGES.items():
        options = options | changed
        methods[name] = variant(name, label, **options)
    return methods


STEPS = rows()


def ahead(runs, tasks, method):
    """On how many of some tasks a method has less regret than each peer, in the mean over common seeds."""
    every = [[log_ratios(runs[task].get(method, {}), runs[task].get(peer, {})) for peer in PEERS] for task in tasks]
    return sum(all(logs and sum(logs) < 0.0 for logs in found) for found in every)


def tables(records):
    """Both tables, the records of the paper suite taken in."""
    lengths = {r["steps"] for r in records}
    suite = [r for r in load(RESULTS / "paper") if r["method"] in PEERS and r["steps"] in lengths]
    runs = by_task([*suite, *records])
    tasks = [task for task in TASKS if STEPS.keys() & runs.get(task, {}).keys()]

    def over(method, other, some):
        pairs = [(runs[task].get(method, {}), runs[task].get(other, {})) for task in some]
        return ratio([log for pair in pairs for log in log_ratios(*pair)])

    measured = [name for name in STEPS if any(name in runs[task] for task in tasks)]
    labels = [METHODS[peer].label for peer in PEERS]
    steps = [
        [
            STEPS[name].label,
            *(over(name, other, tasks) for other in (PRINTED, *PEERS)),
            f"{ahead(runs, tasks, name)} of {len(tasks)}",
        ]
        for name in measured
    ]
    single = [
        [title(task), *(over(name, other, [task]) for other in (PRINTED, *PEERS))]
        for task in tasks
        for name in [THOMPSON]
    ]
    caption = (
        "Cumulative regret over that of another method on the same runs: geometric means (95 % interval). Below 1 is "
        "better. A row that begins with … changes one thing more than the row before it. Ahead: tasks on which the "
        f"mean is below 1 for all three GPs. Of the paper suite's records that are compared with: {age(suite)}"
    )
    heads = ["over as printed", *(f"over {label}" for label in labels)]
    first = table(["", *heads, "ahead"], steps)
    second = table(["task", *heads], single)
    return f'{caption}\n\n{first}\n\n## preset="thompson" on each task\n\n{second}'


measure = partial(measure_with, STEPS)
STUDY = Study(
    name="thompson",
    text=__doc__,
    tasks=TASKS,
    methods=tuple(STEPS),
    table=tables,
    seeds=2,
    quick=("rosenbrock-ht",),
    quick_steps=15,
    greedy=TASKS,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
