"""What a task and a method are, and where they are listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from infgp.errors import InvalidInputError

#: Kind of a task with Gaussian noise on a landscape that is alike everywhere.
PLAIN = "plain"
#: Kind of a task with heavy-tailed noise.
HEAVY_TAILED = "heavy-tailed"
#: Kind of a task whose landscape changes its character across the space.
NON_STATIONARY = "non-stationary"
#: All kinds of tasks.
KINDS = (PLAIN, HEAVY_TAILED, NON_STATIONARY)


@dataclass(frozen=True)
class Shared:
    """Randomness that all methods share on a seed of a task, where it is the task's own and not the runner's.

    Parameters
    ----------
    design : callable
        ``design(size, seed)``: the initial points, shape (size, d).
    rewards : callable
        ``rewards(seed)``: one generator, from which all rewards of a run are drawn in turn.
    """

    design: Callable[[int, int], NDArray[np.float64]]
    rewards: Callable[[int], np.random.Generator]


@dataclass(frozen=True)
class Task:
    """A noisy function on the unit cube whose expected reward is known, to be maximised.

    Parameters
    ----------
    name : str
        For records and figures, with the dimension where that is needed to tell tasks apart: ``"ackley-ht-d5"``.
    d : int
        Dimension of the cube.
    kind : {"plain", "heavy-tailed", "non-stationary"}
        Decides which of the methods that are meant for one kind are run on it.
    expected : callable
        Expected rewards, shape (m,), at points of shape (m, d).
    draw : callable
        One noisy reward, from a generator and a point of shape (d,).
    best : float
        The largest expected reward over the cube.
    steps : int, optional
        Evaluations of a run, the initial design included.
    shared : Shared, optional
        Initial design and noise of its runs; the runner's by default.
    """

    name: str
    d: int
    kind: str
    expected: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    draw: Callable[[np.random.Generator, NDArray[np.float64]], float]
    best: float
    steps: int = 100
    shared: Shared | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidInputError(f"kind of task {self.name!r} is {self.kind!r}; expected one of {KINDS}.")


class Run(Protocol):
    """A method at work on one task: it sees points and rewards, and the initial design like any other data."""

    def ask(self) -> NDArray[np.float64]:
        """The next point, shape (d,)."""

    def tell(self, x: NDArray[np.float64], y: float) -> None:
        """Take in the reward y of point x, which need not be the point asked for."""

    # A run may also have ``recommend() -> x``: the point, shape (d,), to use in the end.


@dataclass(frozen=True)
class Method:
    """A way to choose the next point.

    Parameters
    ----------
    name : str
        For records: ``"gp-ei"``.
    label : str
        For figures: ``"GP-EI"``.
    start : callable
        ``start(d, seed)`` begins a run.
    kinds : tuple of str, optional
        Kinds of tasks that it is meant for.
    packages : tuple of str, optional
        Distributions whose versions go into its records.
    """

    name: str
    label: str
    start: Callable[[int, int], Run]
    kinds: tuple[str, ...] = KINDS
    packages: tuple[str, ...] = ()


Named = TypeVar("Named", Task, Method)


def by_name(known: Mapping[str, Named], names: str) -> list[Named]:
    """The entries of `known` that are listed in ``names``, separated by commas."""
    wanted = [name.strip() for name in names.split(",")]
    if unknown := [name for name in wanted if name not in known]:
        raise InvalidInputError(f"{', '.join(unknown)} is not among {', '.join(known)}.")
    return [known[name] for name in wanted]
