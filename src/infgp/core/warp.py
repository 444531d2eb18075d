"""Warps: increasing maps from standardised rewards u to the model's rewards z, between which the posterior chooses.

    z = W(u) = (asinh((u − a) / b) − c) / s,   with c and s such that W(−1) = −1 and W(1) = 1

Within b of the knee a the map is straight, and beyond it grows with the logarithm of the distance, on either side: with
a at an end of the rewards, b says how many decades towards that end are told apart. Since −1 and 1 stay where they are
(rewards have median 0 and half their 16–84 % range is 1), variances and trends mean nearly the same under all warps.
The identity is the limit of a large b, and a warp of its own. Warped Gaussian processes are due to Snelson, Rasmussen
and Ghahramani (2004); the sinh-arcsinh family is in Rios and Tobar (2019).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import softmax

from infgp.core.linalg import FloatArray
from infgp.core.partition import IntArray
from infgp.core.scaling import ROUNDING, RewardScale

#: Percentiles of the rewards at which there are knees; those of 0 and 100 are moved beyond the extreme rewards.
KNEES = (0.0, 5.0, 25.0, 50.0, 75.0, 95.0, 100.0)
#: Largest distance of a knee from the median, in units of half the rewards' 16–84 % range. Rewards that are farther are
#: outliers, which belong to other surfaces and are not to choose the warp, or the bad end of rewards over decades.
FARTHEST_KNEE = 5.0
#: Percentile of the rewards that stands for good ones.
GOOD = 95.0
#: Smallest and largest half-width b of the straight part of a warp, in units of half the rewards' 16–84 % range.
WIDTHS = (1e-8, 1e2)
#: Number of half-widths, equally spaced in their logarithm.
N_WIDTHS = 14
#: Prior probability that rewards are not warped; the other warps share the rest equally.
STRAIGHT = 0.5
#: Fewest distinct rewards from which a warp is learned.
FEWEST = 4
#: Least share of the rewards that are the first of their value, where a warp is learned.
DISTINCT = 0.5
#: Largest logarithm by which the prior of a warp falls because of repeats, without a unit: no prior is 0.
LARGEST_WEIGHT = 600.0
#: Largest argument of a hyperbolic sine, without a unit: rewards beyond it, 1e130 times b, are set there.
LARGEST_ARGUMENT = 300.0
#: Argument below which differences of hyperbolic sines are found from products, without a unit.
NEAR = 0.5


@dataclass(frozen=True)
class Warp:
    """One warp, with its knee and the half-width of its straight part; the default is the identity.

    Attributes
    ----------
    a : float
        Knee, in standard units of the rewards.
    b : float
        Half-width of the straight part, in the same units; infinite for the identity.

    Examples
    --------
    >>> import numpy as np
    >>> warp = Warp(a=-2.0, b=1e-3)
    >>> warp.forward(np.array([-1.999, -1.0, 1.0, 1e6])).round(2)
    array([-13.23,  -1.  ,   1.  ,  24.15])
    >>> warp.inverse(warp.forward(np.array([-1.999, 0.0, 1e6]))).round(9)
    array([-1.999e+00,  0.000e+00,  1.000e+06])
    """

    a: float = 0.0
    b: float = math.inf

    @property
    def straight(self) -> bool:
        """Whether this is the identity."""
        return math.isinf(self.b)

    @cached_property
    def low(self) -> float:
        """(u − a) / b at u = −1."""
        return (-1.0 - self.a) / self.b

    @cached_property
    def s(self) -> float:
        """Half the difference of asinh((u − a) / b) between u = 1 and u = −1."""
        return 0.5 * float(_above_low(np.array(1.0), self.a, self.b))

    @property
    def units(self) -> RewardScale:
        """The units of z, such that in the user's place stands asinh((u − a) / b) = c + s z, not for the identity."""
        return RewardScale(math.asinh(self.low) + self.s, self.s)

    def forward(self, u: FloatArray) -> FloatArray:
        """Rewards in the model's units, z = W(u).

        Examples
        --------
        >>> import numpy as np
        >>> Warp(0.3, 1e-8).forward(np.array([-1.0, 1.0]))
        array([-1.,  1.])
        """
        return u if self.straight else _above_low(u, self.a, self.b) / self.s - 1.0

    def inverse(self, z: FloatArray) -> FloatArray:
        """Standardised rewards u from z = W(u).

        Near u = −1 differences of hyperbolic sines are products, sinh(q' + t) − sinh(q') = 2 q sinh²(t/2) +
        √(1 + q²) sinh(t) with q = sinh(q'), so that far knees cost no digits; elsewhere u = a + b sinh(q' + t).

        Examples
        --------
        >>> import numpy as np
        >>> Warp(0.0, 1.0).inverse(np.array([-1.0, 0.0, 1.0])).round(12)
        array([-1.,  0.,  1.])
        """
        if self.straight:
            return z
        t, q = self.s * (z + 1.0), self.low
        near = np.clip(t, -NEAR, NEAR)
        products = 2.0 * q * np.sinh(0.5 * near) ** 2 + math.hypot(1.0, q) * np.sinh(near)
        far = np.sinh(np.clip(math.asinh(q) + t, -LARGEST_ARGUMENT, LARGEST_ARGUMENT))
        return np.where(np.abs(t) < NEAR, self.b * products - 1.0, self.a + self.b * far)

    def log_slope(self, u: FloatArray) -> FloatArray:
        """log W'(u) = −log s − log √(b² + (u − a)²).

        Examples
        --------
        >>> import numpy as np
        >>> Warp().log_slope(np.array([3.0])), Warp(0.0, 1e-8).log_slope(np.array([0.0])).round(2)
        (array([0.]), array([15.47]))
        """
        if self.straight:
            return np.zeros(np.shape(u))
        return np.asarray(-np.log(self.s) - np.log(np.hypot(self.b, u - self.a)))


