"""Markov chain moves, one file for each: functions ``(rng, state, data, model)`` to the next state.

A move may also return what it did, as a pair of the state and its deeds: how often it tried something, and how often
that was accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from infgp.core.model import Data, Model

#: Times that something was tried, and accepted, by its name.
Deeds: TypeAlias = dict[str, tuple[int, int]]
Move: TypeAlias = Callable[[np.random.Generator, Any, Data, Model], Any]
