"""Known noise variances from the optimizer's door."""

import json

import numpy as np
import pytest

from infgp import Float, InvalidInputError, Optimizer
from infgp.core.scaling import RewardScale
from infgp.search.acquisition import assume, lengthened


def told(noise, seed=0, n=12):
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=seed)
    rng = np.random.default_rng(seed)
    for x, v in zip(np.linspace(0.0, 1.0, n), np.broadcast_to(noise, (n,)), strict=True):
        optimizer.tell({"x": x}, -((x - 0.3) ** 2) + np.sqrt(v) * rng.normal(), v)
    return optimizer


def test_variances_reach_the_model_in_its_units():
    noise = np.linspace(0.0, 0.2, 12)
    optimizer = told(noise)
    optimizer.tell({"x": 0.5}, None, 7.0)  # failed: of no account
    learned = optimizer.learned()
    assert learned.model.scale_shape == 0.0
    assert told(0.0).learned().model.scale_shape > 0.0
    unit = RewardScale.fit(np.array([o.value for o in optimizer.observations if o.value is not None]))
    assert np.allclose(learned.data.noise, noise / unit.scale**2)
    longer = assume(learned.draws[-1], lengthened(learned.data, learned.data.x[:2]), learned.data.y[:2])
    assert np.array_equal(longer.data.noise, np.r_[learned.data.noise, 0.0, 0.0])
    assert optimizer.observations[-2].noise_variance == pytest.approx(0.2)


def test_the_first_variance_changes_the_model_on_the_way():
    optimizer = told(0.0)
    optimizer.ask()
    optimizer.tell({"x": 0.31}, 40.0, 1e4)
    optimizer.ask()
    assert all(state.scale.size == 1 for state in optimizer.learned().chain.states)
    assert abs(optimizer.recommend().mean) < 0.5  # a reward known to be worthless


def test_variances_are_saved():
    optimizer = told(np.linspace(0.0, 0.2, 12))
    optimizer.ask()
    again = Optimizer.from_json(json.loads(json.dumps(optimizer.to_json())))
    assert again.observations == optimizer.observations
    assert again.ask() == optimizer.ask()
    assert again.recommend() == optimizer.recommend()


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, "much", [0.1, 0.2]])
def test_bad_variances_are_refused_and_change_nothing(bad):
    optimizer = told(0.0)
    point = optimizer.ask()
    before = optimizer.to_json()
    with pytest.raises(InvalidInputError, match="noise_variance"):
        optimizer.tell(point, 1.0, bad)
    assert optimizer.to_json() == before
