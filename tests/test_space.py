import json
import math
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infgp.errors import InvalidInputError
from infgp.space import LARGEST_SOBOL, Choice, Float, Int, Space
from tests.strategies import choices, floats, ints, spaces, spaces_with_positions, stepped

LARGEST = 2**53
repeatable = settings(deadline=None, derandomize=True)

MIXED = Space.of(
    {
        "x": Float(-2, 3),
        "rate": Float(1e-5, 10.0, log=True),
        "n": Int(1, 9),
        "width": Int(1, 1024, log=True),
        "kind": Choice(["a", True, None]),
        "seed": Int(7, 7),
        "only": Choice(["one"]),
    }
)
POINT = {"x": 0.5, "rate": 0.01, "n": 3, "width": 64, "kind": True, "seed": 7, "only": "one"}


def branching(parent="kind", kinds="a"):
    """A space in which x depends on another parameter."""
    return Space.of(
        {
            "kind": Choice(["a", "b"]),
            "n": Int(1, 9, step=2),
            "y": Float(0, 1),
            "x": Float(0, 1, when={parent: kinds}),
        }
    )


def rounding(p):
    """Error of the coordinate of a Float when its value, and on a log scale the logarithm, is rounded to a float."""
    ends = np.log([p.low, p.high]) if p.log else np.array([p.low, p.high])
    return np.spacing(max(1.0 if p.log else 0.0, *abs(ends))) / (ends[1] - ends[0])


def test_dimension_and_discrete_coordinates():
    assert MIXED.d == 1 + 1 + 1 + 1 + 3
    assert MIXED.discrete.tolist() == [False, False, True, True, True, True, True]
    assert Space.of({"x": Float(0, 1), "y": Float(0, 1, step=0.5)}).discrete.tolist() == [False, True]


def test_positions_by_hand():
    u = MIXED.to_unit([POINT])[0]
    width = np.log(64 / 0.5) / np.log(1024.5 / 0.5)
    assert u == pytest.approx([0.5, 0.5, 2.5 / 9, width, 0.0, 1.0, 0.0])
    (point,) = MIXED.from_unit([u])
    assert point == {**POINT, "rate": pytest.approx(0.01, rel=1e-12)}


def test_positions_of_no_points():
    assert MIXED.to_unit([]).shape == MIXED.snap(np.zeros((0, 7))).shape == (0, 7)
    assert MIXED.from_unit(np.zeros((0, 7))) == []


@repeatable
@given(spaces_with_positions())
def test_snap_is_the_round_trip(case):
    space, u = case
    errors = [4.0 * rounding(p) if math.isinf(p.size) else 0.0 for p in space.parameters]
    tolerance = 1e-12 + np.repeat(errors, [p.width for p in space.parameters])
    assert np.all(np.abs(space.to_unit(space.from_unit(u)) - space.snap(u)) <= tolerance)


@repeatable
@given(spaces_with_positions(st.builds(Float, st.floats(-1e3, 1e3), st.floats(1.1e3, 1e9)) | ints() | choices()))
def test_snap_is_the_round_trip_to_twelve_digits_in_ordinary_ranges(case):
    space, u = case
    assert np.allclose(space.to_unit(space.from_unit(u)), space.snap(u), rtol=0.0, atol=1e-12)


@repeatable
@given(spaces_with_positions())
def test_snap_is_idempotent_and_inside_the_cube(case):
    space, u = case
    snapped = space.snap(u)
    assert snapped.shape == u.shape
    assert np.all((snapped >= 0.0) & (snapped <= 1.0))
    assert np.allclose(space.snap(snapped), snapped, rtol=0.0, atol=1e-12)
    free = space.free(u)
    assert np.array_equal(snapped[free], np.clip(u, 0.0, 1.0)[free])
    assert np.array_equal(space.free(snapped), free)


@repeatable
@given(spaces_with_positions())
def test_points_are_valid_and_plain(case):
    space, u = case
    for point in space.from_unit(u):
        valid = space.validate(point)
        assert list(point) == [name for name in space.names if name in point]
        assert space.conditional or len(point) == len(space.names)
        assert space.key(valid) == space.key(point)
        assert all(type(value) in (float, int, str, bool, type(None)) for value in point.values())
        for name, p in zip(space.names, space.parameters, strict=True):
            if name not in point:
                continue
            if isinstance(p, Choice):
                assert any(point[name] is option for option in p.options)
            else:
                assert type(point[name]) is (float if isinstance(p, Float) else int)
                assert p.low <= point[name] <= p.high


