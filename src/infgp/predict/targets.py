"""A weighted sum of the surfaces, and its law given one state.

Given one state, the target is Gaussian at every x with mean h(x)ᵀβ + Σ_l w_l(x) μ_l(x) and variance Σ_l w_l(x)² v_l(x):
the laws of the surfaces that make it up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.core.memory import Memory
from infgp.core.model import trend
from infgp.core.state import FLAT, Surface, most_flat
from infgp.core.surface import Conditional, Conditioned

#: Ratio of evidence, surface to flat surface, from which a rare surface that dominates nowhere counts in "expected"
#: under models in which no surface is flat.
LIKELIER = 10.0
#: Variance below which the target at a point counts as known, in squared standard units.
LEAST_VARIANCE = 1e-12

#: Of each surface, by its label, what `Conditional.solved` says of some points.
Solved: TypeAlias = Mapping[int, tuple[FloatArray, FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class TargetWeights:
    """How much each surface counts at every x, given one state: weights of the occupied surfaces, then of a new one.

    Let w_l(x) be the urn's weights, which depend on x where surfaces have a place.

    - "mean": the weights are w.
    - "main": the weight is 1 for the occupied surface with the largest w.
    - "surface": the weight is 1 for the surface at which the running sum of w passes `level`. Over a uniform level each
      surface is chosen with its probability, and the same surface is chosen wherever the weights are the same.
    - "expected": w without *clutter* and without a new surface. Clutter are surfaces that are rare, dominate nowhere
      and are flat: a constant with noise of its own size. Where the model has no flat surfaces, those count whose
      members a flat one would explain about as well. The share of the rewards that is clutter is given to the surface
      that dominates.

    Clutter is set aside because it says nothing of where other rewards are best, and as a bumpy surface of few members
    it would mislead. A third of all rewards is never clutter: it may be most of what there is to expect, and only not
    be known well enough yet to look like a surface.

    The weights are constant between jumps, since w depends on which observations are nearest: gradients are taken with
    the weights held.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model
    >>> from infgp.core.state import State
    >>> from infgp.core.priors import Priors
    >>> model, one = Model("se", Priors().resolve(1), ard=False), np.ones(1)
    >>> state = State(np.array([0, 0, 1]), np.zeros(2), 1.0, np.ones((1, 1)), one, one)
    >>> given = Conditioned(state, Data(np.array([[0.1], [0.2], [0.9]]), np.zeros(3)), model)
    >>> TargetWeights(given, "mean")(np.array([[0.5]])), TargetWeights(given, "main")(np.array([[0.5]]))
    (array([[0.5 , 0.25, 0.25]]), array([[1., 0., 0.]]))
    """

    given: Conditioned
    target: str
    level: float = 0.5

    def __call__(self, at: FloatArray) -> FloatArray:
        """Weights at the rows of `at`, shape (m, K + 1)."""
        if self.target == "main":
            chosen = self.given.main_labels(at)
        else:
            weights = self.urn(at)
            if self.target == "mean":
                return weights
            if self.target == "expected":
                return self._without_clutter(weights)
            passed = np.cumsum(weights, axis=1)[:, :-1] > self.level
            chosen = np.where(passed.any(axis=1), passed.argmax(axis=1), weights.shape[1] - 1)
        return np.asarray(chosen[:, None] == np.arange(self.given.state.n_surfaces + 1), dtype=np.float64)

    def urn(self, at: FloatArray) -> FloatArray:
        """The urn's weights at the rows of `at`, shape (m, K + 1), remembered for the last questions."""
        return self._urn(at, lambda: self.given.urn_weights(at))

    @cached_property
    def _urn(self) -> Memory[FloatArray]:
        return Memory()

    def _without_clutter(self, weights: FloatArray) -> FloatArray:
        """The weights, where the weight of clutter and of a new surface is given to the surface that dominates."""
        weights = weights.copy()
        weights[:, [*self.clutter, -1]] = 0.0
        share = self.clutter_share
        weights *= (1.0 - share) / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        weights[np.arange(weights.shape[0]), np.argmax(weights, axis=1)] += share
        return weights

    @cached_property
    def clutter_share(self) -> float:
        """Share of the observations that is clutter."""
        labels = self.given.state.labels
        return float(np.mean(np.isin(labels, self.clutter) * np.exp(self.given.log_shares)[labels]))

    @cached_property
    def clutter(self) -> list[int]:
        """Labels of the surfaces that count as clutter; none unless the target is "expected"."""
        given, state = self.given, self.given.state
        if self.target != "expected" or state.n_surfaces == 1:
            return []

        def gain(label: int) -> float:
            alone = flat(given.plain(label).surface)
            constant = Conditional.of(alone, given.residual, given.data, given.model.at(given.state))
            return given.log_evidence(label) - constant.log_evidence(given.model.scale_shape)

        rare = np.flatnonzero(np.bincount(state.labels) <= most_flat(state.labels.size))
        others = set(rare.tolist()) - set(given.main_labels(given.data.x).tolist())
        if given.model.flat:
            return sorted(others.intersection(state.labels[state.observed_grades == FLAT].tolist()))
        return [label for label in sorted(others) if gain(label) < math.log(LIKELIER)]

    def labels(self) -> list[int]:
        """Surfaces that count somewhere."""
        if self.given.model.local or len(self.given.model.odds) > 1:
            every = range(self.given.state.n_surfaces + (self.target in ("mean", "surface")))
            return [label for label in every if label not in self.clutter]
        return [int(label) for label in np.flatnonzero(self(self.given.data.x[:1])[0])]


