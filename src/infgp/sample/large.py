"""More observations than a chain can hold: which of them it runs on, and how it goes on with others.

The chain is the exact one, on *selected* observations. Those that it has not seen are taken in by
:mod:`infgp.sample.complete` in every state that is kept. Selected are, in this order,

- one observation at each of the inputs, where few inputs are evaluated again and again: the others are then absorbed
  without any approximation,
- the observations at the best inputs, for a search, so that nothing is lost where it matters,
- observations off the main surface, from which the laws of the other surfaces are learned,
- observations at random.

Selected shares are not the shares of all observations; weights of surfaces are put right when a state is completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from infgp.core.absorb import Completed
from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model, by_label
from infgp.core.partition import IntArray, canonical
from infgp.core.state import State
from infgp.sample.chain import Schedule, cooling, run_collapsed
from infgp.sample.complete import complete

#: Share of the selected observations that are at the best inputs, where there are scores.
BEST = 0.35
#: Share of the selected observations that lie off the main surface, where fewer of all observations do.
OFF = 0.15
#: Largest share of the selected observations that stand for one of few inputs each.
DISTINCT = 0.5
#: Sweeps of the chain from which labels of all observations are first guessed.
FIRST_SWEEPS = 60


def selected_size(exact_up_to: int) -> int:
    """Number of selected observations, from the largest number with which chains are exact.

    Examples
    --------
    >>> selected_size(1000)
    500
    """
    return max(exact_up_to // 2, 1)


def part(data: Data, rows: IntArray) -> Data:
    """Some of the observations."""
    return Data(data.x[rows], data.y[rows], data.noise[rows])


def others(n: int, rows: IntArray) -> IntArray:
    """All places but `rows`, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> others(5, np.array([1, 3]))
    array([0, 2, 4])
    """
    left = np.ones(n, dtype=bool)
    left[rows] = False
    return np.flatnonzero(left)


def select(
    rng: np.random.Generator,
    x: FloatArray,
    size: int,
    off: NDArray[np.bool_] | None = None,
    scores: FloatArray | None = None,
) -> IntArray:
    """Places of the observations that are selected, ascending, shape (size,).

    Parameters
    ----------
    rng : numpy.random.Generator
    x : array, shape (n, d)
    size : int
        Less than n.
    off : array of bool, shape (n,), optional
        Whether each observation is believed to lie off the main surface.
    scores : array, shape (n,), optional
        How good each input is.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0.0, 1.0, 100)[:, None]
    >>> rows = select(np.random.default_rng(0), x, 20, scores=x[:, 0])
    >>> rows.size, rows[-7:].tolist() == list(range(93, 100))
    (20, True)
    """
    n = x.shape[0]
    shuffled = rng.permutation(n)
    chosen = np.zeros(n, dtype=bool)
    first = np.unique(x, axis=0, return_index=True)[1]  # the first observation at each input
    if first.size <= DISTINCT * size:
        chosen[first] = True
    if scores is not None:
        ranked = first[np.argsort(-scores[first], kind="stable")]
        chosen[ranked[: int(BEST * size)]] = True
    if off is not None and off.mean() < OFF:
        some = shuffled[off[shuffled]]
        chosen[some[: round((OFF - off.mean()) * size)]] = True
    left = shuffled[~chosen[shuffled]]
    chosen[left[: max(size - int(chosen.sum()), 0)]] = True
    return np.flatnonzero(chosen)


def first_guess(rng: np.random.Generator, data: Data, model: Model, size: int) -> Completed:
    """A state of a short chain on `size` random observations, completed: what the first selection is made from."""
    rows = select(rng, data.x, size)
    own = part(data, rows)
    draws = run_collapsed(rng, own, model, Schedule(cooling(FIRST_SWEEPS), 1, (0,), traced=False), "one")
    return complete(rng, draws.states[0], own, part(data, others(data.y.size, rows)), model, rows)


def all_labels(given: Completed) -> IntArray:
    """The surface of every observation; each that lies on none has a label of its own."""
    labels = np.empty(given.rows.size + given.rest_labels.size, dtype=np.int64)
    rest = others(labels.size, given.rows)
    labels[given.rows], labels[rest] = given.state.labels[: given.rows.size], given.rest_labels
    alone = rest[given.rest_labels == given.state.n_surfaces]
    labels[alone] = given.state.n_surfaces + np.arange(alone.size)
    return labels


def carried(given: Completed, rows: IntArray) -> State:
    """The state for other selected observations: a place for their chain to start."""
    state, labels = given.state, all_labels(given)[rows]
    if given.model.one_surface:
        labels = np.zeros(rows.size, dtype=np.int64)
    grades = np.zeros(rows.size, dtype=np.int64)
    if len(given.model.grades) > 1:
        known = labels < state.n_surfaces
        grades[known] = state.grade[labels[known]] if state.grade.size > 1 else state.grade[0]
    tidy = canonical(labels)
    return replace(state, labels=tidy, scale=np.ones(1), grade=by_label(given.model, tidy, grades))


def completed(seed: int, states: Sequence[State], data: Data, model: Model, rows: IntArray) -> tuple[Completed, ...]:
    """States of a chain on the selected rows of the data with all other observations taken in.

    The randomness is derived from a seed, so that a chain that was saved gives the same.
    """
    own, rest = part(data, rows), part(data, others(data.y.size, rows))
    rngs = np.random.default_rng(seed).spawn(len(states))
    return tuple(complete(rng, state, own, rest, model, rows) for rng, state in zip(rngs, states, strict=True))
