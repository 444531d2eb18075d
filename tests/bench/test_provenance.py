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
    if found.returncode or provenance._git("cat-file", "-t", provenance.DEFAULT_CHANGED) is None:
        pytest.skip("not in a checkout with its history")
    return found.stdout.strip()


def test_a_record_carries_the_commit(head):
    made = runner.run(task("ackley"), METHODS["random"], seed=0, steps=3)["commit"]
    assert made.removesuffix("+") == head


def test_what_is_old(head):
    assert not provenance.before({"commit": head})
    assert not provenance.before({"commit": f"{head}+"})
    assert not provenance.before({"commit": provenance.DEFAULT_CHANGED})
    assert provenance.before({"commit": f"{provenance.DEFAULT_CHANGED}~1"})
    assert provenance.before({"commit": "0000000"})  # git does not know it
    assert provenance.before({"commit": None})
    assert provenance.before({})


def test_what_did_not_change_for_few_inputs_is_not_old(head):
    made = provenance.CHANGED_FOR_FEW
    assert not provenance.before({"commit": made, "d": provenance.UNCHANGED_UP_TO})
    assert provenance.before({"commit": made, "d": provenance.UNCHANGED_UP_TO + 1})
    assert provenance.before({"commit": f"{made}~1", "d": provenance.UNCHANGED_UP_TO})


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
