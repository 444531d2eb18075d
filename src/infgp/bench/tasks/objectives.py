"""Tasks whose value is another functional of the reward law than its mean: median, quantile, CVaR, chance of success.

Functionals are exact: in closed form, or, for quantiles of mixtures, by root finding on the exact distribution
function. A task's name has its law, its functional and its number of inputs, as in ``spread-cvar-d2``, and its
`expected` is the functional, so that regret is that of the functional. Hills, slope and evaluations are those of
:mod:`infgp.bench.tasks.general`. In every law the mean is best on the first hill, or near it, and each functional that
is asked for is best elsewhere: on the second hill, or between the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr
from scipy.stats import qmc

from infgp.bench.core import HEAVY_TAILED, Task
from infgp.bench.tasks.cube import checked
from infgp.bench.tasks.general import DIMENSIONS, FIRST, SECOND, STARTS, Place, Points
from infgp.errors import InvalidInputError
from infgp.predict.mixture import Mixture

#: Level of the quantile, and share of the worst rewards of which CVaR is the mean.
SHARE = 0.1
#: Reward to be beaten.
THRESHOLD = 0.5
#: What an optimizer is asked for, by the name of the functional.
OPTIONS: Mapping[str, str | tuple[str, float]] = {
    "mean": "mean",
    "median": "median",
    "quantile": ("quantile", SHARE),
    "cvar": ("cvar", SHARE),
    "probability": ("probability", THRESHOLD),
}


class Rewards(Protocol):
    """Reward laws at m points."""

    def mean(self) -> Points:
        """Means, shape (m,)."""

    def quantile(self, q: float) -> Points:
        """Quantiles of level q, shape (m,)."""

    def cvar(self, q: float) -> Points:
        """Means of the lowest share q of the rewards, shape (m,)."""

    def beating(self, threshold: float) -> Points:
        """Chances of a reward above the threshold, shape (m,)."""

    def draw(self, rng: np.random.Generator) -> float:
        """A reward at the first point."""


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Mixtures of Gaussians; all arrays have shape (m, C).

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> law = Gaussians(one, 2.0 * one, 3.0 * one)
    >>> law.mean(), law.quantile(0.1).round(3), law.cvar(0.1).round(3), law.beating(2.0)
    (array([2.]), array([-1.845]), array([-3.265]), array([0.5]))
    """

    weights: Points
    means: Points
    sd: Points

    @classmethod
    def of(cls, *parts: tuple[Points | float, Points, Points | float]) -> Gaussians:
        """From weight, mean and standard deviation of each component."""
        columns = [np.broadcast_arrays(*part) for part in parts]
        return cls(*(np.column_stack([column[k] for column in columns]).astype(float) for k in range(3)))

    def mean(self) -> Points:
        """Means, shape (m,)."""
        return np.asarray((self.weights * self.means).sum(axis=1))

    def quantile(self, q: float) -> Points:
        """Quantiles of level q, shape (m,)."""
        return Mixture(self.weights, self.means, self.sd**2).quantile(np.array([q]))[:, 0]

    def cvar(self, q: float) -> Points:
        """Means of the lowest share q of the rewards, shape (m,): E[y 1(y ≤ t)] / q with t the quantile."""
        gap = (self.quantile(q)[:, None] - self.means) / self.sd
        density = np.exp(-0.5 * gap * gap) / math.sqrt(2.0 * math.pi)
        return np.asarray((self.weights * (self.means * ndtr(gap) - self.sd * density)).sum(axis=1) / q)

    def beating(self, threshold: float) -> Points:
        """Chances of a reward above the threshold, shape (m,)."""
        return np.asarray((self.weights * ndtr((self.means - threshold) / self.sd)).sum(axis=1))

    def draw(self, rng: np.random.Generator) -> float:
        """A reward at the first point."""
        part = int(rng.random() < 1.0 - self.weights[0, 0]) if self.weights.shape[1] > 1 else 0
        return float(self.means[0, part] + self.sd[0, part] * rng.normal())


@dataclass(frozen=True, eq=False)
class Exponentials:
    """Exponential rewards above a lowest one; arrays have shape (m,).

    Examples
    --------
    >>> law = Exponentials(np.zeros(1), np.ones(1))
    >>> law.mean(), law.quantile(0.5).round(3), law.cvar(0.1).round(4), law.beating(-1.0)
    (array([1.]), array([0.693]), array([0.0518]), array([1.]))
    """

    low: Points
    scale: Points

    def mean(self) -> Points:
        """Means, shape (m,)."""
        return self.low + self.scale

    def quantile(self, q: float) -> Points:
        """Quantiles of level q, shape (m,)."""
        return self.low - self.scale * math.log1p(-q)

    def cvar(self, q: float) -> Points:
        """Means of the lowest share q of the rewards, shape (m,)."""
        return self.low + self.scale * (1.0 + (1.0 - q) * math.log1p(-q) / q)

    def beating(self, threshold: float) -> Points:
        """Chances of a reward above the threshold, shape (m,)."""
        return np.asarray(np.exp(-np.maximum(threshold - self.low, 0.0) / self.scale))

    def draw(self, rng: np.random.Generator) -> float:
        """A reward at the first point."""
        return float(self.low[0] + self.scale[0] * rng.exponential())


