"""infgp's own methods: its default, and the paper's ∞-GP-TS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from infgp.bench.methods.history import FloatArray, History
from infgp.bench.methods.truncated import sweep_many
from infgp.core.linalg import one_blas_thread
from infgp.core.model import Data, Model, State
from infgp.core.partition import canonical, truncation_level
from infgp.core.priors import Fixed, Grid, Priors
from infgp.core.scaling import RewardScale
from infgp.core.surface import Conditioned
from infgp.predict.paths import Path, draw_path
from infgp.sample.chain import KAPPA, in_reward_units, start_state
from infgp.sample.truncated import BlockedState, grid_factors, with_surfaces
from infgp.search.acquisition import best_of
from infgp.search.maximise import maximise
from infgp.search.optimizer import Optimizer
from infgp.space import Float, Space

#: Number of Gibbs sweeps at each step: the paper's B.
SWEEPS = 500
#: Number of length-scales on the grid.
GRID = 20


def cube(d: int) -> Space:
    """The unit cube."""
    return Space.of({f"x{k}": Float(0.0, 1.0) for k in range(d)})


class DefaultRun:
    """:class:`infgp.Optimizer` with its defaults, or with options; rewards of at most `failed` are told as failures."""

    def __init__(self, d: int, seed: int, failed: float = -np.inf, **options: Any) -> None:
        self.optimizer = Optimizer(cube(d), seed=seed, n_initial=1, **options)
        self.failed = failed

    def ask(self) -> FloatArray:
        """The next point."""
        point = self.optimizer.ask()
        self.optimizer.withdraw(point)  # it may not be the one that is evaluated
        return self._array(point)

    def tell(self, x: FloatArray, y: float) -> None:
        """Take in the reward y of point x."""
        self.optimizer.tell(self.optimizer.space.from_unit(x[None])[0], y if y > self.failed else None)

    def recommend(self) -> FloatArray:
        """The point with the best expected reward."""
        return self._array(self.optimizer.recommend().point)

    def _array(self, point: Mapping[str, object]) -> FloatArray:
        return np.asarray(self.optimizer.space.to_unit([point])[0])


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
    >>> running = ThompsonRun(1, 0, paper_sampler)
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
    priors = Priors().resolve(d)
    assert not isinstance(priors.lengthscale, Fixed)
    return Model("se", replace(priors, lengthscale=Grid.of(priors.lengthscale, d, GRID)), ard=False)


def paper_sampler(rng: np.random.Generator, state: State | None, data: Data) -> Drawn:
    """One state of Algorithm 2, with the mendings of docs/departures.md, and one surface of it, as Algorithm 1 has it.

    B = 500 sweeps of the truncated Gibbs sampler, from where the sweeps of the step before have ended, of which the
    last state is taken; L_n = ⌈(ν + 1) log n⌉ + 1 sticks by the ν at hand; squared exponential kernel, isotropic, its
    length-scale from a grid; variances shared by all surfaces; the priors of :class:`infgp.Priors`. The surface may be
    a new one.

    The paper's other choice, length-scales for each input by conditional maximum likelihood, was tried first. Chains
    were found with several nearly flat surfaces and asking for corners; cumulative regret on stybtang-ns was 370 and
    404 (seeds 0 and 1), against 121 and 88 with the grid and about 200 expected of uniform points. Kernel and
    sampler of φ were changed together, so it is not known which of the two matters.
    """
    model = paper_model(data.x.shape[1])
    state = draw_state(rng, start_state(rng, data, model, state or "one"), data, model)
    return Drawn(state, draw_path(rng, Conditioned(state, data, model), "surface"), np.empty(0))


def paper_run(d: int, seed: int) -> ThompsonRun:
    """A run of ∞-GP-TS as the paper has it."""
    return ThompsonRun(d, seed, paper_sampler)


def draw_state(rng: np.random.Generator, core: State, data: Data, model: Model) -> State:
    """The state after B sweeps."""
    state = sweep_many(rng, blocked_state(rng, core, data, model), data, model, SWEEPS)
    return replace(state.core, labels=canonical(state.core.labels))


def blocked_state(rng: np.random.Generator, core: State, data: Data, model: Model) -> BlockedState:
    """The state with surfaces and weights, the fullest surfaces first."""
    rank = np.argsort(np.argsort(-np.bincount(core.labels), kind="stable"), kind="stable")
    core = replace(core, labels=rank[core.labels])
    sticks = max(truncation_level(core.nu, data.y.size, KAPPA), core.n_surfaces)
    return with_surfaces(rng, core, sticks, grid_factors(data, model, GRID))
