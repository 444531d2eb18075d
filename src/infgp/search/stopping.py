"""When to stop: rules that look at what is still to be gained."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from infgp.errors import InvalidInputError, check_int, check_positive, shown
from infgp.search.optimizer import Optimizer
from infgp.search.regret import Regret

logger = logging.getLogger("infgp")

#: After n evaluations a rule is checked again when n has grown by one part in this number, or by one evaluation.
PARTS = 20


class Rule(Protocol):
    """Whether a search may stop, from what is still to be gained."""

    def met(self, regret: Regret, /) -> bool:
        """Whether the search may stop."""


@dataclass(frozen=True)
class RegretBelow:
    """Stop when no point is better than the recommended one by more than epsilon, with a probability.

    The probability counts less one Monte Carlo standard error: a rule is checked often, and would otherwise stop by
    chance.

    Parameters
    ----------
    epsilon : float
        In the user's units.
    probability : float, default=0.95

    Examples
    --------
    >>> import numpy as np
    >>> small = Regret({"x": 0.5}, "expected reward", np.full((12, 16), 0.01))
    >>> RegretBelow(0.1).met(small), RegretBelow(0.001).met(small)
    (True, False)
    """

    epsilon: float
    probability: float = 0.95

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        if not 0.0 < check_positive("probability", self.probability) < 1.0:
            raise InvalidInputError(f"probability must be between 0 and 1, but got {self.probability!r}.")

    def met(self, regret: Regret) -> bool:
        """Whether the search may stop."""
        return regret.probability_below(self.epsilon) - regret.probability_error(self.epsilon) >= self.probability


@dataclass(frozen=True)
class GainBelow:
    """Stop when a number of further evaluations cannot be expected to add more than epsilon.

    What they can add is :meth:`infgp.search.regret.Regret.gain`, an optimistic figure, plus one Monte Carlo standard
    error.

    Parameters
    ----------
    epsilon : float
        In the user's units.
    evaluations : int

    Examples
    --------
    >>> import numpy as np
    >>> small = Regret({"x": 0.5}, "expected reward", np.full((12, 16), 0.01))
    >>> GainBelow(0.1, evaluations=10).met(small)
    True
    """

    epsilon: float
    evaluations: int

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        check_int("evaluations", self.evaluations, 1)

    def met(self, regret: Regret) -> bool:
        """Whether the search may stop."""
        return regret.gain(self.evaluations) + regret.gain_error(self.evaluations) <= self.epsilon


def check_rule(rule: object) -> None:
    """Raise unless it is a rule.

    Examples
    --------
    >>> check_rule(RegretBelow(0.1))
    """
    if isinstance(rule, type) or not callable(getattr(rule, "met", None)):
        raise InvalidInputError(
            f"stop must be a rule such as infgp.RegretBelow(0.1) or infgp.GainBelow(0.1, 20), but got {shown(rule)}."
        )


def due(told: int, n_initial: int) -> bool:
    """Whether a rule is checked after a number of evaluations: not before the design is finished, and then every time.

    From 40 evaluations on it is whenever their number is a multiple of its twentieth, rounded down: every second time
    at 40, every fifth time at 100. A check takes longer than the choice of a point.

    Examples
    --------
    >>> [told for told in range(50) if due(told, 36)]
    [36, 37, 38, 39, 40, 42, 44, 46, 48]
    """
    return told >= n_initial and told % max(1, told // PARTS) == 0


def may_stop(rule: Rule, optimizer: Optimizer) -> bool:
    """Whether a rule is checked now and the search may stop. Where the model fails, the search goes on.

    Examples
    --------
    >>> import infgp
    >>> may_stop(RegretBelow(0.1), Optimizer({"x": infgp.Float(0.0, 1.0)}))
    False
    """
    told, succeeded = optimizer.counts
    if succeeded < optimizer.n_initial or not due(told, optimizer.n_initial):  # a few rewards have no scale
        return False
    try:
        return rule.met(optimizer.regret())
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        logger.warning("The model failed (%s); the rule to stop was not checked.", error)
        return False
