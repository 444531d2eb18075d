"""The formulas of a Gaussian process in plain NumPy, for tests."""

from dataclasses import replace

import numpy as np

from infgp.core.model import Data, Model
from infgp.core.partition import canonical
from infgp.core.priors import Priors
from infgp.core.scaling import RewardScale
from infgp.core.state import State
from infgp.sample.compiled import ROUGHER
from infgp.search.learning import Learned, Series, WarmChain


def rho(kernel, x, z, phi):
    """Correlations, shape (n, m), from the definition."""
    q = np.sum(phi * (x[:, None, :] - z[None, :, :]) ** 2, axis=2)
    if kernel == "se":
        return np.exp(-q)
    r = np.sqrt(2.0 * q)
    if kernel == "matern32":
        return (1.0 + np.sqrt(3.0) * r) * np.exp(-np.sqrt(3.0) * r)
    return (1.0 + np.sqrt(5.0) * r + 5.0 / 3.0 * r**2) * np.exp(-np.sqrt(5.0) * r)


def kriging(kernel, x, r, phi, sigma2, tau2, at):
    """Mean, shape (m,), and covariance, shape (m, m), of a surface at `at`, given residuals r at x."""
    gain = sigma2 * rho(kernel, at, x, phi) @ np.linalg.inv(sigma2 * rho(kernel, x, x, phi) + tau2 * np.eye(len(x)))
    return gain @ r, sigma2 * (rho(kernel, at, at, phi) - gain @ rho(kernel, x, at, phi))


def target_law(state, data, kernel, target, at, weights=None, clutter=()):
    """Mean and covariance of the target "main", "mean" or "expected" at `at`, given one state with canonical labels.

    The weights of the surfaces, shape (m, K + 1), are the urn's if not given; `clutter` lists those that do not count.
    """
    counts = np.bincount(state.labels)
    if weights is None:
        weights = np.tile(np.append(counts, state.nu) / (counts.sum() + state.nu), (len(at), 1))
    if target == "main":
        weights = np.eye(counts.size + 1)[np.argmax(weights[:, :-1], axis=1)]
    if target == "expected":
        weights = weights * ~np.isin(np.arange(counts.size + 1), [*clutter, counts.size])
        share = np.isin(state.labels, clutter).mean()
        weights *= (1.0 - share) / weights.sum(axis=1, keepdims=True)
        weights += share * np.eye(counts.size + 1)[np.argmax(weights, axis=1)]
    level = state.beta[0] + at @ state.beta[1:]
    r = data.y - state.beta[0] - data.x @ state.beta[1:]
    scale, grade = (np.broadcast_to(v, counts.size + 1) for v in (state.scale, state.grade))
    mean, covariance = level, np.zeros((len(at), len(at)))
    for label, (w, s, g) in enumerate(zip(weights.T, scale, grade, strict=True)):
        own = state.labels == label
        phi = state.phi[0] * ROUGHER ** (2.0 * g)
        m, c = kriging(kernel, data.x[own], r[own], phi, s * state.sigma2[0], s * state.tau2[0], at)
        mean, covariance = mean + w * m, covariance + np.outer(w, w) * c
    return mean, covariance


def central_differences(f, at, step=1e-5):
    """Gradients, shape (m, d), of a function of the rows of `at`."""
    steps = step * np.eye(at.shape[1])
    return np.column_stack([(f(at + e) - f(at - e)) / (2.0 * step) for e in steps])


def learned_from(states, data, model, failed=None):
    """What a search knows, from states and data in the model's units."""
    none = np.empty((0, data.x.shape[1]))
    series = Series(data.x, data.y, data.noise, none if failed is None else failed)
    return Learned(series, WarmChain(tuple(states), data.y.size, RewardScale(0.0, 1.0)), model)


def regional_case():
    """Thirty observations, on the left one surface and on the right another, and a third strewn over both."""
    rng = np.random.default_rng(5)
    x = rng.random((30, 2))
    x[:, 0] = np.where(x[:, 0] < 0.5, 0.7 * x[:, 0], 1.0 - 0.7 * (1.0 - x[:, 0]))  # a gap between them
    labels = np.where(x[:, 0] < 0.5, 0, 1)
    labels[[4, 11, 20]] = 2
    data = Data(x, rng.normal(size=30) + 2.0 * labels)
    one = np.ones(1)
    state = State(canonical(labels), rng.normal(size=3), 0.6, np.array([[2.0, 0.7]]), 1.8 * one, 0.15 * one)
    state = replace(state, scale=np.array([0.6, 3.0, 1.7, 2.5]), grade=np.array([0, 1, 0, 2]))
    return state, data, Model("se", Priors().resolve(2), ard=True, scale_shape=2.0, local=0.5, grades=(0.5, 0.3, 0.2))
