"""Other ways to split and merge, exact like the one shipped, for `benchmarks.split_merge_variants` to compare.

:func:`scanned` makes a stand-in for ``compiled.split_or_merge`` (restricted Gibbs scans, Jain & Neal 2004),
:func:`anchors` one for ``split_merge.anchor_pair``, and :func:`paired` a move of its own (smart–dumb and dumb–smart,
Wang & Russell 2015).
"""

from __future__ import annotations

import math
from dataclasses import replace
from types import FunctionType

import numpy as np
from numba import njit

from infgp.core.partition import canonical
from infgp.core.priors import InverseGamma
from infgp.sample import compiled
from infgp.sample.compiled import splits
from infgp.sample.compiled.densities import blocks_log_evidence, log_predictive
from infgp.sample.compiled.labels import add_point, gather, remove_point, seat, variance_reduction
from infgp.sample.moves import split_merge
from infgp.sample.moves.collapsed import CONDITION_LIMIT, KERNEL_CODE


@njit(cache=True)
def restricted_scan(order, sides, forced, uniforms, r, C, tau2, noise, shape):  # noqa: N803
    """Redraw all sides but the anchors' in turn, each given all others; `sides` and `forced` go with `order`.

    Returns the log probability of what was drawn or, where `forced` is not empty, of arriving there.
    """
    m = order.size
    G, alpha = np.zeros((m, m)), np.zeros(m)  # noqa: N806
    members, counts = np.zeros((2, m), dtype=np.int32), np.zeros(2, dtype=np.int64)
    where, quadratics, v = np.zeros(m, dtype=np.int64), np.zeros(2), np.zeros(m)
    by_side = order[np.argsort(sides, kind="mergesort")]
    starts = np.array([0, m - sides.sum(), m])
    grade = np.zeros(m, dtype=np.int64)
    seat(by_side, starts, m, grade, C, tau2, noise, r, G, alpha, members, counts, where, quadratics)
    log_p, log_q = np.empty(2), 0.0
    for p in range(2, m):
        i, own = order[p], sides[p]
        k, other = C[0, i], 1 - own
        gap = alpha[i] / G[i, i]
        left = quadratics[own] - alpha[i] * gap
        log_p[own] = math.log(counts[own] - 1.0) + log_predictive(gap, 1.0 / G[i, i], counts[own] - 1, left, shape)
        away, size = r[i], counts[other]
        for a in range(size):
            away -= k[members[other, a]] * alpha[members[other, a]]
        least = tau2 + noise[i]
        variance = max(k[i] + least - variance_reduction(k, G, members[other], size), least)
        log_p[other] = math.log(size) + log_predictive(away, variance, size, quadratics[other], shape)
        norm = max(log_p[0], log_p[1]) + math.log1p(math.exp(-abs(log_p[0] - log_p[1])))
        side = forced[p] if forced.size > 0 else int(uniforms[p] > math.exp(log_p[0] - norm))
        log_q += log_p[side] - norm
        if side != own:
            remove_point(i, own, G, alpha, members, counts, where, v)
            add_point(i, other, r[i], k[i] + least, k, G, alpha, members, counts, where, v)
            v[:] = 0.0
            quadratics[own] = left
            quadratics[other] += away * away / variance
            sides[p] = side
    return log_q


def scanned(scans, grown=True, seed=0):
    """Launch state by sequential allocation or at random, `scans` restricted Gibbs scans, and the one that counts.

    The launch state is built afresh for splits and mergers alike, from the anchors, the pool and the τ² that goes with
    the split, so that its distribution is the same in both directions and cancels. All else is the shipped move,
    compiled anew with this `grow`, whose random numbers have one column for the launch state and one for each scan.
    For the paper's model only: no places, and one length-scale for all surfaces.
    """

    @njit
    def grow(order, forced, uniforms, r, C, tau2, noise, shape, edges, places, local, spatial, sides):  # noqa: N803
        draws, free = np.ascontiguousarray(uniforms.T), np.empty(0, dtype=np.int64)
        if grown:
            splits.grow(order, free, draws[0], r, C, tau2, noise, shape, edges, places, local, spatial, sides)
        else:
            sides[:] = draws[0] < 0.5
            sides[0], sides[1] = 0, 1
        for k in range(scans):
            restricted_scan(order, sides, free, draws[k + 1], r, C, tau2, noise, shape)
        log_q = restricted_scan(order, sides, forced, draws[scans + 1], r, C, tau2, noise, shape)
        both = (order[sides == 0], order[sides == 1])
        return log_q, evidence(both[0], r, C[0], tau2, noise, shape) + evidence(both[1], r, C[0], tau2, noise, shape)

    extra = np.random.default_rng(seed)
    whole = njit(FunctionType(splits.split_or_merge.py_func.__code__, {**vars(splits), "grow": grow}))

    def split_or_merge(setting, chain, priors, i, j, shift, stretch, spatial, fresh, uniforms, threshold):
        draws = extra.random((uniforms.size, scans + 2))
        return whole(setting, chain, priors, i, j, shift, stretch, spatial, fresh, draws, threshold)

    return split_or_merge


@njit(cache=True)
def evidence(s, r, C, tau2, noise, shape):  # noqa: N803
    """Log evidence of one surface with members `s`."""
    block = gather(C, s, 0.0, np.zeros(r.size)).reshape(s.size * s.size)
    return blocks_log_evidence(block, r[s], noise[s], np.array([0, s.size]), 1.0, tau2, shape)


@njit(cache=True)
def evidences(order, starts, r, C, tau2, noise, shape):  # noqa: N803
    """Log evidence of each surface."""
    out = np.empty(starts.size - 1)
    for k in range(out.size):
        out[k] = evidence(order[starts[k] : starts[k + 1]], r, C, tau2, noise, shape)
    return out


