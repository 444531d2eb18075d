"""Processes that evaluate a user's function, one point at a time; what happens in them cannot harm the run.

A worker imports the function once and answers each point with its value or with one line on what went wrong. It goes
when its parent goes, killed or not.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from infgp.calling import caller
from infgp.errors import InfGPError, InvalidInputError
from infgp.space import Point, Space


class EvaluationError(InfGPError):
    """The user's function raised, or the process that ran it died."""


@dataclass(frozen=True)
class Answer:
    """The value of an evaluation, or in one line why there is none."""

    value: float | None = None
    error: str | None = None


class Worker:
    """A process with a function; start one, `send` it a point, `wait` on its `connection`, `receive` the answer.

    Parameters
    ----------
    target : str
        The function, as ``module:function``, found from the working directory or among what is installed.
    space : Space
    """

    def __init__(self, target: str, space: Space) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, target, space), daemon=True)
        self._process.start()
        theirs.close()

    def send(self, point: Point | None) -> None:
        """Begin an evaluation, or ask with None whether the function is there; a dead worker shows in its answer."""
        try:
            self.connection.send(point)
        except OSError:
            self.connection.close()

    def receive(self) -> Answer:
        """The answer, waiting for it; one with neither value nor error is to None."""
        try:
            answer = self.connection.recv()
            assert isinstance(answer, Answer)
            return answer
        except (EOFError, OSError):
            self._process.join(1.0)
            code = self._process.exitcode
            how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
            return Answer(error=f"the process died {how}")

    @property
    def alive(self) -> bool:
        """Whether another point can be sent."""
        return self._process.is_alive() and not self.connection.closed

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def find_function(target: str) -> Callable[..., float | None]:
    """The function that ``module:function`` names.

    Examples
    --------
    >>> find_function("math:sqrt")(4.0)
    2.0
    """
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise InvalidInputError(f"The objective must be given as module:function, but got {target!r}.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        raise InvalidInputError(
            f"The module {module_name!r} cannot be imported ({type(error).__name__}: {error}); run from the folder "
            "that holds it, or install it."
        ) from error
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise InvalidInputError(f"The module {module_name!r} has no function {name!r}; check its name.")
    function: Callable[..., float | None] = found
    return function


def _work(connection: Connection, target: str, space: Space) -> None:
    """Body of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to deal with
    threading.Thread(target=_go_with_parent, daemon=True).start()
    try:
        call = caller(find_function(target), space)
    except InvalidInputError as error:
        connection.send(Answer(error=str(error)))
        return
    try:
        while True:
            point = connection.recv()
            connection.send(Answer() if point is None else _evaluate(call, point))
    except (EOFError, OSError):  # the parent is gone
        return


def _go_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _evaluate(call: Callable[[Point], float | None], point: Point) -> Answer:
    try:
        value = call(point)
        return Answer(value=None if value is None else float(value))
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if len(frames) > 1 else ""
        text = " ".join(str(error).split())
        return Answer(error=f"{type(error).__name__}: {text}{where}" if text else f"{type(error).__name__}{where}")
