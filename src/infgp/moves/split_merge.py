"""Split a surface in two or merge two into one: a Metropolis–Hastings move, grown in space from a pair of anchors.

Anchors i and j are chosen by a rule that looks at the inputs only. On one surface, they propose a split: each begins
a surface, and the other members join one or the other, in the order of their distance from the anchors, by predictive
density (Dahl's sequential allocation, ordered in space). On two, they propose the merger, and the probability of the
way back is that of the present allocation in the same order.

The noise variance may move along. As long as τ² is that of one surface through two modes, no split is worth its price
in the prior; and τ² stays as long as there is no split. So a split divides τ² by e^δ and a merger multiplies by it,
with δ drawn from one distribution in either direction.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from infgp import compiled
from infgp.linalg import FloatArray
from infgp.model import Data, Model, State
from infgp.moves.collapsed import KERNEL_CODE, group, log_evidence, residual, usable
from infgp.partition import IntArray, canonical
from infgp.priors import InverseGamma

#: Chance that the second anchor is one of the first's nearest inputs, and how many these are.
NEAR, NEIGHBOURS = 0.5, 10
#: Chance that τ² moves along, and the mean of the exponential step δ in log τ².
SHIFT, SHIFT_MEAN = 0.5, 2.0


def anchor_pair(rng: np.random.Generator, x: FloatArray) -> tuple[int, int]:
    """Two different observations: often neighbours, sometimes any. Depends on the inputs only.

    Examples
    --------
    >>> import numpy as np
    >>> i, j = anchor_pair(np.random.default_rng(0), np.linspace(0, 1, 5)[:, None])
    >>> i != j
    True
    """
    n = x.shape[0]
    i = int(rng.integers(n))
    if rng.random() < NEAR:
        distance = np.square(x - x[i]).sum(axis=1)
        distance[i] = np.inf
        k = min(NEIGHBOURS, n - 1)
        return i, int(np.argpartition(distance, k - 1)[rng.integers(k)])
    j = int(rng.integers(n - 1))
    return i, j + (j >= i)


def split_merge(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """One proposal, accepted or not.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.model import prior_draw
    >>> from infgp.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> split_merge(rng, prior_draw(rng, x, model), Data(x, np.zeros(6)), model).labels.shape
    (6,)
    """
    n, labels = data.y.size, state.labels
    if n < 2:
        return state
    prior, shift = model.priors.tau2, 0.0
    if isinstance(prior, InverseGamma) and rng.random() < SHIFT:
        shift = SHIFT_MEAN * float(rng.standard_exponential())
    i, j = anchor_pair(rng, data.x)
    splits = bool(labels[i] == labels[j])
    tau2 = float(state.tau2[0])
    apart, together = (tau2 * np.exp(-shift), tau2) if splits else (tau2, tau2 * np.exp(shift))
    phi, sigma2 = state.phi[0], float(state.sigma2[0])
    if not usable(n, sigma2, apart):
        return state

    r = residual(state, data)
    involved = (labels == labels[i]) | (labels == labels[j])
    pool = np.flatnonzero(involved)
    cov = np.empty((pool.size, pool.size))
    compiled.fill_covariance(KERNEL_CODE[model.kernel], data.x[pool], phi, sigma2, cov)
    order = _outward(cov, *np.searchsorted(pool, (i, j)))
    present = (labels[pool[order]] == labels[j]).astype(np.int64)
    m, sides = pool.size, np.empty(pool.size, dtype=np.int64)
    forced = present[:0] if splits else present
    log_q, log_ratio = compiled.grow(order, forced, rng.random(m), r[pool], cov, apart, model.scale_shape, sides)
    log_ratio -= compiled.dense_log_evidence(cov, r[pool], together, model.scale_shape)
    m_j = int(sides.sum())
    log_ratio += math.log(state.nu) + math.lgamma(m_j) + math.lgamma(m - m_j) - math.lgamma(m)  # urn
    if shift and isinstance(prior, InverseGamma):
        if m < n:
            rest = group(labels[~involved], data.x[~involved], r[~involved])
            log_ratio += log_evidence(rest, model, phi, sigma2, apart)
            log_ratio -= log_evidence(rest, model, phi, sigma2, together)
        # The step is in log τ², whose density is that of τ² times τ².
        log_ratio += prior.logpdf(apart) - prior.logpdf(together) - shift
    log_ratio -= log_q

    if not -rng.standard_exponential() < (log_ratio if splits else -log_ratio):
        return state
    new = labels.copy()
    new[pool[order[sides == 1]]] = labels.max() + 1 if splits else labels[i]
    return replace(state, labels=canonical(new), tau2=np.array([apart if splits else together]))


def _outward(cov: FloatArray, a: int, b: int) -> IntArray:
    """The anchors a and b, then the others in the order of their correlation with the nearer of the two."""
    nearness = np.maximum(cov[a], cov[b])
    nearness[a], nearness[b] = np.inf, np.finfo(np.float64).max
    return np.argsort(-nearness, kind="stable")
