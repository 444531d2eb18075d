"""Choosing the next input for several objectives: by how much it is expected to add to the hypervolume of trade-offs.

In each posterior state, every objective is drawn at the evaluated inputs. The front is that of the drawn values, so
that neither a lucky reward nor noise makes a trade-off. Given the draw, the objectives at another input are Gaussian
and independent of each other, and what the input is expected to add to the hypervolume of the front is exact
(:mod:`infgp.search.hypervolume`). Its logarithm is averaged over states, as that of the improvement of one objective is
(:mod:`infgp.search.improvement`). This is noisy expected hypervolume improvement (Daulton, Balandat and Bakshy 2021)
with states of a chain in place of one fitted model.

Under constraints, the front has inputs that are more likely feasible than not, and the log probability that all
constraints hold is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.core.rewardmap import Tempered
from infgp.predict.functionals import Aim
from infgp.predict.objectives import MeanObjective, ObjectiveLaw
from infgp.search.acquisition import FAR, anticipate, best_of
from infgp.search.costs import LogCost, per_cost
from infgp.search.hypervolume import Boxes, undominated
from infgp.search.maximise import candidates, pick, pick_near
from infgp.search.several import LIKELY, Aimed, LogFeasibility, not_dominated
from infgp.space import Space

#: Number of points of the front around which is searched, drawn at random where the front has more.
CENTRES = 10
#: Number of candidates around each of them, and in the end around each of the best candidates.
NEAR = 60
#: Number of candidates between two points of the front: on the line between them, or with coordinates of both.
BETWEEN = 200
#: Largest number of points of a front, times 2 for each objective. A larger front is thinned at random in each state.
LARGEST_FRONT = 640
#: Least number of points of a front to which it is thinned.
LEAST_FRONT = 8
#: Smallest distance of the reference point from the worst value, in units of the range of the values.
MARGIN = 1e-6


@dataclass(frozen=True, eq=False)
class LogHypervolumeGain:
    """Log of the hypervolume that an input is expected to add, averaged over states; values in batch.

    Attributes
    ----------
    laws : tuple of tuple of ObjectiveLaw
        For each state, the laws of the objectives.
    boxes : tuple of Boxes
        For each state, what its front does not dominate.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.core.surface import Conditioned
    >>> from infgp.predict.functionals import Objective
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model, aim = Model("se", Priors().resolve(1), ard=False), Aim(Objective(), RewardScale(0.0, 1.0))
    >>> given = Conditioned(prior_draw(rng, x, model), Data(x, x[:, 0]), model)
    >>> laws = [[ObjectiveLaw.of(given, aim), ObjectiveLaw.of(given, aim)]]
    >>> LogHypervolumeGain.of(rng, laws, x)(x).shape
    (6,)
    """

    laws: tuple[tuple[ObjectiveLaw, ...], ...]
    boxes: tuple[Boxes, ...]

    @classmethod
    def of(
        cls,
        rng: np.random.Generator,
        states: Sequence[Sequence[ObjectiveLaw]],
        evaluated: FloatArray,
        reference: FloatArray | None = None,
    ) -> LogHypervolumeGain:
        """The gain over the front at the inputs `evaluated`, shape (n, d), above a reference point or an inferred one.

        In each state the objectives are drawn at their observations first.
        """
        laws, boxes = [], []
        for state in states:
            drawn = tuple(law.drawn(rng) for law in state)
            values = np.column_stack([law.mean(evaluated) for law in drawn])
            low = worst(values) if reference is None else reference
            boxes.append(undominated(_thinned(rng, values[not_dominated(values)]), low))
            laws.append(drawn)
        return cls(tuple(laws), tuple(boxes))

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        logs = []
        for laws, boxes in zip(self.laws, self.boxes, strict=True):
            moments = [law(at) for law in laws]
            mean, variance = (np.column_stack(part) for part in zip(*moments, strict=True))
            logs.append(boxes.log_gain(mean, np.sqrt(variance)))
        return np.asarray(np.mean(logs, axis=0))


def worst(values: FloatArray) -> FloatArray:
    """The reference point where the user gives none: just below the worst value of each column, shape (objectives,).

    Examples
    --------
    >>> import numpy as np
    >>> worst(np.array([[0.0, 2.0], [1.0, 1.0]])).round(3)
    array([-0.,  1.])
    """
    span = np.ptp(values, axis=0)
    return np.asarray(values.min(axis=0) - MARGIN * np.where(span > 0.0, span, 1.0))


def suggest_tradeoff(
    rng: np.random.Generator,
    objectives: Sequence[Aimed],
    constraints: Sequence[Aimed],
    space: Space,
    pending: FloatArray,
    reference: Sequence[float] | None = None,
    price: LogCost | None = None,
) -> FloatArray:
    """The next input, shape (d,), for objectives that are all to be maximised under constraints c_j(x) <= 0.

    What pending evaluations will say of objectives and constraints is drawn from the posterior, as it is for one
    objective; they are then evaluated inputs like others.

    Parameters
    ----------
    rng : numpy.random.Generator
    objectives, constraints : sequences of Aimed
    space : Space
    pending : array, shape (k, d)
    reference : sequence of float, optional
        The reference point in the user's units. By default it is the worst drawn value of each objective.
    price : LogCost, optional
        What evaluations are expected to cost, where improvement per cost is sought.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.options import ModelOptions
    >>> from infgp.predict.functionals import Objective
    >>> from infgp.search.learning import Learner, Series
    >>> from infgp.space import Float
    >>> rng, x, none = np.random.default_rng(0), np.linspace(0.0, 1.0, 9)[:, None], np.empty((0, 1))
    >>> learner = Learner.of(ModelOptions(), d=1)
    >>> objectives = [
    ...     learner.learn(rng, Series(x, -(x[:, 0] - best) ** 2, np.zeros(9), none), None) for best in (0.2, 0.6)
    ... ]
    >>> aimed = [(learned, Aim(Objective(), learned.rewards)) for learned in objectives]
    >>> u = suggest_tradeoff(rng, aimed, [], Space.of({"x": Float(0, 1)}), none)
    >>> bool(0.1 < u[0] < 0.7)
    True
    """
    first = objectives[0][0]
    aims = [_straight(aim) for _, aim in objectives]
    means = [
        MeanObjective.of(anticipate(rng, learned.draws, pending, learned.series.failed), aim)
        for (learned, _), aim in zip(objectives, aims, strict=True)
    ]
    ahead = [anticipate(rng, c.draws, pending, c.series.failed) for c, _ in constraints]
    feasibility = LogFeasibility.of(constraints, ahead)
    evaluated = np.unique(np.vstack((first.data.x, pending)), axis=0)
    likely = feasibility(evaluated)
    allowed = evaluated[likely >= LIKELY]
    if not allowed.size:  # nothing to improve on before something is feasible
        return pick(rng, per_cost(feasibility, price), space, best_of(evaluated, likely), FAR, NEAR)
    low = None if reference is None else np.array([*map(_in_search, aims, reference)])
    gain = LogHypervolumeGain.of(rng, list(zip(*(mean.laws for mean in means), strict=False)), allowed, low)
    front = allowed[not_dominated(np.column_stack([mean(allowed) for mean in means]))]
    centres = front[np.sort(rng.permutation(front.shape[0])[:CENTRES])]
    points = np.vstack((candidates(rng, space, centres, FAR, NEAR), _between(rng, space, front)))
    return pick_near(rng, per_cost(lambda at: gain(at) + feasibility(at), price), space, points, NEAR)


def _straight(aim: Aim) -> Aim:
    """The aim with straight units where those of comparison are tempered: volumes are of rewards as they are."""
    if isinstance(aim.common, Tempered) and aim.units is not None:
        return replace(aim, common=aim.units.scale)
    return aim


def _in_search(aim: Aim, value: float) -> float:
    """A value of an objective in the user's units, in the units in which points are compared."""
    if aim.objective.kind == "probability":
        return value
    return float(aim.shared.to_standard(np.array(aim.sign * value)))


def _thinned(rng: np.random.Generator, front: FloatArray) -> FloatArray:
    """The front, or some of its points, drawn at random, where they are many for their number of objectives."""
    most = max(LARGEST_FRONT // 2 ** front.shape[1], LEAST_FRONT)
    return front if front.shape[0] <= most else front[rng.permutation(front.shape[0])[:most]]


def _between(rng: np.random.Generator, space: Space, front: FloatArray) -> FloatArray:
    """Points between two points of the front, which often has a connected or an axis-aligned preimage."""
    a, b = front[rng.integers(front.shape[0], size=(2, BETWEEN))]
    share = rng.random((BETWEEN, 1)) * np.ones(space.d)
    half = BETWEEN // 2
    share[:half] = rng.random((half, space.d)) < 0.5
    return space.snap(a + share * (b - a))
