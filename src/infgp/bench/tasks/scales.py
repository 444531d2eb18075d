"""Tasks whose rewards span decades, or whose noise grows with the reward: a loss is minimised, its negative is told.

A task is a family, a surface and a number of inputs: ``"decades-sphere-d2"``. The surface is a function of the input
that goes from 0, at a known point, to at most 1. The family turns it into a loss, and puts noise on it whose mean is
known, so that expected reward and optimum are exact. Three more tasks are tables of trained networks
(:func:`infgp.bench.tasks.hpo.hpolib_task`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from infgp.bench.core import HEAVY_TAILED, NON_STATIONARY, Task
from infgp.bench.tasks.cube import checked
from infgp.bench.tasks.functions import LANDSCAPES, rosenbrock
from infgp.bench.tasks.hpo import HPOLIB, hpolib_task
from infgp.errors import InvalidInputError

Points = NDArray[np.float64]

#: Evaluations of a run, by number of inputs.
STEPS = {2: 60, 5: 100, 10: 120}
#: Coordinates of the least loss, as many as are needed; those of the valley are elsewhere.
CENTRE = (0.55, 0.3, 0.7, 0.4, 0.65, 0.25, 0.6, 0.35, 0.75, 0.45)
#: Ratio of the largest to the smallest weight of a coordinate in the ellipse.
CONDITION = 100.0
#: Half the height of a ripple, in squared sides of the cube.
RIPPLE = 0.05
#: Number of ripples over a side of the cube.
RIPPLES = 3.0
#: Upper bound of Rosenbrock's function on its domain, for each pair of coordinates that follow one another.
HIGHEST = 100.0 * (2.048 + 2.048**2) ** 2 + 3.048**2

#: Standard deviation of the logarithm of a loss that is drawn at a point, where the noise is mild.
MILD = 0.1
#: Standard deviation of the logarithm of a loss with log-normal noise.
STRONG = 1.0
#: Standard deviation of the noise that is added to losses of the exponential family, whose least expected loss is 1.
ADDED = 0.1
#: Exponent β of the noise U^β.
POWER = 2.0
#: Chance of a burst.
BURST = 0.1
#: Largest number of decades by which a burst multiplies a loss.
BURST_DECADES = 5.0
#: Decimal logarithm of the least loss of the decades.
LEAST_DECADE = -5.0
#: Number of decades between the least loss of the decades and the loss where the surface is 1.
DECADES = 12.0
#: Logarithm of the ratio between the largest and the least loss of the exponential family.
RATE = 15.0
#: Logarithm of the ratio between the largest and the least quality of the reciprocal family, but for what is added.
DECLINE = 20.0
#: What is added to the quality of the reciprocal family, whose loss is thus below its inverse.
QUALITY = 1e-5
#: Least loss of families in which the loss is the surface and this.
LEAST = 1e-3
#: Distance between the least loss and the place where losses begin to diverge, along the first input, in sides.
MARGIN = 0.05
#: Number of decades by which a diverging loss grows over a side of the cube.
DIVERGENCE = 40.0
#: Distance between the least loss and the cliff, in the sum of the first two inputs.
CLIFF_MARGIN = 0.3
#: Loss at which divergence ends, and that of a point beyond the cliff; it is told without noise, as a failure is where
#: there is no word for failures.
DIVERGED = 1e9


def _centred(x: Points, weights: Points, extra: float = 0.0) -> tuple[Points, float]:
    """Squared distances from `CENTRE`, weighted and added up, and a bound of them with something extra a coordinate."""
    centre = np.array(CENTRE[: x.shape[1]])
    far = np.maximum(centre, 1.0 - centre) ** 2
    return np.asarray((x - centre) ** 2 @ weights), float((far + extra) @ weights)


def sphere(x: Points) -> Points:
    """Squared distance from the centre."""
    total, bound = _centred(x, np.ones(x.shape[1]))
    return total / bound


def ellipse(x: Points) -> Points:
    """Squared distance from the centre, in which the first coordinate counts a hundred times as much as the last."""
    total, bound = _centred(x, CONDITION ** -np.linspace(0.0, 1.0, x.shape[1]))
    return total / bound


def ripple(x: Points) -> Points:
    """Squared distance from the centre with ripples, whose troughs are minima of their own."""
    total, bound = _centred(x, np.ones(x.shape[1]), 2.0 * RIPPLE)
    waves = np.sum(1.0 - np.cos(2.0 * np.pi * RIPPLES * (x - np.array(CENTRE[: x.shape[1]]))), axis=1)
    return np.asarray((total + RIPPLE * waves) / bound)


def valley(x: Points) -> Points:
    """Logarithm of 1 and Rosenbrock's function, of which 1 is its bound."""
    landscape = LANDSCAPES["rosenbrock"]
    z = landscape.low + (landscape.high - landscape.low) * x
    return np.asarray(np.log1p(rosenbrock(z)) / np.log1p(HIGHEST * (x.shape[1] - 1)))


SURFACES: Mapping[str, Callable[[Points], Points]] = {
    "sphere": sphere,
    "ellipse": ellipse,
    "ripple": ripple,
    "valley": valley,
}


def optimum(surface: str, d: int) -> Points:
    """Where a surface is 0, shape (d,).

    Examples
    --------
    >>> optimum("sphere", 2), valley(optimum("valley", 2)[None]).round(12)
    (array([0.55, 0.3 ]), array([0.]))
    """
    if surface != "valley":
        return np.array(CENTRE[:d])
    landscape = LANDSCAPES["rosenbrock"]
    return np.full(d, (landscape.minimum - landscape.low) / (landscape.high - landscape.low))


