"""What goes into a search and what comes out of it: observations, recommendations, trade-offs."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from infgp.errors import InvalidInputError, check_reward, shown
from infgp.habits import RECOMMENDATION_ATTRIBUTES, Hints
from infgp.predict.law import Law
from infgp.predict.lawmixture import LawMixture
from infgp.printing import brief, brief_point, html_table, noun
from infgp.search.learning import LARGEST
from infgp.space import Point

#: Least distance of a value that may stand for failures from the median of all others, in half 16–84 % ranges.
FAR_OFF = 1e4
#: Least number of other values from which that can be told.
LEAST_OTHERS = 3
#: Likeness of two names from which one is taken for the other misspelt, as a share of their letters (difflib).
ALIKE = 0.8
#: What two names may differ in without being alike.
DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class Observation:
    """A point and what its evaluation gave.

    Attributes
    ----------
    point : dict
    values : tuple of float, or None
        A value for each objective; None for a failed evaluation.
    noise_variance : float
        The known part of the noise variance.
    constraints : dict of str to float
        Values of the constraints; a point is feasible where none is positive.
    cost : float or None
        What the evaluation cost, in the user's unit; None where it was not told.
    """

    point: Point
    values: tuple[float, ...] | None
    noise_variance: float = 0.0
    constraints: Mapping[str, float] = field(default_factory=dict)
    cost: float | None = None

    @property
    def value(self) -> float | None:
        """The reward, None for a failed evaluation. With several objectives see `values`."""
        if self.values is None:
            return None
        if len(self.values) > 1:
            raise InvalidInputError(f"There are {len(self.values)} objectives; see Observation.values.")
        return self.values[0]

    @property
    def feasible(self) -> bool:
        """Whether no constraint was seen to be violated."""
        return all(value <= 0.0 for value in self.constraints.values())


@dataclass(frozen=True)
class Recommendation(Hints):
    """The point with the best objective, and what to expect there. Printing it says all of it.

    Attributes
    ----------
    point : dict
        The point of the whole space with the best objective, if it is better than `best_evaluated` by more than
        one standard deviation of the difference between the two; `best_evaluated` otherwise. Under constraints only
        points are considered that are more likely feasible than not, as long as there is one.
    mean, std : float
        Posterior mean of the objective there, by default the expected reward, and how uncertain it is.
    quantiles : dict of float to float
        Quantiles, by level, of a single further reward there, noise included.
    best_evaluated : dict
        The evaluated point with the best objective.
    feasibility : float
        Probability that all constraints hold at the point; 1 where there are none.
    objective : str
        What was optimised, in words.
    outliers : {"count", "ignore"}
        Whether rewards off all surfaces counted.
    n_rewards, n_off_surface : int
        Number of rewards, and how many of them are believed to lie off the surface that dominates at their point.
    off_surface_effect : float
        The objective at the point with such rewards counted less the same with them ignored, in the user's units.
    otherwise : dict or None
        The evaluated point that would clearly be better with the other choice of `outliers`; None if there is none.
    stand_in : (float, int) or None
        A reward that was told several times, to the last digit, and is far worse than all others, with how often: it
        may stand for failed evaluations. None if there is none.
    stand_ins : {"failed", "count"}
        Whether it was taken for failed evaluations, or counted.
    direction : {"maximize", "minimize"}
        Whether rewards are maximised or costs minimised.
    law : Law
        The law of a further reward at the point.
    """

    point: Point
    mean: float
    std: float
    quantiles: dict[float, float]
    best_evaluated: Point
    feasibility: float = 1.0
    objective: str = "expected reward"
    outliers: str = "count"
    n_rewards: int = 0
    n_off_surface: int = 0
    off_surface_effect: float = 0.0
    otherwise: Point | None = None
    stand_in: tuple[float, int] | None = None
    stand_ins: str = "failed"
    direction: str = "maximize"
    law: Law | LawMixture | None = field(default=None, repr=False, compare=False)
    _habits: ClassVar[Mapping[str, str]] = RECOMMENDATION_ATTRIBUTES

    @property
    def noun(self) -> str:
        """What a value is called: a reward, or a cost where it is minimised."""
        return noun(1.0 if self.direction == "maximize" else -1.0)

    def __str__(self) -> str:
        return "\n".join([*(f"{name}: {text}" for name, text in self._rows()), *self.warnings])

    def _repr_html_(self) -> str:
        return html_table("Recommendation", self._rows(), self.warnings)

    def _rows(self) -> list[tuple[str, str]]:
        """What is shown, by name."""
        levels = ", ".join(f"{100.0 * q:g} % below {brief(value)}" for q, value in self.quantiles.items())
        off = f"{self.n_off_surface} of {self.n_rewards} {self.noun}s"
        rows = [
            ("recommended", brief_point(self.point)),
            (self.objective, f"{brief(self.mean)} ± {self.std:.2g}"),
            (f"a further {self.noun}", levels),
            ("off the dominant surface", f"{off}, which change the objective here by {self.off_surface_effect:+.2g}"),
        ]
        if self.feasibility < 1.0:
            rows.append(("all constraints hold", f"{100.0 * self.feasibility:.0f} %"))
        return rows

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should decide, as sentences."""
        found = []
        if self.otherwise is not None:
            now, other = ("counted", "ignore") if self.outliers == "count" else ("ignored", "count")
            point = brief_point(self.otherwise)
            found.append(
                f"warning: {self.noun}s off the surfaces are {now}; with outliers={other!r} {point} would be "
                "better. They decide the recommendation: count them if they can happen again, ignore them if they are "
                "errors."
            )
        if self.stand_in is not None:
            value, times = self.stand_in
            begin = f"warning: {times} {self.noun}s are exactly {value:g}, far worse than all others."
            if self.stand_ins == "failed":
                found.append(
                    f"{begin} They are taken for evaluations that failed: the search keeps away from such points, and "
                    f"they do not count in the expected {self.noun} of others. If the {self.noun} was really paid, use "
                    "stand_ins='count'."
                )
            else:
                found.append(
                    f"{begin} They count. If they stand for evaluations that failed, tell None in place of them, or "
                    "use stand_ins='failed'."
                )
        return tuple(found)


