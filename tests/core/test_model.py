import numpy as np
import pytest

from infgp.core.model import Data, Model, prior_draw, simulate_y
from infgp.core.partition import urn_logpdf
from infgp.core.priors import Priors
from infgp.core.state import State
from infgp.core.surface import log_joint, log_likelihood
from tests.proofs import NU, SIGMA2, TAU2, X5, Y5, blocks_of, fixed_model, log_evidence


def state_of(labels, lengthscale=0.4):
    return State(
        np.array(labels), np.zeros(2), NU, np.array([[0.5 / lengthscale**2]]), np.array([SIGMA2]), np.array([TAU2])
    )


def test_log_joint_is_evidence_times_urn():
    from infgp.core.priors import Fixed

    model = fixed_model(Fixed(0.4))
    for labels in ([0, 0, 0, 0, 0], [0, 1, 0, 2, 1]):
        expected = log_evidence(blocks_of(labels), X5, Y5, 0.4) + urn_logpdf(np.array(labels), NU)
        assert log_joint(state_of(labels), Data(X5, Y5), model) == pytest.approx(expected)


def test_scales_of_each_surface():
    """Shared scales are the special case of equal ones."""
    from infgp.core.priors import Fixed

    model, data = fixed_model(Fixed(0.4)), Data(X5, Y5)
    shared = state_of([0, 1, 0, 1, 1])
    own = State(shared.labels, shared.beta, NU, np.repeat(shared.phi, 2, 0), np.full(2, SIGMA2), np.full(2, TAU2))
    assert log_likelihood(own, data, model) == pytest.approx(log_likelihood(shared, data, model))
    wider = State(shared.labels, shared.beta, NU, own.phi, np.array([SIGMA2, 9.0]), own.tau2)
    expected = log_evidence([[0, 2]], X5, Y5, 0.4) + log_evidence([[1, 3, 4]], X5, Y5, 0.4, sigma2=9.0)
    assert log_likelihood(wider, data, model) == pytest.approx(expected)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
@pytest.mark.parametrize("ard", [False, True])
def test_prior_draws_are_usable(kernel, ard, rng):
    model = Model(kernel, Priors().resolve(3), ard)
    x = rng.random((10, 3))
    state = prior_draw(rng, x, model)
    assert (np.unique(state.phi).size == 3) == ard
    data = Data(x, simulate_y(rng, state, x, model))
    assert np.isfinite(log_joint(state, data, model))


def test_simulated_rewards_have_the_model_covariance(rng):
    from infgp.core.priors import Fixed

    model = fixed_model(Fixed(0.4))
    state = state_of([0, 1, 0, 1, 1])
    noise = np.array([0.0, 1.0, 0.2, 0.5, 2.0])
    draws = np.array([simulate_y(rng, state, X5, model, noise) for _ in range(20_000)])
    gaps = X5 - X5.T
    together = state.labels[:, None] == state.labels
    expected = together * SIGMA2 * np.exp(-0.5 * (gaps / 0.4) ** 2) + np.diag(TAU2 + noise)
    assert np.allclose(np.cov(draws.T), expected, atol=0.1)
