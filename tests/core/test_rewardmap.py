from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from infgp.core.integrals import exponential, powers, probability
from infgp.core.rewardmap import STRAIGHT, Tempered, WarpedScale, WarpedUnits, reward_map
from infgp.core.scaling import RewardScale
from infgp.core.warp import IDENTITY, Warp

GAUSSIANS = [(0.3, 0.7), (-4.0, 2.0), (6.0, 1.5), (2.0, 0.01), (0.0, 30.0), (40.0, 3.0), (-500.0, 1.0)]
BOUNDS = [-8.0, -1.5, 0.4, 2.0, 3.0, 9.0, np.inf]
AFFINE = RewardScale(7.0, 3.0)
CURVED = WarpedScale(AFFINE, Warp(0.5, 0.4), 1e4)


def integral(function, mean, sd, below):
    """Quadrature over the pieces between which the map has kinks, and within 12 standard deviations."""
    low, high = mean - 12.0 * sd, min(mean + 12.0 * sd, below)
    kinks = sorted({low, high, *(k for k in (0.5, *CURVED.ends, mean) if low < k < high)}) if low < high else []
    return sum(
        quad(lambda z: function(z) * norm.pdf(z, mean, sd), a, b, epsabs=0.0, limit=200)[0] for a, b in pairwise(kinks)
    )


def moments(rewards, mean, sd, below):
    return rewards.partial_moments(np.array(mean), np.array(sd), np.array(below))


@pytest.mark.parametrize("below", BOUNDS)
@pytest.mark.parametrize(("mean", "sd"), GAUSSIANS)
@pytest.mark.parametrize("rewards", [CURVED, AFFINE], ids=["warped", "affine"])
def test_partial_moments_are_those_of_quadrature(rewards, mean, sd, below):
    centre = rewards.from_standard(np.clip(mean, *rewards.ends))

    def deviation(z):
        return float(rewards.from_standard(np.clip(z, *rewards.ends)) - centre) / rewards.unit

    first, second = moments(rewards, mean, sd, below)
    spread = integral(lambda z: deviation(z) ** 2, mean, sd, np.inf)
    assert first == pytest.approx(integral(deviation, mean, sd, below), rel=1e-7, abs=1e-8 * np.sqrt(spread) + 1e-10)
    partial = integral(lambda z: deviation(z) ** 2, mean, sd, below)
    assert second == pytest.approx(partial, rel=1e-7, abs=1e-8 * spread + 1e-12)


def test_rewards_beyond_the_ends_count_as_being_there():
    """The widest Gaussian has half of its rewards at either end."""
    first, second = moments(CURVED, 0.0, 1e9, np.inf)
    assert np.sqrt(second) == pytest.approx(CURVED.reach, rel=1e-6)
    mean, slope = CURVED.expectation(np.array(0.0), np.array(1e9))
    assert CURVED.from_standard(np.array(0.0)) + CURVED.unit * first == pytest.approx(mean)
    assert mean == pytest.approx(7.0, abs=1e-2)
    assert 0.0 <= slope < 1e-3
    assert CURVED.from_standard(np.array(CURVED.ends)) == pytest.approx([7.0 - 3e4, 7.0 + 3e4])


def test_the_reach_is_that_of_the_rewards_seen():
    scale = RewardScale(1.0, 2.0)
    assert WarpedUnits.of(scale, np.array([1.0, 21.0, 0.0])).reach == 30.0
    assert WarpedUnits.of(scale, np.array([1.0])).reach == 3.0


def test_exponentials_in_the_far_tail_keep_their_digits():
    """Where exp(s² sd² / 2) overflows and the normal tail vanishes, their product is a number of order one."""
    piece = np.array(0.0), np.array(1e5), np.array(0.0), np.array(1.0)
    mass, first, second = probability(*piece), exponential(1.0, *piece, 0.0), exponential(2.0, *piece, 0.0)
    flat = norm.pdf(0.0) / 1e5
    assert mass == pytest.approx(flat, rel=1e-6)
    assert first == pytest.approx(flat * np.expm1(1.0), rel=1e-6)
    assert second == pytest.approx(flat * np.expm1(2.0) / 2.0, rel=1e-6)


