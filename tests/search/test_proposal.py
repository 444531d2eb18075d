import math

import numpy as np
import pytest

from infgp.core.model import Data, Model, State, log_likelihood
from infgp.core.priors import Priors
from infgp.errors import InvalidInputError
from infgp.predict.mixture import predictive
from infgp.search.acquisition import TargetLaw
from infgp.search.optimizer import Optimizer
from infgp.search.proposal import (
    ACQUISITIONS,
    HALVINGS,
    PATIENCE,
    Expected,
    Exploration,
    believe,
    best_of,
    check_strategy,
    local_reach,
    suggest,
)
from infgp.search.warm import restandardise
from infgp.space import Choice, Float, Int, Space
from tests.exact import central_differences

LINE = Space.of({"x": Float(0.0, 1.0)})
NONE = np.empty((0, 1))


# --- Options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "c", "power"),
    [("paper", 1.0, 0.5), (0.3, 0.3, 0.5), (0, 0.0, 0.5), ((2, 0.9), 2.0, 0.9), ([2, 0.9], 2.0, 0.9)],
)
def test_exploration(value, c, power):
    exploration = Exploration.of(value)
    assert (exploration.c, exploration.power) == (c, power)
    assert exploration.chance(100) == pytest.approx(min(1.0, c * 100.0**-power))
    assert exploration.chance(1) == exploration.chance(0) == min(1.0, c)


@pytest.mark.parametrize(
    "value",
    [
        "often",
        None,
        -0.1,
        math.nan,
        math.inf,
        (1.0, 0.0),
        (1.0, 1.0),
        (-1.0, 0.5),
        (1.0,),
        (1.0, 0.5, 0.5),
        (None, 0.5),
    ],
)
def test_exploration_that_makes_no_sense(value):
    with pytest.raises(InvalidInputError, match="exploration must be 'paper'"):
        Exploration.of(value)


def test_strategies():
    for acquisition in ACQUISITIONS:
        check_strategy(acquisition, "main")
        check_strategy(acquisition, "mean")
    check_strategy("thompson", "surface")
    check_strategy("local", "surface")
    with pytest.raises(InvalidInputError, match="acquisition='ei' is not known; use one of 'logei'"):
        check_strategy("ei", "main")
    with pytest.raises(InvalidInputError, match="target='best' is not known; use one of 'expected'"):
        check_strategy("logei", "best")
    with pytest.raises(InvalidInputError, match="which is Thompson sampling"):
        check_strategy("logei", "surface")


# --- States -----------------------------------------------------------------------------------------------------------


def two_surfaces(own):
    rng = np.random.default_rng(2)
    labels = np.array([0, 1, 1, 0, 1, 1])
    data = Data(rng.random((6, 2)), 3.0 + 7.0 * rng.normal(size=6))
    scale = np.array([0.5, 2.0, 1.5]) if own else np.ones(1)
    state = State(labels, rng.normal(size=3), 0.7, np.array([[2.0, 0.4]]), np.array([1.8]), np.array([0.2]), scale)
    return state, data, Model("matern52", Priors().resolve(2), ard=True, scale_shape=2.0 if own else 0.0)


def test_believed_rewards_join_the_dominant_surface():
    state, data, model = two_surfaces(True)
    x, y = np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([5.0, 6.0])
    after, known = believe(state, data, model, x, y)
    assert after.labels.tolist() == [0, 1, 1, 0, 1, 1, 1, 1]
    assert np.array_equal(known.x, np.vstack((data.x, x)))
    assert np.array_equal(known.y, np.append(data.y, y))
    assert (state.labels.size, data.y.size) == (6, 6)
    assert believe(state, data, model, np.empty((0, 2)), np.empty(0)) == (state, data)


@pytest.mark.parametrize("own", [False, True])
def test_other_units_change_nothing_but_units(own):
    state, raw, model = two_surfaces(own)
    old, new = (1.3, 2.5), (-4.0, 0.6)
    before, after = (Data(raw.x, (raw.y - location) / scale) for location, scale in (old, new))
    beta = state.beta.copy()
    moved = restandardise(state, old, new)
    assert np.array_equal(state.beta, beta)
    jacobian = raw.y.size * np.log(new[1] / old[1])
    assert log_likelihood(moved, after, model) == pytest.approx(log_likelihood(state, before, model) + jacobian)
    at = np.random.default_rng(0).random((5, 2))
    a, b = predictive([state], before, model, at), predictive([moved], after, model, at)
    assert new[0] + new[1] * b.mean() == pytest.approx(old[0] + old[1] * a.mean())
    assert new[1] * b.std() == pytest.approx(old[1] * a.std())
    back = restandardise(moved, new, old)
    assert back.beta == pytest.approx(state.beta)
    assert (back.sigma2[0], back.tau2[0]) == pytest.approx((1.8, 0.2))


def test_best_points_are_distinct_and_in_order():
    x = np.array([[0.1], [0.2], [0.1], [0.3], [0.4], [0.5], [0.6]])
    value = np.array([5.0, 7.0, 6.0, 1.0, 2.0, 3.0, 0.0])
    assert best_of(x, value)[:, 0].tolist() == [0.2, 0.1, 0.5, 0.4, 0.3]


