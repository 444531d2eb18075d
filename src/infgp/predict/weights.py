"""How likely each surface is at an input, given one state: the urn's weights, in which places count."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model, State
from infgp.core.partition import IntArray
from infgp.core.places import log_cohesion_ratios, ties


def log_urn(state: State, data: Data, model: Model, at: FloatArray) -> FloatArray:
    """Logarithms of what :func:`urn_weights` normalises, shape (m, K + 1)."""
    log_counts = np.log(np.append(np.unique(state.labels, return_counts=True)[1], state.nu))
    if model.one_surface:
        log_counts[-1] = -np.inf
    if not model.local:
        return np.broadcast_to(log_counts, (at.shape[0], log_counts.size))
    k = ties(*data.x.shape)
    return np.asarray(log_counts + log_cohesion_ratios(data.x, state.labels, at, k, data.places, model.local))


def urn_weights(state: State, data: Data, model: Model, at: FloatArray) -> FloatArray:
    """Probabilities of the occupied surfaces, then of a new one, for an observation at each point; shape (m, K + 1).

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> model, one = Model("se", Priors().resolve(1), ard=False), np.ones(1)
    >>> state = State(np.array([0, 0, 1]), np.zeros(2), 1.0, np.ones((1, 1)), one, one)
    >>> urn_weights(state, Data(np.array([[0.1], [0.2], [0.9]]), np.zeros(3)), model, np.array([[0.5]]))
    array([[0.5 , 0.25, 0.25]])
    """
    return np.asarray(softmax(log_urn(state, data, model, at), axis=1))


def main_labels(state: State, data: Data, model: Model, at: FloatArray) -> IntArray:
    """Label of the main surface at each point, the occupied surface with the largest weight there; shape (m,)."""
    return np.asarray(np.argmax(log_urn(state, data, model, at)[:, :-1], axis=1))
