"""infgp in Optuna: a sampler for any study, a callback that stops it, and spaces with conditions."""

from infgp.optuna.sampler import InfGPSampler, StopWhen
from infgp.optuna.spaces import distributions, parameters, suggest
from infgp.optuna.trials import BEST_EXPECTED, COST, FAILED, GIVEN, NU, OFF_SURFACE, SURFACES

__all__ = [
    "BEST_EXPECTED",
    "COST",
    "FAILED",
    "GIVEN",
    "NU",
    "OFF_SURFACE",
    "SURFACES",
    "InfGPSampler",
    "StopWhen",
    "distributions",
    "parameters",
    "suggest",
]
