"""Ackley, Rosenbrock and Styblinski–Tang, each plain, heavy-tailed and non-stationary.

Notation: x in the unit cube, z = low + (high − low) x in the function's own domain, t = π (2 x − 1).

Every function is negated and divided by its standard deviation over the cube, so that rewards are to be maximised and
their unit is one standard deviation of the expected reward. What the paper leaves open is chosen here and explained in
``docs/bench-tasks.md``. Optimum and scale of each task are stored with their certificate; ``python -m
infgp.bench.tasks.certify`` computes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from infgp.bench.core import HEAVY_TAILED, NON_STATIONARY, PLAIN, Task
from infgp.bench.tasks.cube import checked
from infgp.bench.tasks.functions import LANDSCAPES as FUNCTIONS
from infgp.bench.tasks.functions import Landscape, Points, Values
from infgp.bench.tasks.noises import gaussian, weibull

#: The paper's α, the amplitude of the modulation, without a unit.
AMPLITUDE = 0.5


def modulation(x: Points) -> Values:
    """The paper's factor 1 + α sin(t) eᵗ, averaged over the coordinates: from 0.84 to 4.73, near 1 where x < 1/2."""
    t = np.pi * (2.0 * x - 1.0)
    return np.asarray(1.0 + AMPLITUDE * np.mean(np.sin(t) * np.exp(t), axis=1))


#: The functions of :mod:`functions` by the names that the paper's tasks have.
LANDSCAPES = {
    "ackley": FUNCTIONS["ackley"],
    "rosenbrock": FUNCTIONS["rosenbrock"],
    "stybtang": FUNCTIONS["styblinski_tang"],
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
    """The stored scale and optimum of each mean, by name of the task; heavy-tailed tasks have the plain ones'."""
    text = (files("infgp.bench") / "data" / "synthetic.json").read_text(encoding="utf-8")
    stored: Mapping[str, Any] = json.loads(text)
    return stored


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
        return float(expected(x[None])[0]) + noise(rng, x)

    return checked(Task(name, which.d, which.kind, expected, draw, float(certificate["best"])))
