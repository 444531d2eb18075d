"""The formulas of a Gaussian process in plain NumPy, for tests."""

import numpy as np


def rho(kernel, x, z, phi):
    """Correlations, shape (n, m), from the definition."""
    q = np.sum(phi * (x[:, None, :] - z[None, :, :]) ** 2, axis=2)
    if kernel == "se":
        return np.exp(-q)
    r = np.sqrt(2.0 * q)
    return (1.0 + np.sqrt(5.0) * r + 5.0 / 3.0 * r**2) * np.exp(-np.sqrt(5.0) * r)


def kriging(kernel, x, r, phi, sigma2, tau2, at):
    """Mean, shape (m,), and covariance, shape (m, m), of a surface at `at`, given residuals r at x."""
    gain = sigma2 * rho(kernel, at, x, phi) @ np.linalg.inv(sigma2 * rho(kernel, x, x, phi) + tau2 * np.eye(len(x)))
    return gain @ r, sigma2 * (rho(kernel, at, at, phi) - gain @ rho(kernel, x, at, phi))


def target_law(state, data, kernel, target, at):
    """Mean and covariance of the target "main" or "mean" at `at`, given one state with canonical labels."""
    counts = np.bincount(state.labels)
    if target == "main":
        weights = np.eye(counts.size + 1)[np.argmax(counts)]
    else:
        weights = np.append(counts, state.nu) / (counts.sum() + state.nu)
    level = state.beta[0] + at @ state.beta[1:]
    r = data.y - state.beta[0] - data.x @ state.beta[1:]
    scale = np.broadcast_to(state.scale, weights.size)
    mean, covariance = level, np.zeros((len(at), len(at)))
    for label, (w, s) in enumerate(zip(weights, scale, strict=True)):
        own = state.labels == label
        m, c = kriging(kernel, data.x[own], r[own], state.phi[0], s * state.sigma2[0], s * state.tau2[0], at)
        mean, covariance = mean + w * m, covariance + w**2 * c
    return mean, covariance


def central_differences(f, at, step=1e-5):
    """Gradients, shape (m, d), of a function of the rows of `at`."""
    steps = step * np.eye(at.shape[1])
    return np.column_stack([(f(at + e) - f(at - e)) / (2.0 * step) for e in steps])
