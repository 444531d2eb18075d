"""Labels one at a time: Pólya urn times predictive density, surfaces integrated out, untruncated.

    P(z_i = l | rest) ∝ n_l^{−i} p(r_i | members of l but i),    P(new surface | rest) ∝ ν p(r_i)

(Neal 2000, algorithm 3). The inverse covariances of all surfaces are kept in one n × n array G. A point's own
leave-one-out predictive is then free (variance 1/G_ii, residual α_i/G_ii), those from large surfaces are prepared by
BLAS, and only a label that changes costs a rank-one down-date and a bordered up-date. The scales change between sweeps,
so every sweep begins with fresh factorisations; the error that updates accumulate within it is checked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import lapack

from infgp import compiled
from infgp.linalg import FloatArray, cholesky, solve_cholesky
from infgp.model import Data, Model, State
from infgp.moves.collapsed import KERNEL_CODE, group, residual
from infgp.partition import IntArray, canonical

#: Largest error of the linear systems after a sweep, relative to the largest residual. Beyond it the sweep is done
#: again with fresh factorisations on the way.
DRIFT_LIMIT = 1e-6
#: Parts into which a sweep is cut on the first, second … attempt.
PARTS = (1, 8, 64)


def assign(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """One sweep over all labels, in random order.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.model import prior_draw
    >>> from infgp.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> assign(rng, prior_draw(rng, x, model), Data(x, np.zeros(6)), model).labels.shape
    (6,)
    """
    n = data.y.size
    visits, uniforms = rng.permutation(n), rng.random(n)
    r = residual(state, data)
    prior = np.empty((n, n))
    compiled.fill_covariance(KERNEL_CODE[model.kernel], data.x, state.phi[0], float(state.sigma2[0]), prior)
    limit = DRIFT_LIMIT * float(np.max(np.abs(r)))
    for parts in PARTS:
        labels, drift = state.labels, 0.0
        for part in np.array_split(np.arange(n), min(parts, n)):
            labels, error = _visit(labels, state, model, r, prior, visits[part], uniforms[part])
            drift = max(drift, error)
        if drift <= limit:
            break
    return replace(state, labels=canonical(labels))


def _visit(
    labels: IntArray,
    state: State,
    model: Model,
    r: FloatArray,
    prior: FloatArray,
    visits: IntArray,
    uniforms: FloatArray,
) -> tuple[IntArray, float]:
    """Redraw the labels of `visits`, from fresh factorisations; returns the labels and the drift."""
    n, tau2 = r.size, float(state.tau2[0])
    labels = canonical(labels)
    inverse, alpha = np.zeros((n, n)), np.zeros(n)
    members, counts = np.zeros((n + 1, n), dtype=np.int32), np.zeros(n + 1, dtype=np.int64)
    where = np.zeros(n, dtype=np.int64)
    quadratics, columns = np.zeros(n + 1), np.full(n + 1, -1, dtype=np.int64)
    grouped = group(labels, prior[:, :0], r)
    reductions: list[FloatArray] = []
    for label, (lo, hi) in enumerate(zip(grouped.starts[:-1], grouped.starts[1:], strict=True)):
        s = grouped.order[lo:hi]
        m = s.size
        if m == 1:
            inverse[s, s] = 1.0 / (prior[s, s] + tau2)
            alpha[s] = inverse[s, s] * r[s]
        else:
            cov = prior[s[:, None], s]
            cov.flat[:: m + 1] += tau2
            factor = cholesky(cov)
            alpha[s] = solve_cholesky(factor, r[s])
            block = lapack.dpotri(factor, lower=1)[0]
            compiled.scatter(block, s, inverse)
            if m > compiled.LARGE and m < n:
                columns[label] = len(reductions)
                reductions.append(_reductions(factor, prior, s))
        quadratics[label] = float(alpha[s] @ r[s])
        counts[label] = m
        members[label, :m] = s
        where[s] = np.arange(m)
    large = np.column_stack(reductions) if reductions else np.empty((n, 0))
    sigma2 = float(state.sigma2[0])
    compiled.label_sweep(
        visits,
        uniforms,
        r,
        prior,
        inverse,
        alpha,
        labels,
        members,
        counts,
        where,
        quadratics,
        columns,
        large,
        sigma2,
        tau2,
        state.nu,
        model.scale_shape,
    )
    return labels, float(compiled.drift(prior, tau2, alpha, r, members, counts))


def _reductions(factor: FloatArray, prior: FloatArray, s: IntArray) -> FloatArray:
    """kᵀ G_SS k for every observation off the surface with members s; zero for the members."""
    n = prior.shape[0]
    out = np.zeros(n)
    others = np.setdiff1d(np.arange(n), s, assume_unique=True)
    v, _ = lapack.dtrtrs(factor, prior[s[:, None], others], lower=1)
    out[others] = np.einsum("ij,ij->j", v, v)
    return out
