import subprocess
import sys

from infgp.app import demo
from infgp.app.cli import main


def test_demo(tmp_path, capsys):
    picture = tmp_path / "demo.png"
    assert main(["demo", "--out", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("recommends") == 12
    assert float(printed.rsplit("expected reward is ", 1)[1].split()[0]) > 0.95 * demo.best_expected()  # the ∞-GP's
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_missing_extra_is_named(tmp_path):
    code = "import sys; sys.modules['matplotlib'] = None; from infgp.app.cli import main; sys.exit(main(['demo']))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "pip install 'infgp[plot]'" in done.stderr


def test_demo_refuses_a_tiny_budget(capsys):
    assert main(["demo", "--budget", "3"]) == 1
    assert "--budget must be an integer >= 8" in capsys.readouterr().err
