"""Observations as data frames, and back."""

import sys

import numpy as np
import pandas as pd
import pytest

from infgp import Choice, Float, Int, Optimizer
from infgp.errors import InvalidInputError, MissingExtraError
from infgp.space import Space

TREE = Space.of(
    {
        "kind": Choice(["a", None, "b"]),
        "level": Choice([1, 2, 10]),
        "layers": Int(1, 9, when={"kind": "a"}),
        "rate": Float(1e-4, 1.0, log=True),
        "deep": Choice([True, None], when={"kind": ["b", None]}),
        "units": Int(16, 64, step=16),
        "x": Float(0.0, 1.0, when={"deep": True}),
    }
)
MANY = {"x": Float(0.0, 1.0)}


def points():
    points = [
        {"kind": "a", "level": 1, "layers": 3, "rate": 0.1, "units": 16},
        {"kind": None, "level": 2, "rate": 1e-4, "deep": None, "units": 32},
        {"kind": "b", "level": 10, "rate": 1.0, "deep": True, "units": 64, "x": 0.1 + 0.2},
        {"kind": None, "level": 1, "rate": 0.3, "deep": True, "units": 48, "x": 1.0},
        {"kind": "a", "level": 2, "layers": 9, "rate": 0.01, "units": 16},
    ]
    return [TREE.validate(point) for point in points]


VALUES = [1.0, None, 0.1 + 0.2, -3.0, 2.0]


def told(space=TREE, **options):
    optimizer = Optimizer(space, seed=0, **options)
    optimizer.tell_many(points(), VALUES)
    return optimizer


def typed(optimizer):
    """Observations with the types of their values, which True == 1 == 1.0 would hide."""
    return [({k: (type(v), v) for k, v in o.point.items()}, o.values, o.constraints) for o in optimizer.observations]


def as_is(frame):
    return frame


def floats(frame):
    """All numbers as floats, as a CSV file with gaps gives them back."""
    return frame.astype({"level": float, "layers": float, "units": float})


def categories(frame):
    return frame.astype({"kind": "category", "level": "category", "units": "category", "deep": "category"})


def modern(frame):
    return frame.convert_dtypes()


def objects(frame):
    return frame.astype(object).where(frame.notna(), None)


def shuffled(frame):
    return frame[frame.columns[::-1]].assign(note="other columns are not read")


@pytest.mark.parametrize("through", [as_is, floats, categories, modern, objects, shuffled])
def test_a_frame_goes_back(through):
    optimizer, again = told(), Optimizer(TREE, seed=0)
    frame = through(optimizer.to_frame())
    again.tell_many(frame, frame["value"])
    assert typed(again) == typed(optimizer)
    assert again.ask() == optimizer.ask()


def test_a_frame_has_what_was_told_and_what_is_believed():
    optimizer = Optimizer(MANY, "minimize", seed=0)
    x = np.linspace(0.0, 1.0, 12)
    y = x + np.where(np.arange(12) == 5, 90.0, 0.0)
    optimizer.tell_many([{"x": v} for v in x], y)
    optimizer.tell({"x": 0.5}, None)
    frame = optimizer.to_frame()
    assert list(frame.columns) == ["x", "value", "mean", "std", "off_surface_probability"]
    mean, std = optimizer.predict([o.point for o in optimizer.observations])
    assert frame["mean"].tolist() == mean.tolist()
    assert frame["std"].tolist() == std.tolist()
    assert frame["value"].tolist()[:-1] == y.tolist()
    assert frame.iloc[-1].isna().tolist() == [False, True, False, False, True]
    assert frame["off_surface_probability"].idxmax() == 5
    assert frame["off_surface_probability"][5] > 0.9


def test_columns_have_the_types_of_their_parameters():
    frame = told().to_frame()
    assert frame["layers"].tolist() == [3, pd.NA, pd.NA, pd.NA, 9]
    assert (str(frame["units"].dtype), str(frame["layers"].dtype)) == ("int64", "Int64")
    assert frame["kind"].tolist() == ["a", None, "b", None, "a"]
    assert [type(value) for value in frame["level"]] == [int] * 5


def test_a_frame_before_the_first_reward():
    assert Optimizer(MANY).to_frame().shape == (0, 5)
    optimizer = Optimizer(MANY)
    optimizer.tell({"x": 0.5}, None)
    assert optimizer.to_frame().iloc[0].isna().tolist() == [False, True, True, True, True]


