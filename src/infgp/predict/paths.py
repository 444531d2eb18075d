"""Function draws: paths of the posterior that can be evaluated anywhere, with gradients.

Pathwise conditioning (Wilson et al. 2020): a draw of a surface given its members S with rewards r_S is

    ξ(x) = ξ₀(x) + k(x, x_S) (K_SS + N)⁻¹ (r_S − ξ₀(x_S) − ε),    ε ~ N(0, N)

with N = diag(τ² + v_S) and ξ₀ a draw of the prior, here from random features. Frequencies are drawn afresh for every
path, so that mean and covariance over paths are exact for any number of features. A surface without members is a path
of the prior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from infgp.core.kernels import correlation, correlation_and_slope, spectral_draw
from infgp.core.linalg import FloatArray, cholesky
from infgp.core.model import trend
from infgp.core.surface import Conditional, Conditioned, pull
from infgp.predict.targets import TargetWeights

#: Number of random features of a prior path, which the paths of a bundle share.
FEATURES = 512
#: Noise variance about values that were drawn, in units of the surface's variance; what keeps matrices regular.
SETTLED = 1e-6


@dataclass(frozen=True, eq=False)
class DrawnSurface:
    """One drawn surface, or S of them on common features: Σ_m a_m cos(ω_m·x + b_m) + Σ_j c_j ρ(x, x_j).

    Attributes
    ----------
    kernel : {"se", "matern52", "matern32"}
    phi : array, shape (d,)
    omega, phase : arrays, shapes (features, d), (features,)
    amplitude : array, shape (features,) or (features, S)
    x, coefficient : arrays, shapes (members, d), (members,) or (members, S)
        Members and the coefficients of their correlations.
    """

    kernel: str
    phi: FloatArray
    omega: FloatArray
    phase: FloatArray
    amplitude: FloatArray
    x: FloatArray
    coefficient: FloatArray

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,) or (m, S)."""
        value = np.cos(at @ self.omega.T + self.phase) @ self.amplitude
        if self.x.shape[0]:
            value += correlation(self.kernel, at, self.x, self.phi) @ self.coefficient
        return np.asarray(value)


class SurfacePath(DrawnSurface):
    """One drawn surface."""

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        angle = at @ self.omega.T + self.phase
        value = np.cos(angle) @ self.amplitude
        gradient = -(np.sin(angle) * self.amplitude) @ self.omega
        if self.x.shape[0]:
            rho, slope = correlation_and_slope(self.kernel, at, self.x, self.phi)
            value += rho @ self.coefficient
            gradient += pull(slope * self.coefficient, at, self.x, self.phi)
        return value, gradient


def draw_surface_path(rng: np.random.Generator, law: Conditional) -> SurfacePath:
    """A draw of one surface given its members' residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model
    >>> from infgp.core.state import Surface
    >>> from infgp.core.priors import Priors
    >>> data, model = Data(np.array([[0.5]]), np.array([5.0])), Model("se", Priors().resolve(1), ard=False)
    >>> law = Conditional.of(Surface(np.array([0]), np.array([3.0]), 1.0, 1e-8), data.y, data, model)
    >>> path = draw_surface_path(np.random.default_rng(0), law)
    >>> bool(abs(path(np.array([[0.5]]))[0] - 5.0) < 0.01)
    True
    """
    sigma2, phi, members = law.surface.sigma2, law.surface.phi, law.residual.size
    omega = spectral_draw(rng, law.kernel, phi, FEATURES)
    phase = rng.uniform(0.0, 2.0 * np.pi, FEATURES)
    amplitude = np.sqrt(sigma2) * np.sqrt(2.0 / FEATURES) * rng.standard_normal(FEATURES)
    coefficient = np.empty(0)
    if members:
        prior = np.cos(law.x @ omega.T + phase) @ amplitude
        noise = law.draw_noise(rng, 1)[:, 0]
        coefficient = sigma2 * law.solve(law.residual - prior - noise)
    return SurfacePath(law.kernel, phi, omega, phase, amplitude, law.x, coefficient)


