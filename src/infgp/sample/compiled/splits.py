"""Splits and mergers: anchors, sequential allocation to two surfaces, the Metropolis–Hastings ratio."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infgp.core.jit import jit
from infgp.core.model import FLAT
from infgp.core.odds import log_tilt
from infgp.core.places import log_cohesion
from infgp.sample.compiled.chain import cells, entries, group_order, relabel, residual, rows
from infgp.sample.compiled.densities import (
    blocks_log_evidence,
    dot,
    fill_blocks,
    fill_covariance,
    log_evidence,
    log_predictive,
)
from infgp.sample.compiled.scales import lengthscale_log_prior

#: Stands for a neighbour that is on neither of the two surfaces.
OUTSIDE = -2


@jit()
def edges_within(near: Any, pool: Any) -> Any:
    """Neighbours of the observations in `pool`, as positions in it; OUTSIDE for neighbours that are not in `pool`."""
    spot = np.full(near.shape[0], OUTSIDE, dtype=np.int64)
    for p in range(pool.size):
        spot[pool[p]] = p
    edges = np.empty((pool.size, near.shape[1]), dtype=np.int64)
    for p in range(pool.size):
        for q in range(near.shape[1]):
            j = near[pool[p], q]
            edges[p, q] = spot[j] if j >= 0 else -1
    return edges


@jit()
def extend(k: Any, factor: Any, size: int, w: Any) -> float:
    """Forward substitution w = C⁻¹ k with the first rows of a Cholesky factor; returns wᵀw."""
    total = 0.0
    for a in range(size):
        w[a] = (k[a] - dot(factor[a], w, a)) / factor[a, a]
        total += w[a] * w[a]
    return total


@jit()
def grow(
    order: Any,
    forced: Any,
    uniforms: Any,
    r: Any,
    C: Any,  # noqa: N803
    tau2: float,
    noise: Any,
    shape: float,
    edges: Any,
    places: Any,
    local: float,
    spatial: bool,
    sides: Any,
) -> tuple[float, float]:
    """Allocate observations, in `order`, to two surfaces: the first begins one surface, the second the other.

    Each observation goes to side s with probability ∝ its predictive density from the members of s so far, times a
    factor: the number of those members or, if `spatial`, what the observation's edges to them are worth. C has the
    covariance for either side, shape (2, m, m); `edges` has the neighbours of each observation, −1 for none and OUTSIDE
    for a neighbour that is not to be allocated. Where `forced` is not empty it gives the sides, and only their
    probability is computed.

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
    quadratic, log_det, cuts = np.zeros(2), np.zeros(2), np.zeros(2, dtype=np.int64)
    variance, gap, log_p = np.empty(2), np.empty(2), np.empty(2)
    side_of, joined = np.full(m, -1, dtype=np.int64), np.zeros(2, dtype=np.int64)
    log_q = 0.0
    for p in range(m):
        i = order[p]
        least = tau2 + noise[i]
        joined[0], joined[1], degree = 0, 0, 0
        for q in range(edges.shape[1]):
            j = edges[i, q]
            degree += j != -1
            if j >= 0 and side_of[j] >= 0:
                joined[side_of[j]] += 1
        for s in range(2):
            for a in range(sizes[s]):
                k[s, a] = C[s, i, who[s, a]]
            variance[s] = max(C[s, i, i] + least - extend(k[s], factors[s], sizes[s], w[s]), least)
            gap[s] = r[i] - dot(w[s], u[s], sizes[s])
            if p >= 2:
                log_p[s] = log_predictive(gap[s], variance[s], sizes[s], quadratic[s], shape)
                log_p[s] += 2.0 * places.price * joined[s] if spatial else math.log(sizes[s])
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
        side_of[i] = side
        cuts[side] += degree - 2 * joined[side]
    evidence = 0.0
    for s in range(2):
        evidence += log_evidence(sizes[s], quadratic[s], log_det[s], shape)
        evidence += log_cohesion(sizes[s], cuts[s], places, local)
    return log_q, evidence


@jit()
def outward(x: Any, phi: Any, a: int, b: int) -> Any:
    """The anchors a and b, then all other rows in the order of their distance from the nearer anchor."""
    distance = np.empty(x.shape[0])
    for k in range(distance.size):
        to_a, to_b = 0.0, 0.0
        for c in range(x.shape[1]):
            to_a += phi[c] * (x[k, c] - x[a, c]) ** 2
            to_b += phi[c] * (x[k, c] - x[b, c]) ** 2
        distance[k] = min(to_a, to_b)
    distance[a], distance[b] = -np.inf, -np.finfo(np.float64).max
    order = np.arange(distance.size)
    for k in range(1, order.size):  # insertion sort: NumPy's takes longer to compile than this to run
        item = order[k]
        while k > 0 and distance[order[k - 1]] > distance[item]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = item
    return order


