"""Is the point that infgp recommends in the end the best in every regime?

The 47 tasks of `studies.regimes` and the 16 of the paper suite (`infgp bench run --suite paper`). This study makes the
runs of `goal="final"` on the paper's tasks, with the paper's uniform points at the same steps as for all methods of the
suite; all other records are those of the two. A peer counts in a regime if it has half of its tasks at least.

    python -m studies.final [--seeds 10] [--tasks a,b] [--jobs 2]      # goes on where it stopped
    python -m studies.final --quick       # one task, 15 evaluations; writes nothing
    python -m studies.final --table       # writes results/final/table.md
"""

from __future__ import annotations

from functools import partial

import numpy as np

from infgp.bench.cells import ratio
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import VARIANTS
from infgp.bench.pool import measure_with
from infgp.bench.records import load
from infgp.bench.statistics import by_task, log_ratios
from infgp.bench.study import FLOOR, RESULTS, Study, recommended
from infgp.bench.tables import table
from infgp.bench.tasks import PAPER
from infgp.bench.tasks import task as task_of
from infgp.bench.tasks.noisy import Problem
from studies.regimes import REGIMES
from studies.regimes import TASKS as CELLS

OURS = "infgp-final"
#: Forms of infgp other than an ordinary GP and the paper's algorithm: no peers.
OWN = ("infgp", "infgp-final", "infgp-main", "infgp-ignore", "infgp-one-bent", "infgp-one-warped", "infgp-one-final")
#: Ratio to the best single peer of a regime that is wanted.
WANTED = 0.8
#: Ratio to the best single peer above which a task is listed.
WORST = 1.5
TEXT = f"""\
Regret of the recommendation after the last evaluation, at least {FLOOR:g}, of `goal="final"` over that of another
method: geometric means over the tasks and seeds that both have (95 % interval). The best single peer of a
regime is the one to which infgp compares worst. At most {WANTED} is wanted."""


def groups():
    """Tasks by regime: those of `studies.regimes`, then the kinds of the paper's tasks."""
    found = {name: [task for task in CELLS if Problem.of(task).noise in noises] for name, noises in REGIMES.items()}
    for task in PAPER:
        found.setdefault(f"paper: {task_of(task).kind}", []).append(task)
    return found


def logs_of(runs, tasks, peer):
    """Logarithms of the ratios of infgp to a peer, by task."""
    pairs = {t: log_ratios(runs[t].get(OURS, {}), runs[t].get(peer, {}), recommended) for t in tasks if t in runs}
    return {task: logs for task, logs in pairs.items() if logs}


def strongest(runs, tasks):
    """The peer to which infgp compares worst, and the logarithms by task; None where there is no peer."""
    peers = {m for t in tasks for m in runs.get(t, {})} - set(OWN)
    found = {peer: logs_of(runs, tasks, peer) for peer in peers}
    found = {peer: logs for peer, logs in found.items() if 2 * len(logs) >= len(tasks)}
    if not found:
        return None
    return max(found.items(), key=lambda item: np.mean(np.concatenate(list(item[1].values()))))


def tables(records):
    """A row for each regime, and the tasks on which a peer is far better."""
    runs = by_task([*load(RESULTS / "paper"), *load(RESULTS / "regimes"), *records])
    rows, worst, count = [], [], 0
    for name, tasks in groups().items():
        best = strongest(runs, tasks)
        if best is None:
            continue
        peer, by = best
        every = np.concatenate(list(by.values()))
        rows.append([name, f"`{peer}`", ratio(every), every.size, f"{len(by)} of {len(tasks)}"])
        count += len(by)
        worst += [
            [task, f"`{peer}`", ratio(logs), len(logs)] for task, logs in by.items() if np.exp(np.mean(logs)) > WORST
        ]
    first = table(["regime", "best single peer", "ratio", "pairs of runs", "tasks"], rows)
    title = f"Tasks on which the ratio to the best single peer of the regime is above {WORST}: {len(worst)} of {count}."
    second = table(["task", "peer", "ratio", "pairs of runs"], worst)
    return f"{TEXT}\n\n{first}\n\n{title}\n\n{second}"


measure = partial(measure_with, METHODS | VARIANTS)
STUDY = Study(
    name="final",
    text=__doc__,
    tasks=PAPER,
    methods=(OURS,),
    table=tables,
    seeds=10,
    quick=("ackley-ns",),
    quick_steps=15,
    greedy=PAPER,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
