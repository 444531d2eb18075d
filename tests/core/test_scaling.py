import numpy as np
import pytest

from infgp.core.scaling import InputScale, RewardScale, check_variances
from infgp.errors import InvalidInputError


def test_outliers_do_not_set_the_unit(rng):
    y = rng.normal(5.0, 2.0, size=2000)
    clean = RewardScale.fit(y)
    y[:100] = 1e6
    dirty = RewardScale.fit(y)
    assert clean.scale == pytest.approx(2.0, rel=0.1)
    assert dirty.scale == pytest.approx(2.0, rel=0.2)
    assert dirty.location == pytest.approx(5.0, abs=0.3)


def test_round_trip(rng):
    y = rng.normal(size=10)
    scale = RewardScale.fit(y)
    assert np.allclose(scale.from_standard(scale.to_standard(y)), y)


@pytest.mark.parametrize(("y", "unit"), [([4.0], 1.0), ([2.0, 2.0], 1.0), ([0.0] * 9 + [10.0], 3.0)])
def test_degenerate_rewards_have_a_unit(y, unit):
    assert RewardScale.fit(np.array(y)).scale == pytest.approx(unit)


def test_inputs_fill_the_cube(rng):
    x = rng.normal(size=(20, 3)) * [1e-6, 1.0, 1e6]
    unit = InputScale.fit(x).to_unit(x)
    assert np.allclose(unit.min(axis=0), 0.0)
    assert np.allclose(unit.max(axis=0), 1.0)


@pytest.mark.parametrize("y", [[0.3] * 7, [0.1 + 0.2, 0.3] * 4, [1e300] * 3, [1e-320, 2e-320, 0.0], [5.0]])
def test_rewards_that_do_not_differ_have_the_unit_one(y):
    assert RewardScale.fit(np.array(y)).scale == 1.0


def test_rewards_that_differ_by_little_have_a_unit_of_their_own():
    assert RewardScale.fit(1e6 + 1e-6 * np.arange(9.0)).scale == pytest.approx(2.72e-6, rel=0.01)


def test_variances_beyond_floats_are_refused():
    with pytest.raises(InvalidInputError, match="noise_variance must be made of numbers"):
        check_variances([10**400], 1)
