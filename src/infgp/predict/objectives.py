"""What is optimised: a functional of the reward law at x, such as its mean or a quantile, and what is known of it.

Given one state, the surfaces and their weights give a reward law at x, and with it the value T of the functional. A
surface is uncertain, and to first order T follows it: its variance is Σ_l (∂T/∂μ_l)² v_l. What the functional misses at
the observations is its influence function there, e_i = IF(y_i), whose mean under the believed law is zero, and whose
mean under the true law is, to first order, what is wrong with T (von Mises 1947; Bickel et al., Efficient and Adaptive
Estimation, 1993). It is regressed on the inputs (:mod:`infgp.core.remainder`) and added:

    T(x) + E[IF | x].

For a mean it is reward less believed mean. So a chance that depends on x, which surfaces with constant odds do not
have, is learned for every functional.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.special import ndtr

from infgp.core.linalg import FloatArray
from infgp.core.remainder import DrawnRemainder, Remainder, draw_remainder
from infgp.core.rewardmap import RewardMap
from infgp.core.surface import Conditioned
from infgp.errors import InvalidInputError, check_choice
from infgp.predict.law import Law
from infgp.predict.mixture import Mixture
from infgp.predict.paths import Path, draw_path
from infgp.predict.targets import LEAST_VARIANCE, TargetLaw

#: Names of objectives that stand alone.
PLAIN = ("mean", "median")
#: Names of objectives that come with a number: a level, a share, a threshold.
WITH_NUMBER = ("quantile", "cvar", "probability")
#: Values of the option `outliers`.
OUTLIERS = ("count", "ignore")
#: Values of the option `target`.
TARGETS = ("objective", "main", "surface")
#: Half the width, in probability, of the interval of quantiles from which a density is read.
WINDOW = 0.1
#: Step of the differences by which gradients of variances are found, in units of the cube's edge.
STEP = 1e-6

#: The option `objective`: a name, or a name with a number.
ObjectiveLike: TypeAlias = str | tuple[str, float] | Sequence[object]


@dataclass(frozen=True)
class Objective:
    """A functional of the reward law, in the user's units.

    Attributes
    ----------
    kind : {"mean", "quantile", "cvar", "probability"}
    number : float
        The level of the quantile, the share of worst rewards, or the threshold to be beaten; 0 for the mean.

    Examples
    --------
    >>> Objective.parse("median")
    Objective(kind='quantile', number=0.5)
    >>> Objective.parse(("cvar", 0.1)).option
    ['cvar', 0.1]
    """

    kind: str = "mean"
    number: float = 0.0

    @classmethod
    def parse(cls, value: ObjectiveLike) -> Objective:
        """From the option of that name; raise unless it is known."""
        if value == "mean":
            return cls()
        if value == "median":
            return cls("quantile", 0.5)
        pair = value if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2 else ("", 0.0)
        kind, number = pair
        good = kind in WITH_NUMBER and isinstance(number, int | float | np.number) and not isinstance(number, bool)
        amount = float(number) if good else math.nan  # type: ignore[arg-type]
        if kind == "quantile":
            good = good and 0.0 < amount < 1.0
        elif kind == "cvar":
            good = good and 0.0 < amount <= 1.0
        if not good or not math.isfinite(amount):
            raise InvalidInputError(
                "objective must be 'mean', 'median', ('quantile', q) with 0 < q < 1, ('cvar', q) with 0 < q <= 1 (the "
                f"mean of the worst share q), or ('probability', threshold), but got {value!r}."
            )
        return cls(str(kind), amount)

    @property
    def option(self) -> str | list[str | float]:
        """What the user gives for it, in plain JSON types."""
        return "mean" if self.kind == "mean" else [self.kind, self.number]

    def __str__(self) -> str:
        if self.kind == "mean":
            return "expected reward"
        if self.kind == "probability":
            return f"chance of beating {self.number:g}"
        if self.kind == "cvar":
            return f"mean of the worst {100.0 * self.number:g} % of the rewards"
        return "median reward" if self.number == 0.5 else f"{100.0 * self.number:g} % quantile of the reward"


@dataclass(frozen=True)
class Aim:
    """An objective for one number that is learned, with what decides how it is computed.

    Attributes
    ----------
    objective : Objective
    rewards : RewardMap
        From the model's units to the user's, with the sign that makes larger better.
    sign : float
        1, or −1 where the user minimises.
    target : {"objective", "main", "surface"}
        The objective; the dominant surface; or (draws only) one surface.
    outliers : {"count", "ignore"}
        Whether rewards that fit no surface count.
    """

    objective: Objective
    rewards: RewardMap
    sign: float = 1.0
    target: str = "objective"
    outliers: str = "count"

    @property
    def weights(self) -> str:
        """The weights of the surfaces, by the name that :class:`infgp.predict.targets.TargetWeights` gives them."""
        if self.target != "objective":
            return "main" if self.target == "main" else "expected"
        return "expected" if self.outliers == "ignore" or self.objective.kind == "mean" else "mean"

    @property
    def learns_rest(self) -> bool:
        """Whether what the surfaces leave over is learned."""
        return self.target == "objective" and self.outliers == "count"

    @property
    def level(self) -> float:
        """Level of a quantile where larger is better."""
        return self.objective.number if self.sign > 0 else 1.0 - self.objective.number

    def to_search(self, value: FloatArray) -> FloatArray:
        """A value in units in which points are compared: those of the model for rewards, chances as they are."""
        return self.rewards.to_standard(value) if self.objective.kind in ("mean", "cvar") else value

    def search_slope(self, value: FloatArray) -> FloatArray:
        """Derivative of :meth:`to_search`."""
        if self.objective.kind in ("mean", "cvar"):
            return np.exp(-self.rewards.log_slope(self.rewards.to_standard(value)))
        return np.ones(np.shape(value))

    def to_user(self, value: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A value and its standard deviation in the user's units, with the user's sign."""
        if self.objective.kind == "probability":
            return np.clip(value, 0.0, 1.0), sd
        if self.objective.kind == "quantile":
            return self.sign * self.rewards.from_standard(value), sd * np.exp(self.rewards.log_slope(value))
        return self.sign * value, sd


