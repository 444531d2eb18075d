"""infgp's own methods: `infgp.Optimizer` with its defaults, with options, or with a preset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from infgp.bench.methods.history import FloatArray
from infgp.search.optimizer import Optimizer
from infgp.search.presets import PRESETS
from infgp.space import Float, Space


def cube(d: int) -> Space:
    """The unit cube."""
    return Space.of({f"x{k}": Float(0.0, 1.0) for k in range(d)})


class DefaultRun:
    """:class:`infgp.Optimizer` with its defaults, or with options."""

    def __init__(self, d: int, seed: int, **options: Any) -> None:
        self.optimizer = Optimizer(cube(d), seed=seed, n_initial=1, **options)

    def ask(self) -> FloatArray:
        """The next point."""
        point = self.optimizer.ask()
        self.optimizer.withdraw(point)  # it may not be the one that is evaluated
        return self._array(point)

    def tell(self, x: FloatArray, y: float) -> None:
        """Take in the reward y of point x."""
        self.optimizer.tell(self.optimizer.space.from_unit(x[None])[0], y)

    def recommend(self) -> FloatArray:
        """The point with the best expected reward."""
        return self._array(self.optimizer.recommend().point)

    def _array(self, point: Mapping[str, object]) -> FloatArray:
        return np.asarray(self.optimizer.space.to_unit([point])[0])


def preset_run(d: int, seed: int, preset: str) -> DefaultRun:
    """A run with the options of a preset, but without its uniform points: the runner adds them for all methods.

    Examples
    --------
    >>> preset_run(2, 0, "paper").ask().shape
    (2,)
    """
    return DefaultRun(d, seed, **{**PRESETS[preset], "exploration": 0.0})
