import json
import logging
import math
import os
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infgp.search.journal
import infgp.search.proposal
from infgp.core.priors import LogNormal
from infgp.core.rewardmap import WarpedScale
from infgp.core.scaling import RewardScale
from infgp.core.warp import Warp
from infgp.errors import InvalidInputError, NumericalError
from infgp.predict.functionals import Aim, Objective
from infgp.predict.objectives import MeanObjective
from infgp.search.learning import search_priors
from infgp.search.optimizer import Optimizer
from infgp.space import Choice, Float, Int, Space
from tests.strategies import spaces

repeatable = settings(deadline=None, derandomize=True, max_examples=25)

LINE = {"x": Float(0.0, 1.0)}
SQUARE = {"x": Float(0.0, 1.0), "y": Float(-1.0, 1.0)}
MIXED = {"x": Float(1e-3, 1.0, log=True), "n": Int(1, 9), "kind": Choice(["a", True, None])}


def text(optimizer):
    """Everything that makes up an optimizer, as a value of its own."""
    return json.dumps(optimizer.to_json(), sort_keys=True, allow_nan=False)


def copy(optimizer):
    return Optimizer.from_json(json.loads(text(optimizer)))


def hill(point):
    return -sum((float(value) - 0.3) ** 2 for value in point.values())


def started(space=LINE, steps=6, seed=3, **options):
    """An optimizer whose model has been at work."""
    optimizer = Optimizer(space, seed=seed, **{"n_initial": 3, **options})
    for _ in range(steps):
        point = optimizer.ask()
        optimizer.tell(point, hill(point))
    return optimizer


@pytest.fixture
def handed(monkeypatch):
    """What reaches the model: data, pending and failed inputs of every step."""
    seen = []
    original = infgp.search.proposal.suggest

    def spy(rng, learned, *args, **kwargs):
        seen.append((learned.data, kwargs["pending"], learned.series.failed))
        return original(rng, learned, *args, **kwargs)

    monkeypatch.setattr(infgp.search.proposal, "suggest", spy)
    return seen


# --- Ask and tell -----------------------------------------------------------------------------------------------------


def test_rewards_come_back_in_any_order():
    optimizer = Optimizer(SQUARE, seed=0, n_initial=3)
    points = optimizer.ask(6)
    assert optimizer.pending == tuple(points)
    for i in (5, 0, 3):
        optimizer.tell(points[i], float(i))
    assert [o.value for o in optimizer.observations] == [5.0, 0.0, 3.0]
    assert [o.point for o in optimizer.observations] == [points[5], points[0], points[3]]
    assert optimizer.pending == (points[1], points[2], points[4])
    assert optimizer.space.validate(optimizer.ask()) not in points


def test_points_never_asked_for_count(handed):
    optimizer = Optimizer(SQUARE, seed=0, n_initial=3)
    told = [{"x": 0.1 * i, "y": 0.2 * i - 1.0} for i in range(6)]
    for i, point in enumerate(told):
        optimizer.tell(point, float(i))
    assert optimizer.best_observed.point == told[5]
    optimizer.ask()
    (data, _, _) = handed[-1]  # the design is over
    assert np.allclose(data.x, Space.of(SQUARE).to_unit(told))


def test_replicates_are_observations_of_their_own(handed):
    optimizer = Optimizer(LINE, seed=0, n_initial=3, surfaces=1)
    point = optimizer.ask()
    for value in (1.0, 2.0, 6.0) * 5:
        optimizer.tell(point, value)
    assert len(optimizer.observations) == 15
    assert optimizer.pending == ()
    optimizer.ask()
    assert handed[-1][0].x.tolist() == [[point["x"]]] * 15
    assert np.unique(handed[-1][0].y).size == 3
    assert optimizer.predict([point])[0][0] == pytest.approx(3.0, abs=0.5)


def test_pending_replicates_are_told_one_at_a_time():
    optimizer = Optimizer({"k": Int(0, 1)}, seed=0, n_initial=4)
    points = optimizer.ask(4)
    assert len({point["k"] for point in points}) == 2
    optimizer.tell({"k": 0}, 1.0)
    assert sum(point["k"] == 0 for point in optimizer.pending) == 1
    assert sum(point["k"] == 1 for point in optimizer.pending) == 2


@pytest.mark.parametrize("failure", [None, math.nan, math.inf, -math.inf, np.float64("nan")])
def test_failures_never_reach_the_likelihood(failure, handed):
    optimizer = Optimizer(LINE, seed=0, n_initial=3)
    for i in range(5):
        optimizer.tell({"x": 0.2 * i}, float(i))
    optimizer.tell({"x": 0.9}, failure)
    assert optimizer.observations[-1].value is None
    assert optimizer.best_observed.value == 4.0
    optimizer.ask()
    data, _, failed = handed[-1]
    assert data.y.size == 5
    assert not (data.x == 0.9).any()
    assert failed == pytest.approx(np.array([[0.9]]))
    assert math.isfinite(optimizer.recommend().mean)


def test_pending_points_reach_the_model(handed):
    optimizer = started()
    pending = [optimizer.ask()["x"] for _ in range(3)]
    assert handed[-1][1][:, 0] == pytest.approx(pending[:2])


def test_nothing_but_failures():
    optimizer = Optimizer(MIXED, seed=0, n_initial=2)
    for _ in range(5):
        optimizer.tell(optimizer.ask(), None)
    assert optimizer.best_observed is None
    assert len({optimizer.space.key(o.point) for o in optimizer.observations}) > 2
    with pytest.raises(InvalidInputError, match="tell at least one reward"):
        optimizer.recommend()


