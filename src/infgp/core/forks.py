"""Locks after a fork: a child has none of the parent's other threads, which may have held them."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Locked(Protocol):
    """Something with locks."""

    def renew_locks(self) -> None:
        """Make them anew, held by nobody."""


_known: weakref.WeakSet[Locked] = weakref.WeakSet()


def renew_after_fork(locked: Locked) -> None:
    """From now on, have `locked` make its locks anew in every child that is forked."""
    _known.add(locked)


def _renew() -> None:
    for locked in list(_known):
        locked.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
