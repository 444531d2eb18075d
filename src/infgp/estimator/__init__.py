"""The scikit-learn regressor."""

from infgp.estimator.regressor import InfiniteGP

__all__ = ["InfiniteGP"]
