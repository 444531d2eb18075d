"""What the proofs of the samplers share: a tiny model, exact answers by enumeration, label-free statistics."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from scipy.stats import multivariate_normal

from infgp.core.kernels import log_ell_from_phi
from infgp.core.model import Data, Model, prior_draw, simulate_y
from infgp.core.partition import canonical
from infgp.core.priors import Fixed, Gamma, Grid, InverseGamma, Normal, Priors
from infgp.core.state import State
from infgp.core.surface import log_likelihood
from infgp.sample.chain import apply
from infgp.testing import frequency_test, geweke, sbc

# No scale, noise or concentration equals one: factors that are dropped or squared must show.
NU, SIGMA2, TAU2 = 0.6, 1.7, 0.15
GRID = Grid(np.log(np.array([0.15, 0.4, 1.1])), np.array([0.2, 0.5, 0.3]))
X5 = np.array([[0.05], [0.15], [0.32], [0.55], [0.9]])
Y5 = np.array([0.4, -0.9, 0.6, -1.1, 0.5])


def fixed_model(lengthscale) -> Model:
    priors = Priors(beta=Fixed(0.0), tau2=Fixed(TAU2), sigma2=Fixed(SIGMA2), nu=Fixed(NU), lengthscale=lengthscale)
    return Model("se", priors.resolve(1), ard=False)


def free_model() -> Model:
    priors = Priors(
        beta=Normal(np.array([0.3, -0.2]), np.array([0.7, 0.5])),
        tau2=InverseGamma(4.0, 0.5),
        sigma2=InverseGamma(5.0, 3.0),
        nu=Gamma(3.0, 4.0),
        lengthscale=GRID,
    )
    return Model("se", priors.resolve(1), ard=False)


def log_evidence(blocks, x, y, lengthscale, sigma2=SIGMA2, tau2=TAU2) -> float:
    """log p(y | partition) from SciPy's own Gaussian density and a kernel written out here."""
    total = 0.0
    for members in blocks:
        gaps = x[members, 0][:, None] - x[members, 0][None, :]
        cov = sigma2 * np.exp(-0.5 * gaps**2 / lengthscale**2) + tau2 * np.eye(len(members))
        total += multivariate_normal(np.zeros(len(members)), cov).logpdf(y[members])
    return total


def blocks_of(labels) -> list[np.ndarray]:
    return [np.flatnonzero(np.asarray(labels) == label) for label in np.unique(labels)]


def key(labels, index=0) -> tuple[int, ...]:
    return (*canonical(np.asarray(labels)).tolist(), index)


def exact_posterior(log_prior_of_labels, label_vectors, grid: Grid) -> dict[tuple[int, ...], float]:
    """Posterior over (partition, grid index) by summing over all label vectors."""
    weights: dict[tuple[int, ...], float] = {}
    cache: dict[tuple[int, ...], float] = {}
    for labels in label_vectors:
        for m, (log_ell, mass) in enumerate(zip(grid.log_ell, grid.mass, strict=True)):
            k = key(labels, m)
            if k not in cache:
                cache[k] = log_evidence(blocks_of(labels), X5, Y5, np.exp(log_ell))
            p = np.exp(log_prior_of_labels(np.asarray(labels)) + np.log(mass) + cache[k])
            weights[k] = weights.get(k, 0.0) + p
    total = sum(weights.values())
    return {k: w / total for k, w in weights.items()}


def all_labels(n: int, truncation: int):
    return product(range(truncation), repeat=n)


def statistics(state: State, data: Data, model: Model) -> dict[str, float]:
    """Label-free functions of parameters and data with all moments finite."""
    gap = (data.y - data.h @ state.beta) / np.sqrt(state.tau2[0] + state.sigma2[0])
    log_ell = float(log_ell_from_phi(state.phi[0, 0]))
    log_tau2, log_sigma2 = float(np.log(state.tau2[0])), float(np.log(state.sigma2[0]))
    return {
        "log nu": float(np.log(state.nu)),
        "log tau2": log_tau2,
        "log sigma2": log_sigma2,
        "log ell": log_ell,
        "intercept": float(state.beta[0]),
        "slope": float(state.beta[1]),
        "surfaces": float(state.n_surfaces),
        "together": float(np.mean(state.labels[0] == state.labels)),
        "fit": float(np.tanh(np.mean(gap**2) - 1.0)),
        "neighbours": float(np.tanh(np.mean(gap[1:] * gap[:-1]))),
        "apart": float(np.tanh(gap[0] * gap[1]) * (state.labels[0] != state.labels[1])),
        "tau2 x sigma2": log_tau2 * log_sigma2,
        "ell x surfaces": log_ell * state.n_surfaces,
        "likelihood": float(np.tanh(log_likelihood(state, data, model) / (5.0 * data.y.size))),
    }


def run_moves(rng, state, moves, times, data, model):
    for _ in range(times):
        state = apply(moves, rng, state, data, model)
    return state


def frequencies_p_value(rng, state, moves, thin, data, model, exact, key_of, draws) -> float:
    """Frequencies of discrete states over a long chain against their exact probabilities."""
    counts = dict.fromkeys(exact, 0)
    for _ in range(draws):
        state = run_moves(rng, state, moves, thin, data, model)
        counts[key_of(state)] += 1
    return frequency_test(np.array(list(counts.values()), float), np.array(list(exact.values())))


def posterior_draws(rng, state, moves, data, model):
    """31 draws, thinned, of a chain that has warmed up: for calibration."""
    state, draws = run_moves(rng, state, moves, 100, data, model), []
    for _ in range(31):
        state = run_moves(rng, state, moves, 8, data, model)
        draws.append((state, data))
    return draws


def joint_p_values(rng, x, model, moves, known, sweeps) -> dict[str, float]:
    """Of the joint-distribution test of some moves; `known` makes statistics from a state with its data, and the model.

    One surface says nothing of the concentration, which is then left out.
    """

    def drawn():
        state = prior_draw(rng, x, model)
        return replace(state, labels=np.zeros(len(x), dtype=int)) if model.one_surface else state

    def refresh(pair):
        return pair[0], Data(x, simulate_y(rng, pair[0], x, model))

    def transition(pair):
        return apply(moves, rng, pair[0], pair[1], model), pair[1]

    p = geweke(lambda: refresh((drawn(), None)), transition, refresh, lambda pair: known(pair, model), sweeps)
    return {name: value for name, value in p.items() if not (model.one_surface and name.startswith("log nu"))}


def calibration_p_values(rng, x, model, moves, known) -> dict[str, float]:
    """Of 1 000 data sets × 31 draws, from a start that knows nothing of the truth."""

    def prior():
        state = prior_draw(rng, x, model)
        return state, Data(x, simulate_y(rng, state, x, model))

    def draws(truth):
        return posterior_draws(rng, prior_draw(rng, x, model), moves, truth[1], model)

    return sbc(rng, prior, draws, lambda pair: known(pair, model), replicates=1000)
