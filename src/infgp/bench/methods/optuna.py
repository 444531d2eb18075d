"""Samplers of Optuna."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from infgp.bench.methods.history import FloatArray
from infgp.errors import require


class OptunaRun:
    """A study driven by ask and tell.

    Parameters
    ----------
    d, seed : int
    sampler : {"gp", "tpe"}
        Optuna's Gaussian process, told that rewards are noisy, or multivariate tree-structured Parzen estimators. The
        initial design, which is the benchmark's, replaces their random start.
    """

    def __init__(self, d: int, seed: int, sampler: str) -> None:
        self.optuna = optuna = require("optuna", "bench")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            chosen: Any = None
            if sampler == "gp":
                require("torch", "bench").set_num_threads(1)
                chosen = optuna.samplers.GPSampler(deterministic_objective=False, n_startup_trials=1, seed=seed)
            else:
                chosen = optuna.samplers.TPESampler(multivariate=True, n_startup_trials=1, seed=seed)
            self.study = optuna.create_study(direction="maximize", sampler=chosen)
        self.space = {f"x{k}": optuna.distributions.FloatDistribution(0.0, 1.0) for k in range(d)}
        self.trial: Any = None

    def ask(self) -> FloatArray:
        """The next point."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.trial = self.study.ask(self.space)
        return np.array([self.trial.params[name] for name in self.space])

    def tell(self, x: FloatArray, y: float) -> None:
        """Finish the trial asked for, if x is its point, or add one."""
        trial, self.trial = self.trial, None
        params = dict(zip(self.space, map(float, x), strict=True))
        if trial is not None and trial.params == params:
            self.study.tell(trial, float(y))
            return
        if trial is not None:
            self.study.tell(trial, state=self.optuna.trial.TrialState.FAIL)
        self.study.add_trial(self.optuna.trial.create_trial(params=params, distributions=self.space, value=float(y)))

    def recommend(self) -> FloatArray:
        """The point with the best reward, which is what Optuna offers."""
        return np.array([self.study.best_params[name] for name in self.space])
