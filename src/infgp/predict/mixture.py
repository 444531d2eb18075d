"""The predictive distribution (paper, Proposition 1): per draw a finite mixture, over draws a mixture of mixtures.

Given one draw (z, β, Θ), a further reward at x lies on surface l with the urn's probability n_l / (ν + n), where it is
Gaussian with the kriging mean and variance from the members of l, or on a new surface with probability ν / (ν + n). The
surfaces are integrated out exactly; only (z, β, Θ) carry Monte Carlo error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import elementwise
from scipy.special import logsumexp, ndtr, ndtri, softmax

from infgp.core.kernels import correlation
from infgp.core.linalg import FloatArray, cholesky, solve_cholesky, solve_lower
from infgp.core.model import Data, Model, State, Surface, covariance, trend
from infgp.core.partition import IntArray, urn_sample
from infgp.core.places import log_cohesion_ratios, ties


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
        """Quantiles, shape (m, len(q)), by root finding on the exact distribution function.

        The quantile of a mixture lies between the smallest and the largest of its components' quantiles.
        """
        m, sd = self.means.shape[0], np.sqrt(self.variances)
        out = np.empty((m, q.size))
        for j, level in enumerate(q):
            ends = self.means + sd * ndtri(level)
            slack = 1e-6 * sd.max(axis=1)  # a bracket of positive width, also where all components agree
            found = elementwise.find_root(
                lambda y, i, level=level: _mixture_cdf(y, self.weights[i], self.means[i], sd[i]) - level,
                (ends.min(axis=1) - slack, ends.max(axis=1) + slack),
                args=(np.arange(m),),
            )
            out[:, j] = found.x
        return out


def _mixture_cdf(y: FloatArray, weights: FloatArray, means: FloatArray, sd: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ic,ic->i", weights, ndtr((y[:, None] - means) / sd)))


def log_urn(state: State, data: Data, model: Model, at: FloatArray) -> FloatArray:
    """Logarithms of what :func:`urn_weights` normalises, shape (m, K + 1)."""
    log_counts = np.log(np.append(np.unique(state.labels, return_counts=True)[1], state.nu))
    if not model.local:
        return np.broadcast_to(log_counts, (at.shape[0], log_counts.size))
    k = ties(*data.x.shape)
    return np.asarray(log_counts + log_cohesion_ratios(data.x, state.labels, at, k, data.places, model.local))


def urn_weights(state: State, data: Data, model: Model, at: FloatArray) -> FloatArray:
    """Probabilities of the occupied surfaces, then of a new one, for an observation at each point; shape (m, K + 1)."""
    return np.asarray(softmax(log_urn(state, data, model, at), axis=1))


def krige(
    surface: Surface, residual: FloatArray, data: Data, model: Model, at: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and variance of a surface at the points `at`, its members' noise taken into account.

    Parameters
    ----------
    surface : Surface
        No members means a new surface: mean 0 and variance σ².
    residual : array, shape (n,)
        y − h β.
    data : Data
        Inputs and known noise.
    model : Model
    at : array, shape (m, d)

    Returns
    -------
    mean, variance : arrays, shape (m,)
    """
    if surface.members.size == 0:
        return np.zeros(at.shape[0]), np.full(at.shape[0], surface.sigma2)
    factor = cholesky(covariance(model, surface, data.x, data.noise))
    cross = surface.sigma2 * correlation(model.kernel, data.x[surface.members], at, surface.phi)
    mean = cross.T @ solve_cholesky(factor, residual[surface.members])
    v = solve_lower(factor, cross)
    return mean, np.maximum(surface.sigma2 - np.einsum("ij,ij->j", v, v), 0.0)


