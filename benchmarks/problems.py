"""Noisy functions on the unit cube, to maximise, for the benchmarks of optimizers.

Each function is negated and divided by its standard deviation over the cube, so a unit of reward is one sd. None has
its optimum at the centre of the cube, where a centred design would find it by luck: Ackley's domain is shifted to
[−20, 45], those of the others have their optimum off the centre.

Non-stationary problems multiply the distance to the optimum by a factor of the paper's kind, 1 + α sin(ω t) eᵗ with
t = 3 x, coordinate by coordinate and averaged: smooth where x is near 0, rough where it is near 1. The factor is
positive, so that the optimum is where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import gamma
from scipy.stats import qmc

SCALE = 0.1  # of the noise
WEIBULL_SHAPE = 0.3


def ackley(z):
    root_mean_square = np.sqrt(np.mean(z**2, axis=1))
    return -20.0 * np.exp(-0.2 * root_mean_square) - np.exp(np.mean(np.cos(2.0 * np.pi * z), axis=1)) + 20.0 + np.e


def rosenbrock(z):
    return np.sum(100.0 * (z[:, 1:] - z[:, :-1] ** 2) ** 2 + (1.0 - z[:, :-1]) ** 2, axis=1)


def styblinski_tang(z):
    return 0.5 * np.sum(z**4 - 16.0 * z**2 + 5.0 * z, axis=1)


def levy(z):
    w = 1.0 + (z - 1.0) / 4.0
    inner = (w[:, :-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:, :-1] + 1.0) ** 2)
    last = (w[:, -1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[:, -1]) ** 2)
    return np.sin(np.pi * w[:, 0]) ** 2 + inner.sum(axis=1) + last


def schwefel(z):
    return 418.9828872724339 * z.shape[1] - np.sum(z * np.sin(np.sqrt(np.abs(z))), axis=1)


# Function to minimise, its domain in every coordinate, and the coordinate of its minimum, the same in all.
FUNCTIONS = {
    "ackley": (ackley, -20.0, 45.0, 0.0),
    "rosenbrock": (rosenbrock, -2.048, 2.048, 1.0),
    "styblinski_tang": (styblinski_tang, -5.0, 5.0, -2.903534027771177),
    "levy": (levy, -10.0, 10.0, 1.0),
    "schwefel": (schwefel, -500.0, 500.0, 420.968746),
}


def gaussian(rng, x):
    return SCALE * rng.standard_normal()


def student_t2(rng, x):
    return SCALE * rng.standard_t(2)


def cauchy(rng, x):
    """Has no mean: the "expected" reward of the benchmark is its location."""
    return SCALE * rng.standard_cauchy()


def weibull(rng, x):
    """Skewed upwards: most draws a little unlucky, few very lucky; mean zero."""
    return SCALE * (rng.weibull(WEIBULL_SHAPE) - gamma(1.0 + 1.0 / WEIBULL_SHAPE))


def outliers(rng, x):
    noise = SCALE * rng.standard_normal()
    return 100.0 * noise if rng.random() < 0.05 else noise


def heteroscedastic(rng, x):
    return (0.02 + 0.5 * x[0]) * rng.standard_normal()


def small(rng, x):
    return 0.2 * gaussian(rng, x)


_NOISE = {f.__name__: f for f in (gaussian, student_t2, cauchy, weibull, outliers, heteroscedastic, small)}
_NOISE |= {"nonstationary": small, "nonstationary_outliers": outliers}
NOISES = tuple(_NOISE)
HEAVY = ("student_t2", "cauchy", "weibull", "outliers")
AMPLITUDE, FREQUENCY, STRETCH = 0.9 / np.exp(3.0), 8.0, 3.0


def modulation(x):
    """The non-stationary factor at x, shape (m, d): between 0.1 and 1.9, rough near 1 and smooth near 0."""
    t = STRETCH * np.asarray(x)
    return np.mean(1.0 + AMPLITUDE * np.sin(FREQUENCY * t) * np.exp(t), axis=1)


def sobol(n, d, seed):
    """The first n points of a scrambled Sobol sequence, shape (n, d)."""
    return qmc.Sobol(d, rng=seed).random_base2((n - 1).bit_length())[:n]


@cache
def spread(name: str, d: int) -> float:
    """Standard deviation of the raw function over the cube."""
    f, low, high, _ = FUNCTIONS[name]
    return float(np.std(f(low + (high - low) * sobol(2**12, d, seed=0))))


@dataclass(frozen=True)
class Problem:
    """A function of FUNCTIONS in d dimensions with a noise of NOISES."""

    name: str
    d: int
    noise: str

    def expected(self, x):
        """Noise-free reward at x, shape (m, d)."""
        f, low, high, _ = FUNCTIONS[self.name]
        reward = -f(low + (high - low) * np.asarray(x)) / spread(self.name, self.d)
        if self.noise.startswith("nonstationary"):
            return self.optimum - modulation(x) * (self.optimum - reward)
        return reward

    def evaluate(self, rng, x) -> float:
        """One noisy reward at x, shape (d,). The k-th draw of noise does not depend on the points asked before."""
        return float(self.expected(x[None])[0] + _NOISE[self.noise](rng, x))

    @property
    def optimum(self) -> float:
        """Best noise-free reward."""
        f, _, _, best = FUNCTIONS[self.name]
        return float(-f(np.full((1, self.d), best))[0] / spread(self.name, self.d))
