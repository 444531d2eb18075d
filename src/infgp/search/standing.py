"""Where a search stands, as plain data: what it is set up to do, what it was told, what it is waiting for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from infgp.core.linalg import FloatArray
from infgp.core.options import ModelOptions
from infgp.search.costs import COST, cost_series
from infgp.search.learning import Learner, Series, WarmChain, bounded
from infgp.search.outcomes import Observation, stand_in
from infgp.search.proposal import Problem, Strategy
from infgp.space import Point, Space

#: Name of the objective among the numbers that are learned. With several objectives, a colon and the index follow it.
OBJECTIVE = "objective"
#: What stands before the name of a constraint among the numbers that are learned.
CONSTRAINT = "constraint:"

#: Observations with their inputs in the unit cube, shape (d,).
Log: TypeAlias = list[tuple[Observation, FloatArray]]


@dataclass(frozen=True, eq=False)
class Setup:
    """What a search is set up to do; fields are named as the options of `Optimizer`."""

    space: Space
    directions: tuple[str, ...]
    strategy: Strategy
    options: ModelOptions
    warp: str | None
    n_initial: int

    @cached_property
    def learner(self) -> Learner:
        """How objectives and constraints are learned.

        With several objectives, volumes are of rewards as they are, and what a warp resolves does not count: one is
        learned only if it is asked for. So is the kernel, of which nothing has been measured there.
        """
        straight = self.strategy.by_volume and self.warp == "auto"
        smooth = len(self.signs) > 1 and self.options.kernel == "auto"
        options = replace(self.options, kernel="se") if smooth else self.options
        return Learner.of(options, self.space.d, options.warps(None if straight else self.warp))

    @property
    def signs(self) -> tuple[float, ...]:
        """By what each objective is multiplied so that larger is better."""
        return self.strategy.signs

    def stand_in(self, log: Log) -> tuple[float, int] | None:
        """The number that may stand for failed evaluations, and how often it was told; None if there is none.

        One point alone is no sign of it. With several objectives there is none: the other numbers of such an evaluation
        would be lost.
        """
        if len(self.signs) > 1:
            return None
        found = stand_in([o.values[0] for o, _ in log if o.values is not None], self.signs[0])
        points = {u.tobytes() for o, u in log if found is not None and o.values == found[:1]}
        return found if len(points) > 1 else None

    def set_aside(self, log: Log) -> float | None:
        """The number that is taken to stand for failed evaluations; None if there is none, or if it is to count."""
        found = self.stand_in(log) if self.strategy.stand_ins == "failed" else None
        return None if found is None else found[0]

    def counted(self, log: Log) -> NDArray[np.bool_]:
        """Which evaluations have given a reward: not those that failed, nor those whose number stands for a failure."""
        return _counted(log, self.set_aside(log))

    def problem(self, log: Log, pending: Sequence[Point] = ()) -> Problem:
        """What was told, by the names of the numbers that are learned."""
        d = self.space.d
        inputs = np.array([u for _, u in log]).reshape(-1, d)
        aside = self.set_aside(log)
        done = _counted(log, aside)
        noise = np.array([o.noise_variance for o, _ in log])
        objectives = {}
        for k, sign in enumerate(self.signs):
            y = np.array([o.values[k] for o, _ in log if o.values and o.values[0] != aside], dtype=np.float64)
            name = OBJECTIVE if len(self.signs) == 1 else f"{OBJECTIVE}:{k}"
            objectives[name] = Series(inputs[done], sign * bounded(y), noise[done], inputs[~done], aside=aside)
        constraints = {}
        for name in dict.fromkeys(name for o, _ in log for name in o.constraints):
            has = np.array([name in o.constraints for o, _ in log], dtype=bool)
            y = np.array([o.constraints[name] for o, _ in log if name in o.constraints], dtype=np.float64)
            constraints[CONSTRAINT + name] = Series(
                inputs[has], bounded(y), np.zeros(y.size), np.empty((0, d)), bounded=True
            )
        waiting = self.space.to_unit(pending) if pending else np.empty((0, d))
        return Problem(objectives, constraints, waiting, self._costs(log))

    def _costs(self, log: Log) -> dict[str, Series]:
        """The logarithm of the cost, failed evaluations included; nothing where it is not asked for or not known."""
        paid = [(u, o.cost) for o, u in log if o.cost is not None]
        if not (self.strategy.per_cost and paid):
            return {}
        return {COST: cost_series(np.array([u for u, _ in paid]), np.array([cost for _, cost in paid]))}


def _counted(log: Log, aside: float | None) -> NDArray[np.bool_]:
    return np.array([o.values is not None and o.values[0] != aside for o, _ in log], dtype=bool)


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a search stands, apart from the observations; replaced as a whole, so that no interruption tears it apart.

    Attributes
    ----------
    told : int
        Number of observations in the log that count.
    pending : tuple of points
        Asked for and not told yet.
    asked, designed, fallbacks : int
        Number of points handed out; how many of them came from the design; how many were fallbacks.
    chains : mapping of str to WarmChain
        By the names of the numbers that are learned, as the last suggestion left them.
    """

    told: int = 0
    pending: tuple[Point, ...] = ()
    asked: int = 0
    designed: int = 0
    fallbacks: int = 0
    chains: Mapping[str, WarmChain] = field(default_factory=dict)
