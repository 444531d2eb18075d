"""Names that users of other libraries try first, and what they are called here."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

#: What attributes of optimizers, studies and results of other libraries are called here.
ATTRIBUTES = {
    "best": "recommend(), or best_observed for the luckiest reward",
    "best_params": "recommend().point, or best_observed.point for the luckiest reward",
    "best_params_": "recommend().point, or best_observed.point for the luckiest reward",
    "best_point": "recommend().point, or best_observed.point for the luckiest reward",
    "best_score_": "recommend().mean, or best_observed.value for the luckiest reward",
    "best_trial": "recommend(), or best_observed for the luckiest reward",
    "best_value": "recommend().mean, or best_observed.value for the luckiest reward",
    "fit": "tell(point, value) for each evaluation; the estimator with fit and predict is infgp.InfiniteGP",
    "fmin": "infgp.minimize(f, space, budget)",
    "get_best": "recommend()",
    "max": "recommend(), or best_observed for the luckiest reward",
    "maximize": "infgp.maximize(f, optimizer, budget)",
    "minimize": "infgp.minimize(f, optimizer, budget)",
    "observe": "tell(point, value)",
    "optimize": "infgp.maximize(f, optimizer, budget) or infgp.minimize(f, optimizer, budget)",
    "register": "tell(point, value)",
    "run": "infgp.maximize(f, optimizer, budget) or infgp.minimize(f, optimizer, budget)",
    "trials": "observations",
}
#: What attributes of results of other libraries are called here.
RESULT_ATTRIBUTES = {
    "best": "recommendation, or best_observed for the luckiest reward",
    "best_params": "point, or best_observed.point for the luckiest reward",
    "best_point": "point, or best_observed.point for the luckiest reward",
    "best_trial": "recommendation, or best_observed for the luckiest reward",
    "best_value": "recommendation.mean, or best_observed.value for the luckiest reward",
    "fun": "recommendation.mean, or best_observed.value for the luckiest reward",
    "func_vals": "[o.value for o in result.observations]",
    "params": "point",
    "recommend": "recommendation",
    "trials": "observations",
    "value": "recommendation.mean, or best_observed.value for the luckiest reward",
    "x": "point",
    "x_iters": "[o.point for o in result.observations]",
}
#: What attributes of trials and of results of other libraries are called in a recommendation.
RECOMMENDATION_ATTRIBUTES = {
    "best_params": "point",
    "best_value": "mean",
    "fun": "mean",
    "params": "point",
    "value": "mean",
    "x": "point",
}
#: What names of other libraries, and of modules of ours, are called at the top of the package.
NAMES = {
    "BayesianOptimization": "infgp.Optimizer, or infgp.maximize",
    "Bool": "infgp.Choice([True, False])",
    "Categorical": "infgp.Choice",
    "GaussianProcessRegressor": "infgp.InfiniteGP",
    "InfGPModel": "infgp.botorch.InfGPModel",
    "InfGPSampler": "infgp.optuna.InfGPSampler",
    "Integer": "infgp.Int",
    "LogUniform": "infgp.Float(low, high, log=True)",
    "Real": "infgp.Float",
    "Uniform": "infgp.Float",
    "fmin": "infgp.minimize",
    "gp_minimize": "infgp.minimize",
    "optimize": "infgp.maximize or infgp.minimize",
}
_EXECUTOR = "executor=ThreadPoolExecutor(4), or another executor of concurrent.futures"
#: What arguments of other libraries are called in `maximize` and `minimize`.
ARGUMENTS = {
    "acq_func": "acquisition",
    "bounds": "space",
    "callback": "callbacks",
    "dimensions": "space",
    "fn": "f",
    "func": "f",
    "init_points": "n_initial",
    "max_evals": "budget",
    "max_iter": "budget",
    "max_time": "max_seconds",
    "max_workers": _EXECUTOR,
    "maxiter": "budget",
    "n_calls": "budget",
    "n_initial_points": "n_initial",
    "n_iter": "budget",
    "n_jobs": _EXECUTOR,
    "n_startup_trials": "n_initial",
    "n_trials": "budget",
    "objective_function": "f",
    "pbounds": "space",
    "random_state": "seed",
    "rng": "seed",
    "search_space": "space",
    "seconds": "max_seconds",
    "show_progress_bar": "progress",
    "timeout": "max_seconds",
    "verbose": "progress",
    "workers": _EXECUTOR,
}
_RUN = "infgp.maximize(f, optimizer, budget) or infgp.minimize, which have "
#: What arguments of other libraries, and those of `maximize`, are called in `Optimizer`; which of them are for a run.
SEARCH_ARGUMENTS = {
    **{name: meant for name, meant in ARGUMENTS.items() if meant in ("acquisition", "n_initial", "seed", "space")},
    **{
        name: f"{_RUN}{meant}"
        for name, meant in ARGUMENTS.items()
        if meant in ("budget", "callbacks", "max_seconds", "progress", _EXECUTOR)
    },
    **{
        name: f"{_RUN}{name}"
        for name in ("budget", "callbacks", "catch", "confirm", "cost", "executor", "max_cost", "max_seconds", "stop")
    },
    "directions": "direction, with an entry for each objective",
    "maximize": "direction='maximize'",
    "minimize": "direction='minimize'",
    "noise": "tell(point, value, noise_variance=...) where the noise is known; else it is learned",
    "progress": f"{_RUN}progress",
}
#: What arguments of `Optimizer` and of other samplers are called in `InfGPSampler`.
SAMPLER_ARGUMENTS = {
    "direction": "optuna.create_study(direction=...)",
    "directions": "optuna.create_study(directions=...)",
    "n_initial": "n_startup_trials",
    "n_initial_points": "n_startup_trials",
    "random_state": "seed",
    "rng": "seed",
    "space": "search_space",
}
#: What arguments of `Optimizer` and of other regressors are called in `InfiniteGP`.
REGRESSOR_ARGUMENTS = {
    "alpha": "fit(X, y, noise_variance=...) where the noise is known; else it is learned",
    "burn_in": "n_warmup",
    "noise_variance": "fit(X, y, noise_variance=...)",
    "rng": "random_state",
    "seed": "random_state",
    "tune": "n_warmup",
}


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name that a misspelt or shortened one is nearest to, None where none is near.

    Examples
    --------
    >>> nearest("medain", ["mean", "median"]), nearest("max", ["maximize"]), nearest("best", ["mean", "median"])
    ('median', 'maximize', None)
    """
    if not isinstance(name, str) or not name:
        return None
    names = list(known)
    longer = [other for other in names if other.startswith(name.lower())]
    found = longer if len(longer) == 1 else difflib.get_close_matches(name.lower(), names, 1)
    return found[0] if found else None


class Hints:
    """A class whose missing attributes say what they are called here, where they are habits from other libraries.

    Examples
    --------
    >>> class Search(Hints):
    ...     _habits = {"best": "recommend()"}
    >>> Search().best
    Traceback (most recent call last):
        ...
    AttributeError: Search has no 'best'; use recommend().
    """

    _habits: ClassVar[Mapping[str, str]] = ATTRIBUTES

    if not TYPE_CHECKING:  # or every attribute would be known to type checkers

        def __getattr__(self, name: str) -> Any:
            kind = type(self).__name__
            if name in type(self)._habits:
                raise AttributeError(f"{kind} has no {name!r}; use {type(self)._habits[name]}.")
            raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=self)
