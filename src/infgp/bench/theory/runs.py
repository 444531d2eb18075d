"""∞-GP-TS as the paper has it, with the number of sticks and the sampler's steps as arguments.

The benchmarks' runner gives every run of a task and a seed the same design, noise and ζ_n-greedy steps, so that runs
differ by what is varied and can be compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from infgp.bench.core import Method
from infgp.bench.methods.infinite import GRID, Drawn, Sampler, ThompsonRun, paper_model
from infgp.core.model import Data, State
from infgp.core.partition import canonical
from infgp.core.priors import Priors
from infgp.core.surface import Conditioned
from infgp.predict.paths import Path, draw_path, draw_surface_path
from infgp.sample import truncated as blocked
from infgp.sample.chain import apply, start_state, sweep
from infgp.sample.moves.collapsed import inside_limit


def truncated(sticks: int, sweeps: int, moves: tuple[blocked.Move, ...] = blocked.SWEEP) -> Sampler:
    """The paper's Algorithm 2 with `sticks` surfaces, of which Algorithm 1 draws one by its weight.

    Weights are averaged over the second half of the sweeps.
    """

    def advance(rng: np.random.Generator, state: State | None, data: Data) -> Drawn:
        model = paper_model(data.x.shape[1])
        factors = blocked.grid_factors(data, model, GRID)
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
