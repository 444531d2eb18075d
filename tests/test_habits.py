"""What users of other libraries try first is answered with the name that it has here."""

import inspect
import pickle
import subprocess
import sys

import pytest

import infgp
from infgp.habits import ARGUMENTS, ATTRIBUTES, RESULT_ATTRIBUTES

SPACE = {"x": infgp.Float(0.0, 1.0)}


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_attributes_of_other_optimizers(name):
    with pytest.raises(AttributeError, match=f"Optimizer has no '{name}'; use "):
        getattr(infgp.Optimizer(SPACE), name)


@pytest.fixture(scope="module")
def result():
    return infgp.maximize(lambda x: x, SPACE, 1, seed=0)


@pytest.mark.parametrize("name", sorted(RESULT_ATTRIBUTES))
def test_attributes_of_other_results(name, result):
    with pytest.raises(AttributeError, match=f"Result has no '{name}'; use "):
        getattr(result, name)


def test_other_names_are_missing_as_ever():
    optimizer = infgp.Optimizer(SPACE, seed=0)
    with pytest.raises(AttributeError, match="no attribute 'recomend'") as caught:
        _ = optimizer.recomend
    assert (caught.value.name, caught.value.obj) == ("recomend", optimizer)  # from which Python guesses what was meant
    assert not hasattr(optimizer, "best_params")
    assert pickle.loads(pickle.dumps(optimizer)).ask() == optimizer.ask()


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_arguments_of_other_libraries(name):
    with pytest.raises(infgp.InvalidInputError, match=f"no argument '{name}'; use "):
        infgp.minimize(lambda x: x, SPACE, 3, **{name: 1})


def test_hints_name_what_exists():
    known = inspect.signature(infgp.maximize).parameters.keys() | inspect.signature(infgp.Optimizer).parameters.keys()
    assert {hint.partition("=")[0] for hint in ARGUMENTS.values()} <= known
    fields = infgp.Result.__dataclass_fields__
    for hints, names in ((ATTRIBUTES, {*dir(infgp.Optimizer)}), (RESULT_ATTRIBUTES, {*dir(infgp.Result), *fields})):
        assert not hints.keys() & names  # a name that exists needs no hint
        firsts = {hint.partition("(")[0].partition(".")[0].partition(",")[0] for hint in hints.values()}
        assert {first for first in firsts if first.isidentifier()} - {"infgp"} <= names


def test_modules_need_no_import_of_their_own():
    code = "import infgp; print(infgp.plot.__name__, infgp.optuna.InfGPSampler.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["infgp.plot", "InfGPSampler"]


def test_names_at_the_top():
    assert infgp.Recommendation.__module__ == "infgp.search.outcomes"
    assert infgp.Observation({"x": 0.5}, (1.0,)).value == 1.0
    assert {"Recommendation", "Observation"} <= set(dir(infgp))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = infgp.nothing
