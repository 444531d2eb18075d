"""The paper's Algorithm 2 compiled: what :mod:`infgp.sample.truncated` does in a sweep, with its mendings.

Steps are numbered as there. The kernel is isotropic, its φ on a grid; the number L of sticks is given. Priors are of
the kinds of :class:`infgp.Priors`: inverse gamma for σ² and τ², gamma for ν, Gaussian for β. It is what a search with
the truncated sampler runs at every step (:func:`run_blocked`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from infgp.core.jit import jit
from infgp.core.model import Data, Model
from infgp.core.partition import canonical, truncation_level
from infgp.core.priors import Gamma, InverseGamma, Normal, Priors
from infgp.core.state import State
from infgp.errors import NumericalError
from infgp.sample.chain import KAPPA
from infgp.sample.compiled.densities import factorise, forward, pick
from infgp.sample.start import start_state
from infgp.sample.truncated import HOP, HOP_SIGMA2, BlockedState, at_index, grid_factors, with_surfaces

#: Number of sweeps for each step 4e. The step costs as much as several sweeps and, next to the joint step, hardly ever
#: moves.
PHI_EVERY = 10


class Numbers(NamedTuple):
    """Parameters of the priors: means and precisions of β, shape and scale of σ² and τ², shape and rate of ν."""

    beta_mean: Any
    beta_precision: Any
    sigma2: tuple[float, float]
    tau2: tuple[float, float]
    nu: tuple[float, float]


class GridOfPhi(NamedTuple):
    """Of each value of φ: log prior mass, ρ̃, its Cholesky factor, the inverse of that, and log det ρ̃."""

    log_mass: Any
    rho: Any
    chol: Any
    inverse: Any
    log_det: Any


def compilable(priors: Priors) -> bool:
    """Whether the compiled sweeps know the kinds of some resolved priors: those of `infgp.Priors`, with none fixed.

    Examples
    --------
    >>> from infgp.core.priors import Fixed
    >>> compilable(Priors().resolve(2)), compilable(Priors(tau2=Fixed(0.1)).resolve(2))
    (True, False)
    """
    kinds = ((priors.beta, Normal), (priors.sigma2, InverseGamma), (priors.tau2, InverseGamma), (priors.nu, Gamma))
    return all(isinstance(prior, kind) for prior, kind in kinds)


def numbers_of(model: Model, p: int) -> Numbers:
    """The priors of a model with p coefficients of the trend."""
    priors = model.priors
    assert isinstance(priors.beta, Normal)
    assert isinstance(priors.sigma2, InverseGamma)
    assert isinstance(priors.tau2, InverseGamma)
    assert isinstance(priors.nu, Gamma)
    return Numbers(
        np.broadcast_to(np.asarray(priors.beta.mean, dtype=np.float64), (p,)).copy(),
        np.broadcast_to(1.0 / np.square(np.asarray(priors.beta.sd, dtype=np.float64)), (p,)).copy(),
        (float(priors.sigma2.shape), float(priors.sigma2.scale)),
        (float(priors.tau2.shape), float(priors.tau2.scale)),
        (float(priors.nu.shape), float(priors.nu.rate)),
    )


@jit()
def _backward(factor: Any, u: Any) -> None:
    """u becomes C⁻ᵀ u, for a factor of :func:`factorise`."""
    for i in range(u.size - 1, -1, -1):
        u[i] *= factor[i, i]
        for j in range(i):
            u[j] -= factor[i, j] * u[i]


@jit()
def _members(labels: Any, label: int) -> Any:
    """Observations on a surface."""
    count = 0
    for z in labels:
        count += z == label
    out, at = np.empty(count, dtype=np.int64), 0
    for i in range(labels.size):
        if labels[i] == label:
            out[at] = i
            at += 1
    return out


@jit()
def _block(rho: Any, members: Any, out: Any) -> None:
    """Lower triangle of the correlations of the members."""
    for i in range(members.size):
        for j in range(i + 1):
            out[i, j] = rho[members[i], members[j]]


@jit()
def _log_evidence(rho: Any, r: Any, labels: Any, sticks: int, sigma2: float, tau2: float) -> float:
    """log p(y | z, β, Θ) up to a constant, surfaces integrated out."""
    total = 0.0
    for label in range(sticks):
        members = _members(labels, label)
        m = members.size
        if m:
            block, factor = np.empty((m, m)), np.empty((m, m))
            _block(rho, members, block)
            log_det = factorise(block, sigma2, tau2, np.zeros(m), factor)
            total -= 0.5 * (forward(factor, r[members], np.empty(m)) + log_det)
    return total


@jit()
def _hop(rng: Any, grid: Any, index: int, r: Any, labels: Any, sticks: int, scales: Any, prior: Any) -> int:
    """φ and σ² by a Metropolis step with the surfaces integrated out; they must be drawn anew at once."""
    other = index + int(rng.random() * (2 * HOP + 1)) - HOP
    step = HOP_SIGMA2 * rng.standard_normal()
    if not 0 <= other < grid.log_mass.size:
        return index
    old, new = scales[0], scales[0] * math.exp(step)
    log_ratio = grid.log_mass[other] - grid.log_mass[index]
    log_ratio -= prior[0] * step + prior[1] * (1.0 / new - 1.0 / old)  # in log σ²
    log_ratio += _log_evidence(grid.rho[other], r, labels, sticks, new, scales[1])
    log_ratio -= _log_evidence(grid.rho[index], r, labels, sticks, old, scales[1])
    if -rng.standard_exponential() < log_ratio:
        scales[0] = new
        return other
    return index


@jit()
def _roughness(inverse: Any, surfaces: Any) -> float:
    """Σ_l ξ_lᵀ ρ̃⁻¹ ξ_l."""
    white = np.dot(inverse, surfaces)
    total = 0.0
    for i in range(white.shape[0]):
        for label in range(white.shape[1]):
            total += white[i, label] * white[i, label]
    return total


@jit()
def _draw_phi(rng: Any, grid: Any, index: int, surfaces: Any, sigma2: float) -> int:
    """Step 4e: the index of φ."""
    size = grid.log_mass.size
    log_p = np.empty(size)
    for m in range(size):
        quadratic = _roughness(grid.inverse[m], surfaces)
        log_p[m] = grid.log_mass[m] - 0.5 * (surfaces.shape[1] * grid.log_det[m] + quadratic / sigma2)
    return int(pick(log_p, size, rng.random(), index))


@jit()
def _draw_surfaces(rng: Any, rho: Any, chol: Any, r: Any, labels: Any, surfaces: Any, scales: Any) -> None:
    """Step 1, by Matheron's rule on the members; surfaces have shape (n, L)."""
    n, sticks = surfaces.shape
    sigma2, tau2 = scales[0], scales[1]
    noise = rng.standard_normal((n, sticks))
    surfaces[:] = math.sqrt(sigma2) * np.dot(chol, noise)
    update = np.zeros((n, sticks))
    for label in range(sticks):
        members = _members(labels, label)
        m = members.size
        if m == 0:
            continue
        block, factor, gap, u = np.empty((m, m)), np.empty((m, m)), np.empty(m), np.empty(m)
        _block(rho, members, block)
        factorise(block, sigma2, tau2, np.zeros(m), factor)
        for i in range(m):
            gap[i] = r[members[i]] - surfaces[members[i], label] - math.sqrt(tau2) * rng.standard_normal()
        forward(factor, gap, u)
        _backward(factor, u)
        for i in range(m):
            update[members[i], label] = u[i]
    surfaces += sigma2 * np.dot(rho, update)