@dataclass(frozen=True, eq=False)
class Functional:
    """The functional of the law that given surfaces have, at m points; all arrays have shape (m,) or (m, K + 1).

    Attributes
    ----------
    value : array, shape (m,)
    by_mean : array, shape (m, K + 1)
        Derivatives with respect to the surfaces' means.
    by_spread : array, shape (m, K + 1), or None
        Derivatives with respect to the variances of what is known of the surfaces; None where they do not matter.
    """

    value: FloatArray
    by_mean: FloatArray
    by_spread: FloatArray | None = None

    @classmethod
    def of(cls, aim: Aim, law: Mixture, spread: FloatArray) -> Functional:
        """From weights, means and noise variances of the surfaces, and the variances of what is known of them."""
        kind, rewards, w = aim.objective.kind, aim.rewards, law.weights
        if kind == "mean":
            z = law.mean()
            return cls(rewards.from_standard(z), w * np.exp(rewards.log_slope(z))[:, None])
        if kind == "probability":
            sd = np.sqrt(law.variances + spread)
            gap = (law.means - rewards.to_standard(np.array(aim.sign * aim.objective.number))) / sd
            density = np.exp(-0.5 * gap * gap) / (np.sqrt(2.0 * np.pi) * sd)
            return cls(np.einsum("ic,ic->i", w, ndtr(gap)), w * density, -0.5 * w * density * gap / sd)
        sd = np.sqrt(law.variances)
        if kind == "quantile":
            z = law.quantile(np.array([aim.level]))
            density = w * np.exp(-0.5 * ((z - law.means) / sd) ** 2) / sd
            return cls(z[:, 0], density / np.maximum(density.sum(axis=1, keepdims=True), np.finfo(float).tiny))
        share = aim.objective.number
        z = law.quantile(np.array([share])) if share < 1.0 else np.full((w.shape[0], 1), np.inf)
        slope = np.exp(rewards.log_slope(np.clip(np.minimum(law.means, z), *rewards.ends)))
        return cls(Law(law, rewards).cvar(share), w * slope * ndtr((z - law.means) / sd) / share)


