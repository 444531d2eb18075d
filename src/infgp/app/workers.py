"""Processes that evaluate a user's function, one point at a time; what happens in them cannot harm the run.

A worker imports the function once and answers each point with its value or with one line on what went wrong. The
function may start processes of its own: each worker leads a session, and whatever runs in its process group ends with
it. All of them go when the run goes, killed or not:

- the run keeps one end of a pipe, the lifeline, which the system closes when the run ends in whatever way;
- a shell in the worker's group reads the other end, and kills the group when there is nothing left to read. It does not
  need Python, so a C call that never returns is no obstacle. Where there is no shell, a thread of the worker does it;
- on Linux, the kernel kills the worker itself as soon as the run is gone.

Requests are numbered, and an answer counts only for the request it belongs to, from the process that was asked.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from infgp.app.text import LONGEST, shorten
from infgp.calling import caller
from infgp.errors import InfGPError, InvalidInputError, check_reward, written
from infgp.habits import nearest
from infgp.space import Point, Space

#: Environment variable with the storage's URL, and so perhaps with a password; workers do not get it.
STORAGE_VARIABLE = "INFGP_STORAGE"
#: Seconds to wait for the end of a process that was killed; one that waits for a dead disk may never end.
BURIAL = 10.0
#: Characters of a message that a worker sends; more than are shown, as the run first takes passwords out of them.
SENT = 10 * LONGEST
#: What kills a worker's process group when the run is gone. The shell that reads is left to itself, so that it is not
#: among the children that the user's function may wait for.
GUARD = "exec 3<&0; (trap '' HUP INT TERM; read line <&3; kill -KILL 0) &"
#: What runs the guard.
SHELL = "/bin/sh"
#: Number of prctl's request for a signal at the parent's death (linux/prctl.h).
PR_SET_PDEATHSIG = 1


class EvaluationError(InfGPError):
    """The user's function raised, or the process that ran it died."""


@dataclass(frozen=True)
class Answer:
    """The value of an evaluation, or in one line why there is none."""

    value: float | None = None
    error: str | None = None
    killed: bool = False  # a signal ended the process
    late: bool = False  # the evaluation was ended because it took too long


@dataclass(frozen=True)
class Reply:
    """An answer on its way: to which request, from which process."""

    request: int
    pid: int
    answer: Answer


class Worker:
    """A process with a function: `send` it a point when it is ready, and `collect` the answer.

    The first answer comes unasked and says whether the function was found. No point is sent before it.

    Parameters
    ----------
    target : str
        The function, as ``module:function``, found from the working directory or among what is installed.
    space : Space
    """

    def __init__(self, target: str, space: Space) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        end, self._lifeline = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(theirs, end, target, space), daemon=True)
        self._request, self._begun, self._stopped = 0, time.monotonic(), False
        try:
            with _nothing_inherited():
                self._process.start()
        except BaseException:
            self.stop()
            raise
        finally:
            theirs.close()
            end.close()

    def send(self, point: Point) -> None:
        """Begin an evaluation; that the worker is dead shows in its answer."""
        self._request, self._begun = self._request + 1, time.monotonic()
        with contextlib.suppress(OSError):
            self._connection.send((self._request, point))

    def collect(self) -> Answer | None:
        """The answer to the latest request, or None while there is none."""
        alive = self._process.is_alive()  # before what it has sent is read, not after
        try:
            while self._connection.poll():
                reply = self._connection.recv()
                if isinstance(reply, Reply) and (reply.request, reply.pid) == (self._request, self._process.pid):
                    return reply.answer
        except Exception:  # closed, or unreadable because several processes have written to it
            return self._obituary()
        return None if alive else self._obituary()

    @property
    def seconds(self) -> float:
        """Time since the latest request."""
        return time.monotonic() - self._begun

    @property
    def alive(self) -> bool:
        """Whether another point can be sent."""
        return not self._stopped and self._process.is_alive()

    def stop(self) -> None:
        """End the process and those it has started, whatever they do."""
        if self._stopped:
            return
        self._stopped = True
        if self._process.pid is not None:
            if sys.platform != "win32":
                with contextlib.suppress(OSError):  # it does not lead a group yet, or nothing is left of it
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._await_end(BURIAL)
        self._connection.close()
        self._lifeline.close()

    def _await_end(self, seconds: float) -> None:
        """Wait for the end of the process, but no longer; `join` would, where the process has closed its files."""
        until = time.monotonic() + seconds
        while self._process.is_alive() and time.monotonic() < until:
            time.sleep(0.005)

    def _obituary(self) -> Answer:
        """Why there will be no answer; what is left of the worker is ended."""
        self._await_end(1.0)
        code = self._process.exitcode
        self.stop()
        if code is None:
            return Answer(error="the process has closed its connection to the run")
        if code < 0:
            return Answer(error=f"the process died by signal {-code}", killed=True)
        return Answer(error=f"the process died with exit code {code}")


def wait_for(workers: Sequence[Worker], seconds: float) -> None:
    """Wait until one of the workers has something to say or dies, but not longer than `seconds`.

    A death may go unnoticed here where a process that the function has forked holds all pipes open; `collect` asks the
    system, so that it is noticed after `seconds`.
    """
    wait([thing for w in workers for thing in (w._connection, w._process.sentinel)], max(0.0, seconds))


