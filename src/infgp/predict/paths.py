"""Function draws: paths of the posterior that can be evaluated anywhere, with gradients.

Pathwise conditioning (Wilson et al. 2020): a draw of a surface given its members S with rewards r_S is

    ξ(x) = ξ₀(x) + k(x, x_S) (K_SS + N)⁻¹ (r_S − ξ₀(x_S) − ε),    ε ~ N(0, N)

with N = diag(τ² + v_S) and ξ₀ a draw of the prior, here from random features. Frequencies are drawn afresh for every
path, so that mean and covariance over paths are exact for any number of features. A surface without members is a path
of the prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from infgp.core.kernels import correlation, correlation_and_slope, spectral_draw
from infgp.core.linalg import FloatArray, cholesky, solve_cholesky
from infgp.core.model import Data, Model, State, Surface, covariance, log_evidence, trend
from infgp.predict.mixture import main_labels, urn_weights

TARGETS = ("expected", "main", "mean", "surface")
#: By how many times a surface that dominates nowhere has to be likelier than clutter to count as one in "expected".
LIKELIER = 10.0
#: Share of the rewards, and one reward, beyond which a surface is no clutter whatever it looks like: outliers are rare.
RARE = 0.25
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
    >>> from infgp.core.priors import Priors
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
class Blend:
    """How much each surface counts at every x, given one state: weights of the occupied ones, then of a new one.

    With the urn's weights w_l(x), which see x where surfaces have a place, they are w ("mean"); one for the occupied
    surface with the largest w ("main"); or one for the surface at which the running sum of w passes `level` ("surface":
    each with its probability, over a uniform level, and the same one wherever the weights are the same). They are
    constant between jumps, since w depends on which observations are nearest: gradients do not see them.

    For the target "expected" only occupied surfaces count, and among these some are *clutter*: they are rare, dominate
    nowhere, and noise of their own size about a constant explains their members as well as a surface does. Clutter is
    set aside, its share of the weight given to the surface that dominates: rewards that fit no surface say nothing of
    where the others are best. In "mean", a few of them are a bumpy surface that does. But a third of all rewards is not
    set aside: it may be most of what there is to expect, and only not known well enough yet to look like a surface.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> model, one = Model("se", Priors().resolve(1), ard=False), np.ones(1)
    >>> state = State(np.array([0, 0, 1]), np.zeros(2), 1.0, np.ones((1, 1)), one, one)
    >>> data = Data(np.array([[0.1], [0.2], [0.9]]), np.zeros(3))
    >>> Blend(state, data, model, "mean")(np.array([[0.5]])), Blend(state, data, model, "main")(np.array([[0.5]]))
    (array([[0.5 , 0.25, 0.25]]), array([[1., 0., 0.]]))
    """

    state: State
    data: Data
    model: Model
    target: str
    level: float = 0.5

    def __call__(self, at: FloatArray) -> FloatArray:
        """Weights at the rows of `at`, shape (m, K + 1)."""
        if self.target == "main":
            chosen = main_labels(self.state, self.data, self.model, at)
        else:
            weights = urn_weights(self.state, self.data, self.model, at)
            if self.target == "mean":
                return weights
            if self.target == "expected":
                return self._without_clutter(weights)
            passed = np.cumsum(weights, axis=1)[:, :-1] > self.level
            chosen = np.where(passed.any(axis=1), passed.argmax(axis=1), weights.shape[1] - 1)
        return np.asarray(chosen[:, None] == np.arange(self.state.n_surfaces + 1), dtype=np.float64)

    def _without_clutter(self, weights: FloatArray) -> FloatArray:
        """These weights with those of clutter, and of a new surface, given to the surface that dominates."""
        weights[:, [*self.clutter, -1]] = 0.0
        share = np.isin(self.state.labels, self.clutter).mean()
        weights *= (1.0 - share) / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        weights[np.arange(weights.shape[0]), np.argmax(weights, axis=1)] += share
        return weights

    @cached_property
    def clutter(self) -> list[int]:
        """Labels of the surfaces that count as clutter; none unless the target is "expected"."""
        state, data, model = replace(self.state, scale=np.ones(1)), self.data, self.model
        if self.target != "expected" or state.n_surfaces == 1:
            return []
        r = data.y - data.h @ state.beta

        def gain(surface: Surface) -> float:
            return log_evidence(surface, r, data, model) - log_evidence(flat(surface), r, data, model)

        rare = np.flatnonzero(np.bincount(state.labels) <= 1.0 + RARE * state.labels.size)
        others = set(rare.tolist()) - set(main_labels(state, data, model, data.x).tolist())
        return [label for label in sorted(others) if gain(state.surface(label)) < math.log(LIKELIER)]

    def labels(self) -> list[int]:
        """Surfaces that count somewhere."""
        if self.model.local:
            every = range(self.state.n_surfaces + (self.target in ("mean", "surface")))
            return [label for label in every if label not in self.clutter]
        return [int(label) for label in np.flatnonzero(self(self.data.x[:1])[0])]


def flat(surface: Surface) -> Surface:
    """A constant with noise about it that is as large as the constant's own variance."""
    return replace(surface, phi=np.zeros_like(surface.phi), tau2=surface.sigma2)


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
    blend: Callable[[FloatArray], FloatArray] = _no_weights
    surfaces: dict[int, SurfacePath] = field(default_factory=dict)

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        value, weights = trend(at) @ self.beta, self.blend(at)
        for label, path in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            value[here] += weights[here, label] * path(at[here])
        return np.asarray(value)

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        value, gradient = trend(at) @ self.beta, np.tile(self.beta[1:], (at.shape[0], 1))
        weights = self.blend(at)
        for label, path in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            v, g = path.value_and_gradient(at[here])
            value[here] += weights[here, label] * v
            gradient[here] += weights[here, label][:, None] * g
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
    target : {"expected", "main", "mean", "surface"}
        The expected reward, clutter set aside; the surface that dominates; the sum of all surfaces, each with the
        urn's weight; or one of them, l with the urn's probability or a new one. See :class:`Blend`.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("matern52", Priors().resolve(1), ard=False)
    >>> path = draw_path(rng, prior_draw(rng, x, model), Data(x, np.zeros(6)), model, "mean")
    >>> path(x).shape
    (6,)
    """
    r = data.y - data.h @ state.beta
    blend = Blend(state, data, model, target, rng.random() if target == "surface" else 0.5)
    paths = {label: draw_surface_path(rng, state.surface(label), r, data, model) for label in blend.labels()}
    return Path(state.beta, blend, paths)