def test_minimising_mirrors_maximising_number_for_number():
    up, down = (Optimizer(SQUARE, direction, seed=5, n_initial=4) for direction in ("maximize", "minimize"))
    for step in range(14):
        point = up.ask()
        assert down.ask() == point
        value = None if step == 6 else hill(point)
        up.tell(point, value)
        down.tell(point, None if value is None else -value)
    assert up.best_observed.point == down.best_observed.point
    a, b = up.recommend(), down.recommend()
    assert (a.point, a.mean, a.std, a.best_evaluated) == (b.point, -b.mean, b.std, b.best_evaluated)
    assert list(a.quantiles) == list(b.quantiles)
    assert list(a.quantiles.values()) == pytest.approx([-q for q in reversed(b.quantiles.values())])
    assert list(b.quantiles.values()) == sorted(b.quantiles.values())


def test_a_point_that_was_not_evaluated_is_recommended_only_if_it_is_surely_better():
    between, beyond = Optimizer(SQUARE, seed=0), Optimizer(LINE, seed=0)
    for x in np.random.default_rng(0).random((30, 2)):
        between.tell(between.space.from_unit(x[None])[0], -((x - 0.44) ** 2).sum())
    found = between.recommend()
    at, evaluated = between.space.to_unit([found.point, found.best_evaluated])
    assert np.abs(at - 0.44).max() < 0.02 < np.abs(evaluated - 0.44).max()
    noise = np.random.default_rng(1)
    for x in np.linspace(0.0, 0.6, 12):  # a line that goes on to rise, perhaps
        beyond.tell({"x": x}, x + 0.04 * noise.normal())
    mean, std = beyond.predict([{"x": 0.8}, {"x": 0.6}])
    assert 0.0 < mean[0] - mean[1] < std[0]
    assert beyond.recommend().point == beyond.recommend().best_evaluated == {"x": 0.6}


@pytest.mark.parametrize("acquisition", ["kg", "logei", "thompson", "local"])
def test_one_lucky_draw_is_not_recommended(acquisition, rng):
    optimizer = Optimizer(LINE, seed=0, acquisition=acquisition)
    grid = np.linspace(0.0, 1.0, 25)
    for i, x in enumerate(grid):
        optimizer.tell({"x": x}, 5.0 if i == 20 else -4.0 * (x - 0.3) ** 2 + 0.05 * rng.normal())
    assert optimizer.best_observed.point == {"x": grid[20]}
    recommended = optimizer.recommend()
    assert abs(recommended.point["x"] - 0.3) < 0.15
    assert abs(recommended.best_evaluated["x"] - 0.3) < 0.15
    assert abs(recommended.mean) < 0.2
    assert recommended.std < 0.2
    mean, std = optimizer.predict([recommended.point, {"x": grid[20]}])
    assert (mean[0], std[0]) == pytest.approx((recommended.mean, recommended.std))
    assert mean[1] < 0.0


def test_withdrawn_points_are_forgotten():
    optimizer = started()
    first, second = optimizer.ask(2)
    optimizer.withdraw(first)
    assert optimizer.pending == (second,)
    before = text(optimizer)
    with pytest.raises(InvalidInputError, match="is not pending"):
        optimizer.withdraw(first)
    assert text(optimizer) == before
    optimizer.tell(first, 1.0)  # it may be told all the same
    assert optimizer.pending == (second,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda o: o.tell({"x": 2.0}, 1.0), "x=2.0 is outside"),
        (lambda o: o.tell({"y": 0.5}, 1.0), "lacks"),
        (lambda o: o.tell([0.5], 1.0), "A point is a mapping"),
        (lambda o: o.tell({"x": 0.5}, "good"), "A reward must be a number"),
        (lambda o: o.tell({"x": 0.5}, [1.0, 2.0]), "A reward must be a number"),
        (lambda o: o.tell({"x": 0.5}, 1j), "A reward must be a number"),
        (lambda o: o.tell(o.pending[0], "good"), "A reward must be a number"),
        (lambda o: o.withdraw({"x": 2.0}), "x=2.0 is outside"),
        (lambda o: o.withdraw({"x": 0.123}), "is not pending"),
        (lambda o: o.ask(0), "n must be an integer >= 1"),
        (lambda o: o.ask(1.5), "n must be an integer >= 1"),
        (lambda o: o.ask(True), "n must be an integer >= 1"),
        (lambda o: o.predict([{"x": 2.0}]), "x=2.0 is outside"),
    ],
)
def test_errors_come_before_any_change(call, message):
    optimizer = started()
    optimizer.ask()
    before = text(optimizer)
    with pytest.raises(InvalidInputError, match=message):
        call(optimizer)
    assert text(optimizer) == before


def test_an_integer_beyond_floats_is_no_reward():
    optimizer = Optimizer(LINE, seed=0)
    with pytest.raises(InvalidInputError, match="A reward must be a number"):
        optimizer.tell({"x": 0.5}, 10**400)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "up"}, "direction='up' is not known"),
        ({"objective": "best"}, "objective must be 'mean'"),
        ({"objective": ["mean", "median"]}, "there is one direction; write objective="),
        ({"objective": "median", "target": "main"}, "follows surfaces and no objective"),
        ({"outliers": "drop"}, "outliers='drop' is not known"),
        ({"target": "best"}, "target='best' is not known"),
        ({"target": "expected"}, "target='expected' is not known"),
        ({"acquisition": "ucb"}, "acquisition='ucb' is not known"),
        ({"goal": "best"}, "goal='best' is not known"),
        ({"goal": None}, "goal=None is not known"),
        ({"acquisition": "logei", "target": "surface"}, "which is Thompson sampling"),
        ({"kernel": "rbf"}, "kernel='rbf' is not known"),
        ({"surfaces": 2}, "surfaces must be None"),
        ({"regions": None}, "regions must be True or False"),
        ({"n_initial": 0}, "n_initial must be an integer >= 1"),
        ({"seed": -1}, "seed must be an integer >= 0"),
        ({"seed": 1.5}, "seed must be an integer >= 0"),
        ({"exploration": -0.1}, "exploration must be"),
        ({"sampler": "gibbs"}, "sampler='gibbs' is not known"),
        ({"preset": "fast"}, "preset='fast' is not known; use one of 'paper', 'thompson'"),
        ({"space": {}}, "non-empty mapping"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(InvalidInputError, match=message):
        Optimizer(**{"space": LINE, **options})


def test_asking_before_rewards_gives_distinct_designs():
    a, b = (Optimizer(SQUARE, seed=seed, n_initial=5).ask(5) for seed in (0, 1))
    assert len({tuple(point.values()) for point in a + b}) == 10
    assert Optimizer(SQUARE, seed=0, n_initial=5).ask(5) == a
    assert Optimizer(SQUARE).ask() != Optimizer(SQUARE).ask()  # no seed, no repetition


def test_a_withdrawn_point_of_the_design_does_not_bring_another_one_twice():
    optimizer = Optimizer(SQUARE, seed=0, n_initial=4)
    first, second = optimizer.ask(2)
    optimizer.withdraw(first)
    assert optimizer.ask() != second


def test_what_was_given_and_returned_is_not_shared():
    optimizer = started()
    before = text(optimizer)
    point = optimizer.ask()
    after = text(optimizer)
    point["x"] = 7.0
    optimizer.pending[0]["x"] = 7.0
    assert text(optimizer) == after != before
    mine = {"x": 0.5}
    optimizer.tell(mine, 1.0)
    mine["x"] = 7.0
    assert optimizer.observations[-1].point == {"x": 0.5}


# --- Recommend --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"outliers": "ignore"}, {"objective": ("cvar", 0.3)}, {"surfaces": 1}, {"kernel": "matern52"}]
)
def test_recommending_changes_nothing(options):
    optimizer = started(SQUARE, **options)
    other = copy(optimizer)
    before = text(optimizer)
    first = optimizer.recommend()
    assert optimizer.recommend() == first
    optimizer.predict([first.point])
    assert text(optimizer) == before
    assert optimizer.ask() == other.ask()


