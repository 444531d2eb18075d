"""Markov chain moves, one file for each: functions ``(rng, state, data, model)`` to the next state.

A move may also return a pair: the state, and its deeds. Deeds count, for each kind of proposal, how often the move
tried it and how often it was accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from infgp.core.model import Data, Model

#: For each kind of proposal, by name: how often it was tried, and how often it was accepted.
Deeds: TypeAlias = dict[str, tuple[int, int]]
Move: TypeAlias = Callable[[np.random.Generator, Any, Data, Model], Any]


def apply(
    moves: Sequence[Move], rng: np.random.Generator, state: Any, data: Data, model: Model, deeds: Deeds | None = None
) -> Any:
    """The state after some moves, one after the other; what they tell of themselves is added to `deeds`.

    Examples
    --------
    >>> deeds = {}
    >>> up = lambda rng, state, data, model: (state + 1, {"step": (1, 1)})
    >>> apply((up, up), None, 0, None, None, deeds), deeds
    (2, {'step': (2, 2)})
    """
    for move in moves:
        state = move(rng, state, data, model)
        if isinstance(state, tuple):
            state, done = state
            if deeds is not None:
                add(deeds, done)
    return state


def add(deeds: Deeds, more: Deeds) -> None:
    """Count further deeds, in place."""
    for name, (tried, accepted) in more.items():
        before = deeds.get(name, (0, 0))
        deeds[name] = (before[0] + tried, before[1] + accepted)
