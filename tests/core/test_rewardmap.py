from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from infgp.core.integrals import exponentials, powers
from infgp.core.rewardmap import BentScale, WarpedScale, reward_map
from infgp.core.scaling import STRAIGHT, RewardScale
from infgp.core.warp import IDENTITY, Warp

GAUSSIANS = [(0.3, 0.7), (-4.0, 2.0), (6.0, 1.5), (2.0, 0.01), (0.0, 30.0), (40.0, 3.0), (-500.0, 1.0)]
BOUNDS = [-8.0, -1.5, 0.4, 2.0, 3.0, 9.0, np.inf]
BENT = BentScale(RewardScale(7.0, 3.0), 1e4)


def integral(function, mean, sd, below):
    """Quadrature over the pieces between which the map has kinks, and within 12 standard deviations."""
    low, high = mean - 12.0 * sd, min(mean + 12.0 * sd, below)
    kinks = sorted({low, high, *(k for k in (*STRAIGHT, *BENT.ends, mean) if low < k < high)}) if low < high else []
    return sum(
        quad(lambda z: function(z) * norm.pdf(z, mean, sd), a, b, epsabs=0.0, limit=200)[0] for a, b in pairwise(kinks)
    )


def moments(rewards, mean, sd, below):
    return rewards.partial_moments(np.array(mean), np.array(sd), np.array(below))


@pytest.mark.parametrize("below", BOUNDS)
@pytest.mark.parametrize(("mean", "sd"), GAUSSIANS)
@pytest.mark.parametrize("rewards", [BENT, RewardScale(7.0, 3.0)], ids=["bent", "affine"])
def test_partial_moments_are_those_of_quadrature(rewards, mean, sd, below):
    centre = rewards.from_standard(np.clip(mean, *rewards.ends))

    def deviation(z):
        return float(rewards.from_standard(np.clip(z, *rewards.ends)) - centre) / rewards.unit

    first, second = moments(rewards, mean, sd, below)
    spread = integral(lambda z: deviation(z) ** 2, mean, sd, np.inf)
    assert first == pytest.approx(integral(deviation, mean, sd, below), rel=1e-7, abs=1e-8 * np.sqrt(spread) + 1e-12)
    partial = integral(lambda z: deviation(z) ** 2, mean, sd, below)
    assert second == pytest.approx(partial, rel=1e-7, abs=1e-8 * spread + 1e-12)


def test_moments_are_finite_for_any_gaussian():
    mean, sd = np.meshgrid([-1e8, -300.0, -15.0, 0.0, 2.0, 15.0, 300.0, 1e8], [1e-9, 1e-3, 1.0, 1e3, 1e9])
    for below in (-1e9, -20.0, 0.0, 20.0, np.inf):
        first, second = BENT.partial_moments(mean, sd, np.array(below))
        assert np.all(np.abs(first) <= 2.0 * BENT.reach)
        assert np.all(second <= 4.0 * BENT.reach**2)
        assert np.all(second >= -1e-6 * BENT.reach**2)  # rounding


def test_rewards_beyond_the_ends_count_as_being_there():
    """The widest Gaussian has half of its rewards at either end."""
    first, second = moments(BENT, 0.0, 1e9, np.inf)
    assert first == pytest.approx(0.0, abs=1e-3)
    assert np.sqrt(second) == pytest.approx(BENT.reach, rel=1e-6)
    assert BENT.from_standard(np.array(BENT.ends)) == pytest.approx([7.0 - 3e4, 7.0 + 3e4])


def test_the_reach_is_that_of_the_rewards_seen():
    scale = RewardScale(1.0, 2.0)
    assert BentScale.of(scale, np.array([1.0, 21.0, 0.0])).reach == 30.0
    assert BentScale.of(scale, np.array([1.0])).reach == 3.0


def test_the_slope_is_the_derivative():
    z = np.array([-9.0, -1.5, 0.3, 1.9, 2.5, 12.0])
    for rewards in (BENT, BENT.scale):
        slope = (rewards.from_standard(z + 1e-6) - rewards.from_standard(z - 1e-6)) / 2e-6
        assert np.log(slope) == pytest.approx(rewards.log_slope(z), abs=1e-6)


def test_the_straight_range_is_affine():
    mean, sd, below = (np.array(v) for v in (0.5, 0.01, 0.51))
    for bent, affine in zip(BENT.partial_moments(mean, sd, below), powers_below(mean, sd, below), strict=True):
        assert bent == pytest.approx(affine, rel=1e-12)


