"""Everything that a report says, as data: what is found out of a search, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from infgp.core.linalg import one_blas_thread
from infgp.plot.checks import Calibration
from infgp.plot.over_inputs import Contour, Slice
from infgp.plot.over_time import History
from infgp.plot.reward_laws import LawAtPoint, ModeOdds
from infgp.plot.shares import Importances
from infgp.predict.objectives import MeanObjective
from infgp.report.search import Judgement, Search, distrusted, judge
from infgp.search.candidates import Candidate, Candidates
from infgp.search.learning import LAST, LAST_STATES
from infgp.search.outcomes import Recommendation
from infgp.search.regret import Regret
from infgp.search.stopping import RegretBelow
from infgp.space import Point

#: Number of candidates that are shown, the likeliest ones; the recommended point is shown whatever its probability.
TOP = 5
#: Number of points through which slices go: the recommended one, the luckiest one and others that may be best.
THROUGH = 3
#: Number of inputs that slices and odds are made along, those that explain most.
INPUTS = 12
#: Number of inputs that contours are made over, in pairs, those that explain most.
PAIRED = 4
#: Number of inputs along each side of a contour.
SIDE = 25
#: Number of distrusted rewards that are shown with what was expected of them.
DISTRUSTED = 20
#: Number of chains that are started anew to see whether they agree.
CHAINS = 3
#: Levels of the quantiles of a law that are given in words.
LEVELS = (0.05, 0.5, 0.95)
#: Standard deviations of the objective by which chains may differ before they are said to disagree.
AGREE = 2.0


@dataclass(frozen=True)
class Health:
    """Whether the sampler can be trusted.

    Attributes
    ----------
    means : tuple of float
        What each of some new chains says of the objective at the recommended point.
    surfaces : tuple of float
        Mean number of surfaces of each.
    apart : float
        Distance between the largest and the smallest of the means, in standard deviations of the objective there.
    fallbacks : int
        Suggestions that were random points because the model had failed.
    states : int
        Number of posterior states that the report is made from.
    concentration : float
        Posterior mean of ν.
    """

    means: tuple[float, ...]
    surfaces: tuple[float, ...]
    apart: float
    fallbacks: int
    states: int
    concentration: float

    @property
    def agree(self) -> bool:
        """Whether the chains say the same, as far as the uncertainty of the objective goes."""
        return self.apart <= AGREE


@dataclass(frozen=True, eq=False)
class Findings:
    """What a report says.

    Attributes
    ----------
    search : Search
    recommendation : Recommendation
    luckiest : Judgement
        The evaluation with the best reward.
    lucky_chance : float
        Probability that its point is the best of all evaluated ones.
    points : dict of str to point
        The points that selectors offer, by name.
    candidates : Candidates
    names : tuple of str
        A name for each of the candidates.
    laws : list of (LawAtPoint, quantiles by level)
        One for each of the points.
    slices : dict of (input, point) to Slice
        By the name of an input and the number of a point, where the input applies there.
    odds : dict of str to ModeOdds
    contours : dict of (str, str) to Contour
    distrusted : list of Judgement
        The least trusted first, at most `DISTRUSTED` of them.
    n_distrusted : int
    history, importances, regret, calibration, health
    next_point, again : point
        What to try next, and what to evaluate again; None where the model failed.
    rule : RegretBelow or None
        When the user wants to stop.
    """

    search: Search
    recommendation: Recommendation
    luckiest: Judgement
    lucky_chance: float
    points: dict[str, Point]
    candidates: Candidates
    names: tuple[str, ...]
    laws: list[tuple[LawAtPoint, dict[float, float]]]
    slices: dict[tuple[str, int], Slice]
    odds: dict[str, ModeOdds]
    contours: dict[tuple[str, str], Contour]
    distrusted: list[Judgement]
    n_distrusted: int
    history: History
    importances: Importances
    regret: Regret
    calibration: Calibration | None
    health: Health
    next_point: Point | None
    again: Point | None
    rule: RegretBelow | None


def find(thing: Any, title: str | None = None, rule: RegretBelow | None = None, seed: int = 0) -> Findings:
    """Find out what a report says of an optimizer, a result or a study with one objective.

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell_many([{"x": 0.1}, {"x": 0.5}, {"x": 0.9}], [1.0, 2.0, 1.5])
    >>> found = find(optimizer)
    >>> found.luckiest.number, list(found.slices)[0]
    (1, ('x', 0))
    """
    search = Search.of(thing, title)
    subject, recommendation = search.subject, search.recommend()
    every = search.candidates(max(TOP, search.optimizer.counts[0] + 1))
    shown = [row for k, row in enumerate(every) if k < TOP or row.recommended]
    doubtful = distrusted(search)
    luckiest, *judged = judge(search, [search.luckiest, *doubtful[:DISTRUSTED]])
    shares = Importances.of(subject, rng=seed)
    inputs = [shares.names[k] for k in np.argsort(-shares.mean, kind="stable")]
    names = _names(shown)
    points = _points(recommendation, luckiest, shown, names, search.trial)
    laws = [(LawAtPoint.of(subject, at, rng=seed), _quantiles(search, at)) for at in points.values()]
    slices, top = {}, list(points.values())[:THROUGH]
    for name in inputs[:INPUTS]:
        slices.update({(name, k): Slice.of(subject, name, at, count=61) for k, at in enumerate(top) if name in at})
    here = [name for name in inputs if name in recommendation.point]
    pairs = list(combinations(here[:PAIRED], 2))
    steps = _steps(search)
    return Findings(
        search=search,
        recommendation=recommendation,
        luckiest=luckiest,
        lucky_chance=next((row.probability for row in every if row.point == luckiest.point), 0.0),
        points=points,
        candidates=Candidates(shown),
        names=names,
        laws=laws,
        slices=slices,
        odds={name: ModeOdds.of(subject, name, recommendation.point, count=61) for name in here[:INPUTS]},
        contours={pair: Contour.of(subject, *pair, at=recommendation.point, count=SIDE) for pair in pairs},
        distrusted=judged,
        n_distrusted=len(doubtful),
        history=History.of(search.optimizer, rng=seed),
        importances=shares,
        regret=search.regret(),
        calibration=Calibration.of(subject, rng=seed) if subject.rewards.size > 1 else None,
        health=_health(search, recommendation, seed),
        next_point=steps[0],
        again=steps[1],
        rule=rule,
    )


def _names(rows: Sequence[Candidate]) -> tuple[str, ...]:
    """What candidates are called: letters, the recommended one by what it is."""
    return tuple("recommended" if row.recommended else f"point {chr(65 + k)}" for k, row in enumerate(rows))


def _points(
    recommendation: Recommendation, luckiest: Judgement, rows: Sequence[Candidate], names: Sequence[str], trial: str
) -> dict[str, Point]:
    """Points that selectors offer: the recommended one, the luckiest one, and others that may be best."""
    out = {"the recommended point": recommendation.point}
    if luckiest.point != recommendation.point:
        out[f"the luckiest {trial}, {luckiest.number}"] = luckiest.point
    for name, row in zip(names, rows, strict=True):
        if row.point not in out.values():
            out[name] = row.point
    return out


def _quantiles(search: Search, at: Mapping[str, object]) -> dict[float, float]:
    """Quantiles of the law of a further reward at a point."""
    subject = search.subject
    with one_blas_thread():
        values = subject.learned.law(subject.base(at)[None], subject.aim.sign).quantile(LEVELS)[0]
    return dict(zip(LEVELS, map(float, values), strict=True))


def _steps(search: Search) -> tuple[Point | None, Point | None]:
    try:
        return search.next_points()
    except (ArithmeticError, np.linalg.LinAlgError):
        return None, None


def _health(search: Search, recommendation: Recommendation, seed: int) -> Health:
    """Run new chains, and compare what they say of the recommended point."""
    setup, subject, means, surfaces = search.optimizer.setup, search.subject, [], []
    at = subject.base(recommendation.point)[None]
    with one_blas_thread():
        for rng in np.random.default_rng(seed).spawn(CHAINS):
            learned, aim = setup.strategy.aims(
                [setup.learner.learn(rng, subject.learned.series, None, LAST, LAST_STATES)]
            )[0]
            means.append(float(MeanObjective.of(learned.draws, aim).moments(at)[0][0]))
            surfaces.append(float(np.mean([state.n_surfaces for state in learned.chain.states])))
    states = subject.learned.chain.states
    return Health(
        means=tuple(means),
        surfaces=tuple(surfaces),
        apart=float(np.ptp(means) / recommendation.std) if recommendation.std > 0.0 else 0.0,
        fallbacks=search.optimizer.fallbacks,
        states=len(states),
        concentration=float(np.mean([state.nu for state in states])),
    )
