"""A progress bar, if one is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from infgp.errors import require


@contextmanager
def progress_bar(show: bool, total: int, unit: str) -> Iterator[Callable[[], object]]:
    """A context whose value is to be called after each of `total` steps; without `show` it does nothing.

    Examples
    --------
    >>> with progress_bar(False, 3, "step") as tick:
    ...     tick()
    """
    if not show:
        yield lambda: None
        return
    with require("tqdm", "progress").tqdm(total=total, unit=unit, desc="infgp") as bar:
        yield bar.update
