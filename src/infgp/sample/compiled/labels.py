"""Label sweeps: the inverses of all surfaces, kept up to date while observations go from one surface to another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infgp.core.jit import jit
from infgp.core.model import FLAT
from infgp.core.odds import log_tilt_if, seat_all, seat_one
from infgp.core.places import cut_edges, leaving, log_cohesion
from infgp.sample.compiled.densities import FAST, dot, factorise, forward, invert, log_predictive, mirror, pick


@jit()
def scatter(block: Any, members: Any, G: Any) -> None:  # noqa: N803
    """Write a symmetric block, given by its upper triangle, into the rows and columns `members` of G."""
    mirror(block.T)
    for a in range(members.size):
        row = G[members[a]]
        for b in range(members.size):
            row[members[b]] = block[a, b]


@jit()
def gather(C: Any, members: Any, tau2: float, noise: Any) -> Any:  # noqa: N803
    """C_SS + N_SS."""
    m = members.size
    out = np.empty((m, m))
    for a in range(m):
        row = C[members[a]]
        for b in range(m):
            out[a, b] = row[members[b]]
        out[a, a] += tau2 + noise[members[a]]
    return out


@jit()
def seat(
    order: Any,
    starts: Any,
    largest: int,
    grade: Any,
    C: Any,  # noqa: N803
    tau2: float,
    noise: Any,
    r: Any,
    G: Any,  # noqa: N803
    alpha: Any,
    members: Any,
    counts: Any,
    where: Any,
    quadratics: Any,
) -> None:
    """Fill in who is on which surface and, for surfaces of at most `largest` members, their inverse, α and q_l."""
    for g in range(starts.size - 1):
        lo, m = starts[g], starts[g + 1] - starts[g]
        counts[g] = m
        g_own = grade[order[lo]]
        for a in range(m):
            members[g, a] = order[lo + a]
            where[order[lo + a]] = a
        if m > largest:
            continue
        block, factor, u, v = np.empty((m, m)), np.empty((m, m)), np.empty(m), np.empty(m)
        for a in range(m):
            for b in range(a + 1):
                block[a, b] = C[g_own, order[lo + a], order[lo + b]]
            u[a], v[a] = r[order[lo + a]], noise[order[lo + a]]
        factorise(block, 1.0, tau2, v, factor)
        quadratics[g] = forward(factor, u, u)
        invert(factor, block)
        for a in range(m):
            i = order[lo + a]
            for b in range(a + 1):
                j = order[lo + b]
                G[i, j] = block[a, b]
                G[j, i] = block[a, b]
        for a in range(m):
            i, total = order[lo + a], 0.0
            for b in range(m):
                total += G[i, order[lo + b]] * r[order[lo + b]]
            alpha[i] = total


@jit()
def drift(grade: Any, C: Any, tau2: float, noise: Any, alpha: Any, r: Any, members: Any, counts: Any) -> float:  # noqa: N803
    """Largest error of (C_SS + N_SS) α_S = r_S over the surfaces: what rank-one updates have accumulated."""
    worst = 0.0
    for label in range(counts.size):
        for a in range(counts[label]):
            i = members[label, a]
            total = (tau2 + noise[i]) * alpha[i] - r[i]
            for b in range(counts[label]):
                total += C[grade[i], i, members[label, b]] * alpha[members[label, b]]
            if math.isnan(total):
                return math.nan
            if abs(total) > worst:
                worst = abs(total)
    return worst


@jit(fastmath=FAST)
def variance_reduction(k: Any, G: Any, members: Any, size: int) -> float:  # noqa: N803
    """kᵀ G_SS k for the first `size` members, from the lower triangle of G."""
    total = 0.0
    for a in range(size):
        i, inner = members[a], 0.0
        for b in range(a):
            inner += G[i, members[b]] * k[members[b]]
        total += k[i] * (k[i] * G[i, i] + 2.0 * inner)
    return total


@jit(fastmath=FAST)
def rank_one(G: Any, v: Any, members: Any, size: int, scale: float) -> None:  # noqa: N803
    """G_SS += scale · v vᵀ over the first `size` members; v is zero off the surface."""
    dense = 4 * size > v.size  # contiguous rows are faster than gathers unless most of a row is zero
    for a in range(size):
        i = members[a]
        step = scale * v[i]
        if dense:
            for b in range(v.size):
                G[i, b] += step * v[b]
        else:
            for b in range(size):
                G[i, members[b]] += step * v[members[b]]


@jit()
def remove_point(
    i: int,
    label: int,
    G: Any,  # noqa: N803
    alpha: Any,
    members: Any,
    counts: Any,
    where: Any,
    v: Any,
) -> None:
    """Take observation i off its surface: rank-one down-date of the inverse. v is scratch, zero before and after."""
    m = counts[label]
    pivot = G[i, i]
    step = alpha[i] / pivot
    for a in range(m):
        j = members[label, a]
        v[j] = G[i, j]
        alpha[j] -= G[i, j] * step
    rank_one(G, v, members[label], m, -1.0 / pivot)
    for a in range(m):
        j = members[label, a]
        v[j] = 0.0
        G[i, j] = 0.0
        G[j, i] = 0.0
    alpha[i] = 0.0
    last = members[label, m - 1]
    members[label, where[i]] = last
    where[last] = where[i]
    counts[label] = m - 1


@jit()
def add_point(
    i: int,
    label: int,
    residual: float,
    sigma2: float,
    tau2: float,
    noise: Any,
    C: Any,  # noqa: N803
    G: Any,  # noqa: N803
    alpha: Any,
    members: Any,
    counts: Any,
    where: Any,
    v: Any,
) -> None:
    """Put observation i on a surface: bordered up-date of the inverse.

    v is left as (G_SS k_S, −1 at i), with which kᵀGk of any other point grows by (v · its k)² / s. Where the noise is
    small, s is a small difference of large numbers, and the error of the inverse would be all of it: G_SS k_S is mended
    before s is computed.
    """
    m, n, k = counts[label], v.size, C[i]
    mean, reduction, error = 0.0, 0.0, np.zeros(n)
    for a in range(m):
        j = members[label, a]
        total = 0.0
        for b in range(m):
            total += G[j, members[label, b]] * k[members[label, b]]
        v[j] = total
    for a in range(m):
        j = members[label, a]
        error[j] = k[j] - (tau2 + noise[j]) * v[j] - dot(C[j], v, n)
    for a in range(m):
        j = members[label, a]
        v[j] += dot(G[j], error, n)
        reduction += v[j] * k[j]
        mean += alpha[j] * k[j]
    s = sigma2 + tau2 + noise[i] - reduction
    v[i] = -1.0
    members[label, m] = i
    where[i] = m
    counts[label] = m + 1
    rank_one(G, v, members[label], m + 1, 1.0 / s)
    step = (residual - mean) / s
    for a in range(m + 1):
        j = members[label, a]
        alpha[j] -= v[j] * step


@jit()
def refine(
    label: int,
    r: Any,
    C: Any,  # noqa: N803
    tau2: float,
    noise: Any,
    G: Any,  # noqa: N803
    alpha: Any,
    members: Any,
    counts: Any,
    v: Any,
) -> None:
    """Mend α of a surface after an update, α_S += G_SS (r_S − (C_SS + N_SS) α_S); v is scratch, zero before and after.

    Where the noise is small, a single bordered update loses half the digits.
    """
    m, n = counts[label], r.size
    error = np.zeros(n)
    for a in range(m):
        v[members[label, a]] = alpha[members[label, a]]
    for a in range(m):
        j = members[label, a]
        error[j] = r[j] - (tau2 + noise[j]) * v[j] - dot(C[j], v, n)
    for a in range(m):
        v[members[label, a]] = 0.0
    for a in range(m):
        j = members[label, a]
        alpha[j] += dot(G[j], error, n)


@jit(fastmath=FAST)
def shift_reductions(column: int, v: Any, C: Any, scale: float, waiting: Any, first: int, large: Any) -> None:  # noqa: N803
    """Add scale · (C_i v)² to the prepared variance reductions of the observations still to be visited."""
    n = v.size
    for p in range(first, waiting.size):
        i = waiting[p]
        t = dot(C[i], v, n)
        large[i, column] += scale * t * t


@jit()
def label_weights(
    i: int,
    own: int,
    top: int,
    grade: Any,
    r: Any,
    C: Any,  # noqa: N803
    G: Any,  # noqa: N803
    alpha: Any,
    members: Any,
    counts: Any,
    quadratics: Any,
    columns: Any,
    large: Any,
    noisy: float,
    least: float,
    nu: float,
    shape: float,
    places: Any,
    local: float,
    labels: Any,
    cuts: Any,
    most: int,
    log_p: Any,
) -> int:
    """Log of urn times predictive density for each label that observation i may take; returns how many are filled in.

    A new surface goes by the first free label; for an observation alone on its surface that is its own. `noisy` is its
    prior variance σ² + τ² + v_i, and τ² + v_i the `least` that a surface can leave of it. A flat surface has at most
    `most` members.
    """
    free = -1
    for label in range(top):
        m = counts[label]
        log_p[label] = -np.inf
        if m == 0:
            if free < 0:
                free = label
        elif label != own:
            if m >= most and grade[members[label, 0]] == FLAT:
                continue
            mean, k = 0.0, C[grade[members[label, 0]], i]
            for a in range(m):
                mean += k[members[label, a]] * alpha[members[label, a]]
            ready = columns[label]
            reduction = large[i, ready] if ready >= 0 else variance_reduction(k, G, members[label], m)
            variance = noisy - reduction
            if least > variance:
                variance = least
            log_p[label] = math.log(m) + log_predictive(r[i] - mean, variance, m, quadratics[label], shape)
            if local > 0.0:
                out, inside = leaving(places.near, labels, i, label)
                log_p[label] += log_cohesion(m + 1, cuts[label] + out - inside, places, local)
                log_p[label] -= log_cohesion(m, cuts[label], places, local)
        elif m > 1:
            gap = alpha[i] / G[i, i]
            left = quadratics[label] - alpha[i] * gap
            log_p[label] = math.log(m - 1.0) + log_predictive(gap, 1.0 / G[i, i], m - 1, left, shape)
            if local > 0.0:
                out, inside = leaving(places.near, labels, i, label)
                log_p[label] += log_cohesion(m, cuts[label], places, local)
                log_p[label] -= log_cohesion(m - 1, cuts[label] - out + inside, places, local)
    if counts[own] == 1:
        free = own
    elif free < 0:
        free = top
    log_p[free] = math.log(nu) + log_predictive(r[i], noisy, 0, 0.0, shape)
    if local > 0.0:
        out, inside = leaving(places.near, labels, i, free)
        log_p[free] += log_cohesion(1, out + inside, places, local)
    return top if top > free else free + 1


@jit()
def label_sweep(
    visits: Any,
    uniforms: Any,
    fresh: Any,
    grade: Any,
    r: Any,
    C: Any,  # noqa: N803
    G: Any,  # noqa: N803
    alpha: Any,
    labels: Any,
    members: Any,
    counts: Any,
    where: Any,
    quadratics: Any,
    columns: Any,
    large: Any,
    sigma2: float,
    tau2: float,
    noise: Any,
    nu: float,
    shape: float,
    places: Any,
    local: float,
    odds: Any,
    most: int,
) -> int:
    """Visit the observations in the order `visits` and redraw each label by urn times predictive density.

    The arrays from G to `large`, and `grade`, are changed in place. Returns the number of labels that changed.

    fresh : the grade of a new surface that begins at each visit, drawn from its prior (one observation alone says
        nothing about a grade);  grade : of the surface of each observation
    C : prior covariance for each grade, shape (grades, n, n)
    members, counts : the observations of each label, and their number;  where : position of an observation in them
    odds : the kind of odds at hand; None for constant ones, for which there is less to compile
    most : largest number of members of a flat surface
    quadratics : q_l;  columns : column of a large surface in `large`, or −1
    large : variance reductions kᵀ G k of each observation for the large surfaces it is not on
    """
    log_p, v = np.empty(r.size + 1), np.zeros(r.size)
    if odds is not None:
        shares, seated, norms = np.zeros((r.size, r.size + 1)), np.zeros((r.size, r.size + 1)), np.zeros(r.size)
        seat_all(labels, odds, shares, seated, norms)
    cuts = cut_edges(places.near, labels, r.size + 1)
    top: Any = np.int64(0)  # one more than the largest label in use
    for label in range(r.size):
        if counts[label] > 0:
            top = label + 1
    changed = 0
    for position in range(visits.size):
        i = visits[position]
        own = labels[i]
        least = tau2 + noise[i]
        noisy = sigma2 + least
        width = label_weights(
            i, own, top, grade, r, C, G, alpha, members, counts, quadratics, columns, large, noisy, least, nu, shape,
            places, local, labels, cuts, most, log_p,
        )  # fmt: skip
        if odds is not None:
            seat_one(odds.rank[i], own, -1.0, odds, shares, seated, norms)
            for label in range(width):
                if log_p[label] > -np.inf:
                    log_p[label] += log_tilt_if(odds.rank[i], label, labels, odds, shares, seated, norms)
        chosen = pick(log_p, width, uniforms[position], own)
        if odds is not None:
            seat_one(odds.rank[i], chosen, 1.0, odds, shares, seated, norms)
        if chosen == own:
            continue
        changed += 1
        if columns[own] >= 0:
            shift_reductions(columns[own], G[i], C[grade[i]], -1.0 / G[i, i], visits, position + 1, large)
        quadratics[own] -= alpha[i] * alpha[i] / G[i, i]
        remove_point(i, own, G, alpha, members, counts, where, v)
        if counts[own] == 0:
            quadratics[own] = 0.0
            columns[own] = -1
        g = grade[members[chosen, 0]] if counts[chosen] > 0 else fresh[position]
        grade[i] = g
        add_point(i, chosen, r[i], sigma2, tau2, noise, C[g], G, alpha, members, counts, where, v)
        quadratics[chosen] += alpha[i] * alpha[i] / G[i, i]
        if columns[chosen] >= 0:
            shift_reductions(columns[chosen], v, C[g], G[i, i], visits, position + 1, large)
        for a in range(counts[chosen]):
            v[members[chosen, a]] = 0.0
        for label, sign in ((own, -1), (chosen, 1)):
            out, inside = leaving(places.near, labels, i, label)
            cuts[label] += sign * (out - inside)
            if counts[label] > 0:
                refine(label, r, C[grade[members[label, 0]]], tau2, noise, G, alpha, members, counts, v)
        labels[i] = chosen
        if chosen >= top:
            top = chosen + 1
    return changed
