"""Numba's compiler with its cache on disk, where a folder for one can be written to."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

logger = logging.getLogger("infgp")
#: Says that compilation is under way; ``logging.getLogger("infgp.compiling").setLevel("ERROR")`` keeps it quiet.
compiling = logging.getLogger("infgp.compiling")


class Announcement(event.Listener):
    """Says once in a process that functions of this package are being compiled, as nothing seems to happen meanwhile.

    Numba tells of a compilation only where compiled code was not found on disk.

    Examples
    --------
    >>> announcement = Announcement()
    >>> announcement.made
    False
    """

    def __init__(self) -> None:
        self.made = False

    def on_start(self, event: Any) -> None:
        """Say it, if the function is one of ours and nothing was said before."""
        dispatcher = event.data["dispatcher"]
        module = getattr(getattr(dispatcher, "py_func", None), "__module__", None) or ""
        if self.made or not module.startswith("infgp."):
            return
        self.made = True
        kept = dispatcher.stats.cache_path is not None
        compiling.warning(
            "infgp compiles its inner loops, which takes about half a minute. %s",
            "The next run loads them from disk."
            if kept
            else "Every process does, unless NUMBA_CACHE_DIR names a folder that can be written to.",
        )

    def on_end(self, event: Any) -> None:
        """Say nothing."""


event.register("numba:compile", Announcement())  # type: ignore[no-untyped-call]


def jit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator that compiles a function when it is first called.

    Compiled code is kept beside the package, in NUMBA_CACHE_DIR or in the user's cache. Where none of
    the three can be written to, every process compiles anew.

    Examples
    --------
    >>> @jit()
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            logger.info("Compiled code is not kept (%s); let NUMBA_CACHE_DIR name a folder to keep it in.", error)
            return njit(**options)(function)

    return decorate
