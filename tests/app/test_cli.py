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


def infgp(*arguments, **more):
    """The command in a process of its own, which loads it as the script does."""
    return subprocess.run([sys.executable, "-m", "infgp", *arguments], stderr=subprocess.PIPE, text=True, **more)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_outputs_that_cannot_hold_all_characters(encoding):
    """As on Windows, when the output goes to a file."""
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    for arguments in (["--help"], ["run", "--help"], ["bench", "list"]):
        done = infgp(*arguments, stdout=subprocess.PIPE, env=env, encoding=encoding)
        assert (done.returncode, done.stderr) == (0, "")
        assert "?" in done.stdout or encoding == "cp1252"


def test_no_output_at_all():
    code = "import sys; sys.stdout = None; from infgp.app.cli import main; sys.exit(main(['bench', 'list']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no disk that is full")
def test_a_full_disk():
    with open("/dev/full", "w") as full:
        done = infgp("bench", "list", stdout=full)
    assert (done.returncode, done.stderr) == (1, "infgp: No space left on device\n")


def test_ctrl_c(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "show", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "infgp: Stopped.\n"


def test_ctrl_c_while_the_command_is_loaded():
    code = """
import sys
from infgp.__main__ import main
class Interrupting:
    def find_spec(self, name, *_):
        if name == "infgp.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


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


@pytest.mark.parametrize("command", ["run", "report"])
def test_options_are_called_as_they_are_written(tmp_path, capsys, command):
    file = tmp_path / "space.toml"
    file.write_text('x = { type = "float", low = 0, high = 1 }')
    begin = {"run": ["run", "math:sqrt", "--space", str(file), "--trials", "3"], "report": ["report", "mine"]}[command]
    for given, phrase in (
        (["--probability", "0.9"], "--probability is that of --until-regret"),
        (["--until-regret", "-1"], "--until-regret must be a finite number > 0, but got -1.0"),
        (["--until-regret", "0.1", "--probability", "95"], "--probability must be between 0 and 1, but got 95.0"),
        (["--seed", "-1"], "--seed must be an integer >= 0, but got -1"),
    ):
        assert main([*begin, *given]) == 1
        assert phrase in capsys.readouterr().err
