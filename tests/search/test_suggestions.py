from dataclasses import replace

import numpy as np
import pytest

from infgp.core.model import Data, Model
from infgp.core.options import ModelOptions
from infgp.core.priors import Priors
from infgp.core.scaling import RewardScale
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.predict.functionals import Aim, Objective
from infgp.predict.objectives import MeanObjective, ObjectiveLaw
from infgp.search.acquisition import (
    CLIMB,
    HALVINGS,
    MANY,
    PATIENCE,
    anticipate,
    assume,
    best_of,
    lengthened,
    local_reach,
    promising,
    suggest,
)
from infgp.search.learning import Learner, Series
from infgp.search.optimizer import Optimizer
from infgp.search.proposal import ACQUISITIONS
from infgp.space import Choice, Float, Int, Space
from tests.exact import central_differences, learned_from
from tests.sample.test_chain import two_surfaces

LINE = Space.of({"x": Float(0.0, 1.0)})
NONE = np.empty((0, 1))
AIM = Aim(Objective(), RewardScale(0.0, 1.0))
MAIN = replace(AIM, target="main")


def test_assumed_rewards_join_the_dominant_surface():
    given = Conditioned(*two_surfaces(True))
    x, y = np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([5.0, 6.0])
    after = assume(given, lengthened(given.data, x), y)
    assert after.state.labels.tolist() == [0, 1, 1, 0, 1, 1, 1, 1]
    assert np.array_equal(after.data.x, np.vstack((given.data.x, x)))
    assert np.array_equal(after.data.y, np.append(given.data.y, y))
    assert (given.state.labels.size, given.data.y.size) == (6, 6)
    assert assume(given, given.data, np.empty(0)) is given
    assert lengthened(given.data, np.empty((0, 2))) is given.data


def test_believed_rewards_change_what_is_known_and_not_what_is_expected(rng):
    state, data, model = known_hill()
    given, pending, at = Conditioned(state, data, model), np.array([[0.3], [0.35], [0.8]]), rng.random((9, 1))
    ahead = {way: anticipate(rng, [given], pending, NONE, believed=way)[0] for way in (True, False)}
    before = ObjectiveLaw.of(given, MAIN)
    after = {way: ObjectiveLaw.of(ahead[way], MAIN) for way in ahead}
    assert after[True].mean(at) == pytest.approx(before.mean(at), abs=1e-9)
    assert np.abs(after[False].mean(pending) - before.mean(pending)).max() > 0.01
    for law in after.values():
        assert (law(pending)[1] < 0.5 * before(pending)[1]).all()


def test_best_points_are_distinct_and_in_order():
    x = np.array([[0.1], [0.2], [0.1], [0.3], [0.4], [0.5], [0.6]])
    value = np.array([5.0, 7.0, 6.0, 1.0, 2.0, 3.0, 0.0])
    assert best_of(x, value)[:, 0].tolist() == [0.2, 0.1, 0.5, 0.4, 0.3]


@pytest.mark.parametrize("d", [MANY, MANY + 2])
def test_of_many_inputs_the_objective_is_climbed_within_reach_of_the_best_one(d, rng):
    x = rng.random((30, d))
    series = Series(x, -np.sum((x - 0.4) ** 2, axis=1), np.zeros(30), np.empty((0, d)))
    learned = Learner.of(ModelOptions(), d).learn(rng, series, None)
    mean = MeanObjective.of(learned.draws, AIM)
    points = promising(x, mean, Space.of({f"x{k}": Float(0.0, 1.0) for k in range(d)}))
    best = best_of(x, mean(x))
    assert np.array_equal(points[-len(best) :], best)
    assert len(points) == len(best) + (d > MANY)
    if d > MANY:
        assert np.abs(points[0] - best[0]).max() <= CLIMB + 1e-12
        assert mean.laws[-1].mean(points[:1])[0] > mean.laws[-1].mean(x).max()


def test_the_expected_reward_is_a_mean_with_gradients(rng):
    state, data, model = two_surfaces(True)
    other = replace(state, beta=0.5 * state.beta)
    laws = tuple(ObjectiveLaw.of(Conditioned(s, data, model), AIM) for s in (state, other))
    score, at = MeanObjective(laws), rng.random((6, 2))
    value, gradient = score.value_and_gradient(at)
    assert value == pytest.approx(0.5 * (laws[0](at)[0] + laws[1](at)[0]))
    assert value == pytest.approx(score(at))
    assert gradient == pytest.approx(central_differences(score, at), rel=1e-5, abs=1e-6)


# --- Suggestions ------------------------------------------------------------------------------------------------------


def known_hill():
    """A smooth hill with its top in a gap of the data, and to the right of 0.6 nothing known."""
    x = np.concatenate((np.linspace(0.0, 0.25, 8), np.linspace(0.45, 0.6, 8)))[:, None]
    y = 2.0 * np.exp(-50.0 * (x[:, 0] - 0.35) ** 2)
    state = State(np.zeros(16, int), np.zeros(2), 1e-3, np.full((1, 1), 25.0), np.ones(1), np.array([1e-3]))
    return state, Data(x, y), Model("se", Priors().resolve(1), ard=False)


def suggestions(acquisition, pending=NONE, failed=NONE, aim=MAIN, seeds=8):
    state, data, model = known_hill()
    known = learned_from([state] * 2, data, model, failed)
    options = {"acquisition": acquisition, "aim": aim, "pending": pending}
    return np.array([suggest(np.random.default_rng(s), known, LINE, **options)[0] for s in range(seeds)])


@pytest.mark.parametrize(
    "aim",
    [AIM, MAIN, replace(AIM, outliers="ignore"), replace(AIM, objective=Objective("quantile", 0.2))],
    ids=["mean", "main", "outliers ignored", "quantile"],
)
@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_suggestions_are_on_top_of_a_known_hill(acquisition, aim):
    """But for the knowledge gradient: nothing is to be learned there, and a better hill may be where all is unknown."""
    found = suggestions(acquisition, aim=aim)
    assert found.min() > 0.6 if acquisition == "kg" else np.abs(found - 0.35).max() < 0.06


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
    optimizer = Optimizer({name: Float(0.0, 1.0) for name in "abc"}, seed=2, acquisition=acquisition, n_initial=6)
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
    known = learned_from([state], Data(x, rng.normal(size=8)), model)
    u = suggest(rng, known, space, acquisition=acquisition, aim=MAIN, pending=none)
    assert u == pytest.approx(space.snap(u[None])[0], abs=1e-12)


def test_local_sampling_shrinks_and_restarts(rng, monkeypatch):
    """Candidates stay near the best point, nearer the longer it has not moved; then the whole space is searched."""
    everywhere = np.array([0.01, 0.02])
    monkeypatch.setattr("infgp.search.acquisition.maximise", lambda *_: (everywhere, 0.0))
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
        known, options = learned_from([state], Data(x, y), model), {"acquisition": "local", "aim": MAIN}
        points = [suggest(rng, known, space, pending=none, **options) for _ in range(12)]
        return np.median(np.abs(np.array(points) - 0.5).max(axis=1))

    wide, narrow, restart = spread(0), spread(PATIENCE * d * (HALVINGS - 1)), spread(PATIENCE * d * HALVINGS)
    assert narrow < 0.5 * wide
    assert wide < 0.15
    assert local_reach(PATIENCE * d * HALVINGS, d) == 0.0
    assert restart == pytest.approx(0.49)
