"""A report on a search: one HTML file that needs nothing else."""

from __future__ import annotations

import os
from typing import Any

from infgp.errors import InvalidInputError
from infgp.report.findings import Findings, find
from infgp.report.sections import render
from infgp.search.stopping import RegretBelow

__all__ = ["Findings", "RegretBelow", "check_place", "find", "render", "write"]


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise unless a file can be written there, before any work is done for it."""
    folder = os.path.dirname(os.fspath(path)) or "."
    if not os.path.isdir(folder):
        raise InvalidInputError(f"{path} is in a folder that does not exist; make {folder}, or name another file.")
    if os.path.isdir(path) or not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise InvalidInputError(f"{path} cannot be written to; name another file.")


def write(
    thing: Any,
    path: str | os.PathLike[str] = "report.html",
    title: str | None = None,
    rule: RegretBelow | None = None,
    seed: int = 0,
) -> Findings:
    """Write a report on a search with one objective. It does not change what the search does next.

    Parameters
    ----------
    thing : Optimizer, Result or optuna.Study
        A study may have any sampler.
    path : path, default="report.html"
        A single file without anything beside it, of a few hundred kilobytes.
    title : str, optional
        By default the name of the study.
    rule : RegretBelow, optional
        When you want to stop: the report says whether it is met.
    seed : int, default=0
        For what is drawn for the report. Same seed, same report.

    Returns
    -------
    Findings
        What the report says, as data.

    Raises
    ------
    InvalidInputError
        Where there are several objectives or no reward yet, or the file cannot be written.

    Examples
    --------
    >>> import infgp, os, tempfile
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell_many([{"x": 0.1}, {"x": 0.5}, {"x": 0.9}], [1.0, 2.0, 1.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = write(optimizer, os.path.join(folder, "report.html"))
    >>> found.luckiest.value
    2.0
    """
    from infgp import __version__

    check_place(path)
    found = find(thing, title, rule, seed)
    with open(path, "w", encoding="utf-8") as file:
        file.write(render(found, __version__))
    return found
