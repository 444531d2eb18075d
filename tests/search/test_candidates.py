import numpy as np
import pytest

from infgp import Float, InvalidInputError, Optimizer

LINE = {"x": Float(0.0, 1.0)}
RATES = {"rate": Float(1e-5, 1.0, log=True)}


def lucky(space=LINE):
    """A slope, whose best end was evaluated three times, and one reward that is far too good in the middle."""
    rng = np.random.default_rng(0)
    optimizer = Optimizer(space, seed=0, outliers="ignore")
    grid = np.append(np.linspace(0.0, 1.0, 14), [1.0, 1.0])
    for point, u in zip(optimizer.space.from_unit(grid[:, None]), grid, strict=True):
        optimizer.tell(point, float(u + 0.02 * rng.standard_normal()))
    optimizer.tell(optimizer.space.from_unit(np.array([[0.45]]))[0], 9.0)
    return optimizer


def test_the_luckiest_point_is_not_the_one_that_is_likely_best():
    rows = lucky().candidates(30)
    best = rows[0]
    assert best.point == {"x": 1.0}
    assert best.recommended
    assert (best.n_rewards, best.n_off_surface) == (3, 0)
    assert best.probability > 0.8
    luckiest = next(row for row in rows if row.point == {"x": 0.45})
    assert luckiest.probability < 0.05
    assert (luckiest.n_rewards, luckiest.n_off_surface) == (1, 1)
    assert sum(row.probability for row in rows) == pytest.approx(1.0)
    assert [row.probability for row in rows] == sorted((row.probability for row in rows), reverse=True)


def test_what_is_said_of_a_point_is_what_is_predicted():
    optimizer = lucky()
    rows = optimizer.candidates(3)
    mean, std = optimizer.predict([row.point for row in rows])
    assert [row.mean for row in rows] == pytest.approx(mean)
    assert [row.std for row in rows] == pytest.approx(std)
    for row in rows:
        low, middle, high = row.quantiles.values()
        assert low < middle < high
        assert abs(middle - row.mean) < 2.0 * row.std
    assert len(str(rows).splitlines()) == 4


def test_costs_are_shown_as_they_were_told():
    optimizer = Optimizer(LINE, "minimize", seed=0)
    for x in np.linspace(0.0, 1.0, 12):
        optimizer.tell({"x": float(x)}, 100.0 + x)
    best = optimizer.candidates()[0]
    assert best.point["x"] < 0.2
    assert 95.0 < best.quantiles[0.05] <= best.quantiles[0.95] < 105.0


def test_a_point_is_evaluated_again_as_it_was_told():
    optimizer = lucky(RATES)
    told = {optimizer.space.key(o.point) for o in optimizer.observations}
    known = len(told) + 1  # the recommended point need not be evaluated
    points = optimizer.ask(4, confirm=True)
    assert optimizer.pending == tuple(points)
    told |= {optimizer.space.key(optimizer.recommend().point)}
    assert {optimizer.space.key(point) for point in points} <= told
    assert len(told) <= known
    assert max(point["rate"] for point in points) > 0.3


def test_second_looks_are_repeatable_and_survive_saving():
    one = lucky()
    other = Optimizer.from_json(one.to_json())
    points = []
    for optimizer in (one, other):
        points.append(optimizer.ask(confirm=True))
        optimizer.tell(points[-1], 0.9)
        points.append(optimizer.ask(confirm=True))
        points.append(optimizer.suggest(99, confirm=True))
    assert points[:3] == points[3:]


def test_where_the_model_fails_the_best_reward_is_looked_at_again(monkeypatch, caplog):
    def fail(*arguments):
        raise FloatingPointError("injected")

    optimizer = lucky()
    monkeypatch.setattr("infgp.search.optimizer.second_look", fail)
    assert optimizer.ask(confirm=True) == {"x": 0.45}
    assert optimizer.fallbacks == 1
    assert "injected" in caplog.text


def two_hills(often):
    """Good rewards at 0.3, a number of them, and one at 0.8; poor ones between and beyond."""
    rng = np.random.default_rng(0)
    optimizer = Optimizer(LINE, seed=0, surfaces=1)
    for x, value, count in ((0.05, -5.0, 2), (0.3, 1.0, often), (0.55, -5.0, 2), (0.8, 1.0, 1), (0.95, -5.0, 2)):
        for _ in range(count):
            optimizer.tell({"x": x}, float(value + rng.standard_normal()))
    return optimizer


def test_a_second_look_is_at_what_may_be_best_and_is_not_known_well():
    """Of two good points one was evaluated often; where rewards are poor nobody looks again."""
    assert two_hills(30).ask(confirm=True) == {"x": 0.8}


def test_pending_looks_count():
    optimizer = two_hills(1)
    assert {point["x"] for point in optimizer.ask(6, confirm=True)} >= {0.3, 0.8}


def test_errors_come_before_any_change():
    optimizer = Optimizer(LINE, seed=0)
    with pytest.raises(InvalidInputError, match="nothing to confirm yet"):
        optimizer.ask(confirm=True)
    with pytest.raises(InvalidInputError, match="nothing to rank yet"):
        optimizer.candidates()
    with pytest.raises(InvalidInputError, match="top must be an integer >= 1"):
        optimizer.candidates(0)
    several = Optimizer(LINE, ["maximize", "minimize"], seed=0)
    several.tell({"x": 0.5}, [1.0, 2.0])
    for call in (several.candidates, lambda: several.ask(confirm=True)):
        with pytest.raises(InvalidInputError, match="is for one objective"):
            call()
    assert optimizer.pending == several.pending == ()
