"""What all methods keep: the points and rewards that they were told."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class History:
    """Points, rewards, and a generator of the method's own.

    Examples
    --------
    >>> history = History(d=1, seed=0)
    >>> history.tell(np.array([0.5]), 2.0)
    >>> history.inputs, history.rewards
    (array([[0.5]]), array([2.]))
    """

    def __init__(self, d: int, seed: int) -> None:
        self.d = d
        self.rng = np.random.default_rng(seed)
        self._x: list[FloatArray] = []
        self._y: list[float] = []

    def tell(self, x: FloatArray, y: float) -> None:
        """Take in the reward y of point x."""
        self._x.append(np.array(x, dtype=np.float64))
        self._y.append(float(y))

    @property
    def inputs(self) -> FloatArray:
        """All points, shape (n, d)."""
        return np.array(self._x).reshape(-1, self.d)

    @property
    def rewards(self) -> FloatArray:
        """All rewards, shape (n,)."""
        return np.array(self._y)


class Random(History):
    """Uniform points."""

    def ask(self) -> FloatArray:
        """The next point."""
        return self.rng.random(self.d)

    def recommend(self) -> FloatArray:
        """The point with the best reward."""
        return self._x[int(np.argmax(self._y))]


def standardise(y: FloatArray) -> FloatArray:
    """Rewards with mean 0 and standard deviation 1; zeros where all are equal.

    Examples
    --------
    >>> standardise(np.array([1.0, 3.0])), standardise(np.array([5.0, 5.0]))
    (array([-1.,  1.]), array([0., 0.]))
    """
    sd = float(np.std(y))
    return (y - np.mean(y)) / (sd if sd > 1e-12 * (1.0 + float(np.max(np.abs(y)))) else 1.0)
