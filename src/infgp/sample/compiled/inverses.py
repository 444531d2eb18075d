"""The inverses of all surfaces, kept up to date while observations go from one surface to another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infgp.core.jit import jit
from infgp.sample.compiled.densities import FAST, dot, factorise, forward, invert, mirror


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
