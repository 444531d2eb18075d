"""Data to fit, not to search: six functions that are rough here and smooth there, with a little Gaussian noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
#: Standard deviation of the noise, in units of the functions, whose range is about two.
NOISE = 0.05
#: Number of held-out inputs.
TEST = 400


def halves(x: FloatArray) -> FloatArray:
    """Rough on the left half, smooth on the right."""
    u = x[:, 0]
    return np.where(u < 0.5, np.sin(40.0 * u), np.sin(20.0) + 2.0 * (u - 0.5))


def step(x: FloatArray) -> FloatArray:
    """A jump in a smooth wave."""
    return np.asarray(np.where(x[:, 0] < 0.6, 0.0, 2.0) + 0.5 * np.sin(6.0 * x[:, 0]))


def needle(x: FloatArray) -> FloatArray:
    """A broad bowl with a narrow peak."""
    return np.asarray(-2.0 * (x[:, 0] - 0.5) ** 2 + 2.0 * np.exp(-0.5 * ((x[:, 0] - 0.7) / 0.02) ** 2))


def chirp(x: FloatArray) -> FloatArray:
    """A wave that becomes faster and faster."""
    return np.asarray(np.sin(2.0 * np.pi * (0.5 + 8.0 * x[:, 0] ** 3)))


def ridge(x: FloatArray) -> FloatArray:
    """Two inputs; a narrow ridge along a diagonal of a smooth slope."""
    return np.asarray(x[:, 0] + 1.5 * np.exp(-0.5 * ((x[:, 0] + x[:, 1] - 1.2) / 0.05) ** 2))


def plateau(x: FloatArray) -> FloatArray:
    """Two inputs; flat but for one quarter, which is rough."""
    inside = np.maximum(0.5 - x, 0.0).min(axis=1)
    return np.asarray(6.0 * inside * np.sin(25.0 * x[:, 0]) * np.cos(15.0 * x[:, 1]))


#: Functions, and how many inputs each has.
FUNCTIONS: dict[str, tuple[Callable[[FloatArray], FloatArray], int]] = {
    "halves": (halves, 1),
    "step": (step, 1),
    "needle": (needle, 1),
    "chirp": (chirp, 1),
    "ridge": (ridge, 2),
    "plateau": (plateau, 2),
}


def sample(function: str, n: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Training inputs and rewards, then inputs, truth and rewards to test with.

    Examples
    --------
    >>> [part.shape for part in sample("ridge", n=40, seed=0)]
    [(40, 2), (40,), (400, 2), (400,), (400,)]
    """
    f, d = FUNCTIONS[function]
    rng = np.random.default_rng([seed, list(FUNCTIONS).index(function), n])
    x = rng.random((n + TEST, d))
    truth = f(x)
    y = truth + NOISE * rng.standard_normal(n + TEST)
    return x[:n], y[:n], x[n:], truth[n:], y[n:]
