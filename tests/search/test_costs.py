"""Improvement per cost: costs are learned, and cheap points are preferred where they promise as much."""

import json

import numpy as np
import pytest

from infgp import Float, InvalidInputError, Optimizer, maximize
from infgp.search.costs import COST, LogCost

PLANE = {"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}
LINE = {"x": Float(0.0, 1.0)}


def two_hills(x, y):
    """Hills of the same height at x = 0.2 and x = 0.8."""
    return float(np.exp(-20.0 * (min(abs(x - 0.2), abs(x - 0.8)) ** 2 + (y - 0.5) ** 2)))


def dear(point):
    """Dearer to the right, a hundred times at the end."""
    return float(100.0 ** point["x"])


def searched(price, n=20, **options):
    optimizer, rng = Optimizer(PLANE, seed=0, **options), np.random.default_rng(0)
    for _ in range(n):
        point = optimizer.ask()
        reward = two_hills(**point) + 0.02 * rng.standard_normal()
        optimizer.tell(point, reward, cost=None if price is None else price(point))
    return optimizer


def spent(optimizer):
    return float(np.mean([dear(o.point) for o in optimizer.observations[optimizer.n_initial :]]))


def test_cheap_points_are_preferred_where_they_promise_as_much():
    usual, saving = searched(dear), searched(dear, per_cost=True)
    assert spent(saving) < 0.5 * spent(usual)
    best = saving.recommend().point
    assert two_hills(**best) > 0.8
    assert best["x"] < 0.5


@pytest.mark.parametrize("options", [{}, {"goal": "along"}], ids=["kg", "logei"])
def test_costs_that_are_all_the_same_change_nothing(options):
    usual, saving = searched(None, 14, **options), searched(lambda point: 7.0, 14, per_cost=True, **options)
    assert [o.point for o in saving.observations] == [o.point for o in usual.observations]


def test_without_a_cost_the_option_is_without_effect():
    assert searched(None, 14, per_cost=True).ask() == searched(None, 14).ask()


def test_costs_without_the_option_change_nothing():
    assert searched(dear, 14).ask() == searched(None, 14).ask()


def test_the_logarithm_of_the_cost_is_learned_from_failures_too():
    optimizer = Optimizer(LINE, seed=0, per_cost=True)
    for x in np.linspace(0.0, 1.0, 21):
        optimizer.tell({"x": float(x)}, float(x) if x < 0.5 else None, cost=float(10.0 ** (2.0 * x)))
    belief = optimizer._believe("confirm")
    price = optimizer.setup.strategy.price(belief.costs)
    assert isinstance(price, LogCost)
    at = np.array([[0.25], [0.75]])
    assert price(at) == pytest.approx(np.log(10.0) * 2.0 * at[:, 0], abs=0.2)


def test_a_free_evaluation_is_no_number_that_breaks_anything():
    optimizer = Optimizer(LINE, seed=0, per_cost=True)
    for k, x in enumerate(np.linspace(0.0, 1.0, 9)):
        optimizer.tell({"x": float(x)}, float(x), cost=float(k % 2))
    assert 0.0 <= optimizer.ask()["x"] <= 1.0
    assert optimizer.fallbacks == 0


def constrained(price):
    """Rewards are the same everywhere; what is left of 0.3 is not allowed."""
    optimizer, rng = Optimizer(LINE, seed=0, per_cost=price is not None), np.random.default_rng(3)
    for x in np.linspace(0.0, 1.0, 15):
        cost = None if price is None else price({"x": x})
        optimizer.tell({"x": float(x)}, float(rng.standard_normal()), constraints=[0.3 - x], cost=cost)
    return optimizer


def test_under_constraints_too():
    points = [point["x"] for point in constrained(dear).ask(6)]
    assert np.mean(points) < np.mean([point["x"] for point in constrained(None).ask(6)])
    assert min(points) > 0.25


def test_several_objectives_too():
    optimizer = Optimizer(LINE, ["maximize", "maximize"], seed=0, per_cost=True)
    rng = np.random.default_rng(0)
    for x in rng.random(10):
        optimizer.tell({"x": float(x)}, [float(x), float(-x)], cost=dear({"x": x}))
    assert optimizer.ask()["x"] < 0.6  # every point is on the front


def test_second_looks_count_costs():
    def looks(per_cost):
        optimizer, rng = Optimizer(LINE, seed=0, per_cost=per_cost), np.random.default_rng(2)
        for x in np.tile(np.linspace(0.0, 1.0, 11), 2):
            optimizer.tell({"x": float(x)}, float(rng.standard_normal()), cost=float(1e4**x))
        return [optimizer.ask(confirm=True)["x"] for _ in range(4)]

    assert np.mean(looks(True)) < np.mean(looks(False))


def test_a_saved_search_goes_on_and_keeps_the_chain_of_the_cost():
    optimizer = searched(dear, 12, per_cost=True)
    optimizer.withdraw(optimizer.ask())
    again = Optimizer.from_json(json.loads(json.dumps(optimizer.to_json())))
    assert again.setup.strategy.per_cost
    assert COST in again.to_json()["chains"]
    assert again.ask() == optimizer.ask()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"per_cost": 1}, "per_cost must be True or False"),
        ({"per_cost": True, "acquisition": "thompson"}, "use acquisition None, 'kg' or 'logei'"),
        ({"per_cost": True, "preset": "paper"}, "leave preset and gradients out"),
        ({"per_cost": True, "goal": "along", "gradients": True}, "leave preset and gradients out"),
    ],
    ids=str,
)
def test_what_does_not_go_together(options, words):
    with pytest.raises(InvalidInputError, match=words):
        Optimizer(LINE, **options)


def test_a_run_needs_costs_to_count_them():
    with pytest.raises(InvalidInputError, match="per_cost needs cost"):
        maximize(lambda x: x, LINE, 3, per_cost=True)
    result = maximize(lambda x, y: two_hills(x, y), PLANE, 20, seed=1, per_cost=True, cost=dear)
    assert two_hills(**result.point) > 0.8
