"""Labels one at a time: Pólya urn times predictive density, surfaces integrated out, untruncated.

    P(z_i = l | rest) ∝ n_l^{−i} p(r_i | members of l but i),    P(new surface | rest) ∝ ν p(r_i)

(Neal 2000, algorithm 3). The inverse covariances of all surfaces are kept in one n × n array G. A point's own
leave-one-out predictive is then free (variance 1/G_ii, residual α_i/G_ii), the predictives from large surfaces are
prepared by BLAS, and only a label that changes costs a rank-one down-date and a bordered up-date. Variances and
length-scales change between sweeps, so every sweep begins with fresh factorisations; the error that updates accumulate
within a sweep is checked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import lapack

from infgp.core.linalg import FloatArray, cholesky, solve_cholesky, solve_lower
from infgp.core.model import Data, Model, by_label, grades_from_prior
from infgp.core.partition import IntArray
from infgp.core.state import State, most_flat
from infgp.errors import NumericalError
from infgp.sample import compiled
from infgp.sample.moves.collapsed import KERNEL_CODE

#: Largest error of the linear systems after a sweep, in units of the largest residual. A sweep with a larger error is
#: done again with fresh factorisations on the way. Since α is refined after every change, its error is about the square
#: of the error of the inverses.
DRIFT_LIMIT = 1e-7
#: Number of parts into which the first, second and third attempt cut a sweep. Each part has fresh factorisations.
PARTS = (1, 8, 64)


def assign(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """One sweep over all labels, in random order.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> assign(rng, prior_draw(rng, x, model), Data(x, np.zeros(6)), model).labels.shape
    (6,)
    """
    n, data = data.y.size, data.seen(state, model)
    visits, uniforms = rng.permutation(n), rng.random(n)
    fresh = grades_from_prior(rng, model.grades, n)
    r = data.y - data.h @ state.beta
    prior, kernel = np.empty((len(model.grades), n, n)), KERNEL_CODE[model.kernel_of(state)]
    for g in np.union1d(state.observed_grades, fresh):
        compiled.fill_covariance(kernel, g, data.x, state.phi[0], float(state.sigma2[0]), prior[g])
    limit = DRIFT_LIMIT * float(np.max(np.abs(r)))
    for parts in (*PARTS, n):  # the last has a factorisation for each visit, so that nothing accumulates
        labels, grade, drift = state.labels, state.observed_grades, 0.0
        step = -(-n // parts)
        for part in (slice(begin, begin + step) for begin in range(0, n, step)):
            moved = visits[part], uniforms[part], fresh[part]
            labels, error = _visit(labels, grade, state, model, r, data, prior, *moved)
            drift = float(np.maximum(drift, error))  # NaN stays
        if drift <= limit:
            break
    if not np.isfinite(drift + limit):
        scales = {"tau2": float(state.tau2[0]), "sigma2": float(state.sigma2[0])}
        raise NumericalError("A sweep over the labels has lost its numbers", n=n, **scales)
    return replace(state, labels=labels, grade=by_label(model, labels, grade))


def _visit(
    labels: IntArray,
    grade: IntArray,
    state: State,
    model: Model,
    r: FloatArray,
    data: Data,
    prior: FloatArray,
    visits: IntArray,
    uniforms: FloatArray,
    fresh: IntArray,
) -> tuple[IntArray, float]:
    """Redraw the labels of `visits`, from fresh factorisations; returns them and the drift; grades change in place."""
    n, tau2, noise = r.size, float(state.tau2[0]), data.noise
    labels = labels.copy()
    inverse, alpha = np.zeros((n, n)), np.zeros(n)
    members, counts = np.zeros((n + 1, n), dtype=np.int32), np.zeros(n + 1, dtype=np.int64)
    where = np.zeros(n, dtype=np.int64)
    quadratics, columns = np.zeros(n + 1), np.full(n + 1, -1, dtype=np.int64)
    reductions: list[FloatArray] = []
    order, starts = compiled.group_order(labels)
    compiled.seat(
        order, starts, compiled.LARGE, grade, prior, tau2, noise, r, inverse, alpha, members, counts, where, quadratics
    )
    for label in np.flatnonzero(counts > compiled.LARGE):
        s = order[starts[label] : starts[label + 1]]
        own = prior[grade[s[0]]]
        factor = cholesky(compiled.gather(own, s, tau2, noise))
        alpha[s] = solve_cholesky(factor, r[s])
        quadratics[label] = float(alpha[s] @ r[s])
        if s.size < n:
            columns[label] = len(reductions)
            reductions.append(_reductions(factor, own, s))
        compiled.scatter(lapack.dpotri(factor, lower=1, overwrite_c=1)[0].T, s, inverse)
    large = np.column_stack(reductions) if reductions else np.empty((n, 0))
    sigma2 = float(state.sigma2[0])
    odds = data.seating.odds(state.odds) if state.odds else None
    changed = compiled.label_sweep(
        visits, uniforms, fresh, grade, r, prior, inverse, alpha, labels, members, counts, where, quadratics, columns,
        large, sigma2, tau2, noise, state.nu, model.scale_shape, data.places, model.local, odds, most_flat(n),
    )  # fmt: skip
    if not changed:
        return labels, 0.0
    compiled.relabel(labels)
    return labels, float(compiled.drift(grade, prior, tau2, noise, alpha, r, members, counts))


def _reductions(factor: FloatArray, prior: FloatArray, s: IntArray) -> FloatArray:
    """kᵀ G_SS k for every observation off the surface with members s; zero for the members."""
    n = prior.shape[0]
    out, off = np.zeros(n), np.ones(n, dtype=np.bool_)
    off[s] = False
    v = solve_lower(factor, prior[off][:, s].T)
    out[off] = np.einsum("ij,ij->j", v, v)
    return out
