"""Partitions of the observations into surfaces: Pólya urn and truncated stick-breaking.

Notation
--------
z_i     label of observation i;  n_l = #{i : z_i = l};  K = number of occupied surfaces
ν       concentration
V_l     Beta(1, ν) stick fractions;  w_l = V_l Π_{r<l} (1 − V_r);  w_L = Π_{r<L} (1 − V_r)

Stick fractions are handled through log-gamma variates: for small ν, 1 − V underflows in double precision,
log w_L becomes −∞ and the update of ν collapses to zero for good.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from infgp.core.linalg import FloatArray

IntArray = NDArray[np.int64]


def canonical(labels: IntArray) -> IntArray:
    """Relabel by order of first appearance, so that equal partitions have equal labels.

    Examples
    --------
    >>> import numpy as np
    >>> canonical(np.array([7, 2, 7, 0]))
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def urn_logpdf(labels: IntArray, nu: float) -> float:
    """Log probability of a partition under the Pólya urn: ν^K Π_l Γ(n_l) · Γ(ν) / Γ(ν + n).

    Examples
    --------
    >>> import numpy as np
    >>> round(float(np.exp(urn_logpdf(np.array([0, 0]), 0.5))), 4)  # 1 / (1 + ν)
    0.6667
    """
    counts = np.unique(labels, return_counts=True)[1]
    n = labels.size
    return float(counts.size * np.log(nu) + gammaln(counts).sum() + gammaln(nu) - gammaln(nu + n))


def urn_sample(rng: np.random.Generator, n: int, nu: float, seated: IntArray | None = None) -> IntArray:
    """Labels of n observations seated one after another by the urn.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int
    nu : float
    seated : int array, optional
        Canonical labels of observations that are there already.

    Examples
    --------
    >>> import numpy as np
    >>> urn_sample(np.random.default_rng(0), 5, nu=1e-9)
    array([0, 0, 0, 0, 0])
    """
    earlier = np.empty(0, dtype=np.int64) if seated is None else seated
    labels = np.concatenate((earlier, np.zeros(n, dtype=np.int64)))
    surfaces = int(earlier.max(initial=-1)) + 1
    for i in range(earlier.size, labels.size):
        # A new surface with probability ν / (ν + i); else the label of one of the i before, chosen uniformly.
        if rng.random() * (nu + i) < nu:
            labels[i] = surfaces
            surfaces += 1
        else:
            labels[i] = labels[rng.integers(i)]
    return labels[earlier.size :]


def expected_surfaces(nu: float, n: int) -> float:
    """E K_n = Σ_{i=1}^n ν / (ν + i − 1).

    Examples
    --------
    >>> round(expected_surfaces(1.0, 100_000), 2)  # the paper's "fewer than five" is a slip
    12.09
    """
    return float(np.sum(nu / (nu + np.arange(n))))


def log_gamma_variate(rng: np.random.Generator, shape: FloatArray) -> FloatArray:
    """Logarithms of Gamma(shape, 1) variates, exact for shapes however small.

    Uses G_a = G_{a+1} U^{1/a} in logarithms, so nothing underflows.

    Examples
    --------
    >>> import numpy as np
    >>> bool(log_gamma_variate(np.random.default_rng(0), np.array([1e-6]))[0] < -1e3)
    True
    """
    return np.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential(np.shape(shape)) / shape


def stick_sample(rng: np.random.Generator, nu: float, counts: IntArray) -> FloatArray:
    """Log weights of L truncated sticks given the occupancy counts (all zero: the prior).

    V_l ~ Beta(1 + n_l, ν + Σ_{j>l} n_j) for l < L, and V_L = 1 (paper, Algorithm 2, step 2).

    Parameters
    ----------
    rng : numpy.random.Generator
    nu : float
    counts : int array, shape (L,)

    Returns
    -------
    array, shape (L,)
        log w_1 … log w_L; their exponentials sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> log_w = stick_sample(np.random.default_rng(0), 1e-8, np.zeros(4, dtype=int))
    >>> bool(np.isfinite(log_w).all()), float(np.exp(log_w).sum().round(12))
    (True, 1.0)
    """
    above = counts.sum() - np.cumsum(counts)  # Σ_{j>l} n_j
    shapes = np.concatenate((1.0 + counts[:-1], nu + above[:-1]))
    log_a, log_b = log_gamma_variate(rng, shapes).reshape(2, -1)
    log_total = np.logaddexp(log_a, log_b)
    log_remaining = np.concatenate(([0.0], np.cumsum(log_b - log_total)))  # log Π_{r<l} (1 − V_r)
    return np.concatenate((log_a - log_total, [0.0])) + log_remaining


def stick_logpdf(labels: IntArray, nu: float, truncation: int) -> float:
    """Log probability of labels in 0 … L−1 under truncated sticks, the weights integrated out.

    Π_{l<L} B(1 + n_l, ν + Σ_{j>l} n_j) / B(1, ν).

    Examples
    --------
    >>> import numpy as np
    >>> round(float(np.exp(stick_logpdf(np.array([1, 1]), 0.5, 2))), 4)  # E (1 − V)² = ν / (ν + 2)
    0.2
    """
    counts = np.bincount(labels, minlength=truncation)
    above = counts.sum() - np.cumsum(counts)
    return float(np.sum(betaln(1.0 + counts[:-1], nu + above[:-1]) - betaln(1.0, nu)))


def truncation_level(nu: float, n: int, kappa: float) -> int:
    """L_n = ⌈(ν + κ) log n⌉ + 1 (paper, section 7), at least 2 so that a second surface can open.

    Examples
    --------
    >>> truncation_level(0.5, 60, kappa=1.0)
    8
    """
    return max(2, int(np.ceil((nu + kappa) * np.log(n))) + 1)


def enumerate_partitions(n: int) -> Iterator[IntArray]:
    """All set partitions of n items as canonical labels.

    Examples
    --------
    >>> sum(1 for _ in enumerate_partitions(5))
    52
    """

    def grow(prefix: list[int]) -> Iterator[IntArray]:
        if len(prefix) == n:
            yield np.array(prefix, dtype=np.int64)
            return
        for label in range(max(prefix, default=-1) + 2):
            yield from grow([*prefix, label])

    yield from grow([])
