"""What has to change in the paper's Algorithm 1 until Thompson sampling is ahead of GP-TS, GP-EI and GP-UCB?

Regret on tasks of the paper suite, from preset="paper" to preset="thompson", one change after the other. The runner
evaluates uniform points with the paper's chance ζ_n at the same steps for all methods. So it does in the paper suite
(`infgp bench run --suite paper`), from which the records of the printed algorithm and of the GPs are taken.

    python -m studies.thompson [--seeds 2] [--tasks a,b] [--methods a,b] [--jobs 2]    # goes on where it stopped
    python -m studies.thompson --quick          # one task, 15 evaluations; writes nothing
    python -m studies.thompson --table          # writes results/thompson/table.md
"""

from __future__ import annotations

from functools import partial

from infgp import Priors
from infgp.bench.cells import ratio, table
from infgp.bench.figures import title
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import variant
from infgp.bench.pool import measure_with
from infgp.bench.provenance import age
from infgp.bench.records import load
from infgp.bench.statistics import by_task, log_ratios
from infgp.bench.study import RESULTS, Study
from infgp.search.presets import PRESETS

TASKS = (
    *("ackley-ht", "rosenbrock-ht", "stybtang-ht", "ackley-ns", "rosenbrock-ns", "stybtang-ns"),
    *("portfolio", "hpo-segment", "nasbench201"),
)
PRINTED = "infgp-ts-paper"
THOMPSON = "thompson"
PEERS = ("gp-ts", "gp-ei", "gp-ucb")


def estimator_priors(d):
    """The priors of the truncated sampler."""
    return Priors()


#: What each row changes on top of the row before it: what the row is called, and options of `infgp.Optimizer`.
CHANGES = {
    "sampler": ("… sampler: collapsed", {"sampler": "collapsed", "priors": estimator_priors}),
    "ard": ("… metric: a length-scale for each input", {"ard": True}),
    "priors": ("… priors of infgp's search", {"priors": None}),
    "expected": ("… drawn: the expected reward in place of one surface", {"target": "objective"}),
    "model": (
        "… model: places, grades, scales and odds of the surfaces",
        {"regions": True, "surface_scales": "own", "odds": "kriged"},
    ),
    THOMPSON: (
        '… warp learned: preset="thompson"',
        {"warp": "auto", "stand_ins": "failed"},
    ),  # none of the tasks has such numbers
    "kernel": ("… kernel learned, which the preset leaves out", {"kernel": "auto"}),
}


def rows():
    """The methods after the printed one, each with the changes of all rows up to its own."""
    options, methods = PRESETS["paper"] | {"exploration": 0.0}, {}  # the runner explores
    for name, (label, changed) in CHANGES.items():
        options = options | changed
        methods[name] = variant(name, label, **options)
    return methods


STEPS = rows()


def over(runs, cells, method, other):
    """Log ratios of regret on some cells, which are pairs of a task and a seed."""
    logs = []
    for task, seed in cells:
        first, second = ({s: r for s, r in runs[task].get(m, {}).items() if s == seed} for m in (method, other))
        logs += log_ratios(first, second)
    return logs


def ahead(runs, cells, method):
    """On how many tasks a method has less regret than each of the GPs, in the geometric mean over seeds."""
    tasks = list(dict.fromkeys(task for task, _ in cells))
    logs = [[over(runs, [c for c in cells if c[0] == task], method, peer) for peer in PEERS] for task in tasks]
    return f"{sum(all(found and sum(found) < 0.0 for found in part) for part in logs)} of {len(tasks)}"


def tables(records):
    """Both tables, the records of the paper suite taken in."""
    lengths = {r["steps"] for r in records}
    suite = [r for r in load(RESULTS / "paper") if r["method"] in (PRINTED, *PEERS) and r["steps"] in lengths]
    runs = by_task([*suite, *records])
    order = [task for task in TASKS if task in runs]
    done = [(task, seed) for task in order for seed in sorted(runs[task].get(THOMPSON, {}))]
    measured = [name for name in STEPS if any(name in runs[task] for task in order)]
    common = [(task, seed) for task, seed in done if all(seed in runs[task].get(name, {}) for name in measured)]
    others = (PRINTED, *PEERS)
    labels = {PRINTED: 'as printed: preset="paper"'} | {name: STEPS[name].label for name in measured}
    steps = [
        [label, *(ratio(over(runs, common, name, other)) for other in others), ahead(runs, common, name)]
        for name, label in labels.items()
    ]
    parts = {title(task): [cell for cell in done if cell[0] == task] for task in dict.fromkeys(t for t, _ in done)}
    single = [
        [name, *(ratio(over(runs, cells, THOMPSON, other)) for other in others), len(cells)]
        for name, cells in (parts | {"all": done}).items()
    ]
    heads = ["over as printed", *(f"over {METHODS[peer].label}" for peer in PEERS)]
    return (
        "Cumulative regret over that of another method on the same runs: geometric means (95 % interval). Below 1 is "
        f"better. Of the paper suite's records that are compared with: {age(suite)}\n\n"
        "## From the printed algorithm to the preset\n\nEach row changes one thing more than the row before it, on the "
        f"{len(common)} runs that all rows have. Ahead: tasks on which the mean is below 1 for all three GPs.\n\n"
        f"{table(['', *heads, 'ahead'], steps)}\n\n"
        f'## preset="thompson"\n\nAhead of all three GPs on {ahead(runs, done, THOMPSON)} tasks; the printed '
        f"algorithm, on the same runs, on {ahead(runs, done, PRINTED)}.\n\n{table(['task', *heads, 'runs'], single)}"
    )


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