@repeatable
@given(floats())
def test_corners_of_the_cube_are_the_bounds_to_the_last_bit(parameter):
    space = Space.of({"x": parameter})
    assert space.from_unit([[0.0], [1.0]]) == [{"x": parameter.low}, {"x": parameter.high}]
    assert space.to_unit([{"x": parameter.low}, {"x": parameter.high}]).tolist() == [[0.0], [1.0]]


@repeatable
@given(st.integers(-LARGEST, LARGEST), st.integers(1, 2**40), st.data())
def test_integers_survive_the_cube(low, span, data):
    space = Space.of({"n": Int(low, min(low + span, LARGEST)) if low < LARGEST else Int(low - 1, low)})
    n = data.draw(st.integers(space.parameters[0].low, space.parameters[0].high))
    assert space.from_unit(space.to_unit([{"n": n}])) == [{"n": n}]


@repeatable
@given(st.integers(1, LARGEST - 1), st.integers(1, 2**30), st.data())
def test_integers_on_a_log_scale_survive_the_cube(low, span, data):
    high = min(low + span, LARGEST)
    space = Space.of({"n": Int(low, high, log=True)})
    n = data.draw(st.integers(low, high))
    assert space.from_unit(space.to_unit([{"n": n}])) == [{"n": n}]


@pytest.mark.parametrize("log", [False, True])
def test_every_integer_owns_its_cell(log):
    space = Space.of({"n": Int(1, 30, log=log)})
    edges = np.arange(0.5, 31.0)
    edges = np.log(edges / 0.5) / np.log(30.5 / 0.5) if log else (edges - 0.5) / 30
    for n, (left, right) in enumerate(pairwise(edges), start=1):
        u = left + (right - left) * np.array([1e-9, 0.5, 1.0 - 1e-9])
        assert space.from_unit(u[:, None]) == [{"n": n}] * 3


def test_wide_ranges():
    space = Space.of({"x": Float(1e-300, 1e300, log=True), "n": Int(-LARGEST, LARGEST), "m": Int(1, LARGEST, log=True)})
    assert space.from_unit([[0.0] * 3, [1.0] * 3]) == [
        {"x": 1e-300, "n": -LARGEST, "m": 1},
        {"x": 1e300, "n": LARGEST, "m": LARGEST},
    ]
    assert space.from_unit([[0.5] * 3])[0]["x"] == pytest.approx(1.0, rel=1e-12)
    assert space.to_unit([{"x": 1.0, "n": 0, "m": 1}])[0, :2] == pytest.approx([0.5, 0.5])


def test_ties_go_to_the_first_option():
    space = Space.of({"kind": Choice(["a", "b", "c"])})
    assert space.from_unit([[0.2, 0.7, 0.7], [1.0, 1.0, 1.0], [1.1, 1.2, 0.0]]) == [{"kind": k} for k in "bab"]


@repeatable
@given(spaces())
def test_json_round_trip(space):
    text = json.dumps(space.to_json(), allow_nan=False, sort_keys=True)
    again = Space.from_json(json.loads(text))
    assert again == space
    assert hash(again) == hash(space)
    assert json.loads(text) == space.to_json()


def test_a_space_can_be_pickled_and_made_from_itself():
    assert pickle.loads(pickle.dumps(MIXED)) == MIXED
    assert Space.of(MIXED) is MIXED


def test_the_order_of_parameters_and_the_type_of_options_matter():
    a, b = Float(0, 1), Float(0, 2)
    assert Space.of({"a": a, "b": b}) != Space.of({"b": b, "a": a})
    assert Choice([1, 2]) != Choice([1.0, 2])
    assert Choice([1, 2]) == Choice(np.array([1, 2]))


def test_validate_makes_values_plain():
    sloppy = {
        "only": np.str_("one"),
        "seed": 7.0,
        "kind": np.True_,
        "width": np.float64(64.0),
        "n": np.int32(3),
        "rate": np.float64(0.01),
        "x": 3,
    }
    valid = MIXED.validate(sloppy)
    assert valid == {**POINT, "x": 3.0}
    assert list(valid) == list(POINT)
    assert [type(value) for value in valid.values()] == [float, float, int, int, bool, int, str]


