"""Log expected improvement over the best evaluated point, averaged over states.

Given one state, the objective is Gaussian at every x (:mod:`infgp.predict.objectives`). The incumbent is the evaluated
point with the largest mean over all states. In each state, improvement is counted from the state's own mean at the
incumbent, so that no lucky reward counts. If each state had an incumbent of its own, a state that takes a lucky reward
for a surface would find little to gain anywhere, and would send the search to whatever is unknown.

The logarithm of the improvement is averaged over states: a point is worth what the states agree on. The average of the
improvement itself is ruled by the state with the shortest length-scales or the largest variance, and keeps the search
in the unknown (`results/search_variants`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr

from infgp.core.linalg import FloatArray
from infgp.predict.objectives import ObjectiveLaw


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
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.surface import Conditioned
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model, data = Model("se", Priors().resolve(1), ard=False), Data(x, np.zeros(6))
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.predict.functionals import Aim, Objective
    >>> aim = Aim(Objective(), RewardScale(0.0, 1.0))
    >>> score = LogImprovement.of([ObjectiveLaw.of(Conditioned(prior_draw(rng, x, model), data, model), aim)], x)
    >>> score(x).shape
    (6,)
    """

    laws: tuple[ObjectiveLaw, ...]
    best: tuple[float, ...]

    @classmethod
    def of(cls, laws: Sequence[ObjectiveLaw], evaluated: FloatArray) -> LogImprovement:
        """Improvement over the objective at the best of the inputs `evaluated`, shape (n, d)."""
        means = np.array([law.mean(evaluated) for law in laws])
        return cls(tuple(laws), tuple(means[:, np.argmax(means.mean(axis=0))].tolist()))

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        logs = []
        for law, best in zip(self.laws, self.best, strict=True):
            mean, variance = law(at)
            sd = np.sqrt(variance)
            logs.append(np.log(sd) + log_h((mean - best) / sd))
        return np.asarray(np.mean(logs, axis=0))

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        logs, slopes = [], []
        for law, best in zip(self.laws, self.best, strict=True):
            mean, variance, d_mean, d_variance = law.with_gradients(at)
            sd = np.sqrt(variance)
            z = (mean - best) / sd
            log_ei = np.log(sd) + log_h(z)
            # dEI = Φ dμ + φ dσ, each divided by EI
            by_mean = np.exp(log_ndtr(z) - log_ei)
            by_sd = np.exp(-0.5 * z * z - 0.5 * np.log(2.0 * np.pi) - log_ei)
            slopes.append(by_mean[:, None] * d_mean + (0.5 * by_sd / sd)[:, None] * d_variance)
            logs.append(log_ei)
        return np.mean(logs, axis=0), np.mean(slopes, axis=0)
