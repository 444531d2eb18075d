"""Functionals of a reward law: the option `objective`, its value for a believed law, and what that misses at rewards.

Means and quantiles are in the units of the state's model, chances and means of the worst share are not. For a mean, and
for a chance, what is missed is the influence function. For a quantile of level q, and for the mean of the worst share
q, it is q less whether the reward is below the believed quantile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.special import ndtr

from infgp.core.linalg import FloatArray
from infgp.core.rewardmap import Comparison, RewardMap, Tempered, WarpedUnits
from infgp.core.warp import Warp
from infgp.errors import InvalidInputError, check_choice
from infgp.habits import nearest
from infgp.predict.law import Law
from infgp.predict.mixture import Mixture
from infgp.printing import noun

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
#: Largest logarithm of a slope of the user's rewards by the model's; a state of a damaged file may ask for more.
LARGEST_LOG_SLOPE = 300.0
#: Rate of growth of a slope below which the slope counts as constant, per standard unit.
LEAST_RATE = 1e-9
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
        amount = math.nan
        if isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool):
            amount = float(number)
        good = kind in WITH_NUMBER and math.isfinite(amount)
        if kind == "quantile":
            good = good and 0.0 < amount < 1.0
        elif kind == "cvar":
            good = good and 0.0 < amount <= 1.0
        if not good:
            meant = nearest(value, ("mean", "median"))
            guess = "" if meant is None else f" Did you mean {meant!r}?"
            raise InvalidInputError(
                "objective must be 'mean', 'median', ('quantile', q) with 0 < q < 1, ('cvar', q) with 0 < q <= 1 (the "
                f"mean of the worst share q), or ('probability', threshold), but got {value!r}.{guess}"
            )
        return cls() if (kind, amount) == ("cvar", 1.0) else cls(str(kind), amount)

    @property
    def option(self) -> str | list[str | float]:
        """What the user gives for it, in plain JSON types."""
        return "mean" if self.kind == "mean" else [self.kind, self.number]

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self, sign: float = 1.0) -> str:
        """What it is, of rewards, or of costs where the sign is −1."""
        what = noun(sign)
        if self.kind == "mean":
            return f"expected {what}"
        if self.kind == "probability":
            return f"chance of beating {self.number:g}"
        if self.kind == "cvar":
            return f"mean of the worst {100.0 * self.number:g} % of the {what}s"
        return f"median {what}" if self.number == 0.5 else f"{100.0 * self.number:g} % quantile of the {what}"


@dataclass(frozen=True)
class Aim:
    """An objective for one number that is learned, with what decides how it is computed.

    Attributes
    ----------
    objective : Objective
    rewards : RewardMap
        From the model's units to the user's, with the sign that makes larger better.
    units : WarpedUnits or None
        The user's units, where states see rewards through warps of their own; `rewards` is then the map of one of them.
    common : Comparison or None
        The map by which points are compared, where it is not that of the state at hand.
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
    units: WarpedUnits | None = None
    common: Comparison | None = None

    def seen_by(self, warp: Warp) -> Aim:
        """The same for a state that sees rewards through a warp; points are compared as before."""
        own = self.rewards if self.units is None else self.units.through(warp)
        return replace(self, rewards=own, common=None if self.common == own else self.common)

    def __str__(self) -> str:
        main = f"{noun(self.sign)} on the dominant surface"
        return main if self.target == "main" else self.objective.in_words(self.sign)

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

    @property
    def in_model_units(self) -> bool:
        """Whether a :class:`Functional` has the objective in the units of the state's model."""
        return self.objective.kind in ("mean", "quantile")

    @property
    def shared(self) -> Comparison:
        """The map by which points are compared."""
        return self.rewards if self.common is None else self.common

    def to_search(self, value: FloatArray) -> FloatArray:
        """A value in units in which points are compared: those of the model for rewards, chances as they are."""
        if self.in_model_units:
            return self.from_model(value)
        return value if self.objective.kind == "probability" else self.shared.to_standard(value)

    def searched(self, value: FloatArray) -> tuple[FloatArray, FloatArray]:
        """:meth:`to_search` and its derivative."""
        if self.common is None or not self.in_model_units:
            return self.to_search(value), self.search_slope(value)
        compared = self.from_model(value)
        return compared, np.exp(self.rewards.log_slope(value) - self.common.log_slope(compared))

    def search_slope(self, value: FloatArray) -> FloatArray:
        """Derivative of :meth:`to_search`."""
        if self.in_model_units:
            return self.model_slope(value)
        if self.objective.kind == "probability":
            return np.ones(np.shape(value))
        return np.exp(-self.shared.log_slope(self.shared.to_standard(value)))

    def from_model(self, z: FloatArray) -> FloatArray:
        """A reward in the units of the state's model, in units in which points are compared."""
        return z if self.common is None else self.common.to_standard(self.rewards.from_standard(z))

    def model_slope(self, z: FloatArray) -> FloatArray:
        """Derivative of :meth:`from_model`."""
        if self.common is None:
            return np.ones(np.shape(z))
        return np.asarray(np.exp(self.rewards.log_slope(z) - self.common.log_slope(self.from_model(z))))

    def to_user(self, value: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A value and its standard deviation in the user's units, with the user's sign."""
        if self.objective.kind == "probability":
            return np.clip(value, 0.0, 1.0), sd
        if self.in_model_units:
            return self.sign * self.shared.from_standard(value), sd * np.exp(self.shared.log_slope(value))
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
            z, slope = expected(rewards, law)
            return cls(z + rest, w * slope, np.ones(z.size))
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


def expected(rewards: RewardMap, law: Mixture) -> tuple[FloatArray, FloatArray]:
    """What a law of surfaces expects of rewards, in the model's units, and how that follows the surfaces.

    Over the noise of each surface it is the mean of the rewards in the user's units, by integration, mapped back to the
    model's. The surfaces' means are then averaged in the model's units: where rewards are seen through a
    logarithm, one lucky reward that a rare surface follows would otherwise rule. What that misses of the mean is part
    of what is left over.

    Returns
    -------
    z : array, shape (m,)
    slope : array, shape (m, components)
        Derivative of z with respect to each component's mean, divided by the component's weight; 0 for a component
        that has no weight anywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.rewardmap import WarpedScale
    >>> from infgp.core.scaling import RewardScale
    >>> law = Mixture(np.array([[0.9, 0.1]]), np.array([[0.0, 1.0]]), np.array([[0.04, 0.04]]))
    >>> expected(RewardScale(0.0, 5.0), law)[0]
    array([0.1])
    >>> rewards = WarpedScale(RewardScale(0.0, 5.0), Warp(-1.2, 1e-3), 30.0)  # a mean is more than a middle
    >>> bool(expected(rewards, law)[0] > 0.1)
    True
    """
    return law.expectations(rewards, lambda: _expected(rewards, law))


def _expected(rewards: RewardMap, law: Mixture) -> tuple[FloatArray, FloatArray]:
    counts = law.weights.any(axis=0)  # clutter, and a surface that is new, often count nowhere
    means, slopes = rewards.expectation(law.means[:, counts], np.sqrt(law.variances[:, counts]))
    z, slope = rewards.to_standard(means), np.zeros(law.means.shape)
    slope[:, counts] = slopes / np.exp(np.clip(rewards.log_slope(z), -LARGEST_LOG_SLOPE, LARGEST_LOG_SLOPE))
    return np.einsum("ic,ic->i", law.weights[:, counts], z), slope


def influence(aim: Aim, law: Mixture, z: FloatArray) -> FloatArray:
    """What the functional misses at rewards z, in the model's units, one at each point; shape (m,).

    For a mean and for a chance it is the influence function. That of a mean, reward less mean, is in the model's units:
    it is divided by the slope dy/dz at the mean. Where that slope grows, as it does where rewards are seen through a
    logarithm, a large miss counts by its logarithm (:func:`drawn_in`): one lucky reward, or a burst of a thousand times
    the mean, would rule what is left over everywhere. But where points are compared in tempered units, a loss counts in
    full: it may be the reason for which a point is not to be recommended.

    For quantiles, and for means of the worst share, it is the level less whether the reward is below the quantile: what
    the level misses, and not the value.
    """
    if aim.objective.kind == "mean":
        middle = expected(aim.rewards, law)[0]
        gap = aim.rewards.from_standard(z) - aim.rewards.from_standard(middle)
        gap = gap * np.exp(-np.clip(aim.rewards.log_slope(middle), -LARGEST_LOG_SLOPE, LARGEST_LOG_SLOPE))
        near = drawn_in(gap, aim.rewards.growth(middle))
        return np.where(gap < 0.0, gap, near) if isinstance(aim.shared, Tempered) else near
    if aim.objective.kind == "probability":
        return np.asarray((z > aim.threshold) - (1.0 - law.cdf(np.full(z.size, aim.threshold))))
    levels = np.full(z.size, aim.level)
    return np.asarray(levels - (z <= law.quantile_at(levels)))


def drawn_in(gap: FloatArray, rate: FloatArray) -> FloatArray:
    """Gaps, where one that is large against 1 / rate counts by its logarithm: asinh(rate · gap) / rate.

    Examples
    --------
    >>> import numpy as np
    >>> drawn_in(np.array([0.1, 1e3, 1e3]), np.array([1.0, 1.0, 0.0])).round(1)
    array([1.0e-01, 7.6e+00, 1.0e+03])
    """
    rate = np.maximum(rate, LEAST_RATE)
    return np.asarray(np.arcsinh(rate * gap) / rate)


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
    others = np.delete(missed, largest)
    top = float(np.max(np.abs(others), initial=0.0))
    limit = max(top * float(np.linalg.norm(others / top)) if top else 0.0, unit)
    return np.clip(missed, -limit, limit)


def check_aim(target: str, outliers: str) -> None:
    """Raise unless both are known."""
    check_choice("target", target, TARGETS)
    check_choice("outliers", outliers, OUTLIERS)
