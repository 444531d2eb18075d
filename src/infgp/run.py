"""`maximize` and `minimize`: the loop around an :class:`~infgp.Optimizer`, serial or on any executor."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from infgp.calling import caller, describe_call
from infgp.errors import InvalidInputError, check_int, check_positive
from infgp.habits import ARGUMENTS, RESULT_ATTRIBUTES, Hints, nearest
from infgp.printing import brief, html_table, noun, printable, text_table
from infgp.progress import progress_bar
from infgp.search.frames import evaluations
from infgp.search.optimizer import Optimizer
from infgp.search.outcomes import Observation, Recommendation, checked_cost
from infgp.search.stopping import Rule, check_rule, may_stop
from infgp.space import Point, SpaceLike

logger = logging.getLogger("infgp")

#: What is called after every evaluation; True stops the run.
Callback: TypeAlias = Callable[[Optimizer, Observation], object]
#: What an evaluation costs: its seconds, or what a function of the point says.
Cost: TypeAlias = Literal["seconds"] | Callable[[Point], float]


@dataclass(frozen=True, eq=False)
class Result(Hints):
    """What a run has found; prints as a small table, with the warnings of the recommendation under it.

    Attributes
    ----------
    recommendation : Recommendation or None
        The point with the best objective, by default the expected reward; None if no evaluation succeeded.
    best_observed : Observation or None
        The best single reward, which may be the luckiest one.
    observations : tuple of Observation
        All evaluations, in the order in which they came back.
    seconds : float
        Duration of the run.
    stopped_by : {"budget", "time", "cost", "callback", "rule", "interrupt"}
    optimizer : Optimizer
        To go on with: ``maximize(f, result.optimizer, budget=50)``.
    """

    recommendation: Recommendation | None
    best_observed: Observation | None
    observations: tuple[Observation, ...]
    seconds: float
    stopped_by: str
    optimizer: Optimizer
    _habits: ClassVar[Mapping[str, str]] = RESULT_ATTRIBUTES

    @property
    def point(self) -> Point | None:
        """The recommended point."""
        return None if self.recommendation is None else self.recommendation.point

    @property
    def cost(self) -> float:
        """What the evaluations of the run have cost together, as far as that was told."""
        return float(sum(o.cost or 0.0 for o in self.observations))

    def to_frame(self) -> Any:
        """All evaluations of this run as a pandas data frame: a column for each parameter, and ``value``.

        Values of failed evaluations are missing. `Optimizer.to_frame` has what is believed of all evaluations, too.
        """
        return evaluations(self.optimizer.space, self.observations)

    def __str__(self) -> str:
        warnings = () if self.recommendation is None else self.recommendation.warnings
        return "\n".join([text_table(self._rows()), *warnings])

    def _repr_html_(self) -> str:
        warnings = () if self.recommendation is None else self.recommendation.warnings
        return html_table("Result", self._rows(), warnings)

    def _rows(self) -> list[tuple[str, str]]:
        """What is shown, by name."""
        failed = sum(o.value is None for o in self.observations)
        rows = [("evaluations", f"{len(self.observations)} ({failed} failed), stopped by {self.stopped_by}")]
        if self.recommendation is not None:
            r = self.recommendation
            low, _, high = r.quantiles.values()
            rows += [(printable(name), brief(value)) for name, value in r.point.items()]
            rows += [
                (r.objective, f"{brief(r.mean)} ± {r.std:.2g}"),
                (f"90 % of {r.noun}s", f"{brief(low)} … {brief(high)}"),
                (
                    "off the surface",
                    f"{r.n_off_surface} of {r.n_rewards} {r.noun}s; counting what the surfaces leave over changes the "
                    f"objective by {r.off_surface_effect:+.2g}",
                ),
            ]
        if self.optimizer.fallbacks:
            rows.append(("model failures", f"{self.optimizer.fallbacks} (a random point each)"))
        if self.best_observed is not None:
            what = noun(self.optimizer.setup.signs[0])
            rows.append((f"luckiest {what}", f"{brief(self.best_observed.value)} (not the recommendation)"))
        return rows


def maximize(
    f: Callable[..., float | None],
    space: SpaceLike | Optimizer,
    budget: int,
    seed: int | None = None,
    *,
    callbacks: Callback | Sequence[Callback] = (),
    max_seconds: float | None = None,
    cost: Cost | None = None,
    max_cost: float | None = None,
    stop: Rule | None = None,
    confirm: int = 0,
    executor: Executor | None = None,
    n_workers: int | None = None,
    progress: bool = False,
    catch: type[Exception] | Sequence[type[Exception]] = (),
    **options: Any,
) -> Result:
    """Find the input with the best expected reward of a noisy function, or with another best objective.

    Parameters
    ----------
    f : callable
        Called with the parameters by name, ``f(x=0.3, kind="a")``, or, if it has a single parameter whose name is not
        in the space, with the point as a dict. Parameters that do not apply to a point are left out, so that those
        with a condition need default values. Returns the reward; None or NaN for a failed evaluation.
    space : mapping of str to Float, Int or Choice, or Optimizer
        An optimizer goes on from where it is; `seed` and options are then its own.
    budget : int
        Evaluations of `f` in this run.
    seed : int or None
    callbacks : callable or sequence of callables
        Each is called after every evaluation with the optimizer and the observation. One that returns True stops the
        run. With ``lambda optimizer, _: optimizer.save("run.json")`` no evaluation is lost, whatever happens.
    max_seconds : float or None
        Seconds after which no further evaluation begins.
    cost : "seconds", callable or None
        What an evaluation costs, which is kept with its observation: the seconds that it takes, with the time that it
        waits in an executor's queue, or what a function of the point says, in any unit. None for costs that are not
        known. Points are chosen with regard to it where the option `per_cost` is True.
    max_cost : float or None
        No further evaluation begins once the evaluations of this run have cost that much. Needs `cost`.
    stop : RegretBelow, GainBelow or None
        When enough is known (`docs/stopping.md`). Checked after every evaluation once the design is finished, and less
        often the more evaluations there are: every second time from 40 on, every fifth time from 100 on.
    confirm : int, default=0
        How many evaluations of the budget are spent at the end on finding out which of the best points is best, as
        ``ask(confirm=True)`` does. They begin as soon as `stop` says that the search may stop. It may be the whole
        budget where `space` is an optimizer that knows rewards.
    executor : concurrent.futures.Executor or None
        Where `f` is evaluated; by default in this thread, one at a time.
    n_workers : int or None
        Evaluations under way at once on the executor; by default the executor's own number of workers.
    progress : bool
        Show a progress bar (needs the extra ``progress``), after the design with the best expected reward so far.
    catch : exception type or sequence of exception types
        Exceptions of `f` that count as a failed evaluation. Others end the run and are raised.
    **options
        Further options of :class:`~infgp.Optimizer`, among them `objective`, what is optimised of the rewards at a
        point (by default their mean), `outliers`, whether rewards that fit no surface count, `goal`, whether the best
        point in the end is sought or good rewards along the way, `per_cost`, whether improvement is counted per cost,
        and `preset`, which names the paper's algorithm.

    Returns
    -------
    Result
        Also after Ctrl-C, with what there is.

    Raises
    ------
    Exception
        Whatever `f` (unless it is caught), a callback or the executor raises, and InvalidInputError for a reward that
        is no number. Everything else that has been evaluated is told first, and the exception has the optimizer with
        all of it as its attribute ``optimizer``.

    Examples
    --------
    >>> import infgp
    >>> result = maximize(lambda x: -(x - 0.3) ** 2, {"x": infgp.Float(0.0, 1.0)}, budget=12, seed=0)
    >>> abs(result.point["x"] - 0.3) < 0.05
    True
    """
    optimizer = _optimizer(space, "maximize", seed, options)
    costs = (max_seconds, cost, max_cost)
    return _run(f, optimizer, budget, callbacks, *costs, stop, confirm, executor, n_workers, progress, catch)


def minimize(
    f: Callable[..., float | None],
    space: SpaceLike | Optimizer,
    budget: int,
    seed: int | None = None,
    *,
    callbacks: Callback | Sequence[Callback] = (),
    max_seconds: float | None = None,
    cost: Cost | None = None,
    max_cost: float | None = None,
    stop: Rule | None = None,
    confirm: int = 0,
    executor: Executor | None = None,
    n_workers: int | None = None,
    progress: bool = False,
    catch: type[Exception] | Sequence[type[Exception]] = (),
    **options: Any,
) -> Result:
    """Find the input with the least expected cost of a noisy function, or another objective; see :func:`maximize`.

    Examples
    --------
    >>> import infgp
    >>> result = minimize(lambda x: (x - 0.3) ** 2, {"x": infgp.Float(0.0, 1.0)}, budget=12, seed=0)
    >>> abs(result.point["x"] - 0.3) < 0.05
    True
    """
    optimizer = _optimizer(space, "minimize", seed, options)
    costs = (max_seconds, cost, max_cost)
    return _run(f, optimizer, budget, callbacks, *costs, stop, confirm, executor, n_workers, progress, catch)


def _run(
    f: Callable[..., float | None],
    optimizer: Optimizer,
    budget: int,
    callbacks: Callback | Sequence[Callback],
    max_seconds: float | None,
    cost: Cost | None,
    max_cost: float | None,
    stop: Rule | None,
    confirm: int,
    executor: Executor | None,
    n_workers: int | None,
    progress: bool,
    catch: type[Exception] | Sequence[type[Exception]],
) -> Result:
    """The loop; what is not finished at its end is no longer pending."""
    check_int("budget", budget, 1)
    watchers, caught = _callbacks(callbacks), _exceptions(catch)
    if max_seconds is not None:
        check_positive("max_seconds", max_seconds)
    if cost is not None and cost != "seconds" and not callable(cost):
        raise InvalidInputError(f"cost must be 'seconds', a function of the point, or None, but got {cost!r}.")
    if max_cost is not None and not (check_positive("max_cost", max_cost) and cost is not None):
        raise InvalidInputError("max_cost needs cost: 'seconds', or a function of the point that says what it costs.")
    if optimizer.setup.strategy.per_cost and cost is None:
        raise InvalidInputError("per_cost needs cost: 'seconds', or a function of the point that says what it costs.")
    if not callable(f):
        raise InvalidInputError(f"f must be a function of the parameters, but got {f!r}.")
    if stop is not None:
        check_rule(stop)
    if check_int("confirm", confirm, 0) > budget or (confirm == budget and not optimizer.counts[1]):
        raise InvalidInputError(
            f"confirm must be less than the budget of {budget}, or equal to it for an optimizer that knows rewards, "
            f"but got {confirm!r}."
        )
    if (stop is not None or confirm) and len(optimizer.directions) > 1:
        raise InvalidInputError("stop and confirm are for one objective; leave them out.")
    call = caller(f, optimizer.space)
    workers = _workers(executor, n_workers)
    begin, told, waiting = time.monotonic(), len(optimizer.observations), len(optimizer.pending)
    begun, running, stopped_by = 0, dict[Future[float | None], tuple[Point, _Watch]](), "budget"
    searches, last = budget - confirm, budget  # evaluations of the search, and in all
    spent = 0.0

    def over() -> str | None:
        """What has run out, if anything has."""
        if max_seconds is not None and time.monotonic() - begin >= max_seconds:
            return "time"
        return "cost" if max_cost is not None and spent >= max_cost else None

    def next_point() -> Point:
        """The next point; without any reward there is nothing to confirm."""
        return optimizer.ask(confirm=begun >= searches and optimizer.counts[1] > 0)

    def finish(point: Point, value: float | None, watch: _Watch) -> bool:
        """Tell, call back; whether a callback stops the run."""
        nonlocal spent
        try:
            price = checked_cost(cost(dict(point)) if callable(cost) else watch.seconds if cost == "seconds" else None)
        except Exception:  # of the function of the costs; what was evaluated is told all the same
            optimizer.tell(point, value)
            raise
        optimizer.tell(point, value, cost=price)
        spent += price or 0.0
        tick(_so_far(optimizer) if progress else "")
        observation = optimizer.observations[-1]
        answers = [callback(optimizer, observation) for callback in watchers]  # all are called
        return any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)

    with progress_bar(progress, budget, "evaluation") as tick:
        try:
            while begun < last or running:
                while begun < last and len(running) < workers and not over():
                    point = next_point()
                    begun += 1
                    watch = _Watch()
                    job = _submit(executor, call, point)
                    running[job] = (point, watch)
                    job.add_done_callback(watch.stop)
                if not running:
                    stopped_by = over() or stopped_by
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                halted, errors = False, []
                for job in done:
                    try:  # what one job or callback has done wrong does not keep the others from being told
                        failure = job.exception()
                        if failure is not None and not isinstance(failure, caught):
                            if isinstance(failure, TypeError) and (note := describe_call(f, optimizer.space)):
                                failure.add_note(note)
                            raise failure
                        point, watch = running.pop(job)
                        halted |= finish(point, _value(job), watch)
                        if stop is not None and begun <= searches and last == budget and may_stop(stop, optimizer):
                            searches, last, stopped_by = begun, begun + confirm, "rule"
                    except Exception as error:
                        errors.append(error)
                if errors:
                    raise errors[0]
                if halted:
                    stopped_by = "callback"
                    break
        except KeyboardInterrupt:
            stopped_by = "interrupt"
        except BaseException as error:  # SystemExit too
            error.optimizer = optimizer  # type: ignore[attr-defined]
            raise
        finally:
            for job in running:
                job.cancel()
            for point in optimizer.pending[waiting:]:
                optimizer.withdraw(point)
    try:
        recommendation = _recommendation(optimizer)
    except KeyboardInterrupt:  # whoever wants it can ask the optimizer
        recommendation, stopped_by = None, "interrupt"
    return Result(
        recommendation=recommendation,
        best_observed=optimizer.best_observed,
        observations=optimizer.observations[told:],
        seconds=time.monotonic() - begin,
        stopped_by=stopped_by,
        optimizer=optimizer,
    )


def _optimizer(space: SpaceLike | Optimizer, direction: str, seed: int | None, options: dict[str, Any]) -> Optimizer:
    _check_options(direction, options)
    if not isinstance(space, Optimizer):
        return Optimizer(space, direction, seed, **options)
    if seed is not None or options:
        raise InvalidInputError("An optimizer brings its own seed and options; leave them out, or give its space.")
    if space.direction != direction:
        raise InvalidInputError(f"The optimizer was made to {space.direction}; call infgp.{space.direction} with it.")
    return space


def _check_options(direction: str, options: Mapping[str, Any]) -> None:
    """Raise unless all options are those of an optimizer; what other libraries call them is named."""
    if "direction" in options:
        raise InvalidInputError(
            f"infgp.{direction} takes no direction: call infgp.maximize or infgp.minimize, or, for several objectives, "
            "ask and tell an infgp.Optimizer with a direction for each."
        )
    named = [*inspect.signature(maximize).parameters, *inspect.signature(Optimizer).parameters]
    known = [name for name in named if name not in ("options", "direction")]
    for name in options:
        if name not in known:
            meant = ARGUMENTS.get(name) or nearest(name, known)
            remedy = f"use {meant}" if meant else f"its arguments are {', '.join(known)}"
            raise InvalidInputError(f"infgp.{direction} has no argument {name!r}; {remedy}.")


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
    if not callable(getattr(executor, "submit", None)):
        raise InvalidInputError(f"executor must be an executor of concurrent.futures, or None, but got {executor!r}.")
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


def _recommendation(optimizer: Optimizer) -> Recommendation | None:
    """The recommendation; where there is none, the run is not lost with it."""
    try:
        return optimizer.recommend()
    except (ArithmeticError, np.linalg.LinAlgError, InvalidInputError) as error:
        logger.warning("There is no recommendation: %s", error)
        return None
