"""Optuna studies: constraints, several objectives, conditional parameters, failures, pruning, threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import optuna

from infgp.optuna import InfGPSampler
from tests.fuzz import draws
from tests.fuzz.draws import Wrong

#: Objectives of a study, at most.
OBJECTIVES = 3
#: Constraints of a study, at most.
CONSTRAINTS = 2


def make(rng: np.random.Generator) -> dict[str, Any]:
    """A study: its steps are the outcomes of its trials."""
    count = int(rng.choice([1, 1, 2, OBJECTIVES]))
    limits = int(rng.choice([0, 1, CONSTRAINTS]))
    steps = []
    for _ in range(int(rng.integers(4, 24))):
        how = str(rng.choice(["value", "raise", "prune", "nan", "enqueue"], p=[0.8, 0.05, 0.05, 0.05, 0.05]))
        values = [draws.reward(rng) or 0.0 for _ in range(count)]
        steps.append([how, values, [draws.constraint(rng) for _ in range(limits)]])
    return {
        "space": {
            **{f"p{k}": draws.parameter(rng) for k in range(rng.integers(0, 4))},
            "step": ["Step", *[[0.0, 1.0, 0.25], [-3, 9, 4]][rng.integers(2)]],
        },
        "conditional": bool(rng.random() < 0.3),
        "directions": [str(rng.choice(["minimize", "maximize"])) for _ in range(count)],
        "seed": int(rng.integers(2**31)),
        "startup": int(rng.integers(1, 6)),
        "threads": 2 if rng.random() < 0.2 else 1,
        "beliefs": bool(rng.random() < 0.5),
        "options": draws.options(rng),
        "steps": steps,
    }


def suggest(trial: optuna.Trial, name: str, kind: str, *arguments: Any) -> Any:
    """A parameter of a trial, by a description."""
    if kind == "Choice":
        return trial.suggest_categorical(name, *arguments)
    if kind == "Step":
        low, high, step = arguments
        return (trial.suggest_int if isinstance(low, int) else trial.suggest_float)(name, low, high, step=step)
    low, high, *log = arguments
    return (trial.suggest_int if kind == "Int" else trial.suggest_float)(name, low, high, log=bool(log))


def play(case: dict[str, Any]) -> None:
    """Run the study."""
    steps, enqueued = case["steps"], 0

    def objective(trial: optuna.Trial) -> Any:
        how, values, limits = steps[trial.number % len(steps)]
        for name, entry in case["space"].items():
            if not case["conditional"] or name == "step" or trial.number % 2:
                suggest(trial, name, *entry)
        trial.set_user_attr("limits", limits)
        if how == "raise":
            raise ZeroDivisionError
        if how == "prune":
            raise optuna.TrialPruned
        if how == "nan":
            return float("nan") if len(values) == 1 else [float("nan")] * len(values)
        return values[0] if len(values) == 1 else values

    sampler = InfGPSampler(
        seed=case["seed"],
        n_startup_trials=case["startup"],
        constraints_func=(lambda trial: trial.user_attrs["limits"]) if steps and steps[0][2] else None,
        store_beliefs=case["beliefs"],
        **draws.chosen(case["options"]),
    )
    study = optuna.create_study(directions=case["directions"], sampler=sampler)
    for how, *_ in steps:
        if how == "enqueue":
            study.enqueue_trial({"step": case["space"]["step"][1]})
            enqueued += 1
    study.optimize(objective, n_trials=len(steps), n_jobs=case["threads"], catch=(ZeroDivisionError,))
    if len(study.trials) != len(steps):
        raise Wrong(f"{len(study.trials)} trials where {len(steps)} were wanted")
    for trial in study.trials:
        for name, distribution in trial.distributions.items():
            if not distribution._contains(distribution.to_internal_repr(trial.params[name])):
                raise Wrong(f"invalid value {trial.params[name]!r} of {name}")
    ask_for_more(study, sampler)
    if sampler.fallbacks:
        raise Wrong(f"{sampler.fallbacks} hidden fallbacks")


def ask_for_more(study: optuna.Study, sampler: InfGPSampler) -> None:
    """The recommendation or the trade-offs, if any trial has told something."""
    usable = [t for t in study.trials if t.values and all(math.isfinite(v) for v in t.values)]
    if not usable:
        return
    if len(study.directions) > 1:
        numbers = [v for t in sampler.tradeoffs(study) for v in (*t.means, *t.stds)]
    else:
        best = sampler.recommend(study)
        numbers = [best.mean, best.std, *best.quantiles.values(), best.feasibility]
    if not np.isfinite(numbers).all():
        raise Wrong(f"not finite: {numbers}")
