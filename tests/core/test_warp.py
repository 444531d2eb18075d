"""Warps of the rewards: their numbers, and which of them there are for some data."""

from dataclasses import replace

import numpy as np
import pytest

from infgp.core.model import Data, Model, prior_draw
from infgp.core.priors import Priors
from infgp.core.surface import log_likelihood
from infgp.core.warp import FEWEST, IDENTITY, STRAIGHT, Warp, Warped, Warps, grid

KNEES = [0.0, 1.0, -1.0, -1.0000001, 2.3, -40.0, 1e6, -1e6]
WIDTHS = [1e-8, 1e-5, 0.3, 1e2]


def rewards(a):
    """Rewards at all distances from a knee, on either side, and those that every warp leaves alone."""
    beyond = np.geomspace(1e-9, 1e6, 16)
    return np.concatenate((a - beyond, a + beyond, [a, -1.0, 0.0, 1.0, 1e6, -1e6]))


def plain(a, b, u):
    """The definition, with more digits than the library has."""
    a, b, u = (np.asarray(v, dtype=np.longdouble) for v in (a, b, u))
    low, at, high = (np.arcsinh((v - a) / b) for v in (np.longdouble(-1.0), u, np.longdouble(1.0)))
    return (2.0 * at - low - high) / (high - low)


@pytest.mark.parametrize("b", WIDTHS)
@pytest.mark.parametrize("a", KNEES)
def test_no_digits_are_lost(a, b):
    warp, u = Warp(a, b), rewards(a)
    z = warp.forward(u)
    np.testing.assert_allclose(z, plain(a, b, u).astype(float), rtol=1e-10, atol=1e-10)
    assert warp.forward(np.array([-1.0, 1.0])) == pytest.approx([-1.0, 1.0], abs=1e-15)
    back = warp.inverse(z)
    np.testing.assert_allclose(back - a, u - a, rtol=1e-12, atol=1e-12 * (1.0 + abs(a)) + 1e-6 * b)


@pytest.mark.parametrize(("a", "b"), [(0.3, 1e-3), (-2.0, 0.5), (50.0, 2.0), (1.0, 1e-6), (0.0, 1e2)])
def test_slopes_are_derivatives(a, b):
    warp, u = Warp(a, b), np.array([-60.0, -1.0, a + 0.4 * b, a - 7.0 * b, 2.0, 1e3])
    step = 1e-4 * np.hypot(b, u - a)
    above, below = u + step, u - step
    slope = (plain(a, b, above) - plain(a, b, below)) / (above - below)
    assert warp.log_slope(u) == pytest.approx(np.log(slope.astype(float)), abs=1e-6)


def test_identity_is_exact_and_a_limit(rng):
    u = 100.0 * rng.standard_cauchy(50)
    assert IDENTITY.forward(u) is u
    assert IDENTITY.inverse(u) is u
    assert not IDENTITY.log_slope(u).any()
    wide = Warp(0.0, 1e9)
    assert wide.forward(u) == pytest.approx(u, rel=1e-9)
    assert wide.log_slope(u) == pytest.approx(np.zeros(50), abs=1e-9)


def test_far_rewards_stay_numbers():
    warp = Warp(0.5, 1e-8)
    assert np.isfinite(warp.forward(np.array([-1e100, 1e100]))).all()
    assert np.isfinite(warp.inverse(np.array([-1e9, 1e9]))).all()


def test_a_grid_has_the_identity_and_half_of_the_prior_on_it(rng):
    warps = grid(rng.normal(size=60))
    assert warps.maps[0] == IDENTITY
    assert len(warps) == 1 + 7 * 14
    assert warps.prior[0] == STRAIGHT
    assert sum(warps.prior) == pytest.approx(1.0)


def test_no_knee_is_at_a_reward(rng):
    u = np.sort(10.0 ** rng.uniform(-8, 0, size=41))
    for warp in grid(u).maps[1:]:
        gap = np.min(np.abs(u - warp.a))
        assert gap > 0.0
        beyond = warp.a < u[0] or warp.a > u[-1]
        assert gap == pytest.approx(
            np.min(np.abs(np.diff(u[np.argsort(np.abs(u - warp.a))[:2]]))) * (1 - 0.5 * (not beyond))
        )


