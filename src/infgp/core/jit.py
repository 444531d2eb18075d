"""Numba's compiler with its cache on disk, where a folder for one can be written to."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event

logger = logging.getLogger("infgp")
#: Says that compilation is under way; ``logging.getLogger("infgp.compiling").setLevel("ERROR")`` keeps it quiet.
compiling = logging.getLogger("infgp.compiling")


#: The folder of infgp's modules.
PACKAGE = Path(__file__).resolve().parents[1]
#: Files from which functions and constants are compiled into functions of other files.
SHARED = ("core/odds.py", "core/places.py", "core/state.py", "sample/compiled/*.py")


class Announcement(event.Listener):
    """Says once in a process that functions of this package are being compiled, as nothing seems to happen meanwhile.

    Numba tells of a compilation only where compiled code was not found on disk. As long as one is under way, Python
    does not look for garbage: compilers make many objects and keep them, and the search takes a tenth of their time.

    Examples
    --------
    >>> announcement = Announcement()
    >>> announcement.made
    False
    """

    def __init__(self) -> None:
        self.made = False
        self._under_way = 0  # compilations, one of which calls for the next; Numba lets one thread compile at a time
        self._collects = False

    def on_start(self, event: Any) -> None:
        """Say it, if the function is one of ours and nothing was said before."""
        dispatcher = event.data["dispatcher"]
        module = getattr(getattr(dispatcher, "py_func", None), "__module__", None) or ""
        if not self._under_way:
            if not module.startswith("infgp."):
                return
            self._collects = gc.isenabled()
            gc.disable()
        self._under_way += 1
        if self.made:
            return
        self.made = True
        kept = dispatcher.stats.cache_path is not None
        compiling.warning(
            "infgp compiles its inner loops, which takes a quarter to half a minute. %s",
            "The next run loads them from disk."
            if kept
            else "Every process does, unless NUMBA_CACHE_DIR names a folder that can be written to.",
        )

    def on_end(self, event: Any) -> None:
        """Let Python look for garbage again, after the last of them."""
        self._under_way = max(self._under_way - 1, 0)
        if not self._under_way and self._collects:
            self._collects = False
            gc.enable()


event.register("numba:compile", Announcement())  # type: ignore[no-untyped-call]


@cache
def shared_sources() -> bytes:
    """A digest of the files `SHARED`."""
    files = sorted(file for pattern in SHARED for file in PACKAGE.glob(pattern))
    return sha256(b"".join(file.read_bytes() for file in files)).digest()


def _kept_as_long_as_sources_stay(dispatcher: Any) -> Any:
    """The function, whose compiled code on disk counts only as long as `SHARED` stay what they were.

    Numba looks at the file of the function alone: what was compiled into it from another file would stay what it was,
    after an update of a checkout for instance. Numba has no public way to say it; where its names change, all is as
    Numba has it.
    """
    file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, shared_sources())
    return dispatcher


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
    # Other threads run meanwhile; and nobody calls our functions from C.
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return _kept_as_long_as_sources_stay(njit(cache=True, **options)(function))
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            logger.info("Compiled code is not kept (%s); let NUMBA_CACHE_DIR name a folder to keep it in.", error)
            return njit(**options)(function)

    return decorate
