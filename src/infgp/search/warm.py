"""The chain behind a search: posterior states that go on as rewards come in, saved and loaded as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from infgp.core.model import OWN_GRADES, Data, Model, State, draw_own_scales
from infgp.errors import check_int
from infgp.sample.chain import Move, cooling, start_state
from infgp.sample.moves.collapsed import inside_limit

#: Sweeps: work / n², so that it is kept level by doing fewer where each costs more, but at least and at most so many.
Budget: TypeAlias = tuple[int, int, int]
#: Location and scale of the rewards that the model sees.
Unit: TypeAlias = tuple[float, float]
#: Heated sweeps of a chain that begins.
FIRST: Budget = (2_000_000, 10, 200)
#: Where the unit of the rewards changes more than so many times, the chain starts afresh.
UNIT_JUMP = 1e6


@dataclass(frozen=True, eq=False)
class WarmChain:
    """States of the chain, for the first `n` rewards in units of (location, scale)."""

    states: tuple[State, ...]
    n: int
    unit: Unit

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types; :meth:`from_json` undoes it."""
        return {"n": self.n, "unit": list(self.unit), "states": [_plain(state) for state in self.states]}

    @classmethod
    def from_json(cls, entry: Mapping[str, Any], d: int, n_rewards: int) -> WarmChain:
        """The chain that :meth:`to_json` described; ValueError unless it fits d dimensions and so many rewards."""
        n, (location, scale) = check_int("n", entry["n"], 1), entry["unit"]
        states = tuple(_state(state) for state in entry["states"])
        shapes = {(s.labels.shape, s.beta.shape, s.phi.shape, s.sigma2.shape, s.tau2.shape) for s in states}
        known = set(range(len(OWN_GRADES)))
        graded = all(s.grade.size in (1, s.n_surfaces + 1) and set(s.grade.tolist()) <= known for s in states)
        if shapes != {((n,), (d + 1,), (1, d), (1,), (1,))} or n > n_rewards or not graded:
            raise ValueError("chain")
        return cls(states, n, (float(location), float(scale)))


def advance(
    rng: np.random.Generator,
    chain: WarmChain | None,
    data: Data,
    unit: Unit,
    model: Model,
    moves: Sequence[Move],
    budget: Budget,
    keep: int,
) -> WarmChain:
    """The chain some sweeps on, with rewards that it has not seen yet; a new one, warmed up, where there is none.

    Parameters
    ----------
    rng : numpy.random.Generator
    chain : WarmChain or None
    data : Data
        Rewards in units of `unit`; the chain has seen the first of them.
    unit : (float, float)
    model : Model
    moves : sequence of moves
        One sweep.
    budget : (int, int, int)
        Sweeps: see `Budget`.
    keep : int
        States to keep, evenly spaced.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> from infgp.sample.chain import sweep
    >>> x = np.linspace(0, 1, 6)[:, None]
    >>> data, model = Data(x, x[:, 0]), Model("se", Priors().resolve(1), ard=False)
    >>> chain = advance(np.random.default_rng(0), None, data, (0.0, 1.0), model, (sweep,), (0, 4, 4), keep=2)
    >>> chain.n, len(chain.states)
    (6, 2)
    """
    n = data.y.size
    if chain is None or not 1.0 / UNIT_JUMP < chain.unit[1] / unit[1] < UNIT_JUMP:
        state = inside_limit(start_state(rng, data, model, "one"), n, model)
        for heat in cooling(_sweeps(FIRST, n)):
            state = _sweep(rng, state, data.noisier(heat), model, moves)
    else:
        state = restandardise(chain.states[-1], chain.unit, unit)
        state = inside_limit(start_state(rng, data, model, state), n, model)
    sweeps = _sweeps(budget, n)
    kept = set(np.unique(np.linspace(sweeps - 1, 0, min(keep, sweeps)).round().astype(int)).tolist())
    states = []
    for b in range(sweeps):
        state = _sweep(rng, state, data, model, moves)
        if b in kept:
            states.append(draw_own_scales(rng, state, data, model))
    return WarmChain(tuple(states), n, unit)


def restandardise(state: State, old: Unit, new: Unit) -> State:
    """The same state for rewards in other units. The trend is h(x) = (1, x)."""
    ratio = old[1] / new[1]
    beta = ratio * state.beta
    beta[0] += (old[0] - new[0]) / new[1]
    return replace(state, beta=beta, sigma2=state.sigma2 * ratio**2, tau2=state.tau2 * ratio**2)


def _sweep(rng: np.random.Generator, state: State, data: Data, model: Model, moves: Sequence[Move]) -> State:
    for move in moves:
        state = move(rng, state, data, model)
    return state


def _sweeps(budget: Budget, n: int) -> int:
    work, least, most = budget
    return min(max(work // n**2, least), most)


def _plain(state: State) -> dict[str, Any]:
    values = {name: getattr(state, name) for name in State.__dataclass_fields__}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _state(entry: Mapping[str, Any]) -> State:
    return State(
        labels=np.array(entry["labels"], dtype=np.int64),
        beta=np.array(entry["beta"], dtype=np.float64),
        nu=float(entry["nu"]),
        phi=np.array(entry["phi"], dtype=np.float64),
        sigma2=np.array(entry["sigma2"], dtype=np.float64),
        tau2=np.array(entry["tau2"], dtype=np.float64),
        scale=np.array(entry["scale"], dtype=np.float64),
        grade=np.array(entry.get("grade", [0]), dtype=np.int64),
    )