def settle(rng: np.random.Generator, law: Conditional) -> Conditional:
    """The law of one surface once its values at its members are drawn: without noise, it goes through them.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model
    >>> from infgp.core.state import Surface
    >>> from infgp.core.priors import Priors
    >>> data, model = Data(np.array([[0.5]]), np.array([5.0])), Model("se", Priors().resolve(1), ard=False)
    >>> law = Conditional.of(Surface(np.array([0]), np.array([3.0]), 1.0, 0.5), data.y, data, model)
    >>> settled = settle(np.random.default_rng(0), law)
    >>> bool(settled(data.x)[1] < 1e-5 < law(data.x)[1])
    True
    """
    if not law.x.size:
        return law
    sigma2, values = law.surface.sigma2, draw_surface_path(rng, law)(law.x)
    noise = np.minimum(law.noise, SETTLED * sigma2)
    covariance = sigma2 * correlation(law.kernel, law.x, law.x, law.surface.phi) + np.diag(noise)
    return replace(law, residual=values, noise=noise, factor=cholesky(covariance), noise_root=None)


def _no_weights(at: FloatArray) -> FloatArray:
    return np.empty((at.shape[0], 0))


@dataclass(frozen=True, eq=False)
class Path:
    """A drawn function of x: trend and a weighted sum of drawn surfaces. Immutable, cheap to evaluate in batch.

    Examples
    --------
    >>> import numpy as np
    >>> plane = Path(np.array([1.0, 2.0]))
    >>> value, gradient = plane.value_and_gradient(np.array([[0.5]]))
    >>> float(value[0]), float(gradient[0, 0])
    (2.0, 2.0)
    """

    beta: FloatArray
    weights: Callable[[FloatArray], FloatArray] = _no_weights
    surfaces: dict[int, SurfacePath] = field(default_factory=dict)

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        value, weights = trend(at) @ self.beta, self.weights(at)
        for label, path in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            value[here] += weights[here, label] * path(at[here])
        return np.asarray(value)

    def parts(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weights and values of the surfaces, trend included, shapes (m, K + 1), and gradients of the values."""
        weights = self.weights(at)
        values, gradients = np.zeros(weights.shape), np.zeros((*weights.shape, at.shape[1]))
        for label, path in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            values[here, label], gradients[here, label] = path.value_and_gradient(at[here])
        return weights, values + (trend(at) @ self.beta)[:, None], gradients + self.beta[1:]

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        value, gradient = trend(at) @ self.beta, np.tile(self.beta[1:], (at.shape[0], 1))
        weights = self.weights(at)
        for label, path in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            v, g = path.value_and_gradient(at[here])
            value[here] += weights[here, label] * v
            gradient[here] += weights[here, label][:, None] * g
        return value, gradient


def draw_path(rng: np.random.Generator, given: Conditioned, target: str) -> Path:
    """A draw of the target function given one state of the chain (paper, Algorithm 1).

    Parameters
    ----------
    rng : numpy.random.Generator
    given : Conditioned
        A state with canonical labels and, where surfaces have scales of their own, scales drawn.
    target : {"expected", "mean", "main", "surface"}
        The sum of the surfaces without clutter, that of all surfaces with the urn's weights, the main surface, or one
        surface, possibly a new one, drawn with the urn's probabilities. See :class:`TargetWeights`.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("matern52", Priors().resolve(1), ard=False)
    >>> path = draw_path(rng, Conditioned(prior_draw(rng, x, model), Data(x, np.zeros(6)), model), "mean")
    >>> path(x).shape
    (6,)
    """
    weights = TargetWeights(given, target, rng.random() if target == "surface" else 0.5)
    paths = {label: draw_surface_path(rng, given.surface(label)) for label in weights.labels()}
    return Path(given.state.beta, weights, paths)
