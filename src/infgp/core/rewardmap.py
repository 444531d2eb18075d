"""From standard rewards z to the user's rewards y, with what integrals over a Gaussian z need.

The simplest map is affine, :class:`infgp.core.scaling.RewardScale`. :class:`WarpedScale` is that of rewards through a
warp that was learned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from infgp.core.integrals import exponential, powers, probability
from infgp.core.linalg import FloatArray
from infgp.core.scaling import LARGEST_REWARD, RewardScale
from infgp.core.warp import LARGEST_ARGUMENT, Warp

#: Largest distance of a warped reward from the median that a mean counts, in units of the distance of the farthest
#: reward that was seen. A reward that is farther counts as one at this distance. With a reach that does not depend
#: on the rewards seen, such as a million standard units, the prior of a surface that was never seen rules the mean.
REACH = 3.0
#: Lowest and highest objective up to which units of comparison are straight, in standard units about a typical one.
STRAIGHT = (-1.0, 2.0)


class RewardMap(Protocol):
    """An increasing map from standard rewards to the user's."""

    @property
    def unit(self) -> float:
        """One standard unit where the map is straight, in the user's units."""

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest standard reward that a mean counts; rewards beyond an end count as being there."""

    def to_standard(self, y: FloatArray, /) -> FloatArray:
        """Rewards in the model's units."""

    def from_standard(self, z: FloatArray, /) -> FloatArray:
        """Rewards in the user's units."""

    def log_slope(self, z: FloatArray, /) -> FloatArray:
        """Logarithm of dy/dz at standard rewards."""

    def growth(self, z: FloatArray, /) -> FloatArray:
        """By what rate dy/dz grows or falls at standard rewards: the size of the derivative of its logarithm."""

    def expectation(self, mean: FloatArray, sd: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """The mean of y for z ~ N(mean, sd²), z drawn in to the ends, and its derivative with respect to that of z."""

    def partial_moments(self, mean: FloatArray, sd: FloatArray, below: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Integrals of (y − c) / unit and of its square over z ~ N(mean, sd²) up to `below`, z drawn in to the ends.

        The number c is y at the mean, drawn in, too: moments about it lose no digits where rewards are large and alike.
        """


@dataclass(frozen=True)
class WarpedScale:
    """The map of rewards through a warp other than the identity, y = location + scale · u with u = W⁻¹(z).

    Attributes
    ----------
    scale : RewardScale
    warp : Warp
    reach : float
        Largest distance of u from 0 that a mean counts, in standard units. Beyond the knee u grows exponentially, so
        that its mean would be ruled by rewards that are nothing like any that was seen.

    Examples
    --------
    >>> import numpy as np
    >>> rewards = WarpedScale(RewardScale(5.0, 2.0), Warp(-2.5, 1e-6), 30.0)
    >>> rewards.from_standard(rewards.to_standard(np.array([1e-5, 6.0, 90.0]))).round(9)
    array([1.e-05, 6.e+00, 9.e+01])
    """

    scale: RewardScale
    warp: Warp
    reach: float

    @property
    def unit(self) -> float:
        """One standard unit before the warp, in the user's units."""
        return self.scale.unit

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest standard reward that a mean counts."""
        low, high = self.warp.forward(np.array([-self.reach, self.reach]))
        return float(low), float(high)

    def to_standard(self, y: FloatArray) -> FloatArray:
        """Rewards in the model's units."""
        return self.warp.forward(np.clip(self.scale.to_standard(y), -LARGEST_REWARD, LARGEST_REWARD))

    def from_standard(self, z: FloatArray) -> FloatArray:
        """Rewards in the user's units."""
        return self.scale.from_standard(self.warp.inverse(z))

    def log_slope(self, z: FloatArray) -> FloatArray:
        """Logarithm of dy/dz at standard rewards."""
        return np.asarray(np.log(self.unit) - self.warp.log_slope(self.warp.inverse(z)))

    def growth(self, z: FloatArray) -> FloatArray:
        """By what rate dy/dz grows or falls: the size of the derivative of its logarithm, s |tanh(s z + constant)|."""
        s = self.warp.s
        return np.asarray(s * np.abs(np.tanh(s * z + s + math.asinh(self.warp.low))))

    def partial_moments(self, mean: FloatArray, sd: FloatArray, below: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Integrals of u − c and (u − c)² over z ~ N(mean, sd²) up to `below`, with z drawn in to the ends.

        The number c is u at the mean, drawn in, too. With v = s z + constant, u = a + b sinh(v). If c has v = w, and
        t = v − w, then u − c = b/2 (e^w (e^t − 1) − e^−w (e^−t − 1)), so that integrals of e^±t and e^±2t are needed
        between the ends (:mod:`infgp.core.integrals`). Beyond an end, u is constant.

        Examples
        --------
        >>> import numpy as np
        >>> z = np.random.default_rng(0).normal(0.5, 0.6, 400_000)
        >>> rewards = WarpedScale(RewardScale(0.0, 1.0), Warp(-1.2, 0.01), 1e4)
        >>> first, _ = rewards.partial_moments(np.array(0.5), np.array(0.6), np.array(np.inf))
        >>> bool(abs(rewards.from_standard(np.array(0.5)) + first - np.mean(rewards.from_standard(z))) < 0.01)
        True
        """
        (low, high), reach, s, b = self.ends, self.reach, self.warp.s, self.warp.b
        shift = s + math.asinh(self.warp.low)
        at = np.clip(mean, low, high)
        w, first_end, last_end = s * at + shift, s * low + shift, s * np.clip(below, low, high) + shift
        rising = (s * mean + shift, s * sd, np.array(first_end), last_end)
        falling = (-s * mean - shift, s * sd, -last_end, np.array(-first_end))
        mass, (up, up_twice) = probability(*rising), (exponential(power, *rising, w) for power in (1.0, 2.0))
        down, down_twice = (exponential(power, *falling, -w) for power in (1.0, 2.0))
        rise, fall = 0.5 * b * np.exp(w), 0.5 * b * np.exp(-w)
        middle = rise * (up - mass) - fall * (down - mass)
        squares = rise**2 * (up_twice - 2.0 * up + mass) + fall**2 * (down_twice - 2.0 * down + mass)
        squares = squares - 0.5 * b**2 * (2.0 * mass - up - down)
        c = np.clip(self.warp.inverse(at), -reach, reach)
        below_all = powers(mean, sd, np.array(-np.inf), np.minimum(low, below))[0]
        above_all = powers(mean, sd, np.minimum(high, below), below)[0]
        first = (-reach - c) * below_all + middle + (reach - c) * above_all
        second = (reach + c) ** 2 * below_all + squares + (reach - c) ** 2 * above_all
        return np.asarray(first), np.asarray(second)

    def expectation(self, mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The mean of y for z ~ N(mean, sd²), drawn in to the ends, and its derivative with respect to that of z.

        The derivative is the mean of dy/dz = scale b s cosh(s z + constant) between the ends.

        Examples
        --------
        >>> import numpy as np
        >>> rewards = WarpedScale(RewardScale(0.0, 1.0), Warp(-1.2, 1e-3), 1e3)
        >>> low, slope = rewards.expectation(np.array([0.0]), np.array([0.5]))
        >>> high, _ = rewards.expectation(np.array([1e-4]), np.array([0.5]))
        >>> bool(low > rewards.from_standard(np.array([0.0]))), bool(np.isclose(slope, (high - low) / 1e-4, rtol=1e-3))
        (True, True)
        """
        (low, high), reach, s, b = self.ends, self.reach, self.warp.s, self.warp.b
        shift = s + math.asinh(self.warp.low)
        at = np.clip(mean, low, high)
        w, first_end, last_end = s * at + shift, np.array(s * low + shift), np.array(s * high + shift)
        rising = (s * mean + shift, s * sd, first_end, last_end)
        mass, up = probability(*rising), exponential(1.0, *rising, w)
        down = exponential(1.0, -s * mean - shift, s * sd, -last_end, -first_end, -w)
        rise, fall = 0.5 * b * np.exp(w), 0.5 * b * np.exp(-w)
        below, above = ndtr((low - mean) / sd), ndtr((mean - high) / sd)
        u = self.warp.a * mass + rise * up - fall * down + reach * (above - below)
        return self.scale.from_standard(u), self.scale.scale * s * (rise * up + fall * down)


class Comparison(Protocol):
    """An increasing map from units in which points are compared to the user's."""

    def to_standard(self, y: FloatArray, /) -> FloatArray:
        """Rewards in units in which they are compared."""

    def from_standard(self, z: FloatArray, /) -> FloatArray:
        """Rewards in the user's units."""

    def log_slope(self, z: FloatArray, /) -> FloatArray:
        """Logarithm of dy/dz."""


@dataclass(frozen=True)
class Tempered:
    """Units in which objectives are compared: straight about a typical one, and logarithmic beyond `STRAIGHT`.

    What is far below it need not be told apart to find the best point. What is far above it is rarely true, and a state
    of the chain that believes in it should not outvote all others. The location of `scale` is the typical objective,
    which may be far from the median reward: where losses are rare and large, every mean is.

    Examples
    --------
    >>> import numpy as np
    >>> units = Tempered(RewardScale(5.0, 2.0))
    >>> units.to_standard(np.array([-1e6, 5.0, 8.0, 1e6])).round(1)
    array([-14.1,   0. ,   1.5,  15.1])
    >>> units.from_standard(units.to_standard(np.array([-40.0, 6.0, 90.0]))).round(9)
    array([-40.,   6.,  90.])
    """

    scale: RewardScale

    def to_standard(self, y: FloatArray) -> FloatArray:
        """Rewards in units in which they are compared."""
        u = self.scale.to_standard(y)
        beyond = u - np.clip(u, *STRAIGHT)
        return np.asarray(u - beyond + np.copysign(np.log1p(np.abs(beyond)), beyond))

    def from_standard(self, z: FloatArray) -> FloatArray:
        """Rewards in the user's units, as far as floats reach."""
        beyond = z - np.clip(z, *STRAIGHT)
        far = np.copysign(np.expm1(np.minimum(np.abs(beyond), LARGEST_ARGUMENT)), beyond)
        return self.scale.from_standard(z - beyond + far)

    def log_slope(self, z: FloatArray) -> FloatArray:
        """Logarithm of dy/dz."""
        return np.asarray(np.log(self.scale.unit) + np.abs(z - np.clip(z, *STRAIGHT)))


@dataclass(frozen=True)
class WarpedUnits:
    """The user's units of rewards that states see through warps of their own.

    Attributes
    ----------
    scale : RewardScale
    reach : float
        Largest distance from the median that a mean counts, in standard units, as in :class:`WarpedScale`.

    Examples
    --------
    >>> import numpy as np
    >>> WarpedUnits.of(RewardScale(0.0, 2.0), np.array([-20.0, 4.0])).through(Warp(0.0, 0.1)).unit
    2.0
    """

    scale: RewardScale
    reach: float

    @classmethod
    def of(cls, scale: RewardScale, y: FloatArray) -> WarpedUnits:
        """From the rewards seen, which set the reach of means."""
        return cls(scale, REACH * float(np.max(np.abs(scale.to_standard(y)), initial=1.0)))

    def through(self, warp: Warp) -> RewardMap:
        """From the model's units to the user's, for states with this warp."""
        return self.scale if warp.straight else WarpedScale(self.scale, warp, self.reach)

    def compared(self, warp: Warp, typical: float) -> Comparison:
        """The units in which points are compared where rewards are seen through a warp that tells good ones apart.

        They are those of the warp, so that losses over decades are compared by their logarithm. Rewards that are seen
        as they are, are compared in tempered units about a `typical` objective.
        """
        return Tempered(replace(self.scale, location=typical)) if warp.straight else self.through(warp)


def reward_map(scale: RewardScale, warp: Warp, y: FloatArray) -> RewardMap:
    """From the model's units to the user's through a warp; `y` are the rewards seen, which set the reach of means.

    Examples
    --------
    >>> import numpy as np
    >>> reward_map(RewardScale(0.0, 2.0), Warp(0.0, 0.1), np.array([-20.0, 4.0])).unit
    2.0
    """
    return WarpedUnits.of(scale, y).through(warp)
