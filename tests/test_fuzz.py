"""A few cases of every kind of the hunt, and those that once failed; `make fuzz` goes on for as long as one likes."""

import faulthandler
import json
import logging
import os
import time
from pathlib import Path

import pytest

from tests.fuzz import hunt, machines
from tests.fuzz.__main__ import KEPT
from tests.fuzz.hunt import KINDS, alone, attempt, case_of, module, orders_of, smaller
from tests.fuzz.record import read, table

ROOT = Path(__file__).parents[1]
#: Cases of each kind in a short run.
FEW = {"histories": 4, "fits": 10, "studies": 3, "runs": 8, "files": 60, "texts": 200}


@pytest.fixture(autouse=True)
def loud():
    """What a hunt has silenced is heard again after it."""
    loggers = [logging.getLogger(name) for name in ("infgp", "optuna")]
    before = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, before, strict=True):
        logger.setLevel(level)


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_cases(kind):
    hunt.quiet()
    found = {number: attempt(module(kind).play, case_of(kind, number)) for number in range(FEW[kind])}
    assert {number: wrong for number, wrong in found.items() if wrong is not None} == {}


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_cases_that_once_failed(path):
    kept = json.loads(path.read_text())
    hunt.quiet()
    assert attempt(module(kept["kind"]).play, kept["case"]) is None


def test_any_order_of_calls():
    machines.run(examples=6, steps=12, minimise=False)


class Bad:
    """A kind of cases that sleep, loop, end the process or raise, by what the steps say."""

    @staticmethod
    def play(case):
        if "hang" in case["steps"]:
            time.sleep(100.0)
        while "loop" in case["steps"]:
            pass
        if "crash" in case["steps"]:
            faulthandler.disable()
            os.abort()
        if "raise" in case["steps"]:
            raise IndexError("raw")


@pytest.fixture
def bad(monkeypatch):
    monkeypatch.setattr(hunt, "module", lambda kind: Bad)
    monkeypatch.setattr(hunt, "LONGEST", 1.0)
    monkeypatch.setattr(hunt, "PATIENCE", 2.0)
    monkeypatch.setattr(hunt.multiprocessing, "get_context", lambda _: hunt.multiprocessing.context.ForkContext())


def test_the_hunt_notices(bad):
    assert alone("bad", {"steps": ["loop"]}) == "still running after 1 seconds"
    assert alone("bad", {"steps": ["hang"]}) == "still running after 0 seconds"
    assert alone("bad", {"steps": ["crash"]}) == "the process ended with -6"
    assert "IndexError: raw" in alone("bad", {"steps": ["raise"]})
    assert alone("bad", {"steps": []}) is None


def test_the_hunt_goes_on_after_a_crash(bad, monkeypatch):
    monkeypatch.setattr(hunt, "case_of", lambda kind, number: {"steps": ["crash"] if number == 1 else []})
    found = {number: wrong for _, number, _, wrong in hunt.hunt(orders_of(["bad"], 0, 4), jobs=2)}
    assert found == {0: None, 1: "the process ended with -6", 2: None, 3: None}


def test_a_case_is_made_smaller(bad):
    case = {"steps": ["a", "b", "raise", "c", "d"], "options": {"kernel": "se"}}
    assert smaller("bad", case, "IndexError: raw") == {"steps": ["raise"], "options": {}}


def test_the_table_in_the_docs_is_that_of_the_record(monkeypatch):
    monkeypatch.chdir(ROOT)
    record = read()
    assert table(record) in Path("docs", "reliability.md").read_text()
    assert all(entry["cases"] > 0 for entry in record.values())
