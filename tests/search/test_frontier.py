"""The search with several objectives: hypervolume improvement over drawn fronts."""

import json

import numpy as np
import pytest

from infgp import Choice, Float, Int, Optimizer
from infgp.errors import InvalidInputError
from infgp.search.hypervolume import hypervolume

LINE = {"x": Float(0.0, 1.0)}
SQUARE = {"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}


def distances(point, targets=(0.3, 0.7)):
    """Squares of distances on the line: the front is between the targets."""
    return [(point["x"] - target) ** 2 for target in targets]


def told(values, space=LINE, steps=10, **options):
    """An optimizer that was told of evenly spread points."""
    optimizer = Optimizer(space, seed=0, **options)
    for x in np.linspace(0.0, 1.0, steps):
        point = {"x": float(x)}
        optimizer.tell(point, values(point))
    return optimizer


@pytest.mark.parametrize("targets", [(0.3, 0.7), (0.2, 0.5, 0.8), (0.2, 0.4, 0.6, 0.8)])
def test_asks_between_the_best_points_of_the_objectives(targets):
    optimizer = told(lambda p: distances(p, targets), direction=["minimize"] * len(targets))
    points = [point["x"] for point in optimizer.ask(4)]
    assert all(targets[0] - 0.06 < x < targets[-1] + 0.06 for x in points)
    assert len(set(points)) == 4


def test_many_objectives_are_thinned_and_still_asked_for():
    rng, count = np.random.default_rng(0), 6
    space = {f"x{k}": Float(0.0, 1.0) for k in range(count)}
    optimizer = Optimizer(space, ["minimize"] * count, seed=0, n_initial=5)
    for row in rng.random((20, count)):
        optimizer.tell(dict(zip(space, row.tolist(), strict=True)), row.tolist())
    assert optimizer.ask().keys() == space.keys()
    assert optimizer.fallbacks == 0


def test_pending_points_are_not_asked_for_again():
    optimizer = told(distances, direction=["minimize"] * 2)
    points = np.sort([point["x"] for point in optimizer.ask(6)])
    assert np.diff(points).min() > 0.005
    assert points[-1] - points[0] > 0.2


def test_one_lucky_value_makes_no_trade_off():
    """Far from the front, one value in which both objectives look excellent."""
    optimizer = told(distances, steps=20, direction=["minimize"] * 2)
    optimizer.tell({"x": 0.98}, [-30.0, -30.0])
    assert 0.2 < optimizer.ask()["x"] < 0.8


def test_units_do_not_matter():
    """Each objective in units of its own, and one of them turned around; the points are the same but for rounding."""

    def other(point):
        a, b = distances(point)
        return [1e4 * a - 300.0, 5.0 - 1e-3 * b]

    plain = told(distances, direction=["minimize"] * 2).ask()
    assert told(other, direction=["minimize", "maximize"]).ask()["x"] == pytest.approx(plain["x"], abs=1e-3)


def test_same_seed_same_answer_also_after_saving():
    made = [told(distances, direction=["minimize"] * 2, reference_point=[0.2, 0.3]) for _ in range(2)]
    again = Optimizer.from_json(json.loads(json.dumps(made[0].to_json())))
    assert made[0].ask(3) == made[1].ask(3) == again.ask(3)


def test_constraints_keep_the_front_feasible():
    optimizer = Optimizer(LINE, ["minimize"] * 2, seed=0)
    for x in np.linspace(0.0, 1.0, 12):
        optimizer.tell({"x": x}, distances({"x": x}), constraints=[x - 0.5])
    assert all(0.2 < point["x"] < 0.56 for point in optimizer.ask(4))
    assert all(t.point["x"] <= 0.5 and t.feasibility > 0.5 for t in optimizer.tradeoffs())


def test_feasibility_comes_first_where_nothing_is_feasible():
    optimizer = Optimizer(LINE, ["minimize"] * 2, seed=0)
    for x in np.linspace(0.0, 0.6, 9):
        optimizer.tell({"x": x}, distances({"x": x}), constraints=[0.9 - x])
    assert optimizer.ask()["x"] > 0.8


def test_the_reference_point_sets_aside_what_does_not_beat_it():
    """The second objective has to be below 0.01: within 0.1 of the second target."""
    optimizer = told(distances, direction=["minimize"] * 2, reference_point=(0.3, 0.01))
    assert all(0.58 < point["x"] < 0.75 for point in optimizer.ask(3))


@pytest.mark.parametrize("value", [[1.0], [1.0, np.inf], "ab", 3.0, [1.0, "b"], [1.0, None]])
def test_reference_points_that_are_none(value):
    with pytest.raises(InvalidInputError, match="reference_point must be a sequence of 2 finite numbers"):
        Optimizer(LINE, ["minimize"] * 2, reference_point=value)


def test_reference_point_is_for_several_objectives():
    with pytest.raises(InvalidInputError, match="reference_point is for several objectives"):
        Optimizer(LINE, reference_point=[1.0])


def test_trade_offs_have_laws():
    optimizer = told(distances, direction=["minimize"] * 2)
    for found in optimizer.tradeoffs():
        medians = [float(law.median[0]) for law in found.laws]
        assert medians == pytest.approx(distances(found.point), abs=0.03)


def test_integers_and_choices():
    space = {"x": Float(0.0, 1.0), "k": Int(0, 4), "kind": Choice(["a", "b"])}
    optimizer = Optimizer(space, ["minimize"] * 2, seed=0)
    values = []
    for _ in range(30):
        p = optimizer.ask()
        worse = 0.5 * (p["kind"] == "b") + 0.2 * (p["k"] - 2) ** 2
        values.append([v + worse for v in distances(p)])
        optimizer.tell(p, values[-1])
    late = [(o.point["k"], o.point["kind"]) for o in optimizer.observations[15:]]
    assert late.count((2, "a")) > 10
    best = np.column_stack([(np.linspace(0.3, 0.7, 400) - t) ** 2 for t in (0.3, 0.7)])
    reference = np.full(2, -0.3)
    assert hypervolume(-np.array(values), reference) > 0.97 * hypervolume(-best, reference)


def test_the_search_spreads_over_a_front_that_ends_in_a_corner():
    """ZDT2, whose ends are (0, 1) and (1, 0): a search that looks around one end only gets two thirds of it."""
    optimizer, values = Optimizer(SQUARE, ["minimize"] * 2, seed=0), []
    for _ in range(25):
        p = optimizer.ask()
        g = 1.0 + 9.0 * p["y"]
        values.append([p["x"], g * (1.0 - (p["x"] / g) ** 2)])
        optimizer.tell(p, values[-1])
    assert hypervolume(-np.array(values), np.full(2, -1.1)) > 0.47  # 0.543 is all there is; one end has 0.11