@jit()
def lengthscales_log_prior(phi: Any, priors: Any) -> float:
    """Log density of the length-scales, in log ℓ, up to a constant."""
    total = 0.0
    for k in range(priors.lengthscales):
        total += lengthscale_log_prior(-0.5 * math.log(2.0 * phi[k]), priors.lengthscale)
    return total


@jit()
def apart_from_rest(labels: Any, first: int, second: int) -> Any:
    """Observations with one of two labels, and observations with neither, both ascending."""
    pool, rest, m = np.empty(labels.size, dtype=np.int64), np.empty(labels.size, dtype=np.int64), 0
    for k in range(labels.size):
        if labels[k] == first or labels[k] == second:
            pool[m] = k
            m += 1
        else:
            rest[k - m] = k
    return pool[:m], rest[: labels.size - m]


@jit()
def rest_log_evidence(setting: Any, chain: Any, r: Any, rest: Any, tau2: float, phi: Any) -> float:
    """Log evidence of the surfaces of the observations `rest`, with another noise variance and length-scales."""
    by_label, starts = group_order(entries(chain.labels, rest))
    others = entries(rest, by_label)
    rho, noise, grade = np.empty(cells(starts)), entries(setting.noise, others), entries(chain.grade, others)
    fill_blocks(setting.kernel, rows(setting.x, others), grade, starts, phi, rho)
    value: float = blocks_log_evidence(rho, entries(r, others), noise, starts, chain.scales[0], tau2, setting.shape)
    return value


@jit()
def log_seats(sides: Any) -> float:
    """Log weight of the urn for the sizes of two surfaces, without their ν: log Γ(m₀) Γ(m₁)."""
    second = 0
    for side in sides:
        second += side
    return math.lgamma(second) + math.lgamma(sides.size - second)


@jit()
def crowded(sides: Any, first: int, second: int, most: int) -> bool:
    """Whether one of two surfaces, of the grades `first` and `second`, is flat and has more than `most` members."""
    size = 0
    for side in sides:
        size += side
    return (first == FLAT and sides.size - size > most) or (second == FLAT and size > most)


@jit()
def relabelled(labels: Any, pool: Any, order: Any, sides: Any, first: int, second: int) -> Any:
    """The labels with those of the observations `pool` changed to `first` or `second`, by their side in `order`."""
    out = labels.copy()
    for p in range(order.size):
        out[pool[order[p]]] = second if sides[p] == 1 else first
    return out


