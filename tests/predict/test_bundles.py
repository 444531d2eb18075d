from dataclasses import replace

import numpy as np
import pytest

from infgp.core.model import Data, Model
from infgp.core.priors import Priors
from infgp.core.rewardmap import WarpedUnits
from infgp.core.scaling import RewardScale
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.predict.bundles import draw_bundle
from infgp.predict.functionals import Aim, Objective
from infgp.predict.objectives import ObjectiveLaw
from tests.exact import central_differences

#: The largest of about 80 z-scores in this file exceeds this once in 20 000 seeds.
LARGEST_Z = 5.0
OBJECTIVES = ("mean", ("quantile", 0.2), ("cvar", 0.3), ("probability", 5.4))
AT = np.array([[0.1, 0.2], [0.5, 0.5], [0.9, 0.3], [0.3, 0.95]])


def given():
    """Sixty observations of two inputs, a fifth of them on a second surface, more of them where x is large."""
    rng = np.random.default_rng(5)
    x = rng.random((60, 2))
    labels = np.where(rng.random(60) < 0.4 * x[:, 0], 1, 0)
    labels[0] = 0
    y = np.sin(5.0 * x[:, 1]) - 3.0 * labels + 0.2 * rng.standard_normal(60)
    state = State(labels, np.zeros(3), 0.6, np.array([[3.0, 0.8]]), np.array([1.5]), np.array([0.2]))
    return Conditioned(state, Data(x, y), Model("matern52", Priors().resolve(2), ard=True))


def aim(objective, outliers="count"):
    scale = RewardScale(5.0, 2.0)
    return Aim(Objective.parse(objective), scale, outliers=outliers, units=WarpedUnits(scale, 10.0))


@pytest.fixture
def _few_features(monkeypatch):
    """Moments are exact for any number of features."""
    monkeypatch.setattr("infgp.predict.bundles.FEATURES", 48)


@pytest.mark.usefixtures("_few_features")
@pytest.mark.parametrize("outliers", ["count", "ignore"])
def test_moments_are_those_of_the_law_in_the_user_s_units(outliers, rng):
    known, wanted = given(), aim("mean", outliers)
    draws = np.array([draw_bundle(rng, known, wanted, 2)(AT)[:, 0] for _ in range(1200)])
    law = ObjectiveLaw.of(known, wanted)
    assert (law.remainder is None) == (outliers == "ignore")
    mean, variance = law.natural(AT)
    gap = draws - (5.0 + 2.0 * mean)
    square = gap**2 - 4.0 * variance
    for part in (gap, square):
        assert np.max(np.abs(part.mean(axis=0)) / (part.std(axis=0) / np.sqrt(len(part)))) < LARGEST_Z


@pytest.mark.usefixtures("_few_features")
def test_draws_of_a_bundle_are_not_correlated(rng):
    pairs = np.array([draw_bundle(rng, given(), aim("mean"), 2)(AT[:1])[0] for _ in range(800)])
    assert abs(np.corrcoef(pairs.T)[0, 1]) < LARGEST_Z / np.sqrt(len(pairs))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_rows_are_those_of_all_draws_and_have_their_gradients(objective, rng):
    bundle, which = draw_bundle(rng, given(), aim(objective), 5), np.array([4, 0, 2, 2])
    every = bundle(AT)
    assert every.shape == (4, 5)
    assert bundle.at_rows(AT, which) == pytest.approx(every[np.arange(4), which], rel=1e-9)
    value, gradient = bundle.rows(AT, which)
    assert np.isfinite(value).all()
    found = central_differences(lambda at: bundle.rows(at, which)[0], AT)
    assert gradient == pytest.approx(found, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("objective", OBJECTIVES[1:])
def test_rows_have_their_gradients_where_noise_depends_on_the_input(objective, rng):
    known = given()
    louder = known.data.y + np.where(known.data.x[:, 0] > 0.5, 1.0, 0.0) * rng.standard_normal(60)
    known = replace(known, data=Data(known.data.x, louder), model=replace(known.model, uneven=True))
    bundle, which = draw_bundle(rng, known, aim(objective), 5), np.array([4, 0, 2, 2])
    assert bundle.law.base.weights.given.noise_factor.coefficients
    assert bundle.at_rows(AT, which) == pytest.approx(bundle(AT)[np.arange(4), which], rel=1e-9)
    found = central_differences(lambda at: bundle.rows(at, which)[0], AT)
    assert bundle.rows(AT, which)[1] == pytest.approx(found, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("objective", OBJECTIVES[:3])
def test_values_are_in_the_user_s_units(objective):
    known = given()
    standard = replace(aim(objective), rewards=RewardScale(0.0, 1.0), units=None)
    plain, scaled = (draw_bundle(np.random.default_rng(0), known, a, 3)(AT) for a in (standard, aim(objective)))
    assert scaled == pytest.approx(5.0 + 2.0 * plain)


def test_chances_stay_chances():
    chances = draw_bundle(np.random.default_rng(0), given(), aim(("probability", 5.4)), 50)(AT)
    assert ((chances >= 0.0) & (chances <= 1.0)).all()
    assert chances.std() > 0.01
