"""Surfaces of several posterior states that are the same mode: labels mean nothing across states, members do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infgp.core.partition import IntArray
from infgp.core.surface import Conditioned


def reference(draws: Sequence[Conditioned]) -> Conditioned:
    """The state that agrees best with all others in which rewards lie on one surface: that of least Binder loss.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from infgp.core.model import Data, Model
    >>> from infgp.core.state import State
    >>> from infgp.core.priors import Priors
    >>> model, one, data = Model("se", Priors().resolve(1), ard=False), np.ones(1), Data(np.eye(3)[:, :1], np.zeros(3))
    >>> labels = ([0, 0, 1], [0, 1, 1], [0, 0, 1])
    >>> states = [State(np.array(z), np.zeros(2), 1.0, np.ones((1, 1)), one, one) for z in labels]
    >>> reference([Conditioned(state, data, model) for state in states]).state.labels
    array([0, 0, 1])
    """
    together = np.array([given.state.labels[:, None] == given.state.labels for given in draws])
    share = together.mean(axis=0)
    loss = ((together - share) ** 2).sum(axis=(1, 2))
    return draws[int(np.argmin(loss))]


def matched(labels: IntArray, modes: IntArray) -> IntArray:
    """For each surface of a state the mode that it has most members in common with; labels and modes of all rewards.

    Examples
    --------
    >>> import numpy as np
    >>> matched(np.array([0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0]))
    array([1, 0, 0])
    """
    common = np.zeros((int(labels.max()) + 1, int(modes.max()) + 1), dtype=np.int64)
    np.add.at(common, (labels, modes), 1)
    return np.asarray(np.argmax(common, axis=1))
