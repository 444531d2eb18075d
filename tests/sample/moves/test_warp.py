"""The warp among the parameters: the move, whole sweeps with it, and the proofs to notice bugs."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import invgamma, multivariate_normal, multivariate_t

from infgp.core.model import Data, prior_draw
from infgp.core.partition import enumerate_partitions, urn_logpdf
from infgp.core.priors import InverseGamma
from infgp.core.surface import draw_own_scales, log_joint
from infgp.core.warp import IDENTITY, Warp, Warps, grid
from infgp.sample.chain import COLLAPSED_SWEEP, ONE_SURFACE_SWEEP, apply, sweep
from infgp.sample.moves import warp as warp_module
from infgp.sample.moves.assign import assign
from infgp.sample.moves.hyper import draw_nu, draw_scales
from infgp.sample.moves.split_merge import reallocate, split_merge
from infgp.sample.moves.warp import draw_warp, draw_warp_at_times, log_posterior
from infgp.sample.start import start_state
from infgp.testing import family_p_value
from tests.proofs import (
    NU,
    SIGMA2,
    TAU2,
    X5,
    Y5,
    blocks_of,
    calibration_p_values,
    frequencies_p_value,
    joint_p_values,
    key,
    statistics,
)

from .test_collapsed import fixed_model, free_model

#: Straight, steep just below the rewards, and steep among them: so different that four rewards tell.
WARPS = Warps((IDENTITY, Warp(-1.12, 0.002), Warp(0.5, 0.02)), (0.4, 0.35, 0.25))
X, Y = X5[:4], Y5[:4]


def wrong_slopes(factor):
    """The move with each Jacobian to a power: 0 forgets it, −1 has the wrong sign."""

    def move(rng, state, data, model):
        wrong, right = Data(data.x, data.y, data.noise), data.through(model.warps)
        wrong._warped(model.warps, lambda: replace(right, log_slope=factor * right.log_slope))  # remembered
        return draw_warp(rng, state, wrong, model)

    return move


def blind(move):
    """A move that sees rewards as they are, whatever the warp."""

    def blinded(rng, state, data, model):
        return replace(apply((move,), rng, replace(state, warp=0), data, model), warp=state.warp)

    return blinded


def replaced(right, wrong):
    return tuple(wrong if move is right else move for move in COLLAPSED_SWEEP)


# --- Enumeration -----------------------------------------------------------------------------------------------------


def exact_warp(warp, u):
    """Rewards through a warp and the logarithm of the Jacobian, from the definition and by differences."""
    if warp == IDENTITY:
        return u, 0.0

    def forward(v):
        low, at, high = (np.arcsinh((t - warp.a) / warp.b) for t in (-1.0, v, 1.0))
        return (2.0 * at - low - high) / (high - low)

    return forward(u), float(np.sum(np.log((forward(u + 1e-7) - forward(u - 1e-7)) / 2e-7)))


def exact_posterior(shape):
    """Over partitions of four points and the warps, from SciPy's densities."""
    logs = {}
    for (k, warp), z in product(enumerate(WARPS.maps), enumerate_partitions(4)):
        y, log_slope = exact_warp(warp, Y)
        total = urn_logpdf(z, NU) + np.log(WARPS.prior[k]) + log_slope
        for s in blocks_of(z):
            gaps = (X[s, 0][:, None] - X[s, 0][None, :]) / 0.4
            cov = SIGMA2 * np.exp(-0.5 * gaps**2) + TAU2 * np.eye(len(s))
            zero = np.zeros(len(s))
            law = multivariate_t(zero, cov, df=2 * shape) if shape else multivariate_normal(zero, cov)
            total += law.logpdf(y[s])
        logs[key(z, k)] = total
    norm = logsumexp(list(logs.values()))
    return {k: np.exp(v - norm) for k, v in logs.items()}


def p_value(moves, shape, thin, draws=10_400, seed=1):
    rng = np.random.default_rng(seed)
    model, data = replace(fixed_model(shape), warps=WARPS), Data(X, Y)
    start, exact = prior_draw(rng, X, model), exact_posterior(shape)
    return frequencies_p_value(rng, start, moves, thin, data, model, exact, lambda s: key(s.labels, s.warp), draws)


@pytest.mark.parametrize("shape", [pytest.param(0.0, marks=pytest.mark.slow), 1.5])
@pytest.mark.parametrize(
    ("moves", "thin"),
    [
        ((assign, draw_warp), 3),
        ((*(split_merge,) * 6, draw_warp), 3),
        ((*(reallocate, split_merge) * 3, draw_warp), 3),
        (COLLAPSED_SWEEP, 2),
    ],
    ids=["labels", "split-merge", "reallocations", "whole sweep"],
)
def test_partitions_and_warps_match_enumeration(moves, thin, shape):
    assert p_value(moves, shape, thin) > 1e-4