def influence(aim: Aim, law: Mixture, value: FloatArray, z: FloatArray) -> FloatArray:
    """Influence function of the functional at rewards z, in the model's units, one at each point; shape (m,)."""
    kind, rewards = aim.objective.kind, aim.rewards
    if kind == "mean":
        return rewards.from_standard(z) - value
    if kind == "probability":
        return np.asarray((z > rewards.to_standard(np.array(aim.sign * aim.objective.number))) - value)
    if kind == "quantile":
        half = min(WINDOW, aim.level / 2.0, (1.0 - aim.level) / 2.0)
        low, high = law.quantile(np.array([aim.level - half, aim.level + half])).T
        return np.asarray((aim.level - (z <= value)) * (high - low) / (2.0 * half))
    share = aim.objective.number
    if share == 1.0:
        return rewards.from_standard(z) - value
    limit = rewards.from_standard(law.quantile(np.array([share]))[:, 0])
    return np.asarray(limit + np.minimum(rewards.from_standard(z) - limit, 0.0) / share - value)


def plausible(missed: FloatArray, unit: float) -> FloatArray:
    """What was missed, where the largest amount counts at most as much as the root of the sum of the others' squares.

    One reward that is nothing like any other does not decide; a second one like it does. An amount of `unit` counts.

    Examples
    --------
    >>> import numpy as np
    >>> plausible(np.array([-40.0, 3.0, 4.0]), 1.0), plausible(np.array([-40.0, 3.0, -39.0]), 1.0).round(1)
    (array([-5.,  3.,  4.]), array([-39.1,   3. , -39. ]))
    """
    if not missed.size:
        return missed
    largest = int(np.argmax(np.abs(missed)))
    limit = max(float(np.linalg.norm(np.delete(missed, largest))), unit)
    return np.clip(missed, -limit, limit)


