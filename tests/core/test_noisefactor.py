from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtri

from infgp.core.model import Data, Model
from infgp.core.noisefactor import EVEN, LARGEST_SCORE, STRENGTHS, NoiseFactor, scores
from infgp.core.priors import Priors
from infgp.core.remainder import LENGTHS, Patterns
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.predict.mixture import Mixture, predictive
from tests.exact import central_differences, rho

N = 90


@pytest.fixture
def x(rng):
    return rng.random((N, 2))


def louder(x):
    """Noise that is five times as large on the right."""
    return np.where(x[:, 0] > 0.5, 2.5, 0.5)


@pytest.fixture
def factor(rng, x):
    return NoiseFactor.of(Patterns(x), louder(x) * rng.standard_normal(N))


def log_evidence(scores, covariance, nodes=40):
    """log ∫ ∏ N(t_i | 0, exp g_i) N(g | 0, C) dg, by quadrature over all of g."""
    z, weights = np.polynomial.hermite_e.hermegauss(nodes)
    root = np.linalg.cholesky(covariance + 1e-9 * np.eye(scores.size))
    grid = np.array(list(product(z, repeat=scores.size)))
    weight = np.prod(list(product(weights / weights.sum(), repeat=scores.size)), axis=1)
    g = grid @ root.T
    return np.log(weight @ np.exp(-0.5 * (g + scores**2 * np.exp(-g)).sum(axis=1)))


@pytest.mark.parametrize("t", [[0.1, 2.9, 0.2], [1.0, -0.8, 0.6], [2.5, -3.0, 3.5]])
def test_the_probability_of_even_noise_is_that_of_quadrature(t):
    """For three scores, of which Laplace's method is least good."""
    x, t = np.array([[0.1], [0.2], [0.9]]), np.array(t)
    patterns = Patterns(x)
    pairs = [(length, a) for length in range(len(LENGTHS)) for a in STRENGTHS]
    others = [log_evidence(t, a * patterns.correlation(length, x)) for length, a in pairs]
    same = -0.5 * (t**2).sum()
    wanted = EVEN / (EVEN + (1.0 - EVEN) * np.mean(np.exp(np.array(others) - same)))
    assert NoiseFactor.of(patterns, t).even == pytest.approx(wanted, abs=0.06)


def test_the_factor_is_found(factor, rng):
    at = rng.random((400, 2))
    at = at[np.abs(at[:, 0] - 0.5) > 0.15]
    assert factor.even < 0.01
    assert np.mean(np.abs(factor.log(at) - 2.0 * np.log(louder(at)))) < 0.6
    assert factor(at) == pytest.approx(np.exp(factor.log(at)))
    assert factor(np.array([[40.0, 40.0]])) == pytest.approx(1.0)  # far away nothing is known


def test_even_noise_is_left_alone():
    """In nine of ten data sets, the noise is believed to be even with more than the prior probability."""
    rngs = [np.random.default_rng(seed) for seed in range(40)]
    found = [NoiseFactor.of(Patterns(rng.random((N, 2))), rng.standard_normal(N)) for rng in rngs]
    assert np.mean([one.even > EVEN for one in found]) >= 0.9
    assert np.mean([np.abs(one.log(one.patterns.x)).mean() for one in found]) < 0.1


def test_one_outlier_says_little(rng, x):
    calm = rng.standard_normal(N)
    wild = np.where(np.arange(N) == 7, 1e6, calm)
    assert NoiseFactor.of(Patterns(x), wild)(x).max() < 1.7
    capped = np.where(np.arange(N) == 7, LARGEST_SCORE, calm)
    assert np.array_equal(NoiseFactor.of(Patterns(x), wild)(x), NoiseFactor.of(Patterns(x), capped)(x))


def test_scores_that_do_not_count_say_nothing(rng, x):
    t = louder(x) * rng.standard_normal(N)
    assert NoiseFactor.of(Patterns(x), t, np.zeros(N))(x) == pytest.approx(1.0)
    half = NoiseFactor.of(Patterns(x), t, np.where(x[:, 0] > 0.5, 0.0, 1.0))
    loud = x[:, 0] > 0.7
    assert half(x[loud]).max() < 1.5  # what is loud there was not counted


@pytest.mark.parametrize("n", [1, 2])
def test_of_two_rewards_nothing_is_learned(n):
    assert NoiseFactor.of(Patterns(np.zeros((n, 1))), np.full(n, 4.0)).even == 1.0