def test_a_wide_warp_is_nearly_affine():
    mean, sd, below = (np.array(v) for v in (0.5, 0.01, 0.51))
    wide, affine = WarpedScale(AFFINE, Warp(0.5, 1e2), 1e4), powers(mean, sd, np.array(-np.inf), below)[1:]
    assert wide.partial_moments(mean, sd, below) == pytest.approx(affine, rel=1e-3)
    for got, wanted in zip(wide.expectation(mean, sd), AFFINE.expectation(mean, sd), strict=True):
        assert got == pytest.approx(wanted, rel=1e-3)
    assert wide.growth(mean) < 1e-3


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


# --- Means of rewards ------------------------------------------------------------------------------------------------

#: Some have ends that bind: the farthest reward that counts is within what the Gaussians below reach.
MAPS = [
    AFFINE,
    *(
        WarpedScale(AFFINE, Warp(a, b), reach)
        for a in (-2.5, -1.0, 0.3, 2.0)
        for b in (1e-6, 1e-3, 0.5, 1e2)
        for reach in (3.0, 1e4)
    ),
]
every_map = pytest.mark.parametrize("rewards", MAPS, ids=str)


def mean_by_quadrature(rewards, mean, sd):
    """The mean of rewards, in the user's units: nodes within 12 standard deviations, and what is beyond the ends."""
    low, high = np.clip((mean - 12.0 * sd, mean + 12.0 * sd), *rewards.ends)
    edges, (nodes, weights) = np.linspace(low, high, 2001), np.polynomial.legendre.leggauss(8)
    half, middle = np.diff(edges)[:, None] / 2.0, (edges[1:] + edges[:-1])[:, None] / 2.0
    z = middle + half * nodes
    inside = float(np.sum(weights * half * rewards.from_standard(z) * norm.pdf(z, mean, sd)))
    (low, high), beyond = rewards.ends, 0.0
    if np.isfinite(low):
        at = rewards.from_standard(np.array([low, high]))
        beyond = float(at[0] * ndtr((low - mean) / sd) + at[1] * ndtr((mean - high) / sd))
    return inside + beyond


@pytest.mark.parametrize("sd", [1e-3, 0.3, 1.5, 20.0])
@pytest.mark.parametrize("mean", [-6.0, -1.0, 0.4, 3.0])
@every_map
def test_means_of_rewards_are_those_of_quadrature(rewards, mean, sd):
    value, slope = rewards.expectation(np.array(mean), np.array(sd))
    size = abs(float(rewards.from_standard(np.clip(mean, *rewards.ends)))) + rewards.unit
    assert value == pytest.approx(mean_by_quadrature(rewards, mean, sd), rel=1e-8, abs=1e-10 * size)
    step = 1e-4 * min(sd, 0.1)
    up, down = (mean_by_quadrature(rewards, mean + s, sd) for s in (step, -step))
    differences = (up - down) / (2.0 * step)
    assert slope == pytest.approx(differences, rel=1e-4, abs=1e-11 * size / step)
    assert slope >= -1e-14  # rounding


def test_some_means_are_ruled_by_the_ends():
    """The cases above say something about the ends: without them, the means would be larger by far."""
    near, far = (WarpedScale(AFFINE, Warp(-1.0, 1e-3), reach) for reach in (3.0, 1e4))
    low, high = (float(rewards.expectation(np.array(0.4), np.array(1.5))[0]) for rewards in (near, far))
    assert low < 16.0
    assert high > 1e3
    assert near.expectation(np.array(1e3), np.array(1.0))[0] == pytest.approx(16.0)
    assert near.expectation(np.array(1e3), np.array(1.0))[1] == pytest.approx(0.0, abs=1e-14)


