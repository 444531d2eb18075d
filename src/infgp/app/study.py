"""The study of ``infgp run``: whether it is one to go on with, and how outcomes are stored in it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from infgp.app.storage import Plan
from infgp.app.text import shorten
from infgp.errors import InvalidInputError
from infgp.space import Space

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial, Trial

#: User attribute of a trial: why it failed.
ERROR = "infgp:error"
#: User attribute of a trial that was added to hold a value: the number of the trial that the value belongs to, which
#: another run had given up while it was still being evaluated.
INSTEAD_OF = "infgp:instead_of"
#: User attribute of a study whose space has conditions, which its trials do not tell: the space, in JSON.
SPACE_KEPT = "infgp:space"
#: Largest number of characters of a space that a study keeps; MySQL holds 65 535 bytes.
LARGEST_KEPT = 60_000


def check_study(study: Study, plan: Plan, space: Space, ours: set[int]) -> None:
    """Raise unless the study is one to go on with."""
    name, wanted = plan.name, "minimize" if plan.minimize else "maximize"
    made = [direction.name.lower() for direction in study.directions]
    if len(made) > 1:
        raise InvalidInputError(f"The study {name!r} has {len(made)} objectives; choose another --study.")
    if made[0] != wanted:
        remedy = "leave out" if plan.minimize else "add"
        raise InvalidInputError(
            f"The study {name!r} was made to {made[0]}; {remedy} --minimize, or choose another --study."
        )
    stranger = foreign(study.get_trials(deepcopy=False), plan, space, ours)
    if stranger is not None:
        raise InvalidInputError(stranger)


def keep_space(study: Study, space: Space) -> None:
    """Have the study keep a space with conditions, so that others can go on with it."""
    text = json.dumps(space.to_json())
    if space.conditional and len(text) <= LARGEST_KEPT and study.user_attrs.get(SPACE_KEPT) != text:
        study.set_user_attr(SPACE_KEPT, text)


def foreign(trials: list[FrozenTrial], plan: Plan, space: Space, ours: set[int]) -> str | None:
    """What is wrong with the first trial whose parameters are not those of the space file, if there is one.

    Finished trials that have them are added to `ours`, by number, and not looked at again. A trial that has just begun
    may lack parameters, and so may one that was lost then; neither counts.
    """
    from optuna.distributions import check_distribution_compatibility

    from infgp.optuna import distributions

    known, name, remedy = distributions(space), plan.name, "mend it, or choose another --study."
    for trial in trials:
        if trial.number in ours:
            continue
        has = trial.distributions
        wanted = _applicable(space, trial.params)
        if has.keys() - known.keys() or (counts(trial) and wanted != has.keys()):
            return (
                f"The study {name!r} has trials with the parameters {_names(has)}, the space file "
                f"{plan.space} has {_names(wanted)}; {remedy}"
            )
        for parameter, distribution in has.items():
            try:
                check_distribution_compatibility(distribution, known[parameter])
            except ValueError:
                return (
                    f"The study {name!r} knows {parameter!r} as {shorten(str(distribution))}, the space file "
                    f"{plan.space} has {shorten(str(known[parameter]))}; {remedy}"
                )
        if trial.state.is_finished():
            ours.add(trial.number)
    return None


def store(study: Study, storage: RDBStorage, trial: Trial, value: float | None, error: str | None) -> FrozenTrial:
    """The trial that holds the outcome: this one, or another where a run has taken this one for dead."""
    from optuna.exceptions import UpdateFinishedTrialError
    from optuna.trial import TrialState, create_trial

    try:
        if error is not None:
            trial.set_user_attr(ERROR, error)
        if value is None:
            study.tell(trial.number, state=TrialState.FAIL)
        else:
            study.tell(trial.number, value)
    except (UpdateFinishedTrialError, ValueError):
        stored = storage.get_trial(trial._trial_id)
        if not stored.state.is_finished():
            raise
        if value is None or stored.value == value:
            return stored
        if not _instead_of(study, trial.number):
            attributes = {INSTEAD_OF: trial.number}
            study.add_trial(
                create_trial(
                    params=stored.params, distributions=stored.distributions, value=value, user_attrs=attributes
                )
            )
        return _instead_of(study, trial.number)[0]
    return storage.get_trial(trial._trial_id)


def _instead_of(study: Study, number: int) -> list[FrozenTrial]:
    return [t for t in study.get_trials(deepcopy=False) if t.user_attrs.get(INSTEAD_OF) == number]


def abandon(storage: RDBStorage, trial: Trial, error: str | None = None) -> None:
    """Give a trial up: neither a value nor a failure of the point. Where even that fails, its heartbeat ends."""
    from optuna.exceptions import OptunaError
    from optuna.trial import TrialState
    from sqlalchemy.exc import SQLAlchemyError

    try:
        if error is not None:
            trial.set_user_attr(ERROR, error)
        storage.set_trial_state_values(trial._trial_id, TrialState.FAIL)
    except (OptunaError, SQLAlchemyError):
        pass


def counts(trial: FrozenTrial) -> bool:
    """Whether a trial counts towards the number asked for: it completed, was pruned, or its point failed."""
    from infgp.optuna import FAILED

    return trial.state.name in ("COMPLETE", "PRUNED") or (
        trial.state.name == "FAIL" and bool(trial.system_attrs.get(FAILED))
    )


def _applicable(space: Space, params: dict[str, Any]) -> set[str]:
    """Names of the parameters that apply to a trial."""
    return set(space.assemble(lambda name, _: params.get(name)))


def _names(parameters: Iterable[str]) -> str:
    return shorten(", ".join(map(repr, sorted(parameters)))) or "none"
