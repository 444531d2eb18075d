"""Learning from more values than a chain can hold: a chain on selected values that goes on as values come."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from infgp.core.absorb import Completed
from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model
from infgp.core.partition import IntArray
from infgp.core.state import State
from infgp.predict.targets import TargetLaw
from infgp.sample.complete import complete
from infgp.sample.large import carried, first_guess, others, part, select

#: By what factor the selected values may become more, since every new one is selected, before others are selected.
GROWTH = 1.2
#: Number of inputs at which objectives are computed at once.
BLOCK = 4096


def begin(rng: np.random.Generator, data: Data, model: Model, size: int, ranked: bool) -> tuple[IntArray, State]:
    """The selected rows of a new chain, and where it starts; `ranked` is whether larger values are better."""
    guess = first_guess(rng, data, model, max(size // 2, 1))
    return reselect(rng, guess, data, size, ranked)


def go_on(
    rng: np.random.Generator,
    state: State,
    known: IntArray,
    seen: int,
    data: Data,
    model: Model,
    size: int,
    ranked: bool,
) -> tuple[IntArray, State]:
    """The selected rows of a chain that goes on, and where it starts.

    `known` are the rows that the state is for, of the first `seen` rows. New ones join, until they are too many.
    """
    n = data.y.size
    rows = np.concatenate((known, np.arange(seen, n)))
    if rows.size <= GROWTH * size:
        return rows, state
    return reselect(
        rng, complete(rng, state, part(data, known), part(data, others(n, known)), model, known), data, size, ranked
    )


def reselect(rng: np.random.Generator, given: Completed, data: Data, size: int, ranked: bool) -> tuple[IntArray, State]:
    """Rows that a state believes to be worth selecting, and the state for them."""
    rows = select(rng, data.x, size, given.off_main(), expected_everywhere(given, data.x) if ranked else None)
    return rows, carried(given, rows)


def expected_everywhere(given: Completed, x: FloatArray) -> FloatArray:
    """The mean of the surfaces without clutter at many inputs, in the model's units; odds follow the input."""
    law = TargetLaw.of(replace(given, model=given.model.for_laws(uneven=False)), "expected")
    return np.concatenate([law.mean(x[start : start + BLOCK]) for start in range(0, x.shape[0], BLOCK)])
