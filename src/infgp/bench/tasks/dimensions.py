"""Tasks with many inputs, wide-FUNCTION-NOISE-dD: ``"wide-ackley-outliers-d50"``.

Each function is at least 0 over the unit cube, and 0 at a known point that is neither its centre nor, but for the
linear part of one of them, on its boundary. Rewards are the negative, in units of the function's standard deviation
over the cube.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np
from scipy.stats import ortho_group

from infgp.bench.core import HEAVY_TAILED, PLAIN, Task
from infgp.bench.tasks.cube import checked
from infgp.bench.tasks.functions import LANDSCAPES, Points, Values
from infgp.bench.tasks.noises import HEAVY, NOISES
from infgp.bench.tasks.noisy import SPREAD_POINTS, sobol
from infgp.errors import InvalidInputError

#: Numbers of inputs.
DIMENSIONS = (10, 20, 50, 100)
#: Noises of :mod:`infgp.bench.tasks.noises`.
WIDE_NOISES = ("small", "outliers", "student_t2")
#: Evaluations of a run.
STEPS = 200
#: Every coordinate of the least value of the functions that are made here, but for linear parts.
CENTRE = 0.3
#: Ratio between the longest and the shortest axis of the ellipsoid, squared.
CONDITION = 100.0
#: Half the height of a ripple of Rastrigin's function, in squared units of its domain.
RIPPLE = 10.0
#: Side of the domain of Rastrigin's function.
SIDE = 10.24
#: Number of inputs that matter in the embedded function.
EMBEDDED = 4
#: Share of inputs that matter in the sparse function: half of them in linear terms, half of them in squares.
SHARE = 0.2
#: Seed of the rotation of the ellipsoid.
ROTATION = 20261118


def rastrigin(x: Points) -> Values:
    """Rastrigin's function: a bowl with ten ripples over every side."""
    z = SIDE * (x - CENTRE)
    return np.asarray(np.sum(z**2 + RIPPLE * (1.0 - np.cos(2.0 * np.pi * z)), axis=1))


@cache
def _axes(d: int) -> Points:
    """Axes of the ellipsoid in columns, the longest of length one."""
    turn = ortho_group.rvs(d, random_state=np.random.default_rng(ROTATION))
    return np.asarray(turn * CONDITION ** (0.5 * np.linspace(-1.0, 0.0, d)))


def ellipsoid(x: Points) -> Values:
    """A quadratic bowl whose axes are turned against the inputs."""
    return np.asarray(np.sum(((x - CENTRE) @ _axes(x.shape[1])) ** 2, axis=1))


def embedded(x: Points) -> Values:
    """Levy's function of the first inputs; the others do nothing."""
    return LANDSCAPES["levy"].raw(x[:, :EMBEDDED])


def sparse(x: Points) -> Values:
    """A sum over some inputs: linear terms, squares, and the product of each of them with its neighbour's."""
    half = max(1, round(SHARE * x.shape[1] / 2.0))
    lines, bowls = x[:, :half], x[:, half : 2 * half] - CENTRE
    return np.asarray(lines.sum(axis=1) + 4.0 * np.sum(bowls**2, axis=1) + 2.0 * np.sum(lines * bowls**2, axis=1))


FUNCTIONS: Mapping[str, Callable[[Points], Values]] = {
    "ackley": LANDSCAPES["ackley"].raw,
    "levy": LANDSCAPES["levy"].raw,
    "rastrigin": rastrigin,
    "ellipsoid": ellipsoid,
    "embedded": embedded,
    "sparse": sparse,
}
#: Names of all tasks.
WIDE = tuple(f"wide-{f}-{noise}-d{d}" for d in DIMENSIONS for f in FUNCTIONS for noise in WIDE_NOISES)


def optimum(function: str, d: int) -> Points:
    """Where a function is 0, shape (d,).

    Examples
    --------
    >>> optimum("sparse", 10), float(rastrigin(optimum("rastrigin", 3)[None])[0])
    (array([0. , 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]), 0.0)
    """
    if function in ("ackley", "levy", "embedded"):
        landscape = LANDSCAPES["levy" if function == "embedded" else function]
        return np.full(d, (landscape.minimum - landscape.low) / (landscape.high - landscape.low))
    point = np.full(d, CENTRE)
    if function == "sparse":
        point[: max(1, round(SHARE * d / 2.0))] = 0.0
    return point


@cache
def spread(function: str, d: int) -> float:
    """Standard deviation of a function over the cube."""
    return float(np.std(FUNCTIONS[function](sobol(SPREAD_POINTS, d, seed=0))))


def wide_task(name: str) -> Task:
    """The task of a name such as ``"wide-ackley-outliers-d50"``.

    Examples
    --------
    >>> task = wide_task("wide-ellipsoid-small-d20")
    >>> task.d, task.steps, float(task.expected(optimum("ellipsoid", 20)[None])[0])
    (20, 200, -0.0)
    """
    if name not in WIDE:
        raise InvalidInputError(f"No task is called {name!r}; expected wide-FUNCTION-NOISE-dD, such as {WIDE[0]!r}.")
    _, function, noise, dimension = name.split("-")
    d = int(dimension[1:])
    expected = partial(_expected, function, spread(function, d))

    def draw(rng: np.random.Generator, x: Points) -> float:
        return float(expected(x[None])[0]) + NOISES[noise](rng, x)

    return checked(Task(name, d, HEAVY_TAILED if noise in HEAVY else PLAIN, expected, draw, 0.0, STEPS))


def _expected(function: str, unit: float, x: Points) -> Values:
    return np.asarray(-FUNCTIONS[function](np.asarray(x)) / unit)
