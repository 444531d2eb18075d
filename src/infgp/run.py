"""`maximize` and `minimize`: a whole search by one call, and its result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from infgp.arguments import answers_names, names_of
from infgp.errors import InvalidInputError
from infgp.habits import ARGUMENTS, RESULT_ATTRIBUTES, Hints
from infgp.loop import Callback, Cost, Loop, Terms
from infgp.printing import brief, html_table, noun, printable, text_table
from infgp.search.frames import evaluations
from infgp.search.optimizer import Optimizer
from infgp.search.outcomes import Observation, Recommendation
from infgp.search.stopping import Rule
from infgp.space import Point, SpaceLike

logger = logging.getLogger("infgp")


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
        failed = len(self.observations) - self.optimizer.counts[1]
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


@answers_names(
    "infgp.maximize",
    {**ARGUMENTS, "maximize": "infgp.maximize without it", "minimize": "infgp.minimize"},
    names_of(Optimizer),
)
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
        point (by default their mean), `outliers`, whether rewards that fit no surface count, `stand_ins`, whether a
        number such as 10⁹ that is told of several points stands for failures, `goal`, whether the best point in the end
        is sought or good rewards along the way, `per_cost`, whether improvement is counted per cost, and `preset`,
        which names the paper's algorithm.

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
    optimizer, costs = _optimizer(space, "maximize", seed, options), (max_seconds, cost, max_cost)
    terms = Terms(f, budget, callbacks, *costs, stop, confirm, executor, n_workers, progress, catch)
    return _run(terms, optimizer)


@answers_names(
    "infgp.minimize",
    {**ARGUMENTS, "maximize": "infgp.maximize", "minimize": "infgp.minimize without it"},
    names_of(Optimizer),
)
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
    optimizer, costs = _optimizer(space, "minimize", seed, options), (max_seconds, cost, max_cost)
    terms = Terms(f, budget, callbacks, *costs, stop, confirm, executor, n_workers, progress, catch)
    return _run(terms, optimizer)


def _run(terms: Terms, optimizer: Optimizer) -> Result:
    """Run the loop, and say what it has found."""
    begin, told = time.monotonic(), len(optimizer.observations)
    stopped_by = Loop(terms, optimizer).go()
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
    if "direction" in options:
        raise InvalidInputError(
            f"infgp.{direction} takes no direction: call infgp.maximize or infgp.minimize, or, for several objectives, "
            "ask and tell an infgp.Optimizer with a direction for each."
        )
    if not isinstance(space, Optimizer):
        return Optimizer(space, direction, seed, **options)
    if seed is not None or options:
        raise InvalidInputError("An optimizer brings its own seed and options; leave them out, or give its space.")
    if len(space.directions) > 1:
        raise InvalidInputError(
            f"infgp.{direction} is for one objective, but the optimizer has {len(space.directions)}; use ask and tell."
        )
    if space.direction != direction:
        raise InvalidInputError(f"The optimizer was made to {space.direction}; call infgp.{space.direction} with it.")
    return space


def _recommendation(optimizer: Optimizer) -> Recommendation | None:
    """The recommendation; where there is none, the run is not lost with it."""
    try:
        return optimizer.recommend()
    except (ArithmeticError, np.linalg.LinAlgError, InvalidInputError) as error:
        logger.warning("There is no recommendation: %s", error)
        return None