@pytest.mark.parametrize("factor", [0.0, -1.0], ids=["missing", "wrong sign"])
def test_enumeration_notices_a_wrong_jacobian(factor):
    assert p_value((assign, wrong_slopes(factor)), 1.5, 3, draws=5000) < 1e-6


@pytest.mark.parametrize(("move", "thin"), [(assign, 3), (split_merge, 10)], ids=["labels", "split-merge"])
def test_enumeration_notices_labels_that_do_not_see_the_warp(move, thin):
    assert p_value((blind(move), draw_warp), 1.5, thin, draws=5000) < 1e-6


def window_p_value(shape, move=draw_warp, draws=5000):
    """Alone, the move keeps to the warps and a lattice of factors of σ² and τ²."""
    rng = np.random.default_rng(5)
    model = replace(fixed_model(shape), warps=WARPS)
    priors = replace(model.priors, sigma2=InverseGamma(5.0, 3.0), tau2=InverseGamma(4.0, 0.5))
    model, data = replace(model, priors=priors), Data(X, Y)
    start = replace(prior_draw(rng, X, model), labels=np.array([0, 0, 1, 1]), sigma2=np.ones(1), tau2=0.2 * np.ones(1))
    logs, steps = {}, range(-14, 21)
    for (k, warp), j in product(enumerate(WARPS.maps), steps):
        y, log_slope = exact_warp(warp, Y)
        sigma2, tau2 = (v * np.exp(warp_module.STEP * j) for v in (1.0, 0.2))
        total = np.log(WARPS.prior[k]) + log_slope + np.log(sigma2 * tau2)
        total += invgamma(5.0, scale=3.0).logpdf(sigma2) + invgamma(4.0, scale=0.5).logpdf(tau2)
        for s in ([0, 1], [2, 3]):
            gaps = (X[s, 0][:, None] - X[s, 0][None, :]) / 0.4
            cov = sigma2 * np.exp(-0.5 * gaps**2) + tau2 * np.eye(2)
            law = multivariate_t(np.zeros(2), cov, df=2 * shape) if shape else multivariate_normal(np.zeros(2), cov)
            total += law.logpdf(y[s])
        logs[k, j] = total
    norm = logsumexp(list(logs.values()))
    exact = {k: np.exp(v - norm) for k, v in logs.items()}

    def key_of(state):
        return state.warp, round(float(np.log(state.sigma2[0])) / warp_module.STEP)

    return frequencies_p_value(rng, start, (move,), 3, data, model, exact, key_of, draws)


@pytest.mark.parametrize("shape", [0.0, 1.5])
def test_warps_and_factors_match_enumeration(shape):
    assert window_p_value(shape) > 1e-4


def test_enumeration_notices_a_window_that_is_not_thrown():
    """Factors from a window in which 1 is always the second grow too easily."""

    class Low(np.random.Generator):
        def integers(self, *_):
            return 1

    def stuck(rng, state, data, model):
        return draw_warp(Low(rng.bit_generator), state, data, model)

    assert window_p_value(1.5, stuck) < 1e-6


def test_enumeration_notices_a_density_in_other_units(monkeypatch):
    """A density in σ² and τ² where one in their logarithms is meant."""
    right = warp_module._log_prior
    monkeypatch.setattr(warp_module, "_log_prior", lambda p, v, log_factor: right(p, v, log_factor) - log_factor)
    assert window_p_value(1.5) < 1e-6


@pytest.mark.parametrize("shape", [0.0, 1.5])
def test_probabilities_are_ratios_of_the_joint(shape, rng):
    u = 10.0 ** rng.normal(size=15)
    model = replace(free_model(shape), warps=grid(u), grades=(0.7, 0.3))
    data = Data(rng.random((15, 1)), u)
    state = prior_draw(rng, data.x, model)
    found = log_posterior(state, data, model, np.array([0.0, 0.7]))
    for k, (j, factor) in product((0, 9, 60), enumerate((1.0, np.exp(0.7)))):
        other = replace(state, warp=k, sigma2=factor * state.sigma2, tau2=factor * state.tau2)
        exact = log_joint(other, data, model) - log_joint(replace(state, warp=0), data, model) + 2.0 * np.log(factor)
        assert found[k, j] - found[0, 0] == pytest.approx(exact, abs=1e-6)


# --- Joint distribution ----------------------------------------------------------------------------------------------


