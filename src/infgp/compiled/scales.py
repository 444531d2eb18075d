"""Slice sampling of the scales and length-scales."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from infgp.compiled.densities import blocks_log_evidence, fill_blocks


@njit(cache=True)
def scales_log_prior(theta: Any, variances: Any, lengthscale: Any) -> float:
    """Log density of θ = (log σ², log τ², log ℓ …), up to a constant; −∞ beyond the condition limit.

    variances : rows (shape, scale) of the inverse gammas of σ² and τ² (zeros for a fixed one), and in the last row the
        largest σ²/τ²
    lengthscale : (0,) fixed; (1, loc, scale, least log ℓ) log-normal; (2, largest φ) uniform in φ
    """
    total = 0.0
    if not theta[0] - theta[1] <= math.log(variances[2, 0]):
        return -np.inf
    for k in range(2):
        if variances[k, 0] > 0.0:
            total -= variances[k, 0] * theta[k] + variances[k, 1] * math.exp(-theta[k])
    for k in range(2, theta.size):
        if lengthscale[0] == 1.0:
            if theta[k] < lengthscale[3]:
                return -np.inf
            u = (theta[k] - lengthscale[1]) / lengthscale[2]
            total -= 0.5 * u * u
        elif lengthscale[0] == 2.0:
            if 0.5 * math.exp(-2.0 * theta[k]) > lengthscale[1]:
                return -np.inf
            total -= 2.0 * theta[k]
    return total


@njit(cache=True)
def slice_scales(
    rng: Any,
    theta: Any,
    directions: Any,
    width: float,
    kernel: int,
    x: Any,
    r: Any,
    starts: Any,
    variances: Any,
    lengthscale: Any,
    shape: float,
) -> int:
    """Slice-sampling transitions of θ along each of the `directions`; θ is changed in place.

    An interval of length `width` is thrown over the current point and shrunk until a point on the slice is found (Neal
    2003). There is no stepping out: with a fixed length the transition is reversible without it, and cheaper.
    Returns the number of evaluations of the evidence.
    """
    d = x.shape[1]
    phi = np.empty(d)
    cells = 0
    for g in range(starts.size - 1):
        cells += (starts[g + 1] - starts[g]) ** 2
    rho, trial = np.empty(cells), np.empty(cells)
    for k in range(d):
        phi[k] = 0.5 * math.exp(-2.0 * theta[2 + min(k, theta.size - 3)])
    fill_blocks(kernel, x, starts, phi, rho)
    value = scales_log_prior(theta, variances, lengthscale)
    value += blocks_log_evidence(rho, r, starts, math.exp(theta[0]), math.exp(theta[1]), shape)
    evaluations = 1
    for line in range(directions.shape[0]):
        step = directions[line]
        rough = False
        for k in range(2, theta.size):
            rough = rough or step[k] != 0.0
        level = value - rng.standard_exponential()
        left = -width * rng.random()
        right = left + width
        while left < right:
            t = left + (right - left) * rng.random()
            proposal = theta + t * step
            at = scales_log_prior(proposal, variances, lengthscale)
            if at > -np.inf:
                if rough:
                    for k in range(d):
                        phi[k] = 0.5 * math.exp(-2.0 * proposal[2 + min(k, theta.size - 3)])
                    fill_blocks(kernel, x, starts, phi, trial)
                sigma2, tau2 = math.exp(proposal[0]), math.exp(proposal[1])
                at += blocks_log_evidence(trial if rough else rho, r, starts, sigma2, tau2, shape)
                evaluations += 1
            if at > level:
                theta[:] = proposal
                value = at
                if rough:
                    rho, trial = trial, rho
                break
            if t < 0.0:
                left = t
            else:
                right = t
    return evaluations
