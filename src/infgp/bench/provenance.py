"""Which code a record was made by, and whether infgp's default has changed since.

Every record carries the commit of the code that made it. Those without one were made before records had it.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

#: How the names of tasks begin whose rewards may be the same number twice. Other tasks have noise without steps.
REPEATING = ("cliff", "diverging", "hpo-", "hpolib", "mnist", "nasbench", "zero-inflated")


class Change(NamedTuple):
    """A change of what infgp's default does."""

    commit: str
    where: str
    matters: Callable[[Mapping[str, Any]], bool]  # to a record: whether it could be another one since


#: What changed the default last: for all records, and then for some. Whoever changes the default adds the change here,
#: and drops those before it that it makes needless.
CHANGES = (
    Change("386e9df", "", lambda record: True),
    Change("29177cd", "with more than two inputs ", lambda record: record.get("d", math.inf) > 2),
    Change("5178fda", "where rewards repeat ", lambda record: str(record.get("task", "")).startswith(REPEATING)),
)
#: How the line begins that says which records of a table are old.
OLD = f"Made before the default last changed ({', '.join(f'{c.where}at commit {c.commit}' for c in CHANGES)}):"
#: The folder of infgp's modules.
PACKAGE = Path(__file__).resolve().parents[1]


def _git(*arguments: str) -> str | None:
    """What git answers in the folder of infgp; None if there is no git, or it refuses."""
    command = ["git", "-C", str(PACKAGE), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30.0, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def commit() -> str | None:
    """The commit of the checkout that infgp was imported from, with "+" where files under src/ differ from it.

    None where infgp was not imported from a checkout of its own. Asked of git once in a process.
    """
    top = _git("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() / "src" / "infgp" != PACKAGE:
        return None
    head = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", str(PACKAGE.parent))
    return None if head is None else head + ("+" if changed else "")


@cache
def _since(changed: str, made: str) -> bool:
    """Whether a commit has a change of the default among its ancestors; False where git does not know it."""
    return _git("merge-base", "--is-ancestor", changed, made.removesuffix("+")) is not None


def before(record: Mapping[str, Any]) -> bool:
    """Whether a record was made before the default last changed, or cannot be shown to have been made since.

    Examples
    --------
    >>> before({"task": "ackley", "method": "infgp", "seed": 0})
    True
    """
    made = record.get("commit")
    return made is None or not all(_since(change.commit, made) for change in CHANGES if change.matters(record))


def age(records: Iterable[Mapping[str, Any]], name: Callable[[str], str] = str) -> str:
    """A line that says which methods' records were made before the default last changed.

    Parameters
    ----------
    records : iterable of dict
    name : callable
        What a method is called in the table.

    Examples
    --------
    >>> print(age([{"method": "infgp"}, {"method": "random"}]).removeprefix(OLD))
     all methods.
    """
    counts: dict[str, list[bool]] = {}
    for record in records:
        counts.setdefault(str(record["method"]), []).append(before(record))
    old = {method: sum(runs) for method, runs in counts.items() if any(runs)}
    if not old:
        return f"{OLD} no method."
    if all(all(runs) for runs in counts.values()):
        return f"{OLD} all methods."
    parts = [
        name(method) + ("" if count == len(counts[method]) else f" ({count} of {len(counts[method])} runs)")
        for method, count in old.items()
    ]
    return f"{OLD} {', '.join(parts)}."
