"""Truncated blocked Gibbs sampling: the paper's Algorithm 2, with the mendings of docs/departures.md.

Notation
--------
n, d, L, M  observations, dimensions, sticks, grid points of the length-scale
ξ           surfaces at the inputs, shape (L, n)
ρ̃_m         correlation at grid point m plus NUGGET on the diagonal, ρ̃_m = C_m C_mᵀ
r           y − h β

The surfaces are kept at all n inputs, as in the paper; the n_l members of a surface are all that its posterior
needs (Matheron's rule), and every factorisation of ρ̃ is computed once per data set, not once per sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from infgp.core.kernels import correlation, log_ell_from_phi, log_phi_gradient, phi_from_log_ell
from infgp.core.linalg import FloatArray, cholesky, log_det, solve_cholesky, solve_lower
from infgp.core.model import Data, Model, draw_categorical, prior_draw
from infgp.core.options import GRID_SIZE
from infgp.core.partition import IntArray, stick_sample
from infgp.core.priors import Fixed, Grid, InverseGamma, LogNormal, Normal, UniformPhi
from infgp.core.state import State

#: Number added to the diagonal of ρ at the inputs, in units of σ². The table of surfaces needs ρ̃⁻¹ at every grid
#: value, and squared exponential correlations are singular in double precision. In standardised units the nugget is a
#: surface roughness of 1e-4 σ, below the noise that the prior of τ² admits.
NUGGET = 1e-8
#: Largest step of the joint Metropolis move in the length-scale, in grid points either way.
HOP = 2
#: Standard deviation of the step of the joint Metropolis move in σ², in units of log σ².
HOP_SIGMA2 = 0.5


@dataclass(frozen=True, eq=False)
class Factors:
    """Everything about ρ̃ that sweeps share, for M values of φ.

    Attributes
    ----------
    phi : array, shape (M, d)
    log_mass : array, shape (M,)
        Log prior mass of each value.
    rho, chol, inv_chol : arrays, shape (M, n, n)
        ρ̃_m, its lower Cholesky factor C_m, and C_m⁻¹.
    log_det : array, shape (M,)
        log det ρ̃_m.
    """

    phi: FloatArray
    log_mass: FloatArray
    rho: FloatArray
    chol: FloatArray
    inv_chol: FloatArray
    log_det: FloatArray


@dataclass(frozen=True, eq=False)
class BlockedState:
    """State of the blocked sampler: the parameters, with weights and surfaces.

    Attributes
    ----------
    core : State
        Labels (0 … L−1) and hyperparameters; ``core.phi`` is row ``index`` of ``factors.phi``.
    log_weights : array, shape (L,)
    surfaces : array, shape (L, n)
    factors : Factors
    index : int
        Row of ``factors.phi`` that is the current value of φ.
    """

    core: State
    log_weights: FloatArray
    surfaces: FloatArray
    factors: Factors
    index: int

    @property
    def truncation(self) -> int:
        """L, the number of sticks."""
        return self.log_weights.size

    def at_members(self) -> FloatArray:
        """ξ^(z_i)(x_i), shape (n,)."""
        return self.surfaces[self.core.labels, np.arange(self.core.labels.size)]

    def counts(self) -> IntArray:
        """n_l for all L sticks."""
        return np.bincount(self.core.labels, minlength=self.truncation)

    def with_core(self, **changes: object) -> BlockedState:
        """This state with some hyperparameters or the labels replaced."""
        return replace(self, core=replace(self.core, **changes))  # type: ignore[arg-type]


Block: TypeAlias = tuple[int, IntArray, FloatArray]
Move: TypeAlias = Callable[[np.random.Generator, BlockedState, Data, Model], BlockedState]


def factorise(kernel: str, x: FloatArray, phi: FloatArray, mass: FloatArray) -> Factors:
    """Factors for the M rows of `phi`."""
    n = x.shape[0]
    rho = np.empty((phi.shape[0], n, n))
    chol, inv_chol = np.empty_like(rho), np.empty_like(rho)
    for m, phi_m in enumerate(phi):
        rho[m] = correlation(kernel, x, x, phi_m)
        rho[m].flat[:: n + 1] += NUGGET
        chol[m] = cholesky(rho[m])
        inv_chol[m] = lapack.dtrtri(chol[m], lower=1)[0]
    dets = np.array([log_det(c) for c in chol])
    return Factors(phi, np.log(mass), rho, chol, inv_chol, dets)


def grid_factors(data: Data, model: Model, size: int = GRID_SIZE) -> Factors:
    """Factors for the grid of the isotropic kernel (one value, to begin with, for ARD)."""
    d = data.x.shape[1]
    prior = model.priors.lengthscale
    if model.ard and not isinstance(prior, Fixed):
        start = phi_from_log_ell(np.full((1, d), np.log(0.3 * np.sqrt(d))))
        return factorise(model.kernel, data.x, start, np.ones(1))
    grid = Grid.of(prior, d, size)
    phi = np.repeat(phi_from_log_ell(grid.log_ell)[:, None], d, axis=1)
    return factorise(model.kernel, data.x, phi, grid.mass)


def with_surfaces(rng: np.random.Generator, core: State, truncation: int, factors: Factors) -> BlockedState:
    """A blocked state with the parameters of `core`, weights given its labels and surfaces from their prior."""
    index = int(np.argmin(np.abs(np.log(factors.phi[:, 0] / core.phi[0, 0]))))
    core = replace(core, phi=factors.phi[index][None, :])
    log_weights = stick_sample(rng, core.nu, np.bincount(core.labels, minlength=truncation))
    g = rng.standard_normal((core.labels.size, truncation))
    surfaces = (np.sqrt(core.sigma2[0]) * (factors.chol[index] @ g)).T
    return BlockedState(core, log_weights, surfaces, factors, index)


def prior_blocked(
    rng: np.random.Generator, x: FloatArray, model: Model, truncation: int, factors: Factors
) -> BlockedState:
    """Parameters, labels, weights and surfaces from the truncated prior (for tests of the sampler)."""
    return with_surfaces(rng, prior_draw(rng, x, model, truncation), truncation, factors)


# --- The steps of Algorithm 2, in its order and under its numbers ----------------------------------------------------


def draw_surfaces(rng: np.random.Generator, state: BlockedState, data: Data, model: Model) -> BlockedState:
    """Step 1: all surfaces at all inputs, by Matheron's rule on the members.

    ξ = ξ₀ + σ² ρ̃_{·S} (σ² ρ̃_{SS} + τ² I)⁻¹ (r_S − ξ₀_S − ε_S), with ξ₀ from the prior and ε_S ~ N(0, τ²).
    """
    return _matheron(rng, state, data, _blocks(state))


def draw_weights(rng: np.random.Generator, state: BlockedState, data: Data, model: Model) -> BlockedState:
    """Step 2: stick-breaking weights given the labels."""
    return replace(state, log_weights=stick_sample(rng, state.core.nu, state.counts()))


def draw_labels(rng: np.random.Generator, state: BlockedState, data: Data, model: Model) -> BlockedState:
    """Step 3: labels given weights and surfaces, independent across observations."""
    gap = (data.y - data.h @ state.core.beta)[:, None] - state.surfaces.T
    log_p = state.log_weights - gap * gap / (2.0 * state.core.tau2[0])
    return state.with_core(labels=draw_categorical(rng, log_p))


def draw_nu(rng: np.random.Generator, state: BlockedState, data: Data, model: Model) -> BlockedState:
    """Step 4a: ν ~ Gamma(a + L − 1, b − log w_L). The paper has n − 1; L sticks have L − 1 Beta(1, ν) factors."""
    prior = model.priors.nu
    if isinstance(prior, Fixed):
        return state
    shape = prior.shape + state.truncation - 1
    return state.with_core(nu=float(rng.standard_gamma(shape) / (prior.rate - state.log_weights[-1])))


def draw_beta(rng: np.random.Generator, state: BlockedState, data: Data, model: Model) -> BlockedState:
    """Step 4b: trend coefficients, Gaussian given the surfaces."""
    prior = model.priors.beta
    if not isinstance(prior, Normal):
        return state
    p = data.h.shape[1]
    weight = np.broadcast_to(1.0 / np.square(prior.sd), (p,))
    precision = data.h.T @ data.h / state.core.tau2[0] + np.diag(weight)
    rhs = weight * prior.mean + data.h.T @ (data.y - state.at_members()) / state.core.tau2[0]
    factor = cholesky(precision)
    noise = solve_lower(factor, rng.standard_normal((p,)), transposed=True)
    return state.with_core(beta=solve_cholesky(factor, rhs) + noise)


def draw_tau2(rng: np.random.Generator, state: BlockedState, data: Data, model: Model) -> BlockedState:
    """Step 4c: noise variance, inverse gamma given the surfaces."""
    prior = model.priors.tau2
    if isinstance(prior, Fixed):
        return state
    gap = data.y - data.h @ state.core.beta - state.at_members()
    scale = prior.scale + 0.5 * float(gap @ gap)
    return state.with_core(tau2=scale / rng.standard_gamma(prior.shape + 0.5 * gap.size, 1))


def draw_sigma2(rng: np.random.Generator, state: BlockedState, data: Data, model: Model) -> BlockedState:
    """Step 4d: variance of the surfaces, inverse gamma given all L surfaces at all n inputs."""
    prior = model.priors.sigma2
    if isinstance(prior, Fixed):
        return state
    u = state.factors.inv_chol[state.index] @ state.surfaces.T
    scale = prior.scale + 0.5 * float(np.vdot(u, u))
    return state.with_core(sigma2=scale / rng.standard_gamma(prior.shape + 0.5 * u.size, 1))


def draw_phi(rng: np.random.Generator, state: BlockedState, data: Data, model: Model) -> BlockedState:
    """Step 4e, isotropic: φ from its grid, with the factorisations at hand.

    P(φ_m) ∝ mass_m · det(ρ̃_m)^{−L/2} exp(−Σ_l ξ_lᵀ ρ̃_m⁻¹ ξ_l / 2σ²).
    """
    f = state.factors
    if f.log_mass.size == 1:
        return state
    n, sticks = data.y.size, state.truncation
    u = (f.inv_chol.reshape(-1, n) @ state.surfaces.T).reshape(-1, n * sticks)
    quadratic = np.einsum("mi,mi->m", u, u)
    log_p = f.log_mass - 0.5 * sticks * f.log_det - quadratic / (2.0 * state.core.sigma2[0])
    return at_index(state, int(draw_categorical(rng, log_p[None, :])[0]))


def hop_and_draw_surfaces(rng: np.random.Generator, state: BlockedState, data: Data, model: Model) -> BlockedState:
    """Step 1, preceded by a Metropolis step on (φ, σ²) jointly with the surfaces integrated out.

    Not in the paper. L surfaces at n inputs determine φ almost exactly, so that step 4e alone never leaves the grid
    point it starts at; the joint step does not see them. It is only right where they are drawn anew at once: one move.
    """
    moved, log_ratio = _propose_hop(rng, state, model)
    blocks = _blocks(state)
    if np.isfinite(log_ratio):
        moved_blocks = _blocks(moved)
        r = data.y - data.h @ state.core.beta
        log_ratio += _log_likelihood(r, moved_blocks) - _log_likelihood(r, blocks)
        if -rng.standard_exponential() < log_ratio:
            state, blocks = moved, moved_blocks
    return _matheron(rng, state, data, blocks)


def _propose_hop(rng: np.random.Generator, state: BlockedState, model: Model) -> tuple[BlockedState, float]:
    """A neighbouring grid point and a nearby σ², and the log ratio of their prior densities (−∞ off the grid)."""
    index = state.index + int(rng.integers(-HOP, HOP + 1))
    mass = state.factors.log_mass
    if not 0 <= index < mass.size:
        return state, -np.inf
    log_ratio = float(mass[index] - mass[state.index])
    prior, sigma2 = model.priors.sigma2, state.core.sigma2
    if isinstance(prior, InverseGamma):
        step = HOP_SIGMA2 * rng.standard_normal()
        # Symmetric in log σ², whose density is that of σ² times σ².
        log_ratio += prior.logpdf(sigma2 * np.exp(step)) - prior.logpdf(sigma2) + step
        state = state.with_core(sigma2=sigma2 * np.exp(step))
    return at_index(state, index), log_ratio


def _blocks(state: BlockedState) -> list[Block]:
    """For each occupied surface: its label, its members S and the Cholesky factor of σ² ρ̃_SS + τ² I."""
    core, rho = state.core, state.factors.rho[state.index]
    blocks = []
    for label in np.flatnonzero(state.counts()):
        s = np.flatnonzero(core.labels == label)
        cov = core.sigma2[0] * (rho if s.size == rho.shape[0] else rho[s[:, None], s])
        cov.flat[:: s.size + 1] += core.tau2[0]
        blocks.append((int(label), s, cholesky(cov)))
    return blocks


def _log_likelihood(r: FloatArray, blocks: list[Block]) -> float:
    """log p(y | z, β, Θ) up to a constant, surfaces integrated out."""
    total = 0.0
    for _, s, factor in blocks:
        u = solve_lower(factor, r[s])
        total -= 0.5 * (float(u @ u) + log_det(factor))
    return total


def _matheron(rng: np.random.Generator, state: BlockedState, data: Data, blocks: list[Block]) -> BlockedState:
    core, factors = state.core, state.factors
    n, sigma2, tau2 = data.y.size, core.sigma2[0], core.tau2[0]
    r = data.y - data.h @ core.beta
    prior = np.sqrt(sigma2) * (factors.chol[state.index] @ rng.standard_normal((n, state.truncation)))
    update = np.zeros_like(prior)
    for label, s, factor in blocks:
        noise = np.sqrt(tau2) * rng.standard_normal(s.size)
        update[s, label] = solve_cholesky(factor, r[s] - prior[s, label] - noise)
    return replace(state, surfaces=(prior + sigma2 * (factors.rho[state.index] @ update)).T)


def at_index(state: BlockedState, index: int) -> BlockedState:
    """This state with φ at another of the values in its factors."""
    if index == state.index:
        return state
    return replace(state.with_core(phi=state.factors.phi[index][None, :]), index=index)


#: One sweep of Algorithm 2 as the paper has it. Step 4a "repeats step 2" because step 3 has changed the labels.
PAPER_SWEEP: tuple[Move, ...] = (
    draw_surfaces,
    draw_weights,
    draw_labels,
    draw_weights,
    draw_nu,
    draw_beta,
    draw_tau2,
    draw_sigma2,
    draw_phi,
)
#: One sweep as we run it.
SWEEP: tuple[Move, ...] = (hop_and_draw_surfaces, *PAPER_SWEEP[1:])


def sweep(
    rng: np.random.Generator, state: BlockedState, data: Data, model: Model, moves: tuple[Move, ...] = SWEEP
) -> BlockedState:
    """Apply the moves in their order."""
    for move in moves:
        state = move(rng, state, data, model)
    return state


# --- Step 4e for ARD: empirical Bayes --------------------------------------------------------------------------------

#: Smallest and largest ℓ / √d of the maximisation over length-scales, in units of the cube's side, as on the grid.
ARD_BOUNDS = (0.02, 10.0)


def ard_objective(log_phi: FloatArray, state: BlockedState, data: Data, model: Model) -> tuple[float, FloatArray]:
    """Negative log density of the members' surface values as a function of log φ, and its gradient.

    Σ_l ½ log det ρ̃_SS + ξ_Sᵀ ρ̃_SS⁻¹ ξ_S / 2σ² − log prior(φ). The paper sums over all inputs; values that no
    observation has touched are draws given the current φ and only hold it where it is.
    """
    phi, sigma2 = np.exp(log_phi), state.core.sigma2[0]
    value, gradient = 0.0, np.zeros_like(phi)
    xi = state.at_members()
    for s in state.core.surfaces():
        x, v = data.x[s.members], xi[s.members]
        rho = correlation(model.kernel, x, x, phi)
        rho.flat[:: v.size + 1] += NUGGET
        factor = cholesky(rho)
        alpha = solve_cholesky(factor, v)
        value += 0.5 * log_det(factor) + float(v @ alpha) / (2.0 * sigma2)
        weights = 0.5 * (solve_cholesky(factor, np.eye(v.size)) - np.outer(alpha, alpha) / sigma2)
        gradient += log_phi_gradient(model.kernel, x, phi, weights)
    prior = model.priors.lengthscale
    if isinstance(prior, LogNormal | UniformPhi):
        penalty, slope = prior.penalty(log_ell_from_phi(phi))
        value -= penalty
        gradient += 0.5 * slope  # d log ℓ / d log φ = −½
    return value, gradient


def maximise_phi(state: BlockedState, data: Data, model: Model, step: float = 1.0) -> BlockedState:
    """Step 4e, ARD: move log φ by `step` of the way to the maximiser of the conditional likelihood.

    L-BFGS-B with the analytic gradient; ``step=1`` is the paper's plug-in.
    """
    d = data.x.shape[1]
    bounds = np.log(phi_from_log_ell(np.log(np.array(ARD_BOUNDS)[::-1] * np.sqrt(d))))
    result = minimize(
        ard_objective,
        np.log(state.core.phi[0]),
        args=(state, data, model),
        jac=True,
        method="L-BFGS-B",
        bounds=[tuple(bounds)] * d,
        options={"maxiter": 20},
    )
    log_phi = np.log(state.core.phi[0])
    phi = np.exp(log_phi + step * (result.x - log_phi))[None, :]
    factors = factorise(model.kernel, data.x, phi, np.ones(1))
    return replace(state.with_core(phi=phi), factors=factors, index=0)
