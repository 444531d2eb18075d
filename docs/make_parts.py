"""What pages show of records: tables, the output of an example and a picture.

python docs/make_parts.py     # writes parts of pages, and docs/stopping-reliability.png

A part of a page lies between the lines `<!-- begin NAME -->` and `<!-- end NAME -->`. What is between them is the
output of examples/NAME.py or, where a title follows the name after a colon, the table under that title of
results/NAME/table.md; the title `first` stands for its first table. The title `seconds` stands for the table of
benchmarks/NAME.py.
"""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))
#: Pages that have such parts.
PAGES = (DOCS / "stopping.md", DOCS / "parallel.md", DOCS / "performance.md")
PICTURE = DOCS / "stopping-reliability.png"
PART = re.compile(r"(<!-- begin (\w+)(?:: ([^>]+?))? -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def section(name: str, title: str) -> str:
    """The table under a title of results/NAME/table.md; the first table where there is no title."""
    text = (ROOT / "results" / name / "table.md").read_text(encoding="utf-8")
    if title != "first":
        text = text[text.index(f"**{title}**") :]
    lines = text.splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith("|"))
    end = next((k for k in range(begin, len(lines)) if not lines[k].startswith("|")), len(lines))
    records = re.search(r"from (\d+) records", (ROOT / "results" / name / "table.md").read_text(encoding="utf-8"))
    count = records[1] if records else "?"
    return "\n".join([*lines[begin:end], "", f"([results/{name}](../results/{name}/table.md), {count} runs)"])


def seconds(name: str) -> str:
    """The table of the last run of a benchmark."""
    benchmark = importlib.import_module(f"benchmarks.{name}")
    found = json.loads(benchmark.OUT.read_text(encoding="utf-8"))
    return "\n".join([*benchmark.rows(found["records"]), "", f"(measured at commit {found['commit']})"])


def output(name: str) -> str:
    """What an example prints."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py"], capture_output=True, text=True, check=True
    )
    return f"```text\n{done.stdout.strip()}\n```"


def picture() -> None:
    """Stated P(best) against the share of points that are best, by class of P(best)."""
    from matplotlib.figure import Figure

    from infgp.bench.records import load
    from studies.confirm import classes

    rows = classes(load(ROOT / "results" / "confirm"))
    stated, true, error = (np.array([row[k] for row in rows]) for k in range(3))
    figure = Figure(figsize=(4.2, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot([0.0, 1.0], [0.0, 1.0], color="0.7", lw=1.0)
    axes.errorbar(stated, true, yerr=error, fmt="o", color="C0", capsize=3)
    axes.set(xlabel="stated P(best)", ylabel="share of the points that are best", xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    figure.savefig(PICTURE, dpi=110)


def main() -> None:
    """Write the parts and the picture."""

    def filled(found: re.Match[str]) -> str:
        begin, name, title, end = found.groups()
        if title == "seconds":
            return f"{begin}{seconds(name)}\n{end}"
        return f"{begin}{output(name) if title is None else section(name, title)}\n{end}"

    for page in PAGES:
        page.write_text(PART.sub(filled, page.read_text(encoding="utf-8")), encoding="utf-8")
    picture()
    print(f"written: {', '.join(path.name for path in (*PAGES, PICTURE))}")


if __name__ == "__main__":
    main()
