"""From standard rewards z to the user's rewards y, with what integrals over a Gaussian z need.

The simplest map is affine, :class:`infgp.core.scaling.RewardScale`. :class:`BentScale` is that of bent rewards, and
:class:`WarpedScale` that of rewards through a warp that was learned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from infgp.core.integrals import exponentials, powers
from infgp.core.linalg import FloatArray
from infgp.core.scaling import LARGEST_REWARD, STRAIGHT, RewardScale, bend, unbend
from infgp.core.warp import Warp

#: Largest distance of a bent reward from the median that a mean counts, in units of the distance of the farthest reward
#: that was seen. A reward that is farther counts as one at this distance. With a reach that does not depend on the
#: rewards seen, such as a million standard units, the prior of a surface that was never seen rules the mean.
REACH = 3.0


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

    def partial_moments(self, mean: FloatArray, sd: FloatArray, below: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Integrals of (y − c) / unit and of its square over z ~ N(mean, sd²) up to `below`, z drawn in to the ends.

        The number c is y at the mean, drawn in, too: moments about it lose no digits where rewards are large and alike.
        """


@dataclass(frozen=True)
class BentScale:
    """The map of bent rewards, y = location + scale · u with u = unbend(z) (:func:`infgp.core.scaling.unbend`).

    Attributes
    ----------
    scale : RewardScale
    reach : float
        Largest distance of u from 0 that a mean counts, in standard units. Beyond the straight range u grows
        exponentially, so that its mean would be ruled by rewards that are nothing like any that was seen.

    Examples
    --------
    >>> import numpy as np
    >>> rewards = BentScale.of(RewardScale(5.0, 2.0), np.array([5.0, 10.0, 25.0]))
    >>> rewards.reach
    30.0
    >>> rewards.from_standard(rewards.to_standard(np.array([-40.0, 6.0, 90.0]))).round(9)
    array([-40.,   6.,  90.])
    """

    scale: RewardScale
    reach: float

    @classmethod
    def of(cls, scale: RewardScale, y: FloatArray) -> BentScale:
        """The map that reaches `REACH` times as far as the rewards `y` that were seen, or as one standard unit."""
        return cls(scale, REACH * float(np.max(np.abs(scale.to_standard(y)), initial=1.0)))

    @property
    def unit(self) -> float:
        """One standard unit in the middle of the rewards, in the user's units."""
        return self.scale.unit

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest standard reward that a mean counts."""
        low, high = bend(np.array([-self.reach, self.reach]))
        return float(low), float(high)

    def to_standard(self, y: FloatArray) -> FloatArray:
        """Rewards in the model's units."""
        return bend(self.scale.to_standard(y))

    def from_standard(self, z: FloatArray) -> FloatArray:
        """Rewards in the user's units."""
        return self.scale.from_standard(unbend(z))

    def log_slope(self, z: FloatArray) -> FloatArray:
        """Logarithm of dy/dz at standard rewards."""
        return np.asarray(np.log(self.unit) + np.abs(z - np.clip(z, *STRAIGHT)))

    def partial_moments(self, mean: FloatArray, sd: FloatArray, below: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Integrals of u − c and (u − c)² over z ~ N(mean, sd²) up to `below`, with z drawn in to the ends.

        The number c is u at the mean, drawn in, too. The line falls into five pieces. In each, u = k + t with a
        constant k and, from the lowest piece to the highest, t = 0, −exp(s₋ − z), z − mean, exp(z − s₊) and 0, where s₋
        and s₊ are the ends of the straight range. The integrals of 1, t and t² are in :mod:`infgp.core.integrals`.

        Examples
        --------
        >>> import numpy as np
        >>> z = np.random.default_rng(0).normal(1.0, 1.5, 400_000)
        >>> rewards = BentScale(RewardScale(0.0, 1.0), 1e4)
        >>> first, _ = rewards.partial_moments(np.array(1.0), np.array(1.5), np.array(np.inf))
        >>> bool(abs(1.0 + first - np.mean(rewards.from_standard(z))) < 0.02)
        True
        """
        (low, high), (left, right), reach = self.ends, STRAIGHT, self.reach
        falls = exponentials(-mean, sd, np.clip(-below, -left, -low), np.array(-low), -left)
        pieces = (
            (-reach, powers(mean, sd, np.array(-np.inf), np.minimum(low, below))[0], 0.0, 0.0),
            (left + 1.0, falls[0], -falls[1], falls[2]),
            (mean, *powers(mean, sd, np.minimum(left, below), np.minimum(right, below))),
            (right - 1.0, *exponentials(mean, sd, np.array(right), np.clip(below, right, high), right)),
            (reach, powers(mean, sd, np.minimum(high, below), below)[0], 0.0, 0.0),
        )
        c = np.clip(unbend(mean), -reach, reach)
        first = [(k - c) * p + t for k, p, t, _ in pieces]
        second = [(k - c) ** 2 * p + 2.0 * (k - c) * t + tt for k, p, t, tt in pieces]
        return np.sum(first, axis=0), np.sum(second, axis=0)


@dataclass(frozen=True)
class WarpedScale:
    """The map of rewards through a warp other than the identity, y = location + scale · u with u = W⁻¹(z).

    Attributes
    ----------
    scale : RewardScale
    warp : Warp
    reach : float
        Largest distance of u from 0 that a mean counts, in standard units, as in :class:`BentScale`.

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

    @property
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
        mass, up, up_twice = exponentials(s * mean + shift, s * sd, np.array(first_end), last_end, w)
        _, down, down_twice = exponentials(-s * mean - shift, s * sd, -last_end, np.array(-first_end), -w)
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


@dataclass(frozen=True)
class WarpedUnits:
    """The user's units of rewards that states see through warps of their own.

    Attributes
    ----------
    scale : RewardScale
    reach : float
        Largest distance from the median that a mean counts, in standard units, as in :class:`BentScale`.

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


def reward_map(scale: RewardScale, warp: Warp, y: FloatArray) -> RewardMap:
    """From the model's units to the user's through a warp; `y` are the rewards seen, which set the reach of means.

    Examples
    --------
    >>> import numpy as np
    >>> reward_map(RewardScale(0.0, 2.0), Warp(0.0, 0.1), np.array([-20.0, 4.0])).unit
    2.0
    """
    return WarpedUnits.of(scale, y).through(warp)
