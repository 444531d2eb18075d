"""Laws of groups of states, each with a map of its own, put together in the user's units."""

import numpy as np
import pytest

from infgp.core.rewardmap import WarpedScale
from infgp.core.scaling import RewardScale
from infgp.core.warp import Warp
from infgp.predict.law import Law
from infgp.predict.lawmixture import LawMixture
from infgp.predict.mixture import Mixture


def mixtures(rng, m=3, c=4):
    return Mixture(rng.dirichlet(np.ones(c), size=m), rng.normal(size=(m, c)), 0.05 + rng.random((m, c)) / 4.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_laws_with_one_map_are_one_law(rng, sign):
    """Splitting the components of a law changes nothing."""
    a, b, scale = mixtures(rng), mixtures(rng), RewardScale(5.0, 2.0)
    whole = Law(
        Mixture(
            np.column_stack((0.3 * a.weights, 0.7 * b.weights)),
            np.column_stack((a.means, b.means)),
            np.column_stack((a.variances, b.variances)),
        ),
        scale,
        sign,
    )
    parts = LawMixture([Law(a, scale, sign), Law(b, scale, sign)], np.array([0.3, 0.7]))
    assert parts.mean == pytest.approx(whole.mean)
    assert parts.std == pytest.approx(whole.std)
    assert parts.median == pytest.approx(whole.median)
    assert parts.quantile([0.01, 0.4, 0.99]) == pytest.approx(whole.quantile([0.01, 0.4, 0.99]))
    for q in (0.05, 0.5, 1.0):
        assert parts.cvar(q) == pytest.approx(whole.cvar(q))
    for y in (4.0, np.array([3.0, 5.0, 9.0]), np.full((3, 2), 6.0)):
        assert parts.cdf(y) == pytest.approx(whole.cdf(y))
        assert parts.density(y) == pytest.approx(whole.density(y))
        assert parts.probability(y) == pytest.approx(whole.probability(y))


def test_laws_with_different_maps_are_as_sampled(rng):
    scale = RewardScale(5.0, 2.0)
    laws = [Law(mixtures(rng), scale), Law(mixtures(rng), WarpedScale(scale, Warp(-2.6, 1e-4), 30.0))]
    law = LawMixture(laws, np.array([0.4, 0.6]))
    drawn = law.sample(200_000, 1)
    assert law.mean == pytest.approx(drawn.mean(axis=1), abs=0.15)
    assert law.std == pytest.approx(drawn.std(axis=1), rel=0.05)
    levels = np.array([0.05, 0.5, 0.9])
    found = law.quantile(levels)
    assert np.array([np.mean(drawn[i] <= found[i, k]) for i in range(3) for k in range(3)]) == pytest.approx(
        np.tile(levels, 3), abs=0.005
    )
    assert law.cdf(found) == pytest.approx(np.tile(levels, (3, 1)), abs=1e-9)
    worst = [np.sort(row)[: int(0.2 * row.size)].mean() for row in drawn]
    assert law.cvar(0.2) == pytest.approx(worst, abs=0.03)
    y = np.array([[1.0, 4.9], [2.0, 6.0], [5.5, 9.0]])
    slope = (law.cdf(y + 1e-5) - law.cdf(y - 1e-5)) / 2e-5
    assert law.density(y) == pytest.approx(slope, rel=1e-4)


def test_a_mixture_says_what_it_is(rng):
    law = LawMixture([Law(mixtures(rng), RewardScale(0.0, 1.0))], np.ones(1))
    assert len(law) == 3
    assert "3 points" in repr(law)
