"""Where the experiments on the theory keep what they measured, and how a cut-off one goes on."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infgp.bench.provenance import commit

Record = dict[str, Any]


def load(path: Path) -> list[Record]:
    """The records of a file of JSON lines; none if there is no such file. A last line cut off by a kill is left out.

    Examples
    --------
    >>> load(Path("no-such-file.jsonl"))
    []
    """
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def measure(
    path: Path, jobs: Sequence[Record], run: Callable[[Record], Record], print: Callable[[str], object] = print
) -> list[Record]:
    """Records of all jobs: read from `path` where it has them; the other jobs are run and appended to it.

    Parameters
    ----------
    path : Path
    jobs : sequence of dict
        What identifies a run, in plain JSON types.
    run : callable
        Given a job, what was measured; the record is the job with that added.
    print : callable
        Told what was done and how long the rest may take.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "squares.jsonl"
    >>> jobs = [{"x": 2}, {"x": 3}]
    >>> [record["square"] for record in measure(path, jobs, lambda job: {"square": job["x"] ** 2}, print=str)]
    [4, 9]
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    records = load(path)
    if path.exists():  # drop half a line
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    found = {_key(job, record): record for job in jobs for record in records if job.items() <= record.items()}
    begin, todo = time.perf_counter(), [job for job in jobs if _key(job, job) not in found]
    for k, job in enumerate(todo, 1):
        record = {**job, **run(job), "commit": commit()}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        found[_key(job, job)] = record
        left = (time.perf_counter() - begin) / k * (len(todo) - k) / 60.0
        print(f"[{k}/{len(todo)}, {left:.0f} min left] {' '.join(map(str, job.values()))}")
    return [found[_key(job, job)] for job in jobs]


def _key(job: Record, record: Record) -> str:
    return json.dumps([record[name] for name in job])


@dataclass(frozen=True)
class Options:
    """How an experiment was called: in its quick version, only to draw what has been measured, and where to."""

    quick: bool
    draw: bool
    out: Path

    def records(self, name: str, jobs: Sequence[Record], run: Callable[[Record], Record]) -> list[Record]:
        """Records of the jobs in the file of that name; with ``--draw`` all records that are there."""
        path = self.out / name
        return load(path) if self.draw else measure(path, jobs, run)


def options(text: str | None) -> Options:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version, to see that it works")
    parser.add_argument("--draw", action="store_true", help="measure nothing more, draw what there is")
    parser.add_argument("--out", type=Path, default=Path("results/theory"), help="directory of records and pictures")
    parsed = parser.parse_args()
    return Options(parsed.quick, parsed.draw, parsed.out / "quick" if parsed.quick else parsed.out)
