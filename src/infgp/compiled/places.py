"""Where surfaces are: how much the prior favours a set of inputs to share one (product partitions with covariates)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

#: A local surface's inputs are Gaussian in every coordinate of the unit cube, with a mean around the centre (worth so
#: many observations) and a variance ~ InverseGamma(shape, scale): regions from a hundredth of the cube upwards.
CENTRE, WORTH, SHAPE, SPREAD = 0.5, 0.05, 1.0, 0.003
LOG_2PI = math.log(2.0 * math.pi)


@njit(cache=True)
def log_cohesion(size: int, sums: Any, squares: Any, local: float) -> float:
    """log c(S) = log(1 − π + π g(x_S)): global with probability 1 − π, else local; `local` is π.

    g is the marginal density of the members' inputs, from their number, sums and sums of squares in each coordinate;
    its geometric mean over the coordinates, so that many of them do not drown the rewards. A global surface's inputs
    are uniform on the cube, density one.
    """
    if local == 0.0 or size == 0:
        return 0.0
    d, total = sums.size, 0.0
    half = SHAPE + 0.5 * size
    for k in range(d):
        mean = sums[k] / size
        spread = max(squares[k] - size * mean * mean, 0.0)
        pull = WORTH * size / (WORTH + size) * (mean - CENTRE) ** 2
        total -= half * math.log(SPREAD + 0.5 * (spread + pull))
    total /= d
    total += math.lgamma(half) - math.lgamma(SHAPE) + SHAPE * math.log(SPREAD)
    total += 0.5 * math.log(WORTH / (WORTH + size)) - 0.5 * size * LOG_2PI
    log_local, log_global = total + math.log(local), math.log1p(-local)
    top = max(log_local, log_global)
    value: float = top + math.log(math.exp(log_local - top) + math.exp(log_global - top))
    return value


@njit(cache=True)
def move(sums: Any, squares: Any, x: Any, sign: float) -> None:
    """Add (+1) a point to the statistics of a surface, or take it away (−1)."""
    for k in range(x.size):
        sums[k] += sign * x[k]
        squares[k] += sign * x[k] * x[k]


@njit(cache=True)
def log_cohesion_with(size: int, sums: Any, squares: Any, x: Any, sign: float, local: float) -> float:
    """log c of a surface of `size` members with one more (+1) or without one of them (−1)."""
    if local == 0.0:
        return 0.0
    move(sums, squares, x, sign)
    value = log_cohesion(size + int(sign), sums, squares, local)
    move(sums, squares, x, -sign)
    return value


@njit(cache=True)
def log_cohesion_ratios(x: Any, labels: Any, at: Any, local: float) -> Any:
    """log c(S_l with the point) / c(S_l) for each point and label, then log c of the point alone; shape (m, K + 1)."""
    top = 0
    for i in range(labels.size):
        top = max(top, labels[i] + 1)
    sums, squares = np.zeros((top + 1, x.shape[1])), np.zeros((top + 1, x.shape[1]))
    sizes = np.zeros(top + 1, dtype=np.int64)
    for i in range(labels.size):
        move(sums[labels[i]], squares[labels[i]], x[i], 1.0)
        sizes[labels[i]] += 1
    out = np.empty((at.shape[0], top + 1))
    for label in range(top + 1):
        base = log_cohesion(sizes[label], sums[label], squares[label], local)
        for p in range(at.shape[0]):
            out[p, label] = log_cohesion_with(sizes[label], sums[label], squares[label], at[p], 1.0, local) - base
    return out
