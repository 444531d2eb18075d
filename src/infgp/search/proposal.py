"""The one way to the next point: a design first, now and then a random point, and otherwise what the model suggests.

Where the model fails numerically, a random point replaces its suggestion: a fallback, which is counted and logged.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.errors import InvalidInputError, check_choice
from infgp.predict.functionals import Aim, Objective, check_aim
from infgp.search.acquisition import AVERAGED, suggest
from infgp.search.costs import LogCost
from infgp.search.frontier import suggest_tradeoff
from infgp.search.learning import Learned, Series, WarmChain
from infgp.search.several import Aimed, suggest_feasible, suggest_scalarised
from infgp.space import Point, Space

logger = logging.getLogger("infgp")

#: Values of the option `acquisition`, other than None.
ACQUISITIONS = ("kg", "logei", "thompson", "local")
#: Values of the option `goal`, each with the acquisition that serves it.
GOALS = {"final": "kg", "along": "logei"}
#: Values of the option `stand_ins`.
STAND_INS = ("failed", "count")
#: The option `goal` by default.
DEFAULT_GOAL = "final"


@dataclass(frozen=True)
class Exploration:
    """Chance ζ_n = C n^{−λ} of a uniform random point at step n (paper, Algorithm 1).

    Examples
    --------
    >>> Exploration.of("paper").chance(25)
    0.2
    >>> Exploration.of(0.0).chance(25)
    0.0
    """

    c: float
    power: float

    @classmethod
    def of(cls, value: str | float | tuple[float, float]) -> Exploration:
        """From "paper" (C = 1, λ = ½), a constant C (with λ = ½) or a pair (C, λ)."""
        if value == "paper":
            return cls(1.0, 0.5)
        pair = value if isinstance(value, tuple | list) else (value, 0.5)
        try:
            c, power = (-1.0 if isinstance(v, str) else float(v) for v in pair)
        except (TypeError, ValueError):
            c, power = -1.0, -1.0
        if not (0.0 <= c < np.inf and 0.0 < power < 1.0):
            raise InvalidInputError(
                f"exploration must be 'paper', a number C >= 0 or a pair (C, lambda) with 0 < lambda < 1, "
                f"but got {value!r}."
            )
        return cls(c, power)

    def chance(self, n: int) -> float:
        """ζ_n, at most one."""
        return min(1.0, self.c * math.pow(max(n, 1), -self.power))


@dataclass(frozen=True)
class Strategy:
    """How the next point is chosen, once the model is asked; fields are named as the options of `Optimizer`.

    Attributes
    ----------
    objectives : tuple of Objective
        What is optimised of each number.
    signs : tuple of float
        By what each number is multiplied so that larger is better.
    reference_point : tuple of float, or None
        With several objectives, a value of each that any trade-off is to beat, in the user's units; None to infer it.
    per_cost : bool
        Whether what a point is expected to add is divided by what it is expected to cost.
    stand_ins : {"failed", "count"}
        What a number is that may stand for failed evaluations (:func:`infgp.search.outcomes.stand_in`).
    """

    objectives: tuple[Objective, ...]
    signs: tuple[float, ...]
    outliers: str
    target: str
    goal: str
    acquisition: str | None
    exploration: Exploration
    gradients: bool
    reference_point: tuple[float, ...] | None = None
    per_cost: bool = False
    stand_ins: str = "failed"

    def check(self) -> None:
        """Raise unless the options are known and go together."""
        check_choice("goal", self.goal, tuple(GOALS))
        if self.acquisition is not None:
            check_choice("acquisition", self.acquisition, ACQUISITIONS)
        check_aim(self.target, self.outliers)
        check_choice("stand_ins", self.stand_ins, STAND_INS)
        if self.way in AVERAGED and self.target == "surface":
            raise InvalidInputError(
                "target='surface' draws one surface, which is Thompson sampling; use acquisition='thompson' or "
                "'local', or target 'objective' or 'main'."
            )
        if self.target != "objective" and any(objective.kind != "mean" for objective in self.objectives):
            raise InvalidInputError(
                f"target={self.target!r} follows surfaces and no objective; leave objective out, or leave target out."
            )
        if not isinstance(self.gradients, bool):
            raise InvalidInputError(f"gradients must be True or False, but got {self.gradients!r}.")
        if self.gradients and self.way == "kg":
            raise InvalidInputError(
                "gradients=True is for log expected improvement, and the knowledge gradient has none; use "
                "goal='along', or leave gradients out."
            )
        if not isinstance(self.per_cost, bool):
            raise InvalidInputError(f"per_cost must be True or False, but got {self.per_cost!r}.")
        if self.per_cost and (self.gradients or self.way not in AVERAGED):
            raise InvalidInputError(
                "per_cost=True divides an expected improvement by a cost, over candidates; leave preset and gradients "
                "out, and use acquisition None, 'kg' or 'logei'."
            )
        if self.reference_point is not None and len(self.objectives) < 2:
            raise InvalidInputError("reference_point is for several objectives; leave it out.")

    @property
    def way(self) -> str:
        """The acquisition: that of the user, or the one that serves the goal."""
        return GOALS[self.goal] if self.acquisition is None else self.acquisition

    @property
    def by_volume(self) -> bool:
        """Whether the next point is chosen by what it adds to the hypervolume of several objectives."""
        return len(self.objectives) > 1 and self.way in AVERAGED

    def aims(self, learned: Sequence[Learned]) -> list[Aimed]:
        """Each objective as it is known, with what is optimised of it."""
        return [
            (known, known.aimed(Aim(objective, known.rewards, sign, self.target, self.outliers, known.units)))
            for known, objective, sign in zip(learned, self.objectives, self.signs, strict=True)
        ]

    def limits(self, learned: Sequence[Learned]) -> list[Aimed]:
        """Each constraint as it is known; what is bounded is its mean."""
        return [(k, Aim(Objective(), k.rewards, 1.0, self.target, self.outliers, k.units)) for k in learned]

    def price(self, learned: Sequence[Learned]) -> LogCost | None:
        """What evaluations are expected to cost; None where nothing is known of the logarithm of the cost."""
        return LogCost.of(*self.limits(learned)[0]) if learned else None


@dataclass(frozen=True, eq=False)
class Problem:
    """All that a search has been told, by the names of the numbers that it learns.

    Attributes
    ----------
    objectives, constraints : dict of str to Series
        Objectives are to be maximised, constraints to be at most zero.
    pending : array, shape (k, d)
        Inputs that are being evaluated.
    costs : dict of str to Series
        The logarithm of the cost, where improvement per cost is sought and a cost was told; empty otherwise.
    """

    objectives: Mapping[str, Series]
    constraints: Mapping[str, Series]
    pending: FloatArray
    costs: Mapping[str, Series] = field(default_factory=dict)

    @property
    def series(self) -> dict[str, Series]:
        """All numbers that are learned."""
        return {**self.objectives, **self.constraints, **self.costs}


@dataclass(frozen=True, eq=False)
class Proposal:
    """The next input, shape (d,), what was known when it was chosen, and whether it is a fallback.

    An input that is evaluated again has the point that it stands for.
    """

    u: FloatArray
    known: Mapping[str, Learned] = field(default_factory=dict)
    fallback: bool = False
    point: Point | None = None

    @property
    def chains(self) -> dict[str, WarmChain]:
        """The chains of what is known, by name."""
        return {name: learned.chain for name, learned in self.known.items()}


def propose(
    rng: np.random.Generator,
    problem: Problem,
    learn: Callable[[str, Series], Learned],
    strategy: Strategy,
    space: Space,
) -> Proposal:
    """The next input after the design.

    Parameters
    ----------
    rng : numpy.random.Generator
    problem : Problem
    learn : callable
        From a number's name and its values to what is known of it.
    strategy : Strategy
    space : Space

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.options import ModelOptions
    >>> from infgp.search.learning import Learner
    >>> from infgp.space import Float
    >>> rng, x, none = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None], np.empty((0, 1))
    >>> problem = Problem({"objective": Series(x, x[:, 0], np.zeros(6), none)}, {}, none)
    >>> options = {"outliers": "count", "target": "objective", "goal": "final", "acquisition": None, "gradients": False}
    >>> strategy = Strategy((Objective(),), (1.0,), exploration=Exploration.of(0.0), **options)
    >>> space, learner = Space.of({"a": Float(0, 1)}), Learner.of(ModelOptions(), d=1)
    >>> propose(rng, problem, lambda name, series: learner.learn(rng, series, None), strategy, space).u.shape
    (1,)
    """
    uniform = np.asarray(space.snap(rng.random((1, space.d)))[0])
    rewards = [series.y.size for series in problem.objectives.values()]
    if not all(rewards) or rng.random() < strategy.exploration.chance(rewards[0]):
        return Proposal(uniform)
    known: dict[str, Learned] = {}
    try:
        with one_blas_thread():
            known = {name: learn(name, s) for name, s in problem.series.items()}
            objectives = strategy.aims([known[name] for name in problem.objectives])
            constraints = strategy.limits([known[name] for name in problem.constraints])
            price = strategy.price([known[name] for name in problem.costs])
            u = choose(rng, objectives, constraints, strategy, space, problem.pending, price)
        if np.isfinite(u).all():
            return Proposal(u, known)
        logger.warning("The model gave no finite point; a random one is used instead.")
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        logger.warning("The model failed (%s); a random point is used instead of its suggestion.", error)
    return Proposal(uniform, known, fallback=True)


def choose(
    rng: np.random.Generator,
    objectives: Sequence[Aimed],
    constraints: Sequence[Aimed],
    strategy: Strategy,
    space: Space,
    pending: FloatArray,
    price: LogCost | None = None,
) -> FloatArray:
    """What the model suggests, shape (d,): for one objective, under constraints, or for several objectives."""
    if strategy.by_volume:
        return suggest_tradeoff(rng, objectives, constraints, space, pending, strategy.reference_point, price)
    if len(objectives) > 1 or (constraints and strategy.way not in AVERAGED):
        return suggest_scalarised(rng, objectives, constraints, space, pending)
    if constraints:
        return suggest_feasible(rng, objectives[0], constraints, space, pending, strategy.way, price)
    learned, aim = objectives[0]
    return suggest(
        rng,
        learned,
        space,
        acquisition=strategy.way,
        aim=aim,
        pending=pending,
        gradients=strategy.gradients,
        price=price,
    )
