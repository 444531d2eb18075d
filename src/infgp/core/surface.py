"""A surface given its members: the one module in which a Gaussian process is conditioned.

With S the members of a surface, r_S their residuals y − h β, K = σ² ρ_SS, N = diag(τ² + v_S) and K + N = L Lᵀ, the
surface at x has mean k(x)ᵀ α, where α = (K + N)⁻¹ r_S and k(x) = σ² ρ(x_S, x), and covariance
k(x, x') − k(x)ᵀ (K + N)⁻¹ k(x'). The factor L serves predictions, drawn paths, log expected improvement and evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.special import gammaln

from infgp.core.kernels import correlation, correlation_and_slope
from infgp.core.linalg import FloatArray, cholesky, log_det, solve_cholesky, solve_lower
from infgp.core.memory import Memory
from infgp.core.model import Data, Model, by_label, covariance, grades_from_prior, log_prior
from infgp.core.noisefactor import NoiseFactor, scores
from infgp.core.partition import IntArray
from infgp.core.places import log_cohesion_ratios
from infgp.core.state import State, Surface

#: Probability below which a kind of odds is left out of predictions.
UNLIKELY = 0.01


@dataclass(frozen=True, eq=False)
class Conditional:
    """Gaussian law of one surface at every x, given its members' residuals. Without members it is the prior.

    Attributes
    ----------
    kernel : {"se", "matern52", "matern32"}
    surface : Surface
    x : array, shape (m, d)
        Inputs of the members.
    residual : array, shape (m,)
    noise : array, shape (m,)
        Noise variances of the members' rewards.
    factor : array, shape (m, m)
        L, the lower Cholesky factor of the covariance of the members' rewards.
    noise_root : array, shape (m, m), or None
        A root E of the covariance E Eᵀ of the members' noise, where that is not diagonal: members that stand for other
        observations too (:mod:`infgp.core.absorb`).

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> data, model = Data(np.array([[0.5]]), np.array([2.0])), Model("se", Priors().resolve(1), ard=False)
    >>> law = Conditional.of(Surface(np.array([0]), np.array([3.0]), 1.0, 1e-8), data.y, data, model)
    >>> mean, variance = law(np.array([[0.5], [9.0]]))
    >>> mean.round(3), variance.round(3)
    (array([2., 0.]), array([0., 1.]))
    """

    kernel: str
    surface: Surface
    x: FloatArray
    residual: FloatArray
    noise: FloatArray
    factor: FloatArray
    noise_root: FloatArray | None = None

    @classmethod
    def of(cls, surface: Surface, residual: FloatArray, data: Data, model: Model) -> Conditional:
        """From the residuals of all observations."""
        members = surface.members
        factor = cholesky(covariance(model, surface, data.x, data.noise)) if members.size else np.empty((0, 0))
        return cls(model.kernel, surface, data.x[members], residual[members], surface.noise(data.noise), factor)

    @cached_property
    def whitened(self) -> FloatArray:
        """L⁻¹ r_S, shape (m,)."""
        return solve_lower(self.factor, self.residual) if self.residual.size else self.residual

    @cached_property
    def alpha(self) -> FloatArray:
        """(K + N)⁻¹ r_S, shape (m,)."""
        return solve_lower(self.factor, self.whitened, transposed=True) if self.residual.size else self.residual

    def solve(self, b: FloatArray) -> FloatArray:
        """(K + N)⁻¹ b."""
        return solve_cholesky(self.factor, b) if b.size else b

    def without_each(self) -> tuple[FloatArray, FloatArray]:
        """Each member's reward less what the others expect of it, and the variance of that, shapes (m,).

        They are α_i / A_ii and 1 / A_ii, where A = (K + N)⁻¹.
        """
        inverse = lapack.dtrtri(self.factor, lower=1)[0]
        own = 1.0 / np.einsum("ij,ij->j", inverse, inverse)
        return self.alpha * own, own

    def cross(self, at: FloatArray) -> FloatArray:
        """k(x) for each row of `at`, shape (m, points)."""
        # In columns, as LAPACK has them: solving copies nothing then.
        return self.surface.sigma2 * correlation(self.kernel, at, self.x, self.surface.phi).T

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance at the rows of `at`, shapes (points,)."""
        return self.solved(at)[:2]

    def solved(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean and variance at the rows of `at`, shapes (points,), and L⁻¹ k(x) for each of them, (m, points)."""
        sigma2 = self.surface.sigma2
        if not self.x.size:
            return np.zeros(at.shape[0]), np.full(at.shape[0], sigma2), np.empty((0, at.shape[0]))
        cross = self.cross(at)
        half = solve_lower(self.factor, cross)
        return cross.T @ self.alpha, np.maximum(sigma2 - np.einsum("ij,ij->j", half, half), 0.0), half

    def mean(self, at: FloatArray) -> FloatArray:
        """Mean at the rows of `at`, shape (points,)."""
        return self.cross(at).T @ self.alpha if self.x.size else np.zeros(at.shape[0])

    def joint(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean, shape (points,), and covariance of the surface's values, shape (points, points)."""
        prior = self.surface.sigma2 * correlation(self.kernel, at, at, self.surface.phi)
        if not self.x.size:
            return np.zeros(at.shape[0]), prior
        cross = self.cross(at)
        v = solve_lower(self.factor, cross)
        return cross.T @ self.alpha, prior - v.T @ v

    def with_gradients(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean, variance, shapes (points,), and their gradients, shapes (points, d)."""
        sigma2, phi = self.surface.sigma2, self.surface.phi
        if not self.x.size:
            flat = np.zeros(at.shape)
            return np.zeros(at.shape[0]), np.full(at.shape[0], sigma2), flat, flat
        rho, slope = correlation_and_slope(self.kernel, at, self.x, phi)
        weights = sigma2 * self.solve(sigma2 * rho.T).T  # of the correlations, in the variance
        mean, variance = rho @ (sigma2 * self.alpha), sigma2 - np.einsum("ij,ij->i", weights, rho)
        d_mean = pull(slope * (sigma2 * self.alpha), at, self.x, phi)
        return mean, np.maximum(variance, 0.0), d_mean, -2.0 * pull(slope * weights, at, self.x, phi)

    def draw_noise(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draws of the noise of the members' rewards, shape (m, size)."""
        z = rng.standard_normal((self.residual.size, size))
        return np.asarray(np.sqrt(self.noise)[:, None] * z if self.noise_root is None else self.noise_root @ z)

    def scaled(self, surface: Surface) -> Conditional:
        """The law with the scale s of `surface`, by which σ² and all noise are multiplied."""
        own = surface.scale
        root = None if self.noise_root is None else np.sqrt(own) * self.noise_root
        noise, factor = own * self.noise, np.sqrt(own) * self.factor
        return replace(self, surface=surface, noise=noise, factor=factor, noise_root=root)

    @property
    def quadratic(self) -> float:
        """r_Sᵀ (K + N)⁻¹ r_S."""
        return float(self.whitened @ self.whitened)

    def log_evidence(self, shape: float) -> float:
        """Log density of the members' residuals: Gaussian, or Student-t where the surface has a scale of its own.

        `shape` is that of the scale's inverse gamma law, 0 for none; the scale must not have been drawn.
        """
        m, half_log_det = self.residual.size, 0.5 * log_det(self.factor)
        if not shape:
            return -0.5 * self.quadratic - half_log_det - 0.5 * m * float(np.log(2.0 * np.pi))
        half = shape + 0.5 * m
        constant = gammaln(half) - gammaln(shape) - half_log_det - 0.5 * m * np.log(2.0 * np.pi * shape)
        return float(constant - half * np.log1p(0.5 * self.quadratic / shape))


def pull(weights: FloatArray, at: FloatArray, x: FloatArray, phi: FloatArray) -> FloatArray:
    """Σ_j weights_ij · 2 φ (at_i − x_j), shape (points, d): the chain rule through the scaled squared distance."""
    return np.asarray(2.0 * phi * (at * weights.sum(axis=1)[:, None] - weights @ x))


@dataclass(frozen=True, eq=False)
class Conditioned:
    """A state of the chain together with the data it was drawn for; every surface is factorised once, when needed.

    Where rewards are warped, the data is as the state sees it (:meth:`infgp.core.model.Data.seen`).

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> given = Conditioned(prior_draw(rng, x, model), Data(x, np.zeros(6)), model)
    >>> given.surface(0) is given.surface(0)
    True
    >>> bool(np.allclose(given.urn_weights(x).sum(axis=1), 1.0))
    True
    """

    state: State
    data: Data
    model: Model
    _known: dict[int, Conditional] = field(default_factory=dict, init=False, repr=False)
    _plain: dict[int, Conditional] = field(default_factory=dict, init=False, repr=False)
    _odds: Memory[tuple[FloatArray, FloatArray, FloatArray]] = field(default_factory=Memory, init=False, repr=False)

    @cached_property
    def residual(self) -> FloatArray:
        """y − h β, shape (n,)."""
        return np.asarray(self.data.y - self.data.h @ self.state.beta)

    def plain(self, label: int) -> Conditional:
        """The surface with this label, its own scale not drawn (or one)."""
        if label not in self._plain:
            surface = replace(self.state, scale=np.ones(1)).surface(label)
            model = self.model.at(self.state)
            self._plain[label] = Conditional.of(surface, self.residual, self.data, model)
        return self._plain[label]

    def surface(self, label: int) -> Conditional:
        """The surface with this label; the label after the last is a new one, without members.

        A scale s multiplies σ², τ² and v alike, so that the factor is √s times that of the surface without it.
        """
        if label not in self._known:
            surface, plain = self.state.surface(label), self.plain(label)
            self._known[label] = plain if surface.scale == 1.0 else plain.scaled(surface)
        return self._known[label]

    def surfaces(self) -> Iterator[Conditional]:
        """The occupied surfaces in the order of their labels, then a new one."""
        return (self.surface(label) for label in range(self.state.n_surfaces + 1))

    def log_evidence(self, label: int) -> float:
        """Log density of the rewards of a surface's members."""
        return self.plain(label).log_evidence(self.model.scale_shape)

    def odds_at(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Probabilities of the kinds of odds given the labels, and what each kind says of the occupied surfaces.

        Shapes (kinds,), (kinds, m, K) and (kinds, m): the chances of the surfaces and how uncertain they are
        (:meth:`infgp.core.odds.Seating.chances`). Kinds that are improbable are left out.
        """
        return self._odds(at, lambda: self._find_odds(at))

    def _find_odds(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        parts = [self.data.seating.chances(kind, self.state.labels, at) for kind in self.kinds]
        chances, spread = (np.array(part) for part in zip(*parts, strict=True))
        return np.array(list(self.kinds.values())), chances, spread

    @cached_property
    def kinds(self) -> dict[int, float]:
        """Probabilities of the kinds of odds given the labels, without those that are improbable."""
        chances = self.data.seating.kinds(self.state.labels, self.model.odds)
        likely = np.flatnonzero(chances > UNLIKELY)
        return {int(kind): float(chances[kind] / chances[likely].sum()) for kind in likely}

    @cached_property
    def noise_factor(self) -> NoiseFactor | None:
        """By what factor noise is larger at an input than the surfaces have it; None if laws are to have it as it is.

        Each reward has its score given all others on its surface. Where observations were selected, each counts by how
        rarely one of its surface was, and a reward of known noise variance by what is left of the variance without it.
        """
        if not self.model.uneven:
            return None
        labels, laws = self.state.labels, list(self.surfaces())
        moments = [law(self.data.x) for law in laws]
        gaps = self.residual[:, None] - np.column_stack([mean for mean, _ in moments])
        noise = np.array([law.surface.tau2 for law in laws])
        variances = np.column_stack([variance for _, variance in moments]) + noise + self.data.noise[:, None]
        for label, law in enumerate(laws[:-1]):
            if law.noise_root is None:
                members = law.surface.members
                gaps[members, label], variances[members, label] = law.without_each()
        found = scores(self.urn_weights(self.data.x), gaps, np.sqrt(variances))
        own = noise[labels]
        return NoiseFactor.of(
            self.data.patterns, found, np.exp(np.minimum(self.log_shares[labels], 0.0)) * own / (own + self.data.noise)
        )

    @cached_property
    def noise(self) -> FloatArray:
        """τ² of each surface, and of a new one, shape (K + 1,)."""
        return np.array([self.state.surface(label).tau2 for label in range(self.state.n_surfaces + 1)])

    def noise_at(self, at: FloatArray) -> FloatArray:
        """Noise variance about each surface, and about a new one, at the rows of `at`, shape (m, K + 1)."""
        factor = self.noise_factor
        return np.outer(np.ones(at.shape[0]) if factor is None else factor(at), self.noise)

    @property
    def log_shares(self) -> FloatArray:
        """What is added to logarithms of the urn's weights, shape (K + 1,): 0, unless observations were selected."""
        return np.zeros(self.state.n_surfaces + 1)

    def off_main(self, some: IntArray | None = None) -> NDArray[np.bool_]:
        """Whether each observation, or each of some, lies off the main surface at its input."""
        off = self.state.labels != self.main_labels(self.data.x)
        return np.asarray(off if some is None else off[some])

    def log_urn(self, at: FloatArray) -> FloatArray:
        """Logarithms of what :meth:`urn_weights` normalises, shape (m, K + 1)."""
        state, data, model = self.state, self.data, self.model
        counts = np.bincount(state.labels)
        log_counts = np.log(np.append(counts[counts > 0], state.nu))
        if model.one_surface:
            log_counts[-1] = -np.inf
        out = np.broadcast_to(log_counts, (at.shape[0], log_counts.size))
        if len(model.odds) > 1 and log_counts.size > 2:
            likely, chances, _ = self.odds_at(at)
            shares = np.einsum("k,kml->ml", likely, chances)
            out = np.column_stack((np.log(state.labels.size * shares), out[:, -1]))
        if model.local:
            out = out + log_cohesion_ratios(state.labels, data.nearest_to(at), data.places, model.local)
        return np.asarray(out)

    def urn_weights(self, at: FloatArray) -> FloatArray:
        """Probabilities of the occupied surfaces, then of a new one, for an observation at each point; (m, K + 1)."""
        log_weights = self.log_urn(at)
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def main_labels(self, at: FloatArray) -> IntArray:
        """Label of the main surface at each point, the occupied surface with the largest weight there; shape (m,)."""
        return np.asarray(np.argmax(self.log_urn(at)[:, :-1], axis=1))


def log_likelihood(state: State, data: Data, model: Model) -> float:
    """log p(y | z, β, Θ), surfaces and their own scales integrated out; a density of rewards before the warp."""
    given = Conditioned(state, data.seen(state, model), model)
    log_slope = float(data.through(model.warps).log_slope[state.warp]) if state.warp else 0.0
    return sum(given.log_evidence(int(label)) for label in np.unique(state.labels)) + log_slope


def log_joint(state: State, data: Data, model: Model) -> float:
    """log p(y, z, β, Θ): surfaces and weights integrated out, labels by the untruncated urn.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw, simulate_y
    >>> from infgp.core.priors import Priors
    >>> rng = np.random.default_rng(0)
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> x = rng.random((5, 1))
    >>> state = prior_draw(rng, x, model)
    >>> bool(np.isfinite(log_joint(state, Data(x, simulate_y(rng, state, x, model)), model)))
    True
    """
    return log_likelihood(state, data, model) + log_prior(state, data, model)


def draw_own_scales(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """The state with scales of each surface, and scale and grade of a new one, drawn; labels must be canonical."""
    if len(model.grades) > 1:
        fresh = grades_from_prior(rng, model.grades, 1)
        state = replace(state, grade=np.append(by_label(model, state.labels, state.observed_grades), fresh))
    a = model.scale_shape
    if not a:
        return state
    given, new = Conditioned(state, data.seen(state, model), model), a / rng.standard_gamma(a)
    known = [given.plain(label) for label in range(state.n_surfaces)]
    drawn = [(a + 0.5 * s.quadratic) / rng.standard_gamma(a + 0.5 * s.residual.size) for s in known]
    return replace(state, scale=np.array([*drawn, new]))
