"""Moments of rewards in the user's units, in PyTorch, where posterior states see them through warps.

The formulas are those of :class:`infgp.core.rewardmap.WarpedScale` and :mod:`infgp.core.integrals`; autograd then
gives gradients with respect to the means and variances that go in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from infgp.core.rewardmap import WarpedScale
from infgp.core.warp import LARGEST_ARGUMENT


@dataclass(frozen=True, eq=False)
class Warped:
    """C maps from the model's rewards z to the user's; all tensors have shape (C, 1).

    Attributes
    ----------
    location, unit : float
        Median and unit of the rewards in the user's units.
    reach : float
        Largest distance of a reward from the median that a mean counts, in that unit.
    a, b, s, shift : Tensor
        (y − location) / unit = a + b sinh(s z + shift).
    low, high : Tensor
        The ends, to which z is drawn in.
    """

    location: float
    unit: float
    reach: float
    a: Tensor
    b: Tensor
    s: Tensor
    shift: Tensor
    low: Tensor
    high: Tensor

    @classmethod
    def of(cls, maps: Sequence[WarpedScale]) -> Warped:
        """From maps with the same units."""
        rows = [(m.warp.a, m.warp.b, m.warp.s, m.warp.s + math.asinh(m.warp.low), *m.ends) for m in maps]
        columns = torch.tensor(rows, dtype=torch.float64).T[..., None]
        return cls(maps[0].scale.location, maps[0].scale.scale, maps[0].reach, *columns)

    def moments(self, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean and variance of y for z ~ N(mean, variance), drawn in, and the derivative of its mean; (..., C, q).

        Examples
        --------
        >>> import numpy as np
        >>> from infgp.core.scaling import RewardScale
        >>> from infgp.core.warp import Warp
        >>> rewards = WarpedScale(RewardScale(5.0, 2.0), Warp(-1.2, 1e-3), 1e3)
        >>> one = torch.ones(1, 1, dtype=torch.float64)
        >>> y, _, slope = Warped.of([rewards]).moments(0.3 * one, 0.25 * one)
        >>> np.allclose((y, slope), np.reshape(rewards.expectation(np.array(0.3), np.array(0.5)), (2, 1, 1)))
        True
        """
        sd, s, b, reach = variance.sqrt(), self.s, self.b, self.reach
        at = torch.minimum(torch.maximum(mean, self.low), self.high)
        w, ends = s * at + self.shift, (s * self.low + self.shift, s * self.high + self.shift)
        mass, up, up_twice = _exponentials(s * mean + self.shift, s * sd, *ends, w)
        _, down, down_twice = _exponentials(-s * mean - self.shift, s * sd, -ends[1], -ends[0], -w)
        rise, fall = 0.5 * b * w.exp(), 0.5 * b * (-w).exp()
        middle = rise * (up - mass) - fall * (down - mass)
        squares = rise**2 * (up_twice - 2.0 * up + mass) + fall**2 * (down_twice - 2.0 * down + mass)
        squares = squares - 0.5 * b**2 * (2.0 * mass - up - down)
        c = (self.a + b * w.clamp(-LARGEST_ARGUMENT, LARGEST_ARGUMENT).sinh()).clamp(-reach, reach)
        below, above = torch.special.ndtr((self.low - mean) / sd), torch.special.ndtr((mean - self.high) / sd)
        first = (-reach - c) * below + middle + (reach - c) * above
        second = (reach + c) ** 2 * below + squares + (reach - c) ** 2 * above
        y, spread = self.location + self.unit * (c + first), (second - first**2).clamp_min(0.0)
        return y, self.unit**2 * spread, self.unit * s * (rise * up + fall * down)


def _exponentials(mean: Tensor, sd: Tensor, a: Tensor, b: Tensor, origin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Integrals of 1, exp(z − origin) and exp(z − origin)² over z ~ N(mean, sd²) from a to b."""
    mass = torch.special.ndtr((b - mean) / sd) - torch.special.ndtr((a - mean) / sd)
    first, second = (
        (t * (b - origin)).exp() * _decay(t, mean, sd, b) - (t * (a - origin)).exp() * _decay(t, mean, sd, a)
        for t in (1.0, 2.0)
    )
    return mass, first, second


def _decay(s: float, mean: Tensor, sd: Tensor, b: Tensor) -> Tensor:
    """Integral of exp(s (z − b)) up to b; see :func:`infgp.core.integrals._decay`."""
    beta = (b - mean) / sd
    t = s * sd - beta
    near = (s * sd * (0.5 * s * sd - beta)).clamp_max(0.0).exp() * torch.special.ndtr(-t)
    density = (-0.5 * beta * beta).exp() / math.sqrt(2.0 * math.pi)
    far = density * math.sqrt(0.5 * math.pi) * torch.special.erfcx(t.clamp_min(0.0) / math.sqrt(2.0))
    return torch.where(t < 0.0, near, far)
