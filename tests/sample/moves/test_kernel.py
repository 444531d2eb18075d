"""The kernel among the parameters: the move, whole sweeps with it, and the proofs to notice bugs."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import invgamma, multivariate_normal, multivariate_t, norm
from sklearn.gaussian_process.kernels import RBF, Matern

from infgp.core.kernels import KERNELS, LEARNED
from infgp.core.model import Data, prior_draw
from infgp.core.partition import enumerate_partitions, urn_logpdf
from infgp.core.priors import Fixed, InverseGamma, LogNormal
from infgp.sample.chain import COLLAPSED_SWEEP, ONE_SURFACE_SWEEP, apply, sweep
from infgp.sample.moves import kernel as kernel_module
from infgp.sample.moves.assign import assign
from infgp.sample.moves.hyper import draw_nu, draw_scales
from infgp.sample.moves.kernel import draw_kernel
from infgp.sample.moves.split_merge import reallocate, split_merge
from infgp.sample.start import start_state
from infgp.search.optimizer import Optimizer
from infgp.space import Float
from infgp.testing import family_p_value
from tests.proofs import (
    NU,
    SIGMA2,
    TAU2,
    X5,
    Y5,
    blocks_of,
    calibration_p_values,
    frequencies_p_value,
    joint_p_values,
    key,
    statistics,
)

from .test_collapsed import fixed_model, free_model

X, Y = X5[:4], Y5[:4]
#: Prior probabilities with which tiny data tells which kernel it is.
CHANCES = (0.4, 0.35, 0.25)
#: The kernels as scikit-learn has them, by length-scale.
REFERENCE = (RBF, lambda ell: Matern(ell, nu=2.5), lambda ell: Matern(ell, nu=1.5))


def blind(move):
    """A move that takes every kernel for the first."""

    def blinded(rng, state, data, model):
        return replace(apply((move,), rng, replace(state, kernel=0), data, model), kernel=state.kernel)

    return blinded


def log_evidence(k, blocks, y, ell, sigma2, tau2, shape):
    total = 0.0
    for s in blocks:
        cov = sigma2 * REFERENCE[k](ell)(X[s]) + tau2 * np.eye(len(s))
        zero = np.zeros(len(s))
        law = multivariate_t(zero, cov, df=2 * shape) if shape else multivariate_normal(zero, cov)
        total += law.logpdf(y[s])
    return total


# --- Enumeration -----------------------------------------------------------------------------------------------------


def exact_posterior(shape):
    """Over partitions of four points and the kernels, from SciPy's densities and scikit-learn's kernels."""
    logs = {
        key(z, k): urn_logpdf(z, NU)
        + np.log(CHANCES[k])
        + log_evidence(k, blocks_of(z), 3.0 * Y, 0.4, SIGMA2, TAU2, shape)
        for k, z in product(range(len(KERNELS)), enumerate_partitions(4))
    }
    total = logsumexp(list(logs.values()))
    return {k: np.exp(v - total) for k, v in logs.items()}


def p_value(moves, shape, thin, draws=10_400, seed=1):
    rng = np.random.default_rng(seed)
    model, data = replace(fixed_model(shape), kernel=LEARNED, kernel_chances=CHANCES), Data(X, 3.0 * Y)
    start, exact = prior_draw(rng, X, model), exact_posterior(shape)
    return frequencies_p_value(rng, start, moves, thin, data, model, exact, lambda s: key(s.labels, s.kernel), draws)


@pytest.mark.parametrize("shape", [pytest.param(0.0, marks=pytest.mark.slow), 1.5])
@pytest.mark.parametrize(
    ("moves", "thin"),
    [
        ((assign, draw_kernel), 3),
        pytest.param((*(split_merge,) * 6, draw_kernel), 3, marks=pytest.mark.slow),
        pytest.param((*(reallocate, split_merge) * 3, draw_kernel), 3, marks=pytest.mark.slow),
        pytest.param(COLLAPSED_SWEEP, 2, marks=pytest.mark.slow),
    ],
    ids=["labels", "split-merge", "reallocations", "whole sweep"],
)
def test_partitions_and_kernels_match_enumeration(moves, thin, shape):
    assert p_value(moves, shape, thin) > 1e-4


def test_enumeration_notices_labels_that_do_not_see_the_kernel():
    assert p_value((blind(assign), draw_kernel), 1.5, 3, draws=9000) < 1e-6


# --- The move alone: kernel, length-scale and variance by quadrature -------------------------------------------------

ELL, VARIANCE = LogNormal(loc=np.log(0.4), scale=0.5), InverseGamma(5.0, 3.0)


def exact_law(shape):
    """Chances of the kernels, and means of log ℓ and log σ² under each, for two surfaces of two points."""
    logs, log_ell, log_sigma2 = [], np.linspace(-3.5, 1.5, 61), np.linspace(-2.5, 2.5, 61)
    for k in range(len(KERNELS)):
        grid = np.empty((61, 61))
        for (i, a), (j, b) in product(enumerate(log_ell), enumerate(log_sigma2)):
            grid[i, j] = norm(np.log(0.4), 0.5).logpdf(a) + invgamma(5.0, scale=3.0).logpdf(np.exp(b)) + b
            grid[i, j] += np.log(CHANCES[k]) + log_evidence(k, ([0, 1], [2, 3]), Y, np.exp(a), np.exp(b), TAU2, shape)
        logs.append(grid)
    weights = np.exp(np.array(logs) - logsumexp(logs))
    chances = weights.sum(axis=(1, 2))
    lengths = np.einsum("kij,i->k", weights, log_ell) / chances
    return chances, lengths, np.einsum("kij,j->k", weights, log_sigma2) / chances


def z_scores(move, shape, draws=16_000):
    """How far chances and means of a long chain are from the exact ones, in standard errors of batch means."""
    rng = np.random.default_rng(3)
    model = replace(fixed_model(shape), kernel=LEARNED, kernel_chances=CHANCES)
    model = replace(model, priors=replace(model.priors, sigma2=VARIANCE, lengthscale=ELL))
    state = replace(prior_draw(rng, X, model), labels=np.array([0, 0, 1, 1]))
    data, rows = Data(X, Y), []
    for _ in range(draws):
        state = apply((move,), rng, state, data, model)
        own = np.eye(len(KERNELS))[state.kernel]
        log_ell = -0.5 * np.log(2.0 * state.phi[0, 0])
        rows.append(np.concatenate((own, own * log_ell, own * np.log(state.sigma2[0]))))
    chances, lengths, variances = exact_law(shape)
    exact = np.concatenate((chances, chances * lengths, chances * variances))
    batches = np.array(rows).reshape(40, -1, exact.size).mean(axis=1)
    return (batches.mean(axis=0) - exact) / (batches.std(axis=0, ddof=1) / np.sqrt(40) + 1e-9)


@pytest.mark.parametrize("shape", [pytest.param(0.0, marks=pytest.mark.slow), 1.5])
def test_the_move_keeps_its_law(shape):
    assert np.abs(z_scores(draw_kernel, shape)).max() < 4.5


def test_quadrature_notices_a_shift_without_its_way_back():
    """The length-scales grow in every proposal, and nothing pays for it."""

    class Longer(np.random.Generator):
        def standard_normal(self, size):
            return 0.5 + super().standard_normal(size)

    def drifting(rng, state, data, model):
        return draw_kernel(Longer(rng.bit_generator), state, data, model)

    assert np.abs(z_scores(drifting, 1.5, draws=8000)).max() > 7.0


def test_quadrature_notices_a_density_in_other_units(monkeypatch):
    """A density in σ² where one in its logarithm is meant."""
    right = kernel_module._log_density
    monkeypatch.setattr(kernel_module, "_log_density", lambda s, *rest: right(s, *rest) - np.log(s.sigma2[0]))
    assert np.abs(z_scores(draw_kernel, 1.5, draws=16_000)).max() > 7.0


# --- Joint distribution ----------------------------------------------------------------------------------------------


def known(pair, model):
    """The statistics of all moves, and what they have to do with the kernel."""
    state, data = pair
    bends = float(np.tanh(np.mean(np.diff(data.y, 2) ** 2)))
    own = {
        f"{KERNELS[k]}{what}": float(state.kernel == k) * value
        for k in (1, 2)
        for what, value in {
            "": 1.0,
            " x bends": bends,
            " x ell": float(np.log(state.phi[0, 0])),
            " x sigma2": float(np.log(state.sigma2[0])),
            " x tau2": float(np.log(state.tau2[0])),
        }.items()
    }
    return statistics(state, data, model) | own


def geweke_p_values(moves, shape, seed, d=1, n=6, sweeps=6000, one_surface=False):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random((n, d)), axis=0)
    model = replace(free_model(shape, d, d > 1), kernel=LEARNED, kernel_chances=CHANCES, one_surface=one_surface)
    return joint_p_values(rng, x, model, moves, known, sweeps)


@pytest.mark.parametrize(
    ("shape", "d"),
    [pytest.param(0.0, 1, marks=pytest.mark.slow), (1.5, 1), pytest.param(1.5, 2, marks=pytest.mark.slow)],
)
def test_joint_distribution(shape, d):
    assert family_p_value(geweke_p_values((*COLLAPSED_SWEEP, reallocate), shape, seed=51, d=d)) > 1e-4


def test_joint_distribution_of_one_surface():
    """The concentration, of which one surface says nothing, is left alone."""
    moves = tuple(move for move in ONE_SURFACE_SWEEP if move is not draw_nu)
    assert family_p_value(geweke_p_values(moves, 0.0, seed=52, one_surface=True)) > 1e-4


def test_joint_distribution_notices_scales_that_do_not_see_the_kernel():
    """With one surface, since rewards on many say little of the scales. Three seeds had p < 1e-12."""
    moves = tuple(blind(move) if move is draw_scales else move for move in ONE_SURFACE_SWEEP if move is not draw_nu)
    p = geweke_p_values(moves, 0.0, seed=54, n=12, sweeps=12_000, one_surface=True)
    assert family_p_value(p) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("shape", [0.0, 1.5])
def test_calibration(shape):
    rng = np.random.default_rng(57)
    model, x = replace(free_model(shape), kernel=LEARNED, kernel_chances=CHANCES), np.sort(rng.random((8, 1)), axis=0)
    p = calibration_p_values(rng, x, model, (*COLLAPSED_SWEEP, reallocate), known)
    assert family_p_value(p) > 1e-4, p


# --- Chains ----------------------------------------------------------------------------------------------------------


def test_a_sweep_is_its_moves(rng):
    model, data = (
        replace(free_model(1.5), kernel=LEARNED, kernel_chances=CHANCES),
        Data(rng.random((20, 1)), rng.normal(size=20)),
    )
    one = two = start_state(rng, data, model, "random")
    a, b = np.random.default_rng(3), np.random.default_rng(3)
    kernels = set()
    for _ in range(30):
        one, two = apply((sweep,), a, one, data, model), apply(COLLAPSED_SWEEP, b, two, data, model)
        assert (one.labels == two.labels).all()
        assert (one.kernel, one.tau2, one.phi[0, 0]) == (two.kernel, two.tau2, two.phi[0, 0])
        kernels.add(one.kernel)
    assert len(kernels) > 1


@pytest.mark.parametrize(
    ("f", "smooth"), [(lambda x: -np.sqrt(np.abs(x - 0.37)), False), (lambda x: np.sin(7.0 * x), True)]
)
def test_data_tells_a_tip_from_a_wave(f, smooth, rng):
    x = np.linspace(0.0, 1.0, 40)[:, None]
    y = f(x[:, 0]) + 1e-3 * rng.standard_normal(40)
    data, model = Data(x, (y - y.mean()) / y.std()), replace(free_model(1.5), kernel=LEARNED, kernel_chances=CHANCES)
    model = replace(model, priors=replace(model.priors, tau2=InverseGamma(1.0, 1e-4)))
    state, kernels = start_state(rng, data, model, "one"), []
    for _ in range(120):
        state = apply((sweep,), rng, state, data, model)
        kernels.append(KERNELS[state.kernel])
    assert np.mean([(name == "se") == smooth for name in kernels[60:]]) > 0.9


def test_what_is_fixed_stays(rng):
    model = replace(fixed_model(0.0), kernel=LEARNED, kernel_chances=CHANCES)
    assert isinstance(model.priors.lengthscale, Fixed)
    state = prior_draw(rng, X, model)
    for _ in range(20):
        after, _ = draw_kernel(rng, state, Data(X, Y), model)
        assert (after.phi == state.phi).all()
        assert (after.sigma2 == state.sigma2).all()
        state = after


def test_a_kernel_that_is_given_is_not_drawn(rng):
    model = fixed_model(0.0, "matern32")
    state = prior_draw(rng, X, model)
    assert draw_kernel(rng, state, Data(X, Y), model) == (state, {})
    assert model.at(replace(state, kernel=0)).kernel == "matern32"


@pytest.mark.parametrize("options", [{"regions": False, "outliers": "ignore"}, {"exact_up_to": 20}], ids=str)
def test_searches_see_the_kernel_of_each_state(options, rng):
    """Where surfaces are set aside as clutter, and where states take in what the chain has not seen."""
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0, kernel="learned", **options)
    for k, x in enumerate(rng.random(30)):
        optimizer.tell({"x": float(x)}, float(-abs(x - 0.4) + 0.01 * rng.normal() - 9.0 * (k % 10 == 0)))
    assert 0.0 <= optimizer.ask()["x"] <= 1.0
    assert abs(optimizer.recommend().point["x"] - 0.4) < 0.1
    assert optimizer.regret().quantile(0.5) < 0.2
    assert optimizer.fallbacks == 0
    assert len(optimizer.candidates()) > 1
