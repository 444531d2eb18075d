"""Covariances and evidence: densities of residuals with the surfaces integrated out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

#: Sums may be reordered (vectorised); NaN and infinity keep their meaning.
FAST: Any = {"reassoc", "contract", "nsz"}
LOG_2PI = math.log(2.0 * math.pi)


@njit(cache=True, inline="always")
def log_predictive(gap: float, variance: float, size: int, quadratic: float, shape: float) -> float:
    """Log density of a reward `gap` off its kriging mean, given `size` earlier ones with quadratic form `quadratic`."""
    if shape == 0.0:
        return -0.5 * (gap * gap / variance + math.log(variance) + LOG_2PI)
    half = shape + 0.5 * size
    rate = shape + 0.5 * quadratic
    return (
        math.lgamma(half + 0.5)
        - math.lgamma(half)
        - 0.5 * math.log(2.0 * math.pi * rate * variance)
        - (half + 0.5) * math.log1p(0.5 * gap * gap / (variance * rate))
    )


@njit(cache=True, inline="always")
def log_evidence(size: int, quadratic: float, log_det: float, shape: float) -> float:
    """Log density of a surface's `size` residuals from their quadratic form and log determinant."""
    if shape == 0.0:
        return -0.5 * (quadratic + log_det + size * LOG_2PI)
    half = shape + 0.5 * size
    return (
        math.lgamma(half)
        - math.lgamma(shape)
        + shape * math.log(shape)
        - half * math.log(shape + 0.5 * quadratic)
        - 0.5 * (log_det + size * LOG_2PI)
    )


@njit(cache=True, fastmath=FAST)
def dot(a: Any, b: Any, size: int) -> float:
    """Σ a_i b_i over the first `size` entries."""
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total


@njit(cache=True, inline="always")
def rho_of(kernel: int, q: float) -> float:
    """Correlation at scaled squared distance q: 0 squared exponential, 1 Matérn-5/2."""
    if kernel == 0:
        return math.exp(-q)
    a = math.sqrt(10.0 * q)
    return (1.0 + a + a * a / 3.0) * math.exp(-a)


@njit(cache=True)
def mirror(a: Any) -> None:
    """Copy the lower triangle of a square array to the upper one, tile by tile to stay in the cache."""
    n, tile = a.shape[0], 32
    for row in range(0, n, tile):
        for column in range(0, row + 1, tile):
            for i in range(row, min(row + tile, n)):
                for j in range(column, min(column + tile, i)):
                    a[j, i] = a[i, j]


@njit(cache=True, fastmath=FAST)
def fill_covariance(kernel: int, x: Any, phi: Any, sigma2: float, out: Any) -> None:
    """σ² ρ for the rows of x."""
    n, d = x.shape
    for i in range(n):
        out[i, i] = sigma2
        for j in range(i):
            q = 0.0
            for k in range(d):
                gap = x[i, k] - x[j, k]
                q += phi[k] * gap * gap
            out[i, j] = sigma2 * rho_of(kernel, q)
    mirror(out)


@njit(cache=True)
def fill_blocks(kernel: int, x: Any, starts: Any, phi: Any, out: Any) -> None:
    """Correlations within each group of rows, one block after another in the flat array `out`."""
    at = 0
    for g in range(starts.size - 1):
        lo, m = starts[g], starts[g + 1] - starts[g]
        fill_covariance(kernel, x[lo : lo + m], phi, 1.0, out[at : at + m * m].reshape(m, m))
        at += m * m


@njit(cache=True)
def dense_log_evidence(C: Any, r: Any, tau2: float, shape: float) -> float:  # noqa: N803
    """Log evidence of one surface with all rows of C as its members."""
    m = r.size
    cov = C.copy()
    for a in range(m):
        cov[a, a] += tau2
    factor = np.linalg.cholesky(cov)
    u = np.empty(m)
    quadratic, log_det = 0.0, 0.0
    for a in range(m):
        u[a] = (r[a] - dot(factor[a], u, a)) / factor[a, a]
        quadratic += u[a] * u[a]
        log_det += 2.0 * math.log(factor[a, a])
    return log_evidence(m, quadratic, log_det, shape)


@njit(cache=True)
def blocks_log_evidence(rho: Any, r: Any, starts: Any, sigma2: float, tau2: float, shape: float) -> float:
    """Log evidence of all surfaces, from the correlations of :func:`fill_blocks` and residuals grouped alike."""
    total, at = 0.0, 0
    for g in range(starts.size - 1):
        lo, m = starts[g], starts[g + 1] - starts[g]
        if m == 1:
            v = sigma2 + tau2
            total += log_evidence(1, r[lo] * r[lo] / v, math.log(v), shape)
        else:
            block = sigma2 * rho[at : at + m * m].reshape(m, m)
            total += dense_log_evidence(block, r[lo : lo + m], tau2, shape)
        at += m * m
    return total


@njit(cache=True)
def trend_statistics(
    kernel: int,
    x: Any,
    hy: Any,
    starts: Any,
    phi: Any,
    sigma2: float,
    tau2: float,
    beta: Any,
    shape: float,
    gammas: Any,
) -> Any:
    """Σ_l [h y]ᵀ (C_SS + τ² I)⁻¹ [h y] / s_l, shape (p + 1, p + 1), for rows grouped by surface.

    With own scales, s_l is drawn given the residuals at `beta` from the variates ``gammas[l]`` ~ Gamma(a + n_l / 2).
    """
    p = hy.shape[1]
    out = np.zeros((p, p))
    for g in range(starts.size - 1):
        lo, m = starts[g], starts[g + 1] - starts[g]
        cov = np.empty((m, m))
        fill_covariance(kernel, x[lo : lo + m], phi, sigma2, cov)
        for a in range(m):
            cov[a, a] += tau2
        factor = np.linalg.cholesky(cov)
        u = np.empty((p, m))
        for k in range(p):
            for a in range(m):
                u[k, a] = (hy[lo + a, k] - dot(factor[a], u[k], a)) / factor[a, a]
        scale = 1.0
        if shape > 0.0:
            quadratic = 0.0
            for a in range(m):
                gap = u[p - 1, a]
                for k in range(p - 1):
                    gap -= u[k, a] * beta[k]
                quadratic += gap * gap
            scale = (shape + 0.5 * quadratic) / gammas[g]
        for k in range(p):
            for j in range(p):
                out[k, j] += dot(u[k], u[j], m) / scale
    return out
