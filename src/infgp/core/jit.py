"""Numba's compiler with its cache on disk, where a folder for one can be written to."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from numba import njit

logger = logging.getLogger("infgp")


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
