"""From what is known to what is recommended: the best point for one objective, trade-offs between several."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.predict.mixture import predictive
from infgp.predict.targets import MeanTarget
from infgp.search.acquisition import best_of
from infgp.search.learning import Learned
from infgp.search.maximise import maximise
from infgp.search.outcomes import Recommendation, Tradeoff
from infgp.search.several import LIKELY, LogFeasibility, best_feasible, not_dominated
from infgp.search.standing import Log, Setup
from infgp.space import Point

#: Least advantage over the best evaluated point for which a point that was not evaluated is recommended, in standard
#: deviations of the difference between the two (`studies/recommendations.py`).
LEAP = 1.0
#: Levels of the quantiles of a reward that a recommendation reports, as probabilities.
QUANTILES = (0.05, 0.5, 0.95)


def moments(mean: MeanTarget, learned: Learned, sign: float, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the target over states, in the user's units, shapes (m,).

    Where rewards are bent, mean and standard deviation are computed for the bent reward. The mean, and the two ends of
    the interval of one standard deviation about it, are then unbent. That is exact where the bend is straight. Moments
    of the unbent reward would be ruled by its exponential tails.
    """
    middle, sd = mean.moments(at)
    low, value, high = (learned.from_standard(z) for z in (middle - sd, middle, middle + sd))
    return sign * value, np.abs(high - low) / 2.0


def recommend(
    rng: np.random.Generator, setup: Setup, log: Log, objective: Learned, constraints: Sequence[Learned]
) -> Recommendation:
    """The point with the best posterior expected reward; see :class:`Recommendation`."""
    mean, sign, x = MeanTarget.of(objective.draws, setup.target), setup.signs[0], objective.data.x
    feasibility = LogFeasibility.of(constraints, setup.target)
    if constraints:
        far, good = best_feasible(rng, mean, feasibility, x, setup.space)
    else:
        tops = best_of(x, mean(x))
        far, good = maximise(rng, mean, setup.space, tops)[0], tops[0]
    better, sd = mean.difference(far, good)
    there, here = feasibility(np.array([far, good]))
    leap = bool(here < LIKELY <= there or (better > LEAP * sd and there >= min(here, LIKELY)))
    at = (far if leap else good)[None]
    value, std = moments(mean, objective, sign, at)
    levels = QUANTILES if sign > 0 else tuple(1.0 - q for q in QUANTILES)
    rewards = sign * objective.from_standard(predictive(objective.draws, at).quantile(np.array(levels))[0])
    evaluated = evaluated_at(log, good)
    return Recommendation(
        point=setup.space.from_unit(at)[0] if leap else dict(evaluated),
        mean=float(value[0]),
        std=float(std[0]),
        quantiles=dict(zip(QUANTILES, map(float, rewards), strict=True)),
        best_evaluated=evaluated,
        feasibility=math.exp(feasibility(at)[0]),
    )


def tradeoffs(
    setup: Setup, log: Log, objectives: Sequence[Learned], constraints: Sequence[Learned]
) -> tuple[Tradeoff, ...]:
    """The trade-offs between the objectives; see :class:`Tradeoff`."""
    x = np.unique(objectives[0].data.x, axis=0)
    targets = [MeanTarget.of(objective.draws, setup.target) for objective in objectives]
    chances = np.exp(LogFeasibility.of(constraints, setup.target)(x))
    likely = chances >= math.exp(LIKELY)
    x, chances = (x[likely], chances[likely]) if likely.any() else (x, chances)
    front = not_dominated(np.column_stack([target(x) for target in targets]))
    parts = [
        moments(target, learned, sign, x[front])
        for target, learned, sign in zip(targets, objectives, setup.signs, strict=True)
    ]
    return tuple(
        Tradeoff(
            evaluated_at(log, x[i]),
            tuple(float(mean[j]) for mean, _ in parts),
            tuple(float(std[j]) for _, std in parts),
            float(chances[i]),
        )
        for j, i in enumerate(front)
    )


def evaluated_at(log: Log, u: FloatArray) -> Point:
    """The first point that was evaluated at an input in the unit cube."""
    return next(dict(o.point) for o, row in log if o.values is not None and (row == u).all())
