"""Noise of single rewards, in standard deviations of the expected reward over the cube.

Each is a function of a generator and a point, and draws from the generator in the same way wherever the point is, so
that the noise of a run's k-th reward does not depend on the points evaluated before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma

#: Standard deviation of the Gaussian noise, and scale of the heavy-tailed noises, in standard deviations of the
#: expected reward over the cube.
NOISE = 0.1
#: Shape of the Weibull distribution; below 1 its tail is heavier than an exponential one.
WEIBULL_SHAPE = 0.3
#: Mean of the Weibull distribution with that shape and scale 1.
WEIBULL_MEAN = float(gamma(1.0 + 1.0 / WEIBULL_SHAPE))
#: Probability that a reward is an outlier.
OUTLIERS = 0.05
#: Factor by which the noise of an outlier is larger than that of other rewards.
FAR = 100.0

Point = NDArray[np.float64]
Draw = Callable[[np.random.Generator, Point], float]


def gaussian(rng: np.random.Generator, x: Point) -> float:
    """Gaussian noise."""
    return NOISE * float(rng.standard_normal())


def small(rng: np.random.Generator, x: Point) -> float:
    """Gaussian noise, a fifth as large."""
    return 0.2 * gaussian(rng, x)


def student_t2(rng: np.random.Generator, x: Point) -> float:
    """Student's t with two degrees of freedom: a mean, but no variance."""
    return NOISE * float(rng.standard_t(2))


def cauchy(rng: np.random.Generator, x: Point) -> float:
    """Cauchy's distribution, which has no mean: what a task with it calls the expected reward is its location."""
    return NOISE * float(rng.standard_cauchy())


def weibull(rng: np.random.Generator, x: Point) -> float:
    """Weibull noise with its mean taken off: mostly a little below 0, seldom far above."""
    return NOISE * (float(rng.weibull(WEIBULL_SHAPE)) - WEIBULL_MEAN)


def outliers(rng: np.random.Generator, x: Point) -> float:
    """Gaussian noise, one time in twenty a hundred times as large."""
    noise = NOISE * float(rng.standard_normal())
    return FAR * noise if rng.random() < OUTLIERS else noise


def heteroscedastic(rng: np.random.Generator, x: Point) -> float:
    """Gaussian noise whose size grows with the first coordinate."""
    return float((0.02 + 0.5 * x[0]) * rng.standard_normal())


NOISES: dict[str, Draw] = {
    draw.__name__: draw for draw in (gaussian, student_t2, cauchy, weibull, outliers, heteroscedastic, small)
}
#: Noises with tails heavier than a Gaussian's.
HEAVY = ("student_t2", "cauchy", "weibull", "outliers")