@contextlib.contextmanager
def _nothing_inherited() -> Iterator[None]:
    """A context to start a process in: with neither our arguments nor the storage's URL, and with Ctrl-C held back.

    A process that is started inherits which signals are held back; the worker drops them once it can.
    """
    arguments = sys.argv
    with _environment(STORAGE_VARIABLE, None):
        mask: set[Any] | None = None
        try:
            sys.argv = arguments[:1]  # multiprocessing hands it on
            if sys.platform != "win32":
                _start_tracker()
                mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            yield
        finally:
            sys.argv = arguments
            if mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _start_tracker() -> None:
    """Start the process in which multiprocessing tracks semaphores, as that lets signals through.

    It clears away what is left of a worker that was killed, which is no news to anybody: it does so without a warning.
    """
    from multiprocessing import resource_tracker

    filters = [os.environ.get("PYTHONWARNINGS", ""), "ignore:resource_tracker"]
    with _environment("PYTHONWARNINGS", ",".join(filter(None, filters))):
        resource_tracker.ensure_running()


@contextlib.contextmanager
def _environment(name: str, value: str | None) -> Iterator[None]:
    """A context in which an environment variable has another value, or is not there."""
    before = os.environ.pop(name, None)
    try:
        if value is not None:
            os.environ[name] = value
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before


def find_function(target: str) -> Callable[..., float | None]:
    """The function that ``module:function`` names.

    Examples
    --------
    >>> find_function("math:sqrt")(4.0)
    2.0
    """
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise InvalidInputError(f"The function must be given as module:function, but got {target!r}.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        if module_name.endswith(".py") or "/" in module_name or os.sep in module_name:
            parts = module_name.removesuffix(".py").replace(os.sep, "/").split("/")
            dotted = ".".join(part for part in parts if part not in ("", "."))
            raise InvalidInputError(
                f"{module_name!r} is a path, and the name of a module is expected: write {dotted}:{name}."
            ) from None
        raise InvalidInputError(
            f"The module {module_name!r} cannot be imported ({_describe(error)}); run from the folder "
            "that holds it, or install it."
        ) from error
    for part in name.split("."):
        there = [other for other in dir(found) if not other.startswith("_")]
        found = getattr(found, part, None)
    if not callable(found):
        meant = nearest(part, [other for other in there if other != part])
        remedy = "check its name." if meant is None else f"did you mean {meant!r}?"
        raise InvalidInputError(f"The module {module_name!r} has no function {name!r}; {remedy}")
    function: Callable[..., float | None] = found
    return function


# --- In the worker ---------------------------------------------------------------------------------------------------


def _work(connection: Connection, lifeline: Connection, target: str, space: Space) -> None:
    """Body of the process."""
    _settle(connection, lifeline)
    number, answer = 0, Answer()
    try:
        call = caller(find_function(target), space)
    except InvalidInputError as error:
        connection.send(Reply(number, os.getpid(), Answer(error=str(error))))
        return
    try:
        while True:
            connection.send(Reply(number, os.getpid(), answer))
            number, point = connection.recv()
            answer = _evaluate(call, point)
    except (EOFError, OSError):  # the run is gone
        return


def _settle(connection: Connection, lifeline: Connection) -> None:
    """Become the leader of a session that ends with the run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's to deal with
    multiprocessing.current_process().daemon = False  # the function may start processes
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        with contextlib.suppress(OSError):
            os.setsid()
        os.register_at_fork(after_in_child=connection.close)  # what the function forks neither reads nor answers
        os.register_at_fork(after_in_child=lifeline.close)
    _die_with_parent()
    if not _guard(lifeline):
        threading.Thread(target=_go_with_parent, args=(lifeline,), daemon=True).start()


def _die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies, where it can."""
    parent = multiprocessing.parent_process()
    if sys.platform == "linux" and parent is not None:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent.pid:  # it died before
            os._exit(1)


def _guard(lifeline: Connection) -> bool:
    """Start what kills our process group when the run is gone; returns whether there is such a thing here."""
    if sys.platform == "win32":
        return False
    nothing = subprocess.DEVNULL
    try:
        subprocess.run([SHELL, "-c", GUARD], stdin=lifeline.fileno(), stdout=nothing, stderr=nothing, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _go_with_parent(lifeline: Connection) -> None:
    """The same from within, where there is no shell: as soon as the function lets go of Python's lock."""
    wait([lifeline])
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _evaluate(call: Callable[[Point], float | None], point: Point) -> Answer:
    """The answer for a point. A process that the function has forked, and that returns as well, ends here."""
    pid = os.getpid()
    try:
        value = call(point)
        if os.getpid() != pid:
            os._exit(0)
        answer = _answer(value)
    except BaseException as error:
        if os.getpid() != pid:
            os._exit(_exit_code(error))
        frames = traceback.extract_tb(error.__traceback__)
        where = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if len(frames) > 1 else ""
        answer = Answer(error=f"{_describe(error)}{where}")
    for stream in (sys.stdout, sys.stderr):  # what the function has printed; the process may be killed at any time
        with contextlib.suppress(Exception):
            stream.flush()
    return answer


def _answer(value: object) -> Answer:
    """The answer that a returned value makes."""
    try:
        return Answer(value=None if value is None else check_reward(value, written))
    except InvalidInputError as error:
        return Answer(error=shorten(str(error), SENT))


def _exit_code(error: BaseException) -> int:
    """The code that a process would exit with if nobody caught the error."""
    code = error.code if isinstance(error, SystemExit) else 1
    return code if isinstance(code, int) else int(code is not None)


def _describe(error: BaseException) -> str:
    """An error in one line: its type and what it says."""
    try:
        text = shorten(str(error), SENT)
    except Exception:  # it cannot even say what it is
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
