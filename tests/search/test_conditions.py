"""Searches over spaces with steps and conditions: what is asked, told, scored and saved."""

import json

import numpy as np
import pytest

from infgp.errors import InvalidInputError
from infgp.predict.paths import Path
from infgp.run import minimize
from infgp.search.acquisition import local_candidates
from infgp.search.maximise import candidates, maximise, pick
from infgp.search.optimizer import Optimizer
from infgp.space import Choice, Float, Int, Space

TREE = Space.of(
    {
        "kind": Choice(["a", "b"]),
        "x": Float(0.0, 1.0),
        "p": Float(0.0, 1.0, when={"kind": "a"}),
        "q": Float(0.0, 1.0, step=0.1, when={"kind": "b"}),
        "deep": Choice([True, False], when={"kind": "b"}),
        "r": Float(-1.0, 1.0, when={"deep": True}),
    }
)


def loss(kind, x, p=None, q=None, deep=None, r=None):
    """Least for kind b, q = 0.3, deep and r = 0.5, where it is 0."""
    if kind == "a":
        return 0.5 + (x - 0.2) ** 2 + (p - 0.9) ** 2
    return (x - 0.2) ** 2 + (q - 0.3) ** 2 + (0.1 * (r - 0.5) ** 2 if deep else 0.3)


def plane(weights):
    return Path(np.array([0.0, *weights]))


# Coordinates of TREE: kind (2), x, p, q, deep (2), r.


def test_parameters_that_do_not_apply_earn_nothing_with_gradients(rng):
    """The plane rises steeply in r, which applies to kind b only, and that loses more than r can earn."""
    found, value = maximise(rng, plane([0, -20, 1, 5, 0, 0, 0, 9]), TREE, np.empty((0, TREE.d)))
    assert TREE.from_unit(found[None]) == [{"kind": "a", "x": 1.0, "p": 1.0}]
    assert value == pytest.approx(1 + 5 + 9 * 0.5)
    found, value = maximise(rng, plane([0, 0, 1, 0, 0, 0, 0, 3]), TREE, np.empty((0, TREE.d)))
    assert TREE.from_unit(found[None])[0] | {"q": 0.0} == {"kind": "b", "x": 1.0, "q": 0.0, "deep": True, "r": 1.0}
    assert value == pytest.approx(1 + 3)


@pytest.mark.parametrize("search", [maximise, lambda *a: (pick(*a, 64, 60), None)], ids=["gradients", "candidates"])
def test_what_is_scored_is_what_is_evaluated(search, rng):
    seen = []

    class Watched(Path):
        def __call__(self, at):
            seen.append(at)
            return super().__call__(at)

    found, _ = search(rng, Watched(np.array([0.0, *rng.standard_normal(TREE.d)])), TREE, TREE.sobol(rng, 5))
    at = np.vstack([*seen, found[None]])
    assert np.allclose(TREE.snap(at), at, rtol=0.0, atol=1e-12)


def test_candidates_are_where_they_are_evaluated(rng):
    good = TREE.sobol(rng, 5)
    for at in (candidates(rng, TREE, good), local_candidates(rng, TREE, good, np.ones(TREE.d))):
        assert np.allclose(TREE.snap(at), at, rtol=0.0, atol=1e-12)


def test_points_that_are_the_same_are_at_one_position():
    """Positions that differ only where nothing applies become one, to the last bit."""
    rng = np.random.default_rng(0)
    u = np.tile(TREE.to_unit([{"kind": "a", "x": 0.3, "p": 0.6}]), (50, 1))
    u[:, 4:] = rng.random((50, 4))
    assert len(np.unique(TREE.snap(u), axis=0)) == 1


@pytest.mark.parametrize("options", [{}, {"goal": "along"}, {"acquisition": "thompson"}], ids=str)
def test_the_best_branch_is_found(options):
    result = minimize(loss, TREE, budget=40, seed=0, **options)
    assert all(TREE.validate(o.point) == o.point for o in result.observations)
    assert result.point["kind"] == "b"
    assert loss(**result.point) < 0.06


def test_points_are_asked_and_told_without_what_does_not_apply():
    optimizer = Optimizer(TREE, seed=0, n_initial=4)
    for _ in range(10):
        point = optimizer.ask()
        assert ("p" in point) == (point["kind"] == "a")
        assert ("r" in point) == (point.get("deep") is True)
        optimizer.tell(point, -loss(**point))
    before = optimizer.to_json()
    with pytest.raises(InvalidInputError, match=r"has q=0\.3, which does not apply there, but only if kind is 'b'"):
        optimizer.tell({"kind": "a", "x": 0.5, "p": 0.5, "q": 0.3}, 1.0)
    with pytest.raises(InvalidInputError, match="lacks 'p', which applies if kind is 'a'"):
        optimizer.tell({"kind": "a", "x": 0.5}, 1.0)
    assert optimizer.to_json() == before
    optimizer.tell({"kind": "a", "x": 0.5, "p": 0.5}, -1.0)
    assert optimizer.recommend().point.keys() <= set(TREE.names)


def test_a_saved_search_goes_on_number_for_number(tmp_path):
    optimizer = Optimizer(TREE, "minimize", seed=1, n_initial=4)
    for _ in range(9):
        point = optimizer.ask()
        optimizer.tell(point, loss(**point))
    pending = optimizer.ask()
    optimizer.save(tmp_path / "run.json")
    again = Optimizer.load(tmp_path / "run.json")
    assert again.space == TREE
    assert again.pending == (pending,)
    assert json.dumps(again.to_json()) == json.dumps(optimizer.to_json())
    assert again.ask(2) == optimizer.ask(2)


def test_frames_have_a_column_for_every_parameter():
    frame = minimize(loss, TREE, budget=6, seed=0).to_frame()
    assert list(frame.columns) == [*TREE.names, "value"]
    assert frame["p"].isna().tolist() == (frame["kind"] == "b").tolist()


def test_a_function_needs_defaults_for_what_may_not_apply():
    space = {"kind": Choice(["a", "b"]), "n": Int(1, 9, step=2, when={"kind": "b"})}
    with pytest.raises(InvalidInputError, match=r"needs 'n', which does not apply to all points; .* such as n=None"):
        minimize(lambda kind, n: 0.0, space, budget=2)
    with pytest.raises(InvalidInputError, match="take the point as one dict"):
        minimize(lambda *, kind, n: 0.0, space, budget=2)
    seen = []
    minimize(lambda point: seen.append(point) or 0.0, space, budget=8, seed=0)
    assert {"n" in point for point in seen} == {True, False}
    seen.clear()
    minimize(lambda kind, n=None: seen.append((kind, n is None)) or 0.0, space, budget=8, seed=0)
    assert set(seen) == {("a", True), ("b", False)}


def test_regret_and_candidates_are_over_points_that_can_be_evaluated(rng):
    optimizer = Optimizer(TREE, "minimize", seed=0, n_initial=12)
    for _ in range(14):
        point = optimizer.ask()
        optimizer.tell(point, loss(**point) + 0.01 * rng.standard_normal())
    regret = optimizer.regret()
    assert 0.0 <= regret.mean < 2.0
    again = optimizer.ask(confirm=True)
    assert all(TREE.validate(point) == point for point in [again, *(row.point for row in optimizer.candidates())])
