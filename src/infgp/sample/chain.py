"""Running chains: start, warm up, keep draws.

A chain's answer is a sequence of :class:`State` with surfaces and weights integrated out, whatever the
sampler keeps besides. Label-free traces go with it, for the diagnostics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from infgp.core.kernels import log_ell_from_phi, phi_from_log_ell
from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model, State, draw_log_ell, draw_own_scales, log_joint
from infgp.core.partition import canonical, truncation_level
from infgp.core.priors import Fixed, Normal
from infgp.errors import InvalidInputError, check_choice
from infgp.sample import compiled
from infgp.sample import truncated as blocked
from infgp.sample.moves import hyper
from infgp.sample.moves.assign import assign
from infgp.sample.moves.collapsed import changed, inside_limit, prior_numbers
from infgp.sample.moves.split_merge import propose, reallocate, split_merge

STARTS = ("one", "random", "alone")
#: Surfaces among which a random start throws the observations.
RANDOM_SURFACES = 8
#: κ of L_n = ⌈(ν + κ) log n⌉ + 1.
KAPPA = 1.0
#: ARD: φ is re-estimated every so many sweeps of the warm-up and held from then on.
ARD_EVERY = 10
#: Noise variance that a warm-up begins with, on top of the model's and in units of the standardised rewards; where it
#: has fallen to when it is taken away; and the part of the warm-up that this takes.
HEAT, COOL, HEATED = 1.0, 1e-3, 0.5
#: Splits or mergers proposed in each sweep of the collapsed sampler.
SPLIT_MERGE_TRIES = 2

Move: TypeAlias = Callable[[np.random.Generator, State, Data, Model], State]


@dataclass(frozen=True, eq=False)
class Draws:
    """Kept draws of one chain and, for each of them, summaries that do not depend on labels.

    Attributes
    ----------
    states : tuple of State
        Canonical labels, in the order of the draws.
    traces : dict of str to array
        ``log_joint``, ``n_surfaces``, ``main_share`` (the largest surface's part of the observations), ``log_nu``,
        ``log_tau2``, ``log_sigma2`` and, where it is sampled, ``log_lengthscale`` (mean over coordinates), each of
        shape (draws,).
    """

    states: tuple[State, ...]
    traces: dict[str, FloatArray]


def start_state(rng: np.random.Generator, data: Data, model: Model, start: str | State) -> State:
    """Where a chain begins.

    Parameters
    ----------
    rng : numpy.random.Generator
    data : Data
    model : Model
    start : {"one", "random", "alone"} or State
        All observations on one surface; thrown at random on eight; each on its own; or an earlier state of this or a
        shorter data set, whose labels and hyperparameters are kept (further observations join its largest surface).

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> data = Data(np.linspace(0, 1, 4)[:, None], np.zeros(4))
    >>> start_state(np.random.default_rng(0), data, model, "one").labels
    array([0, 0, 0, 0])
    """
    n, d = data.x.shape
    if isinstance(start, State):
        known = start.labels.size
        if known > n or start.phi.shape[1] != d:
            raise InvalidInputError(
                f"The state to go on from has {known} observations of {start.phi.shape[1]} inputs, but the data {n} "
                f"of {d}: give all earlier observations first, in their order, and the new ones after them."
            )
        labels = np.concatenate((start.labels, np.full(n - known, start.main)))
        top = len(model.grades) - 1  # the state may come from a model with other grades
        grade = np.minimum(start.grade, top) if top else np.zeros(1, dtype=np.int64)
        return replace(start, labels=labels, scale=np.ones(1), grade=grade)
    check_choice("init", start, STARTS)
    p = model.priors
    log_ell = np.log(np.full(d, 0.3 * np.sqrt(d)))
    if isinstance(p.lengthscale, Fixed):
        log_ell = draw_log_ell(rng, model, d)
    thrown = {
        "one": np.zeros(n, dtype=np.int64),
        "random": rng.integers(RANDOM_SURFACES, size=(n,)),
        "alone": np.arange(n, dtype=np.int64),
    }
    return State(
        labels=canonical(thrown[start]),
        beta=np.zeros(d + 1) if isinstance(p.beta, Normal) else p.beta.sample(rng, d + 1),  # type: ignore[union-attr]
        nu=p.nu.value if isinstance(p.nu, Fixed) else p.nu.shape / p.nu.rate,
        phi=phi_from_log_ell(log_ell)[None, :],
        sigma2=np.array([p.sigma2.value if isinstance(p.sigma2, Fixed) else 1.0]),
        tau2=np.array([p.tau2.value if isinstance(p.tau2, Fixed) else 0.1]),
    )


def summaries(state: State, data: Data, model: Model) -> dict[str, float]:
    """Label-free summaries of a state."""
    return {
        "log_joint": log_joint(state, data, model),
        "n_surfaces": float(state.n_surfaces),
        "main_share": float(np.max(np.bincount(state.labels)) / state.labels.size),
        "log_nu": float(np.log(state.nu)),
        "log_tau2": float(np.mean(np.log(state.tau2))),
        "log_sigma2": float(np.mean(np.log(state.sigma2))),
        "log_lengthscale": float(np.mean(log_ell_from_phi(state.surface(state.main).phi))),
    }


def retruncate(rng: np.random.Generator, state: blocked.BlockedState, truncation: int) -> blocked.BlockedState:
    """This state with another number of sticks (no fewer than are occupied), the fullest surfaces first."""
    order = np.argsort(-state.counts(), kind="stable")
    rank = np.argsort(order, kind="stable")
    core = replace(state.core, labels=rank[state.core.labels])
    return blocked.with_surfaces(rng, core, max(truncation, core.n_surfaces), state.factors)


def _keep_draws(
    step: Callable[[], State],
    rng: np.random.Generator,
    data: Data,
    model: Model,
    n_samples: int,
    thin: int,
    untraced: frozenset[str] = frozenset(),
) -> Draws:
    """Draws of a chain that has warmed up: every `thin`-th state that `step` returns, with its summaries."""
    states, traces = [], []
    for _ in range(n_samples):
        for _ in range(thin):
            state = step()
        state = replace(state, labels=canonical(state.labels))
        states.append(draw_own_scales(rng, state, data, model))
        traces.append(summaries(state, data, model))
    names = [name for name in traces[0] if name not in untraced]
    return Draws(tuple(states), {name: np.array([t[name] for t in traces]) for name in names})


#: One sweep of the collapsed sampler: every label, a few splits or mergers, all hyperparameters.
COLLAPSED_SWEEP: tuple[Move, ...] = (
    assign,
    hyper.draw_nu,
    *(split_merge,) * SPLIT_MERGE_TRIES,
    hyper.draw_beta,
    hyper.draw_grades,
    hyper.draw_scales,
)


def sweep(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """One sweep of the collapsed sampler: the moves of `COLLAPSED_SWEEP` with fewer copies of the state on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> data, rng = Data(np.linspace(0, 1, 9)[:, None], np.linspace(-1, 1, 9)), np.random.default_rng(0)
    >>> sweep(rng, start_state(rng, data, model, "one"), data, model).labels.size
    9
    """
    state = hyper.draw_nu(rng, assign(rng, state, data, model), data, model)
    priors = prior_numbers(model, data)

    def moves(setting: compiled.Setting, chain: compiled.MutableState) -> None:
        for _ in range(SPLIT_MERGE_TRIES if data.y.size > 1 else 0):
            propose(rng, setting, chain, priors)
        compiled.draw_trend(rng, setting, chain, priors)
        compiled.redraw_grades(rng, setting, chain, priors)
        compiled.draw_scales(rng, setting, chain, priors)

    return changed(moves, state, data, model)


#: With reallocations, for chains that see all data at once. A search, whose chain goes on as data comes, does without.
THOROUGH_SWEEP: tuple[Move, ...] = (sweep, reallocate)
#: With one surface: an ordinary GP.
ONE_SURFACE_SWEEP: tuple[Move, ...] = (hyper.draw_beta, hyper.draw_nu, hyper.draw_scales)


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


def run_collapsed(
    rng: np.random.Generator,
    data: Data,
    model: Model,
    *,
    n_warmup: int,
    n_samples: int,
    thin: int,
    start: str | State,
    moves: Sequence[Move] = THOROUGH_SWEEP,
    on_sweep: Callable[[], object] = lambda: None,
) -> Draws:
    """One chain of the collapsed sampler: exact, untruncated, surfaces and weights integrated out.

    Parameters
    ----------
    rng : numpy.random.Generator
    data : Data
    model : Model
    n_warmup : int
        Sweeps before the first kept draw.
    n_samples, thin : int
        Draws to keep, and sweeps for each of them.
    start : {"one", "random", "alone"} or State
    moves : sequence of callables
        The moves of a sweep, in their order.
    on_sweep : callable
        Called after every sweep (progress bars).

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> data = Data(np.linspace(0, 1, 9)[:, None], np.linspace(-1, 1, 9))
    >>> chain = run_collapsed(np.random.default_rng(0), data, model, n_warmup=5, n_samples=3, thin=2, start="one")
    >>> len(chain.states)
    3
    """
    state = inside_limit(start_state(rng, data, model, start), data.y.size, model)

    def step(on: Data = data) -> State:
        nonlocal state
        for move in moves:
            state = move(rng, state, on, model)
        on_sweep()
        return state

    for heat in cooling(n_warmup, 0.0 if isinstance(start, State) else HEAT):
        step(data.noisier(heat) if heat else data)
    return _keep_draws(step, rng, data, model, n_samples, thin)


def run_truncated(
    rng: np.random.Generator,
    data: Data,
    model: Model,
    *,
    n_warmup: int,
    n_samples: int,
    thin: int,
    start: str | State,
    truncation: int | None,
    factors: blocked.Factors,
    on_sweep: Callable[[], object] = lambda: None,
) -> Draws:
    """One chain of the paper's blocked sampler.

    Parameters
    ----------
    rng : numpy.random.Generator
    data : Data
    model : Model
    n_warmup : int
        Sweeps before the first kept draw. What adapts (L_n to the current ν, the ARD length-scales to the surfaces)
        adapts here only, so that the kept draws are of one posterior.
    n_samples, thin : int
        Draws to keep, and sweeps for each of them.
    start : {"one", "random"} or State
    truncation : int or None
        Number of sticks; None for L_n = ⌈(ν + κ) log n⌉ + 1.
    factors : Factors
        From :func:`infgp.sample.truncated.grid_factors`; chains share them.
    on_sweep : callable
        Called after every sweep (progress bars).
    """
    n = data.y.size
    core = start_state(rng, data, model, start)
    sticks = truncation if truncation is not None else truncation_level(core.nu, n, KAPPA)
    if truncation is not None and core.n_surfaces > sticks:
        core = replace(core, labels=core.labels % sticks)
    state = blocked.with_surfaces(rng, core, max(sticks, core.n_surfaces), factors)
    learns_phi = model.ard and not isinstance(model.priors.lengthscale, Fixed)

    for b in range(n_warmup):
        state = blocked.sweep(rng, state, data, model)
        if learns_phi and b % ARD_EVERY == ARD_EVERY - 1:
            # Robbins–Monro: free in the first half of the warm-up, a running average in the second.
            past = max(0, 2 * b - n_warmup) // (2 * ARD_EVERY)
            state = blocked.maximise_phi(state, data, model, step=1.0 / (1 + past))
        if truncation is None:
            level = truncation_level(state.core.nu, n, KAPPA)
            if level != state.truncation:
                state = retruncate(rng, state, level)
        on_sweep()

    def step() -> State:
        nonlocal state
        state = blocked.sweep(rng, state, data, model)
        on_sweep()
        return state.core

    # A plug-in length-scale is not a draw: it has no place among the diagnostics.
    untraced = frozenset({"log_lengthscale"} if learns_phi else ())
    return _keep_draws(step, rng, data, model, n_samples, thin, untraced)
