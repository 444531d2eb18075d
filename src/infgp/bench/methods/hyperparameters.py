"""Fully Bayesian hyperparameters of an ordinary GP, by slice sampling (Neal 2003; Murray and Adams 2010).

Notation
--------
θ       (m, log σ², log τ², log ℓ_1 … log ℓ_d), and for a warped GP also (log a_1 …, log b_1 …)
m       constant mean; σ², τ², ℓ variance of the signal, of the noise, length-scales of the squared exponential
a, b    of the Kumaraswamy distribution function w(x) = 1 − (1 − x^a)^b that warps each input (Snoek et al. 2014)

Every entry of θ has a Gaussian prior, so that all but the mean are log-normal. Rewards are standardised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infgp.core.jit import jit
from infgp.sample.compiled.densities import FAST, LOG_2PI, decay, factorise, forward

#: Location and standard deviation of the prior of m, in units of standardised rewards.
MEAN = (0.0, 1.0)
#: Location and standard deviation of the prior of log σ².
SIGNAL = (0.0, 1.0)
#: Location and standard deviation of the prior of log τ².
NOISE = (-4.0, 2.0)
#: Location and standard deviation of the priors of log a and log b.
WARP = (0.0, math.sqrt(0.75))
#: Standard deviation of the prior of log ℓ, as in BoTorch; its location is √2 + ½ log d.
LENGTHSCALE_SD = math.sqrt(3.0)
#: Length of the interval that is thrown over the current value, in units of θ. Since it is fixed, there is no stepping
#: out.
WIDTH = 5.0
#: Largest number of entries of θ that an iteration moves. Up to five inputs, θ has no more entries than that.
ENTRIES = 8
#: Least distance of inputs from the ends of the cube before they are warped, in units of the cube's side, as in
#: BoTorch.
EPSILON = 1e-7
#: Share of the iterations of a step that is dropped before the average.
BURN_IN = 0.2


@dataclass(frozen=True, eq=False)
class Prior:
    """Independent Gaussians: locations and standard deviations of θ.

    Examples
    --------
    >>> prior_of(d=2, warped=False).location.round(2)
    array([ 0.  ,  0.  , -4.  ,  1.76,  1.76])
    """

    location: NDArray[np.float64]
    sd: NDArray[np.float64]


def prior_of(d: int, warped: bool) -> Prior:
    """The prior of θ for d inputs."""
    lengthscale = (math.sqrt(2.0) + 0.5 * math.log(d), LENGTHSCALE_SD)
    rows = [MEAN, SIGNAL, NOISE, *[lengthscale] * d, *[WARP] * (2 * d if warped else 0)]
    return Prior(*np.array(rows).T.copy())


@jit()
def warp(theta: Any, x: Any, k: int, out: Any) -> None:
    """Input k of all points, warped as θ says; as it is where θ says nothing of that."""
    n, d = x.shape
    if theta.size == 3 + d:
        out[:] = x[:, k]
    else:
        a, b = math.exp(theta[3 + d + k]), math.exp(theta[3 + 2 * d + k])
        for i in range(n):
            u = EPSILON + (1.0 - 2.0 * EPSILON) * x[i, k]
            out[i] = 1.0 - (1.0 - u**a) ** b


@jit()
def log_prior(theta: Any, location: Any, sd: Any) -> float:
    """log p(θ)."""
    total = 0.0
    for k in range(theta.size):
        u = (theta[k] - location[k]) / sd[k]
        total -= 0.5 * u * u + math.log(sd[k]) + 0.5 * LOG_2PI
    return total


@jit()
def precision(theta: Any, k: int) -> float:
    """φ_k = 1 / (2 ℓ_k²)."""
    return 0.5 * math.exp(-2.0 * theta[3 + k])


@jit(fastmath=FAST)
def others(theta: Any, warped: Any, k: int, out: Any) -> None:
    """Lower triangle of Σ φ_j Δ_j² over all inputs j but k."""
    d, n = warped.shape
    for i in range(n):
        row = out[i]
        row[:i] = 0.0
        for j in range(d):
            if j != k:
                phi, at, column = precision(theta, j), warped[j, i], warped[j]
                for m in range(i):
                    gap = at - column[m]
                    row[m] += phi * gap * gap


@jit(fastmath=FAST)
def correlate(sums: Any, column: Any, phi: float, out: Any) -> None:
    """Lower triangle of ρ = exp(−sums − φ Δ²), where Δ are the differences within a column."""
    scratch = np.empty(column.size)
    for i in range(column.size):
        row, at = out[i], column[i]
        for m in range(i):
            gap = at - column[m]
            row[m] = sums[i, m] + phi * gap * gap
        decay(row, i, scratch)
        row[i] = 1.0


@jit()
def correlations(theta: Any, x: Any, warped: Any, sums: Any, rho: Any) -> None:
    """Warped inputs, shape (d, n), and the lower triangle of their correlations ρ, into the arrays given."""
    for k in range(x.shape[1]):
        warp(theta, x, k, warped[k])
    others(theta, warped, 0, sums)
    correlate(sums, warped[0], precision(theta, 0), rho)


@jit()
def log_posterior(theta: Any, x: Any, y: Any, location: Any, sd: Any) -> float:
    """log p(θ, y), the latent function integrated out."""
    n = y.size
    rho, factor = np.empty((n, n)), np.empty((n, n))
    correlations(theta, x, np.empty(x.T.shape), np.empty((n, n)), rho)
    log_det = factorise(rho, math.exp(theta[1]), math.exp(theta[2]), np.zeros(n), factor)
    quadratic = forward(factor, y - theta[0], np.empty(n))
    total: float = log_prior(theta, location, sd) - 0.5 * (quadratic + log_det + n * LOG_2PI)
    return total


@jit()
def slice_sample(rng: Any, theta: Any, x: Any, y: Any, location: Any, sd: Any, iterations: int) -> Any:
    """θ after each iteration, shape (iterations, θ.size).

    An iteration moves the entries of θ one after the other, at most ENTRIES, in an order drawn afresh whenever
    all have had their turn: a level under the density, an interval of fixed length thrown over the current value, and
    points drawn from it, shrinking it, until one is above the level. What a move does not touch is not computed again:
    the mean leaves the factor of the covariance as it is, the variances leave the correlations, and what is said of
    one input leaves the distances along all other inputs.
    """
    (n, d), zeros, u, column = x.shape, np.zeros(y.size), np.empty(y.size), np.empty(y.size)
    rho, factor, new_rho, new_factor = (np.empty((n, n)), np.empty((n, n)), np.empty((n, n)), np.empty((n, n)))
    warped, sums = np.empty((d, n)), np.empty((n, n))
    theta, order, turn = theta.copy(), np.arange(theta.size), 0
    out = np.empty((iterations, theta.size))
    correlations(theta, x, warped, sums, rho)
    log_det = factorise(rho, math.exp(theta[1]), math.exp(theta[2]), zeros, factor)
    value = log_prior(theta, location, sd) - 0.5 * (forward(factor, y - theta[0], u) + log_det)
    for b in range(iterations):
        for _ in range(min(theta.size, ENTRIES)):
            if turn % theta.size == 0:
                for i in range(theta.size - 1, 0, -1):
                    j = int(rng.random() * (i + 1))
                    order[i], order[j] = order[j], order[i]
            k = order[turn % theta.size]
            turn += 1
            start, level = theta[k], value - rng.standard_exponential()
            left = start - WIDTH * rng.random()
            right = left + WIDTH
            which = (k - 3) % d
            if k > 2:
                others(theta, warped, which, sums)
            while True:
                theta[k] = left + (right - left) * rng.random()
                at, new_log_det = log_prior(theta, location, sd), log_det
                if k > 2:
                    warp(theta, x, which, column)
                    correlate(sums, column, precision(theta, which), new_rho)
                if k > 0:
                    signal, noise = math.exp(theta[1]), math.exp(theta[2])
                    new_log_det = factorise(new_rho if k > 2 else rho, signal, noise, zeros, new_factor)
                at -= 0.5 * (forward(new_factor if k > 0 else factor, y - theta[0], u) + new_log_det)
                if at > level:
                    value, log_det = at, new_log_det
                    if k > 2:
                        rho, new_rho = new_rho, rho
                        warped[which] = column
                    if k > 0:
                        factor, new_factor = new_factor, factor
                    break
                if theta[k] < start:
                    left = theta[k]
                else:
                    right = theta[k]
                if not right - left > 1e-12:  # rounding: no point but the current one is left
                    theta[k] = start
                    break
        out[b] = theta
    return out


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """A chain's last state and the average of its states, both θ.

    The average is taken in θ, in which the chain runs: a length-scale is the geometric mean of its draws.
    """

    last: NDArray[np.float64]
    average: NDArray[np.float64]


def estimate(
    rng: np.random.Generator,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    warped: bool,
    iterations: int,
    before: Hyperparameters | None = None,
) -> Hyperparameters:
    """Average hyperparameters of a GP for rewards y at inputs x in the unit cube.

    Parameters
    ----------
    rng : numpy.random.Generator
    x : array, shape (n, d)
    y : array, shape (n,)
        Standardised.
    warped : bool
        Whether inputs are warped.
    iterations : int
        Slice-sampling iterations; the first fifth is dropped.
    before : Hyperparameters, optional
        Where to go on from; the prior's location by default.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> found = estimate(np.random.default_rng(0), x, np.sin(9 * x[:, 0]), warped=False, iterations=500)
    >>> bool(0.1 < np.exp(found.average[3]) < 0.6)
    True
    """
    prior = prior_of(x.shape[1], warped)
    start = prior.location if before is None else before.last
    draws = slice_sample(rng, start, x, y, prior.location, prior.sd, iterations)
    return Hyperparameters(draws[-1], draws[int(BURN_IN * iterations) :].mean(axis=0))