def test_recommendations_before_the_model_has_been_asked():
    optimizer = Optimizer(MIXED, seed=0, n_initial=20)
    optimizer.tell({"x": 0.1, "n": 3, "kind": None}, 2.0)
    recommended = optimizer.recommend()
    assert optimizer.space.validate(recommended.point) == recommended.point
    assert recommended.best_evaluated == {"x": 0.1, "n": 3, "kind": None}


# --- What goes wrong --------------------------------------------------------------------------------------------------


def failing(error):
    def suggest(*args, **kwargs):
        raise error

    return suggest


@pytest.mark.parametrize(
    "suggest",
    [
        failing(NumericalError("no")),
        failing(np.linalg.LinAlgError("no")),
        failing(FloatingPointError("no")),
        lambda *args, **kwargs: np.array([np.nan, 0.5]),
        lambda *args, **kwargs: np.array([np.inf, 0.5]),
    ],
)
def test_a_numerical_failure_costs_one_random_point_and_a_warning(suggest, monkeypatch, caplog):
    optimizer = started(SQUARE)
    with monkeypatch.context() as patch:
        patch.setattr(infgp.search.proposal, "suggest", suggest)
        points = optimizer.ask(3)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 3
    assert {record.name for record in caplog.records} == {"infgp"}
    assert [optimizer.space.validate(point) for point in points] == points
    assert len({tuple(point.values()) for point in points}) == 3
    assert optimizer.pending == tuple(points)
    caplog.clear()
    for point in points:
        optimizer.tell(point, hill(point))
    optimizer.space.validate(optimizer.ask())
    assert not caplog.records
    assert optimizer.fallbacks == copy(optimizer).fallbacks == 3


@pytest.mark.parametrize("error", [AttributeError("typo"), ValueError("typo in a shape"), IndexError("typo")])
def test_programming_errors_are_not_hidden(error, monkeypatch):
    optimizer = started()
    monkeypatch.setattr(infgp.search.proposal, "suggest", failing(error))
    with pytest.raises(type(error), match="typo"):
        optimizer.ask()
    assert optimizer.pending == ()