@jit()
def _log_gamma(rng: Any, shape: float) -> float:
    """Logarithm of a gamma variate, for shapes however small."""
    value: float = math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape
    return value


@jit()
def _draw_weights(rng: Any, labels: Any, nu: float, log_weights: Any) -> None:
    """Step 2, in logarithms."""
    sticks = log_weights.size
    counts = np.zeros(sticks)
    for z in labels:
        counts[z] += 1.0
    above, left = float(labels.size), 0.0
    for label in range(sticks - 1):
        above -= counts[label]
        a, b = _log_gamma(rng, 1.0 + counts[label]), _log_gamma(rng, nu + above)
        top = max(a, b)
        total = top + math.log(math.exp(a - top) + math.exp(b - top))
        log_weights[label] = left + a - total
        left += b - total
    log_weights[sticks - 1] = left


@jit()
def _draw_labels(rng: Any, r: Any, surfaces: Any, log_weights: Any, tau2: float, labels: Any) -> None:
    """Step 3."""
    n, sticks = surfaces.shape
    log_p = np.empty(sticks)
    for i in range(n):
        for label in range(sticks):
            gap = r[i] - surfaces[i, label]
            log_p[label] = log_weights[label] - gap * gap / (2.0 * tau2)
        labels[i] = pick(log_p, sticks, rng.random(), labels[i])


@jit()
def gibbs(
    rng: Any,
    sweeps: int,
    y: Any,
    h: Any,
    grid: Any,
    index: int,
    labels: Any,
    beta: Any,
    scales: Any,
    surfaces: Any,
    log_weights: Any,
    prior: Any,
) -> int:
    """Sweeps in place; scales are (σ², τ², ν), surfaces have shape (n, L). Returns the index of φ in the grid."""
    n, sticks = surfaces.shape
    p = beta.size
    cross = np.dot(h.T, h)
    for b in range(sweeps):
        r = y - np.dot(h, beta)
        index = _hop(rng, grid, index, r, labels, sticks, scales, prior.sigma2)
        _draw_surfaces(rng, grid.rho[index], grid.chol[index], r, labels, surfaces, scales)
        _draw_weights(rng, labels, scales[2], log_weights)
        _draw_labels(rng, r, surfaces, log_weights, scales[1], labels)
        _draw_weights(rng, labels, scales[2], log_weights)
        # Step 4a: L − 1, where the paper has n − 1.
        scales[2] = rng.standard_gamma(prior.nu[0] + sticks - 1.0) / (prior.nu[1] - log_weights[sticks - 1])
        # Step 4b
        own = np.empty(n)
        for i in range(n):
            own[i] = surfaces[i, labels[i]]
        precision, zeros, factor, u = cross / scales[1], np.zeros(p), np.empty((p, p)), np.empty(p)
        for k in range(p):
            precision[k, k] += prior.beta_precision[k]
        factorise(precision, 1.0, 0.0, zeros, factor)
        forward(factor, prior.beta_precision * prior.beta_mean + np.dot(h.T, y - own) / scales[1], u)
        for k in range(p):
            u[k] += rng.standard_normal()
        _backward(factor, u)
        beta[:] = u
        # Steps 4c and 4d
        gap = y - np.dot(h, beta) - own
        scales[1] = (prior.tau2[1] + 0.5 * np.dot(gap, gap)) / rng.standard_gamma(prior.tau2[0] + 0.5 * n)
        total = _roughness(grid.inverse[index], surfaces)
        scales[0] = (prior.sigma2[1] + 0.5 * total) / rng.standard_gamma(prior.sigma2[0] + 0.5 * n * sticks)
        if b % PHI_EVERY == 0:
            index = _draw_phi(rng, grid, index, surfaces, scales[0])
    return index