@every_map
def test_means_of_rewards_are_finite_and_grow_with_the_gaussian(rewards):
    mean, sd = np.meshgrid([-1e8, -300.0, -15.0, 0.0, 2.0, 15.0, 300.0, 1e8], [1e-9, 1e-3, 1.0, 1e3, 1e9])
    value, slope = rewards.expectation(mean, sd)
    assert np.isfinite(value).all()
    assert (np.diff(value, axis=1) >= -1e-9 * rewards.unit * np.abs(value[:, 1:])).all()
    assert np.isfinite(slope).all()
    assert (slope >= -1e-14).all()  # rounding
    if rewards is not AFFINE:
        assert (np.abs(value - 7.0) <= 3.0 * rewards.reach * (1.0 + 1e-9)).all()


@every_map
def test_the_growth_is_that_of_the_slope(rewards):
    z, step = np.linspace(-2.0, 2.0, 41) + 0.013, 1e-5
    differences = (rewards.log_slope(z + step) - rewards.log_slope(z - step)) / (2.0 * step)
    assert rewards.growth(z) == pytest.approx(np.abs(differences), rel=1e-4, abs=2e-5)
    limit = 0.0 if rewards is AFFINE else rewards.warp.s
    assert rewards.growth(np.array([-1e8, 1e8])) == pytest.approx(np.full(2, limit))


# --- Units in which rewards are compared -----------------------------------------------------------------------------

TEMPERED = Tempered(AFFINE)


def test_tempered_units_are_straight_about_the_median_and_logarithmic_beyond():
    u = np.sort(np.append(np.linspace(-6.0, 6.0, 241), [-1e6, 1e6]))
    z = TEMPERED.to_standard(AFFINE.from_standard(u))
    assert (np.diff(z) > 0.0).all()
    middle = (u >= STRAIGHT[0]) & (u <= STRAIGHT[1])
    assert middle.sum() > 50
    assert z[middle] == pytest.approx(u[middle], abs=1e-12)
    assert (np.abs(z[~middle]) < np.abs(u[~middle])).all()
    decades = TEMPERED.to_standard(AFFINE.from_standard(np.array([-1e7, -1e6, 1e6, 1e7])))
    assert np.diff(decades)[[0, 2]] == pytest.approx(np.full(2, np.log(10.0)), rel=1e-4)


def test_tempered_units_are_undone():
    u = np.append(np.linspace(-6.0, 6.0, 241), [-1e12, -1e6, 1e6, 1e12])
    y = AFFINE.from_standard(u)
    assert TEMPERED.from_standard(TEMPERED.to_standard(y)) == pytest.approx(y, rel=1e-9)
    assert np.isfinite(TEMPERED.from_standard(np.array([-1e9, 1e9]))).all()
    assert np.isfinite(TEMPERED.to_standard(np.array([-1e300, 1e300]))).all()


def test_slopes_of_tempered_units_are_derivatives_and_have_no_jump():
    z, step = np.array([-9.0, -1.5, -1.0, 0.3, 1.9, 2.0, 2.5, 12.0]), 1e-6
    slope = (TEMPERED.from_standard(z + step) - TEMPERED.from_standard(z - step)) / (2.0 * step)
    assert TEMPERED.log_slope(z) == pytest.approx(np.log(slope), abs=1e-5)
    for end in STRAIGHT:
        sides = TEMPERED.from_standard(np.array([end - step, end, end + step]))
        assert np.diff(sides) == pytest.approx(np.full(2, 3.0 * step), rel=1e-5)


@pytest.mark.parametrize("warp", [Warp(3.0, 1e-6), Warp(2.0, 0.1), IDENTITY], ids=str)
def test_points_are_compared_through_a_warp_or_in_tempered_units(warp):
    units = WarpedUnits.of(AFFINE, AFFINE.from_standard(np.array([-30.0, 0.0, 3.0])))
    found = units.compared(warp, AFFINE.location)
    assert found == (TEMPERED if warp.straight else units.through(warp))
    elsewhere = Tempered(RewardScale(-50.0, AFFINE.scale))  # straight about the typical objective
    assert units.compared(warp, -50.0) == (elsewhere if warp.straight else units.through(warp))
