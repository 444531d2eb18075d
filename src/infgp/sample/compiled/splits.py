"""Splits and mergers: anchors, sequential allocation to two surfaces, the Metropolis–Hastings ratio.

What runs once in a proposal is plain Python around compiled loops: compiled, it would take seconds more on a new
machine, and save a few hundredths of a millisecond a proposal.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from infgp.core.jit import jit
from infgp.core.odds import log_tilt
from infgp.core.places import log_cohesion
from infgp.core.state import FLAT
from infgp.sample.compiled.chain import MutableState, PriorNumbers, Setting, group_order, relabel, residual
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
#: The largest number in double precision.
LARGEST = float(np.finfo(np.float64).max)


def edges_within(near: Any, pool: Any) -> Any:
    """Neighbours of the observations in `pool`, as positions in it; OUTSIDE for neighbours that are not in `pool`."""
    spot = np.full(near.shape[0] + 1, OUTSIDE, dtype=np.int64)
    spot[pool] = np.arange(pool.size)
    spot[-1] = -1  # what fills up the rows of `near`
    return spot[near[pool]]


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
    sizes, cuts, joined = np.empty(2, dtype=np.int64), np.empty(2, dtype=np.int64), np.empty(2, dtype=np.int64)
    quadratic, log_det, variance, gap, log_p = np.empty(2), np.empty(2), np.empty(2), np.empty(2), np.empty(2)
    side_of, log_q = np.empty(m, dtype=np.int64), 0.0
    for s in range(2):
        sizes[s], cuts[s], quadratic[s], log_det[s] = 0, 0, 0.0, 0.0
    for p in range(m):
        side_of[p] = -1
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
            variance[s] = C[s, i, i] + least - extend(k[s], factors[s], sizes[s], w[s])
            if least > variance[s]:
                variance[s] = least
            gap[s] = r[i] - dot(w[s], u[s], sizes[s])
            if p >= 2:
                log_p[s] = log_predictive(gap[s], variance[s], sizes[s], quadratic[s], shape)
                log_p[s] += 2.0 * places.price * joined[s] if spatial else math.log(sizes[s])
        if p < 2:
            side = p
        else:
            top = log_p[1] if log_p[1] > log_p[0] else log_p[0]
            norm = top + math.log(math.exp(log_p[0] - top) + math.exp(log_p[1] - top))
            side = 1 if uniforms[p] > math.exp(log_p[0] - norm) else 0
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
def outward(x: Any, phi: Any, pool: Any, i: int, j: int) -> Any:
    """The rows of the anchors i and j, then all other rows in the order of their distance from the nearer anchor.

    The rows of x are the inputs of the observations `pool`.
    """
    distance, order, a, b = np.empty(pool.size), np.empty(pool.size, dtype=np.int64), 0, 0
    for k in range(pool.size):
        order[k] = k
        if pool[k] == i:
            a = k
        if pool[k] == j:
            b = k
    for k in range(distance.size):
        to_a, to_b = 0.0, 0.0
        for c in range(x.shape[1]):
            to_a += phi[c] * (x[k, c] - x[a, c]) ** 2
            to_b += phi[c] * (x[k, c] - x[b, c]) ** 2
        distance[k] = to_b if to_b < to_a else to_a
    distance[a], distance[b] = -np.inf, -LARGEST
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


def rest_log_evidence(
    setting: Setting, chain: MutableState, r: Any, rest: Any, here: tuple[float, Any], there: tuple[float, Any]
) -> float:
    """Log evidence of the surfaces of the observations `rest` with (τ², φ) `here`, less that with (τ², φ) `there`."""
    by_label, starts = group_order(chain.labels[rest])
    others = rest[by_label]
    x, grade, noise, r = setting.x[others], chain.grade[others], setting.noise[others], r[others]
    sizes, sigma2 = np.diff(starts), float(chain.scales[0])
    rho, values = np.empty(int(sizes @ sizes)), []
    for tau2, phi in (here, there):
        fill_blocks(setting.kernel, x, grade, starts, phi, rho)
        values.append(blocks_log_evidence(rho, r, noise, starts, sigma2, tau2, setting.shape))
    return float(values[0] - values[1])


def log_seats(second: int, size: int) -> float:
    """Log weight of the urn for two surfaces of `size` members, `second` of them on the second, without their ν."""
    return math.lgamma(second) + math.lgamma(size - second)


def crowded(sides: Any, first: int, second: int, most: int) -> bool:
    """Whether one of two surfaces, of the grades `first` and `second`, is flat and has more than `most` members."""
    size = int(sides.sum())
    return (first == FLAT and sides.size - size > most) or (second == FLAT and size > most)


def relabelled(labels: Any, members: Any, sides: Any, first: int, second: int) -> Any:
    """The labels with those of the observations `members` changed to `first` or `second`, by their side."""
    out = labels.copy()
    out[members] = np.where(sides == 1, second, first)
    return out


class Pool(NamedTuple):
    """The observations on the surfaces of two anchors, and what a proposal needs of them.

    who, rest : the observations on either surface, and all others, both ascending
    order : positions in `who`, see :func:`outward`
    r, noise, x : residuals, known noise and inputs;  edges : see :func:`edges_within`
    """

    who: Any
    rest: Any
    order: Any
    r: Any
    noise: Any
    x: Any
    edges: Any


def pool_of(setting: Setting, chain: MutableState, r: Any, i: int, j: int, phi: Any) -> Pool:
    """The pool of the anchors i and j, with distances as φ has them."""
    inside = (chain.labels == chain.labels[i]) | (chain.labels == chain.labels[j])
    who, x = np.flatnonzero(inside), setting.x[inside]
    order, edges = outward(x, phi, who, i, j), edges_within(setting.places.near, who)
    return Pool(who, np.flatnonzero(~inside), order, r[inside], setting.noise[inside], x, edges)


def grown(
    setting: Setting, pool: Pool, forced: Any, uniforms: Any, cov: Any, tau2: float, spatial: bool, sides: Any
) -> tuple[float, float]:
    """:func:`grow` for a pool."""
    log_q, evidence = grow(
        pool.order, forced, uniforms, pool.r, cov, tau2, pool.noise, setting.shape,
        pool.edges, setting.places, setting.local, spatial, sides,
    )  # fmt: skip
    return log_q, evidence


def split_or_merge(
    setting: Setting,
    chain: MutableState,
    priors: PriorNumbers,
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
    sigma2, tau2, nu = chain.scales.tolist()
    first, second = int(labels[i]), int(labels[j])
    splits = first == second
    apart, together = (tau2 * math.exp(-shift), tau2) if splits else (tau2, tau2 * math.exp(shift))
    if not sigma2 <= priors.largest_ratio * apart:
        return False
    factor = math.exp(-2.0 * stretch)
    phi_apart, phi_together = (chain.phi * factor, chain.phi) if splits else (chain.phi, chain.phi / factor)
    log_ratio = 0.0
    if stretch > 0.0:
        log_ratio = lengthscales_log_prior(phi_apart, priors) - lengthscales_log_prior(phi_together, priors)
        if not abs(log_ratio) < np.inf:  # beyond the prior; the state itself never is
            return False
    kept, other = int(chain.grade[i]), fresh if splits else int(chain.grade[j])
    r = residual(setting.y, setting.h, chain.beta)
    pool = pool_of(setting, chain, r, i, j, phi_apart)
    m = pool.who.size
    if kept == FLAT and m > setting.most:
        return False
    cov = np.empty((2, m, m))
    fill_covariance(setting.kernel, kept, pool.x, phi_apart, sigma2, cov[0])
    if other == kept:
        cov[1] = cov[0]
    else:
        fill_covariance(setting.kernel, other, pool.x, phi_apart, sigma2, cov[1])
    members, sides = pool.who[pool.order], np.empty(m, dtype=np.int64)
    forced = np.empty(0, dtype=np.int64) if splits else (labels[members] == second).astype(np.int64)
    log_q, evidence = grown(setting, pool, forced, uniforms[:m], cov, apart, spatial, sides)
    if crowded(sides, kept, other, setting.most):
        return False
    log_ratio += evidence
    if stretch > 0.0:
        fill_covariance(setting.kernel, kept, pool.x, phi_together, sigma2, cov[0])
    whole = np.array([0, m])
    log_ratio -= blocks_log_evidence(cov[0].reshape(-1), pool.r, pool.noise, whole, 1.0, together, setting.shape)
    cut = int(np.count_nonzero(pool.edges == OUTSIDE))
    log_ratio -= log_cohesion(m, cut, setting.places, setting.local)
    log_ratio += math.log(nu) + log_seats(int(sides.sum()), m) - math.lgamma(m)  # urn
    if (shift > 0.0 or stretch > 0.0) and m < n:
        log_ratio += rest_log_evidence(setting, chain, r, pool.rest, (apart, phi_apart), (together, phi_together))
    if shift > 0.0:
        a, b = priors.variances[1].tolist()
        # The inverse gamma in log τ², in which the step is taken: a density of τ² times τ².
        log_ratio += a * shift - b * (1.0 / apart - 1.0 / together)
    log_ratio -= log_q
    if setting.odds.follow.shape[0] > 0:
        beside = relabelled(labels, members, sides, first, n if splits else second)
        relabel(beside)
        log_ratio += log_tilt(beside, setting.odds)
        log_ratio -= log_tilt(relabelled(labels, members, sides, first, first), setting.odds)

    if not threshold < (log_ratio if splits else -log_ratio):
        return False
    moved = members[sides == 1]
    labels[moved] = n if splits else first
    chain.grade[moved] = other if splits else kept
    relabel(labels)
    chain.scales[1] = apart if splits else together
    chain.phi[:] = phi_apart if splits else phi_together
    return True


def reallocate(
    setting: Setting,
    chain: MutableState,
    priors: PriorNumbers,
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
    first, second = int(labels[i]), int(labels[j])
    sigma2, tau2, _ = chain.scales.tolist()
    moved = tau2 * math.exp(shift)
    if first == second or not sigma2 <= priors.largest_ratio * moved:
        return False
    r = residual(setting.y, setting.h, chain.beta)
    pool = pool_of(setting, chain, r, i, j, chain.phi)
    m = pool.who.size
    cov, kept, other = np.empty((2, m, m)), int(chain.grade[i]), int(chain.grade[j])
    fill_covariance(setting.kernel, kept, pool.x, chain.phi, sigma2, cov[0])
    fill_covariance(setting.kernel, other, pool.x, chain.phi, sigma2, cov[1])
    members, sides, free = pool.who[pool.order], np.empty(m, dtype=np.int64), np.empty(0, dtype=np.int64)
    now = (labels[members] == second).astype(np.int64)
    log_q, evidence = grown(setting, pool, free, uniforms[:m], cov, moved, spatial, sides)
    if crowded(sides, kept, other, setting.most):
        return False
    log_ratio = evidence + log_seats(int(sides.sum()), m) - log_q
    log_q, evidence = grown(setting, pool, now, uniforms[:m], cov, tau2, spatial_back, now)
    log_ratio -= evidence + log_seats(int(now.sum()), m) - log_q
    if shift != 0.0:
        a, b = priors.variances[1].tolist()
        log_ratio -= a * shift + b * (1.0 / moved - 1.0 / tau2)  # the inverse gamma in log τ², as in split_or_merge
        if m < n:
            log_ratio += rest_log_evidence(setting, chain, r, pool.rest, (moved, chain.phi), (tau2, chain.phi))
    if setting.odds.follow.shape[0] > 0:
        log_ratio += log_tilt(relabelled(labels, members, sides, first, second), setting.odds)
        log_ratio -= log_tilt(labels, setting.odds)
    if not threshold < log_ratio:
        return False
    labels[members] = np.where(sides == 1, second, first)
    chain.grade[members] = np.where(sides == 1, other, kept)
    relabel(labels)
    chain.scales[1] = moved
    return True