def sweep_many(rng: np.random.Generator, state: BlockedState, data: Data, model: Model, sweeps: int) -> BlockedState:
    """The state after a number of `sweeps`.

    Examples
    --------
    >>> from infgp.sample.truncated import grid_factors, prior_blocked
    >>> from infgp.core.priors import Grid, LogNormal, Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0.0, 1.0, 12).reshape(6, 2)
    >>> priors = Priors(lengthscale=Grid.of(LogNormal(0.0), 2, 5)).resolve(2)
    >>> model, data = Model("se", priors, ard=False), Data(x, x[:, 0])
    >>> state = prior_blocked(rng, x, model, 4, grid_factors(data, model, 5))
    >>> sweep_many(rng, state, data, model, 10).core.labels.size
    6
    """
    core, f = state.core, state.factors
    grid = GridOfPhi(f.log_mass, f.rho, f.chol, f.inv_chol, f.log_det)
    labels, beta, log_weights = core.labels.copy(), core.beta.copy(), state.log_weights.copy()
    scales = np.array([core.sigma2[0], core.tau2[0], core.nu])
    surfaces, h = np.ascontiguousarray(state.surfaces.T), np.ascontiguousarray(data.h)
    prior = numbers_of(model, beta.size)
    index = gibbs(rng, sweeps, data.y, h, grid, state.index, labels, beta, scales, surfaces, log_weights, prior)
    core = replace(core, labels=labels, beta=beta, nu=float(scales[2]), sigma2=scales[:1], tau2=scales[1:2])
    state = replace(state, core=core, log_weights=log_weights, surfaces=surfaces.T)
    return at_index(state, index)


def blocked_state(rng: np.random.Generator, core: State, data: Data, model: Model) -> BlockedState:
    """The state with surfaces and weights, the fullest surfaces first, and L_n = ⌈(ν + κ) log n⌉ + 1 sticks."""
    rank = np.argsort(np.argsort(-np.bincount(core.labels), kind="stable"), kind="stable")
    core = replace(core, labels=rank[core.labels])
    sticks = max(truncation_level(core.nu, data.y.size, KAPPA), core.n_surfaces)
    return with_surfaces(rng, core, sticks, grid_factors(data, model))


def run_blocked(
    rng: np.random.Generator, data: Data, model: Model, start: str | State, sweeps: int, keep: int = 1
) -> tuple[State, ...]:
    """States of one chain of the paper's sampler: the last one, and `keep` − 1 before it, spread over half the sweeps.

    The number of sticks is L_n by the ν of the start.

    Parameters
    ----------
    rng : numpy.random.Generator
    data : Data
    model : Model
        With an isotropic kernel and priors that are :func:`compilable`.
    start : {"one", "random", "alone"} or State
        As in :func:`infgp.sample.start.start_state`.
    sweeps : int
        The paper's B.
    keep : int
        Number of states to keep.

    Raises
    ------
    NumericalError
        Where a state is not finite.

    Examples
    --------
    >>> from infgp.core.options import ModelOptions
    >>> x = np.linspace(0.0, 1.0, 6)[:, None]
    >>> model = ModelOptions(sampler="truncated").model(1, Priors())
    >>> states = run_blocked(np.random.default_rng(0), Data(x, x[:, 0]), model, "one", sweeps=50, keep=3)
    >>> [state.labels.size for state in states]
    [6, 6, 6]
    """
    state = blocked_state(rng, start_state(rng, data, model, start), data, model)
    gap, kept = max(sweeps // (2 * keep), 1), []
    for part in (sweeps - gap * (keep - 1), *(gap,) * (keep - 1)):
        state = sweep_many(rng, state, data, model, max(part, 1))
        core = state.core
        if not np.isfinite([*core.beta, *core.sigma2, *core.tau2, core.nu]).all():
            raise NumericalError("The truncated sampler has reached a state that is not finite", n=data.y.size)
        kept.append(replace(core, labels=canonical(core.labels)))
    return tuple(kept)
