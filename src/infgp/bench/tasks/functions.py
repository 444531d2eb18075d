"""The test functions, to minimise, each with its domain and where its minimum is.

Notation: z in a function's own domain, shape (m, d); x in the unit cube. All coordinates of a function have the same
domain, and its minimum is at the same value of every coordinate. No minimum is at the centre of the domain, where a
centred design would find it by luck: Ackley's usual domain, which is centred there, is shifted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Values = NDArray[np.float64]


def ackley(z: Points) -> Values:
    """Ackley's function, written so that rounding never takes it below its minimum 0, at z = 0."""
    distance = np.sqrt(np.mean(z**2, axis=1))
    ripple = np.mean(np.cos(2.0 * np.pi * z), axis=1)
    return np.asarray(-20.0 * np.expm1(-0.2 * distance) - np.e * np.expm1(ripple - 1.0))


def rosenbrock(z: Points) -> Values:
    """Rosenbrock's function: minimum 0 at z = 1."""
    return np.asarray(np.sum(100.0 * (z[:, 1:] - z[:, :-1] ** 2) ** 2 + (1.0 - z[:, :-1]) ** 2, axis=1))


def styblinski_tang(z: Points) -> Values:
    """Styblinski and Tang's function: two minima per coordinate, near −2.90 (the deeper) and 2.75."""
    return np.asarray(0.5 * np.sum(z**4 - 16.0 * z**2 + 5.0 * z, axis=1))


def levy(z: Points) -> Values:
    """Levy's function: minimum 0 at z = 1."""
    w = 1.0 + (z - 1.0) / 4.0
    inner = (w[:, :-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:, :-1] + 1.0) ** 2)
    last = (w[:, -1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[:, -1]) ** 2)
    return np.asarray(np.sin(np.pi * w[:, 0]) ** 2 + inner.sum(axis=1) + last)


def schwefel(z: Points) -> Values:
    """Schwefel's function: minimum 0 at z ≈ 420.97, far from the next best of its many minima."""
    return np.asarray(418.9828872724339 * z.shape[1] - np.sum(z * np.sin(np.sqrt(np.abs(z))), axis=1))


@dataclass(frozen=True)
class Landscape:
    """A function to minimise, its domain, and where its minimum is: the same in every coordinate."""

    function: Callable[[Points], Values]
    low: float
    high: float
    minimum: float

    def raw(self, x: Points) -> Values:
        """Values at points of the unit cube."""
        return self.function(self.low + (self.high - self.low) * x)

    def least(self, d: int) -> float:
        """The minimum in d dimensions."""
        return float(self.function(np.full((1, d), self.minimum))[0])


LANDSCAPES = {
    "ackley": Landscape(ackley, -20.0, 45.0, 0.0),
    "rosenbrock": Landscape(rosenbrock, -2.048, 2.048, 1.0),
    "styblinski_tang": Landscape(styblinski_tang, -5.0, 5.0, -2.903534027771177),
    "levy": Landscape(levy, -10.0, 10.0, 1.0),
    "schwefel": Landscape(schwefel, -500.0, 500.0, 420.968746),
}
