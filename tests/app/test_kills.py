"""The count of what kills lose: a short form of it, and that it notices what it is made for."""

import json
from pathlib import Path

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState, create_trial

from infgp.optuna import FAILED
from tests.app import hostile
from tests.app.kills import FILE, compare, measure, table

ROOT = Path(__file__).parents[2]
POINT = {"a": 0.25, "b": 0.5, "c": 0.125}
SHOWN = f"{hostile.value(**POINT):.6g}"


@pytest.mark.parametrize("function", ["dying", pytest.param("pooling", marks=pytest.mark.slow)])
def test_a_few_kills(function):
    record = measure("sqlite", function, seed=0, kills=2)
    assert record["runs"] + record["workers"] == 2
    assert record["reported"] >= 1
    assert {record[name] for name in ("lost", "wrong", "tracebacks", "left")} == {0}


def stored(value=None, attributes=None):
    study = optuna.create_study()
    study.add_trial(
        create_trial(
            params=POINT,
            distributions={name: FloatDistribution(0.0, 1.0) for name in POINT},
            state=TrialState.FAIL if value is None else TrialState.COMPLETE,
            value=value,
            system_attrs=attributes or {},
        )
    )
    return study.trials


@pytest.mark.parametrize(
    ("shown", "trials", "lost", "wrong"),
    [
        (SHOWN, stored(hostile.value(**POINT)), 0, 0),
        ("failed", stored(None, {FAILED: True}), 0, 0),
        (SHOWN, [], 1, 0),
        (SHOWN, stored(None), 1, 0),
        (SHOWN, stored(None, {FAILED: True}), 1, 0),
        ("failed", stored(None), 1, 0),
        ("failed", stored(hostile.value(**POINT)), 1, 0),
        ("0.5", stored(hostile.value(**POINT)), 0, 1),
        (SHOWN, stored(hostile.value(**POINT) + 1e-15), 0, 1),
    ],
)
def test_what_is_lost_or_wrong_is_noticed(shown, trials, lost, wrong):
    found = compare("forking", [(0, shown)], trials)
    assert (found["lost"], found["wrong"]) == (lost, wrong)


def test_a_value_where_the_function_fails_is_wrong(monkeypatch):
    monkeypatch.setitem(hostile.SHARES, "dying", 1.0)
    assert compare("dying", [], stored(hostile.value(**POINT)))["wrong"] == 1


def test_the_page_has_the_counts_of_the_file():
    assert table(json.loads((ROOT / FILE).read_text())) in (ROOT / "docs" / "reliability.md").read_text()
