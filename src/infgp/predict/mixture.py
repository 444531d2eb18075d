"""The predictive distribution (paper, Proposition 1): per draw a finite mixture, over draws a mixture of mixtures.

Given one draw (z, β, Θ), a further reward at x lies on surface l with the urn's probability n_l / (ν + n), where it is
Gaussian with the kriging mean and variance from the members of l, or on a new surface with probability ν / (ν + n). The
surfaces are integrated out exactly; only (z, β, Θ) carry Monte Carlo error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri, softmax

from infgp.core.jit import jit
from infgp.core.linalg import FloatArray, cholesky
from infgp.core.memory import Memory
from infgp.core.model import Data, trend
from infgp.core.partition import IntArray, urn_sample
from infgp.core.surface import Conditioned
from infgp.errors import NumericalError

#: Largest number of steps to a root.
ROOT_STEPS = 300
#: Step below which a root counts as found, in units of the root or of the width of its bracket.
ROOT_PRECISION = 1e-14


@dataclass(frozen=True, eq=False)
class Mixture:
    """Gaussian mixtures at m points, C components each; all arrays have shape (m, C).

    Examples
    --------
    >>> import numpy as np
    >>> mix = Mixture(np.full((1, 2), 0.5), np.array([[-1.0, 1.0]]), np.full((1, 2), 0.01))
    >>> mix.mean(), mix.std().round(3), mix.quantile(np.array([0.25])).round(6)
    (array([0.]), array([1.005]), array([[-1.]]))
    """

    weights: FloatArray
    means: FloatArray
    variances: FloatArray

    @cached_property
    def expectations(self) -> Memory[tuple[FloatArray, FloatArray]]:
        """The last answers of :func:`infgp.predict.functionals.expected` for this law."""
        return Memory()

    def mean(self) -> FloatArray:
        """Mean at each point, shape (m,)."""
        return np.asarray(np.einsum("ic,ic->i", self.weights, self.means))

    def std(self) -> FloatArray:
        """Standard deviation at each point, shape (m,)."""
        spread = np.square(self.means - self.mean()[:, None]) + self.variances
        return np.asarray(np.sqrt(np.einsum("ic,ic->i", self.weights, spread)))

    def logpdf(self, y: FloatArray) -> FloatArray:
        """Log density of y[i] at point i, shape (m,)."""
        gap = y[:, None] - self.means
        log_normal = -0.5 * (gap * gap / self.variances + np.log(2.0 * np.pi * self.variances))
        return np.asarray(logsumexp(log_normal, b=self.weights, axis=1))

    def cdf(self, y: FloatArray) -> FloatArray:
        """P(reward <= y[i]) at point i, shape (m,)."""
        return _mixture_cdf(y, self.weights, self.means, np.sqrt(self.variances))

    def quantile(self, q: FloatArray) -> FloatArray:
        """Quantiles, shape (m, len(q)), by Newton's method on the exact distribution function, within a bracket.

        The quantile of a mixture lies between the smallest and the largest of its components' quantiles.
        """
        m = self.means.shape[0]
        return np.column_stack([self.quantile_at(np.full(m, level)) for level in q])

    def quantile_at(self, levels: FloatArray) -> FloatArray:
        """The quantile of level `levels[i]` at point i, shape (m,)."""
        sd = np.sqrt(self.variances)
        ends = self.means + sd * ndtri(levels)[:, None]
        found = _roots(levels, self.weights, self.means, sd, ends.min(axis=1), ends.max(axis=1))
        if not np.isfinite(found).all():
            i = int(np.argmin(np.isfinite(found)))
            raise NumericalError(
                "A quantile was not found", level=float(levels[i]), means=self.means[i].tolist(), sd=sd[i].tolist()
            )
        return np.asarray(found)


@jit()
def _roots(levels: Any, weights: Any, means: Any, sd: Any, low: Any, high: Any) -> Any:
    """Where the distribution function of each mixture reaches a level; the root is between `low` and `high`.

    Newton's method, with a bisection in every third step and wherever a step would leave the bracket. (The general
    root finder of SciPy takes ten times as long, and a search for a quantile finds millions of roots.)
    """
    out = np.empty(levels.size)
    for i in range(levels.size):
        a, b = low[i], high[i]
        x = 0.5 * (a + b)
        for step in range(ROOT_STEPS):
            value, slope = -levels[i], 0.0
            for c in range(weights.shape[1]):
                t = (x - means[i, c]) / sd[i, c]
                value += weights[i, c] * 0.5 * math.erfc(-t * math.sqrt(0.5))
                slope += weights[i, c] * math.exp(-0.5 * t * t) / (sd[i, c] * math.sqrt(2.0 * math.pi))
            if value > 0.0:
                b = x
            else:
                a = x
            to = x - value / slope if slope > 0.0 and step % 3 != 2 else a - 1.0
            if not a < to < b:
                to = 0.5 * (a + b)
            if abs(to - x) <= ROOT_PRECISION * max(abs(to), b - a):
                break
            x = to
        out[i] = x
    return out


def _mixture_cdf(y: FloatArray, weights: FloatArray, means: FloatArray, sd: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ic,ic->i", weights, ndtr((y[:, None] - means) / sd)))


def predictive(draws: Iterable[Conditioned], at: FloatArray) -> Mixture:
    """Predictive distribution of a further reward at each of the points `at`, averaged over the draws.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Model
    >>> from infgp.core.state import State
    >>> from infgp.core.priors import Priors
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> data = Data(np.array([[0.0], [1.0]]), np.array([1.0, -1.0]))
    >>> one = np.ones(1)
    >>> state = State(np.zeros(2, dtype=int), np.zeros(2), 1e-9, np.full((1, 1), 9.0), one, 1e-6 * one)
    >>> predictive([Conditioned(state, data, model)], data.x).mean().round(3)
    array([ 1., -1.])
    """
    weights, means, variances, count = [], [], [], 0
    for given in draws:
        count += 1
        level = trend(at) @ given.state.beta
        weights.append(given.urn_weights(at))
        for law, noise in zip(given.surfaces(), given.noise_at(at).T, strict=True):
            mean, variance = law(at)
            means.append(level + mean)
            variances.append(variance + noise)
    return Mixture(np.column_stack(weights) / count, np.column_stack(means), np.column_stack(variances))


def main_mixture(draws: Iterable[Conditioned], at: FloatArray) -> Mixture:
    """The dominant surface with its trend (no noise), a component for each draw.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> main_mixture([Conditioned(prior_draw(rng, x, model), Data(x, np.zeros(6)), model)], x).means.shape
    (6, 1)
    """
    means, variances = [], []
    for given in draws:
        mean, variance = np.asarray(trend(at) @ given.state.beta), np.empty(at.shape[0])
        main = given.main_labels(at)
        for label in np.unique(main):
            here = main == label
            own, variance[here] = given.surface(int(label))(at[here])
            mean[here] += own
        means.append(mean)
        variances.append(variance)
    shape = at.shape[0], len(means)
    return Mixture(np.full(shape, 1.0 / len(means)), np.column_stack(means), np.column_stack(variances))


def main_surface(draws: Iterable[Conditioned], at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation, over posterior and draws, of the dominant surface with its trend (no noise)."""
    mix = main_mixture(draws, at)
    return mix.means.mean(axis=1), np.sqrt(mix.variances.mean(axis=1) + mix.means.var(axis=1))


