"""The site builds without a warning, its links lead somewhere, and it loads nothing from another host."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="MkDocs is not installed: pip install 'infgp[docs]'")

ROOT = Path(__file__).parent.parent
check = runpy.run_path(str(ROOT / "docs" / "check_site.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    assert not check["wrong"](site)


def test_pages_show_code_equations_and_other_folders(site):
    tutorial = (site / "tutorial-training.html").read_text(encoding="utf-8")
    assert "MLPClassifier" in tutorial  # quoted from examples/
    assert "further trainings have mean accuracy" in tutorial  # from docs/outputs/
    assert "--8&lt;--" not in tutorial
    assert "<math" in (site / "model.html").read_text(encoding="utf-8")
    assert (site / "results" / "regimes" / "table.html").exists()
    assert (site / "examples" / "objectives.py.html").exists()
    assert 'id="infgp.search.optimizer.Optimizer.ask"' in (site / "api.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
        ('<link rel="stylesheet" href="//fonts.example/a.css">', "loads //fonts.example/a.css"),
        ('<a href="gone.html">x</a>', "gone.html, which is not there"),
        ('<h1 id="here"></h1><a href="#there">x</a>', "#there, and the page has no such place"),
        ('<div class="mermaid"></div>', "diagram"),
    ],
)
def test_the_check_notices(tmp_path, page, sentence):
    (tmp_path / "index.html").write_text(f"<html><body>{page}</body></html>")
    assert any(sentence in mistake for mistake in check["wrong"](tmp_path))


def test_every_tutorial_shows_its_script_and_what_it_prints():
    """What a script prints is written by docs/make_outputs.py; a script that was added has to be run."""
    for script in sorted((ROOT / "examples").glob("tutorial_*.py")):
        page = (ROOT / "docs" / f"{script.stem.replace('_', '-')}.md").read_text(encoding="utf-8")
        sections = re.findall(r"\[start:(\w+)\]", script.read_text(encoding="utf-8"))
        quoted = re.findall(rf'"examples/{script.name}:(\w+)"', page)
        assert sections == quoted
        assert f'"docs/outputs/{script.stem}.txt"' in page
        assert (ROOT / "docs" / "outputs" / f"{script.stem}.txt").read_text(encoding="utf-8").strip()
