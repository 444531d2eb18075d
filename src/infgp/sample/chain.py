"""Running chains: one sweep, and the one driver that warms up and keeps draws.

A chain's answer is a sequence of :class:`State` with surfaces and weights integrated out, whatever the sampler keeps
besides. Label-free traces go with it, for the diagnostics.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from infgp.core.kernels import log_ell_from_phi
from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model
from infgp.core.partition import canonical, truncation_level
from infgp.core.priors import Fixed
from infgp.core.scaling import Units
from infgp.core.state import State
from infgp.core.surface import draw_own_scales, log_joint
from infgp.core.warp import Warps
from infgp.sample import compiled, truncated
from infgp.sample.moves import Deeds, Move, hyper
from infgp.sample.moves.assign import assign
from infgp.sample.moves.collapsed import changed, inside_limit, prior_numbers
from infgp.sample.moves.kernel import draw_kernel
from infgp.sample.moves.split_merge import propose, reallocate, split_merge
from infgp.sample.moves.warp import draw_warp_at_times
from infgp.sample.start import start_state

#: κ in the number of sticks L_n = ⌈(ν + κ) log n⌉ + 1 of the truncated sampler, without a unit.
KAPPA = 1.0
#: Sweeps of the truncated sampler's warm-up between two estimates of the length-scales, where each input has its own.
ARD_EVERY = 10
#: Noise variance that a warm-up adds to the model's at its beginning, in squared standard units.
HEAT = 1.0
#: Share of `HEAT` that is left just before the added noise is taken away.
COOL = 1e-3
#: Share of the sweeps of a warm-up in which noise is added.
HEATED = 0.5
#: Number of splits or mergers that a sweep of the collapsed sampler proposes.
SPLIT_MERGE_TRIES = 2


@dataclass(frozen=True, eq=False)
class Draws:
    """What one chain has left behind.

    Attributes
    ----------
    states : tuple of State
        The kept states, in the order of the draws, with canonical labels.
    traces : dict of str to array
        Summaries of each kept state that do not depend on labels: ``log_joint``, ``n_surfaces``, ``main_share`` (the
        largest surface's part of the observations), ``log_nu``, ``log_tau2``, ``log_sigma2`` and, where it is sampled,
        ``log_lengthscale`` (of the largest surface, or the shared one if that is flat; mean over coordinates), each of
        shape (draws,). Empty if no traces were asked for.
    deeds : dict of str to (int, int)
        How often each kind of proposal was tried after the warm-up, and how often it was accepted.
    units : Units or None
        The user's units of the inputs and rewards that the states are for.
    warps : Warps
        The warps that the states choose from.
    """

    states: tuple[State, ...]
    traces: dict[str, FloatArray]
    deeds: Deeds
    units: Units | None = None
    warps: Warps = field(default_factory=Warps)


# --- The driver ------------------------------------------------------------------------------------------------------


def cooling(sweeps: int, heat: float = HEAT) -> FloatArray:
    """Noise variance to add in each sweep of a warm-up, so that a chain forgets where it began.

    Under much noise the posterior has no separate modes. While the noise falls, large features of the data are settled
    before small ones: whether a wave is one surface or two branches, for instance, which single moves do not undo.

    Examples
    --------
    >>> cooling(6).round(3)
    array([1.  , 0.1 , 0.01, 0.  , 0.  , 0.  ])
    """
    heated = int(HEATED * sweeps)
    out = np.zeros(sweeps)
    out[:heated] = heat * COOL ** (np.arange(heated) / max(heated, 1))
    return out


def apply(
    moves: Sequence[Move], rng: np.random.Generator, state: Any, data: Data, model: Model, deeds: Deeds | None = None
) -> Any:
    """The state after some moves, one after the other; what they tell of themselves is added to `deeds`.

    Examples
    --------
    >>> deeds = {}
    >>> up = lambda rng, state, data, model: (state + 1, {"step": (1, 1)})
    >>> apply((up, up), None, 0, None, None, deeds), deeds
    (2, {'step': (2, 2)})
    """
    for move in moves:
        state = move(rng, state, data, model)
        if isinstance(state, tuple):
            state, done = state
            if deeds is not None:
                for name, (tried, accepted) in done.items():
                    before = deeds.get(name, (0, 0))
                    deeds[name] = (before[0] + tried, before[1] + accepted)
    return state


def summaries(state: State, data: Data, model: Model) -> dict[str, float]:
    """Label-free summaries of a state."""
    own = state.surface(state.main).phi
    return {
        "log_joint": log_joint(state, data, model),
        "n_surfaces": float(state.n_surfaces),
        "main_share": float(np.max(np.bincount(state.labels)) / state.labels.size),
        "log_nu": float(np.log(state.nu)),
        "log_tau2": float(np.mean(np.log(state.tau2))),
        "log_sigma2": float(np.mean(np.log(state.sigma2))),
        "log_lengthscale": float(np.mean(log_ell_from_phi(own if own.all() else state.phi[0]))),
    }


@dataclass(frozen=True, eq=False)
class Schedule:
    """What a chain is to do.

    Attributes
    ----------
    heat : array
        Noise variance to add in each sweep of the warm-up, one entry for each sweep, in squared standard units.
    sweeps : int
        Sweeps after the warm-up.
    kept : collection of int
        Numbers of the sweeps after the warm-up, counted from 0, at the end of which the state is kept.
    traced : bool
        Whether summaries of the kept states are wanted.
    """

    heat: FloatArray = field(default_factory=lambda: np.empty(0))
    sweeps: int = 1
    kept: Collection[int] = (0,)
    traced: bool = True

    @classmethod
    def thinned(cls, heat: FloatArray, n_samples: int, thin: int) -> Schedule:
        """Keep every `thin`-th state until there are `n_samples`."""
        return cls(heat, n_samples * thin, range(thin - 1, n_samples * thin, thin))


def drive(
    rng: np.random.Generator,
    state: Any,
    data: Data,
    model: Model,
    moves: Sequence[Move],
    schedule: Schedule,
    *,
    warm_up: Sequence[Move] | None = None,
    core: Callable[[Any], State] = lambda state: state,
    on_sweep: Callable[[], object] = lambda: None,
) -> Draws:
    """Run a chain from a state, whatever the sampler.

    Parameters
    ----------
    rng : numpy.random.Generator
    state : State or BlockedState
    data : Data
    model : Model
    moves : sequence of moves
        One sweep, in its order.
    schedule : Schedule
    warm_up : sequence of moves, optional
        One sweep of the warm-up; by default `moves`.
    core : callable
        From the sampler's state to a :class:`State` with canonical labels.
    on_sweep : callable
        Called after every sweep (progress bars).

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> model, rng = Model("se", Priors().resolve(1), ard=False), np.random.default_rng(0)
    >>> data = Data(np.linspace(0, 1, 9)[:, None], np.linspace(-1, 1, 9))
    >>> start = start_state(rng, data, model, "one")
    >>> draws = drive(rng, start, data, model, (sweep,), Schedule.thinned(cooling(5), 3, 2))
    >>> len(draws.states), draws.deeds["split or merger"][0]
    (3, 12)
    """
    for heat in schedule.heat:
        state = apply(warm_up or moves, rng, state, data.noisier(heat) if heat else data, model)
        on_sweep()
    states, traces, deeds, kept = [], [], Deeds(), set(schedule.kept)
    for b in range(schedule.sweeps):
        state = apply(moves, rng, state, data, model, deeds)
        on_sweep()
        if b in kept:
            one = core(state)
            states.append(draw_own_scales(rng, one, data, model))
            if schedule.traced:
                traces.append(summaries(one, data, model))
    names = traces[0] if traces else ()
    return Draws(tuple(states), {name: np.array([t[name] for t in traces]) for name in names}, deeds, warps=model.warps)


# --- The collapsed sampler -------------------------------------------------------------------------------------------

#: One sweep of the collapsed sampler: every label, a few splits or mergers, all hyperparameters, at times the warp, and
#: the kernel.
COLLAPSED_SWEEP: tuple[Move, ...] = (
    assign,
    hyper.draw_odds,
    hyper.draw_nu,
    *(split_merge,) * SPLIT_MERGE_TRIES,
    hyper.draw_beta,
    hyper.draw_grades,
    hyper.draw_scales,
    draw_warp_at_times,
    draw_kernel,
)


def sweep(rng: np.random.Generator, state: State, data: Data, model: Model) -> tuple[State, Deeds]:
    """One sweep of the collapsed sampler: the moves of `COLLAPSED_SWEEP` with fewer copies of the state on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> data, rng = Data(np.linspace(0, 1, 9)[:, None], np.linspace(-1, 1, 9)), np.random.default_rng(0)
    >>> state, deeds = sweep(rng, start_state(rng, data, model, "one"), data, model)
    >>> state.labels.size, deeds["split or merger"][0]
    (9, 2)
    """
    state = hyper.draw_odds(rng, assign(rng, state, data, model), data, model)
    state = hyper.draw_nu(rng, state, data, model)
    priors, tries, deeds = prior_numbers(model, data), SPLIT_MERGE_TRIES if data.y.size > 1 else 0, Deeds()

    def moves(setting: compiled.Setting, chain: compiled.MutableState) -> None:
        accepted = sum(propose(rng, setting, chain, priors) for _ in range(tries))
        deeds["split or merger"] = (tries, accepted)
        groups = compiled.groups_of(setting, chain)
        hyper.regress_trend(rng, setting, chain, priors, groups)
        deeds["step of the length-scales"] = hyper.step_grades(rng, setting, chain, priors, groups)
        hyper.slice_scales(rng, setting, chain, priors, groups)

    state, warped = draw_warp_at_times(rng, changed(moves, state, data, model), data, model)
    state, done = draw_kernel(rng, state, data, model)
    return state, deeds | warped | done


#: One sweep with reallocations, for chains that see all data at once. The chain of a search goes on as data comes, and
#: has no reallocations.
THOROUGH_SWEEP: tuple[Move, ...] = (sweep, reallocate)
#: One sweep of a model with one surface: an ordinary GP.
ONE_SURFACE_SWEEP: tuple[Move, ...] = (
    hyper.draw_beta,
    hyper.draw_nu,
    hyper.draw_scales,
    draw_warp_at_times,
    draw_kernel,
)


def run_collapsed(
    rng: np.random.Generator,
    data: Data,
    model: Model,
    schedule: Schedule,
    start: str | State,
    moves: Sequence[Move] | None = None,
    on_sweep: Callable[[], object] = lambda: None,
) -> Draws:
    """One chain of the collapsed sampler: exact, untruncated, surfaces and weights integrated out.

    Parameters
    ----------
    rng : numpy.random.Generator
    data : Data
    model : Model
    schedule : Schedule
    start : {"one", "random", "alone"} or State
    moves : sequence of moves, optional
        One sweep; by default `THOROUGH_SWEEP`, or `ONE_SURFACE_SWEEP` where the model has one surface.
    on_sweep : callable
        Called after every sweep (progress bars).

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> data = Data(np.linspace(0, 1, 9)[:, None], np.linspace(-1, 1, 9))
    >>> draws = run_collapsed(np.random.default_rng(0), data, model, Schedule.thinned(cooling(5), 3, 2), "one")
    >>> len(draws.states)
    3
    """
    if moves is None:
        moves = ONE_SURFACE_SWEEP if model.one_surface else THOROUGH_SWEEP
    state = inside_limit(start_state(rng, data, model, start), data.y.size, model)
    return drive(rng, state, data, model, moves, schedule, on_sweep=on_sweep)


# --- The truncated sampler -------------------------------------------------------------------------------------------


def retruncate(rng: np.random.Generator, state: truncated.BlockedState, truncation: int) -> truncated.BlockedState:
    """This state with another number of sticks (no fewer than are occupied), the fullest surfaces first."""
    order = np.argsort(-state.counts(), kind="stable")
    rank = np.argsort(order, kind="stable")
    core = replace(state.core, labels=rank[state.core.labels])
    return truncated.with_surfaces(rng, core, max(truncation, core.n_surfaces), state.factors)


def run_truncated(
    rng: np.random.Generator,
    data: Data,
    model: Model,
    schedule: Schedule,
    start: str | State,
    truncation: int | None,
    factors: truncated.Factors,
    on_sweep: Callable[[], object] = lambda: None,
) -> Draws:
    """One chain of the paper's blocked sampler.

    Parameters
    ----------
    rng : numpy.random.Generator
    data : Data
    model : Model
    schedule : Schedule
        What adapts (L_n to the current ν, the length-scales of the single inputs to the surfaces) adapts in the
        warm-up only, so that the kept draws are of one posterior. No noise is added.
    start : {"one", "random", "alone"} or State
    truncation : int or None
        Number of sticks; None for L_n = ⌈(ν + κ) log n⌉ + 1.
    factors : Factors
        From :func:`infgp.sample.truncated.grid_factors`; chains share them.
    on_sweep : callable
        Called after every sweep (progress bars).
    """
    n, n_warmup = data.y.size, schedule.heat.size
    core = start_state(rng, data, model, start)
    sticks = truncation if truncation is not None else truncation_level(core.nu, n, KAPPA)
    if truncation is not None and core.n_surfaces > sticks:
        core = replace(core, labels=core.labels % sticks)
    state = truncated.with_surfaces(rng, core, max(sticks, core.n_surfaces), factors)
    learns_phi = model.ard and not isinstance(model.priors.lengthscale, Fixed)
    done = 0

    def adapt(
        rng: np.random.Generator, state: truncated.BlockedState, data: Data, model: Model
    ) -> truncated.BlockedState:
        nonlocal done
        if learns_phi and done % ARD_EVERY == ARD_EVERY - 1:
            # Robbins–Monro: free in the first half of the warm-up, a running average in the second.
            past = max(0, 2 * done - n_warmup) // (2 * ARD_EVERY)
            state = truncated.maximise_phi(state, data, model, step=1.0 / (1 + past))
        if truncation is None:
            level = truncation_level(state.core.nu, n, KAPPA)
            if level != state.truncation:
                state = retruncate(rng, state, level)
        done += 1
        return state

    draws = drive(
        rng,
        state,
        data,
        model,
        (truncated.sweep,),
        replace(schedule, heat=np.zeros(n_warmup)),
        warm_up=(truncated.sweep, adapt),
        core=lambda state: replace(state.core, labels=canonical(state.core.labels)),
        on_sweep=on_sweep,
    )
    if learns_phi:  # a plug-in length-scale is not a draw, and diagnostics are for draws
        del draws.traces["log_lengthscale"]
    return draws