def known(pair, model):
    """Statistics of the rewards that the surfaces see, of the warp, and of the rewards before it."""
    state, data = pair
    warp, level = state.warp, np.arcsinh(data.y)
    alone = replace(model, warps=Warps((model.warps.maps[warp],), (1.0,)))
    return statistics(replace(state, warp=0), data.seen(state, model), alone) | {
        "first warp": float(warp == 1),
        "second warp": float(warp == 2),
        "first x level": float(warp == 1) * float(level.mean()),
        "second x level": float(warp == 2) * float(level.mean()),
        "spread": float(np.tanh(level.std())),
        "warp x tau2": float(warp == 1) * float(np.log(state.tau2[0])),
        "warp x sigma2": float(warp == 2) * float(np.log(state.sigma2[0])),
        "warp x intercept": float(warp == 1) * float(state.beta[0]),
    }


def geweke_p_values(moves, shape, seed, d=1, n=5, sweeps=6000, one_surface=False):
    rng = np.random.default_rng(seed)
    model, x = replace(free_model(shape, d, d > 1), warps=WARPS, one_surface=one_surface), rng.random((n, d))
    return joint_p_values(rng, x, model, moves, known, sweeps)


@pytest.mark.parametrize(("shape", "d"), [(0.0, 1), (1.5, 1), pytest.param(1.5, 2, marks=pytest.mark.slow)])
def test_joint_distribution(shape, d):
    assert family_p_value(geweke_p_values((*COLLAPSED_SWEEP, reallocate), shape, seed=41, d=d)) > 1e-4


def test_joint_distribution_of_one_surface():
    """The concentration, of which one surface says nothing, is left alone."""
    moves = tuple(move for move in ONE_SURFACE_SWEEP if move is not draw_nu)
    assert family_p_value(geweke_p_values(moves, 0.0, seed=42, one_surface=True)) > 1e-4


@pytest.mark.parametrize("factor", [0.0, -1.0], ids=["missing", "wrong sign"])
def test_joint_distribution_notices_a_wrong_jacobian(factor):
    assert family_p_value(geweke_p_values(replaced(draw_warp_at_times, wrong_slopes(factor)), 1.5, seed=43)) < 1e-6


@pytest.mark.parametrize("move", [assign, draw_scales], ids=["labels", "scales"])
def test_joint_distribution_notices_a_move_that_does_not_see_the_warp(move):
    assert family_p_value(geweke_p_values(replaced(move, blind(move)), 0.0, seed=44)) < 1e-6


def test_joint_distribution_notices_warps_with_another_prior():
    def tilted(rng, state, data, model):
        return draw_warp(rng, state, data, replace(model, warps=Warps(WARPS.maps, (0.1, 0.8, 0.1))))

    assert family_p_value(geweke_p_values(replaced(draw_warp_at_times, tilted), 1.5, seed=45)) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("shape", [0.0, 1.5])
def test_calibration(shape):
    rng = np.random.default_rng(47)
    model, x = replace(free_model(shape), warps=WARPS), rng.random((8, 1))
    p = calibration_p_values(rng, x, model, (*COLLAPSED_SWEEP, reallocate), known)
    assert family_p_value(p) > 1e-4, p


# --- Chains ----------------------------------------------------------------------------------------------------------


def test_a_sweep_is_its_moves(rng):
    u = 10.0 ** rng.normal(size=20)
    model, data = replace(free_model(1.5), warps=grid(u), grades=(0.7, 0.3)), Data(rng.random((20, 1)), u)
    one = two = start_state(rng, data, model, "random")
    a, b = np.random.default_rng(3), np.random.default_rng(3)
    warps = set()
    for _ in range(30):
        one, two = apply((sweep,), a, one, data, model), apply(COLLAPSED_SWEEP, b, two, data, model)
        assert (one.labels == two.labels).all()
        assert one.warp == two.warp
        assert one.tau2 == two.tau2
        warps.add(one.warp)
    assert len(warps) > 1


def test_own_scales_are_drawn_given_rewards_through_the_warp(rng):
    x = rng.random((40, 1))
    model = replace(fixed_model(1.5), warps=Warps((IDENTITY, Warp(0.0, 1e-6)), (0.5, 0.5)))
    data = Data(x, 1e-4 * rng.normal(size=40))
    state = replace(start_state(rng, data, model, "one"), warp=1)
    bent, straight = (
        np.mean([draw_own_scales(rng, replace(state, warp=k), data, model).scale[0] for _ in range(50)]) for k in (1, 0)
    )
    seen = data.seen(state, model)
    direct = np.mean([draw_own_scales(rng, replace(state, warp=1), seen, model).scale[0] for _ in range(50)])
    assert bent == pytest.approx(direct, rel=0.2)
    assert straight < 0.5 * bent


def test_chains_start_from_states_with_more_warps(rng):
    data, model = Data(rng.random((5, 1)), rng.normal(size=5)), replace(fixed_model(0.0), warps=WARPS)
    state = replace(prior_draw(rng, data.x, model), warp=2)
    assert start_state(rng, data, model, state).warp == 2
    assert start_state(rng, data, fixed_model(0.0), state).warp == 0
