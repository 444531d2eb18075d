"""What is optimised: a functional of the reward law at x, such as its mean or a quantile, and what is known of it.

Given one state, the surfaces and their weights give a reward law at x, and with it the value T of the functional. A
surface is uncertain, and to first order T follows it: its variance is Σ_l (∂T/∂μ_l)² v_l. What T misses at the
observations is regressed on the inputs (:mod:`infgp.core.remainder`) and corrects T:

- For a mean it is reward less believed mean, for a chance whether the threshold was beaten less the believed chance:
  the influence functions, whose mean under the true law is what is wrong with T. It is added to T.
- For a quantile of level q, and for the mean of the worst share q, it is q less whether the reward is below the
  believed quantile: its mean under the true law is what is wrong with the level. T is that of the believed law with the
  level corrected. A correction of the value would overshoot where the quantile jumps from surface to surface.

So a chance that depends on x, which surfaces with constant odds do not have, is learned for every functional.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
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

#: Names of objectives that come with a number: a level, a share, a threshold.
WITH_NUMBER = ("quantile", "cvar", "probability")
#: Values of the option `outliers`.
OUTLIERS = ("count", "ignore")
#: Values of the option `target`.
TARGETS = ("objective", "main", "surface")
#: Least share of a level, and of what is above it, that is left when the level is corrected.
NARROWEST = 0.1
#: Half the width, in probability, of the interval over which a quantile's mean slope by its level is found.
WINDOW = 0.1
#: Largest slope of a quantile by its level, in units of the mean slope: between two surfaces there is none.
STEEPEST = 2.0
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
        if isinstance(value, str) and value in ("mean", "median"):
            return cls() if value == "mean" else cls("quantile", 0.5)
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
        return cls() if (kind, amount) == ("cvar", 1.0) else cls(str(kind), amount)

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

    def __str__(self) -> str:
        return "reward on the dominant surface" if self.target == "main" else str(self.objective)

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
        """Level of a quantile, or share of the worst, where larger is better."""
        flips = self.sign < 0 and self.objective.kind == "quantile"
        return 1.0 - self.objective.number if flips else self.objective.number

    @property
    def threshold(self) -> float:
        """Threshold to be beaten, in the model's units."""
        return float(self.rewards.to_standard(np.array(self.sign * self.objective.number)))

    def shifted(self, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The level that the believed law must be asked for, given what the level misses, and its slope; shapes (m,).

        The slope is 1, and 0 where the level would become too small or too large.
        """
        low, high = NARROWEST * self.level, 1.0 - NARROWEST * (1.0 - self.level)
        level = self.level + rest
        return np.clip(level, low, high), np.asarray((low < level) & (level < high), dtype=np.float64)

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
    """The functional of the law that given surfaces have, and of what they leave over, at m points.

    Attributes
    ----------
    value : array, shape (m,)
    by_mean : array, shape (m, K + 1)
        Derivatives with respect to the surfaces' means.
    by_rest : array, shape (m,)
        Derivative with respect to what is left over.
    by_spread : array, shape (m, K + 1), or None
        Derivatives with respect to the variances of what is known of the surfaces; None where they do not matter.
    """

    value: FloatArray
    by_mean: FloatArray
    by_rest: FloatArray
    by_spread: FloatArray | None = None

    @classmethod
    def of(cls, aim: Aim, law: Mixture, spread: FloatArray, rest: FloatArray) -> Functional:
        """From weights, means and noise variances of the surfaces, variances of what is known of them, and the rest."""
        kind, rewards, w = aim.objective.kind, aim.rewards, law.weights
        if kind == "mean":
            z = law.mean()
            by_mean = w * np.exp(rewards.log_slope(z))[:, None]
            return cls(rewards.from_standard(z) + rest, by_mean, np.ones(z.size))
        if kind == "probability":
            sd = np.sqrt(law.variances + spread)
            gap = (law.means - aim.threshold) / sd
            density = np.exp(-0.5 * gap * gap) / (np.sqrt(2.0 * np.pi) * sd)
            value = np.einsum("ic,ic->i", w, ndtr(gap)) + rest
            return cls(value, w * density, np.ones(value.size), -0.5 * w * density * gap / sd)
        sd, (level, moves) = np.sqrt(law.variances), aim.shifted(rest)
        z = law.quantile_at(level)[:, None]
        if kind == "quantile":
            density = w * np.exp(-0.5 * ((z - law.means) / sd) ** 2) / sd
            total = np.maximum(density.sum(axis=1), np.finfo(float).tiny)
            half = np.minimum(WINDOW, np.minimum(level, 1.0 - level) / 2.0)
            around = (law.quantile_at(level + half) - law.quantile_at(level - half)) / (2.0 * half)
            by_level = np.minimum(math.sqrt(2.0 * math.pi) / total, STEEPEST * around)
            return cls(z[:, 0], density / total[:, None], moves * by_level)
        value = Law(law, rewards).mean_of_worst(z, level)
        slope = np.exp(rewards.log_slope(np.clip(np.minimum(law.means, z), *rewards.ends)))
        by_mean = w * slope * ndtr((z - law.means) / sd) / level[:, None]
        by_level = (rewards.from_standard(np.clip(z[:, 0], *rewards.ends)) - value) / level
        return cls(value, by_mean, moves * by_level)


def influence(aim: Aim, law: Mixture, z: FloatArray) -> FloatArray:
    """What the functional misses at rewards z, in the model's units, one at each point; shape (m,).

    For a mean and for a chance it is the influence function. For quantiles, and for means of the worst share, it is the
    level less whether the reward is below the quantile: what the level misses, and not the value.
    """
    if aim.objective.kind == "mean":
        return aim.rewards.from_standard(z) - aim.rewards.from_standard(law.mean())
    if aim.objective.kind == "probability":
        return np.asarray((z > aim.threshold) - (1.0 - law.cdf(np.full(z.size, aim.threshold))))
    levels = np.full(z.size, aim.level)
    return np.asarray(levels - (z <= law.quantile_at(levels)))


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
        """The law of an objective, with one pattern of what the surfaces leave over (`Remainder.settled`) or all.

        The mean follows constant odds and leaves the rest to the remainder, which is exact for it. Other objectives may
        jump from surface to surface as the odds change, where a first-order correction does not follow: for them, odds
        change with the input as in laws of further rewards.
        """
        if aim.target == "objective" and aim.objective.kind != "mean":
            given = replace(given, model=given.model.for_laws())
        return cls(TargetLaw.of(given, aim.weights), aim, level)

    @property
    def plain(self) -> bool:
        """Whether the objective is a weighted sum of the surfaces and nothing else."""
        return self.aim.target != "objective" or (self.aim.objective.kind == "mean" and self.remainder is None)

    @cached_property
    def missed(self) -> FloatArray:
        """What the functional misses at the observations, shape (n,)."""
        data = self.base.weights.given.data
        missed = influence(self.aim, self._surfaces(data.x)[0], data.y) * self._trusted
        return plausible(missed, self.aim.rewards.unit) if self.aim.objective.kind == "mean" else missed

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

    def _surfaces(self, at: FloatArray) -> tuple[Mixture, FloatArray]:
        """The law of rewards with the surfaces at their means, and the surfaces' variances."""
        weights, means, variances, noise = self.base.parts(at)
        return Mixture(weights, means, np.broadcast_to(noise, means.shape)), variances

    def _moments(self, at: FloatArray, centre: float, spread: float) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the objective where what is left over has this centre, known up to this variance."""
        law, variances = self._surfaces(at)
        rest, unsure = self._rest(at)
        functional = Functional.of(self.aim, law, variances, rest + centre)
        variance = np.einsum("ic,ic->i", functional.by_mean**2, variances)
        return functional.value, variance + functional.by_rest**2 * (unsure + spread)

    def _rest(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        return (np.zeros(at.shape[0]),) * 2 if self.remainder is None else self.remainder(at)

    def natural(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the objective itself, with the sign that makes larger better; shapes (m,)."""
        left = self.remainder
        return self._moments(at, 0.0, 0.0) if left is None else self._moments(at, left.centre, left.flat * left.spread)

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance, shapes (m,)."""
        if self.plain:
            return self.base(at)
        value, variance = self._moments(at, 0.0, 0.0)
        return self.aim.to_search(value), np.maximum(self.aim.search_slope(value) ** 2 * variance, LEAST_VARIANCE)

    def mean(self, at: FloatArray) -> FloatArray:
        """Mean, shape (m,)."""
        if self.plain:
            return self.base.mean(at)
        law, variances = self._surfaces(at)
        rest = np.zeros(at.shape[0]) if self.remainder is None else self.remainder.mean(at)
        return self.aim.to_search(Functional.of(self.aim, law, variances, rest).value)

    def mean_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean, shape (m,), and its gradient, shape (m, d), with the weights of the surfaces held."""
        if self.plain:
            mean, _, slope, _ = self.base.with_gradients(at)
            return mean, slope
        law, variances = self._surfaces(at)
        rest = np.zeros(at.shape[0]) if self.remainder is None else self.remainder.mean(at)
        functional = Functional.of(self.aim, law, variances, rest)
        d_means, d_variances = self.base.slopes(at)
        gradient = np.einsum("ic,icd->id", functional.by_mean, d_means)
        if functional.by_spread is not None:
            gradient = gradient + np.einsum("ic,icd->id", functional.by_spread, d_variances)
        if self.remainder is not None:
            gradient = gradient + functional.by_rest[:, None] * self.remainder.gradient(at)
        return self.aim.to_search(functional.value), gradient * self.aim.search_slope(functional.value)[:, None]

    def with_gradients(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean, variance, shapes (m,), and their gradients, shapes (m, d); that of the variance by differences."""
        if self.plain:
            return self.base.with_gradients(at)
        (mean, d_mean), variance = self.mean_and_gradient(at), self(at)[1]
        d_variance = [(self(at + STEP * row)[1] - variance) / STEP for row in np.eye(at.shape[1])]
        return mean, variance, d_mean, np.column_stack(d_variance)

    def difference(self, a: FloatArray, b: FloatArray) -> tuple[float, float]:
        """Mean and variance of the objective at point a less that at point b."""
        if self.plain:
            return self.base.difference(a, b)
        if (a == b).all():
            return 0.0, 0.0
        at = np.array([a, b])
        law, variances = self._surfaces(at)
        rest = np.zeros(2) if self.remainder is None else self.remainder.mean(at)
        functional = Functional.of(self.aim, law, variances, rest)
        slope = self.aim.search_slope(functional.value)
        signed = functional.by_mean * (slope * [1.0, -1.0])[:, None]
        parts = [
            float(signed[:, label] @ law.joint(at)[1] @ signed[:, label]) for label, law in self.base.surfaces.items()
        ]
        if self.remainder is not None:
            parts.append(self.remainder.difference(a, b, slope * functional.by_rest))
        mean = self.aim.to_search(functional.value)
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
        """Mean of the objective and its standard deviation, within states and between them, in the user's units.

        Where surfaces alone are followed, both are computed for bent rewards. The mean, and the ends of the interval of
        one standard deviation about it, are then unbent: a state that takes an outlier for a surface moves them little.
        """
        aim, plain = self.laws[0].aim, self.laws[0].plain
        parts = [law(at) if plain else law.natural(at) for law in self.laws]
        means, variances = np.moveaxis(np.array(parts), 1, 0)
        mean, sd = means.mean(axis=0), np.sqrt(variances.mean(axis=0) + means.var(axis=0))
        if not plain:
            return aim.to_user(mean, sd)
        low, middle, high = (aim.rewards.from_standard(z) for z in (mean - sd, mean, mean + sd))
        return aim.sign * middle, np.abs(high - low) / 2.0

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
        rest, slope = (np.zeros(at.shape[0]), np.zeros(at.shape))
        if self.rest is not None:
            rest, slope = self.rest.value_and_gradient(at)
        functional = Functional.of(aim, mixture, np.zeros(means.shape), rest)
        gradient = np.einsum("ic,icd->id", functional.by_mean, slopes) + functional.by_rest[:, None] * slope
        return aim.to_search(functional.value), gradient * aim.search_slope(functional.value)[:, None]


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
    if law.plain:
        return surfaces
    rest = None if law.remainder is None else draw_remainder(rng, law.remainder, law.missed)
    return ObjectivePath(law, surfaces, rest)


def check_aim(target: str, outliers: str) -> None:
    """Raise unless both are known."""
    check_choice("target", target, TARGETS)
    check_choice("outliers", outliers, OUTLIERS)
