"""Function draws: paths of the posterior that can be evaluated anywhere, with gradients.

Pathwise conditioning (Wilson et al. 2020): a draw of a surface given its members S with rewards r_S is

    ξ(x) = ξ₀(x) + k(x, x_S) (K_SS + N)⁻¹ (r_S − ξ₀(x_S) − ε),    ε ~ N(0, N)

with N = diag(τ² + v_S) and ξ₀ a draw of the prior, here from random features. Frequencies are drawn afresh for every
path, so that mean and covariance over paths are exact for any number of features. A surface without members is a path
of the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from infgp.kernels import correlation, correlation_and_slope, spectral_draw
from infgp.linalg import FloatArray, cholesky, solve_cholesky
from infgp.model import Data, Model, State, Surface, covariance, trend
from infgp.posterior import main_label

TARGETS = ("surface", "mean", "main")
#: Random features of a prior path.
FEATURES = 512


@dataclass(frozen=True, eq=False)
class SurfacePath:
    """One drawn surface: Σ_m a_m cos(ω_m·x + b_m) + Σ_j c_j ρ(x, x_j).

    Attributes
    ----------
    kernel : {"se", "matern52"}
    phi : array, shape (d,)
    omega, phase, amplitude : arrays, shapes (features, d), (features,), (features,)
    x, coefficient : arrays, shapes (n_l, d), (n_l,)
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
        """Values at the rows of `at`, shape (m,)."""
        value = np.cos(at @ self.omega.T + self.phase) @ self.amplitude
        if self.x.shape[0]:
            value += correlation(self.kernel, at, self.x, self.phi) @ self.coefficient
        return np.asarray(value)

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


def pull(weights: FloatArray, at: FloatArray, x: FloatArray, phi: FloatArray) -> FloatArray:
    """Σ_j weights_ij · 2 φ (at_i − x_j), shape (m, d): the chain rule through the scaled squared distance."""
    return np.asarray(2.0 * phi * (at * weights.sum(axis=1)[:, None] - weights @ x))


def draw_surface_path(
    rng: np.random.Generator, surface: Surface, residual: FloatArray, data: Data, model: Model
) -> SurfacePath:
    """A draw of one surface given its members' residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.priors import Priors
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> surface = Surface(np.array([0]), np.array([3.0]), 1.0, 1e-8)
    >>> data = Data(np.array([[0.5]]), np.array([5.0]))
    >>> path = draw_surface_path(np.random.default_rng(0), surface, data.y, data, model)
    >>> bool(abs(path(np.array([[0.5]]))[0] - 5.0) < 0.01)
    True
    """
    sd = np.sqrt(surface.sigma2)
    omega = spectral_draw(rng, model.kernel, surface.phi, FEATURES)
    phase = rng.uniform(0.0, 2.0 * np.pi, FEATURES)
    amplitude = sd * np.sqrt(2.0 / FEATURES) * rng.standard_normal(FEATURES)
    members = surface.members
    inputs = data.x[members]
    coefficient = np.empty(0)
    if members.size:
        prior = np.cos(inputs @ omega.T + phase) @ amplitude
        noise = np.sqrt(surface.noise(data.noise)) * rng.standard_normal(members.size)
        factor = cholesky(covariance(model, surface, data.x, data.noise))
        coefficient = surface.sigma2 * solve_cholesky(factor, residual[members] - prior - noise)
    return SurfacePath(model.kernel, surface.phi, omega, phase, amplitude, inputs, coefficient)


@dataclass(frozen=True, eq=False)
class Path:
    """A drawn function of x: trend and a weighted sum of drawn surfaces. Immutable, cheap to evaluate in batch.

    Examples
    --------
    >>> import numpy as np
    >>> flat = Path(np.array([1.0, 2.0]), (), ())
    >>> value, gradient = flat.value_and_gradient(np.array([[0.5]]))
    >>> float(value[0]), float(gradient[0, 0])
    (2.0, 2.0)
    """

    beta: FloatArray
    weights: tuple[float, ...]
    surfaces: tuple[SurfacePath, ...]

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        parts = zip(self.weights, self.surfaces, strict=True)
        return np.asarray(trend(at) @ self.beta + sum(w * path(at) for w, path in parts))

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        value, gradient = trend(at) @ self.beta, np.tile(self.beta[1:], (at.shape[0], 1))
        for w, path in zip(self.weights, self.surfaces, strict=True):
            v, g = path.value_and_gradient(at)
            value, gradient = value + w * v, gradient + w * g
        return value, gradient


def draw_path(rng: np.random.Generator, state: State, data: Data, model: Model, target: str) -> Path:
    """A draw of the target function given one state of the chain (paper, Algorithm 1).

    Parameters
    ----------
    rng : numpy.random.Generator
    state : State
        Labels canonical and, with own scales, these drawn.
    data : Data
    model : Model
    target : {"surface", "mean", "main"}
        One surface, l with the urn's probability n_l / (ν + n) or a new one with ν / (ν + n); the expected reward,
        which is the sum of all surfaces with these weights; or the surface with the most observations.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.model import prior_draw
    >>> from infgp.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("matern52", Priors().resolve(1), ard=False)
    >>> path = draw_path(rng, prior_draw(rng, x, model), Data(x, np.zeros(6)), model, "mean")
    >>> path(x).shape
    (6,)
    """
    r = data.y - data.h @ state.beta
    chosen = [(w, state.surface(label)) for w, label in target_labels(state, target, rng)]
    paths = tuple(draw_surface_path(rng, surface, r, data, model) for _, surface in chosen)
    return Path(state.beta, tuple(w for w, _ in chosen), paths)


def target_labels(state: State, target: str, rng: np.random.Generator | None = None) -> Sequence[tuple[float, int]]:
    """Weights and labels of the surfaces that make up the target; the label K is a new surface."""
    if target == "main":
        return [(1.0, main_label(state))]
    counts = np.append(np.bincount(state.labels), state.nu)
    weights = counts / counts.sum()
    if target == "mean":
        return [(float(w), label) for label, w in enumerate(weights)]
    assert rng is not None, "a surface is drawn"
    return [(1.0, int(rng.choice(weights.size, p=weights)))]
