"""Covariances and evidence: densities of residuals with the surfaces integrated out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infgp.core.jit import jit
from infgp.core.state import CONSTANT, FLAT, ROUGHER

#: Sums may be reordered (vectorised); NaN and infinity keep their meaning.
FAST: Any = {"reassoc", "contract", "nsz"}
#: log 2π, in natural logarithms.
LOG_2PI = math.log(2.0 * math.pi)
#: The number 1.5 · 2⁵². A float that is added to it is rounded to an integer, which :func:`decay` finds in the last
#: bits.
MAGIC = 6755399441055744.0
#: Logarithm of e to the base 2.
LOG2_E = 1.4426950408889634
#: First part of the natural logarithm of 2, with zeros in its last bits, so that multiples of it are exact.
LN2_HIGH = 6.93147180369123816490e-01
#: Second part of the natural logarithm of 2: log 2 less `LN2_HIGH`.
LN2_LOW = 1.90821492927058770002e-10
#: Coefficients of the Taylor series of exp at 0, the constant first.
TAYLOR = tuple(1.0 / math.factorial(k) for k in range(14))
#: Smallest exponent x for which :func:`decay` computes exp(x); for smaller ones it returns exp of this number. Smaller
#: results would change no sum, and their products would be denormal, which processors are slow at.
LEAST_EXPONENT = -100.0


@jit()
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


@jit()
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


@jit()
def log_total(log_p: Any) -> float:
    """log Σ exp(log_p)."""
    best, total = -np.inf, 0.0
    for k in range(log_p.size):
        if log_p[k] > best:
            best = log_p[k]
    for k in range(log_p.size):
        total += math.exp(log_p[k] - best)
    return best + math.log(total)


@jit()
def pick(log_p: Any, size: int, uniform: float, otherwise: int) -> int:
    """An index below `size` with probability proportional to exp(log_p); `otherwise` if rounding leaves none."""
    best = -np.inf
    for label in range(size):
        if log_p[label] > best:
            best = log_p[label]
    total = 0.0
    for label in range(size):
        total += math.exp(log_p[label] - best)
    running = 0.0
    for label in range(size):
        running += math.exp(log_p[label] - best)
        if running > uniform * total:
            return label
    return otherwise


@jit(fastmath=FAST)
def dot(a: Any, b: Any, size: int) -> float:
    """Σ a_i b_i over the first `size` entries."""
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total


@jit(fastmath={"contract"})
def decay(t: Any, size: int, scratch: Any) -> None:
    """Replace t_j ≥ 0 by exp(−t_j) for the first `size` entries, to the last bit or two.

    Written so that the compiler vectorises it, which it does not with a library's exp: x = k log 2 + r, a polynomial
    for exp(r), and 2^k put together from its bits. Adding MAGIC leaves k in the last bits of the sum.
    """
    bits = scratch.view(np.int64)
    for j in range(size):
        x = LEAST_EXPONENT if -t[j] < LEAST_EXPONENT else -t[j]  # NaN stays
        scratch[j] = x * LOG2_E + MAGIC
        k = scratch[j] - MAGIC
        r = (x - k * LN2_HIGH) - k * LN2_LOW
        p = r * TAYLOR[13] + TAYLOR[12]
        p = p * r + TAYLOR[11]
        p = p * r + TAYLOR[10]
        p = p * r + TAYLOR[9]
        p = p * r + TAYLOR[8]
        p = p * r + TAYLOR[7]
        p = p * r + TAYLOR[6]
        p = p * r + TAYLOR[5]
        p = p * r + TAYLOR[4]
        p = p * r + TAYLOR[3]
        p = p * r + TAYLOR[2]
        p = p * r + TAYLOR[1]
        t[j] = p * r + TAYLOR[0]
    for j in range(size):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(size):
        t[j] *= scratch[j]


@jit()
def mirror(a: Any) -> None:
    """Copy the lower triangle of a square array to the upper one, tile by tile to stay in the cache."""
    n, tile = a.shape[0], 32
    for row in range(0, n, tile):
        for column in range(0, row + 1, tile):
            for i in range(row, row + tile if row + tile < n else n):
                for j in range(column, column + tile if column + tile < i else i):
                    a[j, i] = a[i, j]


@jit(fastmath=FAST)
def fill_lower(kernel: int, rougher: float, x: Any, phi: Any, sigma2: float, out: Any) -> None:
    """Lower triangle of σ² ρ for the rows of x, with the length-scales of φ divided by `rougher`; 0 is for flat ones.

    Kernel 0 is the squared exponential, 1 Matérn-5/2, 2 Matérn-3/2. The further noise of a flat surface counts as a
    part of σ² ρ, on the diagonal. The diagonal is then σ² for every grade, and τ² + v is the noise that is added to it,
    as for the other grades.
    """
    n, d = x.shape
    if rougher == 0.0:
        for i in range(n):
            for j in range(i):
                out[i, j] = CONSTANT * sigma2
            out[i, i] = sigma2
        return
    z, factor, scratch = np.empty((d, n)), np.empty(n), np.empty(n)
    scale = 1.0
    if kernel > 0:
        scale = 10.0 if kernel == 1 else 6.0
    for k in range(d):
        root = rougher * math.sqrt(scale * phi[k])
        for i in range(n):
            z[k, i] = root * x[i, k]
    for i in range(n):
        row = out[i]
        for j in range(i):
            row[j] = 0.0
        for k in range(d):
            at = z[k, i]
            for j in range(i):
                gap = at - z[k, j]
                row[j] += gap * gap
        # A loop for each kernel: the compiler does not vectorise one loop that asks which kernel it is.
        if kernel == 0:
            for j in range(i):
                factor[j] = sigma2
        elif kernel == 1:
            for j in range(i):
                row[j] = math.sqrt(row[j])
                factor[j] = sigma2 * (1.0 + row[j] + row[j] * row[j] / 3.0)
        else:
            for j in range(i):
                row[j] = math.sqrt(row[j])
                factor[j] = sigma2 * (1.0 + row[j])
        decay(row, i, scratch)
        for j in range(i):
            row[j] *= factor[j]
        row[i] = sigma2


@jit()
def rougher_by(grade: int) -> float:
    """What the length-scales of a surface of this grade are divided by; 0 for a flat one."""
    if grade == FLAT:
        return 0.0
    return ROUGHER**grade


def fill_covariance(kernel: int, grade: int, x: Any, phi: Any, sigma2: float, out: Any) -> None:
    """σ² ρ of a surface of this grade for the rows of x."""
    fill_lower(kernel, rougher_by(grade), x, phi, sigma2, out)
    mirror(out)


@jit(fastmath=FAST)
def factorise(C: Any, scale: float, tau2: float, noise: Any, L: Any) -> float:  # noqa: N803
    """Cholesky factor of scale · C + N from the lower triangle of C, by rows, eight at a time; returns log |…|.

    The diagonal of L holds reciprocals; above it nothing is written. No pivot is below τ² + v_i, whatever rounding
    does. At the sizes that surfaces have it is faster than LAPACK behind Numba (`benchmarks/sweep_cost.py`), which
    copies twice.
    """
    n, log_det = C.shape[0], 0.0
    for top in range(0, n, 8):
        bottom, done = top + 8 if top + 8 < n else n, 0
        if bottom == top + 8:
            done = top
            for j in range(top):
                s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for k in range(j):
                    v = L[j, k]
                    s0 += L[top, k] * v
                    s1 += L[top + 1, k] * v
                    s2 += L[top + 2, k] * v
                    s3 += L[top + 3, k] * v
                    s4 += L[top + 4, k] * v
                    s5 += L[top + 5, k] * v
                    s6 += L[top + 6, k] * v
                    s7 += L[top + 7, k] * v
                L[top, j] = (scale * C[top, j] - s0) * L[j, j]
                L[top + 1, j] = (scale * C[top + 1, j] - s1) * L[j, j]
                L[top + 2, j] = (scale * C[top + 2, j] - s2) * L[j, j]
                L[top + 3, j] = (scale * C[top + 3, j] - s3) * L[j, j]
                L[top + 4, j] = (scale * C[top + 4, j] - s4) * L[j, j]
                L[top + 5, j] = (scale * C[top + 5, j] - s5) * L[j, j]
                L[top + 6, j] = (scale * C[top + 6, j] - s6) * L[j, j]
                L[top + 7, j] = (scale * C[top + 7, j] - s7) * L[j, j]
        for i in range(top, bottom):
            for j in range(done, i):
                L[i, j] = (scale * C[i, j] - dot(L[i], L[j], j)) * L[j, j]
            least = tau2 + noise[i]
            pivot = scale * C[i, i] + least - dot(L[i], L[i], i)
            if least > pivot:
                pivot = least
            L[i, i] = 1.0 / math.sqrt(pivot)
            log_det += math.log(pivot)
    return log_det


@jit()
def forward(L: Any, r: Any, u: Any) -> float:  # noqa: N803
    """u = L⁻¹ r for a factor of :func:`factorise`; returns uᵀu."""
    total = 0.0
    for i in range(r.size):
        u[i] = (r[i] - dot(L[i], u, i)) * L[i, i]
        total += u[i] * u[i]
    return total


@jit()
def invert(L: Any, inverse: Any) -> None:  # noqa: N803
    """Lower triangle of (L Lᵀ)⁻¹ from a factor of :func:`factorise`."""
    n = L.shape[0]
    w = np.empty((n, n))  # row j is column j of L⁻¹, from the diagonal on
    for j in range(n):
        w[j, j] = L[j, j]
        for i in range(j + 1, n):
            w[j, i] = -L[i, i] * dot(L[i, j:], w[j, j:], i - j)
    for j in range(n):
        for i in range(j + 1):
            inverse[j, i] = dot(w[j, j:], w[i, j:], n - j)


@jit()
def fill_blocks(kernel: int, x: Any, grade: Any, starts: Any, phi: Any, out: Any) -> None:
    """Lower triangles of the correlations within each group of rows, block after block in the vector `out`.

    grade : of the surface of each row
    """
    at = 0
    for g in range(starts.size - 1):
        lo, m = starts[g], starts[g + 1] - starts[g]
        fill_lower(kernel, rougher_by(grade[lo]), x[lo : lo + m], phi, 1.0, out[at : at + m * m].reshape(m, m))
        at += m * m


@jit()
def blocks_log_evidence(rho: Any, r: Any, noise: Any, starts: Any, sigma2: float, tau2: float, shape: float) -> float:
    """Log evidence of all surfaces, from the correlations of :func:`fill_blocks`; residuals and noise grouped alike."""
    total, at, u = 0.0, 0, np.empty(r.size)
    for g in range(starts.size - 1):
        lo, m = starts[g], starts[g + 1] - starts[g]
        factor = np.empty((m, m))
        log_det = factorise(rho[at : at + m * m].reshape(m, m), sigma2, tau2, noise[lo : lo + m], factor)
        total += log_evidence(m, forward(factor, r[lo : lo + m], u), log_det, shape)
        at += m * m
    return total