def test_the_expected_reward_is_a_mean_with_gradients(rng):
    state, data, model = two_surfaces(True)
    other = restandardise(state, (0.0, 1.0), (0.5, 2.0))
    beliefs = tuple(TargetLaw.of(s, data, model, "mean") for s in (state, other))
    score, at = Expected(beliefs), rng.random((6, 2))
    value, gradient = score.value_and_gradient(at)
    assert value == pytest.approx(0.5 * (beliefs[0](at)[0] + beliefs[1](at)[0]))
    assert value == pytest.approx(score(at))
    assert gradient == pytest.approx(central_differences(score, at), rel=1e-5, abs=1e-6)


# --- Suggestions ------------------------------------------------------------------------------------------------------


def known_hill():
    """A smooth hill with its top in a gap of the data, and to the right of 0.6 nothing known."""
    x = np.concatenate((np.linspace(0.0, 0.25, 8), np.linspace(0.45, 0.6, 8)))[:, None]
    y = 2.0 * np.exp(-50.0 * (x[:, 0] - 0.35) ** 2)
    state = State(np.zeros(16, int), np.zeros(2), 1e-3, np.full((1, 1), 25.0), np.ones(1), np.array([1e-3]))
    return state, Data(x, y), Model("se", Priors().resolve(1), ard=False)


def suggestions(acquisition, pending=NONE, failed=NONE, target="main", seeds=8):
    state, data, model = known_hill()
    options = {"acquisition": acquisition, "target": target, "pending": pending, "failed": failed}
    return np.array(
        [suggest(np.random.default_rng(s), [state] * 2, data, model, LINE, **options)[0] for s in range(seeds)]
    )


@pytest.mark.parametrize("target", ["expected", "main", "mean"])
@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_suggestions_are_on_top_of_a_known_hill(acquisition, target):
    assert np.abs(suggestions(acquisition, target=target) - 0.35).max() < 0.06


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_suggestions_are_reproducible(acquisition):
    assert np.array_equal(suggestions(acquisition), suggestions(acquisition))


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_suggestions_keep_away_from_failures(acquisition):
    failed = np.full((5, 1), 0.35)
    assert np.abs(suggestions(acquisition, failed=failed) - 0.35).min() > 0.03


def test_suggestions_keep_away_from_what_is_pending():
    """The improvement to be had where many rewards are on their way is gone."""
    top = np.median(suggestions("logei"))
    pending = np.tile(np.linspace(top - 0.02, top + 0.02, 5)[:, None], (20, 1))
    assert np.abs(suggestions("logei", pending=pending) - top).min() > 0.03


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_batches_in_a_continuous_space_are_of_distinct_points(acquisition):
    optimizer = Optimizer({name: Float(0.0, 1.0) for name in "abc"}, seed=1, acquisition=acquisition, n_initial=6)
    for point in optimizer.ask(8):
        optimizer.tell(point, -sum((value - 0.4) ** 2 for value in point.values()))
    batch = optimizer.space.to_unit(optimizer.ask(8))
    gaps = np.abs(batch[:, None] - batch[None]).max(axis=2)[np.triu_indices(8, 1)]
    assert gaps.min() > 1e-6


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_suggestions_are_snapped(acquisition, rng):
    space = Space.of({"x": Float(0.0, 1.0), "n": Int(1, 9), "kind": Choice(["a", "b"])})
    x = space.sobol(rng, 8)
    state = State(np.zeros(8, int), np.zeros(5), 0.1, np.full((1, 4), 0.5), np.ones(1), np.array([0.1]))
    model, none = Model("se", Priors().resolve(4), ard=True), np.empty((0, 4))
    u = suggest(
        rng, [state], Data(x, rng.normal(size=8)), model, space,
        acquisition=acquisition, target="main", pending=none, failed=none,
    )  # fmt: skip
    assert u == pytest.approx(space.snap(u[None])[0], abs=1e-12)


def test_local_sampling_shrinks_and_restarts(rng, monkeypatch):
    """Candidates stay near the best point, nearer the longer it has not moved; then the whole space is searched."""
    everywhere = np.array([0.01, 0.02])
    monkeypatch.setattr("infgp.search.proposal.maximise", lambda *_: (everywhere, 0.0))
    d, space = 2, Space.of({"a": Float(0.0, 1.0), "b": Float(0.0, 1.0)})
    none = np.empty((0, d))
    model = Model("se", Priors().resolve(d), ard=True)

    def spread(stale):
        x = np.vstack(([[0.5, 0.5]], rng.random((stale, d))))
        y = np.r_[1.0, -np.ones(stale)]
        state = State(
            labels=np.zeros(y.size, int), beta=np.zeros(d + 1), nu=0.1, phi=np.full((1, d), 0.5 / 0.1**2),
            sigma2=np.ones(1), tau2=np.full(1, 1e-4),
        )  # fmt: skip
        options = {"acquisition": "local", "target": "main", "pending": none, "failed": none}
        points = [suggest(rng, [state], Data(x, y), model, space, **options) for _ in range(12)]
        return np.median(np.abs(np.array(points) - 0.5).max(axis=1))

    wide, narrow, restart = spread(0), spread(PATIENCE * d * (HALVINGS - 1)), spread(PATIENCE * d * HALVINGS)
    assert narrow < 0.5 * wide
    assert wide < 0.15
    assert local_reach(PATIENCE * d * HALVINGS, d) == 0.0
    assert restart == pytest.approx(0.49)
