"""What a search looks for: a weighted sum of the surfaces, with its law given one state and its mean over states.

Given one state, the target is Gaussian at every x with mean h(x)ᵀβ + Σ_l w_l(x) μ_l(x) and variance Σ_l w_l(x)² v_l(x):
the laws of the surfaces that make it up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.core.model import Surface, trend
from infgp.core.surface import Conditional, Conditioned

#: Values of the option `target`; docs/glossary.md says when to use which.
TARGETS = ("expected", "main", "mean", "surface")
#: Ratio of evidence, surface to clutter, from which a rare surface that dominates nowhere counts in "expected".
LIKELIER = 10.0
#: Largest share of the rewards that clutter may hold; one reward more than that share is still allowed.
RARE = 0.25
#: Variance below which the target at a point counts as known, in squared standard units.
LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class TargetWeights:
    """How much each surface counts at every x, given one state: weights of the occupied surfaces, then of a new one.

    Let w_l(x) be the urn's weights, which depend on x where surfaces have a place.

    - "mean": the weights are w.
    - "main": the weight is 1 for the occupied surface with the largest w.
    - "surface": the weight is 1 for the surface at which the running sum of w passes `level`. Over a uniform level each
      surface is chosen with its probability, and the same surface is chosen wherever the weights are the same.
    - "expected": w without *clutter* and without a new surface. Clutter are surfaces that are rare, dominate nowhere,
      and whose members are explained about as well by noise of their own size about a constant. The share of the
      rewards that is clutter is given to the surface that dominates.

    Clutter is set aside because it says nothing of where other rewards are best, and as a bumpy surface of few members
    it would mislead. A third of all rewards is never clutter: it may be most of what there is to expect, and only not
    be known well enough yet to look like a surface.

    The weights are constant between jumps, since w depends on which observations are nearest: gradients are taken with
    the weights held.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, State
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
            weights = self.given.urn_weights(at)
            if self.target == "mean":
                return weights
            if self.target == "expected":
                return self._without_clutter(weights)
            passed = np.cumsum(weights, axis=1)[:, :-1] > self.level
            chosen = np.where(passed.any(axis=1), passed.argmax(axis=1), weights.shape[1] - 1)
        return np.asarray(chosen[:, None] == np.arange(self.given.state.n_surfaces + 1), dtype=np.float64)

    def _without_clutter(self, weights: FloatArray) -> FloatArray:
        """The weights, where the weight of clutter and of a new surface is given to the surface that dominates."""
        weights[:, [*self.clutter, -1]] = 0.0
        share = np.isin(self.given.state.labels, self.clutter).mean()
        weights *= (1.0 - share) / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        weights[np.arange(weights.shape[0]), np.argmax(weights, axis=1)] += share
        return weights

    @cached_property
    def clutter(self) -> list[int]:
        """Labels of the surfaces that count as clutter; none unless the target is "expected"."""
        given, state = self.given, self.given.state
        if self.target != "expected" or state.n_surfaces == 1:
            return []

        def gain(label: int) -> float:
            alone = flat(given.plain(label).surface)
            constant = Conditional.of(alone, given.residual, given.data, given.model)
            return given.log_evidence(label) - constant.log_evidence(given.model.scale_shape)

        rare = np.flatnonzero(np.bincount(state.labels) <= 1.0 + RARE * state.labels.size)
        others = set(rare.tolist()) - set(given.main_labels(given.data.x).tolist())
        return [label for label in sorted(others) if gain(label) < math.log(LIKELIER)]

    def spread(self, at: FloatArray, weights: FloatArray, means: FloatArray) -> FloatArray:
        """Variance of Σ_l w_l μ_l through what is not known of the weights w, shape (m,); `means` are μ, (m, K + 1)."""
        given = self.given
        if self.target != "mean" or len(given.model.odds) == 1 or given.state.n_surfaces == 1:
            return np.zeros(at.shape[0])
        likely, chances, spread = given.odds_at(at)
        factor = weights[:, :-1] / np.einsum("k,kml->ml", likely, chances)  # of places
        by_kind = chances * factor
        by_kind /= by_kind.sum(axis=2, keepdims=True)
        middle = np.einsum("kml,ml->km", by_kind, means[:, :-1])
        square = np.einsum("kml,ml->km", by_kind, means[:, :-1] ** 2)
        within = likely @ (spread * np.maximum(square - middle**2, 0.0))
        return np.asarray(within + likely @ (middle - likely @ middle) ** 2)

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

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance, shapes (m,)."""
        weights, variance = self.weights(at), np.zeros(at.shape[0])
        means = np.zeros(weights.shape)
        for label, law in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            means[here, label], v = law(at[here])
            variance[here] += weights[here, label] ** 2 * v
        variance += self.weights.spread(at, weights, means)
        return trend(at) @ self.beta + np.sum(weights * means, axis=1), np.maximum(variance, LEAST_VARIANCE)

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
        means = np.zeros(weights.shape)
        d_mean, d_variance = np.tile(self.beta[1:], (at.shape[0], 1)), np.zeros(at.shape)
        for label, law in self.surfaces.items():
            here = np.flatnonzero(weights[:, label])
            w = weights[here, label]
            means[here, label], v, d_m, d_v = law.with_gradients(at[here])
            variance[here] += w * w * v
            d_mean[here] += w[:, None] * d_m
            d_variance[here] += (w * w)[:, None] * d_v
        variance += self.weights.spread(at, weights, means)
        mean = trend(at) @ self.beta + np.sum(weights * means, axis=1)
        known = variance <= LEAST_VARIANCE
        d_variance[known] = 0.0
        return mean, np.where(known, LEAST_VARIANCE, variance), d_mean, d_variance

    def difference(self, a: FloatArray, b: FloatArray) -> tuple[float, float]:
        """Mean and variance of the target at point a less that at point b."""
        at = np.array([a, b])
        weights, means = self.weights(at), np.zeros((2, self.weights.given.state.n_surfaces + 1))
        for label, law in self.surfaces.items():
            means[:, label] = law.mean(at)
        mean, signed = self.mean(at), weights * [[1.0], [-1.0]]
        parts = [signed[:, label] @ law.joint(at)[1] @ signed[:, label] for label, law in self.surfaces.items()]
        if (at[0] != at[1]).any():  # as if the chances at a and b had nothing in common
            parts.append(self.weights.spread(at, weights, means).sum())
        return float(mean[0] - mean[1]), max(float(sum(parts)), 0.0)


@dataclass(frozen=True, eq=False)
class MeanTarget:
    """Mean of the target over states, as a score to maximise.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model, data = Model("se", Priors().resolve(1), ard=False), Data(x, np.zeros(6))
    >>> target = MeanTarget.of([Conditioned(prior_draw(rng, x, model), data, model)], "main")
    >>> target.difference(x[0], x[0])
    (0.0, 0.0)
    """

    laws: tuple[TargetLaw, ...]

    @classmethod
    def of(cls, draws: Sequence[Conditioned], target: str) -> MeanTarget:
        """The target over some states."""
        return cls(tuple(TargetLaw.of(given, target) for given in draws))

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        return np.asarray(np.mean([law.mean(at) for law in self.laws], axis=0))

    def moments(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of the target and its standard deviation, within states and between them, shapes (m,)."""
        means, variances = np.moveaxis(np.array([law(at) for law in self.laws]), 1, 0)
        return means.mean(axis=0), np.sqrt(variances.mean(axis=0) + means.var(axis=0))

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        parts = [law.with_gradients(at) for law in self.laws]
        return np.mean([p[0] for p in parts], axis=0), np.mean([p[2] for p in parts], axis=0)

    def difference(self, a: FloatArray, b: FloatArray) -> tuple[float, float]:
        """Mean and standard deviation, over states, of the target at point a less that at point b."""
        means, variances = np.array([law.difference(a, b) for law in self.laws]).T
        return float(means.mean()), math.sqrt(variances.mean() + means.var())
