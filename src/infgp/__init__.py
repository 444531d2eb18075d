"""infgp: Bayesian optimization when rewards misbehave.

The surrogate is the ∞-GP, an infinite mixture of Gaussian-process surfaces that learns the whole reward distribution at
every input.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from infgp.errors import ConvergenceWarning, InfGPError, InvalidInputError, MissingExtraError, NumericalError
from infgp.habits import NAMES, nearest

if TYPE_CHECKING:
    from infgp.core.priors import Priors
    from infgp.estimator import InfiniteGP
    from infgp.predict.law import Law
    from infgp.run import Result, maximize, minimize
    from infgp.search.optimizer import Optimizer
    from infgp.search.outcomes import Observation, Recommendation
    from infgp.search.stopping import GainBelow, RegretBelow
    from infgp.space import Choice, Float, Int

__version__ = "0.1.0"

__all__ = [
    "Choice",
    "ConvergenceWarning",
    "Float",
    "GainBelow",
    "InfGPError",
    "InfiniteGP",
    "Int",
    "InvalidInputError",
    "Law",
    "MissingExtraError",
    "NumericalError",
    "Observation",
    "Optimizer",
    "Priors",
    "Recommendation",
    "RegretBelow",
    "Result",
    "__version__",
    "maximize",
    "minimize",
]


#: Names that bring SciPy, Numba or scikit-learn along, imported when they are first used.
_LAZY = {
    "Choice": "infgp.space",
    "Float": "infgp.space",
    "GainBelow": "infgp.search.stopping",
    "InfiniteGP": "infgp.estimator",
    "Int": "infgp.space",
    "Law": "infgp.predict.law",
    "Observation": "infgp.search.outcomes",
    "Optimizer": "infgp.search.optimizer",
    "Priors": "infgp.core.priors",
    "Recommendation": "infgp.search.outcomes",
    "RegretBelow": "infgp.search.stopping",
    "Result": "infgp.run",
    "maximize": "infgp.run",
    "minimize": "infgp.run",
}
#: Modules imported when they are first used; all but the report have an optional dependency.
_MODULES = ("botorch", "optuna", "plot", "report")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"infgp.{name}")
    if name in NAMES:
        raise AttributeError(f"module 'infgp' has no attribute {name!r}; use {NAMES[name]}")
    meant = None if name.startswith("_") else nearest(name, [*__all__, *_MODULES])
    guess = "" if meant is None else f"; did you mean {meant!r}?"
    raise AttributeError(f"module 'infgp' has no attribute {name!r}{guess}")


def __dir__() -> list[str]:
    return sorted(__all__)
