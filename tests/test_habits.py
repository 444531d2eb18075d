"""What users of other libraries try first is answered with the name that it has here."""

import inspect
import pickle
import subprocess
import sys

import pytest

import infgp
from infgp.habits import (
    ARGUMENTS,
    ATTRIBUTES,
    NAMES,
    RECOMMENDATION_ATTRIBUTES,
    REGRESSOR_ARGUMENTS,
    RESULT_ATTRIBUTES,
    SAMPLER_ARGUMENTS,
    SEARCH_ARGUMENTS,
)

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


@pytest.mark.parametrize("name", sorted(RECOMMENDATION_ATTRIBUTES))
def test_attributes_of_other_recommendations(name, result):
    with pytest.raises(AttributeError, match=f"Recommendation has no '{name}'; use "):
        getattr(result.recommendation, name)
    assert RECOMMENDATION_ATTRIBUTES[name] in infgp.Recommendation.__dataclass_fields__
    assert pickle.loads(pickle.dumps(result.recommendation)) == result.recommendation


@pytest.mark.parametrize("name", sorted(NAMES))
def test_names_of_other_packages(name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; use infgp\\."):
        getattr(infgp, name)


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


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_a_missing_budget_does_not_hide_the_name(name):
    """Whoever writes n_trials=50 writes no budget."""
    with pytest.raises(infgp.InvalidInputError, match=f"no argument '{name}'; use "):
        infgp.maximize(lambda x: x, SPACE, **{name: 50})


@pytest.mark.parametrize(
    ("make", "whose", "habits"),
    [
        (lambda **given: infgp.Optimizer(SPACE, **given), "infgp.Optimizer", SEARCH_ARGUMENTS),
        (infgp.optuna.InfGPSampler, "InfGPSampler", SAMPLER_ARGUMENTS),
        (infgp.InfiniteGP, "infgp.InfiniteGP", REGRESSOR_ARGUMENTS),
    ],
    ids=["Optimizer", "InfGPSampler", "InfiniteGP"],
)
def test_arguments_of_other_classes(make, whose, habits):
    for name, meant in habits.items():
        with pytest.raises(infgp.InvalidInputError) as caught:
            make(**{name: 1})
        assert str(caught.value) == f"{whose} has no argument {name!r}; use {meant}."
    with pytest.raises(infgp.InvalidInputError, match=f"{whose} has no argument 'kernal'; use kernel"):
        make(kernal="se")
    with pytest.raises(infgp.InvalidInputError, match=f"{whose} has no argument 'zzz'; its arguments are "):
        make(zzz=1)


def test_arguments_are_listed_once():
    with pytest.raises(infgp.InvalidInputError) as caught:
        infgp.maximize(lambda x: x, SPACE, 3, zzz=1)
    listed = str(caught.value).partition("its arguments are ")[2].rstrip(".").split(", ")
    assert len(listed) == len(set(listed))
    with pytest.raises(infgp.InvalidInputError, match=r"no argument 'minimize'; use infgp\.minimize\."):
        infgp.maximize(lambda x: x, SPACE, 3, minimize=True)


def test_hints_name_what_exists():
    known = inspect.signature(infgp.maximize).parameters.keys() | inspect.signature(infgp.Optimizer).parameters.keys()
    assert {hint.partition("=")[0] for hint in ARGUMENTS.values()} <= known
    fields = infgp.Result.__dataclass_fields__
    for hints, names in ((ATTRIBUTES, {*dir(infgp.Optimizer)}), (RESULT_ATTRIBUTES, {*dir(infgp.Result), *fields})):
        assert not hints.keys() & names  # a name that exists needs no hint
        firsts = {hint.partition("(")[0].partition(".")[0].partition(",")[0] for hint in hints.values()}
        assert {first for first in firsts if first.isidentifier()} - {"infgp"} <= names


def test_modules_need_no_import_of_their_own():
    code = "import infgp; print(infgp.plot.__name__, infgp.optuna.InfGPSampler.__name__, infgp.report.write.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["infgp.plot", "InfGPSampler", "write"]


def test_botorch_needs_no_import_of_its_own():
    pytest.importorskip("botorch")
    code = "import infgp; print(infgp.botorch.InfGPModel.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["InfGPModel"]


def test_names_at_the_top():
    assert infgp.Recommendation.__module__ == "infgp.search.outcomes"
    assert infgp.Observation({"x": 0.5}, (1.0,)).value == 1.0
    assert {"Recommendation", "Observation"} <= set(dir(infgp))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = infgp.nothing
