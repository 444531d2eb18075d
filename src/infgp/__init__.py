"""infgp: Bayesian optimization when rewards misbehave.

The surrogate is the ∞-GP, an infinite mixture of Gaussian-process surfaces that learns the whole reward distribution at
every input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infgp.errors import ConvergenceWarning, InfGPError, InvalidInputError, MissingExtraError, NumericalError
from infgp.priors import Priors

if TYPE_CHECKING:
    from infgp.estimator import InfiniteGP

__version__ = "0.1.0.dev0"

__all__ = [
    "ConvergenceWarning",
    "InfGPError",
    "InfiniteGP",
    "InvalidInputError",
    "MissingExtraError",
    "NumericalError",
    "Priors",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name == "InfiniteGP":  # scikit-learn takes a second to import
        from infgp.estimator import InfiniteGP

        return InfiniteGP
    raise AttributeError(f"module 'infgp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