def _above_low(u: FloatArray, a: FloatArray | float, b: FloatArray | float) -> FloatArray:
    """asinh(p) − asinh(q) with p = (u − a) / b and q = (−1 − a) / b, broadcast over warps.

    It is asinh(p √(1 + q²) − q √(1 + p²)), and where p and q have one sign the difference is divided by its
    conjugate, which leaves (p² − q²) = (p − q)(p + q) with p − q = (u + 1) / b. Nothing is then lost to
    cancellation, neither for wide warps, where all arguments are alike, nor for knees that are far away.
    """
    p, q = (u - a) / b, (-1.0 - a) / b
    first, second = p * np.hypot(1.0, q), q * np.hypot(1.0, p)
    one_sign = p * q > 0.0
    total = np.where(one_sign, first + second, 1.0)
    return np.arcsinh(np.where(one_sign, (u + 1.0) / b * ((p + q) / total), first - second))


#: The warp that leaves rewards as they are.
IDENTITY = Warp()


@dataclass(frozen=True)
class Warps:
    """The warps between which the posterior chooses, and their prior probabilities; the first is the identity.

    Examples
    --------
    >>> Warps().maps
    (Warp(a=0.0, b=inf),)
    """

    maps: tuple[Warp, ...] = (IDENTITY,)
    prior: tuple[float, ...] = (1.0,)

    @classmethod
    def beside_identity(cls, maps: Sequence[Warp]) -> Warps:
        """The identity, which has half of the prior, and some other warps, which share the rest.

        Examples
        --------
        >>> Warps.beside_identity([Warp(0.0, 1.0), Warp(0.0, 2.0)]).prior
        (0.5, 0.25, 0.25)
        """
        if not maps:
            return cls()
        return cls((IDENTITY, *maps), (STRAIGHT, *((1.0 - STRAIGHT) / len(maps),) * len(maps)))

    def weighted(self, log_weights: FloatArray) -> Warps:
        """The same warps with their prior probabilities multiplied by weights, of which the logarithms are given.

        Examples
        --------
        >>> import numpy as np
        >>> warps = Warps.beside_identity([Warp(0.0, 1.0), Warp(0.0, 2.0)]).weighted(np.log([1.0, 1.0, 0.5]))
        >>> [round(p, 3) for p in warps.prior]
        [0.571, 0.286, 0.143]
        """
        return replace(self, prior=tuple(softmax(np.log(self.prior) + log_weights).tolist()))

    def __len__(self) -> int:
        return len(self.maps)

    def forward(self, u: FloatArray) -> FloatArray:
        """Rewards u, shape (n,), through each warp, shape (K, n)."""
        bent, a, b, s = self._bent
        out = np.tile(u, (len(self), 1))
        out[bent] = _above_low(u, a, b) / s - 1.0
        return out

    def log_slope(self, u: FloatArray) -> FloatArray:
        """log W'(u) of each warp at rewards u, shape (K, n)."""
        bent, a, b, s = self._bent
        out = np.zeros((len(self), u.size))
        out[bent] = -np.log(s) - np.log(np.hypot(b, u - a))
        return out

    @cached_property
    def _bent(self) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Which warps are not the identity, and their knees, half-widths and s in columns, shapes (bent, 1)."""
        bent = [k for k, warp in enumerate(self.maps) if not warp.straight]
        a = np.array([self.maps[k].a for k in bent], dtype=np.float64)[:, None]
        b = np.array([self.maps[k].b for k in bent], dtype=np.float64)[:, None]
        return np.array(bent, dtype=np.int64), a, b, 0.5 * _above_low(np.array(1.0), a, b)

    def nearest(self, warp: Warp) -> int:
        """Index of the warp that is most like another one, for chains that go on with other warps.

        Two warps are compared by their values over the range of most rewards.

        Examples
        --------
        >>> Warps((IDENTITY, Warp(0.0, 1e-3), Warp(2.0, 1e-3)), (0.5, 0.25, 0.25)).nearest(Warp(0.1, 2e-3))
        1
        """
        u = np.linspace(-2.0, 2.0, 41)
        return int(np.argmin(np.abs(self.forward(u) - warp.forward(u)).max(axis=1)))


@dataclass(frozen=True, eq=False)
class Warped:
    """Rewards through each of K warps.

    Attributes
    ----------
    z : array, shape (K, n)
    log_slope : array, shape (K,)
        Σ_i log W'(u_i) of each warp: the logarithm of its Jacobian.

    Examples
    --------
    >>> import numpy as np
    >>> Warped.of(np.array([-1.0, 0.5]), Warps()).z
    array([[-1. ,  0.5]])
    """

    z: FloatArray
    log_slope: FloatArray

    @classmethod
    def of(cls, u: FloatArray, warps: Warps) -> Warped:
        """From standardised rewards, shape (n,)."""
        return cls(warps.forward(u), warps.log_slope(u).sum(axis=1))


def grid(u: FloatArray, resolve_good: bool = False) -> Warps:
    """The warps for some rewards: knees at a few of their percentiles, half-widths over ten decades, and the identity.

    A knee lies halfway between two neighbouring rewards, or beyond an extreme one by its distance from the next: the
    slope at a reward is then bounded by the data, however narrow the warp is.

    Rewards that are equal are no evidence for a warp, though a density can be made as high as one likes where there are
    several: by a warp that is steep there. So there is only the identity where fewer than `FEWEST` values occur, or
    where fewer than the share `DISTINCT` of the rewards are the first of their value (success or failure, grades,
    counts). Otherwise, as with a penalty that many failures share, or with configurations that are evaluated twice and
    give the same number, the prior of a warp is divided by its slopes at the repeated rewards where their product is
    above 1: the Jacobian then counts them as if they had not been told, and repeats never speak for a warp. Rewards
    that differ by rounding errors are equal.

    Parameters
    ----------
    u : array, shape (n,)
        Standardised rewards.
    resolve_good : bool
        Whether warps are left out that draw good rewards, which are high, together: those that are less steep at the
        percentile `GOOD` than at the median. A search wants good rewards told apart. A warp that draws them together
        makes of every peak a lognormal one, whose top may be anywhere.

    Examples
    --------
    >>> import numpy as np
    >>> len(grid(np.exp(np.arange(9.0)) / 1e3)), len(grid(np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0])))
    (71, 1)
    >>> losses = np.exp(np.arange(9.0)) / 1e3
    >>> all(warp.a >= np.median(-losses) for warp in grid(-losses, resolve_good=True).maps[1:])
    True
    """
    ordered = np.sort(u)
    first = np.append(True, np.diff(ordered) > ROUNDING * np.maximum(np.abs(ordered[1:]), 1.0))
    values, repeats = ordered[first], ordered[~first]
    if values.size < FEWEST or values.size < DISTINCT * u.size:
        return Warps()
    gaps = np.diff(values)
    edges = np.concatenate(([values[0] - gaps[0]], values[:-1] + 0.5 * gaps, [values[-1] + gaps[-1]]))
    at = [round(p / 100.0 * (edges.size - 1)) for p in KNEES]
    knees = [float(edges[k]) for k in sorted(set(at)) if abs(edges[k]) <= FARTHEST_KNEE]
    widths = np.geomspace(*WIDTHS, N_WIDTHS).tolist()
    every = Warps.beside_identity([Warp(a, b) for a in knees for b in widths])
    wanted = np.ones(len(every), dtype=bool)
    if resolve_good:
        wanted = np.diff(every.log_slope(np.percentile(u, (50.0, GOOD))), axis=1)[:, 0] >= 0.0
    kept = Warps.beside_identity([warp for warp, good in zip(every.maps[1:], wanted[1:], strict=True) if good])
    if not repeats.size:
        return kept
    return kept.weighted(-np.clip(kept.log_slope(repeats).sum(axis=1), 0.0, LARGEST_WEIGHT))