@dataclass(frozen=True)
class Noise:
    """What multiplies a loss, with its mean, and the standard deviation of what is added."""

    factor: Callable[[np.random.Generator], float]
    mean: float = 1.0
    added: float = 0.0


def log_normal(sd: float) -> Noise:
    """A log-normal factor with mean 1 and a standard deviation of its logarithm.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> round(float(np.mean([log_normal(0.1).factor(rng) for _ in range(1000)])), 1)
    1.0
    """
    return Noise(lambda rng: float(np.exp(sd * rng.normal() - 0.5 * sd**2)))


def _burst(rng: np.random.Generator) -> float:
    happens, size, mild = rng.random() < BURST, rng.random(), rng.normal()
    return float(10.0 ** (BURST_DECADES * size * happens) * np.exp(MILD * mild - 0.5 * MILD**2))


#: Factors (1 + β) U^β, with mean 1.
POWERS = Noise(lambda rng: float((1.0 + POWER) * rng.random() ** POWER))
#: A factor of 10^(5 U) now and then.
BURSTS = Noise(_burst, 1.0 - BURST + BURST * (10.0**BURST_DECADES - 1.0) / (BURST_DECADES * np.log(10.0)))
#: A small amount is added, and nothing multiplied.
PLAIN_NOISE = Noise(lambda rng: 1.0, added=ADDED)


def _diverging(f: Points, x: Points, top: Points) -> Points:
    over = np.maximum(x[:, 0] - top[0] - MARGIN, 0.0)
    return np.asarray(np.minimum((LEAST + f) * 10.0 ** (DIVERGENCE * over), DIVERGED))


def _cliff(f: Points, x: Points, top: Points) -> Points:
    beyond = x[:, :2].sum(axis=1) > top[:2].sum() + CLIFF_MARGIN
    return np.where(beyond, DIVERGED, LEAST + f)


#: From the surface at points, shape (m,), the points, shape (m, d), and the optimum to losses, shape (m,).
Loss = Callable[[Points, Points, Points], Points]


@dataclass(frozen=True)
class Family:
    """Losses over decades or with noise that grows with them: a kind of task, the loss and its noise."""

    kind: str
    loss: Loss
    noise: Noise


def _plainly(f: Points, x: Points, top: Points) -> Points:
    return LEAST + f


FAMILIES: Mapping[str, Family] = {
    "decades": Family(NON_STATIONARY, lambda f, x, top: 10.0 ** (LEAST_DECADE + DECADES * f), log_normal(MILD)),
    "exponential": Family(NON_STATIONARY, lambda f, x, top: np.exp(RATE * f), PLAIN_NOISE),
    "reciprocal": Family(NON_STATIONARY, lambda f, x, top: 1.0 / (QUALITY + np.exp(-DECLINE * f)), log_normal(MILD)),
    "lognormal": Family(HEAVY_TAILED, _plainly, log_normal(STRONG)),
    "power": Family(HEAVY_TAILED, _plainly, POWERS),
    "bursts": Family(HEAVY_TAILED, _plainly, BURSTS),
    "diverging": Family(NON_STATIONARY, _diverging, log_normal(MILD)),
    "cliff": Family(NON_STATIONARY, _cliff, log_normal(MILD)),
}

#: Tasks with exact means.
MADE = (
    "decades-sphere-d2",
    "decades-ripple-d5",
    "decades-ellipse-d10",
    "exponential-valley-d2",
    "exponential-sphere-d5",
    "exponential-ellipse-d10",
    "reciprocal-ripple-d2",
    "reciprocal-ellipse-d5",
    "lognormal-valley-d2",
    "lognormal-ripple-d5",
    "lognormal-sphere-d10",
    "power-ellipse-d2",
    "power-valley-d5",
    "power-sphere-d10",
    "bursts-sphere-d2",
    "bursts-ellipse-d5",
    "bursts-sphere-d10",
    "diverging-valley-d2",
    "diverging-sphere-d5",
    "diverging-ellipse-d10",
    "cliff-sphere-d2",
    "cliff-ripple-d5",
)
SCALES = (*MADE, *HPOLIB)


def scales_task(name: str) -> Task:
    """The task of a name of `SCALES`.

    Examples
    --------
    >>> task = scales_task("decades-sphere-d2")
    >>> round(task.best, 12), task.expected([[0.55, 0.3]])
    (-1e-05, array([-1.e-05]))
    >>> scales_task("lognormal-valley-d2").best
    -0.001
    """
    if name not in SCALES:
        raise InvalidInputError(f"{name!r} is no task with rewards over decades; use one of {', '.join(SCALES)}.")
    if name in HPOLIB:
        return hpolib_task(name)
    family_name, surface_name, digits = name.split("-")
    d, family, surface = int(digits.removeprefix("d")), FAMILIES[family_name], SURFACES[surface_name]
    top, noise = optimum(surface_name, d), family.noise

    def loss(x: Points) -> Points:
        return family.loss(surface(x), x, top)

    def draw(rng: np.random.Generator, x: Points) -> float:
        value, factor, added = float(loss(x[None])[0]), noise.factor(rng), noise.added * float(rng.normal())
        return -value if value == DIVERGED else -value * factor - added

    best = -noise.mean * float(family.loss(np.zeros(1), top[None], top)[0])
    return checked(Task(name, d, family.kind, lambda x: -noise.mean * loss(x), draw, best, STEPS[d]))
