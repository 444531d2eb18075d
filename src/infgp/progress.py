"""A progress bar, if one is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from infgp.errors import require


@contextmanager
def progress_bar(show: bool, total: int, unit: str) -> Iterator[Callable[..., object]]:
    """A context whose value is to be called after each of `total` steps; without `show` it does nothing.

    It may be called with a text, which is then shown behind the bar.

    Examples
    --------
    >>> with progress_bar(False, 3, "step") as tick:
    ...     tick()
    """
    if not show:
        yield lambda note="": None
        return
    with require("tqdm", "progress").tqdm(total=total, unit=unit, desc="infgp") as bar:

        def tick(note: str = "") -> None:
            if note:
                bar.set_postfix_str(note, refresh=False)
            bar.update()

        yield tick