def test_rounding_errors_at_a_bound_are_clipped():
    point = MIXED.validate({**POINT, "x": 3.0 + 4e-12, "rate": 1e-5 * (1 - 5e-13)})
    assert (point["x"], point["rate"]) == (3.0, 1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": 3.1}, r"x=3.1 is outside \[-2.0, 3.0\]"),
        ({"x": 3.0 + 6e-12}, "x=3.000000000006 is outside"),
        ({"x": math.nan}, "x=nan is not a finite number"),
        ({"x": -math.inf}, "x=-inf is not a finite number"),
        ({"x": 10**400}, "is not a finite number"),
        ({"x": True}, "x=True is not a finite number"),
        ({"x": "0.5"}, "x='0.5' is not a finite number"),
        ({"x": None}, "x=None is not a finite number"),
        ({"rate": 9e-6}, "rate=9e-06 is outside"),
        ({"rate": -1e-12}, "rate=-1e-12 is outside"),
        ({"n": 0}, r"n=0 is outside \[1, 9\]"),
        ({"n": 10}, "n=10 is outside"),
        ({"n": 3.5}, "n=3.5 is not an integer"),
        ({"n": math.nan}, "n=nan is not an integer"),
        ({"n": np.False_}, "n=False is not an integer"),
        ({"n": [3]}, r"n=\[3\] is not an integer"),
        ({"kind": "b"}, r"kind='b' is not an option; give one of \['a', True, None\]"),
        ({"kind": 1}, "kind=1 is not an option"),
        ({"kind": ["a"]}, "is not an option"),
        ({"seed": 8}, r"seed=8 is outside \[7, 7\]"),
        ({"lr": 1, 5: 2}, r"has unknown \['lr', 5\]; it must have exactly \['x', 'rate'"),
    ],
)
def test_invalid_points(change, message):
    with pytest.raises(InvalidInputError, match=message):
        MIXED.validate({**POINT, **change})
    with pytest.raises(InvalidInputError, match=message):
        MIXED.to_unit([POINT, {**POINT, **change}])


def test_points_with_missing_names():
    with pytest.raises(InvalidInputError, match=r"lacks \['n', 'seed'\]"):
        MIXED.validate({k: v for k, v in POINT.items() if k not in ("n", "seed")})
    with pytest.raises(InvalidInputError, match=r"lacks .*'kind'.* and has unknown \['y'\]"):
        MIXED.validate({"y": 1})
    with pytest.raises(InvalidInputError, match="A point is a mapping"):
        MIXED.validate([0.5])