def off_surface_probability(draws: Sequence[Conditioned], some: IntArray | None = None) -> FloatArray:
    """Posterior probability that an observation does not lie on the main surface at its input; of all or of some."""
    return np.asarray(np.mean([given.off_main(some) for given in draws], axis=0))


def sample_rewards(rng: np.random.Generator, draws: Sequence[Conditioned], at: FloatArray) -> FloatArray:
    """One joint draw of further rewards at all points `at`: one state, labels by the urn, surfaces, noise."""
    return sample_given(rng, draws[int(rng.integers(len(draws)))], at)


def sample_given(rng: np.random.Generator, given: Conditioned, at: FloatArray) -> FloatArray:
    """One joint draw of further rewards at all points `at` given one state, in the units that its surfaces have.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> sample_given(rng, Conditioned(prior_draw(rng, x, model), Data(x, np.zeros(6)), model), x[:2]).shape
    (2,)
    """
    labels, noise = _seat(rng, given, at), given.noise_at(at)
    y = np.asarray(trend(at) @ given.state.beta)
    for label in np.unique(labels):
        here = np.flatnonzero(labels == label)
        known = min(int(label), given.state.n_surfaces)
        mean, cov = given.surface(known).joint(at[here])
        cov.flat[:: here.size + 1] += noise[here, known]
        y[here] += mean + cholesky(cov) @ rng.standard_normal(here.size)
    return y


def _seat(rng: np.random.Generator, given: Conditioned, at: FloatArray) -> IntArray:
    """Labels of further observations at the points `at`, one after the other, each given the labels before it.

    Odds that change with the input are those that the observations give: further labels do not change them.
    """
    state, data, model = given.state, given.data, given.model
    if model.one_surface:
        return np.zeros(at.shape[0], dtype=np.int64)
    if not model.local and len(model.odds) == 1:
        return urn_sample(rng, at.shape[0], state.nu, seated=state.labels)
    constant = replace(model, odds=(1.0,))
    tilt = (given.log_urn(at) - replace(given, model=constant).log_urn(at))[:, :-1]
    for k in range(at.shape[0]):
        known = Conditioned(state, Data(np.vstack((data.x, at[:k])), data.y), constant)
        log_weights = known.log_urn(at[k : k + 1])[0].copy()
        log_weights[: tilt.shape[1]] += tilt[k]
        weights = softmax(log_weights)
        state = replace(state, labels=np.append(state.labels, rng.choice(weights.size, p=weights)))
    return state.labels[data.y.size :]
