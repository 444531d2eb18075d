"""How the chances of the surfaces change with the input: an urn in which observations follow those that are near.

Observations are seated one after the other, in an order that depends on the inputs alone, from coarse to fine. With p
observations seated, n_l of them on surface l, the next begins a surface with probability ν / (ν + p), as in the Pólya
urn. Else it joins surface l with probability

    w_l = max(Σ_q F_pq [z_q = l], ε n_l / p) / the sum of the same over all surfaces,

where q runs over the seated observations and Σ_q F_pq = 1. With F_pq = 1 / p, the constant odds of kind 0, this is the
Pólya urn. For the other kinds F_p has the weights with which a Gaussian process, of a length-scale and a variance in
units of that of the noise, predicts from the seated observations, so that Σ_q F_pq [z_q = l] is the kriged chance of
surface l. A further observation is seated last.

The kind of the odds is a parameter with a prior, half of which is on constant odds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.spatial.distance import cdist
from scipy.special import softmax

from infgp.core.jit import jit
from infgp.core.linalg import FloatArray, cholesky, solve_cholesky, solve_lower
from infgp.core.memory import Memory
from infgp.core.partition import IntArray

#: Length-scales of the kinds of odds that are not constant, in units of √d.
LENGTHS = (0.12, 0.25, 0.5, 1.0)
#: Variance of the odds, in units of the variance of an indicator about its chance.
STRENGTH = 0.5
#: Prior probabilities of the kinds, where odds may change: constant odds first.
SMOOTH_ODDS = (0.5, *(0.5 / len(LENGTHS),) * len(LENGTHS))
#: Least chance of a surface at any input, in units of its share of all observations.
FLOOR = 0.05


class Odds(NamedTuple):
    """One kind of odds for some inputs, as compiled code takes it.

    order : the observations in the order in which they are seated, shape (n,);  rank : the inverse of it
    follow : F, with rows and columns in that order, shape (n, n); empty for constant odds
    """

    order: Any
    rank: Any
    follow: Any


def correlation_length(kind: int, d: int) -> float:
    """Distance r at which a kind of odds, other than kind 0, has correlation 1/e: the correlation is exp(−|Δ|² / r²).

    Examples
    --------
    >>> round(correlation_length(1, 2), 2)
    0.24
    """
    return math.sqrt(2.0 * d) * LENGTHS[kind - 1]


@dataclass(frozen=True, eq=False)
class Seating:
    """The order in which inputs of shape (n, d) are seated, and for each kind of odds what depends on them alone.

    Examples
    --------
    >>> import numpy as np
    >>> seating = Seating(np.linspace(0.0, 1.0, 5)[:, None])
    >>> seating.order
    array([2, 0, 4, 1, 3])
    >>> bool(np.allclose(seating.odds(1).follow[1:].sum(axis=1), 1.0))
    True
    """

    x: FloatArray

    @cached_property
    def order(self) -> IntArray:
        """From coarse to fine: the observation nearest to the middle, then always the one farthest from all seated."""
        n = self.x.shape[0]
        if not n:
            return np.empty(0, dtype=np.int64)
        order = [int(np.argmin(np.square(self.x - self.x.mean(axis=0)).sum(axis=1)))]
        gap = np.full(n, np.inf)
        for _ in range(n - 1):
            gap = np.minimum(gap, np.square(self.x - self.x[order[-1]]).sum(axis=1))
            gap[order[-1]] = -1.0
            order.append(int(np.argmax(gap)))
        return np.array(order)

    @cached_property
    def _known(self) -> dict[int, tuple[Odds, FloatArray]]:
        return {}

    def odds(self, kind: int) -> Odds:
        """A kind of odds for the inputs."""
        return self._of(kind)[0]

    def _of(self, kind: int) -> tuple[Odds, FloatArray]:
        """The odds, and the Cholesky factor of the covariance of the observations in their order."""
        if kind not in self._known:
            n = self.x.shape[0]
            order = self.order if kind else np.arange(n)  # with constant odds any order will do
            rank = np.empty(n, dtype=np.int64)
            rank[order] = np.arange(n)
            if kind == 0 or n == 0:
                self._known[kind] = Odds(order, rank, np.empty((0, 0))), np.empty((0, 0))
            else:
                covariance = self._covariance(kind, self.x[order])
                covariance.flat[:: n + 1] += 1.0
                factor = cholesky(covariance)
                inverse = lapack.dtrtri(factor, lower=1)[0]
                follow = np.tril(inverse / -np.diag(inverse)[:, None], -1)
                follow = np.tril(follow + _rest(follow, np.maximum(np.arange(n), 1)), -1)
                self._known[kind] = Odds(order, rank, np.ascontiguousarray(follow)), factor
        return self._known[kind]

    def _covariance(self, kind: int, at: FloatArray) -> FloatArray:
        """Covariances of a kind of odds between the observations, in their order, and the rows of `at`."""
        root = correlation_length(kind, self.x.shape[1])
        return np.asarray(STRENGTH * np.exp(-cdist(self.x[self.order] / root, at / root, "sqeuclidean")))

    def _solved(self, kind: int, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """L⁻¹ k for each row of `at`, shape (n, m), and the variance that is left, shape (m,)."""
        known = self._solutions(at, dict)
        if kind not in known:
            half = solve_lower(self._of(kind)[1], self._covariance(kind, at))
            known[kind] = half, np.maximum(STRENGTH - np.einsum("ij,ij->j", half, half), 0.0)
        return known[kind]

    @cached_property
    def _solutions(self) -> Memory[dict[int, tuple[FloatArray, FloatArray]]]:
        return Memory()

    def chances(self, kind: int, labels: IntArray, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Chances of the surfaces at the rows of `at`, shape (m, K), and how uncertain they are, shape (m,).

        The variance of a chance w is v w (1 − w), and the covariance of two chances −v w w', with v as returned. The
        labels are those of the observations and have no gaps.
        """
        n, counts = labels.size, np.bincount(labels)
        if kind == 0:
            return np.tile(counts / n, (at.shape[0], 1)), np.full(at.shape[0], 1.0 / (n + 1.0))
        half, left = self._solved(kind, at)
        shares = half.T @ solve_lower(self._of(kind)[1], self._columns(labels))  # the last column sums the weights
        shares = np.maximum(shares[:, :-1] + (1.0 - shares[:, -1:]) * counts / n, FLOOR * counts / n)
        return shares / shares.sum(axis=1, keepdims=True), np.maximum(left, 1.0 / (n + 1.0))

    def _columns(self, labels: IntArray) -> FloatArray:
        """Indicators of the surfaces, and a column of ones, with rows in the order of the urn; shape (n, K + 1)."""
        own = labels[self.order]
        return np.column_stack((np.eye(int(labels.max()) + 1)[own], np.ones(own.size)))

    def coefficients(self, kind: int, labels: IntArray) -> FloatArray:
        """What the correlations with the observations are multiplied by to krige indicators and ones, (n, K + 1).

        For code that needs the chances of a kind other than 0 as a formula of x; :func:`correlation_length` has the
        unit of distance, and :meth:`chances` what is made of the sums.

        Examples
        --------
        >>> import numpy as np
        >>> seating, at = Seating(np.linspace(0.0, 1.0, 5)[:, None]), np.array([[0.3]])
        >>> rho = np.exp(-((at - seating.x) ** 2 / correlation_length(2, 1) ** 2).sum(axis=1))
        >>> shares = rho @ seating.coefficients(2, np.array([0, 0, 0, 1, 1]))
        >>> bool(np.isclose(shares[:2].sum(), shares[2]))
        True
        """
        out = np.empty((labels.size, int(labels.max()) + 2))
        out[self.order] = STRENGTH * solve_cholesky(self._of(kind)[1], self._columns(labels))
        return out

    def kinds(self, labels: IntArray, prior: Sequence[float]) -> FloatArray:
        """Posterior probabilities of the kinds of odds given the labels."""
        if len(prior) == 1 or not labels.any():
            return np.array(prior)
        with np.errstate(divide="ignore"):
            return np.asarray(softmax(np.log(prior) + [log_tilt(labels, self.odds(k)) for k in range(len(prior))]))


