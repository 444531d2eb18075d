"""Log expected improvement of the expected reward, averaged over states of the chain.

Given one state, the target is Gaussian at every x with mean Σ_l w_l μ_l(x) and variance Σ_l w_l² v_l(x): kriging of the
surfaces that make it up. The incumbent is the largest mean at a point already evaluated, state by state, so that no
lucky reward is ever to be beaten.

It is the logarithm that is averaged: a point is worth what the states agree on. The average of the improvement itself
is ruled by whichever state has the shortest length-scales or the largest variance, and keeps the search in the unknown
(`benchmarks/search_variants.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.special import erfcx, log_ndtr

from infgp.kernels import correlation, correlation_and_slope
from infgp.linalg import FloatArray, cholesky, solve_cholesky
from infgp.model import Data, Model, State, covariance, trend
from infgp.paths import pull, target_labels

#: Variance below which a point counts as known.
LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Belief:
    """Gaussian law of the target at every x, given one state.

    All surfaces share their length-scales, so that one row ρ(x) of correlations with their members serves them all:
    the mean is hᵀβ + ρ c and the variance v − ρ Q ρᵀ, with c_l = w_l σ_l² G_l r_l and Q block-diagonal,
    Q_l = w_l² σ_l⁴ G_l, where G_l is the inverse covariance of the rewards on surface l.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.model import prior_draw
    >>> from infgp.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> belief = Belief.of(prior_draw(rng, x, model), Data(x, np.zeros(6)), model, "mean")
    >>> mean, variance = belief(x)
    >>> mean.shape, bool((variance > 0).all())
    ((6,), True)
    """

    kernel: str
    beta: FloatArray
    phi: FloatArray
    x: FloatArray
    coefficient: FloatArray
    reduction: FloatArray
    prior_variance: float

    @classmethod
    def of(cls, state: State, data: Data, model: Model, target: str) -> Belief:
        """The law of the target ("mean" or "main")."""
        r = data.y - data.h @ state.beta
        chosen = [(weight, state.surface(label)) for weight, label in target_labels(state, target)]
        members = np.concatenate([s.members for _, s in chosen])
        coefficient, reduction, at = np.empty(members.size), np.zeros((members.size, members.size)), 0
        for weight, s in chosen:
            if not s.members.size:
                continue
            here, at = slice(at, at + s.members.size), at + s.members.size
            factor = cholesky(covariance(model, s, data.x, data.noise))
            coefficient[here] = weight * s.sigma2 * solve_cholesky(factor, r[s.members])
            inverse = lapack.dpotri(factor, lower=1)[0]
            reduction[here, here] = (weight * s.sigma2) ** 2 * (np.tril(inverse) + np.tril(inverse, -1).T)
        variance = sum(weight**2 * s.sigma2 for weight, s in chosen)
        return cls(model.kernel, state.beta, state.phi[0], data.x[members], coefficient, reduction, variance)

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance, shapes (m,)."""
        rho = correlation(self.kernel, at, self.x, self.phi)
        mean = trend(at) @ self.beta + rho @ self.coefficient
        variance = self.prior_variance - np.einsum("ij,ij->i", rho @ self.reduction, rho)
        return mean, np.maximum(variance, LEAST_VARIANCE)

    def with_gradients(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean, variance, shapes (m,), and their gradients, shapes (m, d)."""
        rho, slope = correlation_and_slope(self.kernel, at, self.x, self.phi)
        t = rho @ self.reduction
        mean = trend(at) @ self.beta + rho @ self.coefficient
        variance = self.prior_variance - np.einsum("ij,ij->i", t, rho)
        d_mean = self.beta[1:] + pull(slope * self.coefficient, at, self.x, self.phi)
        d_variance = -2.0 * pull(slope * t, at, self.x, self.phi)
        known = variance <= LEAST_VARIANCE
        d_variance[known] = 0.0
        return mean, np.where(known, LEAST_VARIANCE, variance), d_mean, d_variance


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
    >>> from infgp.model import prior_draw
    >>> from infgp.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model, data = Model("se", Priors().resolve(1), ard=False), Data(x, np.zeros(6))
    >>> score = LogImprovement.of([Belief.of(prior_draw(rng, x, model), data, model, "main")], x)
    >>> score(x).shape
    (6,)
    """

    beliefs: tuple[Belief, ...]
    best: tuple[float, ...]

    @classmethod
    def of(cls, beliefs: Sequence[Belief], evaluated: FloatArray) -> LogImprovement:
        """Improvement over the best expected reward at the inputs `evaluated`, shape (n, d)."""
        return cls(tuple(beliefs), tuple(float(np.max(b(evaluated)[0])) for b in beliefs))

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
