"""Choosing the next input where more than one number is learned: constraints, several objectives.

Each number has a posterior of its own. One objective under constraints: log expected improvement over the best point
that is believed to be feasible, plus the log probability that all constraints hold. Several objectives: one draw of
each (Thompson sampling), weighed at random by the augmented Chebyshev function of Knowles (2006); what drawn
constraints forbid is worse than anything they allow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, logsumexp

from infgp.core.linalg import FloatArray
from infgp.predict.paths import Path, draw_path
from infgp.search.acquisition import LogImprovement, TargetLaw
from infgp.search.maximise import SPREAD, Values, pick
from infgp.search.optimizer import Posterior
from infgp.search.proposal import FAR, NEAR, anticipate, best_of
from infgp.space import Space

#: Weight of the sum next to the maximum in the augmented Chebyshev function.
AUGMENT = 0.05
#: What is forbidden scores below this.
FORBIDDEN = -1e6


@dataclass(frozen=True, eq=False)
class LogFeasibility:
    """Log probability that every constraint is at most zero, each averaged over its states.

    Attributes
    ----------
    beliefs : tuple of tuple of TargetLaw
        For each constraint, its law in each state.
    limits : tuple of float
        Zero, in the units of each constraint's model.
    """

    beliefs: tuple[tuple[TargetLaw, ...], ...]
    limits: tuple[float, ...]

    @classmethod
    def of(cls, constraints: Sequence[Posterior], target: str) -> LogFeasibility:
        """The feasibility under constraints with these posteriors."""
        beliefs = tuple(tuple(TargetLaw.of(s, p.data, p.model, target) for s in p.states) for p in constraints)
        return cls(beliefs, tuple(p.standard(0.0) for p in constraints))

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        total = np.zeros(at.shape[0])
        for beliefs, limit in zip(self.beliefs, self.limits, strict=True):
            laws = (belief(at) for belief in beliefs)
            logs = [log_ndtr((limit - mean) / np.sqrt(variance)) for mean, variance in laws]
            total += logsumexp(logs, axis=0) - math.log(len(logs))
        return total


def suggest_feasible(
    rng: np.random.Generator,
    objective: Posterior,
    constraints: Sequence[Posterior],
    space: Space,
    target: str,
    pending: FloatArray,
) -> FloatArray:
    """The next input, shape (d,), for one objective under constraints c_j(x) <= 0.

    Examples
    --------
    >>> import infgp, numpy as np
    >>> rng, made = np.random.default_rng(0), []
    >>> for f in (lambda x: x, lambda x: x - 0.5):  # maximise x where x <= 0.5
    ...     made.append(infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0))
    ...     for x in np.linspace(0.0, 1.0, 9):
    ...         made[-1].tell({"x": x}, f(x))
    >>> objective, constraint = (optimizer.posterior(rng) for optimizer in made)
    >>> u = suggest_feasible(rng, objective, [constraint], made[0].space, "expected", np.empty((0, 1)))
    >>> bool(abs(u[0] - 0.5) < 0.1)
    True
    """
    feasibility = LogFeasibility.of(constraints, target)
    data, model = objective.data, objective.model
    known = feasibility(data.x)
    allowed = known >= math.log(0.5)
    if not allowed.any():  # nothing to improve on before something is feasible
        return pick(rng, feasibility, space, best_of(data.x, known), FAR, NEAR)
    expected = [anticipate(rng, state, data, model, pending, objective.failed) for state in objective.states]
    beliefs = [TargetLaw.of(state, data, model, target) for state, data in expected]
    inputs = expected[0][1].x
    improvement = LogImprovement.of(beliefs, inputs[feasibility(inputs) >= math.log(0.5)])
    means = np.mean([belief(data.x)[0] for belief in beliefs], axis=0)
    good = best_of(data.x[allowed], means[allowed])
    return pick(rng, lambda at: improvement(at) + feasibility(at), space, good, FAR, NEAR)


def suggest_scalarised(
    rng: np.random.Generator,
    objectives: Sequence[Posterior],
    constraints: Sequence[Posterior],
    space: Space,
    target: str,
    pending: FloatArray,
) -> FloatArray:
    """The next input, shape (d,), for objectives that are all to be maximised under constraints c_j(x) <= 0.

    Examples
    --------
    >>> import infgp, numpy as np
    >>> rng, made = np.random.default_rng(0), []
    >>> for f in (lambda x: -(x - 0.2) ** 2, lambda x: -(x - 0.6) ** 2):
    ...     made.append(infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0))
    ...     for x in np.linspace(0.0, 1.0, 9):
    ...         made[-1].tell({"x": x}, f(x))
    >>> posteriors = [optimizer.posterior(rng) for optimizer in made]
    >>> u = suggest_scalarised(rng, posteriors, [], made[0].space, "expected", np.empty((0, 1)))
    >>> bool(0.1 < u[0] < 0.7)
    True
    """
    x = objectives[0].data.x
    drawn = [_draw(rng, p, target, pending) for p in objectives]
    limits = [(_draw(rng, p, target, pending[:0]), p.standard(0.0)) for p in constraints]
    weights = rng.dirichlet(np.ones(len(drawn)))
    seen = [path(x) for path in drawn]
    tops = [float(values.max()) for values in seen]
    spans = [max(float(np.ptp(values)), 1e-9) for values in seen]
    score = _chebyshev(drawn, weights, tops, spans, limits)
    return pick(rng, score, space, best_of(x, score(x)), SPREAD, NEAR)


def _draw(rng: np.random.Generator, posterior: Posterior, target: str, pending: FloatArray) -> Path:
    state = posterior.states[int(rng.integers(len(posterior.states)))]
    state, data = anticipate(rng, state, posterior.data, posterior.model, pending, posterior.failed)
    return draw_path(rng, state, data, posterior.model, target)


def _chebyshev(
    drawn: Sequence[Path],
    weights: FloatArray,
    tops: Sequence[float],
    spans: Sequence[float],
    limits: Sequence[tuple[Path, float]],
) -> Values:
    """−max_k w_k g_k − 0.05 Σ_k w_k g_k, where g_k is how far objective k is from its top, of its span."""

    def score(at: FloatArray) -> FloatArray:
        gaps = np.array([w * (top - f(at)) / s for w, f, top, s in zip(weights, drawn, tops, spans, strict=True)])
        value = -gaps.max(axis=0) - AUGMENT * gaps.sum(axis=0)
        violation = sum((np.maximum(c(at) - limit, 0.0) for c, limit in limits), np.zeros(at.shape[0]))
        return np.where(violation > 0.0, FORBIDDEN - violation, value)

    return score
