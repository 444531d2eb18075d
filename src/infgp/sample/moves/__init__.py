"""Markov chain moves, one file for each: functions ``(rng, state, data, model)`` to the next state.

A move may also return a pair: the state, and its deeds. Deeds count, for each kind of proposal, how often the move
tried it and how often it was accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from infgp.core.model import Data, Model

#: For each kind of proposal, by name: how often it was tried, and how often it was accepted.
Deeds: TypeAlias = dict[str, tuple[int, int]]
Move: TypeAlias = Callable[[np.random.Generator, Any, Data, Model], Any]
