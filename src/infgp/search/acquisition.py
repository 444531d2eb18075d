"""Log expected improvement of the expected reward, averaged over states of the chain.

Given one state, the target is Gaussian at every x with mean Σ_l w_l(x) μ_l(x) and variance Σ_l w_l(x)² v_l(x): kriging
of the surfaces that make it up. The incumbent is the evaluated point with the largest mean over all states; what is to
be beaten is each state's own mean there, so that no lucky reward counts. Were it each state's own best, a state that
takes a lucky reward for a surface would find little to gain anywhere, and send the search to whatever is unknown.

It is the logarithm that is averaged: a point is worth what the states agree on. The average of the improvement itself
is ruled by whichever state has the shortest length-scales or the largest variance, and keeps the search in the unknown
(`benchmarks/search_variants.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.special import erfcx, log_ndtr

from infgp.core.kernels import correlation, correlation_and_slope
from infgp.core.linalg import FloatArray, cholesky, solve_cholesky
from infgp.core.model import Data, Model, State, Surface, covariance, trend
from infgp.predict.paths import Blend, pull

#: Variance below which a point counts as known.
LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Kriging:
    """Gaussian law of one surface at every x: mean ρ c and variance σ² − ρ Q ρᵀ.

    ρ(x) is the row of correlations with its members, c = σ² G r and Q = σ⁴ G, where G is the inverse covariance of
    their rewards.
    """

    kernel: str
    phi: FloatArray
    x: FloatArray
    coefficient: FloatArray
    reduction: FloatArray
    prior_variance: float

    @classmethod
    def of(cls, surface: Surface, residual: FloatArray, data: Data, model: Model) -> Kriging:
        """From its members' residuals; without members it is the prior."""
        members, sigma2 = surface.members, surface.sigma2
        coefficient, reduction = np.empty(0), np.empty((0, 0))
        if members.size:
            factor = cholesky(covariance(model, surface, data.x, data.noise))
            coefficient = sigma2 * solve_cholesky(factor, residual[members])
            inverse = lapack.dpotri(factor, lower=1)[0]
            reduction = sigma2**2 * (np.tril(inverse) + np.tril(inverse, -1).T)
        return cls(model.kernel, surface.phi, data.x[members], coefficient, reduction, sigma2)

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance, shapes (m,)."""
        rho = correlation(self.kernel, at, self.x, self.phi)
        return rho @ self.coefficient, self.prior_variance - np.einsum("ij,ij->i", rho @ self.reduction, rho)

    def covariance(self, at: FloatArray) -> FloatArray:
        """Covariance of the values at some points, shape (m, m)."""
        rho = correlation(self.kernel, at, self.x, self.phi)
        prior = self.prior_variance * correlation(self.kernel, at, at, self.phi)
        return np.asarray(prior - rho @ self.reduction @ rho.T)

    def with_gradients(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean, variance, shapes (m,), and their gradients, shapes (m, d)."""
        rho, slope = correlation_and_slope(self.kernel, at, self.x, self.phi)
        t = rho @ self.reduction
        d_mean = pull(slope * self.coefficient, at, self.x, self.phi)
        d_variance = -2.0 * pull(slope * t, at, self.x, self.phi)
        return rho @ self.coefficient, self.prior_variance - np.einsum("ij,ij->i", t, rho), d_mean, d_variance


@dataclass(frozen=True, eq=False)
class TargetLaw:
    """Gaussian law of the target at every x, given one state: trend and weighted sum of the surfaces.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> belief = TargetLaw.of(prior_draw(rng, x, model), Data(x, np.zeros(6)), model, "mean")
    >>> mean, variance = belief(x)
    >>> mean.shape, bool((variance > 0).all())
    ((6,), True)
    """

    beta: FloatArray
    blend: Blend
    surfaces: dict[int, Kriging]

    @classmethod
    def of(cls, state: State, data: Data, model: Model, target: str) -> TargetLaw:
        """The law of the target ("expected", "main" or "mean")."""
        r, blend = data.y - data.h @ state.beta, Blend(state, data, model, target)
        laws = {label: Kriging.of(state.surface(label), r, data, model) for label in blend.labels()}
        return cls(state.beta, blend, laws)

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance, shapes (m,)."""
        mean, variance, weights = trend(at) @ self.beta, np.zeros(at.shape[0]), self.blend(at)
        for label, law in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            w = weights[here, label]
            m, v = law(at[here])
            mean[here] += w * m
            variance[here] += w * w * v
        return mean, np.maximum(variance, LEAST_VARIANCE)

    def with_gradients(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean, variance, shapes (m,), and their gradients, shapes (m, d)."""
        mean, variance, weights = trend(at) @ self.beta, np.zeros(at.shape[0]), self.blend(at)
        d_mean, d_variance = np.tile(self.beta[1:], (at.shape[0], 1)), np.zeros(at.shape)
        for label, law in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            w = weights[here, label]
            m, v, d_m, d_v = law.with_gradients(at[here])
            mean[here] += w * m
            variance[here] += w * w * v
            d_mean[here] += w[:, None] * d_m
            d_variance[here] += (w * w)[:, None] * d_v
        known = variance <= LEAST_VARIANCE
        d_variance[known] = 0.0
        return mean, np.where(known, LEAST_VARIANCE, variance), d_mean, d_variance

    def difference(self, a: FloatArray, b: FloatArray) -> tuple[float, float]:
        """Mean and variance of the target at point a less that at point b."""
        at = np.array([a, b])
        mean, signed = self(at)[0], self.blend(at) * [[1.0], [-1.0]]
        variance = sum(signed[:, label] @ law.covariance(at) @ signed[:, label] for label, law in self.surfaces.items())
        return float(mean[0] - mean[1]), max(float(variance), 0.0)


