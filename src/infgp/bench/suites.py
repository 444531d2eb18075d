"""Which runs make up a suite, in the order in which they are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infgp.bench.core import Method, Task, by_name
from infgp.bench.methods import METHODS
from infgp.bench.records import Key
from infgp.bench.tasks import PAPER as PAPER_TASKS
from infgp.bench.tasks import TASKS, task
from infgp.errors import InvalidInputError, check_int

#: Name of the suite that only shows that everything runs.
SMOKE = "smoke"
#: Name of the suite of the paper's experiments.
PAPER = "paper"
#: Names of the methods that have `SEEDS` seeds in the paper suite.
MAIN = ("infgp-ts-paper", "infgp", "gp-ts", "gp-ei")
#: Number of seeds of the methods in `MAIN`.
SEEDS = 10
#: Number of seeds of all methods that are not in `MAIN`.
OTHER_SEEDS = 5
#: Number of points of the initial design in the smoke suite.
SMOKE_INITIAL = 4
#: Number of steps after the initial design in the smoke suite.
SMOKE_STEPS = 3


@dataclass(frozen=True)
class Job:
    """One run to make; `steps` and `initial` are the task's and the runner's own where they are None."""

    task: str
    method: str
    seed: int
    d: int
    steps: int | None = None
    initial: int | None = None
    greedy: bool = True

    @property
    def key(self) -> Key:
        """What its record is of."""
        return Key(self.task, self.method, self.seed)


def jobs(
    suite: str, tasks: str | None = None, methods: str | None = None, seeds: int | None = None, every_pair: bool = False
) -> list[Job]:
    """The runs of a suite.

    Parameters
    ----------
    suite : str
        ``"paper"``: the paper's tasks, each with the methods meant for its kind, ten seeds for the four methods
        of `MAIN` and five for every other method. ``"smoke"``: three steps after a design of four points, one seed,
        methods and tasks paired in rotation so that each is met. Any other name, for runs of your own: as "paper", with
        tasks given.
    tasks, methods : str, optional
        Names of tasks or methods, separated by commas; by default all.
    seeds : int, optional
        So many for all methods.
    every_pair : bool, default=False
        In the smoke suite, every task with every method that is meant for it.

    Examples
    --------
    >>> [job.key for job in jobs("paper", "ackley-ht", "infgp,random", seeds=2)]  # doctest: +NORMALIZE_WHITESPACE
    [Key(task='ackley-ht', method='infgp', seed=0), Key(task='ackley-ht', method='random', seed=0),
     Key(task='ackley-ht', method='infgp', seed=1), Key(task='ackley-ht', method='random', seed=1)]
    """
    if suite not in (SMOKE, PAPER) and tasks is None:
        raise InvalidInputError(
            f"There is no suite {suite!r} with tasks of its own: use {SMOKE} or {PAPER}, or give --tasks."
        )
    if seeds is not None:
        check_int("seeds", seeds, 1)
    chosen = by_name(METHODS, methods) if methods else list(METHODS.values())
    whole = TASKS if suite == SMOKE else PAPER_TASKS
    chosen_tasks = [task(name.strip()) for name in (tasks.split(",") if tasks else whole)]
    pairs = [(t, m) for t in chosen_tasks for m in chosen if t.kind in m.kinds]
    if not pairs:
        raise InvalidInputError(
            "None of the methods is meant for any of the tasks; `infgp bench list` says which are for which kind."
        )
    if suite == SMOKE:
        pairs = pairs if every_pair or tasks or methods else rotation(pairs)
        short = SMOKE_INITIAL + SMOKE_STEPS
        return [Job(t.name, m.name, s, t.d, short, SMOKE_INITIAL, False) for s in range(seeds or 1) for t, m in pairs]

    def wanted(method: Method) -> int:
        return seeds or (SEEDS if method.name in MAIN else OTHER_SEEDS)

    most = max(wanted(m) for _, m in pairs)
    return [Job(t.name, m.name, s, t.d) for s in range(most) for t, m in pairs if s < wanted(m)]


def rotation(pairs: Sequence[tuple[Task, Method]]) -> list[tuple[Task, Method]]:
    """Few pairs that still have every task and every method in them.

    Each method gets the least used task that it is meant for, then each task left over the least used method.
    """
    chosen: list[tuple[Task, Method]] = []

    def uses(name: str) -> int:
        return sum(name in (t.name, m.name) for t, m in chosen)

    for method in dict.fromkeys(m.name for _, m in pairs):
        chosen.append(min((p for p in pairs if p[1].name == method), key=lambda p: uses(p[0].name)))
    for name in dict.fromkeys(t.name for t, _ in pairs):
        if not uses(name):
            chosen.append(min((p for p in pairs if p[0].name == name), key=lambda p: uses(p[1].name)))
    return chosen
