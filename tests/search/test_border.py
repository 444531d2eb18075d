"""Scores fall towards the border: noise does not send a search from corner to corner, and corners are still found."""

import numpy as np
import pytest

import infgp
from infgp.predict.functionals import Aim, Objective
from infgp.predict.objectives import ObjectiveLaw
from infgp.search.border import AT, FEW, FULL, STRENGTH, WIDTH, inwards, left_unknown, lowered
from infgp.space import Space


def level(at):
    """A score that is the same everywhere."""
    return np.zeros(len(at))


def cube(d):
    return Space.of({f"x{k}": infgp.Float(0.0, 1.0) for k in range(d)})


def test_inside_nothing_changes_and_outwards_it_falls():
    u = np.linspace(0.0, 0.5, 51)
    values = lowered(level, cube(1), 1.0)(u[:, None])
    assert (values[u >= WIDTH - AT + 1e-9] == 0.0).all()
    assert (np.diff(values[u <= WIDTH - AT]) > 0.0).all()
    assert values == pytest.approx(lowered(level, cube(1), 1.0)(1.0 - u[:, None]))


def test_where_a_reward_tells_all_nothing_changes():
    u = np.linspace(0.0, 1.0, 11)[:, None]
    assert (lowered(level, cube(1), 0.0)(u) == 0.0).all()
    assert lowered(level, cube(1), 0.4)(u) == pytest.approx(0.4 * lowered(level, cube(1), 1.0)(u))


def waves(rng, x, y):
    return float(np.sin(9.0 * x) * np.cos(8.0 * y) + 0.02 * rng.standard_normal())


def success(rng, x, y):
    return float(rng.random() < 0.2 + 0.3 * x)


@pytest.mark.parametrize(("reward", "low", "high"), [(waves, 0.0, 0.3), (success, 0.7, 1.0)])
def test_how_much_a_reward_leaves_unknown(reward, low, high):
    rng = np.random.default_rng(2)
    optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0), "y": infgp.Float(0.0, 1.0)}, seed=2)
    for x, y in rng.random((40, 2)):
        optimizer.tell({"x": x, "y": y}, reward(rng, x, y))
    learned = optimizer.learned()
    laws = [ObjectiveLaw.of(given, Aim(Objective(), learned.rewards)) for given in learned.draws]
    assert low <= left_unknown(laws, rng.random((50, 2))) <= high


def test_a_corner_of_many_inputs_loses_no_more_than_one_of_a_few():
    def lost(d):
        return -lowered(level, cube(d), 1.0)(np.zeros((1, d)))[0]

    whole = FULL * STRENGTH * np.log(WIDTH / AT)
    assert [lost(d) for d in (1, FULL, 20, 100)] == pytest.approx([whole / FULL, whole, whole, whole])


def test_steps_choices_and_parameters_that_do_not_apply_have_no_border():
    space = Space.of(
        {
            "kind": infgp.Choice(["a", "b"]),
            "layers": infgp.Int(1, 4),
            "step": infgp.Float(0.0, 1.0, step=0.1),
            "only b": infgp.Float(0.0, 1.0, when={"kind": "b"}),
        }
    )
    first = {"layers": 1, "step": 0.0}
    points = [{"kind": "a", **first}, {"kind": "b", **first, "only b": 0.5}, {"kind": "b", **first, "only b": 0.0}]
    values = lowered(level, space, 1.0)(space.to_unit(points))
    assert values[:2].tolist() == [0.0, 0.0]
    assert values[2] < -1.0
    finite = Space.of({"kind": infgp.Choice(["a", "b"])})
    assert (lowered(level, finite, 1.0)(finite.to_unit([{"kind": "a"}])) == 0.0).all()


def test_with_one_or_two_inputs_scores_stay_as_they_are():
    rng = np.random.default_rng(0)
    assert inwards(rng, level, cube(FEW), ()) is level
    assert (
        inwards(rng, level, Space.of({"x": infgp.Float(0, 1), "y": infgp.Float(0, 1), "k": infgp.Int(1, 9)}), ())
        is level
    )


def test_noise_does_not_send_a_search_to_the_ends():
    """Success and failure at random: of the points of a search, few coordinates are at an end (uniform points: 0.1)."""
    rng, d = np.random.default_rng(0), 5
    optimizer = infgp.Optimizer({f"x{k}": infgp.Float(0.0, 1.0) for k in range(d)}, seed=0)
    for _ in range(50):
        optimizer.tell(optimizer.ask(), float(rng.random() < 0.3))
    u = np.array([[o.point[f"x{k}"] for k in range(d)] for o in optimizer.observations[12:]])
    assert np.mean(np.minimum(u, 1.0 - u) < 0.05) < 0.1


@pytest.mark.parametrize("goal", ["final", "along"])
def test_the_best_point_is_found_in_a_corner(goal):
    rng = np.random.default_rng(1)
    optimizer = infgp.Optimizer({name: infgp.Float(0.0, 1.0) for name in "xyz"}, seed=1, goal=goal)
    for _ in range(30):
        point = optimizer.ask()
        optimizer.tell(point, point["x"] - point["y"] + 0.5 * point["z"] + 0.02 * rng.standard_normal())
    best = optimizer.recommend().point
    assert best["x"] > 0.98
    assert best["y"] < 0.02
    assert best["z"] > 0.98
