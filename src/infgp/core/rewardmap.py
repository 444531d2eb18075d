"""From standard rewards z to the user's rewards y, with what integrals over a Gaussian z need.

The simplest map is affine, :class:`infgp.core.scaling.RewardScale`. :class:`BentScale` is that of bent rewards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from infgp.core.integrals import exponentials, powers
from infgp.core.linalg import FloatArray
from infgp.core.scaling import STRAIGHT, RewardScale, bend, unbend

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
