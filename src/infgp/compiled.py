"""Compiled inner loops (Numba), cached on disk. Only the moves import this module: it takes a while to load.

Notation
--------
C       prior covariance σ² ρ of the inputs, shape (n, n), without noise
G       inverses (C_SS + τ² I)⁻¹ of all surfaces in one (n, n) array: G_ij is zero where z_i ≠ z_j
alpha   G r, shape (n,)
q_l     r_Sᵀ G_SS r_S, one number for each surface
shape   a of the surfaces' own scale s_l ~ InverseGamma(a, a); 0 for scales shared by all (s_l = 1)

With own scales, s_l is integrated out: Gaussians become Student-t densities with 2a degrees of freedom, which only
need q_l besides the Gaussian quantities.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

#: Sums may be reordered (vectorised); NaN and infinity keep their meaning.
FAST: Any = {"reassoc", "contract", "nsz"}
LOG_2PI = math.log(2.0 * math.pi)
#: Surfaces larger than this have their predictive variances prepared by BLAS at the start of a sweep.
LARGE = 48


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


@njit(cache=True)
def scatter(block: Any, members: Any, G: Any) -> None:  # noqa: N803
    """Write a symmetric block, given by its upper triangle, into the rows and columns `members` of G."""
    mirror(block.T)
    for a in range(members.size):
        row = G[members[a]]
        for b in range(members.size):
            row[members[b]] = block[a, b]


@njit(cache=True)
def gather(C: Any, members: Any, tau2: float) -> Any:  # noqa: N803
    """C_SS + τ² I."""
    m = members.size
    out = np.empty((m, m))
    for a in range(m):
        row = C[members[a]]
        for b in range(m):
            out[a, b] = row[members[b]]
        out[a, a] += tau2
    return out


@njit(cache=True)
def seat(
    order: Any,
    starts: Any,
    largest: int,
    C: Any,  # noqa: N803
    tau2: float,
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
        for a in range(m):
            members[g, a] = order[lo + a]
            where[order[lo + a]] = a
        if m > largest:
            continue
        block = np.empty((m, m))
        for a in range(m):
            for b in range(m):
                block[a, b] = C[order[lo + a], order[lo + b]]
            block[a, a] += tau2
        inverse = np.linalg.inv(block)
        for a in range(m):
            i, total = order[lo + a], 0.0
            for b in range(m):
                G[i, order[lo + b]] = 0.5 * (inverse[a, b] + inverse[b, a])
                total += inverse[a, b] * r[order[lo + b]]
            alpha[i] = total
            quadratics[g] += total * r[i]


@njit(cache=True)
def drift(C: Any, tau2: float, alpha: Any, r: Any, members: Any, counts: Any) -> float:  # noqa: N803
    """Largest error of (C_SS + τ² I) α_S = r_S over the surfaces: what rank-one updates have accumulated."""
    worst = 0.0
    for label in range(counts.size):
        for a in range(counts[label]):
            i = members[label, a]
            total = tau2 * alpha[i] - r[i]
            for b in range(counts[label]):
                total += C[i, members[label, b]] * alpha[members[label, b]]
            worst = max(worst, abs(total))
    return worst


@njit(cache=True, fastmath=FAST)
def variance_reduction(k: Any, G: Any, members: Any, size: int) -> float:  # noqa: N803
    """kᵀ G_SS k for the first `size` members, from the lower triangle of G."""
    total = 0.0
    for a in range(size):
        i, inner = members[a], 0.0
        for b in range(a):
            inner += G[i, members[b]] * k[members[b]]
        total += k[i] * (k[i] * G[i, i] + 2.0 * inner)
    return total


@njit(cache=True, fastmath=FAST)
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


@njit(cache=True)
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


@njit(cache=True)
def add_point(
    i: int,
    label: int,
    residual: float,
    noisy: float,
    k: Any,
    G: Any,  # noqa: N803
    alpha: Any,
    members: Any,
    counts: Any,
    where: Any,
    v: Any,
) -> None:
    """Put observation i on a surface: bordered up-date of the inverse. `noisy` is σ² + τ².

    v is left as (G_SS k_S, −1 at i), with which kᵀGk of any other point grows by (v · its k)² / s.
    """
    m = counts[label]
    mean, reduction = 0.0, 0.0
    for a in range(m):
        j = members[label, a]
        total = 0.0
        for b in range(m):
            total += G[j, members[label, b]] * k[members[label, b]]
        v[j] = total
        reduction += total * k[j]
        mean += alpha[j] * k[j]
    s = noisy - reduction
    v[i] = -1.0
    members[label, m] = i
    where[i] = m
    counts[label] = m + 1
    rank_one(G, v, members[label], m + 1, 1.0 / s)
    step = (residual - mean) / s
    for a in range(m + 1):
        j = members[label, a]
        alpha[j] -= v[j] * step


@njit(cache=True, fastmath=FAST)
def shift_reductions(column: int, v: Any, C: Any, scale: float, waiting: Any, first: int, large: Any) -> None:  # noqa: N803
    """Add scale · (C_i v)² to the prepared variance reductions of the observations still to be visited."""
    n = v.size
    for p in range(first, waiting.size):
        i = waiting[p]
        t = dot(C[i], v, n)
        large[i, column] += scale * t * t


@njit(cache=True)
def label_sweep(
    visits: Any,
    uniforms: Any,
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
    nu: float,
    shape: float,
) -> int:
    """Visit the observations in the order `visits` and redraw each label by urn times predictive density.

    All arrays but the first four are changed in place. Returns the number of labels that changed.

    members, counts, where : the observations of each label, their number, and each observation's place among them
    quadratics : q_l;  columns : column of a large surface in `large`, or −1
    large : variance reductions kᵀ G k of each observation for the large surfaces it is not on
    """
    n = r.size
    noisy = sigma2 + tau2
    log_p, v = np.empty(n + 1), np.zeros(n)
    top = 0
    for label in range(n):
        if counts[label] > 0:
            top = label + 1
    changed = 0
    for position in range(visits.size):
        i = visits[position]
        own = labels[i]
        k = C[i]
        free = -1
        best = -np.inf
        for label in range(top):
            m = counts[label]
            if m == 0:
                if free < 0:
                    free = label
                log_p[label] = -np.inf
                continue
            if label == own:
                if m == 1:
                    log_p[label] = -np.inf  # alone: it is the new surface, considered below
                    continue
                pivot = G[i, i]
                gap = alpha[i] / pivot
                left = quadratics[label] - alpha[i] * gap
                log_p[label] = math.log(m - 1.0) + log_predictive(gap, 1.0 / pivot, m - 1, left, shape)
            else:
                mean = 0.0
                for a in range(m):
                    mean += k[members[label, a]] * alpha[members[label, a]]
                if columns[label] >= 0:
                    reduction = large[i, columns[label]]
                else:
                    reduction = variance_reduction(k, G, members[label], m)
                variance = max(noisy - reduction, tau2)
                log_p[label] = math.log(m) + log_predictive(r[i] - mean, variance, m, quadratics[label], shape)
            best = max(best, log_p[label])
        alone = counts[own] == 1
        if alone:
            free = own
        elif free < 0:
            free = top
        log_p[free] = math.log(nu) + log_predictive(r[i], noisy, 0, 0.0, shape)
        best = max(best, log_p[free])
        width = max(top, free + 1)
        total = 0.0
        for label in range(width):
            total += math.exp(log_p[label] - best)
        target = uniforms[position] * total
        chosen, running = own, 0.0
        for label in range(width):
            running += math.exp(log_p[label] - best)
            if running > target:
                chosen = label
                break
        if chosen == own:
            continue
        changed += 1
        # Leave the old surface.
        if columns[own] >= 0:
            shift_reductions(columns[own], G[i], C, -1.0 / G[i, i], visits, position + 1, large)
        quadratics[own] -= alpha[i] * alpha[i] / G[i, i]
        remove_point(i, own, G, alpha, members, counts, where, v)
        if counts[own] == 0:
            quadratics[own] = 0.0
            columns[own] = -1
        # Join the new one.
        add_point(i, chosen, r[i], noisy, k, G, alpha, members, counts, where, v)
        quadratics[chosen] += alpha[i] * alpha[i] / G[i, i]
        if columns[chosen] >= 0:
            shift_reductions(columns[chosen], v, C, G[i, i], visits, position + 1, large)
        for a in range(counts[chosen]):
            v[members[chosen, a]] = 0.0
        labels[i] = chosen
        top = max(top, chosen + 1)
    return changed


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
