"""What was tried and found, by kind, in a file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from infgp.bench.provenance import commit

#: Where the record is, from the root of a checkout.
RECORD = Path("results", "reliability", "fuzz.json")


@dataclass
class Tally:
    """What was tried of one kind, and what was found; seconds are those of CPU time."""

    cases: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    slowest: int | None = None
    findings: list[str] = field(default_factory=list)


def read() -> dict[str, Any]:
    """What was tried, by kind."""
    record: dict[str, Any] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    return record


def tally_of(record: dict[str, Any], kind: str) -> Tally:
    """What was tried of one kind."""
    return Tally(**{name: value for name, value in record.get(kind, {}).items() if name != "commit"})


def write(tallies: dict[str, Tally]) -> None:
    """Write what was tried so far; another process may have written of other kinds."""
    record = read()
    record.update({kind: {**asdict(tally), "commit": commit()} for kind, tally in tallies.items()})
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def table(record: dict[str, Any]) -> str:
    """The record as a Markdown table."""
    head = "| kind | cases | findings | longest case, s | CPU minutes | last commit |\n|---|---|---|---|---|---|"
    rows = []
    for kind, entry in record.items():
        cases = f"{entry['cases']:,}".replace(",", " ")
        minutes = f"{entry['seconds'] / 60.0:.0f}"
        last = f"{entry['longest']:.1f} | {minutes} | {entry['commit']} |"
        rows.append(f"| {kind} | {cases} | {len(entry['findings'])} | {last}")
    return "\n".join([head, *rows])