def flat(surface: Surface) -> Surface:
    """A constant with noise about it that is as large as the constant's own variance."""
    return replace(surface, phi=np.zeros_like(surface.phi), tau2=surface.sigma2)


@dataclass(frozen=True, eq=False)
class TargetLaw:
    """Gaussian law of the target at every x, given one state: trend and weighted sum of the surfaces.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> law = TargetLaw.of(Conditioned(prior_draw(rng, x, model), Data(x, np.zeros(6)), model), "mean")
    >>> mean, variance = law(x)
    >>> mean.shape, bool((variance > 0).all())
    ((6,), True)
    """

    beta: FloatArray
    weights: TargetWeights
    surfaces: dict[int, Conditional]

    @classmethod
    def of(cls, given: Conditioned, target: str) -> TargetLaw:
        """The law of the target "expected", "main" or "mean"."""
        weights = TargetWeights(given, target)
        return cls(given.state.beta, weights, {label: given.surface(label) for label in weights.labels()})

    @property
    def noise(self) -> FloatArray:
        """Noise variance about each surface, and about a new one, shape (K + 1,)."""
        return self.weights.given.noise

    def solved(self, at: FloatArray) -> Solved:
        """What the surfaces that count somewhere say of the rows of `at`, whether or not they count there."""
        return {label: law.solved(at) for label, law in self.surfaces.items()}

    def parts(
        self, at: FloatArray, solved: Solved | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Weights, means and variances of the surfaces, trend included, and noise about them, shapes (m, K + 1).

        Surfaces that do not count have weight, variance and mean zero, but for the trend. What :meth:`solved` says of
        the points may be given, so that it is not found again.
        """
        weights = self.weights(at)
        means, variances = np.zeros(weights.shape), np.zeros(weights.shape)
        for label, law in self.surfaces.items():
            here = weights[:, label] != 0.0
            mean, variance = law(at[here]) if solved is None else (part[here] for part in solved[label][:2])
            means[here, label], variances[here, label] = mean, variance
        return weights, means + (trend(at) @ self.beta)[:, None], variances, self.weights.given.noise_at(at)

    def middles(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights and means of :meth:`parts`: without variances there are no triangular systems to solve."""
        weights = self.weights(at)
        means = np.zeros(weights.shape)
        for label, law in self.surfaces.items():
            here = weights[:, label] != 0.0
            means[here, label] = law.mean(at[here])
        return weights, means + (trend(at) @ self.beta)[:, None]

    def slopes(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradients of the means and variances of the surfaces, trend included, shapes (m, K + 1, d)."""
        weights = self.weights(at)
        d_means, d_variances = (np.zeros((*weights.shape, at.shape[1])) for _ in range(2))
        for label, law in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            d_means[here, label], d_variances[here, label] = law.with_gradients(at[here])[2:]
        return d_means + self.beta[1:], d_variances

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance, shapes (m,)."""
        weights, means, variances, _ = self.parts(at)
        variance = np.einsum("ij,ij->i", weights**2, variances)
        return np.einsum("ij,ij->i", weights, means), np.maximum(variance, LEAST_VARIANCE)

    def mean(self, at: FloatArray) -> FloatArray:
        """Mean, shape (m,)."""
        mean, weights = trend(at) @ self.beta, self.weights(at)
        for label, law in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            mean[here] += weights[here, label] * law.mean(at[here])
        return np.asarray(mean)

    def with_gradients(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean, variance, shapes (m,), and their gradients, shapes (m, d)."""
        weights, variance = self.weights(at), np.zeros(at.shape[0])
        mean = trend(at) @ self.beta
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
        mean, signed = self.mean(at), self.weights(at) * [[1.0], [-1.0]]
        parts = [signed[:, label] @ law.joint(at)[1] @ signed[:, label] for label, law in self.surfaces.items()]
        return float(mean[0] - mean[1]), max(float(sum(parts)), 0.0)
