"""Sequential allocation to two surfaces, for splits and mergers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from infgp.compiled.densities import dot, log_evidence, log_predictive


@njit(cache=True)
def extend(k: Any, factor: Any, size: int, w: Any) -> float:
    """Forward substitution w = C⁻¹ k with the first rows of a Cholesky factor; returns wᵀw."""
    total = 0.0
    for a in range(size):
        w[a] = (k[a] - dot(factor[a], w, a)) / factor[a, a]
        total += w[a] * w[a]
    return total


@njit(cache=True)
def grow(
    order: Any,
    forced: Any,
    uniforms: Any,
    r: Any,
    C: Any,  # noqa: N803
    tau2: float,
    shape: float,
    sides: Any,
) -> tuple[float, float]:
    """Allocate observations, in `order`, to one of two surfaces that begin with the first two of them.

    Each goes to side s with probability ∝ n_s · predictive density from the members of s so far. Where `forced` is not
    empty it gives the sides, and only their probability is computed.

    Returns
    -------
    log probability of the allocation and log evidence of the two surfaces; the allocation is left in `sides`.
    """
    m = order.size
    factors = np.empty((2, m, m))
    who = np.empty((2, m), dtype=np.int64)
    u, w, k = np.empty((2, m)), np.empty((2, m)), np.empty((2, m))
    sizes = np.zeros(2, dtype=np.int64)
    quadratic, log_det = np.zeros(2), np.zeros(2)
    variance, gap, log_p = np.empty(2), np.empty(2), np.empty(2)
    log_q = 0.0
    for p in range(m):
        i = order[p]
        for s in range(2):
            for a in range(sizes[s]):
                k[s, a] = C[i, who[s, a]]
            variance[s] = max(C[i, i] + tau2 - extend(k[s], factors[s], sizes[s], w[s]), tau2)
            gap[s] = r[i] - dot(w[s], u[s], sizes[s])
            if p >= 2:
                log_p[s] = math.log(sizes[s]) + log_predictive(gap[s], variance[s], sizes[s], quadratic[s], shape)
        if p < 2:
            side = p
        else:
            top = max(log_p[0], log_p[1])
            norm = top + math.log(math.exp(log_p[0] - top) + math.exp(log_p[1] - top))
            side = int(uniforms[p] > math.exp(log_p[0] - norm))
            if forced.size > 0:
                side = forced[p]
            log_q += log_p[side] - norm
        at, root = sizes[side], math.sqrt(variance[side])
        for a in range(at):
            factors[side, at, a] = w[side, a]
        factors[side, at, at] = root
        u[side, at] = gap[side] / root
        quadratic[side] += gap[side] * gap[side] / variance[side]
        log_det[side] += math.log(variance[side])
        who[side, at] = i
        sizes[side] = at + 1
        sides[p] = side
    evidence = 0.0
    for s in range(2):
        evidence += log_evidence(sizes[s], quadratic[s], log_det[s], shape)
    return log_q, evidence
