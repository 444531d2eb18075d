"""What an evaluation is expected to cost, learned from what evaluations have cost: for improvement per cost.

The logarithm of the cost is a number like a constraint: it has a chain of its own, and the expected logarithm at an
input is a mean over states. Scores of inputs are logarithms of what a reward there is expected to add, averaged over
states, so that the logarithm of improvement per cost is their difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.predict.functionals import Aim
from infgp.predict.objectives import MeanObjective
from infgp.search.learning import Learned, Series
from infgp.search.maximise import Values

#: Name of the cost among the numbers that are learned.
COST = "cost"
#: Least cost that counts, as a share of the largest: one evaluation that is free is not worth any number of others.
LEAST = 1e-6


def cost_series(x: FloatArray, costs: FloatArray) -> Series:
    """Logarithms of costs, shape (n,), at inputs x, shape (n, d), as a number that is learned.

    Examples
    --------
    >>> import numpy as np
    >>> series = cost_series(np.array([[0.1], [0.5], [0.9]]), np.array([0.0, 1.0, 10.0]))
    >>> series.y.round(1)
    array([-11.5,   0. ,   2.3])
    """
    largest = float(costs.max(initial=0.0)) or 1.0
    logs = np.log(np.maximum(costs, LEAST * largest))
    return Series(x, logs, np.zeros(logs.size), np.empty((0, x.shape[1])), bounded=True)


@dataclass(frozen=True, eq=False)
class LogCost:
    """The expected logarithm of the cost of an evaluation.

    Attributes
    ----------
    mean : MeanObjective
        Of the logarithm, over the states of its chain.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.options import ModelOptions
    >>> from infgp.predict.functionals import Objective
    >>> from infgp.search.learning import Learner
    >>> x = np.linspace(0.0, 1.0, 12)[:, None]
    >>> series = cost_series(x, np.exp(3.0 * x[:, 0]))
    >>> learned = Learner.of(ModelOptions(), d=1).learn(np.random.default_rng(0), series, None)
    >>> price = LogCost.of(learned, Aim(Objective(), learned.rewards, units=learned.units))
    >>> cheap, dear = price(np.array([[0.25], [0.75]]))
    >>> bool(0.5 < cheap < 1.0 < 2.0 < dear < 2.5)
    True
    """

    mean: MeanObjective

    @classmethod
    def of(cls, learned: Learned, aim: Aim) -> LogCost:
        """From what is known of the logarithm of the cost."""
        return cls(MeanObjective.of(learned.draws, aim))

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        return self.mean.moments(at)[0]


def per_cost(score: Values, price: LogCost | None) -> Values:
    """The logarithm of what a reward adds, less that of its cost; the score itself where costs do not count.

    Examples
    --------
    >>> import numpy as np
    >>> per_cost(lambda at: at[:, 0], None)(np.array([[0.5]]))
    array([0.5])
    """
    return score if price is None else lambda at: score(at) - price(at)