def test_an_interrupted_step_leaves_no_trace(monkeypatch):
    optimizer = started()
    other = copy(optimizer)
    before = text(optimizer)
    with monkeypatch.context() as patch:
        patch.setattr(infgp.search.proposal, "suggest", failing(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            optimizer.ask()
    assert text(optimizer) == before
    assert optimizer.ask() == other.ask()


@pytest.mark.parametrize(
    "rewards",
    [
        [2.0],
        [3.0] * 8,
        [1e300] * 5,
        [1e300, -1e300, 5e299, 0.0, 1.0, 2.0],
        [1.0, 2.0, 3.0, 4.0, 5.0, 1e300],
        [*np.linspace(0.0, 1.0, 20), 1e300],
        [*np.linspace(0.0, 1.0, 20), 1e90],
        [0.0] * 20 + [1e-300],
        [1e-300 * i for i in range(8)],
        [1.0 + 1e-15 * i for i in range(8)],
    ],
)
def test_extreme_rewards_give_valid_points(rewards):
    optimizer = Optimizer(SQUARE, seed=1, n_initial=2)
    for i, value in enumerate(rewards):
        optimizer.tell({"x": 0.618 * i % 1.0, "y": 0.414 * i % 1.0}, value)
    for point in optimizer.ask(3):
        assert optimizer.space.validate(point) == point
    json.loads(text(optimizer))  # which allows neither NaN nor infinity


def test_one_absurd_reward_does_not_end_the_search(caplog):
    optimizer = Optimizer(LINE, seed=1, n_initial=2, target="main")
    for i in range(21):
        optimizer.tell({"x": 0.05 * i}, 1e300 if i == 15 else hill({"x": 0.05 * i}))
    optimizer.ask()
    assert not caplog.records
    assert abs(optimizer.recommend().point["x"] - 0.3) < 0.1


def test_a_unit_that_changes_beyond_measure():
    optimizer = Optimizer(LINE, seed=0, n_initial=2)
    for x, value in ((0.1, 0.0), (0.2, 1.0), (0.6, 0.5)):
        optimizer.tell({"x": x}, value)
    optimizer.ask()
    optimizer.tell({"x": 0.3}, 1e200)
    assert optimizer.space.validate(optimizer.recommend().point)


@pytest.mark.parametrize("values", [[1.0], [0.0, 1.0, 5.0]])
def test_hundreds_of_replicates_of_one_point(values):
    optimizer = Optimizer(LINE, seed=1, n_initial=2)
    for i in range(250):
        optimizer.tell({"x": 0.5}, values[i % len(values)])
    assert 0.0 <= optimizer.ask()["x"] <= 1.0
    mean, _ = optimizer.predict([{"x": 0.5}])
    assert min(values) - 0.5 < mean[0] < max(values) + 0.5


def test_the_best_expected_reward_is_not_the_most_common_one(rng):
    """Nothing in three of five draws, wherever; else a prize that depends on the input.

    In one data set of four, luck alone leads elsewhere, so that several are taken.
    """

    def prize(point):
        return 3.0 * np.exp(-12.0 * ((point["x"] - 0.7) ** 2 + (point["y"] - 0.3) ** 2))

    prizes = []
    for _ in range(5):
        optimizer = Optimizer({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}, seed=0)
        for x, y in rng.random((100, 2)):
            point = {"x": x, "y": y}
            optimizer.tell(point, (rng.random() < 0.4) * prize(point) + 0.1 * rng.normal())
        best = optimizer.recommend()
        prizes.append(prize(best.point))
        assert best.mean == pytest.approx(0.4 * prizes[-1], abs=0.7)
    assert np.mean(prizes) > 0.75 * 3.0


# --- Save and load ----------------------------------------------------------------------------------------------------


def walk(optimizer, steps):
    """Ask and tell with failures, and with two or three points pending at most times; the points asked for."""
    out = []
    for i in steps:
        out.append(optimizer.ask())
        if i % 5 == 4:
            optimizer.withdraw(optimizer.pending[-1])
        if len(optimizer.pending) > 2:
            point = optimizer.pending[i % 2]
            optimizer.tell(point, None if i % 7 == 3 else hill(point))
    return out


@pytest.mark.parametrize("acquisition", ["kg", "logei", "thompson"])
def test_a_run_that_is_saved_and_loaded_goes_on_number_for_number(acquisition, tmp_path):
    whole = Optimizer(SQUARE, seed=11, acquisition=acquisition)
    expected = walk(whole, range(50))
    first = Optimizer(SQUARE, seed=11, acquisition=acquisition)
    points = walk(first, range(25))
    assert first.pending
    assert any(o.value is None for o in first.observations)
    first.save(tmp_path / "run.json")
    again = Optimizer.load(tmp_path / "run.json")
    assert text(again) == text(first)
    points += walk(again, range(25, 50))
    assert points == expected
    assert text(again) == text(whole)
    assert again.recommend() == whole.recommend()


def test_a_mixed_space_and_every_option_survive_saving(tmp_path):
    options = {
        "direction": "minimize",
        "seed": 2**200,
        "outliers": "ignore",
        "target": "surface",
        "goal": "along",
        "acquisition": "local",
        "exploration": (0.3, 0.7),
        "surfaces": 1,
        "regions": False,
        "kernel": "matern52",
        "n_initial": 2,
        "sampler": "collapsed",
    }
    optimizer = Optimizer(MIXED, **options)
    for i in range(5):
        optimizer.tell(optimizer.ask(), 0.1 * i)
    optimizer.save(str(tmp_path / "run.json"))
    again = Optimizer.load(str(tmp_path / "run.json"))
    assert text(again) == text(optimizer)
    assert [repr(again.ask()) for _ in range(3)] == [repr(optimizer.ask()) for _ in range(3)]


def test_costs_are_kept_and_saved():
    optimizer = Optimizer(LINE, seed=0)
    for x, cost in ((0.1, 2), (0.5, None), (0.9, 0.0)):
        optimizer.tell({"x": x}, x, cost=cost)
    assert [o.cost for o in optimizer.observations] == [2.0, None, 0.0]
    again = Optimizer.from_json(json.loads(json.dumps(optimizer.to_json())))
    assert again.observations == optimizer.observations


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf"), "3", True, 1j], ids=str)
def test_costs_that_are_no_costs(cost):
    optimizer = Optimizer(LINE, seed=0)
    with pytest.raises(InvalidInputError, match="cost must be a finite number >= 0"):
        optimizer.tell({"x": 0.5}, 1.0, cost=cost)
    assert optimizer.observations == ()


def test_a_seedless_optimizer_goes_on_as_well():
    optimizer = Optimizer(LINE)
    assert copy(optimizer).ask(3) == optimizer.ask(3)


def test_a_description_is_a_snapshot():
    optimizer = started()
    description = optimizer.to_json()
    asked = optimizer.ask()
    again = Optimizer.from_json(description)
    assert again.pending == ()
    assert again.ask() == asked


@pytest.mark.parametrize(("module", "name"), [(os, "replace"), (os, "chmod"), (os, "fsync")])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_crash_while_saving_leaves_the_old_file(module, name, error, tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    optimizer = started()
    optimizer.save(path)
    old = path.read_bytes()
    optimizer.ask()

    def crash(*args, **kwargs):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(module, name, crash)
        with pytest.raises(type(error)):
            optimizer.save(path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["run.json"]
    optimizer.save(path)
    assert text(Optimizer.load(path)) == text(optimizer)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "something"}, "not a saved optimizer"),
        ({"version": 999}, "version 999 of the format"),
        ({"version": None}, "version None of the format"),
        ({"options": {}}, "damaged"),
        ({"options": 3}, "damaged"),
        ({"observations": [{"point": {"x": 0.5}}]}, "damaged"),
        ({"observations": [{"point": {"x": 5.0}, "values": [1.0], "noise_variance": 0, "constraints": {}}]}, "outside"),
        ({"pending": 3}, "damaged"),
        ({"chains": {"objective": {}}}, "damaged"),
        ({"chains": {"nobody": {}}}, "damaged"),
        ({"space": {}}, "saved space"),
        ({"asked": -1}, "asked must be an integer"),
    ],
)
def test_files_that_cannot_be_read(change, message, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(started().to_json() | change))
    with pytest.raises(InvalidInputError, match=message):
        Optimizer.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"entropy": "abc"},
        {"chains": {"objective": {"n": 6, "unit": ["a", 1.0], "states": []}}},
        {"chains": {"objective": {"n": 6, "unit": [0.0, 1.0, 2.0], "states": []}}},
    ],
)
def test_damaged_files_are_refused(change):
    with pytest.raises(InvalidInputError, match="damaged"):
        Optimizer.from_json(started().to_json() | change)