def _spread(at: Place) -> Rewards:
    """The higher hill is the noisier one."""
    return Gaussians.of((1.0, 1.5 * at.first + at.second, 0.15 + at.first))


def _skewed(at: Place) -> Rewards:
    """Where the location falls, the scale grows: many small losses and a few large gains."""
    return Exponentials(0.8 * at.second - 0.7 * at.first, 0.1 + 1.8 * at.first)


def _crash(at: Place) -> Rewards:
    """A reward that is high where crashes are frequent."""
    chance, reward = 0.02 + 0.2 * at.first, 1.8 * at.first + at.second
    return Gaussians.of((1.0 - chance, reward, 0.1), (chance, reward - 3.0, 0.1))


def _bimodal(at: Place) -> Rewards:
    """Nothing or a prize, which is often won on one hill and large on the other."""
    chance = 0.15 + 0.8 * at.second
    return Gaussians.of((1.0 - chance, np.zeros_like(chance), 0.15), (chance, 1.0 + 10.0 * at.first**4, 0.15))


#: The laws by name, each with the functionals that are asked for.
LAWS: Mapping[str, tuple[Callable[[Place], Rewards], tuple[str, ...]]] = {
    "spread": (_spread, ("quantile", "cvar", "probability")),
    "skewed": (_skewed, ("median", "quantile", "cvar")),
    "crash": (_crash, ("quantile", "cvar", "probability")),
    "bimodal": (_bimodal, ("median", "probability")),
}
#: Names of laws that there are for five inputs. The hills overlap there, and optima of the others come close together.
LARGE = ("spread", "skewed")
OBJECTIVES = tuple(
    f"{law}-{kind}-d{d}"
    for d in DIMENSIONS
    for law, (_, kinds) in LAWS.items()
    for kind in kinds
    if d < 5 or law in LARGE
)


def functional(law: str, kind: str, x: Points) -> Points:
    """The functional of a law at points x, shape (m, d); shape (m,).

    Examples
    --------
    >>> functional("crash", "mean", np.array([[0.25], [0.7]])).round(2)
    array([1.15, 0.95])
    >>> functional("crash", "cvar", np.array([[0.25], [0.7]])).round(2)
    array([-1.28,  0.21])
    """
    rewards = LAWS[law][0](Place.of(x))
    if kind == "mean":
        return rewards.mean()
    if kind == "median":
        return rewards.quantile(0.5)
    if kind == "quantile":
        return rewards.quantile(SHARE)
    return rewards.cvar(SHARE) if kind == "cvar" else rewards.beating(THRESHOLD)


@cache
def optimum(law: str, kind: str, d: int) -> tuple[tuple[float, ...], float]:
    """Where the functional is largest over the cube, and its value there, climbed to from the best of many points."""
    starts = np.vstack((qmc.Sobol(d, seed=0).random_base2(STARTS), FIRST[:d], SECOND[:d], np.zeros(d), np.ones(d)))
    order = np.argsort(-functional(law, kind, starts))[:8]
    found = [minimize(lambda x: -functional(law, kind, x[None])[0], starts[k], bounds=[(0.0, 1.0)] * d) for k in order]
    top = min(found, key=lambda result: float(result.fun))
    return tuple(map(float, top.x)), -float(top.fun)


def parts(name: str) -> tuple[str, str, int]:
    """Law, functional and number of inputs of a name of `OBJECTIVES`.

    Examples
    --------
    >>> parts("spread-cvar-d2")
    ('spread', 'cvar', 2)
    """
    if name not in OBJECTIVES:
        raise InvalidInputError(f"{name!r} is no task with an objective; use one of {', '.join(OBJECTIVES)}.")
    law, kind, digits = name.split("-")
    return law, kind, int(digits[1:])


def objective_task(name: str) -> Task:
    """The task of a name of `OBJECTIVES`.

    Examples
    --------
    >>> round(objective_task("bimodal-probability-d2").best, 3)
    0.95
    """
    law, kind, d = parts(name)
    rewards = LAWS[law][0]
    task = Task(
        name,
        d,
        HEAVY_TAILED,
        lambda x: functional(law, kind, x),
        lambda rng, x: rewards(Place.of(x[None])).draw(rng),
        optimum(law, kind, d)[1],
        DIMENSIONS[d][1],
    )
    return checked(task)
