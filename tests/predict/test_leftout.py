from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from infgp.core.model import Data, Model
from infgp.core.options import ModelOptions
from infgp.core.priors import Priors
from infgp.core.state import State
from infgp.core.surface import Conditioned, log_joint
from infgp.predict.leftout import all_but_one, log_densities
from infgp.predict.mixture import predictive


@pytest.mark.parametrize("regions", [False, True])
def test_it_is_the_prediction_from_a_state_without_the_reward(regions, rng):
    """By another way: delete the observation from data and state, and predict it."""
    x, y, noise = rng.random((9, 2)), rng.normal(size=9), rng.random(9)
    labels, one = np.array([0, 0, 0, 1, 0, 1, 2, 0, 1]), np.ones(1)
    options = ModelOptions(regions=regions, odds="constant", surface_scales="shared")
    model, data = replace(options.model(2, Priors()), grades=(1.0,)), Data(x, y, noise)
    state = State(labels, np.array([0.1, 0.2, 0.4]), 0.6, np.full((1, 2), 2.0), 0.7 * one, 0.05 * one)
    others = all_but_one(data)
    found = log_densities(Conditioned(state, data, model), others)
    for i in range(9):
        law = predictive([Conditioned(replace(state, labels=np.delete(labels, i)), others[i], model)], x[i : i + 1])
        density = law.weights[0] @ norm(law.means[0], np.sqrt(law.variances[0] + noise[i])).pdf(y[i])
        assert found[i] == pytest.approx(np.log(density), rel=1e-9)


@pytest.mark.parametrize("scale_shape", [0.0, 1.7])
def test_it_is_the_ratio_of_joint_densities_under_the_urn(scale_shape, rng):
    """p(y_i | rest) is the sum over the labels of i of the joint density, divided by that without observation i."""
    x, y = rng.random((6, 1)), rng.normal(size=6)
    labels, i = np.array([0, 0, 1, 0, 1, 0]), 3
    model, one = Model("se", Priors().resolve(1), ard=False, scale_shape=scale_shape), np.ones(1)
    base = State(labels, np.array([0.1, -0.2]), 0.6, np.full((1, 1), 3.0), 0.8 * one, 0.1 * one)
    data = Data(x, y)
    rest = log_joint(replace(base, labels=np.delete(labels, i)), all_but_one(data)[i], model)
    ways = [log_joint(replace(base, labels=np.r_[labels[:i], k, labels[i + 1 :]]), data, model) for k in range(3)]
    expected = np.logaddexp.reduce(ways) - rest
    assert log_densities(Conditioned(base, data, model), all_but_one(data))[i] == pytest.approx(expected, rel=1e-9)
