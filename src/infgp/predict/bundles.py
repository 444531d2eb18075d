"""Many functions drawn at once from one state: what probabilities about the best point are made of.

A single path (:mod:`infgp.predict.paths`) has random features of its own. The paths of a bundle share the frequencies
and phases of their features, and have amplitudes of their own: the costly cosines, and the correlations with the data,
are computed once for all of them. Over bundles, mean and covariance of a path are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infgp.core.kernels import correlation_and_slope, spectral_draw
from infgp.core.linalg import FloatArray
from infgp.core.model import trend
from infgp.core.partition import IntArray
from infgp.core.remainder import Remainder
from infgp.core.surface import Conditional, Conditioned, pull
from infgp.predict.functionals import Aim, Functional
from infgp.predict.mixture import Mixture
from infgp.predict.objectives import ObjectiveLaw
from infgp.predict.paths import FEATURES, DrawnSurface


class SurfaceBundle(DrawnSurface):
    """S draws of one surface."""

    def rows(self, at: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Value of draw `which[i]` at row i of `at`, shape (m,), and its gradient, shape (m, d)."""
        angle, amplitude = at @ self.omega.T + self.phase, self.amplitude.T[which]
        value = np.einsum("ij,ij->i", np.cos(angle), amplitude)
        gradient = -(np.sin(angle) * amplitude) @ self.omega
        if self.x.size:
            rho, slope = correlation_and_slope(self.kernel, at, self.x, self.phi)
            coefficient = self.coefficient.T[which]
            value += np.einsum("ij,ij->i", rho, coefficient)
            gradient += pull(slope * coefficient, at, self.x, self.phi)
        return value, gradient


def draw_surface_bundle(rng: np.random.Generator, law: Conditional, size: int) -> SurfaceBundle:
    """Draws of one surface given its members' residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model
    >>> from infgp.core.state import Surface
    >>> from infgp.core.priors import Priors
    >>> data, model = Data(np.array([[0.5]]), np.array([5.0])), Model("se", Priors().resolve(1), ard=False)
    >>> law = Conditional.of(Surface(np.array([0]), np.array([3.0]), 1.0, 1e-8), data.y, data, model)
    >>> draw_surface_bundle(np.random.default_rng(0), law, 3)(np.array([[0.5]])).round(1)
    array([[5., 5., 5.]])
    """
    sigma2, phi, members = law.surface.sigma2, law.surface.phi, law.residual.size
    omega = spectral_draw(rng, law.kernel, phi, FEATURES)
    phase = rng.uniform(0.0, 2.0 * np.pi, FEATURES)
    amplitude = np.sqrt(2.0 * sigma2 / FEATURES) * rng.standard_normal((FEATURES, size))
    coefficient = np.empty((0, size))
    if members:
        prior = np.cos(law.x @ omega.T + phase) @ amplitude
        noise = law.draw_noise(rng, size)
        coefficient = sigma2 * law.solve(law.residual[:, None] - prior - noise)
    return SurfaceBundle(law.kernel, phi, omega, phase, amplitude, law.x, coefficient)


@dataclass(frozen=True, eq=False)
class RestBundle:
    """S draws of what the surfaces leave over (:mod:`infgp.core.remainder`): of each, one pattern, or a constant.

    Attributes
    ----------
    centre : array, shape (S,)
        The constant of each draw; 0 for one that has a pattern.
    patterns : tuple of (array of int, SurfaceBundle)
        For each length-scale, the indices of the draws whose pattern has it, and the draws.
    """

    centre: FloatArray
    patterns: tuple[tuple[IntArray, SurfaceBundle], ...] = ()

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values of all draws at the rows of `at`, shape (m, S)."""
        out = np.tile(self.centre, (at.shape[0], 1))
        for draws, bundle in self.patterns:
            out[:, draws] = bundle(at)
        return out

    def rows(self, at: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Value of draw `which[i]` at row i of `at`, shape (m,), and its gradient, shape (m, d)."""
        value, gradient = self.centre[which], np.zeros(at.shape)
        for draws, bundle in self.patterns:
            here = np.flatnonzero(np.isin(which, draws))
            value[here], gradient[here] = bundle.rows(at[here], np.searchsorted(draws, which[here]))
        return value, gradient


def draw_rest_bundle(rng: np.random.Generator, left: Remainder, missed: FloatArray, size: int) -> RestBundle:
    """Draws of what the surfaces leave over, each a pattern by its probability and a path of it.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.remainder import Patterns
    >>> x = np.linspace(0.0, 1.0, 60)[:, None]
    >>> missed = np.sin(9.0 * x[:, 0])
    >>> drawn = draw_rest_bundle(np.random.default_rng(0), Remainder.of(Patterns(x), missed), missed, 5)
    >>> bool(np.abs(drawn(x).T - missed).max() < 0.5)
    True
    """
    every = [(shape, j) for shape in left.shapes for j in range(shape.chance.size)]
    chances = np.array([left.flat, *(shape.chance[j] for shape, j in every)])
    chosen = rng.choice(chances.size, size, p=chances / chances.sum()) - 1
    constant = left.centre + np.sqrt(left.spread) * rng.standard_normal(size)
    lengths = np.array([every[k][0].length if k >= 0 else -1 for k in chosen])
    x, patterns = left.patterns.x, []
    for length in np.unique(lengths[lengths >= 0]).tolist():
        draws = np.flatnonzero(lengths == length)
        (shape, _), j = every[chosen[draws[0]]], [every[k][1] for k in chosen[draws]]
        strength, noise, vectors = shape.strength[j], shape.noise[j], left.patterns.spectra[1][length]
        phi = np.full(x.shape[1], 1.0 / left.patterns.root(length) ** 2)
        omega, phase = spectral_draw(rng, "se", phi, FEATURES), rng.uniform(0.0, 2.0 * np.pi, FEATURES)
        amplitude = np.sqrt(2.0 * strength * noise / FEATURES) * rng.standard_normal((FEATURES, draws.size))
        prior = np.cos(x @ omega.T + phase) @ amplitude
        gap = missed[:, None] - prior - np.sqrt(noise) * rng.standard_normal(prior.shape)
        coefficient = strength * (vectors @ (shape.shrunk[:, j] * (vectors.T @ gap)))
        patterns.append((draws, SurfaceBundle("se", phi, omega, phase, amplitude, x, coefficient)))
    return RestBundle(np.where(lengths < 0, constant, 0.0), tuple(patterns))


