"""How likely each reward is given all others: the densities that leave-one-out cross-validation is made of.

The surfaces are integrated out, so that rewards are not independent given a state. What importance sampling needs then
(Bürkner, Gabry and Vehtari 2021, Efficient leave-one-out cross-validation for Bayesian non-factorized models) is
log p(y_i | y without y_i, the state without z_i). The label of reward i is integrated out: the density is a mixture
over the surfaces that the others lie on, and a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import log_softmax, logsumexp

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
        A state with canonical labels, and with scales drawn where surfaces have scales of their own.
    others : sequence of Data
        From :func:`all_but_one`; only the inputs are used.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Model, State
    >>> from infgp.core.priors import Priors
    >>> model, one = Model("se", Priors().resolve(1), ard=False), np.ones(1)
    >>> data = Data(np.linspace(0.0, 1.0, 6)[:, None], np.array([0.0, 0.0, 0.0, 5.0, 0.0, 0.0]))
    >>> state = State(np.zeros(6, dtype=int), np.zeros(2), 0.1, np.ones((1, 1)), one, 0.01 * one)
    >>> int(np.argmin(log_densities(Conditioned(state, data, model), all_but_one(data))))
    3
    """
    labels, n = given.state.labels, given.data.y.size
    gaps, variances = (np.empty((n, given.state.n_surfaces + 1)) for _ in range(2))
    for label, law in enumerate(given.surfaces()):
        mean, variance = law(given.data.x)
        gaps[:, label] = given.residual - mean
        variances[:, label] = variance + law.surface.tau2 + law.surface.scale * given.data.noise
        members = law.surface.members
        if members.size:  # leave-one-out residuals α_i / A_ii and variances 1 / A_ii, with A = (K + N)⁻¹
            own = 1.0 / np.diag(law.solve(np.eye(members.size)))
            gaps[members, label], variances[members, label] = law.alpha * own, own
    log_normal = -0.5 * (gaps**2 / variances + np.log(2.0 * np.pi * variances))
    sizes, out = np.bincount(labels), np.empty(n)
    for i, rest in enumerate(others):
        alone = sizes[labels[i]] == 1
        left = np.delete(labels, i)
        state = replace(given.state, labels=left - (left > labels[i]) if alone else left)
        urn = Conditioned(state, rest, given.model).log_urn(given.data.x[i : i + 1])[0]
        densities = np.delete(log_normal[i], labels[i]) if alone else log_normal[i]
        out[i] = logsumexp(log_softmax(urn) + densities)
    return out