def powers_below(mean, sd, below):
    return powers(mean, sd, np.array(-np.inf), below)[1:]


def test_exponentials_in_the_far_tail_keep_their_digits():
    """Where exp(s² sd² / 2) overflows and the normal tail vanishes, their product is a number of order one."""
    mass, first, second = exponentials(np.array(0.0), np.array(1e5), np.array(0.0), np.array(1.0), 0.0)
    flat = norm.pdf(0.0) / 1e5
    assert mass == pytest.approx(flat, rel=1e-6)
    assert first == pytest.approx(flat * np.expm1(1.0), rel=1e-6)
    assert second == pytest.approx(flat * np.expm1(2.0) / 2.0, rel=1e-6)


# --- Warps -----------------------------------------------------------------------------------------------------------

WARPED = [
    WarpedScale(RewardScale(7.0, 3.0), Warp(a, b), 1e4)
    for a, b in [(-1.3, 1e-2), (0.4, 0.5), (2.0, 1e-8), (0.0, 100.0), (-500.0, 3.0)]
]


@pytest.mark.parametrize("below", [-1.5, 0.4, 3.0, np.inf])
@pytest.mark.parametrize(("mean", "sd"), [(0.3, 0.7), (-1.0, 0.2), (1.5, 0.1), (2.0, 0.01)])
@pytest.mark.parametrize("rewards", WARPED, ids=str)
def test_partial_moments_through_a_warp_are_those_of_quadrature(rewards, mean, sd, below):
    z = np.concatenate([np.linspace(a, b, 20_001) for a, b in pairwise([mean - 9.0 * sd, mean, mean + 9.0 * sd])])
    z = z[z <= below] if below < z[-1] else z
    u = rewards.warp.inverse(np.clip(z, *rewards.ends))
    centre = float(rewards.warp.inverse(np.clip(np.array(mean), *rewards.ends)))
    first, second = moments(rewards, mean, sd, below)
    density = norm.pdf(z, mean, sd)
    spread = abs(centre - rewards.warp.a) + rewards.warp.b  # rounding errors are relative to the distance from the knee
    exact = [np.trapezoid((u - centre) ** k * density, z) if z.size else 0.0 for k in (1, 2)]
    size = np.sqrt(moments(rewards, mean, sd, np.inf)[1])
    assert first == pytest.approx(exact[0], rel=1e-4, abs=1e-4 * size + 1e-12 * spread)
    assert second == pytest.approx(exact[1], rel=1e-4, abs=1e-4 * size**2 + 1e-12 * spread**2)


@pytest.mark.parametrize("rewards", WARPED, ids=str)
def test_moments_through_a_warp_are_finite_for_any_gaussian(rewards):
    mean, sd = np.meshgrid([-1e8, -300.0, -15.0, 0.0, 2.0, 15.0, 300.0, 1e8], [1e-9, 1e-3, 1.0, 1e3, 1e9])
    for below in (-1e9, -20.0, 0.0, 20.0, np.inf):
        first, second = rewards.partial_moments(mean, sd, np.array(below))
        assert np.all(np.abs(first) <= 2.0 * rewards.reach * (1.0 + 1e-9))
        assert np.all(second <= 4.0 * rewards.reach**2 * (1.0 + 1e-9))
        assert np.all(second >= -1e-6 * rewards.reach**2)  # rounding


def test_warped_slopes_and_values_belong_together():
    for rewards in WARPED:
        z = np.array([-1.2, -0.3, 0.9, 2.1])
        step = 1e-6 * (rewards.from_standard(z + 1e-3) - rewards.from_standard(z - 1e-3)) / 2e-3
        y = rewards.from_standard(z)
        slope = (rewards.from_standard(z + 1e-6) - rewards.from_standard(z - 1e-6)) / 2e-6
        assert np.log(slope) == pytest.approx(rewards.log_slope(z), abs=1e-3)
        assert rewards.to_standard(y + step) - z == pytest.approx(np.full(4, 1e-6), rel=1e-2)
        assert np.isfinite(rewards.to_standard(np.array([-np.inf, np.inf]))).all()


def test_the_identity_counts_all_rewards():
    scale = RewardScale(7.0, 3.0)
    assert reward_map(scale, IDENTITY, np.zeros(2)) is scale
    assert reward_map(scale, Warp(0.0, 1.0), np.array([37.0])).reach == pytest.approx(30.0)
