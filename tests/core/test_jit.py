"""That compilation is under way is said once, and only where it is."""

import logging
import os
import subprocess
import sys

import pytest
from numba import njit
from numba.core import event

from infgp.core import jit as jit_module
from infgp.core.jit import SHARED, Announcement, jit, shared_sources


@pytest.fixture
def said(caplog):
    """What an announcement says that has not been made yet."""
    caplog.set_level(logging.WARNING, "infgp.compiling")
    with event.install_listener("numba:compile", Announcement()):
        yield lambda: [record.getMessage() for record in caplog.records]


def compiled(module):
    def add(x, y):
        return x + y

    add.__module__ = module
    return njit(add)  # not kept on disk, so that it is compiled every time


def test_compilation_is_announced_once(said):
    add = compiled("infgp.somewhere")
    assert add(1, 2) == 3
    before = said()
    assert "infgp compiles its inner loops" in before[0]
    assert add(1.5, 2.0) == 3.5  # compiled again for floats
    assert said() == before


def test_the_functions_of_others_are_not_announced(said):
    assert compiled("elsewhere")(1, 2) == 3
    assert not said()


def test_it_is_said_on_standard_error_where_nothing_is_compiled_yet(tmp_path):
    code = "import numpy as np; from infgp.core.places import spanning_tree; spanning_tree(np.array([[0.0], [0.8]]))"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stderr
        for _ in range(2)
    )
    assert first.count("\n") == 1
    assert "The next run loads them from disk" in first
    assert second == ""


def half(x):
    return x / 2


def test_compiled_code_is_left_where_a_file_that_others_inline_has_changed(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))

    def hits():
        function = jit()(half)
        assert function(3.0) == 1.5
        return sum(function.stats.cache_hits.values())

    assert [hits(), hits()] == [0, 1]
    monkeypatch.setattr(jit_module, "shared_sources", lambda: b"changed")
    assert [hits(), hits()] == [0, 1]


def test_files_that_others_inline_exist():
    assert all(list(jit_module.PACKAGE.glob(pattern)) for pattern in SHARED)
    assert len(shared_sources()) == 32
