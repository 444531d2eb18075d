"""∞-GP-TS as the paper has it, with the number of sticks and the sampler's steps as arguments.

The benchmarks' runner gives every run of a task and a seed the same design, noise and ζ_n-greedy steps, so that runs
differ by what is varied and can be compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from infgp.bench.core import Method
from infgp.bench.methods.history import History
from infgp.bench.methods.infinite import cube
from infgp.linalg import FloatArray
from infgp.maximise import maximise
from infgp.model import Data, Model, State
from infgp.moves import blocked
from infgp.moves.collapsed import inside_limit
from infgp.partition import canonical
from infgp.paths import Path, draw_path, draw_surface_path
from infgp.priors import Grid, Priors
from infgp.sampler import start_state, sweep
from infgp.scaling import RewardScale
from infgp.thompson import best_of, restandardise

#: Length-scales on the grid of the isotropic kernel.
GRID = 20


@dataclass(frozen=True, eq=False)
class Belief:
    """Where a chain has got to: its state, a function drawn from it, and its sticks' mean weights, if it has sticks."""

    state: State
    path: Path
    weights: FloatArray


Sampler = Callable[[np.random.Generator, State | None, Data], Belief]


def model_of(d: int) -> Model:
    """The paper's model with an isotropic squared exponential kernel."""
    priors = Priors().resolve(d)
    return Model("se", replace(priors, lengthscale=Grid.of(priors.lengthscale, d, GRID)), ard=False)


def truncated(sticks: int, sweeps: int, moves: tuple[blocked.Move, ...] = blocked.SWEEP) -> Sampler:
    """The paper's Algorithm 2 with `sticks` surfaces, of which Algorithm 1 draws one by its weight.

    Weights are averaged over the second half of the sweeps.
    """

    def advance(rng: np.random.Generator, state: State | None, data: Data) -> Belief:
        model = model_of(data.x.shape[1])
        factors = blocked.grid_factors(data, model, GRID)
        core = start_state(rng, data, model, state or "one")
        chain = blocked.with_surfaces(rng, core, sticks, factors)
        weights = np.zeros(sticks)
        for b in range(sweeps):
            chain = blocked.sweep(rng, chain, data, model, moves)
            weights += np.exp(chain.log_weights) * (b >= sweeps // 2)
        label = int(rng.choice(sticks, p=np.exp(chain.log_weights) / np.exp(chain.log_weights).sum()))
        residual = data.y - data.h @ chain.core.beta
        surface = draw_surface_path(rng, chain.core.surface(label), residual, data, model)
        path = Path(chain.core.beta, lambda at: np.ones((at.shape[0], 1)), {0: surface})
        return Belief(chain.core, path, weights / weights.sum())

    return advance


def untruncated(sweeps: int) -> Sampler:
    """The same model without truncation: surfaces and weights integrated out."""

    def advance(rng: np.random.Generator, state: State | None, data: Data) -> Belief:
        d = data.x.shape[1]
        model = replace(model_of(d), priors=Priors().resolve(d))  # the collapsed sampler knows no grid
        state = inside_limit(start_state(rng, data, model, state or "one"), data.y.size, model)
        for _ in range(sweeps):
            state = sweep(rng, state, data, model)
        state = replace(state, labels=canonical(state.labels))
        return Belief(state, draw_path(rng, state, data, model, "surface"), np.empty(0))

    return advance


class ThompsonRun(History):
    """Thompson sampling on what a sampler believes; its chain goes on from step to step.

    Parameters
    ----------
    sampler : Sampler
    watch : callable
        Called with the number of rewards so far and the belief, wherever the model is asked.

    Examples
    --------
    >>> running = ThompsonRun(1, 0, truncated(2, sweeps=20))
    >>> running.tell(np.array([0.2]), 1.0)
    >>> running.tell(np.array([0.7]), 2.0)
    >>> running.ask().shape
    (1,)
    """

    def __init__(
        self, d: int, seed: int, sampler: Sampler, watch: Callable[[int, Belief], object] = lambda n, belief: None
    ) -> None:
        super().__init__(d, seed)
        self.sampler, self.watch = sampler, watch
        self.state: State | None = None
        self.unit = (0.0, 1.0)

    def ask(self) -> FloatArray:
        """The next point."""
        x, y = self.inputs, self.rewards
        scale = RewardScale.fit(y)
        unit = (scale.location, scale.scale)
        known = None if self.state is None else restandardise(self.state, self.unit, unit)
        belief = self.sampler(self.rng, known, Data(x, scale.to_standard(y)))
        self.state, self.unit = belief.state, unit
        self.watch(y.size, belief)
        return maximise(self.rng, belief.path, cube(self.d), best_of(x, belief.path(x)))[0]


def method(name: str, sampler: Sampler, watch: Callable[[int, Belief], object] = lambda n, belief: None) -> Method:
    """Thompson sampling with a sampler, as a method of the benchmarks."""
    return Method(name, name, lambda d, seed: ThompsonRun(d, seed, sampler, watch))
