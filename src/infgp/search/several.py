"""Choosing the next input where more than one number is learned: constraints, and Thompson draws of several objectives.

Each number has a posterior of its own. One objective under constraints: log expected improvement over the best point
that is believed to be feasible, or the log of what the best such point gains, plus the log probability that all
constraints hold. Thompson sampling, with constraints or with several objectives: one function drawn of each, weighed at
random by the augmented Chebyshev function of Knowles (2006). Constraints are drawn too, and a point that violates a
drawn constraint scores below every point that does not. By default several objectives are searched otherwise
(:mod:`infgp.search.frontier`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.special import log_ndtr, logsumexp

from infgp.core.linalg import FloatArray
from infgp.core.surface import Conditioned
from infgp.predict.functionals import Aim
from infgp.predict.objectives import MeanObjective, ObjectiveLaw, ObjectivePath, draw_objective
from infgp.predict.paths import Path
from infgp.search.acquisition import FAR, NEAR, anticipate, best_of, mattering, promising
from infgp.search.costs import LogCost, per_cost
from infgp.search.improvement import LogImprovement
from infgp.search.knowledge import KnowledgeGradient
from infgp.search.learning import Learned
from infgp.search.maximise import SPREAD, Values, pick
from infgp.space import Space

#: Natural logarithm of the probability from which a point counts as feasible.
LIKELY = math.log(0.5)
#: Weight of the sum of the gaps in the augmented Chebyshev function, where the largest gap has weight 1.
AUGMENT = 0.05
#: Score that no infeasible point exceeds, in units of the augmented Chebyshev function or of the objective.
FORBIDDEN = -1e6

#: A number that is learned, and what is optimised or bounded of it.
Aimed: TypeAlias = tuple[Learned, Aim]


@dataclass(frozen=True, eq=False)
class LogFeasibility:
    """Log probability that every constraint is at most zero, each averaged over its states.

    Attributes
    ----------
    laws : tuple of tuple of ObjectiveLaw
        For each constraint, its law in each state.
        Each is in the units of its state.
    """

    laws: tuple[tuple[ObjectiveLaw, ...], ...]

    @classmethod
    def of(cls, constraints: Sequence[Aimed], draws: Sequence[Sequence[Conditioned]] | None = None) -> LogFeasibility:
        """The feasibility under constraints, in the states `draws`; by default the states of their chains."""
        known = [c.draws for c, _ in constraints] if draws is None else draws
        laws = tuple(
            tuple(ObjectiveLaw.of(given, aim) for given in states)
            for states, (_, aim) in zip(known, constraints, strict=True)
        )
        return cls(laws)

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        total = np.zeros(at.shape[0])
        for laws in self.laws:
            known = ((limit_of(law.aim), *law(at)) for law in laws)
            logs = [log_ndtr((limit - mean) / np.sqrt(variance)) for limit, mean, variance in known]
            total += logsumexp(logs, axis=0) - math.log(len(logs))
        return total


def suggest_feasible(
    rng: np.random.Generator,
    objective: Aimed,
    constraints: Sequence[Aimed],
    space: Space,
    pending: FloatArray,
    acquisition: str = "logei",
    price: LogCost | None = None,
) -> FloatArray:
    """The next input, shape (d,), for one objective under constraints c_j(x) <= 0.

    What pending evaluations will say of the constraints is drawn from the posterior. A pending point that the draw
    makes feasible is then something to improve on, and an infeasible one is avoided.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.options import ModelOptions
    >>> from infgp.predict.functionals import Objective
    >>> from infgp.search.learning import Learner, Series
    >>> from infgp.space import Float
    >>> rng, x, none = np.random.default_rng(0), np.linspace(0.0, 1.0, 9)[:, None], np.empty((0, 1))
    >>> learner = Learner.of(ModelOptions(), d=1)
    >>> both = [  # maximise x where x <= 0.5
    ...     learner.learn(rng, Series(x, y, np.zeros(9), none), None) for y in (x[:, 0], x[:, 0] - 0.5)
    ... ]
    >>> objective, constraint = ((learned, Aim(Objective(), learned.rewards)) for learned in both)
    >>> u = suggest_feasible(rng, objective, [constraint], Space.of({"x": Float(0, 1)}), none)
    >>> bool(abs(u[0] - 0.5) < 0.1)
    True
    """
    learned, aim = objective
    x = learned.data.x
    ahead = [anticipate(rng, c.draws, pending, c.series.failed) for c, _ in constraints]
    feasibility = LogFeasibility.of(constraints, ahead)
    inputs = np.vstack((x, learned.series.failed, pending))
    known = feasibility(inputs)
    known[x.shape[0] : inputs.shape[0] - pending.shape[0]] = -np.inf  # failed: nothing to improve on
    allowed = known >= LIKELY
    if not allowed.any():  # nothing to improve on before something is feasible
        return pick(rng, per_cost(feasibility, price), space, best_of(x, known[: x.shape[0]]), FAR, NEAR)
    believed = acquisition == "kg"
    mean = MeanObjective.of(anticipate(rng, learned.draws, pending, learned.series.failed, believed), aim)
    tried = inputs[allowed]
    good = promising(tried, mean, space)
    score: LogImprovement | KnowledgeGradient
    if acquisition == "kg":
        gain = KnowledgeGradient.of(rng, space, mean, tried, good)
        score = replace(gain, others=gain.others[feasibility(gain.others) >= LIKELY])
    else:
        score = LogImprovement.of(mean.laws, tried)
    weight = mattering([given for number, _ in (objective, *constraints) for given in number.draws])
    return pick(rng, per_cost(lambda at: score(at) + feasibility(at), price), space, good, FAR, NEAR, weight)


def suggest_scalarised(
    rng: np.random.Generator,
    objectives: Sequence[Aimed],
    constraints: Sequence[Aimed],
    space: Space,
    pending: FloatArray,
) -> FloatArray:
    """The next input, shape (d,), for objectives that are all to be maximised under constraints c_j(x) <= 0.

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
    >>> u = suggest_scalarised(rng, aimed, [], Space.of({"x": Float(0, 1)}), none)
    >>> bool(0.1 < u[0] < 0.7)
    True
    """
    x = objectives[0][0].data.x
    drawn = [_draw(rng, objective, pending) for objective in objectives]
    limits = [_limit(rng, c, pending) for c in constraints]
    weights = rng.dirichlet(np.ones(len(drawn)))
    seen = [path(x) for path in drawn]
    tops = [float(values.max()) for values in seen]
    spans = [max(float(np.ptp(values)), 1e-9) for values in seen]
    score = _chebyshev(drawn, weights, tops, spans, limits)
    return pick(rng, score, space, best_of(x, score(x)), SPREAD, NEAR)


def limit_of(aim: Aim) -> float:
    """Zero, where a constraint binds, in the units of a state's model."""
    return float(aim.rewards.to_standard(np.zeros(1))[0])