def test_keys_tell_equal_options_apart():
    spaces = [Space.of({"kind": Choice([option, "other"])}) for option in (True, 1, 1.0)]
    keys = {space.key(space.validate({"kind": space.parameters[0].options[0]})) for space in spaces}
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Float(1, 1), "low < high"),
        (lambda: Float(2, 1), "low < high"),
        (lambda: Float(0, math.inf), "finite numbers"),
        (lambda: Float(math.nan, 1), "finite numbers"),
        (lambda: Float(False, 1), "finite numbers"),
        (lambda: Float("0", 1), "finite numbers"),
        (lambda: Float(LARGEST, LARGEST + 1), "low < high"),
        (lambda: Float(-1.7e308, 1.7e308), "more than a float can hold"),
        (lambda: Float(0, 1, log=True), "log scale needs low > 0"),
        (lambda: Float(1, 2, log="yes"), "log must be True or False"),
        (lambda: Float(1e300, math.nextafter(1e300, math.inf), log=True), "too narrow for a log scale"),
        (lambda: Int(2, 1), "low <= high"),
        (lambda: Int(0.5, 3), "must be integers"),
        (lambda: Int(True, 3), "must be integers"),
        (lambda: Int(0, math.inf), "must be integers"),
        (lambda: Int(0, LARGEST + 1), r"beyond ±2\*\*53"),
        (lambda: Int(0, 3, log=True), "log scale needs low > 0"),
        (lambda: Int(1, 3, log=1), "log must be True or False"),
        (lambda: Float(0, 1, step=0.0), "has no step: it must be a finite number > 0"),
        (lambda: Float(0, 1, step=-0.1), "has no step"),
        (lambda: Float(0, 1, step=math.nan), "has no step"),
        (lambda: Float(0, 1, step="0.1"), "has no step"),
        (lambda: Float(0, 1, step=True), "has no step"),
        (lambda: Float(0, 1, step=np.array([0.1])), "has no step"),
        (lambda: Float(1, 2, log=True, step=0.1), "a step on a log scale; leave out log=True or the step"),
        (lambda: Float(0, 1, step=1.1), "a step beyond its range; it must be at most high - low"),
        (lambda: Float(0, 1, step=1e-17), "too small for floats to tell values apart"),
        (lambda: Float(1e17, 2e17, step=16.0), "too small for floats to tell values apart"),
        (lambda: Float(0, 1e300, step=1.0), "too small for floats to tell values apart"),
        (lambda: Int(0, 9, step=0), "has no step: it must be an integer >= 1"),
        (lambda: Int(0, 9, step=2.5), "has no step"),
        (lambda: Int(0, 9, step=None), "has no step"),
        (lambda: Int(1, 9, log=True, step=2), "a step on a log scale"),
        (lambda: Int(0, 9, step=10), "a step beyond its range"),
        (lambda: Float(0, 1, when={}), r"when must be a mapping .* such as \{'kind': 'a'\}, but got \{\}"),
        (lambda: Int(0, 1, when="kind"), "when must be a mapping"),
        (lambda: Choice(["a"], when=["kind"]), "when must be a mapping"),
        (lambda: Float(0, 1, when={3: "a"}), "names of parameters as its keys, but has 3"),
        (lambda: Float(0, 1, when={"kind": []}), r"when has \[\] for 'kind'"),
        (lambda: Float(0, 1, when={"kind": [["a"]]}), "non-empty list of them"),
        (lambda: Float(0, 1, when={"kind": math.nan}), "when has nan for 'kind'"),
        (lambda: branching(kinds="c"), "'x' cannot hold: kind='c' is not an option; give one of"),
        (lambda: branching(kinds=["a", 1]), "kind=1 is not an option"),
        (lambda: branching(parent="king"), r"the space has no 'king'; its parameters are \['kind', 'n', 'y', 'x'\]"),
        (lambda: branching(parent="y"), "'y' is a Float; use a condition on a Choice or an Int"),
        (lambda: branching(parent="n", kinds=4), "n=4 lies between the steps of 2 from 1; give e.g. 3"),
        (lambda: branching(parent="n", kinds=11), r"n=11 is outside \[1, 9\]"),
        (lambda: Space.of({"a": Int(0, 1, when={"a": 1})}), r"\['a'\] depend on each other in a circle"),
        (
            lambda: Space.of(
                {"a": Int(0, 1, when={"c": 1}), "b": Int(0, 1, when={"a": 1}), "c": Int(0, 1, when={"b": 1})}
            ),
            r"\['a', 'b', 'c'\] depend on each other in a circle",
        ),
        (
            lambda: Space.of({"a": Int(0, 1), "b": Int(0, 1, when={"a": 1}), "c": Int(0, 1, when={"a": 0, "b": 1})}),
            "'c' never applies: .* leave no value for 'a'",
        ),
        (lambda: Choice([]), "at least one"),
        (lambda: Choice("abc"), "Choice needs a list"),
        (lambda: Choice({"a", "b"}), "Choice needs a list"),
        (lambda: Choice([1, True]), "True equals an earlier one"),
        (lambda: Choice([1, 2, 1.0]), "1.0 equals an earlier one"),
        (lambda: Choice([0.5, math.nan]), "nan is not a str, int, finite float"),
        (lambda: Choice([(1, 2)]), r"\(1, 2\) is not a str"),
        (lambda: Space.of({}), "non-empty mapping"),
        (lambda: Space.of([Float(0, 1)]), "non-empty mapping"),
        (lambda: Space.of({"": Float(0, 1)}), "non-empty string"),
        (lambda: Space.of({3: Float(0, 1)}), "non-empty string"),
        (lambda: Space.of({"x": (0, 1)}), r"'x' is \(0, 1\); for a range write Float\(0, 1\) or Int\(0, 1\)"),
        (lambda: Space.of({"x": ["a", "b"]}), r"write Choice\(\['a', 'b'\]\)"),
        (lambda: Space.of({"x": 3}), "must be a Float, an Int or a Choice"),
        (lambda: Space.of({"a": Int(3, 3), "b": Choice(["x"])}), r"All parameters \(a, b\) are constant"),
        (lambda: MIXED.from_unit(np.zeros(7)), r"shape \(m, 7\), but got shape \(7,\)"),
        (lambda: MIXED.snap(np.zeros((2, 6))), r"shape \(m, 7\), but got shape \(2, 6\)"),
        (lambda: MIXED.snap(np.full((1, 7), np.nan)), "finite numbers"),
        (lambda: MIXED.sobol(np.random.default_rng(0), 0), "n must be an integer >= 1"),
    ],
)
def test_errors_say_what_was_wrong(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


X = {"name": "x", "type": "Float", "low": 0.0, "high": 1.0}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "list 'parameters'"),
        ({}, "list 'parameters'"),
        ({"parameters": {"x": X}}, "list 'parameters'"),
        ({"parameters": []}, "non-empty mapping"),
        ({"parameters": ["x"]}, "'x' is malformed"),
        ({"parameters": [{k: v for k, v in X.items() if k != "name"}]}, "malformed; it needs a name"),
        ({"parameters": [{**X, "name": []}]}, "malformed"),
        ({"parameters": [{**X, "type": "Real"}]}, r"a type among \['Float', 'Int', 'Choice'\]"),
        ({"parameters": [{**X, "type": ["Float"]}]}, "malformed"),
        ({"parameters": [{**X, "unit": 1}]}, "malformed"),
        ({"parameters": [{**X, "step": "1"}]}, "has no step"),
        ({"parameters": [{**X, "when": ["y"]}]}, "when must be a mapping"),
        ({"parameters": [{**X, "when": {"y": ["a"]}}]}, "has no 'y'"),
        ({"parameters": [{"name": "x", "type": "Int", "low": 0}]}, "malformed"),
        ({"parameters": [{**X, "high": None}]}, "finite numbers"),
        ({"parameters": [{**X, "name": 3}]}, "non-empty string"),
        ({"parameters": [X, X]}, "two parameters 'x'"),
    ],
)
def test_malformed_json(data, message):
    with pytest.raises(InvalidInputError, match=message):
        Space.from_json(data)


