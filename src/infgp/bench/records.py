"""Records of runs: one JSON line for each (task, method, seed), in a file for each task of a suite, or one for a study.

A record says which commit made it (:mod:`infgp.bench.provenance`). Of several records of the same run the last counts.

A file is appended to by one process, a whole line at a time and on disk before the next run is begun. What a kill cuts
off is at most the end of the last line, which is dropped when the file is opened again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from infgp.errors import InvalidInputError

Record: TypeAlias = dict[str, Any]
#: File of the runs that were not finished, in the folder of the suite; not a record, and tried again.
FAILED = "failed.log"


class Key(NamedTuple):
    """What a record is of."""

    task: str
    method: str
    seed: int


def key_of(record: Record) -> Key:
    """The key of a record."""
    return Key(record["task"], record["method"], record["seed"])


def load(folder: str | os.PathLike[str], suite: str | None = None) -> list[Record]:
    """All records of a suite, or of a folder that holds them; the last line of a file only if it is whole.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     append(folder, {"task": "a", "method": "random", "seed": 0, "regret": [1.0]})
    ...     [key_of(record) for record in load(folder)]
    [Key(task='a', method='random', seed=0)]
    """
    place = Path(folder) / suite if suite else Path(folder)
    return [record for path in sorted(place.glob("*.jsonl")) for record in _read(path)]


def append(folder: str | os.PathLike[str], record: Record, file: str | None = None) -> None:
    """Put a record at the end of its task's file, or of the file named; it is on disk when this returns."""
    path = Path(folder) / f"{file or record['task']}.jsonl"
    line = json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as opened:
        end = _whole(opened.read() if not opened.seek(0) else b"")
        opened.truncate(end)
        opened.seek(end)
        opened.write(line.encode())
        opened.flush()
        os.fsync(opened.fileno())


def drop_replaced(folder: str | os.PathLike[str]) -> int:
    """Drop the records that a later one of the same run has replaced, and say how many; a file is replaced as a whole.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for regret in (1.0, 2.0):
    ...         append(folder, {"task": "a", "method": "random", "seed": 0, "regret": [regret]})
    ...     drop_replaced(folder), [record["regret"] for record in load(folder)]
    (1, [[2.0]])
    """
    dropped = 0
    for path in sorted(Path(folder).glob("*.jsonl")):
        content = path.read_bytes()
        lines = content[: _whole(content)].splitlines(keepends=True)
        last = {key_of(record): number for number, record in enumerate(_read(path))}
        if len(last) < len(lines):
            dropped += len(lines) - len(last)
            replacement = path.with_suffix(".new")
            replacement.write_bytes(b"".join(lines[number] for number in sorted(last.values())))
            os.replace(replacement, path)
    return dropped


def _whole(content: bytes) -> int:
    """How much of a file consists of whole lines."""
    return content.rfind(b"\n") + 1


def _read(path: Path) -> Iterator[Record]:
    content = path.read_bytes()
    for number, line in enumerate(content[: _whole(content)].splitlines(), 1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise InvalidInputError(
                f"Line {number} of {path} is not a record ({error}); delete that line, and its run is made again."
            ) from None