@pytest.mark.parametrize(
    "u",
    [
        np.zeros(20),
        np.array([0.0, 1.0] * 20),
        np.arange(FEWEST - 1.0),
        np.repeat(np.arange(6.0), 5),
        1.0 + 1e-17 * np.arange(20.0),
        np.round(np.random.default_rng(0).normal(size=80), 1),
    ],
    ids=["constant", "success or failure", "three", "grades", "rounding", "coarse"],
)
def test_ties_teach_no_warp(u):
    assert len(grid(u)) == 1


@pytest.mark.parametrize("shared", [1e4, 1e-3, 1e-6])
def test_repeats_never_speak_for_a_warp(rng, shared):
    """A number that many share: its Jacobian counts once, or is below 1; the warps of the other rewards stay."""
    u = np.concatenate((10.0 ** rng.uniform(-6, 1, size=40), np.full(15, shared)))
    once, shares = grid(np.unique(u)), grid(u)
    known = dict(zip(once.maps, once.prior, strict=True))
    slopes = shares.log_slope(np.full(14, shared)).sum(axis=1)
    for warp, prior, slope in zip(shares.maps, shares.prior, slopes, strict=True):
        odds, before = np.log(prior / shares.prior[0]), np.log(known.get(warp, 0.5 / (len(shares) - 1)) / 0.5)
        assert odds == pytest.approx(before - max(slope, 0.0), abs=1e-9)
    assert any(0.0 < u.min() - warp.a < 1e-4 and warp.b < 1e-6 for warp in shares.maps)


def test_two_repeats_of_losses_over_decades_leave_the_warps():
    """As where two of eighty configurations are evaluated twice and give the same number."""
    losses = np.geomspace(1e-5, 1.0, 78)
    chances = [grid(-u, resolve_good=True).prior[0] for u in (losses, np.append(losses, losses[[3, 50]]))]
    assert chances[0] == STRAIGHT
    assert len(grid(-np.append(losses, losses[[3, 50]]), resolve_good=True)) > 20
    assert chances[1] < 0.99


def test_a_likelihood_is_a_density_of_rewards_before_the_warp(rng):
    """It integrates to one over a single reward, whatever the warp."""
    warps = Warps((IDENTITY, Warp(-1.5, 0.05), Warp(0.4, 0.3)), (0.4, 0.35, 0.25))
    model = replace(Model("se", Priors().resolve(1), ard=False), warps=warps)
    state = replace(prior_draw(rng, np.array([[0.3]]), model), beta=np.array([0.2, 0.1]), sigma2=np.ones(1))
    for k, warp in enumerate(warps.maps):
        z = np.linspace(-9.0, 9.0, 2001)
        u = warp.inverse(z)
        p = [
            np.exp(log_likelihood(replace(state, warp=k), Data(np.array([[0.3]]), u[i : i + 1]), model))
            for i in range(u.size)
        ]
        assert np.trapezoid(p, u) == pytest.approx(1.0, abs=1e-3)


def test_data_goes_through_a_warp_once(rng):
    warps = Warps((IDENTITY, Warp(0.0, 0.1)), (0.5, 0.5))
    model = Model("se", Priors().resolve(1), ard=False, warps=warps)
    data = Data(rng.random((4, 1)), rng.normal(size=4))
    state = prior_draw(rng, data.x, model)
    straight, bent = (data.seen(replace(state, warp=k), model) for k in (0, 1))
    assert straight is data
    assert bent.y == pytest.approx(warps.maps[1].forward(data.y))
    assert bent.seen(replace(state, warp=1), model) is bent
    assert bent.h is data.h
    assert data.noisier(1.0).seen(replace(state, warp=1), model).noise == pytest.approx(np.ones(4))  # in units of z
    with pytest.raises(AssertionError, match="do not go through others"):
        bent.through(warps)


def test_all_warps_at_once(rng):
    u, warps = rng.normal(size=7), grid(rng.normal(size=30))
    warped = Warped.of(u, warps)
    k = 40
    assert warped.z[k] == pytest.approx(warps.maps[k].forward(u))
    assert warped.log_slope[k] == pytest.approx(warps.maps[k].log_slope(u).sum())
