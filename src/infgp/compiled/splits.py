"""Splits and mergers: anchors, sequential allocation to two surfaces, the Metropolis–Hastings ratio."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from infgp.compiled.chain import cells, entries, group_order, relabel, residual, rows
from infgp.compiled.densities import (
    blocks_log_evidence,
    dot,
    fill_blocks,
    fill_covariance,
    log_evidence,
    log_predictive,
)
from infgp.compiled.places import log_cohesion, log_cohesion_with, move
from infgp.compiled.scales import lengthscale_log_prior


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
    noise: Any,
    shape: float,
    x: Any,
    local: float,
    sides: Any,
) -> tuple[float, float]:
    """Allocate observations, in `order`, to one of two surfaces that begin with the first two of them.

    Each goes to side s with probability ∝ n_s · c(s with it) / c(s) · predictive density from the members of s so far.
    Where `forced` is not empty it gives the sides, and only their probability is computed.

    Returns
    -------
    log probability of the allocation, and log evidence of the two surfaces with their cohesions; the allocation is left
    in `sides`.
    """
    m = order.size
    factors = np.empty((2, m, m))
    who = np.empty((2, m), dtype=np.int64)
    u, w, k = np.empty((2, m)), np.empty((2, m)), np.empty((2, m))
    sizes = np.zeros(2, dtype=np.int64)
    quadratic, log_det = np.zeros(2), np.zeros(2)
    variance, gap, log_p = np.empty(2), np.empty(2), np.empty(2)
    sums, squares, cohesion = np.zeros((2, x.shape[1])), np.zeros((2, x.shape[1])), np.zeros(2)
    log_q = 0.0
    for p in range(m):
        i = order[p]
        least = tau2 + noise[i]
        for s in range(2):
            for a in range(sizes[s]):
                k[s, a] = C[i, who[s, a]]
            variance[s] = max(C[i, i] + least - extend(k[s], factors[s], sizes[s], w[s]), least)
            gap[s] = r[i] - dot(w[s], u[s], sizes[s])
            if p >= 2:
                log_p[s] = math.log(sizes[s]) + log_predictive(gap[s], variance[s], sizes[s], quadratic[s], shape)
                log_p[s] += log_cohesion_with(sizes[s], sums[s], squares[s], x[i], 1.0, local) - cohesion[s]
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
        move(sums[side], squares[side], x[i], 1.0)
        cohesion[side] = log_cohesion(sizes[side], sums[side], squares[side], local)
    evidence = 0.0
    for s in range(2):
        evidence += log_evidence(sizes[s], quadratic[s], log_det[s], shape) + cohesion[s]
    return log_q, evidence


@njit(cache=True)
def outward(C: Any, a: int, b: int) -> Any:  # noqa: N803
    """The anchors a and b, then the others in the order of their correlation with the nearer of the two."""
    distance = np.empty(C.shape[0])
    for k in range(distance.size):
        distance[k] = -max(C[a, k], C[b, k])
    distance[a], distance[b] = -np.inf, -np.finfo(np.float64).max
    order = np.arange(distance.size)
    for k in range(1, order.size):  # insertion sort: NumPy's takes longer to compile than this to run
        item = order[k]
        while k > 0 and distance[order[k - 1]] > distance[item]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = item
    return order


@njit(cache=True)
def lengthscales_log_prior(phi: Any, priors: Any) -> float:
    """Log density of the length-scales, in log ℓ, up to a constant."""
    total = 0.0
    for k in range(priors.lengthscales):
        total += lengthscale_log_prior(-0.5 * math.log(2.0 * phi[k]), priors.lengthscale)
    return total


@njit(cache=True)
def split_or_merge(
    setting: Any,
    chain: Any,
    priors: Any,
    i: int,
    j: int,
    shift: float,
    stretch: float,
    uniforms: Any,
    threshold: float,
) -> bool:
    """Propose a split or a merger, accept it or not; returns whether it was accepted.

    i, j : the anchors;  shift, stretch : steps of log τ² and log ℓ
    uniforms, threshold : random numbers, for the allocation and (negative exponential) for the decision
    """
    labels, n = chain.labels, chain.labels.size
    sigma2, tau2, nu = chain.scales
    splits = labels[i] == labels[j]
    apart, together = (tau2 * math.exp(-shift), tau2) if splits else (tau2, tau2 * math.exp(shift))
    if not sigma2 <= priors.largest_ratio * apart:
        return False
    factor = math.exp(-2.0 * stretch)
    phi_apart, phi_together = chain.phi.copy(), chain.phi.copy()
    for k in range(chain.phi.size):
        if splits:
            phi_apart[k] *= factor
        else:
            phi_together[k] /= factor
    log_ratio = 0.0
    if stretch > 0.0:
        log_ratio = lengthscales_log_prior(phi_apart, priors) - lengthscales_log_prior(phi_together, priors)
        if not abs(log_ratio) < np.inf:  # beyond the prior; the state itself never is
            return False

    r = residual(setting, chain)
    first, second, a_at, b_at = labels[i], labels[j], i, j
    pool, rest, m = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    for k in range(n):
        if labels[k] == first or labels[k] == second:
            a_at, b_at = (m if k == i else a_at), (m if k == j else b_at)
            pool[m] = k
            m += 1
        else:
            rest[k - m] = k
    pool, rest = pool[:m], rest[: n - m]
    cov, r_pool, noise = np.empty((m, m)), entries(r, pool), entries(setting.noise, pool)
    x_pool = rows(setting.x, pool)
    fill_covariance(setting.kernel, x_pool, phi_apart, sigma2, cov)
    order = outward(cov, a_at, b_at)
    sides, forced = np.empty(m, dtype=np.int64), np.empty(0 if splits else m, dtype=np.int64)
    for p in range(forced.size):
        forced[p] = labels[pool[order[p]]] == second
    log_q, evidence = grow(
        order, forced, uniforms[:m], r_pool, cov, apart, noise, setting.shape, x_pool, setting.local, sides
    )
    log_ratio += evidence
    if stretch > 0.0:
        fill_covariance(setting.kernel, x_pool, phi_together, sigma2, cov)
    whole = np.array([0, m])
    log_ratio -= blocks_log_evidence(cov.reshape(m * m), r_pool, noise, whole, 1.0, together, setting.shape)
    m_j, sums, squares = 0, np.zeros(x_pool.shape[1]), np.zeros(x_pool.shape[1])
    for p in range(m):
        m_j += sides[p]
        move(sums, squares, x_pool[p], 1.0)
    log_ratio -= log_cohesion(m, sums, squares, setting.local)
    log_ratio += math.log(nu) + math.lgamma(m_j) + math.lgamma(m - m_j) - math.lgamma(m)  # urn
    if (shift > 0.0 or stretch > 0.0) and m < n:
        by_label, starts = group_order(entries(labels, rest))
        others = entries(rest, by_label)
        rho, r_others, noise = np.empty(cells(starts)), entries(r, others), entries(setting.noise, others)
        x_others = rows(setting.x, others)
        for sign, level, phi in ((1.0, apart, phi_apart), (-1.0, together, phi_together)):
            if sign > 0.0 or stretch > 0.0:
                fill_blocks(setting.kernel, x_others, starts, phi, rho)
            log_ratio += sign * blocks_log_evidence(rho, r_others, noise, starts, sigma2, level, setting.shape)
    if shift > 0.0:
        a, b = priors.variances[1]
        # The inverse gamma in log τ², in which the step is taken: a density of τ² times τ².
        log_ratio += a * shift - b * (1.0 / apart - 1.0 / together)
    log_ratio -= log_q

    if not threshold < (log_ratio if splits else -log_ratio):
        return False
    target = n if splits else first
    for p in range(m):
        if sides[p] == 1:
            labels[pool[order[p]]] = target
    relabel(labels)
    chain.scales[1] = apart if splits else together
    for k in range(chain.phi.size):
        chain.phi[k] = phi_apart[k] if splits else phi_together[k]
    return True
