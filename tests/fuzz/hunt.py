"""Cases in processes of their own, under a watchdog that notices one that hangs or crashes."""

from __future__ import annotations

import importlib
import itertools
import json
import math
import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

import infgp

#: Kinds of cases, each a module.
KINDS = ("histories", "fits", "studies", "runs", "files", "texts")
#: Seconds of CPU after which a case counts as one that hangs.
LONGEST = 30.0
#: Seconds on the clock after which a case counts as one that hangs, though it does nothing.
PATIENCE = 120.0
#: Seconds that a process may take to start.
STARTING = 120.0


def case_of(kind: str, number: int) -> dict[str, Any]:
    """A case, made from its number alone."""
    made: dict[str, Any] = module(kind).make(np.random.default_rng([KINDS.index(kind), number]))
    return made


def module(kind: str) -> Any:
    """The module of a kind of cases."""
    return importlib.import_module(f"tests.fuzz.{kind}")


def attempt(play: Callable[[dict[str, Any]], None], case: dict[str, Any]) -> str | None:
    """What is wrong with a case, if anything: any exception, and any warning but that on convergence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", infgp.ConvergenceWarning)
            for theirs in ("optuna", "sqlalchemy"):
                warnings.filterwarnings("ignore", module=theirs)
            play(case)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:300]} ({where.filename}:{where.lineno})"
    return None


def work(pipe: Connection) -> None:
    """Play cases that come through a pipe, and answer what is wrong with each."""
    quiet()
    pipe.send(None)
    while (order := pipe.recv()) is not None:
        kind, case = order
        pipe.send(attempt(module(kind).play, case))


def quiet() -> None:
    """No messages of Optuna and of the library on standard error."""
    import logging

    import optuna

    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    logging.getLogger("infgp").setLevel(logging.CRITICAL)


class Worker:
    """A process that plays cases; it is replaced when it has hung or crashed."""

    def __init__(self) -> None:
        self.busy: tuple[str, int | None] | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        if not self.pipe.poll(STARTING):
            raise RuntimeError("A process of the hunt does not start.")
        self.pipe.recv()

    def begin(self, kind: str, number: int | None, case: dict[str, Any]) -> None:
        """Play a case."""
        self.busy, self.begun, self.used = (kind, number), time.monotonic(), self._used()
        self.pipe.send((kind, case))

    def _used(self) -> float:
        """Seconds of CPU that the process has used, which other processes of the machine do not change."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def seconds(self) -> float:
        """Seconds of CPU that the case has taken."""
        return self._used() - self.used

    def late(self) -> bool:
        """Whether the case has taken too long."""
        return self.seconds() > LONGEST or time.monotonic() - self.begun > PATIENCE

    def answer(self) -> str | None:
        """What is wrong with the case."""
        self.busy = None
        if not self.pipe.poll():
            found = f"still running after {self.seconds():.0f} seconds"
        else:
            try:
                answered: str | None = self.pipe.recv()
                return answered
            except EOFError:
                self.process.join()
                found = f"the process ended with {self.process.exitcode}"
        self.end()
        self._start()
        return found

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def alone(kind: str, case: dict[str, Any]) -> str | None:
    """What is wrong with one case, in a process of its own."""
    worker = Worker()
    try:
        worker.begin(kind, None, case)
        while not worker.pipe.poll(0.1) and not worker.late():
            pass
        return worker.answer()
    finally:
        worker.end()


def hunt(
    orders: Iterable[tuple[str, int]], jobs: int = 1, minutes: float = math.inf
) -> Iterator[tuple[str, int, float, str | None]]:
    """Play cases, several at once, until they or the time are over; yields each with its seconds and what is wrong."""
    waiting, end = iter(orders), time.monotonic() + 60.0 * minutes
    workers = [Worker() for _ in range(jobs)]
    try:
        while True:
            for worker in workers:
                if worker.busy is None and time.monotonic() < end and (order := next(waiting, None)) is not None:
                    worker.begin(*order, case_of(*order))
            busy = {worker.pipe: worker for worker in workers if worker.busy is not None}
            if not busy:
                return
            ready = wait(list(busy), timeout=1.0)
            for pipe, worker in busy.items():
                if (pipe in ready or worker.late()) and worker.busy is not None:
                    (kind, number), seconds = worker.busy, worker.seconds()
                    assert number is not None
                    yield kind, number, seconds, worker.answer()
    finally:
        for worker in workers:
            worker.end()


def smaller(kind: str, case: dict[str, Any], found: str) -> dict[str, Any]:
    """The case with all steps and options left out without which the same kind of error comes."""

    def fails(changed: dict[str, Any]) -> bool:
        again = alone(kind, changed)
        return again is not None and again.partition(":")[0] == found.partition(":")[0]

    size = max(1, len(case["steps"]) // 2)
    while size:
        k = 0
        while k < len(case["steps"]):
            less = {**case, "steps": case["steps"][:k] + case["steps"][k + size :]}
            if fails(less):
                case = less
            else:
                k += size
        size //= 2
    for name in list(case.get("options", {})):
        less = {**case, "options": {key: value for key, value in case["options"].items() if key != name}}
        if fails(less):
            case = less
    return case


def as_text(case: dict[str, Any]) -> str:
    """A case as JSON; NaN and Infinity are written as Python reads them."""
    return json.dumps(case)


def orders_of(kinds: Iterable[str], start: int, cases: int | None) -> Iterator[tuple[str, int]]:
    """Cases of all kinds in turn."""
    numbers = itertools.count(start) if cases is None else range(start, start + cases)
    return ((kind, number) for number in numbers for kind in kinds)