@pytest.mark.parametrize("grade", [[0, 0, 0, 0, 0, 0, 0, 0], [7], [-1], ["rough"]])
def test_states_with_impossible_grades_are_refused(grade):
    optimizer = started()
    optimizer.ask()
    content = optimizer.to_json()
    content["chains"]["objective"]["states"][0]["grade"] = grade
    with pytest.raises(InvalidInputError, match="damaged"):
        Optimizer.from_json(content)


@pytest.mark.parametrize("content", ["", "{", "[]", "null"])
def test_files_that_are_no_optimizers(content, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises(InvalidInputError, match="save"):
        Optimizer.load(path)
    with pytest.raises(FileNotFoundError):
        Optimizer.load(tmp_path / "absent.json")


# --- Anything goes ----------------------------------------------------------------------------------------------------

REWARDS = st.floats(-10.0, 10.0) | st.floats(-10.0, 10.0) | st.none() | st.floats()
STEPS = st.one_of(
    st.just(("ask",)),
    st.tuples(st.just("batch"), st.integers(1, 3)),
    st.tuples(st.just("tell"), st.integers(0, 5), REWARDS),
    st.tuples(st.just("tell"), st.integers(0, 5), REWARDS),
    st.tuples(st.just("volunteer"), st.integers(0, 2**32), REWARDS),
    st.tuples(st.just("withdraw"), st.integers(0, 5)),
    st.just(("reload",)),
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "direction": st.sampled_from(["maximize", "minimize"]),
        "goal": st.sampled_from(["final", "along"]),
        "acquisition": st.sampled_from([None, "kg", "logei", "thompson", "local"]),
        "outliers": st.sampled_from(["count", "ignore"]),
        "target": st.sampled_from(["objective", "main"]),
        "kernel": st.sampled_from(["se", "matern52", "matern32", "learned", "auto"]),
        "surfaces": st.sampled_from([None, 1]),
        "regions": st.booleans(),
        "exploration": st.sampled_from([0.0, "paper"]),
    },
)


def replay(space, options, steps, reload=True):
    """Everything asked for in a run of random steps, checked on the way."""
    optimizer = Optimizer(space, seed=7, n_initial=2, **options)
    asked = []
    for kind, *args in steps:
        if kind == "ask":
            asked.append(optimizer.ask())
        elif kind == "batch":
            asked += optimizer.ask(args[0])
        elif kind == "tell" and optimizer.pending:
            optimizer.tell(optimizer.pending[args[0] % len(optimizer.pending)], args[1])
        elif kind == "volunteer":
            (point,) = space.from_unit(np.random.default_rng(args[0]).random((1, space.d)))
            optimizer.tell(point, args[1])
        elif kind == "withdraw" and optimizer.pending:
            optimizer.withdraw(optimizer.pending[args[0] % len(optimizer.pending)])
        elif kind == "reload" and reload:
            optimizer = copy(optimizer)
    asked.append(optimizer.ask())
    return optimizer, asked


@repeatable
@given(spaces(), OPTIONS, st.lists(STEPS, min_size=4, max_size=14))
def test_any_history_gives_valid_and_repeatable_points(space, options, steps):
    optimizer, asked = replay(space, options, steps)
    for point in asked:
        assert list(map(repr, space.validate(point).items())) == list(map(repr, point.items()))
    other, same = replay(space, options, steps, reload=False)
    assert list(map(repr, asked)) == list(map(repr, same))
    assert text(optimizer) == text(other)


SCRIPT = """
from infgp import Choice, Float, Int, Optimizer
space = {"x": Float(0, 1), "n": Int(1, 9), "kind": Choice(["a", True, None])}
optimizer = Optimizer(space, seed=4, n_initial=3)
for i in range(12):
    points = optimizer.ask(2)
    optimizer.tell(points[0], None if i == 5 else -(points[0]["x"] - 0.3) ** 2 - (points[0]["kind"] is None))
    print(points)
print(repr(optimizer.recommend()))
"""


def test_fresh_processes_agree():
    outputs = [
        subprocess.check_output([sys.executable, "-c", SCRIPT], env={**os.environ, "PYTHONHASHSEED": seed}, text=True)
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0].splitlines())) == 13


# --- Units of rewards -------------------------------------------------------------------------------------------------


def test_what_is_handed_to_the_model_is_standardised(handed):
    """A warp is a part of a state, and the data of the model are what all states have in common."""
    optimizer = started(steps=5)
    y = np.array([o.value for o in optimizer.observations])
    optimizer.ask()
    assert handed[-1][0].y == pytest.approx(RewardScale.fit(y).to_standard(y))
    optimizer.tell({"x": 0.9}, 0.0, noise_variance=0.1)
    optimizer.ask()
    y = np.append(y, 0.0)
    assert handed[-1][0].y == pytest.approx(RewardScale.fit(y).to_standard(y))
    assert handed[-1][0].noise[-1] == pytest.approx(0.1 / RewardScale.fit(y).scale ** 2)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_predictions_are_in_the_user_s_units(direction):
    """A steep curve in large units, through whatever warp the model sees it: what comes out is the curve."""
    optimizer = Optimizer(LINE, direction, seed=0)
    x = np.linspace(0.0, 1.0, 15)
    for u in x:
        optimizer.tell({"x": u}, 1e3 * (u**3 - 0.2))
    mean, std = optimizer.predict([{"x": u} for u in x])
    assert mean == pytest.approx(1e3 * (x**3 - 0.2), abs=40.0)
    assert (std < 100.0).all()
    recommended = optimizer.recommend()
    best = 1.0 if direction == "maximize" else 0.0
    assert recommended.point["x"] == pytest.approx(best, abs=0.15)
    low, middle, high = recommended.quantiles.values()
    assert low <= middle <= high
    assert middle == pytest.approx(1e3 * (recommended.point["x"] ** 3 - 0.2), abs=60.0)


