"""The benchmark tasks, by name: tasks of suites are in `TASKS`; tasks of studies are not listed there.

Names are known without loading anything; a task's data and the packages that bring them are read when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

from infgp.bench.core import Task
from infgp.bench.tasks.dimensions import WIDE, wide_task
from infgp.bench.tasks.general import GENERAL, general_task
from infgp.bench.tasks.hpo import DATASETS, hpobench_task, mnist_task
from infgp.bench.tasks.nas import nasbench201_task
from infgp.bench.tasks.noisy import Problem, noisy_task
from infgp.bench.tasks.objectives import OBJECTIVES, objective_task
from infgp.bench.tasks.odds import ODDS, odds_task
from infgp.bench.tasks.portfolio import portfolio_task
from infgp.bench.tasks.scales import SCALES, scales_task
from infgp.bench.tasks.synthetic import PANELS, PANELS_D5, synthetic_task
from infgp.errors import InvalidInputError

HPO = tuple(f"hpo-{dataset}" for dataset in DATASETS)
REAL = ("portfolio", *HPO, "mnist-mlp", "nasbench201")
PAPER = (*PANELS, *PANELS_D5, "portfolio", "hpo-segment", "mnist-mlp", "nasbench201")

TASKS: Mapping[str, Callable[[], Task]] = {
    **{name: partial(synthetic_task, name) for name in (*PANELS, *PANELS_D5)},
    "portfolio": portfolio_task,
    **{name: partial(hpobench_task, name) for name in HPO},
    "mnist-mlp": mnist_task,
    "nasbench201": nasbench201_task,
}


@cache
def task(name: str) -> Task:
    """The task of that name, built once.

    Examples
    --------
    >>> task("rosenbrock-ns").best
    0.0
    >>> task("rosenbrock-cauchy-d5").d
    5
    >>> task("rosenbrok")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    infgp.errors.InvalidInputError: No task is called 'rosenbrok'; did you mean 'rosenbrock'? Known ...
    """
    if name in ODDS:
        return odds_task(name)
    if name in GENERAL:
        return general_task(name)
    if name in SCALES:
        return scales_task(name)
    if name in WIDE:
        return wide_task(name)
    if name in OBJECTIVES:
        return objective_task(name)
    if Problem.of(name) is not None:
        return noisy_task(name)
    if name not in TASKS:
        from difflib import get_close_matches

        near = get_close_matches(name, TASKS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise InvalidInputError(f"No task is called {name!r}{hint} Known tasks: {', '.join(TASKS)}.")
    return TASKS[name]()


__all__ = ["HPO", "PANELS", "PANELS_D5", "PAPER", "REAL", "TASKS", "task"]