def gain(beliefs: Sequence[TargetLaw], a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Mean and standard deviation, over states, of the target at point a less that at point b.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> belief = TargetLaw.of(prior_draw(rng, x, model), Data(x, np.zeros(6)), model, "main")
    >>> gain([belief], x[0], x[0])
    (0.0, 0.0)
    """
    means, variances = np.array([belief.difference(a, b) for belief in beliefs]).T
    return float(means.mean()), math.sqrt(variances.mean() + means.var())


def log_h(z: FloatArray) -> FloatArray:
    """log(φ(z) + z Φ(z)), accurate far into the left tail (Ament et al. 2023).

    Examples
    --------
    >>> import numpy as np
    >>> log_h(np.array([0.0, -40.0])).round(3)
    array([  -0.919, -808.299])
    """
    z = np.asarray(z, dtype=np.float64)
    out = np.empty_like(z)
    right, far = z > -1.0, z < -1e4
    between = ~right & ~far
    log_phi = -0.5 * z * z - 0.5 * np.log(2.0 * np.pi)
    u = z[right]
    out[right] = np.log(np.exp(log_phi[right]) + u * np.exp(log_ndtr(u)))
    u = -z[between]
    out[between] = log_phi[between] + np.log1p(-np.sqrt(0.5 * np.pi) * u * erfcx(u / np.sqrt(2.0)))
    out[far] = log_phi[far] - 2.0 * np.log(-z[far])
    return out


@dataclass(frozen=True, eq=False)
class LogImprovement:
    """Log expected improvement, averaged over states; values and gradients in batch.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model, data = Model("se", Priors().resolve(1), ard=False), Data(x, np.zeros(6))
    >>> score = LogImprovement.of([TargetLaw.of(prior_draw(rng, x, model), data, model, "main")], x)
    >>> score(x).shape
    (6,)
    """

    beliefs: tuple[TargetLaw, ...]
    best: tuple[float, ...]

    @classmethod
    def of(cls, beliefs: Sequence[TargetLaw], evaluated: FloatArray) -> LogImprovement:
        """Improvement over the expected reward at the best of the inputs `evaluated`, shape (n, d)."""
        means = np.array([belief(evaluated)[0] for belief in beliefs])
        return cls(tuple(beliefs), tuple(means[:, np.argmax(means.mean(axis=0))].tolist()))

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        logs = []
        for belief, best in zip(self.beliefs, self.best, strict=True):
            mean, variance = belief(at)
            sd = np.sqrt(variance)
            logs.append(np.log(sd) + log_h((mean - best) / sd))
        return np.asarray(np.mean(logs, axis=0))

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        logs, slopes = [], []
        for belief, best in zip(self.beliefs, self.best, strict=True):
            mean, variance, d_mean, d_variance = belief.with_gradients(at)
            sd = np.sqrt(variance)
            z = (mean - best) / sd
            log_ei = np.log(sd) + log_h(z)
            # dEI = Φ dμ + φ dσ, each divided by EI
            by_mean = np.exp(log_ndtr(z) - log_ei)
            by_sd = np.exp(-0.5 * z * z - 0.5 * np.log(2.0 * np.pi) - log_ei)
            slopes.append(by_mean[:, None] * d_mean + (0.5 * by_sd / sd)[:, None] * d_variance)
            logs.append(log_ei)
        return np.mean(logs, axis=0), np.mean(slopes, axis=0)
