"""Which of the evaluated points may be best, with what probability, and which of them to evaluate again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.predict.mixture import off_surface_probability
from infgp.predict.objectives import MeanObjective
from infgp.printing import brief, brief_point, text_table
from infgp.search.acquisition import anticipate
from infgp.search.costs import LogCost, per_cost
from infgp.search.knowledge import KnowledgeGradient
from infgp.search.recommending import Chosen, evaluated_at
from infgp.search.regret import best_evaluated, bundles
from infgp.search.standing import Log, Setup
from infgp.space import Point

#: Levels of the quantiles of the objective that are reported, as probabilities.
QUANTILES = (0.05, 0.5, 0.95)
#: Number of inputs, those with the best objective, among which the one to evaluate again is chosen.
CONSIDERED = 64


@dataclass(frozen=True)
class Candidate:
    """A point that may be best.

    Attributes
    ----------
    point : dict
    probability : float
        Probability that it has the best objective of all evaluated points and the recommended one.
    mean, std : float
        Posterior mean of the objective there, and how uncertain it is.
    quantiles : dict of float to float
        Quantiles of the objective there, by level. Noise of single rewards is no part of them.
    n_rewards, n_off_surface : int
        Number of rewards at the point so far, and how many of them are believed to lie off the dominant surface.
    recommended : bool
        Whether it is the recommended point.
    """

    point: Point
    probability: float
    mean: float
    std: float
    quantiles: dict[float, float]
    n_rewards: int
    n_off_surface: int
    recommended: bool


class Candidates(tuple[Candidate, ...]):
    """Points that may be best, the likeliest first; prints as a table.

    Examples
    --------
    >>> print(Candidates([Candidate({"x": 0.5}, 0.9, 1.0, 0.1, {0.05: 0.8, 0.5: 1.0, 0.95: 1.2}, 3, 1, True)]))
    P(best)  objective  5 % below  50 % below  95 % below  rewards  off surface  point
    90 %     1 ± 0.1    0.8        1           1.2         3        1            {'x': 0.5} (recommended)
    """

    def __str__(self) -> str:
        levels = [f"{100.0 * q:g} % below" for q in QUANTILES]
        rows = [["P(best)", "objective", *levels, "rewards", "off surface", "point"]]
        for row in self:
            cells = [f"{100.0 * row.probability:.0f} %", f"{brief(row.mean)} ± {row.std:.2g}"]
            cells += [brief(value) for value in row.quantiles.values()]
            mark = " (recommended)" if row.recommended else ""
            rows.append([*cells, str(row.n_rewards), str(row.n_off_surface), f"{brief_point(row.point)}{mark}"])
        return text_table(rows)


def contenders(chosen: Chosen) -> FloatArray:
    """Inputs that may be best, the recommended one first, shape (m, d).

    They are evaluated inputs that are more likely feasible than not, all if there is none.
    """
    known = best_evaluated(chosen)
    allowed = chosen.allowed(known)
    known = known[allowed] if allowed.any() else known
    return np.vstack((chosen.u, known[(known != chosen.u).any(axis=1)]))


def probabilities(values: FloatArray) -> FloatArray:
    """Share of the draws in which each point is best, shape (m,), from values of shape (m, draws).

    Examples
    --------
    >>> import numpy as np
    >>> probabilities(np.array([[1.0, 2.0, 3.0, 0.0], [0.0, 0.0, 0.0, 1.0]]))
    array([0.75, 0.25])
    """
    return np.asarray(np.bincount(np.argmax(values, axis=0), minlength=values.shape[0]) / values.shape[1])


def rank(rng: np.random.Generator, setup: Setup, log: Log, chosen: Chosen, top: int) -> Candidates:
    """The points that may be best, the likeliest first, `top` of them or all."""
    (learned, aim), x = chosen.objective, chosen.objective[0].series.x
    at = contenders(chosen)
    values = np.concatenate([bundle(at) for bundle in bundles(rng, chosen.objective)], axis=1)
    chances, (means, stds) = probabilities(values), chosen.mean.moments(at)
    off, worth = off_surface_probability(learned.draws) > 0.5, values.mean(axis=1)
    sign = 1.0 if aim.objective.kind == "probability" else aim.sign
    rows = []
    for i in np.lexsort((-worth, -chances))[:top].tolist():
        here = (x == at[i]).all(axis=1)
        rows.append(
            Candidate(
                point=chosen.point(setup, log) if i == 0 else evaluated_at(log, at[i]),
                probability=float(chances[i]),
                mean=float(means[i]),
                std=float(stds[i]),
                quantiles=dict(zip(QUANTILES, _quantiles(sign * values[i]), strict=True)),
                n_rewards=int(here.sum()),
                n_off_surface=int(off[here].sum()),
                recommended=i == 0,
            )
        )
    return Candidates(rows)


def _quantiles(values: FloatArray) -> Sequence[float]:
    return [float(value) for value in np.quantile(values, QUANTILES)]


def second_look(
    rng: np.random.Generator, chosen: Chosen, pending: FloatArray, price: LogCost | None = None
) -> FloatArray:
    """The input to evaluate again, shape (d,): that whose reward is expected to raise the best objective most.

    It is the knowledge gradient (:mod:`infgp.search.knowledge`) among inputs that may be best and nowhere else.
    `studies/second_look.py` compares it with top-two Thompson sampling and with optimal computing budget allocation.
    Rewards of pending inputs are taken to be those that are expected. Where costs count, it is the rise per cost.
    """
    (learned, aim), at = chosen.objective, contenders(chosen)
    mean = MeanObjective.of(anticipate(rng, learned.draws, pending, learned.series.failed, believed=True), aim)
    at = at[np.argsort(-mean(at), kind="stable")[:CONSIDERED]]
    return np.asarray(at[np.argmax(per_cost(KnowledgeGradient(mean.laws, at), price)(at))])
