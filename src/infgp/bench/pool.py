"""Many runs in processes: any process may die, and the whole may be killed and go on later."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

import numpy as np

from infgp.bench.core import Method
from infgp.bench.provenance import before, commit
from infgp.bench.records import FAILED, Key, Record, append, key_of, load
from infgp.bench.suites import Job
from infgp.errors import InvalidInputError

#: Environment variables that workers inherit, so that each library uses one thread.
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
Say: TypeAlias = Callable[[str], object]


@dataclass(frozen=True)
class Outcome:
    """What a call of :func:`run_all` has done: records written, found from before, and runs that were not finished."""

    written: int
    found: int
    failed: tuple[tuple[Key, str], ...]


class Worker:
    """A process that makes one run after the other."""

    def __init__(self, plugins: Sequence[str], warm: bool, maker: str) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, tuple(plugins), warm, maker), daemon=True)
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)
        try:
            self.process.start()
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        theirs.close()
        self.job: Job | None = None

    def give(self, job: Job) -> None:
        """Have it make a run."""
        self.job = job
        self.connection.send(job)

    def take(self) -> Record | str:
        """The record of its run, or why there is none; only when its connection is ready."""
        try:
            answer: Record | str = self.connection.recv()
            return answer
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode or 0
            return f"the process died ({signal.Signals(-code).name if code < 0 else f'exit code {code}'})"

    def end(self) -> None:
        """Stop it, whatever it does."""
        self.connection.close()
        self.process.terminate()
        self.process.join()


def measure(job: Job, warm: bool) -> Record:
    """The record of one run of a method of `METHODS`."""
    from infgp.bench.methods import METHODS

    return measure_with(METHODS, job, warm)


def measure_with(methods: Mapping[str, Method], job: Job, warm: bool) -> Record:
    """The record of one run of one of the methods; with `warm` all that it needs is loaded and compiled before."""
    from infgp.bench.runner import run, warm_up
    from infgp.bench.tasks import task

    method = methods[job.method]
    if warm:
        warm_up(method, job.d)
    return run(task(job.task), method, job.seed, job.steps, greedy=job.greedy, initial=job.initial)


def _work(connection: Connection, plugins: tuple[str, ...], warm: bool, maker: str) -> None:
    """The body of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process, which ends this one
    sys.path.insert(0, "")
    for name in plugins:
        importlib.import_module(name)
    make: Callable[[Job, bool], Record] = importlib.import_module(maker).measure
    while True:
        try:
            job: Job = connection.recv()
        except (EOFError, OSError):
            return
        answer: Record | str
        try:
            answer = {**make(job, warm), "commit": commit()}
        except Exception as error:  # of the task, or of the start of the method
            answer = f"{type(error).__name__}: {error}"[:500]
        try:
            connection.send(answer)
        except OSError:  # the parent process was killed: nobody waits for this
            return


