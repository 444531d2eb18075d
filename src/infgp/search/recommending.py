"""From what is known to what is recommended: the best point for one objective, trade-offs between several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from infgp.core.linalg import FloatArray
from infgp.predict.functionals import OUTLIERS, Aim
from infgp.predict.mixture import off_surface_probability
from infgp.predict.objectives import MeanObjective
from infgp.printing import brief
from infgp.search.acquisition import best_of
from infgp.search.learning import Learned
from infgp.search.maximise import maximise
from infgp.search.outcomes import Recommendation, Tradeoff
from infgp.search.several import LIKELY, Aimed, LogFeasibility, best_feasible, not_dominated
from infgp.search.standing import Log, Setup
from infgp.space import Point

#: Least advantage over the best evaluated point for which a point that was not evaluated is recommended, in standard
#: deviations of the difference between the two (`studies/recommendations.py`).
LEAP = 1.0
#: Levels of the quantiles of a reward that a recommendation reports, as probabilities.
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The input that is recommended, and what it was chosen by.

    Attributes
    ----------
    u : array, shape (d,)
    good : array, shape (d,)
        The evaluated input with the best objective.
    leap : bool
        Whether the input was not evaluated; otherwise it is `good`.
    objective : Aimed
    mean : MeanObjective
        Of the objective, over the states of its chain.
    feasibility : LogFeasibility
    """

    u: FloatArray
    good: FloatArray
    leap: bool
    objective: Aimed
    mean: MeanObjective
    feasibility: LogFeasibility

    def point(self, setup: Setup, log: Log) -> Point:
        """The input as a point."""
        return setup.space.from_unit(self.u[None])[0] if self.leap else evaluated_at(log, self.good)

    def allowed(self, at: FloatArray) -> NDArray[np.bool_]:
        """Whether each row of `at` is more likely feasible than not, shape (m,)."""
        return np.asarray(self.feasibility(at) >= LIKELY)


def chosen_point(rng: np.random.Generator, setup: Setup, objective: Aimed, constraints: Sequence[Aimed]) -> Chosen:
    """The input with the best objective; see :class:`Recommendation`."""
    learned, aim = objective
    mean, x = MeanObjective.of(learned.draws, aim), learned.data.x
    feasibility = LogFeasibility.of(constraints)
    if constraints:
        far, good = best_feasible(rng, mean, feasibility, x, setup.space)
    else:
        tops = best_of(x, mean(x))
        far, good = maximise(rng, mean, setup.space, tops)[0], tops[0]
    better, sd = mean.difference(far, good)
    there, here = feasibility(np.array([far, good]))
    leap = bool(here < LIKELY <= there or (better > LEAP * sd and there >= min(here, LIKELY)))
    return Chosen(far if leap else good, good, leap, objective, mean, feasibility)


def recommend(setup: Setup, log: Log, chosen: Chosen) -> Recommendation:
    """What to expect at the input that is recommended."""
    (learned, aim), at = chosen.objective, chosen.u[None]
    value, std = chosen.mean.moments(at)
    law = learned.law(at, aim.sign)
    other = _other(learned, aim, chosen)
    return Recommendation(
        point=chosen.point(setup, log),
        mean=float(value[0]),
        std=float(std[0]),
        quantiles=dict(zip(QUANTILES, map(float, law.quantile(QUANTILES)[0]), strict=True)),
        best_evaluated=evaluated_at(log, chosen.good),
        feasibility=math.exp(chosen.feasibility(at)[0]),
        objective=str(aim),
        outliers=aim.outliers,
        n_rewards=learned.series.y.size,
        n_off_surface=int(np.sum(off_surface_probability(learned.draws) > 0.5)),
        off_surface_effect=_effect(learned, aim, at),
        otherwise=None if other is None else evaluated_at(log, other),
        stand_in=setup.stand_in(log),
        stand_ins=setup.strategy.stand_ins,
        direction="maximize" if aim.sign > 0 else "minimize",
        law=law,
    )


def _effect(learned: Learned, aim: Aim, at: FloatArray) -> float:
    """What counting the rewards off all surfaces does to the objective at a point, in the user's units."""
    both = [MeanObjective.of(learned.draws, replace(aim, outliers=o)).moments(at)[0][0] for o in OUTLIERS]
    return float(both[0] - both[1])


def _other(learned: Learned, aim: Aim, chosen: Chosen) -> FloatArray | None:
    """The evaluated point that is clearly better, if outliers are treated the other way; None if there is none."""
    if aim.target != "objective" or learned.model.one_surface:
        return None
    way = next(o for o in OUTLIERS if o != aim.outliers)
    mean, x = MeanObjective.of(learned.draws, replace(aim, outliers=way)), learned.data.x
    allowed = x[chosen.allowed(x)]
    if not allowed.size:
        return None
    best = allowed[int(np.argmax(mean(allowed)))]
    better, sd = mean.difference(best, chosen.u)
    return best if better > LEAP * sd else None


def tradeoffs(log: Log, objectives: Sequence[Aimed], constraints: Sequence[Aimed]) -> tuple[Tradeoff, ...]:
    """The trade-offs between the objectives; see :class:`Tradeoff`."""
    x = np.unique(objectives[0][0].data.x, axis=0)
    means = [MeanObjective.of(learned.draws, aim) for learned, aim in objectives]
    chances = np.exp(LogFeasibility.of(constraints)(x))
    likely = chances >= math.exp(LIKELY)
    x, chances = (x[likely], chances[likely]) if likely.any() else (x, chances)
    front = not_dominated(np.column_stack([mean(x) for mean in means]))
    parts = [mean.moments(x[front]) for mean in means]
    return tuple(
        Tradeoff(
            evaluated_at(log, x[i]),
            tuple(float(mean[j]) for mean, _ in parts),
            tuple(float(std[j]) for _, std in parts),
            float(chances[i]),
            tuple(learned.law(x[[i]], aim.sign) for learned, aim in objectives),
        )
        for j, i in enumerate(front)
    )


@dataclass(frozen=True)
class BestExpected:
    """The evaluated point with the best objective, as it is believed at the moment.

    Attributes
    ----------
    index : int
        Its place among the evaluations that have given a reward (`Optimizer.counted`).
    mean, std : float
        Posterior mean of the objective there, and how uncertain it is.
    objective : str
        What is optimised, in words.

    Examples
    --------
    >>> print(BestExpected(3, 1 / 3, 0.021, "expected reward"))
    best expected reward 0.3333 ± 0.021
    """

    index: int
    mean: float
    std: float
    objective: str

    def __str__(self) -> str:
        return f"best {self.objective} {brief(self.mean)} ± {self.std:.2g}"


def best_expected(objective: Aimed, feasible: Sequence[bool]) -> BestExpected:
    """The best of the evaluated points at which no constraint was violated, or of all if there is none.

    It costs no sweeps, and is what progress bars and histories show; :func:`chosen_point` looks everywhere.
    """
    learned, aim = objective
    mean = MeanObjective.of(learned.draws, aim)
    values = mean(learned.data.x)
    allowed = np.array(feasible, dtype=bool)[learned.rows]
    best = int(np.argmax(np.where(allowed, values, -np.inf) if allowed.any() else values))
    value, std = mean.moments(learned.data.x[[best]])
    return BestExpected(int(learned.rows[best]), float(value[0]), float(std[0]), str(aim))


def evaluated_at(log: Log, u: FloatArray) -> Point:
    """The first point that was evaluated at an input in the unit cube."""
    return next(dict(o.point) for o, row in log if o.values is not None and (row == u).all())