@dataclass(frozen=True, eq=False)
class ObjectiveLaw:
    """Gaussian law of an objective at every x, given one state, in units in which points are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> given = Conditioned(prior_draw(rng, x, model), Data(x, np.arange(6.0)), model)
    >>> law = ObjectiveLaw.of(given, Aim(Objective("quantile", 0.1), RewardScale(0.0, 1.0)))
    >>> mean, variance = law(x)
    >>> mean.shape, bool((variance > 0).all())
    ((6,), True)
    """

    base: TargetLaw
    aim: Aim
    level: float | None = None

    @classmethod
    def of(cls, given: Conditioned, aim: Aim, level: float | None = None) -> ObjectiveLaw:
        """The law of an objective, with one pattern of what the surfaces leave over (`Remainder.settled`) or all."""
        return cls(TargetLaw.of(given, aim.weights), aim, level)

    @property
    def _plain(self) -> bool:
        """Whether the objective is a weighted sum of the surfaces and nothing else."""
        return self.aim.target != "objective" or (self.aim.objective.kind == "mean" and self.remainder is None)

    @cached_property
    def _at_data(self) -> tuple[Mixture, Functional]:
        given = self.base.weights.given
        return self._functional(given.data.x)[:2]

    @cached_property
    def missed(self) -> FloatArray:
        """What the functional misses at the observations, shape (n,)."""
        law, functional = self._at_data
        missed = influence(self.aim, law, functional.value, self.base.weights.given.data.y) * self._trusted
        return plausible(missed, self.aim.rewards.unit) if self.aim.objective.kind in ("mean", "cvar") else missed

    @cached_property
    def _trusted(self) -> FloatArray:
        """By how much what was missed counts, shape (n,): less than 1 where the known noise is larger than usual."""
        given = self.base.weights.given
        variance = np.median(self.base.noise[given.state.labels]) + given.data.noise
        return np.minimum(np.median(variance) / variance, 1.0)

    @cached_property
    def remainder(self) -> Remainder | None:
        """What the surfaces leave over; None where it is not asked for, or where there is only one surface."""
        given = self.base.weights.given
        if not self.aim.learns_rest or given.model.one_surface:
            return None
        left = Remainder.of(given.data.patterns, self.missed)
        return left if self.level is None else left.settled(self.level)

    def _functional(self, at: FloatArray) -> tuple[Mixture, Functional, FloatArray]:
        """The law of rewards with the surfaces at their means, the functional of it, and the surfaces' variances."""
        weights, means, variances, noise = self.base.parts(at)
        law = Mixture(weights, means, np.broadcast_to(noise, means.shape))
        return law, Functional.of(self.aim, law, variances), variances

    def natural(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the objective itself, with the sign that makes larger better; shapes (m,)."""
        _, functional, variances = self._functional(at)
        value, variance = functional.value, np.einsum("ic,ic->i", functional.by_mean**2, variances)
        if self.remainder is not None:
            rest, unsure = self.remainder(at)
            value = value + rest + self.remainder.centre
            variance = variance + unsure + self.remainder.flat * self.remainder.spread
        return value, variance

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance, shapes (m,)."""
        if self._plain:
            return self.base(at)
        _, functional, variances = self._functional(at)
        value, variance = functional.value, np.einsum("ic,ic->i", functional.by_mean**2, variances)
        if self.remainder is not None:
            rest, unsure = self.remainder(at)
            value, variance = value + rest, variance + unsure
        slope = self.aim.search_slope(value)
        return self.aim.to_search(value), np.maximum(slope**2 * variance, LEAST_VARIANCE)

    def mean(self, at: FloatArray) -> FloatArray:
        """Mean, shape (m,)."""
        if self._plain:
            return self.base.mean(at)
        value = self._functional(at)[1].value
        if self.remainder is not None:
            value = value + self.remainder.mean(at)
        return self.aim.to_search(value)

    def mean_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean, shape (m,), and its gradient, shape (m, d), with the weights of the surfaces held."""
        if self._plain:
            mean, _, slope, _ = self.base.with_gradients(at)
            return mean, slope
        _, functional, _ = self._functional(at)
        d_means, d_variances = self.base.slopes(at)
        value, gradient = functional.value, np.einsum("ic,icd->id", functional.by_mean, d_means)
        if functional.by_spread is not None:
            gradient = gradient + np.einsum("ic,icd->id", functional.by_spread, d_variances)
        if self.remainder is not None:
            value, gradient = value + self.remainder.mean(at), gradient + self.remainder.gradient(at)
        return self.aim.to_search(value), gradient * self.aim.search_slope(value)[:, None]

    def with_gradients(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean, variance, shapes (m,), and their gradients, shapes (m, d); that of the variance by differences."""
        if self._plain:
            return self.base.with_gradients(at)
        (mean, d_mean), variance = self.mean_and_gradient(at), self(at)[1]
        d_variance = [(self(at + STEP * row)[1] - variance) / STEP for row in np.eye(at.shape[1])]
        return mean, variance, d_mean, np.column_stack(d_variance)

    def difference(self, a: FloatArray, b: FloatArray) -> tuple[float, float]:
        """Mean and variance of the objective at point a less that at point b."""
        if self._plain:
            return self.base.difference(a, b)
        if (a == b).all():
            return 0.0, 0.0
        at = np.array([a, b])
        _, functional, _ = self._functional(at)
        value = functional.value
        if self.remainder is not None:
            value = value + self.remainder.mean(at)
        slope = self.aim.search_slope(value)
        signed = functional.by_mean * (slope * [1.0, -1.0])[:, None]
        parts = [
            float(signed[:, label] @ law.joint(at)[1] @ signed[:, label]) for label, law in self.base.surfaces.items()
        ]
        if self.remainder is not None:
            parts.append(self.remainder.difference(a, b, slope))
        mean = self.aim.to_search(value)
        return float(mean[0] - mean[1]), max(float(sum(parts)), 0.0)


@dataclass(frozen=True, eq=False)
class MeanObjective:
    """Mean of an objective over states, as a score to maximise.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model, data = Model("se", Priors().resolve(1), ard=False), Data(x, np.zeros(6))
    >>> aim = Aim(Objective(), RewardScale(0.0, 1.0))
    >>> score = MeanObjective.of([Conditioned(prior_draw(rng, x, model), data, model)], aim)
    >>> score.difference(x[0], x[0])
    (0.0, 0.0)
    """

    laws: tuple[ObjectiveLaw, ...]

    @classmethod
    def of(cls, draws: Sequence[Conditioned], aim: Aim) -> MeanObjective:
        """An objective over some states. Each has a pattern of its own of what the surfaces leave over."""
        return cls(tuple(ObjectiveLaw.of(given, aim, (k + 0.5) / len(draws)) for k, given in enumerate(draws)))

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        return np.asarray(np.mean([law.mean(at) for law in self.laws], axis=0))

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        parts = [law.mean_and_gradient(at) for law in self.laws]
        return np.mean([p[0] for p in parts], axis=0), np.mean([p[1] for p in parts], axis=0)

    def moments(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of the objective and its standard deviation, within states and between them, in the user's units."""
        means, variances = np.moveaxis(np.array([law.natural(at) for law in self.laws]), 1, 0)
        sd = np.sqrt(variances.mean(axis=0) + means.var(axis=0))
        return self.laws[0].aim.to_user(means.mean(axis=0), sd)

    def difference(self, a: FloatArray, b: FloatArray) -> tuple[float, float]:
        """Mean and standard deviation, over states, of the objective at point a less that at point b."""
        means, variances = np.array([law.difference(a, b) for law in self.laws]).T
        return float(means.mean()), math.sqrt(variances.mean() + means.var())


@dataclass(frozen=True, eq=False)
class ObjectivePath:
    """A drawn objective: the functional of drawn surfaces, and what they leave over, drawn too."""

    law: ObjectiveLaw
    surfaces: Path
    rest: DrawnRemainder | None

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        return self.value_and_gradient(at)[0]

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        aim, (weights, means, slopes) = self.law.aim, self.surfaces.parts(at)
        mixture = Mixture(weights, means, np.broadcast_to(self.law.base.noise, means.shape))
        functional = Functional.of(aim, mixture, np.zeros(means.shape))
        value, gradient = functional.value, np.einsum("ic,icd->id", functional.by_mean, slopes)
        if self.rest is not None:
            more, slope = self.rest.value_and_gradient(at)
            value, gradient = value + more, gradient + slope
        return aim.to_search(value), gradient * aim.search_slope(value)[:, None]


def draw_objective(rng: np.random.Generator, given: Conditioned, aim: Aim) -> Path | ObjectivePath:
    """A draw of the objective given one state of the chain (paper, Algorithm 1), to be maximised.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("matern52", Priors().resolve(1), ard=False)
    >>> given = Conditioned(prior_draw(rng, x, model), Data(x, np.zeros(6)), model)
    >>> draw_objective(rng, given, Aim(Objective(), RewardScale(0.0, 1.0)))(x).shape
    (6,)
    """
    if aim.target == "surface":
        return draw_path(rng, given, "surface")
    law = ObjectiveLaw.of(given, aim)
    surfaces = draw_path(rng, given, aim.weights)
    if law._plain:
        return surfaces
    rest = None if law.remainder is None else draw_remainder(rng, law.remainder, law.missed)
    return ObjectivePath(law, surfaces, rest)


def check_aim(target: str, outliers: str) -> None:
    """Raise unless both are known."""
    check_choice("target", target, TARGETS)
    check_choice("outliers", outliers, OUTLIERS)
