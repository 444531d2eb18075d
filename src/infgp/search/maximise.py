"""Maximising a score over a space: many candidates, then gradients from the best candidates.

What is scored is what is evaluated: integers, steps and choices are rounded before every score, and parameters that do
not apply stay in their middle. Gradients move the continuous coordinates; integers, steps and choices are then
improved one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np
from scipy.optimize import Bounds
from scipy.optimize import minimize as scipy_minimize

from infgp.core.linalg import FloatArray
from infgp.space import Space

#: Number of candidates spread over the cube.
SPREAD = 1024
#: Number of candidates around each good point.
AROUND = 48
#: Largest standard deviation of a candidate around a good point, in units of the cube's side.
WIDEST = 0.2
#: Smallest standard deviation of a candidate around a good point, in units of the cube's side.
NARROWEST = 0.002
#: Number of coordinates, on average, in which a candidate differs from the good point that it is around.
MOVED = 10.0
#: Number of candidates from which gradients are followed in the first round.
STARTS = 64
#: Iterations of L-BFGS-B in the first round.
FIRST_ITERATIONS = 10
#: Number of points of the first round that go on to the second.
FINALISTS = 6
#: Number of the best of given points around which :func:`pick_near` looks.
TOPS = 4
#: Iterations of L-BFGS-B in the second round.
ITERATIONS = 60
#: Largest number of single changes of an integer or a choice, one after the other.
ROUNDS = 4


#: Values at the rows of an array of positions, shape (m,).
Values: TypeAlias = Callable[[FloatArray], FloatArray]


class Climbable(Protocol):
    """What gradients can be followed on."""

    def value_and_gradient(self, at: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Values at the rows of `at`, shape (m,), and gradients, shape (m, d)."""


class Score(Climbable, Protocol):
    """A function of the unit cube, in batch."""

    def __call__(self, at: FloatArray, /) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""