# --- Steps -----------------------------------------------------------------------------------------------------------


def values(parameter):
    """All values of a parameter, in the order of their cells."""
    cells = (np.arange(int(parameter.size)) + 0.5) / parameter.size
    return parameter.decode(cells[:, None])


def test_values_of_steps_are_what_is_written():
    assert values(Float(0, 1, step=0.1)) == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert values(Float(-0.3, 0.35, step=0.1)) == [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]
    assert values(Float(1e-7, 3.5e-7, step=1e-7)) == [1e-7, 2e-7, 3e-7]
    assert values(Int(3, 20, step=7)) == [3, 10, 17]


@repeatable
@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.integers(1, 10**6))
def test_rounding_of_bounds_and_steps_loses_no_value(low, step, n):
    """Also where a step or a bound is the result of a computation, and when a parameter is made from itself."""
    parameter = Float(low, low + n * step, step=step)
    assert parameter.size == n + 1
    assert Float(parameter.low, parameter.high, step=parameter.step) == parameter
    assert Float(low, low + step * n, step=step).high <= low + step * n


def test_high_is_lowered_to_the_largest_value():
    assert Float(0, 1, step=0.3) == Float(0, 0.9, step=0.3)
    assert Float(0, 1, step=0.3).high == 0.9
    assert Int(3, 20, step=7) == Int(3, 17, step=7)
    assert Int(5, 5, step=3) == Int(5, 5, step=3)
    assert Int(0, 9, step=np.int64(2)).step == 2


@repeatable
@given(stepped())
def test_every_value_of_a_step_owns_its_cell_and_survives_the_cube(parameter):
    space, n = Space.of({"p": parameter}), int(parameter.size)
    assert parameter.high - parameter.low == pytest.approx((n - 1) * parameter.step)
    found = values(parameter)
    assert (found[0], found[-1]) == (parameter.low, parameter.high)
    assert len(set(found)) == n
    assert np.diff(found) == pytest.approx(parameter.step)
    assert space.from_unit(space.to_unit([{"p": value} for value in found])) == [{"p": value} for value in found]
    assert space.to_unit([{"p": value} for value in found])[:, 0] == pytest.approx((np.arange(n) + 0.5) / n)


@repeatable
@given(stepped(), st.data())
def test_values_between_steps_are_refused(parameter, data):
    k = data.draw(st.integers(0, int(parameter.size) - 2))
    value, step = values(parameter)[k], parameter.step
    if isinstance(parameter, Float):
        assert parameter.check("p", value + 1e-9 * step) == value
        with pytest.raises(InvalidInputError, match="lies between the steps of"):
            parameter.check("p", value + 0.01 * step)
    elif step > 1:
        with pytest.raises(InvalidInputError, match=f"lies between the steps of {step} from .*; give e.g. {value}"):
            parameter.check("p", value + 1)


