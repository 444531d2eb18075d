"""Hyperparameters given the labels, with the surfaces integrated out: β, ν, and the scales (σ², τ², ℓ) by slices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from infgp import compiled
from infgp.kernels import log_ell_from_phi, phi_from_log_ell
from infgp.linalg import FloatArray, cholesky, solve_cholesky, solve_lower
from infgp.model import Data, Model, State
from infgp.moves.collapsed import KERNEL_CODE, group, log_evidence, residual, usable
from infgp.priors import Fixed, InverseGamma, Normal

#: Length of the interval that a slice is first looked for in, in units of log scale. Much longer than the slice costs a
#: few evaluations more, shorter means smaller steps; either is correct.
WIDTH = 3.0


def slice_line(
    rng: np.random.Generator,
    theta: FloatArray,
    value: float,
    direction: FloatArray,
    log_density: Callable[[FloatArray], float],
) -> tuple[FloatArray, float]:
    """One slice-sampling transition along a line (Neal 2003): an interval thrown over the current point, then shrunk.

    There is no stepping out: with a fixed length the transition is reversible without it, and two evaluations cheaper.

    Parameters
    ----------
    rng : numpy.random.Generator
    theta : array, shape (k,)
    value : float
        Log density at theta.
    direction : array, shape (k,)
        Must not depend on theta.
    log_density : callable

    Returns
    -------
    theta, value : the new point and its log density

    Examples
    --------
    >>> import numpy as np
    >>> rng, x, value, draws = np.random.default_rng(0), np.zeros(1), 0.0, []
    >>> for _ in range(2000):
    ...     x, value = slice_line(rng, x, value, np.ones(1), lambda v: -0.5 * float(v @ v))
    ...     draws.append(x[0])
    >>> bool(abs(np.std(draws) - 1.0) < 0.1)
    True
    """
    level = value - rng.standard_exponential()
    left = -WIDTH * rng.random()
    right = left + WIDTH
    while left < right:
        t = left + (right - left) * rng.random()
        proposal = theta + t * direction
        at = log_density(proposal)
        if at > level:
            return proposal, at
        if t < 0.0:
            left = t
        else:
            right = t
    return theta, value


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
    length-scales one along a random log ℓ_k. About four evaluations of the evidence each.
    """
    p = model.priors
    n, d = data.x.shape
    ells = d if model.ard else 1
    free = np.array([not isinstance(q, Fixed) for q in (p.sigma2, p.tau2, *[p.lengthscale] * ells)])
    if not free.any():
        return state
    g = group(state.labels, data.x, residual(state, data))

    def phi_of(theta: FloatArray) -> FloatArray:
        return phi_from_log_ell(theta[2:] if ells == d else np.full(d, theta[2]))

    def log_density(theta: FloatArray) -> float:
        sigma2, tau2 = math.exp(min(theta[0], 700.0)), math.exp(min(theta[1], 700.0))
        if not usable(n, sigma2, tau2):
            return -math.inf
        value = _log_prior(p.sigma2, sigma2) + _log_prior(p.tau2, tau2) + p.lengthscale.logpdf(theta[2:])
        if value == -math.inf:
            return -math.inf
        return value + log_evidence(g, model, phi_of(theta), sigma2, tau2)

    theta = np.concatenate((np.log(state.sigma2), np.log(state.tau2), log_ell_from_phi(state.phi[0, :ells])))
    value = log_density(theta)
    for direction in _directions(rng, free):
        theta, value = slice_line(rng, theta, value, direction, log_density)
    return replace(state, sigma2=np.exp(theta[:1]), tau2=np.exp(theta[1:2]), phi=phi_of(theta)[None, :])


def _log_prior(prior: InverseGamma | Fixed, variance: float) -> float:
    """Log density, up to a constant, of the logarithm of a variance: that of the variance times the variance."""
    if isinstance(prior, Fixed):
        return 0.0
    return -prior.shape * math.log(variance) - prior.scale / variance


def _directions(rng: np.random.Generator, free: FloatArray) -> list[FloatArray]:
    """Lines for :func:`draw_scales`, zero along what is fixed."""
    axes = np.eye(free.size)
    chosen = [axes[k] for k in (0, 1)]
    mixed = rng.standard_normal(free.size)
    mixed[1] = 0.0
    chosen.append(mixed)
    if free.size > 3:
        chosen.append(axes[2 + int(rng.integers(free.size - 2))])
    return [line for line in (c * free for c in chosen) if line.any()]
