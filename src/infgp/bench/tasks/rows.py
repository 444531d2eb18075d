"""Files of rows that a killed command can go on with: a JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, without the one that a kill has cut off; none if there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Add a row, on a line of its own even after one that was cut off.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "new" / "rows.jsonl"
    >>> append(path, {"a": 1})
    >>> _ = path.write_text(path.read_text() + '{"a": ')
    >>> append(path, {"a": 2})
    >>> read(path)
    [{'a': 1}, {'a': 2}]
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    cut = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if cut else "") + json.dumps(row) + "\n")
