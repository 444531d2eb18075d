"""`InfGPModel`: the ∞-GP as a model of BoTorch, for its acquisition functions."""

from infgp.errors import extra

with extra("botorch", "botorch"):
    from infgp.botorch.model import InfGPModel

__all__ = ["InfGPModel"]