def test_the_sum_of_a_tenth_and_a_fifth_is_three_tenths():
    assert Float(0, 1, step=0.1).check("x", 0.1 + 0.2) == 0.3


def test_steps_of_any_kind_agree_with_those_of_a_plain_integer(rng):
    u = rng.random((100, 1))
    plain = Int(0, 10)
    for other in (Float(0, 1, step=0.1), Int(-20, 34, step=5)):
        assert np.array_equal(other.snap(u), plain.snap(u))
        assert np.array_equal(other.others(u[:1]), plain.others(u[:1]))


# --- Conditions ------------------------------------------------------------------------------------------------------

TREE = Space.of(
    {
        "momentum": Float(0.0, 1.0, when={"optimizer": "sgd"}),
        "nesterov": Choice([True, False], when={"optimizer": "sgd", "layers": (2, 3)}),
        "damping": Float(0.0, 1.0, step=0.25, when={"nesterov": True}),
        "optimizer": Choice(["adam", "sgd", None]),
        "layers": Int(1, 4),
        "width": Int(8, 64, step=8, when={"layers": [2, 3, 4]}),
    }
)
ADAM = {"optimizer": "adam", "layers": 1}
SGD = {"momentum": 0.9, "nesterov": True, "damping": 0.25, "optimizer": "sgd", "layers": 2, "width": 16}


def test_points_have_the_parameters_that_apply():
    assert TREE.validate(ADAM) == ADAM
    assert TREE.validate(SGD) == SGD
    assert list(TREE.validate(dict(reversed(SGD.items())))) == list(SGD)
    u = TREE.to_unit([ADAM, SGD])
    middle = [0.5, 0.5, 0.5, 0.5]
    assert u == pytest.approx(
        np.array(
            [
                [*middle, 1.0, 0.0, 0.0, 0.125, 0.5],
                [0.9, 1.0, 0.0, 0.3, 0.0, 1.0, 0.0, 0.375, 1.5 / 8],
            ]
        )
    )
    assert TREE.from_unit(u) == [ADAM, SGD]


def test_options_that_do_not_apply_are_as_far_from_one_as_from_every_other():
    space = Space.of({"kind": Choice(["ab", "c"]), "which": Choice(list("pqr"), when={"kind": "c"})})
    at = space.to_unit([{"kind": "ab"}])[0, 2:]
    assert at == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({**ADAM, "momentum": 0.5}, "has momentum=0.5, which does not apply there, but only if optimizer is 'sgd'"),
        ({**ADAM, "width": 8}, "but only if layers is 2 or 3 or 4; leave it out"),
        ({**SGD, "nesterov": False}, "has damping=0.25, which does not apply there, but only if nesterov is True"),
        ({**SGD, "optimizer": None}, "has momentum=0.9, which does not apply"),
        ({k: v for k, v in SGD.items() if k != "momentum"}, "lacks 'momentum', which applies if optimizer is 'sgd'"),
        (
            {k: v for k, v in SGD.items() if k != "nesterov"},
            "lacks 'nesterov', which applies if optimizer is 'sgd' and layers is 2 or 3; add it",
        ),
        (
            {"layers": 1, "rate": 1},
            r"lacks \['optimizer'\] and has unknown \['rate'\]; it must have exactly \['optimizer', 'layers'\] and, "
            r"where they apply, \['momentum', 'nesterov', 'damping', 'width'\]",
        ),
        ({**SGD, "damping": 0.3}, "damping=0.3 lies between the steps of 0.25 from 0.0; give e.g. 0.25"),
    ],
)
def test_points_with_too_many_or_too_few_parameters_are_refused(point, message):
    with pytest.raises(InvalidInputError, match=message):
        TREE.validate(point)


@repeatable
@given(spaces_with_positions(), st.integers(0, 2**32))
def test_what_does_not_apply_makes_no_difference(case, seed):
    """However the coordinates of parameters that do not apply are moved, the point and its position are the same."""
    space, u = case
    points, rng = space.from_unit(u), np.random.default_rng(seed)
    moved = u.copy()
    for row, point in zip(moved, points, strict=True):
        for name, parameter, columns in space._columns():
            if name not in point:
                row[columns] = rng.random(parameter.width)
    assert space.from_unit(moved) == points
    assert np.array_equal(space.snap(moved), space.snap(u))


