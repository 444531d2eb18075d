"""A few cases of every kind of the hunt; `make fuzz` goes on for as long as one likes."""

import pytest

from tests.fuzz import KINDS, LONGEST, attempt, hunt


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_cases(kind):
    assert hunt([kind], range(1000, 1000 + {"files": 40}.get(kind, 6))) == []


def test_the_hunt_notices(monkeypatch):
    def hangs(case):
        while True:
            pass

    def raises(case):
        raise IndexError("raw")

    assert LONGEST == 30
    monkeypatch.setattr("tests.fuzz.LONGEST", 1)
    monkeypatch.setitem(KINDS, "hangs", hangs)
    monkeypatch.setitem(KINDS, "raises", raises)
    findings = hunt(["hangs", "raises"], [0])
    assert "still running after 1 seconds" in findings[0]
    assert "IndexError: raw" in findings[1]
    assert attempt("files", 3) is None
