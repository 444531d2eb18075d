"""Tasks whose most common reward says nothing of the expected one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from infgp.bench.core import HEAVY_TAILED, Task
from infgp.bench.tasks.cube import checked

Points = NDArray[np.float64]

#: Input at the top of the first hill, in the unit square.
FIRST = np.array([0.25, 0.7])
#: Input at the top of the second hill, in the unit square.
SECOND = np.array([0.7, 0.3])
#: Standard deviation of the Gaussian noise that comes with every reward.
NOISE = 0.1
#: Number of evaluations of a run.
STEPS = 80
#: Number of points, in each coordinate, of the grid on which the best expected reward is found.
GRID = 401


def hill(x: Points, at: Points, width: float) -> Points:
    """A Gaussian bump of height 1, shape (m,), at x, shape (m, 2) or (2,)."""
    return np.asarray(np.exp(-np.sum((np.atleast_2d(x) - at) ** 2, axis=1) / (2.0 * width**2)))


def lottery(rng: np.random.Generator, x: Points) -> float:
    """Nothing in three of five evaluations, at any input; else a prize that depends on the input."""
    return float((rng.random() < 0.4) * 3.0 * hill(x, SECOND, 0.2)[0] + NOISE * rng.normal())


def two_prizes(rng: np.random.Generator, x: Points) -> float:
    """A small prize most of the time, best at one input, and a large one now and then, best at another."""
    common = rng.random() < 0.75
    return float((hill(x, FIRST, 0.25) if common else 8.0 * hill(x, SECOND, 0.25))[0] + NOISE * rng.normal())


def skewed(rng: np.random.Generator, x: Points) -> float:
    """The higher the mean, the lower the mode: both grow with the spread."""
    return float((0.2 + 2.0 * hill(x, SECOND, 0.25)[0]) * (2.0 * rng.exponential() - 1.0) + NOISE * rng.normal())


#: Expected reward and one reward, by name of the task.
ODDS: dict[str, tuple[Callable[[Points], Points], Callable[[np.random.Generator, Points], float]]] = {
    "lottery": (lambda x: 1.2 * hill(x, SECOND, 0.2), lottery),
    "two-prizes": (lambda x: 0.75 * hill(x, FIRST, 0.25) + 2.0 * hill(x, SECOND, 0.25), two_prizes),
    "skewed": (lambda x: 0.2 + 2.0 * hill(x, SECOND, 0.25), skewed),
}


@cache
def best(name: str) -> float:
    """The best expected reward on a grid."""
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, GRID)] * 2), axis=-1).reshape(-1, 2)
    return float(ODDS[name][0](grid).max())


def odds_task(name: str) -> Task:
    """The task of a name of `ODDS`.

    Examples
    --------
    >>> round(odds_task("lottery").best, 3)
    1.2
    """
    expected, draw = ODDS[name]
    return checked(Task(name, 2, HEAVY_TAILED, expected, draw, best(name), STEPS))