def test_gradients(factor, rng):
    at = rng.random((7, 2))
    assert factor.gradient(at) == pytest.approx(central_differences(factor.log, at), rel=1e-6, abs=1e-8)


def test_scores_have_the_place_of_the_rewards(rng):
    weights = rng.dirichlet(np.ones(3), 50)
    means, sd = rng.standard_normal((50, 3)), rng.random((50, 3)) + 0.1
    y = rng.standard_normal(50)
    wanted = np.clip(ndtri(Mixture(weights, means, sd**2).cdf(y)), -LARGEST_SCORE, LARGEST_SCORE)
    assert scores(weights, y[:, None] - means, sd) == pytest.approx(wanted)
    far = np.array([[-1e9], [1e9]])
    assert scores(np.ones((2, 1)), far, np.ones((2, 1))) == pytest.approx([-LARGEST_SCORE, LARGEST_SCORE])


# --- In a state -------------------------------------------------------------------------------------------------------


def given(uneven=True, noise=0.0, labels=None, seed=3):
    """A slope with noise ten times as large on the right."""
    rng = np.random.default_rng(seed)
    x, d = rng.random((60, 2)), 2
    y = x[:, 1] + np.where(x[:, 0] > 0.5, 0.5, 0.05) * rng.standard_normal(60)
    labels = np.zeros(60, int) if labels is None else labels
    one = np.ones(1)
    state = State(labels, np.zeros(3), 0.1, np.full((1, d), 0.5), one, 0.1 * one, np.ones(labels.max() + 2))
    model = Model("se", Priors().resolve(d), ard=True, scale_shape=2.0, uneven=uneven)
    return Conditioned(state, Data(x, y, np.full(60, noise)), model)


def test_rewards_are_scored_without_themselves():
    """The mean and variance of each member given all others of its surface, from a fit without it."""
    case = given(labels=np.arange(60) % 3)
    for label, law in enumerate(case.surfaces()):
        if label == case.state.n_surfaces:
            continue
        gaps, variances = law.without_each()
        for i in (0, 5, 11):
            member = law.surface.members[i]
            kept = np.arange(60) != member
            fewer = replace(case.state, labels=case.state.labels[kept])
            left = Conditioned(fewer, Data(case.data.x[kept], case.data.y[kept]), case.model)
            mean, variance = left.surface(label)(case.data.x[[member]])
            assert gaps[i] == pytest.approx(case.residual[member] - mean[0])
            assert variances[i] == pytest.approx(variance[0] + law.surface.tau2)


def test_noise_depends_on_the_input_where_the_rewards_say_so():
    case, ends = given(), np.array([[0.1, 0.5], [0.9, 0.5]])
    quiet, loud = np.sqrt(case.noise_at(ends)[:, 0])
    assert quiet < 0.15
    assert loud > 0.3
    assert case.noise_at(ends).shape == (2, 2)
    constant = given(uneven=False)
    assert constant.noise_factor is None
    assert np.ptp(constant.noise_at(ends), axis=0) == pytest.approx(0.0)


def test_laws_have_the_noise_of_their_input():
    case, ends = given(), np.array([[0.1, 0.5], [0.9, 0.5]])
    law, even = predictive([case], ends), predictive([given(uneven=False)], ends)
    noise = case.noise_at(ends) - given(uneven=False).noise_at(ends)
    assert law.variances == pytest.approx(even.variances + noise)
    assert np.array_equal(law.means, even.means)


def test_known_noise_is_not_taken_for_noise_of_the_surfaces():
    """Rewards whose noise is known to be large say little of how large the noise is without it."""
    assert np.ptp(given(noise=100.0).noise_factor.log(given().data.x)) < 0.05


def test_rewards_as_believed_say_that_noise_is_even():
    """Rewards drawn from the state's own model: in nine of ten data sets, even noise becomes more probable."""
    found = []
    for seed in range(30):
        case, rng = given(seed=seed), np.random.default_rng(seed + 100)
        x = case.data.x
        cov = rho("se", x, x, case.state.phi[0]) + 0.1 * np.eye(60)
        case = replace(case, data=Data(x, rng.multivariate_normal(np.zeros(60), cov)))
        found.append(case.noise_factor.even > EVEN)
    assert np.mean(found) >= 0.9
