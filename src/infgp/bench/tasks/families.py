"""Data to fit, not to search: a function, and rewards around it that misbehave in one of eight ways.

The noises differ from :mod:`noises`: here Weibull noise has its median taken off, not its mean, and outliers are
one in twenty exactly, for the main surface is what is to be found and a sample may be small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
#: Scale of the noise, in units of the function, whose range is about two.
SCALE = 0.1
#: Number of draws of a noise from which its scale is estimated.
MANY = 10_000


def smooth(x: FloatArray) -> FloatArray:
    """A wave along the first input and a bowl along every other input."""
    value = np.sin(6.0 * x[:, 0])
    for k in range(1, x.shape[1]):
        value = value + 2.0 / k * (x[:, k] - 0.5) ** 2
    return np.asarray(value)


def uneven(x: FloatArray) -> FloatArray:
    """Rough on the left, smooth on the right."""
    rough = np.sin(50.0 * x[:, 0]) * (x[:, 0] < 0.4)
    return np.asarray(smooth(x) + 0.7 * rough)


def gaussian(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    """Gaussian noise."""
    return SCALE * rng.standard_normal(len(x))


def student(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    """Student's t with two degrees of freedom."""
    return np.asarray(SCALE * rng.standard_t(2, len(x)))


def cauchy(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    """Cauchy's distribution."""
    return np.asarray(SCALE * rng.standard_cauchy(len(x)))


def weibull(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    """Weibull noise of shape 0.3, its median taken off."""
    return np.asarray(SCALE * (rng.weibull(0.3, len(x)) - np.log(2.0) ** (1 / 0.3)))


def outliers(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    """Gaussian noise; of one reward in twenty, rounded up, a hundred times as large."""
    noise = gaussian(rng, x)
    noise[rng.choice(len(x), -(-len(x) // 20), replace=False)] *= 100.0
    return noise


def bimodal(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    """One up or one down, and Gaussian noise."""
    return np.asarray(rng.choice([-1.0, 1.0], len(x)) + gaussian(rng, x))


def heteroscedastic(rng: np.random.Generator, x: FloatArray) -> FloatArray:
    """Gaussian noise whose size grows with the first input."""
    return np.asarray((0.02 + 0.5 * x[:, 0]) * rng.standard_normal(len(x)))


FAMILIES: dict[
    str, tuple[Callable[[FloatArray], FloatArray], Callable[[np.random.Generator, FloatArray], FloatArray]]
] = {
    "gaussian": (smooth, gaussian),
    "student_t2": (smooth, student),
    "cauchy": (smooth, cauchy),
    "weibull_0.3": (smooth, weibull),
    "outliers_5%": (smooth, outliers),
    "bimodal": (smooth, bimodal),
    "heteroscedastic": (smooth, heteroscedastic),
    "nonstationary": (uneven, gaussian),
}


@dataclass(frozen=True, eq=False)
class Sample:
    """Training data, held-out data, the truth at the held-out inputs, and half the 16–84 % range of the noise."""

    x: FloatArray
    y: FloatArray
    x_test: FloatArray
    y_test: FloatArray
    truth: FloatArray
    noise_scale: float


def draw(family: str, d: int, n: int, seed: int, n_test: int = 200) -> Sample:
    """Data of a family of `FAMILIES`: n training inputs in the unit cube and `n_test` others.

    Examples
    --------
    >>> draw("cauchy", d=2, n=30, seed=0).x.shape
    (30, 2)
    """
    f, noise = FAMILIES[family]
    rng = np.random.default_rng([seed, d, n, list(FAMILIES).index(family)])
    x, x_test = rng.random((n, d)), rng.random((n_test, d))
    many = noise(rng, rng.random((MANY, d)))
    low, high = np.percentile(many, (16.0, 84.0))
    return Sample(x, f(x) + noise(rng, x), x_test, f(x_test) + noise(rng, x_test), f(x_test), 0.5 * float(high - low))
