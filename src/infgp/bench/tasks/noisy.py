"""Tasks FUNCTION-NOISE-dD: a test function with a noise, ``"ackley-weibull-d2"``.

Each function is negated and divided by its standard deviation over the cube, so that rewards are to be maximised and
their unit is one standard deviation of the expected reward.

The noises ``nonstationary`` and ``nonstationary_outliers`` multiply the distance to the optimum by a factor of the
paper's kind, 1 + α sin(ω t) eᵗ with t = 3 x, coordinate by coordinate and averaged: smooth where x is near 0, rough
where it is near 1. The factor is positive, so that the optimum is where it was. (The tasks of :mod:`synthetic` have
the paper's own factor, which moves the optimum of Styblinski–Tang.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from infgp.bench.core import HEAVY_TAILED, NON_STATIONARY, PLAIN, Shared, Task
from infgp.bench.tasks.cube import checked
from infgp.bench.tasks.functions import LANDSCAPES, Points, Values
from infgp.bench.tasks.noises import HEAVY, NOISES, outliers, small

#: The factor's ω, an angle in radians per unit of t.
FREQUENCY = 8.0
#: The factor's t at x = 1.
STRETCH = 3.0
#: The factor's α, which keeps it between 0.1 and 1.9.
AMPLITUDE = 0.9 / np.exp(STRETCH)
#: Number of Sobol' points over which a function's standard deviation is taken.
SPREAD_POINTS = 2**12

FACTOR = "nonstationary"
KINDS_OF_NOISE = {**NOISES, FACTOR: small, f"{FACTOR}_outliers": outliers}


def modulation(x: Points) -> Values:
    """The non-stationary factor at x, shape (m, d)."""
    t = STRETCH * np.asarray(x)
    return np.asarray(np.mean(1.0 + AMPLITUDE * np.sin(FREQUENCY * t) * np.exp(t), axis=1))


def sobol(n: int, d: int, seed: int) -> Points:
    """The first n points of a scrambled Sobol' sequence, shape (n, d)."""
    return np.asarray(qmc.Sobol(d, rng=seed).random_base2((n - 1).bit_length())[:n])


@cache
def spread(function: str, d: int) -> float:
    """Standard deviation of the raw function over the cube."""
    return float(np.std(LANDSCAPES[function].raw(sobol(SPREAD_POINTS, d, seed=0))))


@dataclass(frozen=True)
class Problem:
    """A function of `LANDSCAPES` in d dimensions with a noise of `KINDS_OF_NOISE`.

    Examples
    --------
    >>> Problem.of("ackley-weibull-d2")
    Problem(function='ackley', noise='weibull', d=2)
    >>> Problem.of("ackley-ht-d5") is None
    True
    """

    function: str
    noise: str
    d: int

    @classmethod
    def of(cls, name: str) -> Problem | None:
        """What a task's name stands for; None if it is not a task FUNCTION-NOISE-dD."""
        function, _, rest = name.partition("-")
        noise, _, dimension = rest.partition("-d")
        if function not in LANDSCAPES or noise not in KINDS_OF_NOISE or not dimension.isdecimal():
            return None
        return cls(function, noise, int(dimension))

    @property
    def name(self) -> str:
        """The task's name."""
        return f"{self.function}-{self.noise}-d{self.d}"

    @property
    def optimum(self) -> float:
        """Best expected reward."""
        return -LANDSCAPES[self.function].least(self.d) / spread(self.function, self.d)

    def expected(self, x: Points) -> Values:
        """Expected rewards, shape (m,), at x, shape (m, d)."""
        reward = -LANDSCAPES[self.function].raw(np.asarray(x)) / spread(self.function, self.d)
        if self.noise.startswith(FACTOR):
            return np.asarray(self.optimum - modulation(x) * (self.optimum - reward))
        return np.asarray(reward)

    def evaluate(self, rng: np.random.Generator, x: NDArray[np.float64]) -> float:
        """One noisy reward at x, shape (d,)."""
        return float(self.expected(x[None])[0]) + KINDS_OF_NOISE[self.noise](rng, x)

    def rewards(self, seed: int) -> np.random.Generator:
        """The generator of all of a run's noise."""
        order = list(LANDSCAPES).index(self.function), list(KINDS_OF_NOISE).index(self.noise)
        return np.random.default_rng([seed, self.d, *order])


def noisy_task(name: str) -> Task:
    """The task of a name such as ``"ackley-weibull-d2"``.

    Its runs have the design and the stream of noise that they had before :mod:`infgp.bench.runner` made them, so that
    old records and new ones of the same seed can be compared in pairs.

    Examples
    --------
    >>> task = noisy_task("levy-outliers-d5")
    >>> task.d, task.kind
    (5, 'heavy-tailed')
    """
    problem = Problem.of(name)
    assert problem is not None, name
    kind = HEAVY_TAILED if problem.noise in HEAVY else NON_STATIONARY if problem.noise.startswith(FACTOR) else PLAIN
    shared = Shared(lambda size, seed: sobol(size, problem.d, seed), problem.rewards)
    return checked(Task(name, problem.d, kind, problem.expected, problem.evaluate, problem.optimum, shared=shared))
