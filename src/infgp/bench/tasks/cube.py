"""Checks of the points that a task is asked about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from infgp.bench.core import Task
from infgp.errors import InvalidInputError

#: Distance by which a point may miss the cube, in units of its side: rounding in an optimizer's own units.
TOLERANCE = 1e-9


def checked(task: Task) -> Task:
    """The task with the points that it is given checked before use.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.bench.core import Task
    >>> task = checked(Task("toy", 1, "plain", lambda x: -x[:, 0], lambda rng, x: float(-x[0] + rng.normal()), 0.0))
    >>> task.expected([[2.0]])
    Traceback (most recent call last):
        ...
    infgp.errors.InvalidInputError: Task 'toy' lives on the unit cube, but a coordinate is 2.0; scale points to [0, 1].
    """

    def expected(points: ArrayLike) -> NDArray[np.float64]:
        x = np.asarray(points, dtype=float)
        if x.ndim != 2 or x.shape[1] != task.d:
            raise InvalidInputError(f"Task {task.name!r} expects points of shape (m, {task.d}), but got {x.shape}.")
        return task.expected(_inside(task.name, x))

    def draw(rng: np.random.Generator, point: ArrayLike) -> float:
        x = np.asarray(point, dtype=float)
        if x.shape != (task.d,):
            raise InvalidInputError(f"Task {task.name!r} expects a point of shape ({task.d},), but got {x.shape}.")
        return float(task.draw(rng, _inside(task.name, x)))

    return replace(task, expected=expected, draw=draw)


def _inside(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
    outside = ~((x >= -TOLERANCE) & (x <= 1.0 + TOLERANCE))
    if outside.any():
        first = float(x[outside][0])
        raise InvalidInputError(
            f"Task {name!r} lives on the unit cube, but a coordinate is {first!r}; scale points to [0, 1]."
        )
    return np.clip(x, 0.0, 1.0)