def candidates(
    rng: np.random.Generator,
    space: Space,
    good: FloatArray,
    spread: int = SPREAD,
    around: int = AROUND,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Points over the whole space, the `good` points, and points around them at several distances.

    About `MOVED` coordinates of a point around a good one are not the good one's: where `weight`, shape (d,), says how
    much each matters, those that matter more often, and there are also good points with such coordinates anywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.space import Float
    >>> space = Space.of({"a": Float(0, 1)})
    >>> candidates(np.random.default_rng(0), space, np.array([[0.5]]), 16).shape
    (65, 1)
    """
    d = space.d
    chance = np.full(d, 1.0 / d) if weight is None else 0.5 * (1.0 / d + weight / weight.sum())
    parts = [space.sobol(rng, spread), good]
    for centre in good:
        width = np.exp(rng.uniform(np.log(NARROWEST), np.log(WIDEST), (around, 1)))
        step = width * rng.standard_normal((around, d))
        step[rng.random((around, d)) > MOVED * chance] = 0.0  # sparse where there are many coordinates
        parts.append(centre + step)
    if weight is not None and good.size:
        elsewhere = rng.random((spread, d)) < MOVED * chance
        parts.append(np.where(elsewhere, rng.random((spread, d)), good[rng.integers(good.shape[0], size=spread)]))
    return space.snap(np.clip(np.concatenate(parts), 0.0, 1.0))


def pick(
    rng: np.random.Generator,
    score: Values,
    space: Space,
    good: FloatArray,
    spread: int,
    around: int,
    weight: FloatArray | None = None,
) -> FloatArray:
    """The best of some candidates, shape (d,), without gradients; integers and choices are improved from there.

    Parameters
    ----------
    rng : numpy.random.Generator
    score : callable
        Values in batch; no gradients.
    space : Space
    good : array, shape (k, d)
    spread, around : int
        Candidates over the whole space, and around each good point.
    weight : array, shape (d,), optional
        How much each coordinate matters (:func:`candidates`).

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.predict.paths import Path
    >>> from infgp.space import Float
    >>> space = Space.of({"a": Float(0, 1)})
    >>> plane = Path(np.array([0.0, 1.0]))
    >>> bool(pick(np.random.default_rng(0), plane, space, np.array([[0.9]]), 16, 16)[0] > 0.9)
    True
    """
    points = candidates(rng, space, good, spread, around, weight)
    if space.discrete.any():
        tops = points[spread_best(points, _clean(score(points)), FINALISTS)]
        points = np.concatenate((points, _exchange(score, space, tops)))
    return np.asarray(points[np.argmax(_clean(score(points)))])


def pick_near(rng: np.random.Generator, score: Values, space: Space, points: FloatArray, around: int) -> FloatArray:
    """The best of the rows of `points` and of candidates around the best of them that lie apart; shape (d,).

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.predict.paths import Path
    >>> from infgp.space import Float
    >>> space, plane = Space.of({"a": Float(0, 1)}), Path(np.array([0.0, 1.0]))
    >>> bool(pick_near(np.random.default_rng(0), plane, space, np.array([[0.1], [0.9]]), 16)[0] > 0.9)
    True
    """
    tops = points[spread_best(points, _clean(score(points)), TOPS)]
    return pick(rng, score, space, tops, 1, around)


def maximise(
    rng: np.random.Generator, score: Score, space: Space, good: FloatArray, effort: int = 1
) -> tuple[FloatArray, float]:
    """The best point found, shape (d,), snapped to the space, and its score.

    Gradients are followed a little way from many candidates, and further from the best points that are reached.

    Parameters
    ----------
    rng : numpy.random.Generator
    score : Score
    space : Space
    good : array, shape (k, d)
        Points worth a closer look: good observations, maxima of the surfaces.
    effort : int
        Factor by which the numbers of candidates over the whole space, of starts and of finalists are multiplied.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.predict.paths import Path
    >>> from infgp.space import Float
    >>> space = Space.of({"a": Float(0, 1), "b": Float(0, 1)})
    >>> x, value = maximise(np.random.default_rng(0), Path(np.array([0.0, 1.0, -1.0])), space, np.empty((0, 2)))
    >>> x.round(6), round(value, 6)
    (array([1., 0.]), 1.0)
    """
    points = candidates(rng, space, good, effort * SPREAD)
    values = _clean(score(points))
    tops = points[spread_best(points, values, effort * STARTS)]
    discrete = space.discrete
    if not discrete.all():
        tops = climb(score, space, tops, FIRST_ITERATIONS)
        tops = tops[spread_best(tops, _clean(score(tops)), effort * FINALISTS)]
        tops = climb(score, space, tops, ITERATIONS)
    if discrete.any():
        tops = _exchange(score, space, tops)
        tops = climb(score, space, tops, ITERATIONS)
    points = np.concatenate((points[[np.argmax(values)]], tops))
    values = _clean(score(points))
    best = int(np.argmax(values))
    return points[best], float(values[best])


def _clean(values: FloatArray) -> FloatArray:
    """The values with −∞ for NaN, so that a point that cannot be scored is never chosen."""
    return np.where(np.isnan(values), -np.inf, values)


def spread_best(points: FloatArray, values: FloatArray, count: int) -> FloatArray:
    """Indices of good points that lie apart: the best one, then the best one away from all that were chosen before.

    Examples
    --------
    >>> import numpy as np
    >>> spread_best(np.array([[0.1], [0.11], [0.9]]), np.array([2.0, 3.0, 1.0]), 2)
    array([1, 2])
    """
    order = np.argsort(-values, kind="stable")[: 40 * count]
    apart = 0.03 * np.sqrt(points.shape[1])
    chosen: list[int] = []
    for i in order:
        if not chosen or np.min(np.linalg.norm(points[chosen] - points[i], axis=1)) > apart:
            chosen.append(int(i))
        if len(chosen) == count:
            break
    return np.array(chosen)


def climb(score: Climbable, space: Space, starts: FloatArray, iterations: int, reach: float = 1.0) -> FloatArray:
    """L-BFGS-B from all starts together, the sum of their scores as the objective.

    Coordinates that are discrete, or of parameters that do not apply at a start, stay; the others move by at most
    `reach`. Rows keep their order, so that a score may be another function in every row.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.predict.paths import Path
    >>> from infgp.space import Float
    >>> plane, space = Path(np.array([0.0, 1.0])), Space.of({"a": Float(0, 1)})
    >>> climb(plane, space, np.array([[0.3]]), 10), climb(plane, space, np.array([[0.3]]), 10, reach=0.5)
    (array([[1.]]), array([[0.8]]))
    """
    free = space.free(starts)
    if not free.any():
        return starts

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        at = starts.copy()
        at[free] = flat
        value, gradient = score.value_and_gradient(at)
        if not (np.isfinite(value).all() and np.isfinite(gradient).all()):
            return np.inf, np.zeros(flat.size)
        return -float(value.sum()), -gradient[free]

    found = scipy_minimize(
        objective,
        starts[free],
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(np.maximum(starts[free] - reach, 0.0), np.minimum(starts[free] + reach, 1.0)),
        options={"maxiter": iterations, "maxcor": 20},
    )
    out = starts.copy()
    out[free] = found.x
    return space.snap(out)


def _exchange(score: Values, space: Space, starts: FloatArray) -> FloatArray:
    """Improve integers and choices, one at a time; the neighbours of all points are scored together."""
    best, values = starts.copy(), _clean(score(starts))
    moving = np.arange(starts.shape[0])
    for _ in range(ROUNDS):
        near = [space.neighbours(best[k]) for k in moving]
        scores = np.split(_clean(score(np.concatenate(near))), np.cumsum([len(part) for part in near])[:-1])
        better = [bool(found.max() > values[k]) for k, found in zip(moving, scores, strict=True)]
        for k, part, found, is_better in zip(moving, near, scores, better, strict=True):
            if is_better:
                best[k], values[k] = part[np.argmax(found)], found.max()
        moving = moving[better]
        if not moving.size:
            break
    return best