@repeatable
@given(spaces_with_positions())
def test_a_parameter_applies_exactly_where_its_condition_holds(case):
    space, u = case
    for point in space.from_unit(u):
        for name, p in zip(space.names, space.parameters, strict=True):
            holds = all(
                parent in point
                and any(point[parent] is v or (type(v), v) == (type(point[parent]), point[parent]) for v in has)
                for parent, has in (p.when or {}).items()
            )
            assert (name in point) == holds


@repeatable
@given(spaces_with_positions(floats() | stepped() | st.builds(Int, st.integers(-5, 5), st.integers(5, 99)) | choices()))
def test_neighbours_are_other_points_in_their_place(case):
    space, u = case
    for row in space.snap(u):
        (here,) = space.from_unit(row[None])
        near = space.neighbours(row)
        assert np.allclose(space.snap(near), near, rtol=0.0, atol=1e-12)
        keys = [space.key(point) for point in space.from_unit(near)]
        assert space.key(here) not in keys
        assert len(set(keys)) == len(keys)
        if space.discrete.any():
            assert keys


def test_neighbours_change_one_thing_and_what_depends_on_it():
    (u,) = TREE.to_unit([ADAM])
    assert TREE.from_unit(TREE.neighbours(u)) == [
        {"momentum": 0.5, "optimizer": "sgd", "layers": 1},
        {"optimizer": None, "layers": 1},
        {"optimizer": "adam", "layers": 2, "width": 40},
    ]


def test_free_coordinates_are_those_of_floats_that_apply():
    assert np.argwhere(TREE.free(TREE.to_unit([ADAM, SGD]))).tolist() == [[1, 0]]


def test_conditions_on_true_and_one_differ():
    (one, true) = (Float(0, 1, when={"flag": value}) for value in (1, True))
    assert one != true
    assert hash(one) != hash(true)
    assert Float(0, 1, when={"k": 1}) == Float(0, 1, when={"k": [np.int64(1)]})
    assert Float(0, 1, when={"k": [1, 2]}) == Float(0, 1, when={"k": (2, 1)})
    assert Float(0, 1, when={"k": 1}) != Float(0, 1)


def test_representations_can_be_read_back():
    for parameter in (*TREE.parameters, Float(0, 1), Int(1, 9, log=True), Choice([1, "a"])):
        assert eval(repr(parameter)) == parameter
    assert repr(Int(1, 9)) == "Int(low=1, high=9, log=False)"
    assert repr(TREE.parameters[0]) == "Float(low=0.0, high=1.0, log=False, when={'optimizer': 'sgd'})"


def test_a_condition_on_a_constant_always_holds():
    space = Space.of({"only": Choice(["one"]), "x": Float(0, 1, when={"only": "one"})})
    assert space.from_unit([[0.25]]) == [{"only": "one", "x": 0.25}]
    assert space.to_unit([{"only": "one", "x": 0.25}]).tolist() == [[0.25]]


@pytest.mark.parametrize("n", [1, 5, 64])
def test_sobol_is_a_snapped_design(n):
    design = MIXED.sobol(np.random.default_rng(1), n)
    assert design.shape == (n, MIXED.d)
    assert np.allclose(MIXED.snap(design), design, rtol=0.0, atol=1e-12)
    assert np.array_equal(design, MIXED.sobol(np.random.default_rng(1), n))


def test_sobol_fills_every_cell_evenly(rng):
    space = Space.of({"x": Float(0, 1), "n": Int(1, 8), "kind": Choice(["a", "b"])})
    points = space.from_unit(space.sobol(rng, 64))
    assert np.bincount([point["n"] for point in points])[1:].tolist() == [8] * 8
    assert np.histogram([point["x"] for point in points], 64, (0.0, 1.0))[0].tolist() == [1] * 64
    assert 16 <= sum(point["kind"] == "a" for point in points) <= 48


def test_designs_beyond_sobols_dimensions(rng):
    space = Space.of({"kind": Choice(range(LARGEST_SOBOL + 1))})
    assert space.sobol(rng, 3).sum(axis=1).tolist() == [1.0] * 3


def test_the_module_is_light():
    code = "import infgp.space, sys; print('scipy' in sys.modules, 'numba' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["False", "False"]