def _rest(follow: FloatArray, seated: IntArray) -> FloatArray:
    """What the rows lack to sum to one, shared out among the seated."""
    return np.asarray((1.0 - follow.sum(axis=1, keepdims=True)) / seated[:, None])


@jit()
def at_least(share: float, count: float, seated: int) -> float:
    """Σ_q F_pq [z_q = l], but at least the floor; 0 for a surface without members."""
    if count < 0.5:
        return 0.0
    least = FLOOR * count / seated
    return least if least > share else share


@jit()
def log_tilt(labels: Any, odds: Any) -> float:
    """Log probability of the labels less that under the Pólya urn, ν being the same; 0 for constant odds."""
    n, top, total = labels.size, 0, 0.0
    if odds.follow.shape[0] == 0:
        return 0.0
    for i in range(n):
        if labels[i] >= top:
            top = labels[i] + 1
    counts, shares = np.zeros(top), np.empty(top)
    for p in range(n):
        own = labels[odds.order[p]]
        if counts[own] > 0.5:
            for label in range(top):
                shares[label] = 0.0
            for q in range(p):
                shares[labels[odds.order[q]]] += odds.follow[p, q]
            norm = 0.0
            for label in range(top):
                norm += at_least(shares[label], counts[label], p)
            total += math.log(at_least(shares[own], counts[own], p) / norm * p / counts[own])
        counts[own] += 1.0
    return total


