"""Tasks whose most common reward says nothing of the expected one, and what the targets of infgp's search make of them.

infgp bench run --suite odds --import benchmarks.odds --tasks lottery,two-prizes,skewed --methods infgp,infgp-main
infgp bench tables --suite odds             # writes results/odds/*.md
"""

from __future__ import annotations

from functools import partial

import numpy as np

from infgp.bench.core import HEAVY_TAILED, Method, Task
from infgp.bench.methods import METHODS
from infgp.bench.methods.infinite import DefaultRun
from infgp.bench.tasks import TASKS

FIRST, SECOND = np.array([0.25, 0.7]), np.array([0.7, 0.3])
NOISE, STEPS = 0.1, 80


def hill(x, at, width):
    return np.exp(-np.sum((np.atleast_2d(x) - at) ** 2, axis=1) / (2.0 * width**2))


def lottery(rng, x):
    """Nothing in three of five draws, wherever; else a prize that depends on the input."""
    return (rng.random() < 0.4) * 3.0 * hill(x, SECOND, 0.2)[0] + NOISE * rng.normal()


def two_prizes(rng, x):
    """A small prize most of the time, best in one place, and a large one now and then, best in another."""
    common = rng.random() < 0.75
    return (hill(x, FIRST, 0.25) if common else 8.0 * hill(x, SECOND, 0.25))[0] + NOISE * rng.normal()


def skewed(rng, x):
    """The higher the mean, the lower the mode: both grow with the spread."""
    return (0.2 + 2.0 * hill(x, SECOND, 0.25)[0]) * (2.0 * rng.exponential() - 1.0) + NOISE * rng.normal()


def add(name, expected, draw):
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 401)] * 2), axis=-1).reshape(-1, 2)
    best = float(expected(grid).max())
    TASKS[name] = lambda: Task(name, 2, HEAVY_TAILED, expected, draw, best, STEPS)


add("lottery", lambda x: 1.2 * hill(x, SECOND, 0.2), lottery)
add("two-prizes", lambda x: 0.75 * hill(x, FIRST, 0.25) + 2.0 * hill(x, SECOND, 0.25), two_prizes)
add("skewed", lambda x: 0.2 + 2.0 * hill(x, SECOND, 0.25), skewed)


OPTIONS = {
    "infgp-main": ("infgp, target main", {"target": "main"}),
    "infgp-mean": ("infgp, target mean", {"target": "mean"}),
    "infgp-one": ("infgp, one surface", {"surfaces": 1}),
}
METHODS |= {name: Method(name, label, partial(DefaultRun, **options)) for name, (label, options) in OPTIONS.items()}
