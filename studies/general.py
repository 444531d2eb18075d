"""Whose recommendation is best where the reward law carries the value: chances, sizes and spreads that depend on x?

The tasks are those of `infgp.bench.tasks.general`, with exact means. No uniform points in between.

    python -m studies.general [--seeds 5] [--tasks a,b] [--methods a,b] [--jobs 2]     # goes on where it stopped
    python -m studies.general --quick      # one task, 20 evaluations; writes nothing
    python -m studies.general --table      # writes results/general/table.md
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from infgp.bench.cells import ratio, table
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import FITTED, VARIANTS
from infgp.bench.pool import measure_with
from infgp.bench.statistics import by_task
from infgp.bench.study import FLOOR, Study
from infgp.bench.tasks import task
from infgp.bench.tasks.general import DIMENSIONS, GENERAL, LAWS

ALL = METHODS | VARIANTS | FITTED
#: What the others are compared with: an ordinary GP in the same code.
REFERENCE = "infgp-one"
#: Laws whose rare losses grow in the direction in which all other rewards get better.
TEMPTING = ("steamroller", "crash")
TEXT = f"""\
Regret, 1 being that of a uniform point: mean over runs (number of seeds). The last lines have the geometric mean over
tasks and seeds of the ratio to `{REFERENCE}`, an ordinary GP in the same code, and to `infgp`, on the same seeds (95 %
interval; a regret counts at least {FLOOR:g}). Both search for good rewards along the way."""


@cache
def uniform(name):
    """Regret of a uniform point of a task."""
    made = task(name)
    x = np.random.default_rng(0).random((20_000, made.d))
    return made.best - float(made.expected(x).mean())


def final(record):
    """Regret of the recommendation."""
    return record["recommend_regret"] / uniform(record["task"])


def along(record):
    """Mean regret of the evaluated points."""
    return float(np.mean(record["regret"])) / uniform(record["task"])


def settled(mine, method):
    """The runs of a method that ended with a recommendation, by seed."""
    return {seed: record for seed, record in mine.get(method, {}).items() if "recommend_regret" in record}


def logarithms(runs, method, reference, value):
    """Logarithms of the ratio of a method to another one, over tasks and seeds."""
    found = []
    for mine in runs.values():
        own, other = settled(mine, method), settled(mine, reference)
        pairs = ((value(own[seed]), value(other[seed])) for seed in own if seed in other)
        found += [float(np.log(max(a, FLOOR) / max(b, FLOOR))) for a, b in pairs]
    return found


def one_table(runs, methods, value):
    """Tasks in rows, methods in columns."""
    rows = []
    for name in (f"{law}-d{d}" for d in DIMENSIONS for law in LAWS):
        mine = runs.get(name, {})
        cells = [[value(r) for r in settled(mine, method).values()] for method in methods]
        if any(cells):
            rows.append([name, *(f"{np.mean(c):.2f} ({len(c)})" if c else "" for c in cells)])
    for reference in (REFERENCE, "infgp"):
        logs = [logarithms(runs, method, reference, value) for method in methods]
        rows.append([f"ratio to {ALL[reference].label}", *map(ratio, logs)])
    others = {name: mine for name, mine in runs.items() if not name.startswith(TEMPTING)}
    logs = [logarithms(others, method, REFERENCE, value) for method in methods]
    rows.append([f"ratio to {ALL[REFERENCE].label}, without {' and '.join(TEMPTING)}", *map(ratio, logs)])
    return table(["task", *(ALL[method].label for method in methods)], rows)


def tables(records):
    """The recommendation, and what was evaluated on the way."""
    runs = by_task(records)
    methods = [m for m in STUDY.methods if any(m in mine for mine in runs.values())]
    parts = [("The recommendation after all evaluations", final), ("The evaluated points, on average", along)]
    return "\n\n".join([TEXT, *(f"**{title}**\n\n{one_table(runs, methods, value)}" for title, value in parts)])


measure = partial(measure_with, ALL)
STUDY = Study(
    name="general",
    text=__doc__,
    tasks=GENERAL,
    methods=(
        "infgp",
        "infgp-final",
        "infgp-ignore",
        REFERENCE,
        "infgp-one-final",
        "botorch-logei",
        "botorch-qlognei",
        "optuna-tpe",
        "random",
    ),
    table=tables,
    seeds=3,
    quick=("success-d1",),
    quick_methods=("infgp-final", REFERENCE),
    quick_steps=20,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
