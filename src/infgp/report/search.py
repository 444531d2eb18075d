"""A search in one form, whether it is an optimizer or a study, and what is believed of its single evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infgp.core.linalg import one_blas_thread
from infgp.errors import InvalidInputError
from infgp.plot.checks import law_without
from infgp.plot.subject import Subject, is_study, optimizer_of, sampler_of, subject_of
from infgp.predict.mixture import off_surface_probability
from infgp.predict.objectives import MeanObjective
from infgp.printing import brief, brief_point, counted
from infgp.search.candidates import Candidates
from infgp.search.optimizer import Optimizer
from infgp.search.outcomes import Recommendation
from infgp.search.regret import Regret
from infgp.space import Point

#: Levels of the quantiles between which 90 % of the rewards at a point are expected.
MOST = (0.05, 0.95)
#: Probability of lying off the dominant surface above which a reward is distrusted.
DISTRUST = 0.5
#: Probability of a reward as far out below which it is called surprising.
SURPRISE = 0.025


@dataclass(frozen=True, eq=False)
class Search:
    """A search with one objective.

    Attributes
    ----------
    title : str
        How it is called.
    optimizer : Optimizer
        It is only read. Of a study, it numbers the options of categorical parameters.
    study : optuna.Study or None
    sampler : InfGPSampler or None
        What answers questions about the study.
    numbers : tuple of int
        The number of each evaluation: that of its trial, or else its place among all that was told, from 0.
    subject : Subject
        What is believed after all evaluations.
    """

    title: str
    optimizer: Optimizer
    study: Any
    sampler: Any
    numbers: tuple[int, ...]
    subject: Subject

    @classmethod
    def of(cls, thing: Any, title: str | None = None) -> Search:
        """The search that is an optimizer, a result or a study.

        Raises
        ------
        InvalidInputError
            Where there are several objectives, or no reward yet.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> optimizer.tell_many([{"x": 0.1}, {"x": 0.5}, {"x": 0.9}], [1.0, None, 1.5])
        >>> Search.of(optimizer).numbers
        (0, 1, 2)
        """
        if is_study(thing):
            sampler = sampler_of(thing)
            optimizer, numbers = sampler.optimizer(thing), sampler.trial_numbers(thing)
            study, name = thing, f"Study {thing.study_name}"
        else:
            optimizer, study, sampler, name = optimizer_of(thing), None, None, "Search"
            numbers = tuple(range(optimizer.counts[0]))
        if len(optimizer.directions) > 1:
            raise InvalidInputError(
                f"There are {len(optimizer.directions)} objectives, but this is for one; see infgp recommend, or "
                "tradeoffs() in Python."
            )
        return cls(title or name, optimizer, study, sampler, numbers, subject_of(thing))

    @property
    def trial(self) -> str:
        """What an evaluation is called."""
        return "evaluation" if self.study is None else "trial"

    @property
    def done(self) -> list[int]:
        """Indices, among all observations, of those that succeeded."""
        return [int(k) for k in np.flatnonzero(self.optimizer.counted)]

    @property
    def luckiest(self) -> int:
        """Index, among those that succeeded, of the evaluation with the best reward; feasible ones come first."""
        observations = [self.optimizer.observations[i] for i in self.done]
        feasible = [k for k, o in enumerate(observations) if o.feasible] or range(len(observations))
        return max(feasible, key=lambda k: self.subject.rewards[k] * self.subject.aim.sign)

    def point(self, k: int) -> Point:
        """The point of the k-th evaluation that succeeded, in the user's terms."""
        return self.subject.outward(self.optimizer.observations[self.done[k]].point)

    def recommend(self) -> Recommendation:
        """The recommendation, in the user's terms."""
        found: Recommendation = self.optimizer.recommend() if self.study is None else self.sampler.recommend(self.study)
        return found

    def regret(self) -> Regret:
        """What is still to be gained."""
        found: Regret = self.optimizer.regret() if self.study is None else self.sampler.regret(self.study)
        return found

    def candidates(self, top: int) -> Candidates:
        """Points that may be best."""
        if self.study is None:
            return self.optimizer.candidates(top)
        found: Candidates = self.sampler.candidates(self.study, top)
        return found

    def next_points(self) -> tuple[Point, Point]:
        """The point to try next, and the one to evaluate again; a copy of the optimizer is asked."""
        copy = Optimizer.from_json(self.optimizer.to_json())
        told = copy.counts[0]
        tried, repeated = (copy.suggest(told, copy.pending, confirm=confirm) for confirm in (False, True))
        return self.subject.outward(tried), self.subject.outward(repeated)