@jit()
def split_or_merge(
    setting: Any,
    chain: Any,
    priors: Any,
    i: int,
    j: int,
    shift: float,
    stretch: float,
    spatial: bool,
    fresh: int,
    uniforms: Any,
    threshold: float,
) -> bool:
    """Propose a split or a merger, accept it or not; returns whether it was accepted.

    i, j : the anchors;  shift, stretch : steps of log τ² and log ℓ;  spatial : see :func:`grow`
    fresh : grade of the second surface of a split, from its prior; a merger keeps the first one's
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
    first, second = labels[i], labels[j]
    pool, rest = apart_from_rest(labels, first, second)
    m = pool.size
    cov, r_pool, noise = np.empty((2, m, m)), entries(r, pool), entries(setting.noise, pool)
    x_pool = rows(setting.x, pool)
    kept, other = chain.grade[i], (fresh if splits else chain.grade[j])
    if kept == FLAT and m > setting.most:
        return False
    fill_covariance(setting.kernel, kept, x_pool, phi_apart, sigma2, cov[0])
    if other == kept:
        cov[1] = cov[0]
    else:
        fill_covariance(setting.kernel, other, x_pool, phi_apart, sigma2, cov[1])
    order = outward(x_pool, phi_apart, int(np.searchsorted(pool, i)), int(np.searchsorted(pool, j)))
    sides, forced = np.empty(m, dtype=np.int64), np.empty(0 if splits else m, dtype=np.int64)
    for p in range(forced.size):
        forced[p] = labels[pool[order[p]]] == second
    edges = edges_within(setting.places.near, pool)
    log_q, evidence = grow(
        order, forced, uniforms[:m], r_pool, cov, apart, noise, setting.shape,
        edges, setting.places, setting.local, spatial, sides,
    )  # fmt: skip
    if crowded(sides, kept, other, setting.most):
        return False
    log_ratio += evidence
    if stretch > 0.0:
        fill_covariance(setting.kernel, kept, x_pool, phi_together, sigma2, cov[0])
    whole = np.array([0, m])
    log_ratio -= blocks_log_evidence(cov[0].reshape(m * m), r_pool, noise, whole, 1.0, together, setting.shape)
    cut = 0
    for p in range(m):
        for q in range(edges.shape[1]):
            cut += edges[p, q] == OUTSIDE
    log_ratio -= log_cohesion(m, cut, setting.places, setting.local)
    log_ratio += math.log(nu) + log_seats(sides) - math.lgamma(m)  # urn
    if (shift > 0.0 or stretch > 0.0) and m < n:
        log_ratio += rest_log_evidence(setting, chain, r, rest, apart, phi_apart)
        log_ratio -= rest_log_evidence(setting, chain, r, rest, together, phi_together)
    if shift > 0.0:
        a, b = priors.variances[1]
        # The inverse gamma in log τ², in which the step is taken: a density of τ² times τ².
        log_ratio += a * shift - b * (1.0 / apart - 1.0 / together)
    log_ratio -= log_q
    if setting.odds.follow.shape[0] > 0:
        beside = relabelled(labels, pool, order, sides, first, n if splits else second)
        relabel(beside)
        log_ratio += log_tilt(beside, setting.odds)
        log_ratio -= log_tilt(relabelled(labels, pool, order, np.zeros_like(sides), first, first), setting.odds)

    if not threshold < (log_ratio if splits else -log_ratio):
        return False
    joins = n if splits else first
    for p in range(m):
        if sides[p] == 1:
            labels[pool[order[p]]] = joins
            chain.grade[pool[order[p]]] = other if splits else kept
    relabel(labels)
    chain.scales[1] = apart if splits else together
    for k in range(chain.phi.size):
        chain.phi[k] = phi_apart[k] if splits else phi_together[k]
    return True


@jit()
def reallocate(
    setting: Any,
    chain: Any,
    priors: Any,
    i: int,
    j: int,
    shift: float,
    spatial: bool,
    spatial_back: bool,
    uniforms: Any,
    threshold: float,
) -> bool:
    """Propose to allocate the members of two surfaces to them anew, accept it or not; returns whether it was accepted.

    i, j : the anchors, which stay on their surfaces; nothing happens if both are on the same surface
    shift : step of log τ², of either sign
    spatial, spatial_back : see :func:`grow`; how the sides are proposed, and how they would be on the way back
    uniforms, threshold : random numbers, for the allocation and (negative exponential) for the decision
    """
    labels, n = chain.labels, chain.labels.size
    first, second = labels[i], labels[j]
    sigma2, tau2, _ = chain.scales
    moved = tau2 * math.exp(shift)
    if first == second or not sigma2 <= priors.largest_ratio * moved:
        return False
    r = residual(setting, chain)
    pool, rest = apart_from_rest(labels, first, second)
    m = pool.size
    cov, r_pool, noise = np.empty((2, m, m)), entries(r, pool), entries(setting.noise, pool)
    x_pool = rows(setting.x, pool)
    kept, other = chain.grade[i], chain.grade[j]
    fill_covariance(setting.kernel, kept, x_pool, chain.phi, sigma2, cov[0])
    fill_covariance(setting.kernel, other, x_pool, chain.phi, sigma2, cov[1])
    order = outward(x_pool, chain.phi, int(np.searchsorted(pool, i)), int(np.searchsorted(pool, j)))
    edges = edges_within(setting.places.near, pool)
    now, sides, free = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64), np.empty(0, dtype=np.int64)
    for p in range(m):
        now[p] = labels[pool[order[p]]] == second
    log_q, evidence = grow(
        order, free, uniforms[:m], r_pool, cov, moved, noise, setting.shape,
        edges, setting.places, setting.local, spatial, sides,
    )  # fmt: skip
    if crowded(sides, kept, other, setting.most):
        return False
    log_ratio = evidence + log_seats(sides) - log_q
    log_q, evidence = grow(
        order, now, uniforms[:m], r_pool, cov, tau2, noise, setting.shape,
        edges, setting.places, setting.local, spatial_back, now,
    )  # fmt: skip
    log_ratio -= evidence + log_seats(now) - log_q
    if shift != 0.0:
        a, b = priors.variances[1]
        log_ratio -= a * shift + b * (1.0 / moved - 1.0 / tau2)  # the inverse gamma in log τ², as in split_or_merge
        if m < n:
            log_ratio += rest_log_evidence(setting, chain, r, rest, moved, chain.phi)
            log_ratio -= rest_log_evidence(setting, chain, r, rest, tau2, chain.phi)
    if setting.odds.follow.shape[0] > 0:
        log_ratio += log_tilt(relabelled(labels, pool, order, sides, first, second), setting.odds)
        log_ratio -= log_tilt(labels, setting.odds)
    if not threshold < log_ratio:
        return False
    for p in range(m):
        labels[pool[order[p]]] = second if sides[p] == 1 else first
        chain.grade[pool[order[p]]] = other if sides[p] == 1 else kept
    relabel(labels)
    chain.scales[1] = moved
    return True
