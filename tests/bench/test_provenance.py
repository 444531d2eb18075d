"""Records say which commit made them, and tables which of their rows are old."""

import subprocess

import pytest

from infgp.bench import provenance, runner
from infgp.bench.methods import METHODS
from infgp.bench.tasks import task


@pytest.fixture
def head():
    found = subprocess.run(
        ["git", "-C", str(provenance.PACKAGE), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    if found.returncode or provenance._git("cat-file", "-t", provenance.CHANGES[-1].commit) is None:
        pytest.skip("not in a checkout with its history")
    return found.stdout.strip()


def test_a_record_carries_the_commit(head):
    made = runner.run(task("ackley"), METHODS["random"], seed=0, steps=3)["commit"]
    assert made.removesuffix("+") == head


def test_what_is_old(head):
    assert not provenance.before({"commit": head})
    assert not provenance.before({"commit": f"{head}+"})
    for change in provenance.CHANGES:
        assert not provenance.before({"commit": change.commit, "d": 2, "task": "ackley"})
        assert provenance.before({"commit": f"{change.commit}~1", "d": 3, "task": "hpolib-slice_localization"})
    assert provenance.before({"commit": "0000000"})  # git does not know it
    assert provenance.before({"commit": None})
    assert provenance.before({})


def test_what_a_change_does_not_matter_to_is_not_old(head):
    first, inputs, repeats = (change.commit for change in provenance.CHANGES)
    assert not provenance.before({"commit": first, "d": 2, "task": "ackley"})
    assert provenance.before({"commit": f"{first}~1", "d": 2, "task": "ackley"})
    assert provenance.before({"commit": first, "d": 3, "task": "ackley"})
    assert provenance.before({"commit": inputs, "d": 2, "task": "zero-inflated-d2"})
    assert not provenance.before({"commit": repeats, "d": 9, "task": "hpolib-naval_propulsion"})


def test_a_table_names_the_methods_whose_records_are_old(head):
    new, old = {"commit": head}, {}
    runs = [{"method": "a", **new}, {"method": "b", **old}, {"method": "c", **old}, {"method": "c", **new}]
    start = provenance.OLD
    assert provenance.age(runs, str.upper) == f"{start} B, C (1 of 2 runs)."
    assert provenance.age(runs[:1]) == f"{start} no method."
    assert provenance.age(runs[1:2]) == f"{start} all methods."


def test_without_git_there_is_no_commit(monkeypatch):
    monkeypatch.setenv("PATH", "")
    provenance.commit.cache_clear()
    try:
        assert provenance.commit() is None
    finally:
        provenance.commit.cache_clear()