def predictive(states: Sequence[State], data: Data, model: Model, at: FloatArray) -> Mixture:
    """Predictive distribution of a further reward at each of the points `at`, averaged over the draws.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> data = Data(np.array([[0.0], [1.0]]), np.array([1.0, -1.0]))
    >>> one = np.ones(1)
    >>> state = State(np.zeros(2, dtype=int), np.zeros(2), 1e-9, np.full((1, 1), 9.0), one, 1e-6 * one)
    >>> predictive([state], data, model, data.x).mean().round(3)
    array([ 1., -1.])
    """
    weights, means, variances = [], [], []
    for state in states:
        level = trend(at) @ state.beta
        residual = data.y - data.h @ state.beta
        weights.append(urn_weights(state, data, model, at) / len(states))
        for surface in (*state.surfaces(), state.surface(state.n_surfaces)):
            mean, variance = krige(surface, residual, data, model, at)
            means.append(level + mean)
            variances.append(variance + surface.tau2)
    return Mixture(np.column_stack(weights), np.column_stack(means), np.column_stack(variances))


def main_labels(state: State, data: Data, model: Model, at: FloatArray) -> IntArray:
    """Label of the occupied surface that dominates at each point, shape (m,)."""
    return np.asarray(np.argmax(log_urn(state, data, model, at)[:, :-1], axis=1))


def main_surface(states: Sequence[State], data: Data, model: Model, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation, over posterior and draws, of the dominant surface with its trend (no noise)."""
    means, variances = np.empty((len(states), at.shape[0])), np.empty((len(states), at.shape[0]))
    for k, state in enumerate(states):
        residual = data.y - data.h @ state.beta
        main = main_labels(state, data, model, at)
        for label in np.unique(main):
            here = main == label
            means[k, here], variances[k, here] = krige(state.surface(int(label)), residual, data, model, at[here])
        means[k] += trend(at) @ state.beta
    return means.mean(axis=0), np.sqrt(variances.mean(axis=0) + means.var(axis=0))


def off_surface_probability(states: Sequence[State], data: Data, model: Model) -> FloatArray:
    """Posterior probability of each observation not to lie on the surface that dominates there, shape (n,)."""
    return np.asarray(np.mean([s.labels != main_labels(s, data, model, data.x) for s in states], axis=0))


def sample_rewards(
    rng: np.random.Generator, states: Sequence[State], data: Data, model: Model, at: FloatArray
) -> FloatArray:
    """One joint draw of further rewards at all points `at`: one state, labels by the urn, surfaces, noise."""
    state = states[int(rng.integers(len(states)))]
    residual = data.y - data.h @ state.beta
    labels = _seat(rng, state, data, model, at)
    y = trend(at) @ state.beta
    for label in np.unique(labels):
        here = np.flatnonzero(labels == label)
        surface = state.surface(min(int(label), state.n_surfaces))
        mean, cov = _joint(surface, residual, data, model, at[here])
        y[here] += mean + cholesky(cov) @ rng.standard_normal(here.size)
    return y


def _seat(rng: np.random.Generator, state: State, data: Data, model: Model, at: FloatArray) -> IntArray:
    """Labels of further observations at the points `at`, one after the other, each given those before it."""
    if not model.local:
        return urn_sample(rng, at.shape[0], state.nu, seated=state.labels)
    for k in range(at.shape[0]):
        weights = urn_weights(state, Data(np.vstack((data.x, at[:k])), data.y), model, at[k : k + 1])[0]
        state = replace(state, labels=np.append(state.labels, rng.choice(weights.size, p=weights)))
    return state.labels[data.y.size :]


def _joint(
    surface: Surface, residual: FloatArray, data: Data, model: Model, at: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and covariance of rewards on a surface at several points."""
    everyone = Surface(np.arange(at.shape[0]), surface.phi, surface.sigma2, surface.tau2)
    cov = covariance(model, everyone, at, np.zeros(at.shape[0]))
    if surface.members.size == 0:
        return np.zeros(at.shape[0]), cov
    factor = cholesky(covariance(model, surface, data.x, data.noise))
    cross = surface.sigma2 * correlation(model.kernel, data.x[surface.members], at, surface.phi)
    v = solve_lower(factor, cross)
    return cross.T @ solve_cholesky(factor, residual[surface.members]), cov - v.T @ v