def _ahead(rng: np.random.Generator, learned: Learned, pending: FloatArray) -> Conditioned:
    """One state of the chain, drawn at random, with failed and pending points anticipated."""
    given = learned.draws[int(rng.integers(len(learned.draws)))]
    return anticipate(rng, [given], pending, learned.series.failed)[0]


def _draw(rng: np.random.Generator, aimed: Aimed, pending: FloatArray) -> Path | ObjectivePath:
    learned, aim = aimed
    return draw_objective(rng, _ahead(rng, learned, pending), aim)


def _limit(rng: np.random.Generator, aimed: Aimed, pending: FloatArray) -> tuple[Path | ObjectivePath, float]:
    """A draw of a constraint, and its limit, both in the units of the state that it was drawn from."""
    learned, aim = aimed
    ahead = _ahead(rng, learned, pending)
    return draw_objective(rng, ahead, aim), limit_of(aim.seen_by(ahead.data.warp))


def _chebyshev(
    drawn: Sequence[Path | ObjectivePath],
    weights: FloatArray,
    tops: Sequence[float],
    spans: Sequence[float],
    limits: Sequence[tuple[Path | ObjectivePath, float]],
) -> Values:
    """−max_k w_k g_k − 0.05 Σ_k w_k g_k, where g_k is the gap of objective k to its top, in units of its span."""

    def score(at: FloatArray) -> FloatArray:
        gaps = np.array([w * (top - f(at)) / s for w, f, top, s in zip(weights, drawn, tops, spans, strict=True)])
        value = -gaps.max(axis=0) - AUGMENT * gaps.sum(axis=0)
        violation = sum((np.maximum(c(at) - limit, 0.0) for c, limit in limits), np.zeros(at.shape[0]))
        return np.where(violation > 0.0, FORBIDDEN - violation, value)

    return score


def best_feasible(
    rng: np.random.Generator, mean: MeanObjective, feasibility: LogFeasibility, x: FloatArray, space: Space
) -> tuple[FloatArray, FloatArray]:
    """The best point of the space, and the best of the inputs `x`, with regard to constraints; shapes (d,).

    Among points that are more likely feasible than not, it is the best by the mean objective. If there are none, it is
    the point that is most likely feasible.
    """

    def score(at: FloatArray) -> FloatArray:
        likely = feasibility(at)
        return np.where(likely >= LIKELY, mean(at), FORBIDDEN + likely)

    good = best_of(x, score(x))
    return pick(rng, score, space, good, SPREAD, NEAR), good[0]


def not_dominated(values: FloatArray) -> list[int]:
    """Indices of rows of `values`, shape (m, objectives), that no row dominates: as good in all columns, better in one.

    Examples
    --------
    >>> import numpy as np
    >>> not_dominated(np.array([[1.0, 0.0], [0.5, 0.5], [0.4, 0.4], [0.0, 1.0]]))
    [0, 1, 3]
    """
    as_good = np.all(values[None] >= values[:, None], axis=2)
    better = np.any(values[None] > values[:, None], axis=2)
    return [int(i) for i in np.flatnonzero(~np.any(as_good & better, axis=1))]
