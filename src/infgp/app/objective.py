"""What ``infgp run`` optimises, and what for: how the command line writes it, and how a study keeps it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from infgp.errors import InvalidInputError, check_choice, check_positive
from infgp.predict.functionals import OUTLIERS, WITH_NUMBER, Objective
from infgp.search.presets import PRESETS
from infgp.search.proposal import DEFAULT_GOAL, GOALS, STAND_INS
from infgp.search.stopping import RegretBelow

if TYPE_CHECKING:
    from optuna import Study

    from infgp.app.storage import Plan

#: User attribute of a study: the objective, as ``--objective`` writes it.
OBJECTIVE = "infgp:objective"
#: User attribute of a study: whether rewards off the surfaces count, as ``--outliers`` writes it.
OUTLIERS_KEPT = "infgp:outliers"
#: User attribute of a study: what a number is that may stand for failed trials, as ``--stand-ins`` writes it.
STAND_INS_KEPT = "infgp:stand_ins"
#: User attribute of a study: what the search is for, as ``--goal`` writes it.
GOAL_KEPT = "infgp:goal"
#: User attribute of a study: the preset, as ``--preset`` writes it.
PRESET_KEPT = "infgp:preset"
#: User attribute of a study: whether improvement is counted per cost, as ``--per-cost`` says.
PER_COST_KEPT = "infgp:per_cost"
#: What ``--preset`` is where the study has none.
NO_PRESET = "none"
#: What ``--objective`` may be.
FORMS = (
    "mean, median, quantile:Q with 0 < Q < 1, cvar:Q with 0 < Q <= 1 (the mean of the worst share Q), or "
    "probability:THRESHOLD"
)


def read_objective(text: str) -> Objective:
    """The objective that a text such as ``quantile:0.1`` names; raise unless it names one.

    Examples
    --------
    >>> read_objective("median"), read_objective("probability:-3e2")
    (Objective(kind='quantile', number=0.5), Objective(kind='probability', number=-300.0))
    >>> read_objective("quantile:2")
    Traceback (most recent call last):
        ...
    infgp.errors.InvalidInputError: --objective must be mean, median, ... but got 'quantile:2'.
    """
    name, colon, number = text.partition(":")
    try:
        if colon and name in WITH_NUMBER and math.isfinite(amount := float(number)):
            return Objective.parse((name, amount))
        return Objective.parse(text)
    except ValueError:
        raise InvalidInputError(f"--objective must be {FORMS}, but got {text!r}.") from None


def regret_rule(epsilon: float | None, probability: float | None) -> RegretBelow | None:
    """The rule that ``--until-regret`` and ``--probability`` ask for; None where there is none.

    Examples
    --------
    >>> regret_rule(0.1, None), regret_rule(None, None)
    (RegretBelow(epsilon=0.1, probability=0.95), None)
    """
    if epsilon is None:
        if probability is not None:
            raise InvalidInputError("--probability is that of --until-regret; add --until-regret EPS, or leave it out.")
        return None
    check_positive("--until-regret", epsilon)
    if probability is None:
        return RegretBelow(epsilon)
    if not 0.0 < probability < 1.0:
        raise InvalidInputError(f"--probability must be between 0 and 1, but got {probability}.")
    return RegretBelow(epsilon, probability)


def check_options(plan: Plan) -> None:
    """Raise unless the objective, the treatment of outliers, the goal and the preset that were asked for are known."""
    if plan.objective is not None:
        read_objective(plan.objective)
    if plan.outliers is not None:
        check_choice("--outliers", plan.outliers, OUTLIERS)
    if plan.stand_ins is not None:
        check_choice("--stand-ins", plan.stand_ins, STAND_INS)
    if plan.goal is not None:
        check_choice("--goal", plan.goal, tuple(GOALS))
    if plan.preset is not None:
        check_choice("--preset", plan.preset, (*PRESETS, NO_PRESET))
    if plan.goal is not None and plan.preset in PRESETS:
        raise InvalidInputError(f"--goal and --preset {plan.preset} exclude each other; leave one of the two out.")
    if plan.per_cost and plan.preset in PRESETS:
        raise InvalidInputError(f"--per-cost and --preset {plan.preset} exclude each other; leave one of the two out.")
    if plan.preset == "paper" and plan.stand_ins == "failed":
        raise InvalidInputError("--preset paper counts all rewards; leave --stand-ins out.")
    if plan.preset == "paper" and plan.objective is not None and read_objective(plan.objective).kind != "mean":
        raise InvalidInputError("--preset paper follows surfaces and no objective; leave --objective out.")


def settle(study: Study, plan: Plan) -> dict[str, Any]:
    """Options of the sampler: what the plan asks for, which the study then keeps; else what the study has kept.

    The rewards of a study do not depend on its objective. So a run may ask another question of the same trials, and a
    run that is started again without an option goes on with the study's.

    Examples
    --------
    >>> import optuna
    >>> from infgp.app.storage import Plan
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study()
    >>> settle(study, Plan("train:loss", "space.toml", 9, objective="cvar:0.1"))
    {'objective': ('cvar', 0.1), 'outliers': 'count', 'goal': 'final'}
    >>> settle(study, Plan("train:loss", "space.toml", 9, outliers="ignore", goal="along"))
    {'objective': ('cvar', 0.1), 'outliers': 'ignore', 'goal': 'along'}
    >>> settle(study, Plan("train:loss", "space.toml", 9, per_cost=True))
    {'objective': ('cvar', 0.1), 'outliers': 'ignore', 'goal': 'along', 'per_cost': True}
    >>> settle(study, Plan("train:loss", "space.toml", 9, per_cost=False))
    {'objective': ('cvar', 0.1), 'outliers': 'ignore', 'goal': 'along'}
    >>> settle(study, Plan("train:loss", "space.toml", 9, preset="thompson"))
    {'objective': ('cvar', 0.1), 'outliers': 'ignore', 'preset': 'thompson'}
    """
    kept = study.user_attrs
    preset = plan.preset or str(kept.get(PRESET_KEPT, NO_PRESET))
    check_choice("--preset", preset, (*PRESETS, NO_PRESET))
    if plan.goal is not None and preset != NO_PRESET:
        raise InvalidInputError(
            f"--goal and --preset {preset}, which the study has kept, exclude each other; use --preset {NO_PRESET}."
        )
    per_cost = bool(kept.get(PER_COST_KEPT, False)) if plan.per_cost is None else plan.per_cost
    if per_cost and preset != NO_PRESET:
        raise InvalidInputError(
            f"--per-cost and --preset {preset} exclude each other, and the study has kept one of them; use "
            f"--no-per-cost or --preset {NO_PRESET}."
        )
    asked = {
        OBJECTIVE: plan.objective,
        OUTLIERS_KEPT: plan.outliers,
        STAND_INS_KEPT: plan.stand_ins,
        GOAL_KEPT: plan.goal,
        PRESET_KEPT: plan.preset,
        PER_COST_KEPT: plan.per_cost,
    }
    for name, value in asked.items():
        if value is not None and value != kept.get(name):
            study.set_user_attr(name, value)
    objective = read_objective(plan.objective or str(kept.get(OBJECTIVE, "mean")))
    outliers = plan.outliers or str(kept.get(OUTLIERS_KEPT, "count"))
    check_choice("--outliers", outliers, OUTLIERS)
    stand_ins = plan.stand_ins or str(kept.get(STAND_INS_KEPT, STAND_INS[0]))
    check_choice("--stand-ins", stand_ins, STAND_INS)
    goal = plan.goal or str(kept.get(GOAL_KEPT, DEFAULT_GOAL))
    check_choice("--goal", goal, tuple(GOALS))
    option = objective.option
    settled: dict[str, Any] = {"objective": option if isinstance(option, str) else tuple(option), "outliers": outliers}
    settled |= {"goal": goal} if preset == NO_PRESET else {"preset": preset}
    settled |= {"stand_ins": stand_ins} if stand_ins != STAND_INS[0] and preset != "paper" else {}
    return settled | ({"per_cost": True} if per_cost else {})