def anchors(weight):
    """Second anchor by `weight`, a function of the distances of all others (ascending) and d."""

    def anchor_pair(rng, x):
        i = int(rng.integers(x.shape[0]))
        distance = np.sqrt(np.square(x - x[i]).sum(axis=1))
        distance[i] = -1.0
        order = np.argsort(distance)[1:]
        running = np.cumsum(weight(distance[order], x.shape[1]))
        return i, int(order[np.searchsorted(running, rng.random() * running[-1], side="right")])

    return anchor_pair


@njit(cache=True)
def merger_weights(order, starts, r, C, tau2, noise, shape):  # noqa: N803
    """Log evidence of each surface, and log of urn times evidence of each pair merged over that of the pair apart."""
    own = evidences(order, starts, r, C, tau2, noise, shape)
    pairs = np.full((own.size, own.size), -np.inf)
    for k in range(own.size):
        s = order[starts[k] : starts[k + 1]]
        for j in range(k):
            both = np.concatenate((s, order[starts[j] : starts[j + 1]]))
            pairs[k, j] = evidence(both, r, C, tau2, noise, shape) - own[k] - own[j]
            m_j = starts[j + 1] - starts[j]
            pairs[k, j] += math.lgamma(both.size) - math.lgamma(s.size) - math.lgamma(m_j)
    return own, pairs


def coin(rng, values):
    """Each member to either side by the toss of a coin, until neither is empty."""
    sides = rng.integers(2, size=len(values))
    return sides if 0 < sides.sum() < len(values) else coin(rng, values)


def coin_log_q(values, sides):
    return -math.log(2.0 ** (len(values) - 1) - 1.0)


def cut(rng, values):
    """Below and above a random cut along a random column of `values` (the inputs and the residual)."""
    order = np.argsort(values[:, rng.integers(values.shape[1])], kind="stable")
    sides = np.zeros(len(values), dtype=np.int64)
    sides[order[rng.integers(1, len(values)) :]] = 1
    return sides


def cut_log_q(values, sides):
    """From the number of columns along which the sides lie apart."""
    sorted_sides = sides[np.argsort(values, axis=0, kind="stable")]
    ways = np.sum(np.abs(np.diff(sorted_sides, axis=0)).sum(axis=0) == 1)
    return math.log(ways / (values.shape[1] * (len(values) - 1))) if ways else -np.inf


def dumb_smart(rng, state, data, model, draw, log_q):
    """Split a random surface blindly, or merge a pair chosen in proportion to the posterior of the merger.

    With z' the state that has the pair apart, z the one that has it merged, and S surfaces of z that can be split,

        split ratio = π(z') / π(z) · P(pair | z') / (P(sides) / S),

    and a merger is accepted by its inverse. P(pair | z') takes τ² to be that of z, so that its weights are ratios of π.
    """
    labels, tau2, prior, shift = state.labels, float(state.tau2[0]), model.priors.tau2, 0.0
    if isinstance(prior, InverseGamma) and rng.random() < split_merge.SHIFT:
        shift = split_merge.SHIFT_MEAN * float(rng.standard_exponential())
    split = rng.random() < 0.5
    apart, together = (tau2 * np.exp(-shift), tau2) if split else (tau2, tau2 * np.exp(shift))
    sigma2, r = float(state.sigma2[0]), data.y - data.h @ state.beta
    sizes = np.bincount(labels)
    can = np.flatnonzero(sizes > 1)
    if not r.size * sigma2 <= CONDITION_LIMIT * apart or (can.size if split else sizes.size - 1) == 0:
        return state
    columns = np.column_stack((data.x, r))
    if split:
        a, b = int(rng.choice(can)), sizes.size
        pool = np.flatnonzero(labels == a)
        sides, labels = draw(rng, columns[pool]), labels.copy()
        labels[pool[sides == 1]] = b
    cov = np.empty((r.size, r.size))
    compiled.fill_covariance(KERNEL_CODE[model.kernel], data.x, state.phi[0], sigma2, cov)
    groups = compiled.group_order(labels)
    own, pairs = merger_weights(*groups, r, cov, together, data.noise, model.scale_shape)
    log_chance = pairs - np.logaddexp.reduce(pairs, axis=None)
    splittable = can.size
    if not split:
        b, a = divmod(int(np.argmax(log_chance - np.log(rng.standard_exponential(pairs.shape)))), own.size)
        pool = np.flatnonzero((labels == a) | (labels == b))
        sides = (labels[pool] == b).astype(np.int64)
        splittable += 1 - int(sizes[a] > 1) - int(sizes[b] > 1)
    log_ratio = math.log(state.nu) - pairs[b, a] + log_chance[b, a]
    log_ratio += math.log(splittable) - log_q(columns[pool], sides)
    if shift:
        log_ratio += evidences(*groups, r, cov, apart, data.noise, model.scale_shape).sum() - own.sum()
        log_ratio += prior.logpdf(apart) - prior.logpdf(together) - shift
    if not -rng.standard_exponential() < (log_ratio if split else -log_ratio):
        return state
    if not split:
        labels = np.where(labels == b, a, labels)
    return replace(state, labels=canonical(labels), tau2=np.array([apart if split else together]))


def paired(draw, log_q):
    """The shipped move (smart splits, blind mergers) and :func:`dumb_smart`, by the toss of a coin."""

    def move(rng, state, data, model):
        if rng.random() < 0.5:
            return split_merge.split_merge(rng, state, data, model)
        return dumb_smart(rng, state, data, model, draw, log_q)

    return move
