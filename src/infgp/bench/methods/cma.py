"""The covariance matrix adaptation evolution strategy (CMA-ES) of the package cmaes, one point at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from infgp.bench.methods.history import FloatArray, History
from infgp.errors import require

#: Standard deviation of the first generation in each coordinate, in units of the cube's side: as Optuna has it. On
#: the tasks of `studies/scales`, steps of 0.15 and 0.2 had less final regret than Hansen's 0.3.
STEP = 1.0 / 6.0
#: Factor by which the size of generations grows at a restart (Auger and Hansen 2005).
GROWTH = 2


class EvolutionRun(History):
    """A run of CMA-ES: it starts at the best point that it was told before it is first asked.

    Points are asked for one at a time, and the distribution moves when a generation is complete. A point that was not
    asked for is left out of the generation. Where the package says that the distribution has shrunk to nothing, it
    starts anew around a uniform point, with generations of twice the size.

    Parameters
    ----------
    d, seed : int
    """

    def __init__(self, d: int, seed: int) -> None:
        super().__init__(d, seed)
        self.cma = require("cmaes", "bench").CMA  # imported here so that its import is not timed
        self.strategy: Any = None
        self.asked: FloatArray | None = None
        self.generation: list[tuple[FloatArray, float]] = []

    def ask(self) -> FloatArray:
        """The next point; the same one as long as it has no reward and no other point has one."""
        if self.strategy is None:
            self._start(self._best() if self._y else self.rng.random(self.d))
        if self.asked is None:
            self.asked = np.asarray(self.strategy.ask(), dtype=np.float64)
        return self.asked.copy()

    def tell(self, x: FloatArray, y: float) -> None:
        """Take in the reward y of point x; the distribution moves after the last point of a generation."""
        super().tell(x, y)
        asked, self.asked = self.asked, None
        if asked is None or not np.array_equal(asked, x):
            return
        self.generation.append((asked, -float(y)))
        if len(self.generation) == self.strategy.population_size:
            self.strategy.tell(self.generation)
            self.generation = []
            if self.strategy.should_stop():
                self._start(self.rng.random(self.d), GROWTH * self.strategy.population_size)

    def recommend(self) -> FloatArray:
        """The point with the best reward."""
        return self._best()

    def _best(self) -> FloatArray:
        return self._x[int(np.argmax(self._y))]

    def _start(self, mean: FloatArray, size: int | None = None) -> None:
        bounds = np.array([[0.0, 1.0]] * self.d)
        seed = int(self.rng.integers(2**31))
        self.strategy = self.cma(mean=mean.copy(), sigma=STEP, bounds=bounds, seed=seed, population_size=size)
