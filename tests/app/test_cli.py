import os
import subprocess
import sys

import pytest

from infgp.app import demo
from infgp.app.cli import main
from infgp.errors import MissingExtraError, require


def test_demo(tmp_path, capsys):
    picture = tmp_path / "demo.png"
    assert main(["demo", "--out", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("recommends") == 12
    assert float(printed.rsplit("expected reward is ", 1)[1].split()[0]) > 0.95 * demo.best_expected()  # the ∞-GP's
    assert picture.read_bytes().startswith(b"\x89PNG")


def without_matplotlib(folder, *arguments):
    hide = "import importlib.util as u, sys; sys.modules['matplotlib'] = None; u.find_spec = lambda name: None; "
    code = f"{hide}from infgp.app.cli import main; sys.exit(main({list(arguments)}))"
    return subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=folder)


def test_a_picture_that_is_asked_for_needs_its_extra(tmp_path):
    done = without_matplotlib(tmp_path, "demo", "--out", "x.png")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "pip install 'infgp[plot]'" in done.stderr


def test_the_demo_runs_without_extras(tmp_path):
    """It is the first thing that a newcomer tries."""
    done = without_matplotlib(tmp_path, "demo", "--budget", "8")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("recommends") == 2
    assert done.stdout.endswith("For a picture of both, run: pip install 'infgp[plot]'\n")


def test_demo_refuses_a_tiny_budget(capsys):
    assert main(["demo", "--budget", "3"]) == 1
    assert "--budget must be an integer >= 8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("none/x.png", "none/x.png is in a folder that does not exist; make none"),
        (".", ". cannot be written to"),
        ("x.foo", "x.foo is no kind of picture"),
    ],
)
def test_demo_says_at_once_that_its_picture_cannot_be_written(tmp_path, monkeypatch, capsys, out, message):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--out", out]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes that tell")
@pytest.mark.parametrize("arguments", [["run", "--help"], ["bench", "list"]], ids=str)
def test_nobody_reads(arguments):
    code = "import sys; from infgp.app.cli import main; sys.exit(main())"
    ours, theirs = os.pipe()
    os.close(ours)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], stdout=theirs, stderr=subprocess.PIPE, text=True, env=env
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, "")


def test_the_hint_for_bench_brings_no_gigabytes(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install -c constraints.txt '.\[bench\]'"):
        require("torch", "bench")