@dataclass(frozen=True)
class Tradeoff:
    """An evaluated point that is not dominated: none is believed to be as good in every objective and better in one.

    Attributes
    ----------
    point : dict
    means, stds : tuple of float
        Posterior mean of each objective there, and how uncertain it is.
    feasibility : float
        Probability that all constraints hold there; 1 where there are none.
    laws : tuple of Law
        For each objective, the law of a further value there, noise included.
    """

    point: Point
    means: tuple[float, ...]
    stds: tuple[float, ...]
    feasibility: float
    laws: tuple[Law | LawMixture, ...] = field(default=(), repr=False, compare=False)


def stand_in(values: Sequence[float], sign: float) -> tuple[float, int] | None:
    """The worst value, and how often it was told, if that is more than once and it is far from all others.

    Examples
    --------
    >>> stand_in([0.1, 0.3, 1e6, 0.2, 1e6], sign=-1.0), stand_in([0.1, 0.3, 1e6, 0.2], sign=-1.0)
    ((1000000.0, 2), None)
    """
    worst = sign * min((sign * value for value in values), default=0.0)
    others = [value for value in values if value != worst]
    times = len(values) - len(others)
    if times < 2 or len(others) < LEAST_OTHERS:
        return None
    low, middle, high = np.percentile(np.clip(others, -LARGEST, LARGEST), (16.0, 50.0, 84.0))
    return (worst, times) if abs(worst - middle) > FAR_OFF * (high - low) / 2.0 > 0.0 else None


