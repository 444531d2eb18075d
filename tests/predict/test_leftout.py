from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from infgp.core.model import Data, Model, State
from infgp.core.options import ModelOptions
from infgp.core.priors import Priors
from infgp.core.surface import Conditioned, log_joint
from infgp.predict.leftout import all_but_one, log_densities
from infgp.predict.mixture import predictive


def state_of(labels, d):
    """A state with a scale of its own for each surface and for a new one."""
    k = int(labels.max()) + 1
    phi, sigma2, tau2 = np.full((1, d), 2.0), np.array([0.7]), np.array([0.05])
    scale = np.linspace(0.6, 1.7, k + 1)
    return State(labels, np.linspace(0.1, 0.4, d + 1), 0.6, phi, sigma2, tau2, scale)


@pytest.mark.parametrize("regions", [False, True])
def test_it_is_the_prediction_from_a_state_without_the_reward(regions, rng):
    """By another way: fit nothing anew, but delete the observation from data and state, and predict it."""
    x, y, noise = rng.random((9, 2)), rng.normal(size=9), rng.random(9)
    labels = np.array([0, 0, 0, 1, 0, 1, 2, 0, 1])
    model = replace(ModelOptions(regions=regions, odds="constant").model(2, Priors()), grades=(1.0,))
    data, state = Data(x, y, noise), state_of(labels, 2)
    found, others = log_densities(Conditioned(state, data, model), all_but_one(data)), all_but_one(data)
    for i in range(9):
        left = np.delete(labels, i)
        scale = np.delete(state.scale, 2) if i == 6 else state.scale
        without = Conditioned(replace(state, labels=left, scale=scale), others[i], model)
        law = predictive([without], x[i : i + 1])
        variances = law.variances[0] + scale * noise[i]
        density = law.weights[0] @ norm(law.means[0], np.sqrt(variances)).pdf(y[i])
        assert found[i] == pytest.approx(np.log(density), rel=1e-9)


def test_it_is_the_ratio_of_joint_densities_under_the_urn(rng):
    """p(y_i | rest) is the sum over the labels of i of the joint density, divided by that without observation i."""
    x, y = rng.random((6, 1)), rng.normal(size=6)
    labels, i = np.array([0, 0, 1, 0, 1, 0]), 3
    model, one = Model("se", Priors().resolve(1), ard=False), np.ones(1)
    base = State(labels, np.array([0.1, -0.2]), 0.6, np.full((1, 1), 3.0), 0.8 * one, 0.1 * one)
    data = Data(x, y)
    rest = log_joint(replace(base, labels=np.delete(labels, i)), all_but_one(data)[i], model)
    ways = [log_joint(replace(base, labels=np.r_[labels[:i], k, labels[i + 1 :]]), data, model) for k in range(3)]
    expected = np.logaddexp.reduce(ways) - rest
    assert log_densities(Conditioned(base, data, model), all_but_one(data))[i] == pytest.approx(expected, rel=1e-9)
