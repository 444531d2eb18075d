"""Who copes with rewards that span decades, or whose noise grows with the reward?

The tasks are those of `infgp.bench.tasks.scales`, with exact means. No uniform points in between. HEBO needs an
environment of its own, named by INFGP_HEBO_PYTHON (docs/bench.md), and takes minutes a run: give it fewer seeds.

    python -m studies.scales [--seeds 5] [--tasks a,b] [--methods a,b] [--jobs 2]     # goes on where it stopped
    python -m studies.scales --quick      # one task, 20 evaluations; writes nothing
    python -m studies.scales --table      # writes results/scales/table.md
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from infgp.bench.cells import number, ratio, table
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import FITTED, PEERS, VARIANTS
from infgp.bench.pool import measure_with
from infgp.bench.statistics import by_task, log_ratios
from infgp.bench.study import Study
from infgp.bench.tasks import task
from infgp.bench.tasks.scales import SCALES

ALL = METHODS | VARIANTS | FITTED | PEERS
#: infgp in its forms, of which one surface is an ordinary GP in the same code.
OWN = ("infgp", "infgp-final", "infgp-final-counted", "infgp-unwarped", "infgp-final-unwarped", "infgp-one")
#: What infgp is compared with.
OTHERS = ("optuna-tpe", "optuna-gp", "botorch-winsorised", "cma-es", "hebo", "random")
#: Smallest regret that counts, in median regrets of a uniform point of the task.
FLOOR = 1e-6
#: Number of uniform points whose median regret is a task's unit.
POINTS = 20_000
#: Ratio to a peer above which a task is counted as lost.
LOST = 1.2
TEXT = f"""\
Regret of expected rewards, 1 being the median regret of a uniform point of the task; at least {FLOOR:g} counts.
Cells are geometric means over runs (number of seeds), since regrets span decades. Below are geometric means over tasks
and seeds of the ratio to each peer, on the runs that both have (95 % interval). The best single peer is the one with
the lowest geometric mean over the runs that all measured peers have. Tasks are counted whose geometric mean is above
{LOST} × the best single peer's, and above {LOST} × that of the peer that is best on the task, of the tasks compared."""


@cache
def unit(name):
    """Median regret of a uniform point of a task."""
    made = task(name)
    return made.best - float(np.median(made.expected(np.random.default_rng(0).random((POINTS, made.d)))))


def final(record):
    """Regret of the recommendation; None where there is none."""
    regret = record.get("recommend_regret")
    return None if regret is None else max(regret / unit(record["task"]), FLOOR)


def chosen(record):
    """Regrets of the points behind the initial design, which all methods share; None where there are none."""
    regret = np.array(record["regret"][record["initial"] :])
    return np.maximum(regret / unit(record["task"]), FLOOR) if regret.size else None


def along(record):
    """Geometric mean of the regrets of the points that the method chose."""
    regret = chosen(record)
    return None if regret is None else float(np.exp(np.mean(np.log(regret))))


def along_plainly(record):
    """Mean of the same regrets."""
    regret = chosen(record)
    return None if regret is None else float(np.mean(regret))


def logarithms(mine, method, value):
    """Logarithms of the value of a method's runs on a task, by seed."""
    found = {seed: value(record) for seed, record in mine.get(method, {}).items()}
    return {seed: float(np.log(regret)) for seed, regret in found.items() if regret is not None}


def ratios(runs, method, other, value):
    """Logarithms of the ratio of a method to another one, over tasks and seeds."""
    return [log for mine in runs.values() for log in log_ratios(mine.get(method, {}), mine.get(other, {}), value)]


def best_peer(runs, value):
    """The peer with the lowest geometric mean over the runs that all measured peers have; None without such."""
    logs = {
        peer: {(name, seed): log for name, mine in runs.items() for seed, log in logarithms(mine, peer, value).items()}
        for peer in OTHERS
    }
    measured = {peer: mine for peer, mine in logs.items() if mine}
    common = set.intersection(*map(set, measured.values())) if measured else set()
    if not common:
        return None
    return min(measured, key=lambda peer: np.mean([measured[peer][run] for run in common]))


def lost(runs, method, peers, value):
    """On how many tasks a method is above `LOST` times the best of some peers there, of how many."""
    logs = []
    for mine in runs.values():
        pairs = [log_ratios(mine.get(method, {}), mine.get(peer, {}), value) for peer in peers if peer != method]
        if means := [np.mean(pair) for pair in pairs if pair]:
            logs.append(max(means))
    return f"{sum(log > np.log(LOST) for log in logs)} / {len(logs)}" if logs else "–"


def one_table(runs, methods, value):
    """Tasks in rows, methods in columns."""
    rows = []
    for name in (name for name in SCALES if name in runs):
        cells = [list(logarithms(runs[name], method, value).values()) for method in methods]
        rows.append([name, *(f"{number(np.exp(np.mean(c)))} ({len(c)})" if c else "" for c in cells)])
    for peer in (peer for peer in OTHERS if peer in methods):
        cells = ["1" if method == peer else ratio(ratios(runs, method, peer, value)) for method in methods]
        rows.append([f"ratio to {ALL[peer].label}", *cells])
    best = best_peer(runs, value)
    if best is not None:
        label = f"the best single peer, {ALL[best].label}"
        cells = ["1" if method == best else ratio(ratios(runs, method, best, value)) for method in methods]
        rows.append([f"**ratio to {label}**", *cells])
        rows.append([f"tasks above {LOST} × {label}", *(lost(runs, m, (best,), value) for m in methods)])
        rows.append([f"tasks above {LOST} × the task's best peer", *(lost(runs, m, OTHERS, value) for m in methods)])
    return table(["task", *(ALL[method].label for method in methods)], rows)


#: What is shown, with its title.
PARTS = (
    ("The recommendation after all evaluations", final),
    ("The points that the method chose, geometric mean", along),
    ("The points that the method chose, plain mean, which the worst of them decide", along_plainly),
)


def tables(records):
    """The recommendation, and what was evaluated on the way."""
    if not records:
        return "Not measured."
    runs = by_task(records)
    methods = [m for m in STUDY.methods if any(m in mine for mine in runs.values())]
    return "\n\n".join([TEXT, *(f"**{title}**\n\n{one_table(runs, methods, value)}" for title, value in PARTS)])


measure = partial(measure_with, ALL)
STUDY = Study(
    name="scales",
    text=__doc__,
    tasks=SCALES,
    methods=(*OWN, *OTHERS),
    table=tables,
    seeds=3,
    quick=("decades-sphere-d2",),
    quick_methods=("infgp-final", "optuna-tpe", "random"),
    quick_steps=20,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
