"""Ackley, Rosenbrock and Styblinski–Tang, each plain, heavy-tailed and non-stationary.

Notation: x in the unit cube, z = low + (high − low) x in the function's own domain, t = π (2 x − 1).

Every function is negated and divided by its standard deviation over the cube, so that rewards are to be maximised and
their unit is one standard deviation of the expected reward. What the paper leaves open is chosen here and explained in
``docs/bench-tasks.md``. Optimum and scale of each task are stored with their certificate; ``python -m
infgp.bench.tasks.certify`` computes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma

from infgp.bench.core import HEAVY_TAILED, NON_STATIONARY, PLAIN, Task
from infgp.bench.tasks.cube import checked

NOISE = 0.1  # sd of the Gaussian noise and scale of the Weibull noise, in sd of the expected reward
WEIBULL_SHAPE = 0.3
WEIBULL_MEAN = float(gamma(1.0 + 1.0 / WEIBULL_SHAPE))
AMPLITUDE = 0.5  # the paper's α

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


def modulation(x: Points) -> Values:
    """The paper's factor 1 + α sin(t) eᵗ, averaged over the coordinates: from 0.84 to 4.73, near 1 where x < 1/2."""
    t = np.pi * (2.0 * x - 1.0)
    return np.asarray(1.0 + AMPLITUDE * np.mean(np.sin(t) * np.exp(t), axis=1))


@dataclass(frozen=True)
class Landscape:
    """A function to minimise and its domain, the same in every coordinate."""

    function: Callable[[Points], Values]
    low: float
    high: float

    def raw(self, x: Points) -> Values:
        """Values at points of the unit cube."""
        return self.function(self.low + (self.high - self.low) * x)


LANDSCAPES = {
    "ackley": Landscape(ackley, -20.0, 45.0),  # shifted: in the usual domain the optimum is at the centre of the cube
    "rosenbrock": Landscape(rosenbrock, -2.048, 2.048),
    "stybtang": Landscape(styblinski_tang, -5.0, 5.0),
}
KIND = {"": PLAIN, "-ht": HEAVY_TAILED, "-ns": NON_STATIONARY}
PANELS = tuple(name + suffix for suffix in KIND for name in LANDSCAPES)
PANELS_D5 = tuple(f"ackley{suffix}-d5" for suffix in KIND)


@dataclass(frozen=True)
class Parts:
    """A task's name taken apart: landscape, kind and dimension."""

    landscape: Landscape
    kind: str
    d: int

    def loss(self, x: Points) -> Values:
        """What the expected reward is the scaled negative of, at points of the unit cube."""
        raw = self.landscape.raw(x)
        return raw * modulation(x) if self.kind == NON_STATIONARY else raw


def parts(name: str) -> Parts:
    """What a name of `PANELS` or `PANELS_D5` stands for."""
    stem, _, dimension = name.partition("-d")
    landscape, _, suffix = stem.partition("-")
    return Parts(LANDSCAPES[landscape], KIND[suffix and f"-{suffix}"], int(dimension or 2))


@cache
def certificates() -> Mapping[str, Any]:
    """The stored scale and optimum of each mean, by name of the task; heavy-tailed tasks share those of the plain."""
    text = (files("infgp.bench") / "data" / "synthetic.json").read_text(encoding="utf-8")
    stored: Mapping[str, Any] = json.loads(text)
    return stored


def gaussian(rng: np.random.Generator) -> float:
    """Gaussian noise."""
    return NOISE * float(rng.standard_normal())


def weibull(rng: np.random.Generator) -> float:
    """Weibull noise with its mean taken off: mostly a little below 0, seldom far above."""
    return NOISE * (float(rng.weibull(WEIBULL_SHAPE)) - WEIBULL_MEAN)


def synthetic_task(name: str) -> Task:
    """The task of a name of `PANELS` or `PANELS_D5`.

    Examples
    --------
    >>> import numpy as np
    >>> task = synthetic_task("ackley-ht")
    >>> task.d, task.kind, task.best
    (2, 'heavy-tailed', 0.0)
    >>> task.expected(np.full((1, 2), 20 / 65))
    array([-0.])
    """
    which = parts(name)
    certificate = certificates()[name.replace("-ht", "")]
    scale = float(certificate["scale"])
    noise = weibull if which.kind == HEAVY_TAILED else gaussian

    def expected(x: Points) -> Values:
        return -which.loss(x) / scale

    def draw(rng: np.random.Generator, x: Points) -> float:
        return float(expected(x[None])[0]) + noise(rng)

    return checked(Task(name, which.d, which.kind, expected, draw, float(certificate["best"])))
