"""Which warp rewards go through, given the labels and all other parameters but the overall size of the variances.

With z_k = W_k(u) the rewards through warp k, and surfaces and their own scales integrated out,

    log p(k | rest) = log prior_k + Σ_l log p(z_k on surface l) + Σ_i log W_k'(u_i) + constant,

the last sum being the Jacobian: densities of different warps are compared in the units of u. A surface is factorised
once, and the rewards of all warps are right-hand sides of one triangular system.

Under another warp, surfaces and noise are often larger or smaller together. Warps alone would then seldom change, so
σ² and τ² may be multiplied by a common factor λ, from a lattice in log λ, in the same draw: quadratic forms are divided
by λ and log determinants grow by log λ an observation, and nothing is factorised again. The lattice is a window of
fixed length, thrown over log λ = 0 uniformly, in which the next point is drawn in proportion to the posterior in log σ²
and log τ². Every point of the window had the same chance of having the window thrown over it, so the draw is reversible
(Liu and Sabatti 2000, generalised Gibbs sampling; the window is that of Neal 2003, section 4).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from infgp.core.linalg import FloatArray, cholesky, log_det, solve_lower
from infgp.core.model import Data, Model, covariance, draw_categorical
from infgp.core.priors import Fixed, Positive
from infgp.core.state import State
from infgp.sample.moves import Deeds

#: Number of factors λ in a window.
FACTORS = 16
#: Distance of two factors, in units of log λ.
STEP = 0.5
#: Chance that a sweep draws the warp. A draw costs about a third of a sweep of 60 rewards; the warp seldom changes.
CHANCE = 0.25


def draw_warp_at_times(rng: np.random.Generator, state: State, data: Data, model: Model) -> tuple[State, Deeds]:
    """The warp as :func:`draw_warp` has it, with chance `CHANCE`; otherwise the state as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 12)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> draw_warp_at_times(rng, prior_draw(rng, x, model), Data(x, x[:, 0]), model)[1]  # there is only one warp
    {}
    """
    return draw_warp(rng, state, data, model) if len(model.warps) > 1 and rng.random() < CHANCE else (state, {})


def draw_warp(rng: np.random.Generator, state: State, data: Data, model: Model) -> tuple[State, Deeds]:
    """The warp, and a common factor of σ² and τ², from all warps and a window of factors at once.

    The factor stays 1 where a variance is fixed, and where noise variances are given.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.warp import grid
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 12)[:, None]
    >>> u = np.exp(9.0 * x[:, 0]) / 100.0 - 1.0
    >>> model = Model("se", Priors().resolve(1), ard=False, warps=grid(u))
    >>> state, deeds = draw_warp(rng, prior_draw(rng, x, model), Data(x, u), model)
    >>> state.labels.size, deeds["change of the warp"][0]
    (12, 1)
    """
    if len(model.warps) == 1:
        return state, {}
    free = not (isinstance(model.priors.sigma2, Fixed) or isinstance(model.priors.tau2, Fixed) or data.noise.any())
    log_factor = STEP * (np.arange(FACTORS, dtype=np.float64) - int(rng.integers(FACTORS))) if free else np.zeros(1)
    log_p = log_posterior(state, data, model, log_factor)
    k, j = divmod(int(draw_categorical(rng, log_p.reshape(1, -1))[0]), log_factor.size)
    factor = float(np.exp(log_factor[j]))
    after = replace(state, warp=k, sigma2=state.sigma2 * factor, tau2=state.tau2 * factor)
    return after, {"change of the warp": (1, int(k != state.warp))}


def log_posterior(state: State, data: Data, model: Model, log_factor: FloatArray) -> FloatArray:
    """Log density of each warp with each common factor of σ² and τ², up to a constant; shape (warps, factors).

    It is a density in (log σ², log τ²). Where log λ is not 0 alone, there is no given noise.
    """
    warped, shape = data.through(model.warps), model.scale_shape
    residuals = warped.z.T - (data.h @ state.beta)[:, None]
    out = (np.log(model.warps.prior) + warped.log_slope)[:, None] + np.zeros(log_factor.size)
    for prior, variance in ((model.priors.sigma2, state.sigma2), (model.priors.tau2, state.tau2)):
        out += _log_prior(prior, float(variance[0]), log_factor)
    for surface in state.surfaces():
        factor, m = cholesky(covariance(model.at(state), surface, data.x, data.noise)), surface.members.size
        whitened = solve_lower(factor, residuals[surface.members])
        quadratic = np.einsum("ik,ik->k", whitened, whitened)[:, None] * np.exp(-log_factor)
        out -= 0.5 * (log_det(factor) + m * (log_factor + np.log(2.0 * np.pi)))
        if shape:
            half = shape + 0.5 * m
            out += gammaln(half) - gammaln(shape) + shape * np.log(shape) - half * np.log(shape + 0.5 * quadratic)
        else:
            out -= 0.5 * quadratic
    return out


def _log_prior(prior: Positive, variance: float, log_factor: FloatArray) -> FloatArray:
    """Log density of the logarithm of a variance times each factor, up to a constant."""
    if isinstance(prior, Fixed):
        return np.zeros(log_factor.size)
    log_variance = np.log(variance) + log_factor
    return np.asarray(-prior.shape * log_variance - prior.scale * np.exp(-log_variance))