class Given:
    """The law of an objective in one state, which is the same everywhere."""

    def __init__(self, aim, mean, sd, plain=False):
        self.aim, self.level, self.sd, self.plain = aim, mean, sd, plain

    def natural(self, at):
        assert not self.plain
        return np.full(at.shape[0], self.level), np.full(at.shape[0], self.sd**2)

    def __call__(self, at):
        assert self.plain
        return np.full(at.shape[0], self.level), np.full(at.shape[0], self.sd**2)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_moments_are_within_states_and_between_them_in_the_user_s_units(sign):
    scale, at = RewardScale(10.0, 3.0), np.zeros((2, 1))
    warped = WarpedScale(scale, Warp(4.0, 0.01), 50.0)
    sd = np.sqrt((0.5**2 + 0.3**2) / 2.0 + 0.4**2)
    for objective in (Objective(), Objective("quantile", 0.1)):  # in the model's units
        aim = Aim(objective, scale, sign)
        mean, std = MeanObjective((Given(aim, -0.2, 0.5), Given(aim, 0.6, 0.3))).moments(at)
        assert mean == pytest.approx(np.full(2, sign * (10.0 + 3.0 * 0.2)))
        assert std == pytest.approx(np.full(2, 3.0 * sd))
        aim = Aim(objective, warped, sign)
        mean, std = MeanObjective((Given(aim, -3.0, 0.01),)).moments(at)
        low, middle, high = 10.0 + 3.0 * warped.warp.inverse(np.array([-3.01, -3.0, -2.99]))
        assert mean == pytest.approx(np.full(2, sign * middle))
        assert std == pytest.approx(np.full(2, (high - low) / 2.0), rel=1e-3)
    aim = Aim(Objective("cvar", 0.1), warped, sign)  # in the user's units
    mean, std = MeanObjective((Given(aim, -0.2, 0.5), Given(aim, 0.6, 0.3))).moments(at)
    assert mean == pytest.approx(np.full(2, sign * 0.2))
    assert std == pytest.approx(np.full(2, sd))
    aim = Aim(Objective("probability", 7.0), scale, sign)
    mean, std = MeanObjective((Given(aim, 1.1, 0.2),)).moments(at)
    assert (mean == 1.0).all()  # no chance is larger
    assert std == pytest.approx(np.full(2, 0.2))
    aim = Aim(Objective(), warped, sign, outliers="ignore")  # moments of warped rewards, then mapped
    mean, std = MeanObjective((Given(aim, -3.0, 0.5, plain=True), Given(aim, -4.0, 0.5, plain=True))).moments(at)
    sd = np.sqrt(0.5**2 + 0.5**2)
    low, middle, high = 10.0 + 3.0 * warped.warp.inverse(np.array([-3.5 - sd, -3.5, -3.5 + sd]))
    assert mean == pytest.approx(np.full(2, sign * middle))
    assert std == pytest.approx(np.full(2, (high - low) / 2.0))


# --- Constraints and several objectives -------------------------------------------------------------------------------


def constrained(steps, seed=0, **options):
    """Maximise x + y where x <= 0.5."""
    optimizer = Optimizer(SQUARE, seed=seed, n_initial=5, **options)
    for _ in range(steps):
        point = optimizer.ask()
        optimizer.tell(point, point["x"] + point["y"], constraints={"limit": point["x"] - 0.5})
    return optimizer


def test_the_search_keeps_to_where_constraints_hold():
    optimizer = constrained(24)
    late = [o.point["x"] for o in optimizer.observations[12:]]
    assert np.mean(np.array(late) <= 0.55) > 0.7
    best = optimizer.recommend()
    assert best.point["x"] <= 0.55
    assert best.feasibility > 0.5
    assert best.mean > 1.2
    assert optimizer.best_observed.feasible
    assert optimizer.best_observed.value <= 1.5
    again = copy(optimizer)
    assert again.observations == optimizer.observations
    assert again.recommend() == best
    assert again.ask() == optimizer.ask()


def test_where_nothing_is_feasible_the_likeliest_point_is_recommended():
    optimizer = Optimizer(LINE, seed=0, n_initial=5)
    for x in np.linspace(0.0, 1.0, 8):
        optimizer.tell({"x": x}, x, constraints=[2.0 + x])
    best = optimizer.recommend()
    assert best.feasibility < 0.2
    assert best.point["x"] < 0.3
    assert optimizer.best_observed is None


def test_pending_points_count_before_anything_is_feasible():
    """Eight points asked for at once, none of those told feasible: they are not one point eight times."""
    optimizer = Optimizer(LINE, seed=0, n_initial=5)
    for x in np.linspace(0.0, 1.0, 8):
        optimizer.tell({"x": x}, x, constraints=[1.0 + (x - 0.4) ** 2])
    points = sorted(point["x"] for point in optimizer.ask(8))
    assert points[-1] - points[0] > 0.2


def test_two_objectives():
    optimizer = Optimizer(LINE, ["maximize", "minimize"], seed=0, n_initial=5)
    for _ in range(16):
        point = optimizer.ask()
        optimizer.tell(point, [-((point["x"] - 0.3) ** 2), (point["x"] - 0.7) ** 2])
    late = [o.point["x"] for o in optimizer.observations[6:]]
    assert np.mean([0.2 < x < 0.8 for x in late]) > 0.8
    front = optimizer.tradeoffs()
    assert len(front) >= 3
    assert all(0.2 < t.point["x"] < 0.8 for t in front)
    for t in front:
        assert t.means == pytest.approx((-((t.point["x"] - 0.3) ** 2), (t.point["x"] - 0.7) ** 2), abs=0.03)
    mean, std = optimizer.predict([{"x": 0.5}] * 3)
    assert mean.shape == std.shape == (3, 2)
    assert copy(optimizer).tradeoffs() == front
    assert copy(optimizer).ask() == optimizer.ask()
    for action in (optimizer.recommend, lambda: optimizer.best_observed, lambda: optimizer.direction):
        with pytest.raises(InvalidInputError, match="for one objective, but there are 2"):
            action()