def test_a_column_gives_way_to_a_parameter():
    optimizer = Optimizer({"value": Float(0.0, 1.0), "mean": Float(0.0, 1.0)}, seed=0)
    optimizer.tell_many([{"value": 0.1, "mean": 0.2}, {"value": 0.3, "mean": 0.4}], [1.0, 2.0])
    frame = optimizer.to_frame()
    assert list(frame.columns) == ["value", "mean", "value_", "mean_", "std", "off_surface_probability"]
    assert frame["value_"].tolist() == [1.0, 2.0]


def test_constraints_noise_variances_and_costs_go_back():
    optimizer, again = Optimizer(MANY, seed=0), Optimizer(MANY, seed=0)
    optimizer.tell({"x": 0.1}, 1.0, 0.25, {"weight": -1.0}, 7.5)
    optimizer.tell({"x": 0.2}, 2.0, None, {"weight": 0.5, "length": 0.0})
    optimizer.tell({"x": 0.3}, 3.0)
    frame = optimizer.to_frame()
    limits = frame[["constraint:weight", "constraint:length"]]
    again.tell_many(frame, frame["value"], frame["noise_variance"], limits, frame["cost"])
    assert again.observations == optimizer.observations


def test_several_objectives_go_back():
    optimizer, again = (Optimizer(MANY, ["maximize", "minimize"], seed=0) for _ in range(2))
    optimizer.tell_many([{"x": x} for x in (0.1, 0.4, 0.9, 0.5)], [[1.0, 2.0], (3.0, 1.0), np.array([2.0, 2.0]), None])
    frame = optimizer.to_frame()
    assert [c for c in frame.columns if c.endswith(":1")] == ["value:1", "mean:1", "std:1", "off_surface_probability:1"]
    again.tell_many(frame, frame[["value:0", "value:1"]])
    assert again.observations == optimizer.observations
    assert frame["mean:1"].tolist() == optimizer.predict([o.point for o in optimizer.observations])[0][:, 1].tolist()


def test_many_are_told_as_one_after_the_other():
    one, many = Optimizer(MANY, seed=0), Optimizer(MANY, seed=0)
    asked = [o.ask(5) for o in (one, many)]
    again = [*asked[0][:3], asked[0][1]]
    for k, point in enumerate(again):
        one.tell(point, float(k))
    many.tell_many(again, np.arange(4.0))
    assert many.observations == one.observations
    assert many.pending == one.pending == tuple(asked[0][3:])
    assert many.ask() == one.ask()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([{"x": 0.1}, {"x": 7.0}], [1.0, 2.0]), r"x=7.0 is outside"),
        (([{"x": 0.1}, {"x": 0.2}], [1.0, "high"]), r"must be a number.*'high'"),
        (([{"x": 0.1}, {"x": 0.2}], [1.0]), "2 points, but 1 values"),
        (([{"x": 0.1}, {"x": 0.2}], 1.0), "values must be a sequence"),
        (({"x": 0.1}, [1.0]), "points must be a sequence"),
        (([{"x": 0.1}, {"x": 0.2}], [1.0, 2.0], [0.1, -1.0]), "noise_variance must be finite and >= 0"),
        (([{"x": 0.1}, {"x": 0.2}], [1.0, 2.0], [0.1]), "2 points, but 1 noise_variances"),
        (([{"x": 0.1}, {"x": 0.2}], [1.0, 2.0], None, [{"w": 1.0}, {"w": "heavy"}]), "constraints must be numbers"),
        ((pd.DataFrame({"y": [0.1]}), [1.0]), "lacks"),
        ((pd.DataFrame([[0.1, 0.2]], columns=["x", "x"]), [1.0]), "two columns 'x'"),
        ((pd.DataFrame({"x": [0.1, None]}), [1.0, 2.0]), "lacks"),
    ],
)
def test_what_is_wrong_with_one_changes_nothing(arguments, message):
    optimizer = Optimizer(MANY, seed=0)
    optimizer.ask()
    before = optimizer.to_json()
    with pytest.raises(InvalidInputError, match=message):
        optimizer.tell_many(*arguments)
    assert optimizer.to_json() == before


def test_a_value_that_does_not_apply_is_refused():
    frame = pd.DataFrame([{**points()[0], "deep": True}])
    with pytest.raises(InvalidInputError, match="does not apply there"):
        Optimizer(TREE).tell_many(frame, [1.0])


def test_a_frame_needs_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"infgp\[frame\]"):
        Optimizer(MANY).to_frame()
    optimizer = Optimizer(MANY)
    optimizer.tell_many([{"x": 0.5}], [1.0])
    assert optimizer.counts == (1, 1)
