"""Data for the benchmarks: a function, and rewards around it that misbehave in one of eight ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SCALE = 0.1  # of the noise; the functions have a range of about two


def smooth(x):
    value = np.sin(6.0 * x[:, 0])
    for k in range(1, x.shape[1]):
        value = value + 2.0 / k * (x[:, k] - 0.5) ** 2
    return value


def uneven(x):
    """Rough on the left, smooth on the right."""
    rough = np.sin(50.0 * x[:, 0]) * (x[:, 0] < 0.4)
    return smooth(x) + 0.7 * rough


def gaussian(rng, x):
    return SCALE * rng.standard_normal(len(x))


def student(rng, x):
    return SCALE * rng.standard_t(2, len(x))


def cauchy(rng, x):
    return SCALE * rng.standard_cauchy(len(x))


def weibull(rng, x):
    return SCALE * (rng.weibull(0.3, len(x)) - np.log(2.0) ** (1 / 0.3))


def outliers(rng, x):
    noise = gaussian(rng, x)
    noise[rng.choice(len(x), -(-len(x) // 20), replace=False)] *= 100.0  # 5 %, rounded up
    return noise


def bimodal(rng, x):
    return rng.choice([-1.0, 1.0], len(x)) + gaussian(rng, x)


def heteroscedastic(rng, x):
    return (0.02 + 0.5 * x[:, 0]) * rng.standard_normal(len(x))


FAMILIES = {
    "gaussian": (smooth, gaussian),
    "student_t2": (smooth, student),
    "cauchy": (smooth, cauchy),
    "weibull_0.3": (smooth, weibull),
    "outliers_5%": (smooth, outliers),
    "bimodal": (smooth, bimodal),
    "heteroscedastic": (smooth, heteroscedastic),
    "nonstationary": (uneven, gaussian),
}


@dataclass(frozen=True)
class Sample:
    """Training data, held-out data and the truth at the held-out inputs."""

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    truth: np.ndarray
    noise_scale: float  # half the 16–84 % range of the noise


def draw(family: str, d: int, n: int, seed: int, n_test: int = 200) -> Sample:
    f, noise = FAMILIES[family]
    rng = np.random.default_rng([seed, d, n, list(FAMILIES).index(family)])
    x, x_test = rng.random((n, d)), rng.random((n_test, d))
    many = noise(rng, rng.random((10_000, d)))
    low, high = np.percentile(many, (16.0, 84.0))
    return Sample(x, f(x) + noise(rng, x), x_test, f(x_test) + noise(rng, x_test), f(x_test), 0.5 * (high - low))
