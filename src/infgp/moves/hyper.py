"""Hyperparameters given the labels, with the surfaces integrated out: β, ν, and the scales (σ², τ², ℓ) by slices."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from infgp import compiled
from infgp.errors import InvalidInputError
from infgp.kernels import log_ell_from_phi, phi_from_log_ell
from infgp.linalg import FloatArray, cholesky, solve_cholesky, solve_lower
from infgp.model import Data, Model, State
from infgp.moves.collapsed import CONDITION_LIMIT, KERNEL_CODE, group, residual
from infgp.priors import Fixed, InverseGamma, LengthscalePrior, LogNormal, Normal, UniformPhi

#: Length of the interval that a slice is first looked for in, in units of log scale. Much longer than the slice costs a
#: few evaluations more, shorter means smaller steps; either is correct. Length-scales of inputs that do not matter are
#: as wide as their prior.
WIDTH = 5.0
#: Length-scales that get a line of their own in each update, chosen at random where there are more inputs.
LINES = 8


def draw_nu(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """ν given the number of surfaces, with the auxiliary variable η ~ Beta(ν + 1, n) of Escobar and West (1995)."""
    prior = model.priors.nu
    if isinstance(prior, Fixed):
        return state
    n, k = state.labels.size, state.n_surfaces
    rate = prior.rate - math.log(rng.beta(state.nu + 1.0, n))
    odds = (prior.shape + k - 1.0) / (n * rate)
    shape = prior.shape + k - (0.0 if rng.random() * (1.0 + odds) < odds else 1.0)
    return replace(state, nu=float(rng.standard_gamma(shape) / rate))


def draw_beta(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """β given labels and scales: Gaussian, by generalised least squares over the surfaces."""
    prior = model.priors.beta
    if not isinstance(prior, Normal):
        return state
    p = data.h.shape[1]
    g = group(state.labels, data.x, data.y)
    gammas = rng.standard_gamma(model.scale_shape + 0.5 * np.diff(g.starts)) if model.scale_shape else np.empty(0)
    moments = compiled.trend_statistics(
        KERNEL_CODE[model.kernel],
        g.x,
        np.column_stack((data.h[g.order], g.r)),
        g.starts,
        state.phi[0],
        float(state.sigma2[0]),
        float(state.tau2[0]),
        state.beta,
        model.scale_shape,
        gammas,
    )
    weight = np.broadcast_to(1.0 / np.square(prior.sd), (p,))
    factor = cholesky(moments[:p, :p] + np.diag(weight))
    noise = solve_lower(factor, rng.standard_normal((p,)), transposed=True)
    return replace(state, beta=solve_cholesky(factor, moments[:p, p] + weight * prior.mean) + noise)


def draw_scales(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """σ², τ² and ℓ by slice sampling in θ = (log σ², log τ², log ℓ).

    Lines along log σ² and log τ², one in a random direction of (log σ², log ℓ), which go together, and with several
    length-scales one along each (some of them, past eight). Four to five evaluations of the evidence a line.
    """
    p, d = model.priors, data.x.shape[1]
    ells = d if model.ard else 1
    free = np.array([not isinstance(q, Fixed) for q in (p.sigma2, p.tau2, *[p.lengthscale] * ells)])
    if not free.any():
        return state
    g = group(state.labels, data.x, residual(state, data))
    theta = np.concatenate((np.log(state.sigma2), np.log(state.tau2), log_ell_from_phi(state.phi[0, :ells])))
    compiled.slice_scales(
        rng,
        theta,
        _directions(rng, free),
        WIDTH,
        KERNEL_CODE[model.kernel],
        g.x,
        g.r,
        g.starts,
        np.array([_inverse_gamma(p.sigma2), _inverse_gamma(p.tau2), (CONDITION_LIMIT / data.y.size, 0.0)]),
        _lengthscale(p.lengthscale),
        model.scale_shape,
    )
    phi = phi_from_log_ell(np.broadcast_to(theta[2:], (d,)))
    return replace(state, sigma2=np.exp(theta[:1]), tau2=np.exp(theta[1:2]), phi=phi[None, :])


def _inverse_gamma(prior: InverseGamma | Fixed) -> tuple[float, float]:
    """Shape and scale, or zeros for a fixed variance."""
    return (0.0, 0.0) if isinstance(prior, Fixed) else (prior.shape, prior.scale)


def _lengthscale(prior: LengthscalePrior) -> FloatArray:
    """The prior as :func:`infgp.compiled.scales_log_prior` takes it."""
    if isinstance(prior, LogNormal) and prior.loc is not None:
        return np.array([1.0, prior.loc, prior.scale, math.log(prior.lower)])
    if isinstance(prior, UniformPhi) and prior.upper is not None:
        return np.array([2.0, prior.upper])
    if isinstance(prior, Fixed):
        return np.zeros(1)
    raise InvalidInputError(f"The collapsed sampler takes LogNormal, UniformPhi or Fixed length-scales, not {prior!r}.")


def _directions(rng: np.random.Generator, free: FloatArray) -> FloatArray:
    """Lines for :func:`draw_scales`, zero along what is fixed; shape (lines, parameters)."""
    axes = np.eye(free.size)
    mixed = rng.standard_normal(free.size)
    mixed[1] = 0.0
    own = axes[2 + rng.permutation(free.size - 2)[:LINES]] if free.size > 3 else axes[:0]
    lines = np.vstack((axes[:2], mixed, own)) * free
    return lines[lines.any(axis=1)]