@pytest.mark.parametrize("value", [1.0, [1.0], [1.0, 2.0, 3.0], "ab", [1.0, "b"]])
def test_values_that_do_not_fit_the_objectives(value):
    optimizer = Optimizer(LINE, ["maximize", "minimize"], seed=0)
    with pytest.raises(InvalidInputError, match="A reward must be"):
        optimizer.tell({"x": 0.5}, value)
    assert optimizer.observations == ()


def test_a_constraint_that_looks_misspelt_is_refused_before_anything_changes():
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0)
    optimizer.tell({"x": 0.1}, 1.0, constraints={"weight": 0.5, "limit1": 0.0})
    optimizer.tell({"x": 0.2}, 1.0)
    optimizer.tell({"x": 0.3}, 1.0, constraints={"weight": 0.5, "limit2": 0.0})
    with pytest.raises(InvalidInputError, match="'wieght' is new, and 'weight' is missing"):
        optimizer.tell({"x": 0.4}, 1.0, constraints={"wieght": 0.5})
    with pytest.raises(InvalidInputError, match="Point 1, counted from 0: Constraint 'Weight' is new"):
        optimizer.tell_many([{"x": 0.4}, {"x": 0.5}], [1.0, 1.0], constraints=[{"weight": 1.0}, {"Weight": 1.0}])
    assert optimizer.counts[0] == 3
    optimizer.tell({"x": 0.4}, 1.0, constraints={"weight": 0.5, "height": 0.1})  # nothing is missing
    optimizer.tell({"x": 0.5}, 1.0, constraints=[0.5, 0.1])  # names of another kind
    assert optimizer.counts[0] == 5


@pytest.mark.parametrize("constraints", [[math.nan], {"a": "much"}, 3.0, ["x"]])
def test_constraints_that_are_no_numbers(constraints):
    optimizer = Optimizer(LINE, seed=0)
    with pytest.raises(InvalidInputError, match="constraints must be numbers"):
        optimizer.tell({"x": 0.5}, 1.0, constraints=constraints)
    assert optimizer.observations == ()


# --- Options ----------------------------------------------------------------------------------------------------------


def test_the_design_counts_parameters_not_coordinates():
    """Eight choices of five options have forty coordinates; 82 points of a design would use up most budgets."""
    assert Optimizer({f"c{k}": Choice(list("abcde")) for k in range(8)}).n_initial == 18
    assert Optimizer(SQUARE).n_initial == 6
    assert Optimizer({f"c{k}": Choice(list("abcde")) for k in range(100)}).n_initial == 20


def test_priors_are_an_option_and_are_saved():
    priors = replace(search_priors(1), lengthscale=LogNormal(1.0, 0.5))
    optimizer = started(priors=priors)
    assert optimizer.learned().model.priors.lengthscale.loc == 1.0
    again = copy(optimizer)
    assert again.learned().model.priors.lengthscale == optimizer.learned().model.priors.lengthscale
    assert again.ask() == optimizer.ask()
    assert optimizer.ask() != started().ask()


def test_gradients_are_an_option():
    optimizer = started(gradients=True, goal="along", steps=10)
    assert copy(optimizer).ask() == optimizer.ask()
    assert abs(optimizer.recommend().point["x"] - 0.3) < 0.05
    with pytest.raises(InvalidInputError, match="gradients must be True or False"):
        Optimizer(LINE, gradients=1)


# --- Threads ----------------------------------------------------------------------------------------------------------


def test_eight_threads_ask_and_tell():
    optimizer = Optimizer(SQUARE, seed=0, n_initial=4)

    def work(_):
        for _ in range(3):
            point = optimizer.ask()
            optimizer.tell(point, hill(point))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(optimizer.observations) == 24
    assert optimizer.pending == ()
    assert len({tuple(o.point.values()) for o in optimizer.observations}) > 20  # some are replicates, by choice
    assert copy(optimizer).ask() == optimizer.ask()


def held_up(monkeypatch):
    """Events: that an ask has begun to look for a point, and that it may go on; and what looks for it otherwise."""
    begun, go_on, original = threading.Event(), threading.Event(), infgp.search.proposal.suggest

    def slow(*args, **kwargs):
        begun.set()
        assert go_on.wait(60.0)
        return original(*args, **kwargs)

    monkeypatch.setattr(infgp.search.proposal, "suggest", slow)
    return begun, go_on, original


