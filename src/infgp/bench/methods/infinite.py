"""infgp's own methods: its default, and the paper's ∞-GP-TS."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from infgp.bench.methods.history import FloatArray, History
from infgp.linalg import one_blas_thread
from infgp.maximise import maximise
from infgp.model import Data, Model, State
from infgp.moves.blocked import grid_factors
from infgp.optimizer import Optimizer
from infgp.paths import draw_path
from infgp.priors import Priors
from infgp.sampler import run_truncated
from infgp.scaling import RewardScale
from infgp.space import Float, Space
from infgp.thompson import best_of, restandardise

#: Gibbs sweeps at each step: the paper's B.
SWEEPS = 500


def cube(d: int) -> Space:
    """The unit cube."""
    return Space.of({f"x{k}": Float(0.0, 1.0) for k in range(d)})


class DefaultRun:
    """:class:`infgp.Optimizer` with its defaults."""

    def __init__(self, d: int, seed: int) -> None:
        self.optimizer = Optimizer(cube(d), seed=seed, n_initial=1)

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


class PaperRun(History):
    """∞-GP-TS: Algorithm 1 on one state of Algorithm 2, with the mendings of docs/departures.md.

    Thompson sampling on one sampled surface, which may be a new one; B = 500 sweeps of the truncated Gibbs sampler at
    each step, of which the last state is used; L_n = ⌈(ν + 1) log n⌉ + 1; squared exponential kernel with plug-in
    length-scales for each input, the model's shared scales, the priors of :class:`infgp.Priors`. The chain begins where
    that of the step before ended.
    """

    def __init__(self, d: int, seed: int) -> None:
        super().__init__(d, seed)
        self.space = cube(d)
        self.model = Model("se", Priors().resolve(d), ard=d > 1)
        self.state: State | None = None
        self.unit = (0.0, 1.0)

    def ask(self) -> FloatArray:
        """The next point; a uniform one before any reward."""
        x, y = self.inputs, self.rewards
        if not y.size:
            return self.rng.random(self.d)
        with one_blas_thread():
            scale = RewardScale.fit(y)
            data, unit = Data(x, scale.to_standard(y)), (scale.location, scale.scale)
            start = "one" if self.state is None else restandardise(self.state, self.unit, unit)
            chain = run_truncated(
                self.rng,
                data,
                self.model,
                n_warmup=SWEEPS - 1,
                n_samples=1,
                thin=1,
                start=start,
                truncation=None,
                factors=grid_factors(data, self.model, 20),
            )
            self.state, self.unit = chain.states[-1], unit
            path = draw_path(self.rng, self.state, data, self.model, "surface")
            return maximise(self.rng, path, self.space, best_of(x, path(x)))[0]