@dataclass(frozen=True, eq=False)
class Bundle:
    """S draws of an objective given one state.

    Attributes
    ----------
    law : ObjectiveLaw
    surfaces : dict of int to SurfaceBundle
        By the labels of the surfaces that count.
    rests : RestBundle
    """

    law: ObjectiveLaw
    surfaces: dict[int, SurfaceBundle]
    rests: RestBundle

    @property
    def size(self) -> int:
        """Number of draws."""
        return self.rests.centre.size

    def __call__(self, at: FloatArray) -> FloatArray:
        """All draws at the rows of `at`, shape (m, S): in the user's units, with the sign that makes larger better."""
        weights, size = self.law.base.weights(at), self.size
        values = np.zeros((at.shape[0], size, weights.shape[1]))
        for label, surface in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            values[here, :, label] = surface(at[here])
        values += (trend(at) @ self.law.base.beta)[:, None, None]
        noise = self.law.base.weights.given.noise_at(at)
        weights, noise = (np.repeat(part, size, axis=0) for part in (weights, noise))
        found = self._functional(weights, values.reshape(weights.shape), noise, self.rests(at).ravel())
        return _natural(self.law.aim, found.value).reshape(at.shape[0], size)

    def at_rows(self, at: FloatArray, which: IntArray) -> FloatArray:
        """Draw `which[i]` at row i of `at`, shape (m,), in the units of a call."""
        return _natural(self.law.aim, self._rows(at, which)[0].value)

    def rows(self, at: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Draw `which[i]` at row i of `at`, shape (m,), and its gradient, in the units in which points are compared."""
        found, gradient = self._rows(at, which)
        return self.law.aim.to_search(found.value), gradient

    def _rows(self, at: FloatArray, which: IntArray) -> tuple[Functional, FloatArray]:
        """The functional at rows, and its gradient in the units in which points are compared, shape (m, d)."""
        weights, beta = self.law.base.weights(at), self.law.base.beta
        values, slopes = np.zeros(weights.shape), np.zeros((*weights.shape, at.shape[1]))
        for label, surface in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            values[here, label], slopes[here, label] = surface.rows(at[here], which[here])
        rest, rest_slopes = self.rests.rows(at, which)
        values, noise = values + (trend(at) @ beta)[:, None], self.law.base.weights.given.noise_at(at)
        functional, slopes = self._functional(weights, values, noise, rest), slopes + beta[1:]
        gradient = np.einsum("ic,icd->id", functional.by_mean, slopes) + functional.by_rest[:, None] * rest_slopes
        gradient = gradient * self.law.aim.search_slope(functional.value)[:, None]
        if not self.law.plain:
            law, none = Mixture(weights, values, noise), np.zeros(values.shape)
            gradient = gradient + self.law.noise_slope(at, law, none, rest)
        return functional, gradient

    def _functional(self, weights: FloatArray, values: FloatArray, noise: FloatArray, rest: FloatArray) -> Functional:
        """The functional of drawn surfaces with the given weights, values and noise about them, shapes (m, K + 1)."""
        if self.law.plain:
            return Functional(np.einsum("ic,ic->i", weights, values), weights, np.zeros(rest.size))
        return Functional.of(self.law.aim, Mixture(weights, values, noise), np.zeros(values.shape), rest)


def _natural(aim: Aim, value: FloatArray) -> FloatArray:
    """A functional in the user's units, with the sign that makes larger better."""
    if aim.in_model_units:
        return aim.rewards.from_standard(np.clip(value, *aim.rewards.ends))
    return np.clip(value, 0.0, 1.0) if aim.objective.kind == "probability" else value


def draw_bundle(rng: np.random.Generator, given: Conditioned, aim: Aim, size: int) -> Bundle:
    """Draws of the objective given one state of the chain.

    The law that they are drawn from is that of :meth:`infgp.predict.objectives.ObjectiveLaw.natural`: surfaces, and
    what they leave over, which either depends on x or is a constant with a variance of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.predict.functionals import Objective
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("matern52", Priors().resolve(1), ard=False)
    >>> given = Conditioned(prior_draw(rng, x, model), Data(x, np.zeros(6)), model)
    >>> draw_bundle(rng, given, Aim(Objective(), RewardScale(0.0, 1.0)), 4)(x).shape
    (6, 4)
    """
    law = ObjectiveLaw.of(given, aim)
    surfaces = {label: draw_surface_bundle(rng, known, size) for label, known in law.base.surfaces.items()}
    if law.plain or law.remainder is None:
        return Bundle(law, surfaces, RestBundle(np.zeros(size)))
    return Bundle(law, surfaces, draw_rest_bundle(rng, law.remainder, law.missed, size))
