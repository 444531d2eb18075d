"""The loop of `maximize` and `minimize` around an :class:`~infgp.Optimizer`, serial or on any executor."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from infgp.calling import caller, describe_call
from infgp.errors import InvalidInputError, check_int, check_positive, shown
from infgp.progress import progress_bar
from infgp.search.optimizer import Optimizer
from infgp.search.outcomes import Observation, checked_cost
from infgp.search.stopping import Rule, check_rule, may_stop
from infgp.space import Point

logger = logging.getLogger("infgp")

#: What is said of a function that does not reach another process.
UNSENT = (
    "Executors with processes send the function by pickle: define it with def at the top of a module, not as a lambda "
    "or inside another function, or use a ThreadPoolExecutor."
)
#: What is called after every evaluation; True stops the run.
Callback: TypeAlias = Callable[[Optimizer, Observation], object]
#: What an evaluation costs: its seconds, or what a function of the point says.
Cost: TypeAlias = Literal["seconds"] | Callable[[Point], float]


@dataclass(frozen=True)
class Terms:
    """What a run was asked for; the names are those of the arguments of :func:`infgp.maximize`."""

    f: Callable[..., float | None]
    budget: int
    callbacks: Callback | Sequence[Callback] = ()
    max_seconds: float | None = None
    cost: Cost | None = None
    max_cost: float | None = None
    stop: Rule | None = None
    confirm: int = 0
    executor: Executor | None = None
    n_workers: int | None = None
    progress: bool = False
    catch: type[Exception] | Sequence[type[Exception]] = ()

    def check(self, optimizer: Optimizer) -> None:
        """Raise unless a run with an optimizer can begin."""
        check_int("budget", self.budget, 1)
        _callbacks(self.callbacks)
        _exceptions(self.catch)
        self._check_costs(optimizer.setup.strategy.per_cost)
        if not callable(self.f):
            raise InvalidInputError(f"f must be a function of the parameters, but got {shown(self.f)}.")
        if self.stop is not None:
            check_rule(self.stop)
        too_many = check_int("confirm", self.confirm, 0) > self.budget
        if too_many or (self.confirm == self.budget and not optimizer.counts[1]):
            raise InvalidInputError(
                f"confirm must be less than the budget of {self.budget}, or equal to it for an optimizer that knows "
                f"rewards, but got {self.confirm!r}."
            )
        if (self.stop is not None or self.confirm) and len(optimizer.directions) > 1:
            raise InvalidInputError("stop and confirm are for one objective; leave them out.")

    def _check_costs(self, per_cost: bool) -> None:
        if self.max_seconds is not None:
            check_positive("max_seconds", self.max_seconds)
        if self.cost is not None and self.cost != "seconds" and not callable(self.cost):
            raise InvalidInputError(f"cost must be 'seconds', a function of the point, or None, but got {self.cost!r}.")
        if self.max_cost is not None and not (check_positive("max_cost", self.max_cost) and self.cost is not None):
            raise InvalidInputError(
                "max_cost needs cost: 'seconds', or a function of the point that says what it costs."
            )
        if per_cost and self.cost is None:
            raise InvalidInputError(
                "per_cost needs cost: 'seconds', or a function of the point that says what it costs."
            )


class Loop:
    """A run under way. What is not finished at its end is no longer pending.

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> Loop(Terms(lambda x: x, budget=3), optimizer).go(), len(optimizer.observations)
    ('budget', 3)
    """

    def __init__(self, terms: Terms, optimizer: Optimizer) -> None:
        terms.check(optimizer)
        self._terms, self._optimizer = terms, optimizer
        self._call = caller(terms.f, optimizer.space)
        self._callbacks, self._caught = _callbacks(terms.callbacks), _exceptions(terms.catch)
        self._workers = _workers(terms.executor, terms.n_workers)
        self._running: dict[Future[float | None], tuple[Point, _Watch]] = {}
        self._begin, self._waiting = time.monotonic(), len(optimizer.pending)
        self._begun, self._spent, self._stopped_by = 0, 0.0, "budget"
        self._searches = terms.budget - terms.confirm  # evaluations of the search
        self._last = terms.budget  # evaluations in all
        self._tick: Callable[[str], object] = lambda text: None

    def go(self) -> str:
        """Evaluate until something ends the run: what did, as `Result.stopped_by` has it."""
        with progress_bar(self._terms.progress, self._terms.budget, "evaluation") as self._tick:
            try:
                while self._begun < self._last or self._running:
                    self._fill()
                    if not self._running:
                        return self._over() or self._stopped_by
                    done, _ = wait(self._running, return_when=FIRST_COMPLETED)
                    if self._take(done):
                        return "callback"
            except KeyboardInterrupt:
                return "interrupt"
            except BaseException as error:  # SystemExit too
                error.optimizer = self._optimizer  # type: ignore[attr-defined]
                raise
            finally:
                for job in self._running:
                    job.cancel()
                for point in self._optimizer.pending[self._waiting :]:
                    self._optimizer.withdraw(point)
        return self._stopped_by

    def _over(self) -> str | None:
        """What has run out, if anything has."""
        terms = self._terms
        if terms.max_seconds is not None and time.monotonic() - self._begin >= terms.max_seconds:
            return "time"
        return "cost" if terms.max_cost is not None and self._spent >= terms.max_cost else None

    def _fill(self) -> None:
        """Give every free worker a point. Without any reward there is nothing to confirm."""
        optimizer = self._optimizer
        while self._begun < self._last and len(self._running) < self._workers and not self._over():
            point = optimizer.ask(confirm=self._begun >= self._searches and optimizer.counts[1] > 0)
            self._begun += 1
            watch = _Watch()
            job = _submit(self._terms.executor, self._call, point)
            self._running[job] = (point, watch)
            job.add_done_callback(watch.stop)

    def _take(self, done: Iterable[Future[float | None]]) -> bool:
        """Tell what has been evaluated; whether a callback stops the run."""
        halted, errors = False, []
        for job in done:
            try:  # what one job or callback has done wrong does not keep the others from being told
                self._raise_failure(job)
                point, watch = self._running.pop(job)
                halted |= self._finish(point, _value(job), watch)
                self._apply_rule()
            except Exception as error:
                errors.append(error)
        if errors:
            raise errors[0]
        return halted

    def _raise_failure(self, job: Future[float | None]) -> None:
        """Raise what a job has raised, unless it counts as a failed evaluation."""
        failure = job.exception()
        if failure is not None and not isinstance(failure, self._caught):
            note = describe_call(self._terms.f, self._optimizer.space) if isinstance(failure, TypeError) else None
            if note:
                failure.add_note(note)
            if "pickle" in str(failure) and self._terms.executor is not None:
                failure.add_note(UNSENT)
            raise failure

    def _apply_rule(self) -> None:
        """End the search, and begin with the confirmation, if the rule to stop is met."""
        stop, confirm = self._terms.stop, self._terms.confirm
        if stop is None or self._begun > self._searches or self._last != self._terms.budget:
            return
        if may_stop(stop, self._optimizer):
            self._searches, self._last, self._stopped_by = self._begun, self._begun + confirm, "rule"

    def _finish(self, point: Point, value: float | None, watch: _Watch) -> bool:
        """Tell, call back; whether a callback stops the run."""
        optimizer, cost = self._optimizer, self._terms.cost
        try:
            price = checked_cost(cost(dict(point)) if callable(cost) else watch.seconds if cost == "seconds" else None)
        except Exception:  # of the function of the costs; what was evaluated is told all the same
            optimizer.tell(point, value)
            raise
        optimizer.tell(point, value, cost=price)
        self._spent += price or 0.0
        self._tick(_so_far(optimizer) if self._terms.progress else "")
        observation = optimizer.observations[-1]
        answers = [callback(optimizer, observation) for callback in self._callbacks]  # all are called
        return any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)


def _callbacks(given: Callback | Sequence[Callback]) -> tuple[Callback, ...]:
    """Callbacks one by one, or raise."""
    found: tuple[Any, ...] = (given,) if callable(given) or not isinstance(given, Iterable) else tuple(given)
    if not all(map(callable, found)):
        raise InvalidInputError(
            "callbacks must be a function of the optimizer and the latest observation, or a list of such functions, "
            f"but got {given!r}."
        )
    return found


def _exceptions(given: type[Exception] | Sequence[type[Exception]]) -> tuple[type[Exception], ...]:
    """Exception types one by one, or raise."""
    found: tuple[Any, ...] = (given,) if isinstance(given, type) or not isinstance(given, Iterable) else tuple(given)
    if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in found):
        raise InvalidInputError(
            f"catch must be an exception type such as ValueError, or a list of exception types, but got {given!r}."
        )
    return found


def _workers(executor: Executor | None, n_workers: int | None) -> int:
    if executor is None:
        if n_workers is not None:
            raise InvalidInputError(
                f"n_workers={n_workers!r} is for an executor, and there is none; add an executor of "
                "concurrent.futures, such as executor=ThreadPoolExecutor(4)."
            )
        return 1
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        hint = f"; make one of it, such as {executor.__name__}(4)" if isinstance(executor, type) else ""
        raise InvalidInputError(
            f"executor must be an executor of concurrent.futures, or None, but got {shown(executor)}{hint}."
        )
    if n_workers is not None:
        return check_int("n_workers", n_workers, 1)
    return check_int("n_workers", getattr(executor, "_max_workers", 1), 1)


@dataclass
class _Watch:
    """Measures the time from when an evaluation is handed on to when it ends."""

    begun: float = field(default_factory=time.monotonic)
    ended: float | None = None

    def stop(self, _: object) -> None:
        self.ended = time.monotonic()

    @property
    def seconds(self) -> float:
        """Time until the end, or until now; a future is done a moment before it says so to those who have asked."""
        return (time.monotonic() if self.ended is None else self.ended) - self.begun


def _submit(executor: Executor | None, call: Callable[[Point], float | None], point: Point) -> Future[float | None]:
    point = dict(point)  # whatever `f` does to it
    if executor is not None:
        return executor.submit(call, point)
    job: Future[float | None] = Future()
    try:
        job.set_result(call(point))
    except Exception as error:
        job.set_exception(error)
    return job


def _value(job: Future[float | None]) -> float | None:
    """The reward, or None for an exception that counts as a failed evaluation."""
    error = job.exception()
    if error is None:
        return job.result()
    logger.warning("An evaluation failed: %r", error)
    return None


def _so_far(optimizer: Optimizer) -> str:
    """The best expected reward so far, once the design is finished; nothing where the model fails."""
    told, done = optimizer.counts
    if told < optimizer.n_initial or not done:
        return ""
    try:
        return str(optimizer.best_expected())
    except (ArithmeticError, np.linalg.LinAlgError):
        return ""
