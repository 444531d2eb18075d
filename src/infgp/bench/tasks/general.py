"""Tasks whose reward law carries the value: chances, sizes and spreads that depend on the input; means are exact.

Each law is made for d = 1, 2 and 5 inputs from two hills, `first` and `second`, of height 1, and from a slope, the mean
of the coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import qmc

from infgp.bench.core import HEAVY_TAILED, Task
from infgp.bench.tasks.cube import checked
from infgp.errors import InvalidInputError

Points = NDArray[np.float64]
Draw = Callable[[np.random.Generator, "Place"], float]

#: Numbers of inputs, with the width of the hills and the number of evaluations of a run.
DIMENSIONS = {1: (0.15, 100), 2: (0.2, 120), 5: (0.4, 150)}
#: Coordinates of the first hill's top, as many as are needed.
FIRST = (0.25, 0.7, 0.4, 0.3, 0.65)
#: Coordinates of the second hill's top.
SECOND = (0.7, 0.3, 0.6, 0.55, 0.35)
#: Standard deviation of the Gaussian noise that comes with rewards that have any.
NOISE = 0.1
#: Points, as a power of 2, from the best of which the best expected reward is climbed to.
STARTS = 14


@dataclass(frozen=True)
class Place:
    """What the laws depend on: the two hills and the slope, at one input or several."""

    first: Points
    second: Points
    slope: Points

    @classmethod
    def of(cls, x: Points) -> Place:
        """At inputs x, shape (m, d)."""
        d = x.shape[1]
        width = DIMENSIONS[d][0]

        def hill(top: tuple[float, ...]) -> Points:
            return np.asarray(np.exp(-np.sum((x - np.array(top[:d])) ** 2, axis=1) / (2.0 * width**2)))

        return cls(hill(FIRST), hill(SECOND), x.mean(axis=1))


def _noise(rng: np.random.Generator) -> float:
    return NOISE * float(rng.normal())


def _success(rng: np.random.Generator, at: Place) -> float:
    return float(rng.random() < 0.1 + 0.7 * at.second[0])


def _counts(rng: np.random.Generator, at: Place) -> float:
    return float(rng.poisson(1.0 + 6.0 * at.second[0]))


def _exponential(rng: np.random.Generator, at: Place) -> float:
    return float(rng.exponential(0.5 + 2.0 * at.second[0]))


def _gamma(rng: np.random.Generator, at: Place) -> float:
    return float(rng.gamma(0.5, 2.0 * (0.5 + 2.0 * at.second[0])))


def _log_normal(rng: np.random.Generator, at: Place) -> float:
    return float((0.5 + 2.0 * at.second[0]) * np.exp(rng.normal() - 0.5))


def _jackpot(rng: np.random.Generator, at: Place) -> float:
    return float(10.0 * (rng.random() < 0.02 + 0.15 * at.second[0])) + _noise(rng)


def _steamroller(rng: np.random.Generator, at: Place) -> float:
    return float(at.slope[0] * (1.0 - 40.0 * (rng.random() < 0.05))) + _noise(rng)


def _crash(rng: np.random.Generator, at: Place) -> float:
    return float(at.slope[0] - 15.0 * (rng.random() < 0.2 * at.slope[0])) + _noise(rng)


def _prize(rng: np.random.Generator, at: Place) -> float:
    return float(at.first[0] + 4.0 * (rng.random() < 0.05 + 0.5 * at.second[0])) + _noise(rng)


def _bimodal(rng: np.random.Generator, at: Place) -> float:
    return float(1.0 + 0.3 * at.first[0] if rng.random() < 0.2 + 0.6 * at.second[0] else -1.0) + _noise(rng)


def _zero_inflated(rng: np.random.Generator, at: Place) -> float:
    return float((rng.random() < 0.2 + 0.5 * at.second[0]) * rng.exponential(1.0 + at.first[0]))


#: Expected reward and one reward, by name of the law.
LAWS: dict[str, tuple[Callable[[Place], Points], Draw]] = {
    "success": (lambda at: 0.1 + 0.7 * at.second, _success),
    "counts": (lambda at: 1.0 + 6.0 * at.second, _counts),
    "exponential": (lambda at: 0.5 + 2.0 * at.second, _exponential),
    "gamma": (lambda at: 0.5 + 2.0 * at.second, _gamma),
    "log-normal": (lambda at: 0.5 + 2.0 * at.second, _log_normal),
    "jackpot": (lambda at: 0.2 + 1.5 * at.second, _jackpot),
    "steamroller": (lambda at: -at.slope, _steamroller),
    "crash": (lambda at: -2.0 * at.slope, _crash),
    "prize": (lambda at: at.first + 0.2 + 2.0 * at.second, _prize),
    "bimodal": (lambda at: (0.2 + 0.6 * at.second) * (2.0 + 0.3 * at.first) - 1.0, _bimodal),
    "zero-inflated": (lambda at: (0.2 + 0.5 * at.second) * (1.0 + at.first), _zero_inflated),
}
GENERAL = tuple(f"{law}-d{d}" for d in DIMENSIONS for law in LAWS)


@cache
def best(law: str, d: int) -> float:
    """The largest expected reward over the cube, climbed to from the best of many points."""
    expected = LAWS[law][0]
    starts = np.vstack((qmc.Sobol(d, seed=0).random_base2(STARTS), FIRST[:d], SECOND[:d], np.zeros(d), np.ones(d)))
    order = np.argsort(-expected(Place.of(starts)))[:8]
    found = [minimize(lambda x: -expected(Place.of(x[None]))[0], starts[k], bounds=[(0.0, 1.0)] * d) for k in order]
    return float(max(-result.fun for result in found))


def general_task(name: str) -> Task:
    """The task of a name of `GENERAL`.

    Examples
    --------
    >>> round(general_task("success-d2").best, 3)
    0.8
    """
    if name not in GENERAL:
        raise InvalidInputError(f"{name!r} is no task with a general reward; use one of {', '.join(GENERAL)}.")
    law, _, digits = name.rpartition("-d")
    d = int(digits)
    expected, draw = LAWS[law]
    task = Task(
        name,
        d,
        HEAVY_TAILED,
        lambda x: expected(Place.of(x)),
        lambda rng, x: draw(rng, Place.of(x[None])),
        best(law, d),
        DIMENSIONS[d][1],
    )
    return checked(task)