@jit()
def seat_all(labels: Any, odds: Any, shares: Any, counts: Any, norms: Any) -> None:
    """Fill in, for the p-th observation and each label: Σ_q F_pq [z_q = l], n_l, and the sum over labels."""
    top = 0
    for p in range(labels.size):
        if labels[p] >= top:
            top = labels[p] + 1
    for p in range(labels.size):
        for q in range(p):
            label = labels[odds.order[q]]
            shares[p, label] += odds.follow[p, q]
            counts[p, label] += 1.0
        norms[p] = 0.0
        for label in range(top):
            norms[p] += at_least(shares[p, label], counts[p, label], p)


@jit()
def seat_one(p: int, label: int, sign: float, odds: Any, shares: Any, counts: Any, norms: Any) -> None:
    """Put the p-th observation on a surface (sign 1) or take it off (−1), as all later ones see it."""
    for q in range(p + 1, norms.size):
        norms[q] -= at_least(shares[q, label], counts[q, label], q)
        shares[q, label] += sign * odds.follow[q, p]
        counts[q, label] += sign
        norms[q] += at_least(shares[q, label], counts[q, label], q)


@jit()
def log_tilt_if(p: int, label: int, labels: Any, odds: Any, shares: Any, counts: Any, norms: Any) -> float:
    """Log tilt with the p-th observation, which is on no surface now, on that of `label`; up to a constant.

    The constant does not depend on the label.
    """
    total = 0.0
    if counts[p, label] > 0.5:
        total += math.log(at_least(shares[p, label], counts[p, label], p) / norms[p] * p / counts[p, label])
    for q in range(p + 1, norms.size):
        other = labels[odds.order[q]]
        if other != label and counts[q, other] < 0.5:
            continue
        before = at_least(shares[q, label], counts[q, label], q)
        after = at_least(shares[q, label] + odds.follow[q, p], counts[q, label] + 1.0, q)
        norm = norms[q] - before + after
        if other == label:
            total += math.log(after / norm * q / (counts[q, label] + 1.0))
            if counts[q, label] > 0.5:
                total -= math.log(before * q / counts[q, label])
        elif abs(norm - 1.0) > 1e-12:
            total -= math.log(norm)
    return total


def seated_sample(rng: np.random.Generator, seating: Seating, kind: int, nu: float) -> IntArray:
    """Labels from the urn with the given odds, one observation after the other.

    Examples
    --------
    >>> import numpy as np
    >>> seating = Seating(np.linspace(0.0, 1.0, 8)[:, None])
    >>> seated_sample(np.random.default_rng(0), seating, 1, 1.0).shape
    (8,)
    """
    n = seating.x.shape[0]
    odds, labels, used = seating.odds(kind), np.full(n, -1), 0
    for p in range(n):
        i, seated = odds.order[p], odds.order[:p]
        if rng.random() * (nu + p) < nu:
            labels[i] = used
            used += 1
            continue
        counts = np.bincount(labels[seated], minlength=used)
        follow = np.full(p, 1.0 / p) if kind == 0 else odds.follow[p, :p]
        shares = np.maximum(np.bincount(labels[seated], follow, minlength=used), FLOOR * counts / p)
        labels[i] = rng.choice(used, p=shares / shares.sum())
    return labels
