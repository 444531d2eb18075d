"""``infgp confirm``: further evaluations of a finished study's best points, to find out which of them is best."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from infgp.app.spacefile import read_space
from infgp.app.storage import Plan, load_study
from infgp.app.study import SPACE_KEPT, counts
from infgp.app.text import shorten
from infgp.app.workers import EvaluationError, find_function
from infgp.errors import InfGPError, InvalidInputError, check_int
from infgp.printing import printable
from infgp.run import Result, maximize, minimize
from infgp.search.optimizer import Optimizer
from infgp.space import Space

if TYPE_CHECKING:
    from optuna import Study


def prepare(plan: Plan) -> tuple[Plan, Space]:
    """What ``infgp run`` is to do for a number of further evaluations, which `plan.trials` is, and the space.

    Raises
    ------
    InvalidInputError
        Where there is no such study, nothing to confirm in it, or it is not certain what its space is.

    Examples
    --------
    >>> import optuna, tempfile
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/study.db"
    ...     study = optuna.create_study(storage=url, study_name="mine", direction="minimize")
    ...     study.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0), n_trials=3)
    ...     plan, space = prepare(Plan("train:loss", "", 5, storage=url, study="mine"))
    >>> plan.trials, plan.confirm, plan.minimize, space.parameters
    (8, 5, True, (Float(low=0.0, high=1.0, log=False),))
    """
    check_int("--evaluations", plan.trials, 1)
    if plan.name.endswith(".json"):
        raise InvalidInputError(
            f"There is no file {plan.name}; give a file that Optimizer.save wrote, or a study's name."
        )
    if ":" not in plan.function:
        raise InvalidInputError(
            f"It is not known what is to be evaluated for {plan.name!r}; add --function module:function."
        )
    study = load_study(plan)
    trials = study.get_trials(deepcopy=False)
    if len(study.directions) > 1:
        raise InvalidInputError(f"The study {plan.name!r} has several objectives; confirm is for one.")
    if not any(trial.state.name == "COMPLETE" for trial in trials):
        raise InvalidInputError(f"The study {plan.name!r} has no completed trial: there is nothing to confirm yet.")
    space = read_space(plan.space) if plan.space else space_of(study)
    minimizes = study.direction.name == "MINIMIZE"
    done = sum(map(counts, trials))
    whole = replace(plan, trials=done + plan.trials, confirm=plan.trials, minimize=minimizes)
    return replace(whole, space=plan.space or "of the study"), space


def space_of(study: Study) -> Space:
    """The space that a study has kept, or else that of its completed trials, which must have the same parameters.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study()
    >>> study.optimize(lambda trial: trial.suggest_int("n", 1, 4), n_trials=2)
    >>> space_of(study).parameters
    (Int(low=1, high=4, log=False),)
    """
    from infgp.optuna import parameters

    kept = study.user_attrs.get(SPACE_KEPT)
    try:
        if kept is not None:
            return Space.from_json(json.loads(kept))
        found = [t.distributions for t in study.get_trials(deepcopy=False) if t.state.name == "COMPLETE"]
        if any(distributions.keys() != found[-1].keys() for distributions in found):
            raise InvalidInputError("its trials have different parameters")
        return Space.of(parameters(found[-1]))
    except (InvalidInputError, TypeError, ValueError) as error:
        reason = printable(str(error)).rstrip(".")
        raise InvalidInputError(
            f"The space of the study {study.study_name!r} is not certain ({shorten(reason)}); add --space FILE."
        ) from None


def confirm_file(path: str, function: str | None, evaluations: int, keep_going: bool) -> Result:
    """Go on with an optimizer that was saved; the file is written after every evaluation.

    Raises
    ------
    InvalidInputError, EvaluationError
        What is wrong and what to do; what was evaluated until then is in the file.

    Examples
    --------
    >>> import os, tempfile
    >>> from infgp.space import Float
    >>> optimizer = Optimizer({"mu": Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell({"mu": 0.5}, 1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.json")
    ...     optimizer.save(path)
    ...     confirm_file(path, "random:gauss", 2, keep_going=False).optimizer.counts
    (3, 3)
    """
    check_int("--evaluations", evaluations, 1)
    if function is None:
        raise InvalidInputError(f"It is not known what is to be evaluated for {path}; add --function module:function.")
    optimizer = Optimizer.load(path)
    go_on = minimize if optimizer.direction == "minimize" else maximize
    f = find_function(function)
    catch: tuple[type[Exception], ...] = (Exception,) if keep_going else ()
    try:
        return go_on(
            f, optimizer, evaluations, confirm=evaluations, callbacks=lambda search, _: search.save(path), catch=catch
        )
    except InfGPError:
        raise
    except Exception as error:
        raise EvaluationError(
            f"{function} failed ({shorten(f'{type(error).__name__}: {error}')}); what was evaluated before is in "
            f"{path}. Mend the function, or add --keep-going to count such a point as failed and go on."
        ) from error


def candidates(study: Study) -> str:
    """The points of a study that may be best, as a table."""
    from infgp.optuna import InfGPSampler

    assert isinstance(study.sampler, InfGPSampler)
    try:
        return "\n".join(printable_row(row) for row in str(study.sampler.candidates(study)).splitlines())
    except ArithmeticError as error:
        return f"No table of candidates: {printable(str(error))}"


def printable_row(row: str) -> str:
    r"""A row of a table with its spaces, and with characters that would move the cursor spelt out.

    Examples
    --------
    >>> printable_row("a   \a")
    'a   \\x07'
    """
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in row)
