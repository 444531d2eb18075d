"""What the README shows runs as printed, the examples run, and what the docs name exists."""

import json
import re
import runpy
import warnings
from pathlib import Path

import pytest

from infgp import ConvergenceWarning
from infgp.bench.records import load
from infgp.bench.statistics import by_task, total
from infgp.bench.study import recommended

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [
    README,
    *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]


def test_python_blocks_run(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 3
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for block in blocks:
            exec(compile(block, str(README), "exec"), names)
    printed = capsys.readouterr().out
    assert "recommended: " in printed
    assert "expected reward" in printed
    assert max(len(block.splitlines()) for block in blocks) <= 12  # short enough to be typed


def test_the_readme_stands_alone():
    """The page of a package index shows it without the repository: no link or picture may need a file beside it."""
    text = README.read_text(encoding="utf-8")
    assert not [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("https://")]
    assert "<img" not in text
    files = re.findall(r"`((?:docs|examples|results)/[\w./-]+|[A-Z]+\.\w+)`", text)
    assert len(files) > 6
    assert not [file for file in files if not (ROOT / file).exists()]


@pytest.mark.parametrize(
    ("file", "figures"),
    [
        ("robust_regret/table.md", ["6.71 (4.01–11.21)", "13.16 (8.19–21.17)", "71 runs"]),
        ("general/table.md", ["0.75 (0.59–0.95)", "2.38 (1.86–3.05)"]),
        ("scales/table.md", ["0.25 (0.19–0.33)", "0.96 (0.82–1.14)"]),
    ],
)
def test_figures_of_the_readme_are_those_of_the_tables(file, figures):
    readme, table = README.read_text(encoding="utf-8"), (ROOT / "results" / file).read_text(encoding="utf-8")
    for figure in figures:
        assert figure in table
        assert figure in readme


def test_figures_on_the_goal_are_those_of_the_records():
    """The page has ratios of the default to goal="along"; the table of the regimes has the inverse of some of them."""
    study = runpy.run_module("studies.regimes")
    runs = by_task(load(ROOT / "results" / "regimes"))
    page = (ROOT / "docs" / "which.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w ,-]+), \d+ tasks \| ([^|]+ \| [^|]+) \|", page, re.MULTILINE))
    parts = [study["by_regime"](runs, "infgp-final", "infgp", value) for value in (recommended, total)]
    for regime, *figures in zip(study["REGIMES"], *parts, strict=False):
        assert rows[regime] == " | ".join(figures)
    table = (ROOT / "results" / "general" / "table.md").read_text(encoding="utf-8")
    of_infgp = re.findall(r"^\| ratio to infgp \| [^|]+ \| ([^|]+) \|", table, re.MULTILINE)
    assert rows["chances, sizes and spreads that depend on the input"] == " | ".join(of_infgp)


#: Examples that take longer than a few seconds, by the beginning of their names.
LONG = ("command_line", "postgresql", "ray_tune", "tutorial_")
#: What an example needs beyond the extra `test`, by its name.
NEEDS = {"ray_tune": "ray"}


def examples():
    for path in sorted((ROOT / "examples").glob("*.py")):
        marks = [pytest.mark.slow] if path.stem.startswith(LONG) else []
        yield pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.parametrize("path", list(examples()))
def test_examples_run(path, capsys, monkeypatch):
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")  # of processes that an example starts
    with warnings.catch_warnings():
        if path.stem in LONG:  # of the packages that they show
            warnings.simplefilter("ignore")
        runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_sizes_and_times_of_the_readme_are_those_of_the_release_check():
    wheel = json.loads((ROOT / "results" / "release" / "check.json").read_text(encoding="utf-8"))[0]
    readme = README.read_text(encoding="utf-8")
    assert f"{wheel['installed_megabytes']} MB with" in readme
    assert f"first demo took {wheel['first_demo_cpu_seconds']} s of CPU time" in readme
    assert f"the next {wheel['second_demo_cpu_seconds']} s" in readme


def anchors(page: Path) -> set[str]:
    """What a link may have behind its #, as GitHub makes it from headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_parts_of_pages_have_been_written():
    """What docs/make_parts.py writes stands between a line that begins it and one that ends it."""
    parts = [
        (page.name, *part)
        for page in PAGES
        for part in re.findall(r"<!-- begin ([^\n]+) -->\n(.*?)<!-- end", page.read_text(encoding="utf-8"), re.DOTALL)
    ]
    assert len(parts) > 3
    assert not [(page, name) for page, name, text in parts if not text.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_exists(page):
    text = page.read_text(encoding="utf-8")
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, anchor = link.partition("#")
        linked = (page.parent / file) if file else page
        if not link.startswith("http") and (not linked.exists() or (anchor and anchor not in anchors(linked))):
            missing.append(link)
    files = re.findall(r"python ((?:docs|examples)/\w+\.py)", text)
    files += re.findall(r"`((?:tests|studies|benchmarks|results)/[a-z_/]+\.\w+)", text)
    files += [f"src/infgp/{name}" for name in re.findall(r"`((?:core|sample|predict|search|app|bench)/\w+\.py)", text)]
    files += [f"src/infgp/sample/{name}" for name in re.findall(r"`(moves/\w+\.py)", text)]
    for module in re.findall(r"python -m ([\w.]+\w)(?![\w$.])", text):
        path = ("src/" if module.startswith("infgp") else "") + module.replace(".", "/")
        files.append(f"{path}/__main__.py" if (ROOT / path).is_dir() else f"{path}.py")
    missing += [file for file in files if not (ROOT / file).exists()]
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    missing += [name for name in re.findall(r"`(?:[\w/]+\.py::)?(test_\w+)[`\[]", text) if f"def {name}" not in tests]
    assert not missing