class Clock:
    """How long the runs that are left will take, from the runs that were made: by (method, d), or by method, or all."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.times: dict[object, list[float]] = defaultdict(list)
        for record in records:
            if "seconds" in record:
                self.note(record, float(np.sum(record["seconds"])))

    def note(self, record: Record, seconds: float) -> None:
        """Take in how long a run has taken."""
        for key in ((record["method"], record["d"]), record["method"], None):
            self.times[key].append(seconds)

    def left(self, jobs: Sequence[Job], workers: int) -> float | None:
        """Seconds for `jobs` on `workers` processes; None if nothing is known yet."""
        if not self.times:
            return None
        return sum(self._one(job) for job in jobs) / workers

    def _one(self, job: Job) -> float:
        keys = ((job.method, job.d), job.method, None)
        return fmean(next(self.times[key] for key in keys if key in self.times))


@contextmanager
def alone(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a folder of records: a second call on it would repeat runs, and could cut off a line that this one writes.

    The hold ends with the process, however that ends. Where the system has no such locks, nothing is held.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInputError(
                f"Another `infgp bench run`, or the same study, is writing to {os.fspath(folder)}: wait for it, stop "
                "it, or choose another --out."
            ) from None
        yield
    finally:
        os.close(handle)


def run_all(
    jobs: Sequence[Job],
    folder: str | os.PathLike[str],
    workers: int = 1,
    *,
    plugins: Sequence[str] = (),
    warm: bool = True,
    say: Say = print,
    maker: str = __name__,
    again: bool = False,
    file: str | None = None,
) -> Outcome:
    """Make the runs that have no record in the folder yet, and write each record as it comes.

    Parameters
    ----------
    jobs : sequence of Job
    folder : path
        Where the records are; one such call at a time for a folder, a second is refused.
    workers : int, default=1
        Processes.
    plugins : sequence of str
        Modules that each worker imports first, with tasks and methods of yours.
    warm : bool, default=True
        Whether workers load and compile what a method needs before its first run is timed.
    say : callable, default=print
        Gets a line for each run.
    maker : str
        Module whose function ``measure(job, warm)`` makes a record; by default a run of a method of `METHODS`.
    again : bool, default=False
        Whether runs whose record was made before the default last changed are made anew. The new record goes after the
        old one, and the last record of a run is the one that counts.
    file : str, optional
        Name of the file for all records, without its ending; by default each task has its own.
    """
    with alone(folder):
        done = {key_of(record) for record in load(folder) if not (again and before(record))}
        todo = [job for job in jobs if job.key not in done]
        keep = partial(append, folder, file=file)
        outcome = _run_all(todo, folder, workers, (plugins, warm, maker), say, keep)
        return replace(outcome, found=len(jobs) - len(todo))


def _run_all(
    todo: Sequence[Job],
    folder: str | os.PathLike[str],
    workers: int,
    how: tuple[Sequence[str], bool, str],
    say: Say,
    keep: Callable[[Record], object],
) -> Outcome:
    clock, failed, written, total = Clock(load(folder)), [], 0, len(todo)
    crew = [Worker(*how) for _ in range(min(workers, total))]
    begin = {}
    try:
        waiting = list(reversed(todo))
        for worker in crew:
            worker.give(waiting.pop())
            begin[worker] = time.perf_counter()
        while busy := [worker for worker in crew if worker.job is not None]:
            ready = wait([worker.connection for worker in busy])
            for worker in [worker for worker in busy if worker.connection in ready]:
                job, answer = worker.job, worker.take()
                assert job is not None
                if isinstance(answer, str):
                    failed.append((job.key, answer))
                    _note_failure(folder, job.key, answer)
                else:
                    keep(answer)
                    clock.note(answer, time.perf_counter() - begin[worker])
                    written += 1
                left = clock.left([*waiting, *(w.job for w in crew if w.job and w is not worker)], len(crew))
                say(_line(written + len(failed), total, left, job.key, answer))
                if not worker.process.is_alive() or worker.connection.closed:
                    worker.end()
                    crew[crew.index(worker)] = worker = Worker(*how)
                worker.job = None
                if waiting:
                    worker.give(waiting.pop())
                    begin[worker] = time.perf_counter()
    finally:
        for worker in crew:
            worker.end()
    return Outcome(written, 0, tuple(failed))


def _note_failure(folder: str | os.PathLike[str], key: Key, reason: str) -> None:
    path = Path(folder) / FAILED
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {' '.join(map(str, key))}: {reason}\n")


def _line(count: int, total: int, left: float | None, key: Key, answer: Record | str) -> str:
    head = f"[{count}/{total}{'' if left is None else f', {duration(left)} left'}] {' '.join(map(str, key))}: "
    if isinstance(answer, str):
        return f"{head}FAILED: {answer}"
    if "regret" not in answer:  # a fit and not a search
        return f"{head}done"
    tail = f", {len(answer['failures'])} steps failed: {answer['failures'][0]}" if answer["failures"] else ""
    return f"{head}cumulative regret {sum(answer['regret']):.4g}, {sum(answer['seconds']):.1f} s{tail}"


def duration(seconds: float) -> str:
    """A time in words.

    Examples
    --------
    >>> duration(42), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
