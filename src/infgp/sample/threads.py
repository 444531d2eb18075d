"""Chains side by side, in threads: compiled code and LAPACK let other threads run meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

#: Least number of observations for which chains run side by side. With fewer, chains spend their time in Python, which
#: runs one thread at a time.
LEAST = 100

Answer = TypeVar("Answer")


class Ticks:
    """What chains call after every sweep: tells a progress bar, one thread at a time, and ends the chains if asked to.

    Examples
    --------
    >>> told = []
    >>> ticks = Ticks(lambda: told.append("sweep"))
    >>> ticks()
    >>> told
    ['sweep']
    """

    def __init__(self, on_sweep: Callable[[], object]) -> None:
        self.ended = False
        self._on_sweep, self._lock = on_sweep, Lock()

    def __call__(self) -> None:
        """Tell of a sweep."""
        if self.ended:
            raise InterruptedError("Another chain has failed, or the user has interrupted them.")
        with self._lock:
            self._on_sweep()


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(chains: Sequence[Callable[[], Answer]], n: int, ticks: Ticks) -> list[Answer]:
    """What each chain returns; they run in threads if there are several, n observations are enough and cores are.

    A chain has a generator of its own, so that its answer is the same in a thread. If one fails, or the user interrupts
    them, the others end after their sweep, and the error is raised.

    Examples
    --------
    >>> side_by_side([lambda: 1, lambda: 2], 1000, Ticks(lambda: None))
    [1, 2]
    """
    workers = min(len(chains), cores()) if n >= LEAST else 1
    if workers == 1:
        return [chain() for chain in chains]
    with ThreadPoolExecutor(workers, thread_name_prefix="infgp-chain") as pool:
        running = [pool.submit(chain) for chain in chains]
        try:
            return [chain.result() for chain in running]
        except BaseException:
            ticks.ended = True
            pool.shutdown(cancel_futures=True)
            raise
