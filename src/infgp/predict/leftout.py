"""How likely each reward is given all others: the densities that leave-one-out cross-validation is made of.

The surfaces are integrated out, so that rewards are not independent given a state. What importance sampling needs then
(Bürkner, Gabry and Vehtari 2021, Efficient leave-one-out cross-validation for Bayesian non-factorized models) is
log p(y_i | y without y_i, the state without z_i). The label of reward i is integrated out: the density is a mixture
over the surfaces that the others lie on, and a new one. So are scales of surfaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import log_softmax, logsumexp
from scipy.stats import norm, t

from infgp.core.linalg import FloatArray
from infgp.core.model import Data
from infgp.core.surface import Conditioned


def all_but_one(data: Data) -> list[Data]:
    """The data without each of the observations in turn.

    Examples
    --------
    >>> import numpy as np
    >>> [part.y.tolist() for part in all_but_one(Data(np.array([[0.0], [1.0]]), np.array([3.0, 4.0])))]
    [[4.0], [3.0]]
    """
    every = range(data.y.size)
    parts = [(np.delete(data.x, i, axis=0), np.delete(data.y, i), np.delete(data.noise, i)) for i in every]
    return [Data(x, y, noise) for x, y, noise in parts]


def log_densities(given: Conditioned, others: Sequence[Data]) -> FloatArray:
    """Log density of each reward given all others and the state, in the units of the state's rewards; shape (n,).

    Parameters
    ----------
    given : Conditioned
        A state with canonical labels. Scales of surfaces are integrated out, whether they have been drawn or not.
    others : sequence of Data
        From :func:`all_but_one`; only the inputs are used.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Model
    >>> from infgp.core.state import State
    >>> from infgp.core.priors import Priors
    >>> model, one = Model("se", Priors().resolve(1), ard=False), np.ones(1)
    >>> data = Data(np.linspace(0.0, 1.0, 6)[:, None], np.array([0.0, 0.0, 0.0, 5.0, 0.0, 0.0]))
    >>> state = State(np.zeros(6, dtype=int), np.zeros(2), 0.1, np.ones((1, 1)), one, 0.01 * one)
    >>> int(np.argmin(log_densities(Conditioned(state, data, model), all_but_one(data))))
    3
    """
    labels, n, shape = given.state.labels, given.data.y.size, given.model.scale_shape
    log_density = np.empty((n, given.state.n_surfaces + 1))
    for label in range(given.state.n_surfaces + 1):
        law = given.plain(label)
        members, (mean, variance) = law.surface.members, law(given.data.x)
        gap, variance = given.residual - mean, variance + law.surface.tau2 + given.data.noise
        count, quadratic = np.full(n, float(members.size)), np.full(n, law.quadratic)
        if members.size:  # leave-one-out residuals α_i / A_ii and variances 1 / A_ii, with A = (K + N)⁻¹
            own = 1.0 / np.diag(law.solve(np.eye(members.size)))
            gap[members], variance[members] = law.alpha * own, own
            count[members] -= 1.0
            quadratic[members] = np.maximum(quadratic[members] - law.alpha**2 * own, 0.0)
        log_density[:, label] = _log_density(gap, variance, shape, count, quadratic)
    sizes, out = np.bincount(labels), np.empty(n)
    for i, rest in enumerate(others):
        alone = sizes[labels[i]] == 1
        left = np.delete(labels, i)
        state = replace(given.state, labels=left - (left > labels[i]) if alone else left)
        urn = Conditioned(state, rest, given.model).log_urn(given.data.x[i : i + 1])[0]
        densities = np.delete(log_density[i], labels[i]) if alone else log_density[i]
        out[i] = logsumexp(log_softmax(urn) + densities)
    return out


def _log_density(
    gap: FloatArray, variance: FloatArray, shape: float, count: FloatArray, quadratic: FloatArray
) -> FloatArray:
    """Log density of a reward that is `gap` from its mean: Gaussian, or Student-t where the surface has its own scale.

    The scale is integrated out given the `count` other members, whose rewards have the quadratic form `quadratic`.
    """
    if not shape:
        return np.asarray(norm.logpdf(gap, scale=np.sqrt(variance)))
    unit = np.sqrt(variance * (shape + 0.5 * quadratic) / (shape + 0.5 * count))
    return np.asarray(t.logpdf(gap / unit, 2.0 * shape + count) - np.log(unit))