def test_telling_does_not_wait_for_an_ask(monkeypatch):
    optimizer = started()
    begun, go_on, _ = held_up(monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(optimizer.ask)
        assert begun.wait(60.0)
        optimizer.tell({"x": 0.77}, 1.0)
        go_on.set()
        point = job.result()
    assert optimizer.observations[-1].point == {"x": 0.77}
    assert optimizer.pending == (point,)


def test_a_tell_that_is_interrupted_leaves_no_trace(monkeypatch):
    optimizer = started()
    point, other = optimizer.ask(), copy(optimizer)
    before = text(optimizer)
    with monkeypatch.context() as patch:
        patch.setattr(infgp.search.journal, "replace", failing(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            optimizer.tell(point, 1.0)
    assert text(optimizer) == before
    for each in (optimizer, other):
        each.tell(point, 2.0)
    assert optimizer.ask() == other.ask()


# --- Knowing does not disturb -----------------------------------------------------------------------------------------


def test_what_is_known_can_be_asked_for_without_changing_what_comes_next():
    optimizer = started()
    other = copy(optimizer)
    optimizer.learned()
    optimizer.recommend()
    optimizer.predict([{"x": 0.5}])
    assert text(optimizer) == text(other)
    assert optimizer.ask() == other.ask()


def test_suggestions_are_what_would_have_been_asked_for():
    optimizer = started()
    other = copy(optimizer)
    pending = [{"x": 0.11}]
    first = optimizer.suggest(6)
    assert first == other.ask()
    assert optimizer.pending == ()
    assert optimizer.suggest(7, pending) != first
    with pytest.raises(InvalidInputError, match="step must be an integer"):
        optimizer.suggest(-1)


def test_saved_files_have_ordinary_permissions(tmp_path):
    path, mask = tmp_path / "run.json", os.umask(0o027)
    try:
        started().save(path)
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o604)
    started().save(path)
    assert path.stat().st_mode & 0o777 == 0o604


def test_errors_of_saving_name_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing/run\.json'$"):
        started().save(tmp_path / "missing" / "run.json")


# --- Files that somebody has changed ----------------------------------------------------------------------------------


def tampered(**changes):
    """A saved optimizer with other values in the last state of its chain."""
    optimizer = started()
    optimizer.ask()
    content = json.loads(text(optimizer))
    state = content["chains"]["objective"]["states"][-1]
    for name, value in changes.items():
        state[name] = value(state[name]) if callable(value) else value
    return content


@pytest.mark.parametrize(
    "change",
    [
        {"labels": lambda old: [1000, *old[1:]]},
        {"labels": lambda old: [-1, *old[1:]]},
        {"labels": lambda old: [1, *old[1:]]},
        {"labels": lambda old: [old]},
        {"phi": [[math.nan]]},
        {"phi": [[0.0]]},
        {"beta": [math.nan, 0.0]},
        {"beta": [math.inf, 0.0]},
        {"sigma2": [0.0]},
        {"sigma2": [-1.0]},
        {"tau2": [math.inf]},
        {"nu": math.nan},
        {"nu": 0.0},
        {"scale": [1.0, 1.0, 1.0, 1.0, 1.0]},
        {"scale": [0.0]},
        {"scale": [[1.0]]},
        {"grade": [0, 0, 0, 0, 0]},
        {"grade": [0.5, 9]},
        {"grade": []},
        {"odds": 1},
        {"odds": -1},
    ],
    ids=map(str, range(21)),
)
def test_chains_that_no_sampler_made_are_refused(change):
    assert Optimizer.from_json(tampered()).ask()
    with pytest.raises(InvalidInputError, match="damaged"):
        Optimizer.from_json(tampered(**change))


@pytest.mark.parametrize(
    "change",
    [
        {"entropy": ["-5", "1"]},
        {"entropy": ["1" + "0" * 4000, "1"]},
        {"entropy": "-5"},
        {"chains": {"objective": {"n": 6, "unit": [0.0, 0.0], "states": []}}},
        {"chains": []},
        {"designed": 2**70, "asked": "many"},
        {"observations": [[[[]]]]},
        {"space": {"parameters": [{"name": "x", "type": "Float", "low": 0, "high": 10**400}]}},
    ],
    ids=map(str, range(8)),
)
def test_other_content_that_cannot_be(change):
    with pytest.raises(InvalidInputError):
        Optimizer.from_json(tampered() | change)


def test_designs_have_a_size_that_fits_into_memory():
    content = tampered()
    content["options"]["n_initial"] = 2**40
    with pytest.raises(InvalidInputError, match="n_initial must be at most"):
        Optimizer.from_json(content)


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"[" * 100_000, b"1" * 5_000, b'{"a": ' + b"9" * 5_000 + b"}", b"\x00" * 10], ids=len
)
def test_files_that_are_no_json_are_refused_in_a_sentence(content, tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"run\.json cannot be read as JSON") as error:
        Optimizer.load(path)
    assert len(str(error.value)) < 600


def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "run.json"
    link.symlink_to(tmp_path / "real" / "kept.json")
    optimizer = started()
    for _ in range(2):
        optimizer.save(link)
    assert link.is_symlink()
    assert text(Optimizer.load(tmp_path / "real" / "kept.json")) == text(optimizer)
    assert os.listdir(tmp_path / "real") == ["kept.json"]


def test_what_a_killed_process_left_is_removed(tmp_path):
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    stale, fresh, alive = (
        tmp_path / f".run.json.{pid}-1.tmp" for pid in (gone.stdout.strip(), f"{gone.stdout.strip()}0", os.getpid())
    )
    for path in (stale, fresh, alive):
        path.write_text("half")
    for path in (stale, alive):
        os.utime(path, (0.0, 0.0))
    started().save(tmp_path / "run.json")
    assert not stale.exists()
    assert fresh.exists()
    assert alive.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_forked_while_another_thread_asks_can_go_on(monkeypatch):
    optimizer = started()
    begun, go_on, original = held_up(monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(optimizer.ask)
        assert begun.wait(60.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, which is the point
            child = os.fork()
        if child == 0:
            signal.alarm(50)
            infgp.search.proposal.suggest = original
            optimizer.ask()
            os._exit(0)
        go_on.set()
        job.result()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("points", [None, 3, {"x": 0.5}, "x"])
def test_points_that_are_no_points(points):
    with pytest.raises(InvalidInputError, match="points must be a sequence"):
        started().predict(points)


def test_no_points_have_no_predictions():
    assert [part.shape for part in started().predict([])] == [(0,), (0,)]


def test_seeds_may_be_numbers_of_numpy():
    assert Optimizer(LINE, seed=np.int64(3)).ask() == Optimizer(LINE, seed=3).ask()


@pytest.mark.parametrize("value", [0.1 + 0.2, 1e14, -7.0, 0.0])
def test_constant_rewards_are_uncertain_by_a_unit(value):
    optimizer = Optimizer(LINE, seed=0, n_initial=3)
    for x in np.linspace(0.0, 1.0, 7):
        optimizer.tell({"x": x}, value)
    best = optimizer.recommend()
    assert best.mean == pytest.approx(value, abs=0.5)
    assert best.std > 1e-3