def checked_values(value: object, count: int) -> tuple[float, ...] | None:
    """A finite float for each of `count` objectives, or None for what counts as a failed evaluation.

    Examples
    --------
    >>> checked_values(2, 1), checked_values([1.0, 2.0], 2), checked_values(float("nan"), 1)
    ((2.0,), (1.0, 2.0), None)
    """
    if value is None:
        return None
    single = not isinstance(value, Sequence | np.ndarray) or isinstance(value, str | bytes) or np.ndim(value) == 0
    single |= count == 1 and isinstance(value, np.ndarray) and value.size == 1
    values: Sequence[object]
    if count == 1 and single:
        values = [value]
    elif not single and len(value) == count:  # type: ignore[arg-type]
        values = list(value)  # type: ignore[call-overload]
    else:
        wanted = "a number" if count == 1 else f"a sequence of {count} numbers, one for each direction"
        remedy = (
            "; tell each of the values by itself, or their mean, or make the optimizer with a direction for each"
            if not single and count == 1
            else "; give numbers, by its method tolist"
            if single and hasattr(value, "tolist")
            else ""
        )
        raise InvalidInputError(
            f"A reward must be {wanted}, or None for a failed evaluation, but got {shown(value)}{remedy}."
        )
    if count > 1 and any(v is None for v in values):
        raise InvalidInputError(
            f"A reward must be a sequence of {count} numbers, but got {shown(value)}; an evaluation that lacks one "
            "of its values has failed: tell None in place of all of them."
        )
    numbers = [check_reward(v) for v in values]
    return tuple(numbers) if all(map(math.isfinite, numbers)) else None


def checked_cost(cost: object) -> float | None:
    """What an evaluation cost as a float, None where that is not known.

    Examples
    --------
    >>> checked_cost(3), checked_cost(None)
    (3.0, None)
    """
    if cost is None:
        return None
    if isinstance(cost, bool) or not (
        isinstance(cost, int | float | np.integer | np.floating) and 0.0 <= cost <= LARGEST
    ):
        raise InvalidInputError(
            f"cost must be a finite number >= 0, such as seconds or money, or None, but got {shown(cost)}."
        )
    return float(cost)


def nothing_known(purpose: str, told: int) -> InvalidInputError:
    """The error where no reward was told, or all evaluations that were told have failed.

    Examples
    --------
    >>> print(nothing_known("recommend", 0))
    There is nothing to recommend yet: tell at least one reward first.
    >>> print(nothing_known("recommend", 8))
    There is nothing to recommend yet: all 8 evaluations failed (their rewards are None, NaN or infinite); ...
    """
    if not told:
        return InvalidInputError(f"There is nothing to {purpose} yet: tell at least one reward first.")
    return InvalidInputError(
        f"There is nothing to {purpose} yet: all {told} evaluations failed (their rewards are None, NaN or infinite); "
        "find out why, and tell at least one reward."
    )


def _amount(value: object) -> float:
    """A number or truth value as a float; text is neither, though Python would read it."""
    if isinstance(value, str | bytes | bytearray):
        raise TypeError("text")
    return float(value)  # type: ignore[arg-type]


def check_names(told: Collection[str], now: Collection[str]) -> None:
    """Refuse a constraint that looks like one told before, where that one is missing: it would be another constraint.

    Names that differ in their numbers alone, as those of a sequence do, are different ones.

    Examples
    --------
    >>> check_names(["weight"], ["weight", "heights"])
    >>> check_names(["weight"], ["wieght"])
    Traceback (most recent call last):
        ...
    infgp.errors.InvalidInputError: Constraint 'wieght' is new, and 'weight' is missing; is it the same? Write 'weight'.
    """
    missing = sorted(set(told) - set(now))
    for name in sorted(set(now) - set(told)):
        for near in difflib.get_close_matches(name, missing, 1, ALIKE):
            if DIGITS.sub("", name) != DIGITS.sub("", near):
                raise InvalidInputError(
                    f"Constraint {shown(name)} is new, and {shown(near)} is missing; is it the same? "
                    f"Write {shown(near)}."
                )


def checked_constraints(values: Mapping[str, float] | Sequence[float] | None) -> dict[str, float]:
    """Values of constraints by name; the values of a sequence are named by their index."""
    if values is None:
        return {}
    try:
        pairs = (
            values.items() if isinstance(values, Mapping) else zip(map(str, range(len(values))), values, strict=True)
        )
        named = {str(name): min(max(_amount(value), -LARGEST), LARGEST) for name, value in pairs}
    except (TypeError, ValueError, OverflowError):
        named = {"": math.nan}
    if any(map(math.isnan, named.values())):
        raise InvalidInputError(
            "constraints must be numbers, by name or in a sequence, of which none may be positive, but got "
            f"{shown(values)}."
        )
    return named
