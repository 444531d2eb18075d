"""∞-GP-TS as the paper has it, with the number of sticks and the sampler's steps as arguments.

The benchmarks' runner gives every run of a task and a seed the same design, noise and ζ_n-greedy steps, so that runs
differ by what is varied and can be compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from infgp.bench.core import Method
from infgp.bench.methods.history import FloatArray, History
from infgp.bench.methods.infinite import cube
from infgp.core.linalg import one_blas_thread
from infgp.core.model import Data, Model
from infgp.core.options import ModelOptions
from infgp.core.partition import canonical
from infgp.core.priors import Priors
from infgp.core.scaling import RewardScale
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.predict.paths import Path, draw_path, draw_surface_path
from infgp.sample import truncated as blocked
from infgp.sample.chain import apply, sweep
from infgp.sample.moves.collapsed import inside_limit
from infgp.sample.start import in_reward_units, start_state
from infgp.search.acquisition import best_of
from infgp.search.maximise import maximise


@dataclass(frozen=True, eq=False)
class Drawn:
    """Where a chain has got to: its state, a function drawn from it, and its sticks' mean weights, if kept."""

    state: State
    path: Path
    weights: FloatArray


Sampler: TypeAlias = Callable[[np.random.Generator, State | None, Data], Drawn]


class ThompsonRun(History):
    """Thompson sampling on what a sampler draws; its chain goes on from step to step.

    Parameters
    ----------
    sampler : Sampler
    watch : callable
        Called with the number of rewards so far and what was drawn, wherever the model is asked.

    Examples
    --------
    >>> running = ThompsonRun(1, 0, truncated(sticks=2, sweeps=5))
    >>> running.tell(np.array([0.2]), 1.0)
    >>> running.tell(np.array([0.7]), 2.0)
    >>> running.ask().shape
    (1,)
    """

    def __init__(
        self, d: int, seed: int, sampler: Sampler, watch: Callable[[int, Drawn], object] = lambda n, drawn: None
    ) -> None:
        super().__init__(d, seed)
        self.sampler, self.watch = sampler, watch
        self.state: State | None = None
        self.unit = RewardScale(0.0, 1.0)

    def ask(self) -> FloatArray:
        """The next point; a uniform one before any reward."""
        x, y = self.inputs, self.rewards
        if not y.size:
            return self.rng.random(self.d)
        with one_blas_thread():
            scale = RewardScale.fit(y)
            before = None if self.state is None else in_reward_units(self.state, self.unit, scale)
            drawn = self.sampler(self.rng, before, Data(x, scale.to_standard(y)))
            self.state, self.unit = drawn.state, scale
            self.watch(y.size, drawn)
            return maximise(self.rng, drawn.path, cube(self.d), best_of(x, drawn.path(x)))[0]


def paper_model(d: int) -> Model:
    """The paper's model with an isotropic squared exponential kernel, its length-scale from a grid."""
    return ModelOptions(ard=False, sampler="truncated").model(d, Priors())


def truncated(sticks: int, sweeps: int, moves: tuple[blocked.Move, ...] = blocked.SWEEP) -> Sampler:
    """The paper's Algorithm 2 with `sticks` surfaces, of which Algorithm 1 draws one by its weight.

    Weights are averaged over the second half of the sweeps.
    """

    def advance(rng: np.random.Generator, state: State | None, data: Data) -> Drawn:
        model = paper_model(data.x.shape[1])
        factors = blocked.grid_factors(data, model)
        core = start_state(rng, data, model, state or "one")
        chain = blocked.with_surfaces(rng, core, sticks, factors)
        weights = np.zeros(sticks)
        for b in range(sweeps):
            chain = blocked.sweep(rng, chain, data, model, moves)
            weights += np.exp(chain.log_weights) * (b >= sweeps // 2)
        label = int(rng.choice(sticks, p=np.exp(chain.log_weights) / np.exp(chain.log_weights).sum()))
        surface = draw_surface_path(rng, Conditioned(chain.core, data, model).surface(label))
        path = Path(chain.core.beta, lambda at: np.ones((at.shape[0], 1)), {0: surface})
        return Drawn(chain.core, path, weights / weights.sum())

    return advance


def untruncated(sweeps: int) -> Sampler:
    """The same model without truncation: surfaces and weights integrated out."""

    def advance(rng: np.random.Generator, state: State | None, data: Data) -> Drawn:
        d = data.x.shape[1]
        model = replace(paper_model(d), priors=Priors().resolve(d))  # the collapsed sampler knows no grid
        state = inside_limit(start_state(rng, data, model, state or "one"), data.y.size, model)
        state = apply((sweep,) * sweeps, rng, state, data, model)
        state = replace(state, labels=canonical(state.labels))
        return Drawn(state, draw_path(rng, Conditioned(state, data, model), "surface"), np.empty(0))

    return advance


def method(name: str, sampler: Sampler, watch: Callable[[int, Drawn], object] = lambda n, drawn: None) -> Method:
    """Thompson sampling with a sampler, as a method of the benchmarks."""
    return Method(name, name, lambda d, seed: ThompsonRun(d, seed, sampler, watch))
