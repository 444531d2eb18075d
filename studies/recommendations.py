"""Which point to recommend? Regret of rules that see the same run and the same posterior.

The default searches; after half of the evaluations and after all of them each rule names a point. Tasks are those of
the paper suite, of `studies.regimes` and of `studies.odds`. Ten rules were compared when the rule of
`Optimizer.recommend` was chosen, by code that reached into the optimizer; new runs have the two that it offers: the
point it recommends (`leap 1`) and the best evaluated one (`evaluated 0`).

    python -m studies.recommendations [--seeds 3] [--tasks a,b] [--jobs 2]      # goes on where it stopped
    python -m studies.recommendations --quick       # one task, 15 evaluations; writes nothing
    python -m studies.recommendations --table       # writes results/recommendations/table.md
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from infgp.bench.cells import ratio, table
from infgp.bench.core import Method
from infgp.bench.methods.infinite import DefaultRun
from infgp.bench.pool import measure_with
from infgp.bench.study import FLOOR, GONE, GONE_TEXT, Study
from infgp.bench.tasks import PAPER, task
from infgp.bench.tasks.odds import ODDS
from studies.regimes import TASKS as REGIMES

GROUPS = {"paper": PAPER, "regimes": REGIMES, "odds": tuple(ODDS)}
#: The rule was chosen by looking at the runs of seeds below this number; the seeds from it on are its test.
CHOSEN_ON = {"paper": 10, "regimes": 3, "odds": 3}
#: Rules that can be run, and what runs are compared with that do not have the old reference.
RULES = ("evaluated 0", "leap 1")
NEW_REFERENCE = "evaluated 0"
#: Maximises the expected reward over the whole space.
REFERENCE = "space 0"
CAUTIONS = (0.0, 0.5, 1.0)
ALL_RULES = tuple(
    f"{rule} {caution:g}"
    for rule, caution in product(("space", "evaluated", "leap", "bound"), CAUTIONS)
    if caution or rule in ("space", "evaluated")
)
TEXT = f"""\
Regret of the recommended point (at least {FLOOR:g} of a uniform point's), over that of `{REFERENCE}`, which
maximises the expected reward over the whole space: geometric means over runs (95 % interval). `evaluated`:
over the evaluated points. The number: standard deviations that are taken off the expected reward.
`leap`: the point of `space 0` if it is better than that of `evaluated 0` by that number of standard deviations of
the difference, else that of `evaluated 0`; `leap 1` is what `Optimizer.recommend` does. `bound`: the same, if it is
better also when that number of standard deviations of each is taken off. The rule was chosen by looking at the
runs of the first seeds; those of later seeds were made afterwards and have tables of their own."""


class Recommending(DefaultRun):
    """The default, which notes after each of some numbers of rewards what each rule would recommend."""

    def __init__(self, d, seed, at):
        super().__init__(d, seed)
        self.at, self.found, self.count = at, {}, 0

    def tell(self, x, y):
        """Take in the reward y of point x."""
        super().tell(x, y)
        self.count += 1
        if self.count in self.at:
            best = self.optimizer.recommend()
            points = self.optimizer.space.to_unit([best.best_evaluated, best.point])
            self.found[self.count] = dict(zip(RULES, points, strict=True))


def measure(job, warm):
    """A record with the regret of each rule's point."""
    made, begun = task(job.task), []
    steps = made.steps if job.steps is None else job.steps

    def start(d, seed):
        begun.append(Recommending(d, seed, (steps // 2, steps)))
        return begun[-1]

    record = measure_with({"rules": Method("rules", "rules", start)}, job, warm=False)
    regret = {
        str(n): {rule: float(f"{made.best - made.expected(x[None])[0]:.5g}") for rule, x in points.items()}
        for n, points in begun[-1].found.items()
    }
    return record | {"rules": regret}


@cache
def uniform(name):
    """Regret of a uniform point of a task."""
    made = task(name)
    points = np.random.default_rng(0).random((1000, made.d))
    return float(np.mean(made.best - made.expected(points)))


def section(records, reference, names, half):
    """Rules in rows, tasks in columns."""
    rows = []
    for rule in ALL_RULES if reference == REFERENCE else RULES:
        logs = {}
        for record in records:
            found = record["rules"][sorted(record["rules"], key=int)[0 if half else -1]]
            floor = FLOOR * uniform(record["task"])
            mine, base = (max(found[name], floor) for name in (rule, reference))
            logs.setdefault(record["task"], []).append(np.log(mine / base))
        each = [f"{np.exp(np.mean(logs[name])):.2f}" if name in logs else "–" for name in names]
        name = rule if rule in RULES else f"{rule} {GONE}"
        rows.append([name, ratio(np.concatenate(list(logs.values()))), *each])
    return table(["rule", "all", *names], rows)


def tables(records):
    """Tables by group of tasks, by time, and by whether the rule was chosen on their runs."""
    parts = [TEXT]
    old = [REFERENCE in next(iter(r["rules"].values())) for r in records]
    for half, group, reference, fresh in product((True, False), GROUPS, (REFERENCE, NEW_REFERENCE), (False, True)):
        mine = [
            r
            for r, has in zip(records, old, strict=True)
            if r["task"] in GROUPS[group]
            and (r["seed"] >= CHOSEN_ON[group]) == fresh
            and has == (reference == REFERENCE)
        ]
        if mine:
            kind = "runs made after the choice" if fresh else "runs"
            other = "" if reference == REFERENCE else f", over `{reference}`"
            when = "half" if half else "all"
            names = GROUPS[group] if group != "regimes" else ()
            caption = f"After {when} of the evaluations, {group}, {len(mine)} {kind}{other}."
            parts.append(f"{caption}\n\n{section(mine, reference, names, half)}")
    return "\n\n".join([*parts, *[GONE_TEXT] * any(old)])


STUDY = Study(
    name="recommendations",
    text=__doc__,
    tasks=tuple(name for names in GROUPS.values() for name in names),
    methods=("rules",),
    table=tables,
    seeds=3,
    quick=("ackley-weibull-d2",),
    quick_steps=15,
    greedy=PAPER,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
