import pytest

from infgp.app.spacefile import read_space
from infgp.errors import InvalidInputError
from infgp.space import Choice, Float, Int


def write(tmp_path, text):
    path = tmp_path / "space.toml"
    path.write_text(text)
    return path


def test_every_kind(tmp_path):
    space = read_space(
        write(
            tmp_path,
            """
rate = { type = "float", low = 1e-4, high = 1, log = true }
[layers]
type = "int"
low = 1
high = 6
[kind]
type = "choice"
options = ["a", 2, true]
""",
        )
    )
    assert space.names == ("rate", "layers", "kind")
    assert space.parameters == (Float(1e-4, 1.0, log=True), Int(1, 6), Choice(["a", 2, True]))


def test_steps_and_conditions(tmp_path):
    space = read_space(
        write(
            tmp_path,
            """
momentum = { type = "float", low = 0, high = 1, step = 0.3, when = { kind = "sgd" } }
kind = { type = "choice", options = ["adam", "sgd"] }
width = { type = "int", low = 8, high = 64, step = 8, when = { kind = ["adam", "sgd"], deep = true } }
[deep]
type = "choice"
options = [true, false]
[deep.when]
kind = "adam"
""",
        )
    )
    assert space.parameters == (
        Float(0.0, 0.9, step=0.3, when={"kind": "sgd"}),
        Choice(["adam", "sgd"]),
        Int(8, 64, step=8, when={"kind": ["adam", "sgd"], "deep": True}),
        Choice([True, False], when={"kind": "adam"}),
    )
    assert space.validate({"kind": "adam", "deep": True, "width": 16})


KIND = 'kind = { type = "choice", options = ["a", "b"] }\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = {", "is not TOML"),
        ("", "non-empty mapping"),
        ("x = 3", "'x' needs a type among float, int, choice"),
        ('x = { type = "real", low = 0, high = 1 }', "'x' needs a type"),
        ('x = { type = "float", low = 0 }', "'x' lacks high; a float takes low, high and perhaps log"),
        ('x = { type = "int", low = 0, high = 4, unit = 2 }', "'x' has unknown unit"),
        ('x = { type = "int", low = 0, high = 4, step = 0 }', "'x': .* has no step: it must be an integer >= 1"),
        ('x = { type = "float", low = 0, high = 4, when = "kind" }', "'x': when must be a mapping"),
        (
            'x = { type = "float", low = 0, high = 4, when = { kind = "a" } }',
            "'x' applies when 'kind' .* has no 'kind'",
        ),
        (KIND + 'x = { type = "float", low = 0, high = 4, when = { kind = "c" } }', "'x' cannot hold: kind='c' is not"),
        (KIND + 'x = { type = "float", low = 0, high = 4, when = { kind = [] } }', r"'x': when has \[\] for 'kind'"),
        ('x = { type = "float", low = 2, high = 1 }', "low < high"),
        ('x = { type = "choice", options = ["a", "a"] }', "equals an earlier one"),
        ('x = { type = "int", low = 3, high = 3 }', "nothing to search"),
    ],
)
def test_errors_name_the_file_and_the_parameter(tmp_path, text, message):
    with pytest.raises(InvalidInputError, match=message) as error:
        read_space(write(tmp_path, text))
    assert "space.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_file(tmp_path):
    with pytest.raises(InvalidInputError, match=r"cannot be read \(No such file"):
        read_space(tmp_path / "none.toml")
