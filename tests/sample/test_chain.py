from dataclasses import replace

import numpy as np
import pytest

from infgp.core.model import Data, Model, prior_draw
from infgp.core.priors import Priors
from infgp.core.scaling import InputScale, RewardScale, Units
from infgp.core.state import State
from infgp.core.surface import Conditioned, log_likelihood
from infgp.core.warp import Warp, Warps
from infgp.predict.mixture import predictive
from infgp.sample.chain import Schedule, drive
from infgp.sample.start import in_reward_units, in_units, in_warps


def two_surfaces(own):
    rng = np.random.default_rng(2)
    labels = np.array([0, 1, 1, 0, 1, 1])
    data = Data(rng.random((6, 2)), 3.0 + 7.0 * rng.normal(size=6))
    scale = np.array([0.5, 2.0, 1.5]) if own else np.ones(1)
    state = State(labels, rng.normal(size=3), 0.7, np.array([[2.0, 0.4]]), np.array([1.8]), np.array([0.2]), scale)
    return state, data, Model("matern52", Priors().resolve(2), ard=True, scale_shape=2.0 if own else 0.0)


@pytest.mark.parametrize("own", [False, True])
def test_other_units_change_nothing_but_units(own):
    state, raw, model = two_surfaces(own)
    old, new = RewardScale(1.3, 2.5), RewardScale(-4.0, 0.6)
    before, after = (Data(raw.x, scale.to_standard(raw.y)) for scale in (old, new))
    beta = state.beta.copy()
    moved = in_reward_units(state, old, new)
    assert np.array_equal(state.beta, beta)
    jacobian = raw.y.size * np.log(new.scale / old.scale)
    assert log_likelihood(moved, after, model) == pytest.approx(log_likelihood(state, before, model) + jacobian)
    at = np.random.default_rng(0).random((5, 2))
    a, b = predictive([Conditioned(state, before, model)], at), predictive([Conditioned(moved, after, model)], at)
    assert new.from_standard(b.mean()) == pytest.approx(old.from_standard(a.mean()))
    assert new.scale * b.std() == pytest.approx(old.scale * a.std())
    back = in_reward_units(moved, new, old)
    assert back.beta == pytest.approx(state.beta)
    assert (back.sigma2[0], back.tau2[0]) == pytest.approx((1.8, 0.2))


@pytest.mark.parametrize("ard", [False, True])
def test_other_units_of_the_inputs_change_nothing_but_units(ard, rng):
    """Where one length-scale serves all inputs, their ranges have to grow alike."""
    x, y = rng.normal(size=(6, 2)) * 3.0, 4.0 + 7.0 * rng.normal(size=6)
    old = Units(InputScale(np.array([-1.0, 2.0]), np.array([3.0, 5.0])), RewardScale(1.3, 2.5))
    span = np.array([4.0, 20.0 / 3.0]) if not ard else np.array([4.0, 1.0])
    new = Units(InputScale(np.array([-2.0, 0.5]), span), RewardScale(-4.0, 0.6))
    state, _, model = two_surfaces(True)
    model = replace(model, ard=ard)
    before, after = (Data(u.inputs.to_unit(x), u.rewards.to_standard(y)) for u in (old, new))
    moved = in_units(state, old, new, ard)
    jacobian = y.size * np.log(new.rewards.scale / old.rewards.scale)
    assert log_likelihood(moved, after, model) == pytest.approx(log_likelihood(state, before, model) + jacobian)


def test_the_driver_heats_keeps_and_counts():
    seen, data, model = (
        [],
        Data(np.linspace(0.0, 1.0, 4)[:, None], np.zeros(4)),
        Model("se", Priors().resolve(1), ard=False),
    )
    state = State(np.array([0, 0, 1, 1]), np.zeros(2), 0.7, np.ones((1, 1)), np.ones(1), np.ones(1))

    def move(rng, state, on, model):
        seen.append(float(on.noise[0]))
        return replace(state, nu=state.nu + 1.0), {"step": (2, 1)}

    schedule = Schedule(np.array([0.5, 0.0]), sweeps=5, kept=(1, 4))
    ticks = []
    draws = drive(np.random.default_rng(0), state, data, model, (move,), schedule, on_sweep=lambda: ticks.append(1))
    assert seen == [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert len(ticks) == 7
    assert [s.nu for s in draws.states] == pytest.approx([4.7, 7.7])
    assert draws.deeds == {"step": (10, 5)}  # of the warm-up nothing is told
    assert draws.traces["n_surfaces"].tolist() == [2.0, 2.0]


def test_states_go_on_with_other_warps(rng):
    """Where the new warps have the old one in the new units, the joint density of rewards stays, up to its units."""
    y = 10.0 ** rng.normal(size=12)
    old, new = RewardScale(1.3, 2.0), RewardScale(0.4, 0.5)
    warp = Warp(-0.7, 0.01)
    moved = Warp(float(new.to_standard(old.from_standard(np.array(warp.a)))), warp.b * old.scale / new.scale)
    before, after = (Warps((Warp(), w, Warp(1.0, 0.3)), (0.5, 0.25, 0.25)) for w in (warp, moved))
    model, x = Model("se", Priors().resolve(1), ard=False), rng.random((12, 1))
    state = replace(prior_draw(rng, x, model), warp=1)
    there = in_warps(state, old, new, before, after)
    assert there.warp == 1
    a = log_likelihood(state, Data(x, old.to_standard(y)), replace(model, warps=before)) - 12 * np.log(old.scale)
    b = log_likelihood(there, Data(x, new.to_standard(y)), replace(model, warps=after)) - 12 * np.log(new.scale)
    assert a == pytest.approx(b, abs=1e-6)
