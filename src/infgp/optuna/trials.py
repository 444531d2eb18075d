"""What a study's trials have told, and the memory of it: the optimizer that was told of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from infgp.errors import InvalidInputError, extra
from infgp.optuna.spaces import Distributions, inward, outward
from infgp.search.optimizer import Optimizer
from infgp.search.outcomes import checked_cost
from infgp.space import Parameter, Point, Scalar

with extra("optuna", "optuna"):
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState

#: User attribute of a trial: the probability, when it ended, that its value lies off the dominant surface.
OFF_SURFACE = "infgp:off_surface_probability"
#: User attribute of a trial: the posterior mean of the number of surfaces when it ended.
SURFACES = "infgp:surfaces"
#: User attribute of a trial: the posterior mean of the concentration ν when it ended.
NU = "infgp:nu"
#: User attribute of a trial: the best expected value of all trials' points so far when it ended, with one objective.
BEST_EXPECTED = "infgp:best_expected"
#: User attribute of a trial: what it cost. The user's, or the seconds that it took, which are stored with `per_cost`.
COST = "infgp:cost"
#: System attribute of a trial: the objective itself failed, not the machine under it.
FAILED = "infgp:failed"
#: System attribute of a trial: the values that it has been given while it runs, and may not have asked for yet.
GIVEN = "infgp:given"

#: The values of a trial that completed, None for one that failed or was pruned.
Outcome: TypeAlias = tuple[float, ...] | None


@dataclass
class Memory:
    """The optimizer of one study and search space, and the outcome of each trial that it was told of."""

    study: str
    distributions: Distributions
    directions: tuple[StudyDirection, ...]
    optimizer: Optimizer
    told: dict[int, Outcome] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)  # of the trials behind the optimizer's observations

    def fits(self, study: Study, distributions: Distributions, trials: Mapping[int, FrozenTrial]) -> bool:
        """Whether everything told is still so; a trial told of a moment before it is stored counts."""
        mine = (self.study, self.distributions, self.directions)
        if mine != (study.study_name, distributions, tuple(study.directions)):
            return False
        now = ((trials.get(number), outcome) for number, outcome in self.told.items())
        return all(t is not None and (t.state == TrialState.RUNNING or outcome(t) == told) for t, told in now)

    def outward(self, point: Point) -> Point:
        """A point of the optimizer with Optuna's values."""
        return {name: outward(d, point[name]) for name, d in self.distributions.items() if name in point}

    def point(self, trial: FrozenTrial, given: Mapping[str, float] | None = None) -> Point | None:
        """Where a trial is, or None if it does not have all parameters that apply to it, within their range.

        What it was given and has not asked for counts if it is named, what does not apply to it never does.
        """

        def value(name: str, parameter: Parameter) -> Scalar:
            distribution = self.distributions[name]
            asked = name in trial.params
            if not asked and not parameter.width:  # there was nothing to ask for
                return parameter.decode(np.zeros((1, 1)))[0]
            internal = distribution.to_internal_repr(trial.params[name]) if asked else (given or {})[name]
            return parameter.check(name, inward(distribution, float(internal)))

        try:
            return self.optimizer.space.assemble(value)
        except (KeyError, ValueError):
            return None

    def tell(self, trial: FrozenTrial, outcome: Outcome) -> bool:
        """Tell the optimizer of a trial; one that lacks a parameter, or is outside, is passed over: False."""
        self.told[trial.number] = outcome
        point = self.point(trial)
        if point is None:
            return False
        limits = constraints_of(trial) if outcome else None
        cost = cost_of(trial) if self.optimizer.setup.strategy.per_cost else None
        self.optimizer.tell(point, outcome, constraints=limits, cost=cost)
        self.numbers.append(trial.number)
        return True


def ended(trial: FrozenTrial) -> bool:
    """Whether a trial has told something: a failure does only if it was the objective's own."""
    if trial.state == TrialState.FAIL:
        return bool(trial.system_attrs.get(FAILED))
    return trial.state in (TrialState.COMPLETE, TrialState.PRUNED)


def outcome(trial: FrozenTrial) -> Outcome:
    """The values of a trial that completed, else None."""
    return tuple(trial.values) if trial.state == TrialState.COMPLETE else None


def constraints_of(trial: FrozenTrial) -> dict[str, float]:
    """Constraints by name; before Optuna 5 they were a list."""
    if hasattr(trial, "constraints"):
        return dict(trial.constraints)
    return {str(k): value for k, value in enumerate(trial.system_attrs.get("constraints") or ())}


def cost_of(trial: FrozenTrial) -> float | None:
    """What a trial cost: what it says, or else the seconds that it took; None where neither is known."""
    took = None if trial.duration is None else trial.duration.total_seconds()
    try:
        return checked_cost(trial.user_attrs.get(COST, took))
    except InvalidInputError as error:
        raise InvalidInputError(f"Trial {trial.number}: the user attribute {COST!r} is wrong. {error}") from None