@dataclass(frozen=True)
class Judgement:
    """What is believed of one evaluation that succeeded.

    Attributes
    ----------
    number : int
        That of its trial, or its place among all that was told.
    point : dict
    value : float
        What was seen.
    off_surface : float
        Probability, after all evaluations, that it lies off the dominant surface.
    expected, low, high : float
        Median of the law that the other evaluations give at its point, and the ends of the range of 90 %.
    tail : float
        Probability, by the same law, of a value at least as far out on its side of the median.
    mean, std : float
        The objective at its point after all evaluations, and how uncertain it is.
    objective, noun : str
        What is optimised, and what a value is called.
    n_here : int
        Number of rewards at its point, itself included.
    """

    number: int
    point: Point
    value: float
    off_surface: float
    expected: float
    low: float
    high: float
    tail: float
    mean: float
    std: float
    objective: str
    noun: str
    n_here: int

    @property
    def distrusted(self) -> bool:
        """Whether it is held to lie off the dominant surface."""
        return self.off_surface > DISTRUST

    @property
    def why(self) -> str:
        """Why it is distrusted, or is not, in a sentence."""
        side = "large or larger" if self.value > self.expected else "small or smaller"
        odds = f"by the law that the other {self.noun}s give, one this {side} has the probability {percent(self.tail)}"
        chance = f"that it lies off the dominant surface has the probability {percent(self.off_surface)}"
        if self.distrusted:
            return f"It is distrusted: {chance}, and {odds}."
        if self.tail < SURPRISE:
            return f"It is surprising, but not distrusted: {odds}, yet {chance}."
        return f"It is not distrusted: {chance}, and {odds}."

    def rows(self) -> list[tuple[str, str]]:
        """What is shown, by name."""
        return [
            ("at", brief_point(self.point)),
            ("seen", brief(self.value)),
            (
                "expected from the others",
                f"{brief(self.expected)}, 90 % between {brief(self.low)} and {brief(self.high)}",
            ),
            ("off the dominant surface", percent(self.off_surface)),
            (f"{self.objective} there, all counted", f"{brief(self.mean)} ± {self.std:.2g}"),
            (f"{self.noun}s at this point", counted(self.n_here, self.noun)),
        ]


def percent(share: float) -> str:
    """A probability in words; one that is not 0 or 1 is not shown as such.

    Examples
    --------
    >>> percent(0.256), percent(0.0321), percent(1e-7), percent(0.9999)
    ('26 %', '3.2 %', 'below 0.1 %', 'above 99.9 %')
    """
    if 0.0 < share < 0.001:
        return "below 0.1 %"
    if 0.999 < share < 1.0:
        return "above 99.9 %"
    return f"{100.0 * share:.2g} %" if share < 0.995 else f"{100.0 * share:.3g} %"


def judge(search: Search, which: Sequence[int]) -> list[Judgement]:
    """What is believed of some evaluations, given by their places among those that succeeded.

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell_many([{"x": k / 9} for k in range(10)], [0.0, 0.0, 0.1, 0.1, 9.0, 0.2, 0.2, 0.3, 0.3, 0.4])
    >>> found = judge(Search.of(optimizer), [4])[0]
    >>> found.distrusted, found.value, found.expected < 1.0
    (True, 9.0, True)
    """
    subject = search.subject
    x, off = subject.learned.series.x, off_surface_probability(subject.learned.draws)
    with one_blas_thread():
        mean, std = MeanObjective.of(subject.learned.draws, subject.aim).moments(x[list(which)])
    observations, out = search.optimizer.observations, []
    for place, k in enumerate(which):
        value = observations[search.done[k]].value
        assert value is not None, "it is among those that succeeded"
        if x.shape[0] > 1:
            law = law_without(subject, k)
            low, middle, high = (float(v) for v in law.quantile((MOST[0], 0.5, MOST[1]))[0])
            below = float(law.cdf(value)[0])
        else:
            low = middle = high = below = float("nan")
        out.append(
            Judgement(
                number=search.numbers[search.done[k]],
                point=search.point(k),
                value=value,
                off_surface=float(off[k]),
                expected=middle,
                low=low,
                high=high,
                tail=1.0 - below if value > middle else below,
                mean=float(mean[place]),
                std=float(std[place]),
                objective=str(subject.aim),
                noun=subject.noun,
                n_here=int(np.sum((x == x[k]).all(axis=1))),
            )
        )
    return out


def distrusted(search: Search) -> list[int]:
    """Places of the rewards that are distrusted among those that succeeded, the least trusted first."""
    off = off_surface_probability(search.subject.learned.draws)
    return [int(k) for k in np.argsort(-off, kind="stable") if off[k] > DISTRUST]
