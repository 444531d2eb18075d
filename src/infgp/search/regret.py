"""What is still to be gained: the posterior law of the best objective anywhere less that of the recommended point.

A function is drawn from the posterior and maximised over the space; its maximum less its value at the recommended
point is one draw of the regret. Functions are drawn from each state of the chain, so that what the states disagree on
counts, and states are what Monte Carlo errors are computed from: draws from one state are more alike than others.

The functions are rougher than smooth surfaces of the states. A squared exponential kernel is for functions that are
known everywhere once they are known in one place. To find a point with it is one thing; to be sure of what is between
evaluations is another, and few landscapes are that smooth. From states with this kernel, functions with the same
variances and length-scales are drawn that have two derivatives (Matérn 5/2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from infgp.core.kernels import KERNELS
from infgp.core.linalg import FloatArray
from infgp.core.partition import IntArray
from infgp.core.surface import Conditioned
from infgp.errors import InvalidInputError, check_int
from infgp.predict.bundles import Bundle, draw_bundle
from infgp.printing import brief_point
from infgp.search.acquisition import anticipate, best_of
from infgp.search.maximise import candidates, climb, spread_best
from infgp.search.recommending import Chosen
from infgp.search.several import Aimed
from infgp.search.standing import Log, Setup
from infgp.space import Point, Space

#: The smoothest kernel of functions that are drawn for the regret (`studies/regret.py`).
ROUGH = "matern52"
#: Number of functions that are drawn, at least; every state of the chain has the same number of them.
DRAWS = 192
#: Number of candidates over the whole space at which all draws are computed.
SPREAD = 512
#: Number of candidates around each of the best evaluated points, and around the recommended point.
AROUND = 24
#: Number of evaluated points, the best ones, at which draws are computed.
EVALUATED = 256
#: Number of candidates from which gradients are followed on each draw.
STARTS = 2
#: Iterations of L-BFGS-B on each draw.
ITERATIONS = 10
#: Largest number of single changes of an integer or a choice on each draw, one after the other.
CHANGES = 2


@dataclass(frozen=True)
class Regret:
    """The posterior law of what is still to be gained: the best objective anywhere less that of the recommended point.

    It is in the user's units and never negative, whether the user maximises or minimises. Under constraints the best
    objective is that of the points that are more likely feasible than not; where the recommended point is not one of
    them, the regret is infinite.

    Attributes
    ----------
    point : dict
        The recommended point.
    objective : str
        What is optimised, in words.
    draws : array, shape (states, draws of each)
        Draws of the regret, those from one state of the chain in a row.
    improvements : array, shape (points, states × draws of each)
        By how much each of some points is better than the recommended one in each draw, 0 where it is not.

    Examples
    --------
    >>> import numpy as np
    >>> regret = Regret({"x": 0.5}, "expected reward", np.array([[0.0, 0.1], [0.2, 0.3]]))
    >>> round(regret.mean, 2), regret.probability_below(0.25), round(regret.quantile(0.5), 2)
    (0.15, 0.75, 0.15)
    """

    point: Point
    objective: str
    draws: FloatArray = field(repr=False)
    improvements: FloatArray = field(default_factory=lambda: np.empty((0, 0)), repr=False)

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.draws.size)

    @property
    def mean(self) -> float:
        """What perfect knowledge of the objective would be expected to add: no search can add more on average."""
        return float(self.draws.mean())

    @property
    def mean_error(self) -> float:
        """Monte Carlo standard error of the mean."""
        return _error(self.draws)

    def quantile(self, q: float) -> float:
        """What the regret is below with probability q."""
        if not 0.0 <= q <= 1.0:
            raise InvalidInputError(f"q must be between 0 and 1, but got {q!r}.")
        return float(np.quantile(self.draws, q, method="linear" if np.isfinite(self.draws).all() else "higher"))

    def quantile_error(self, q: float) -> float:
        """Monte Carlo standard error of a quantile: half the distance of the quantiles one error of q below and above.

        The error of q is that of the share of draws below the quantile.
        """
        at = self.quantile(q)
        if not math.isfinite(at):
            return 0.0
        error = self.probability_error(at)
        return (self.quantile(min(q + error, 1.0)) - self.quantile(max(q - error, 0.0))) / 2.0

    def probability_below(self, epsilon: float) -> float:
        """Probability that no point is better than the recommended one by more than epsilon."""
        return float(np.mean(self.draws <= epsilon))

    def probability_error(self, epsilon: float) -> float:
        """Monte Carlo standard error of that probability; not 0, even if all draws agree."""
        share = (np.sum(self.draws <= epsilon) + 0.5) / (self.n_draws + 1.0)
        return max(_error((self.draws <= epsilon).astype(np.float64)), math.sqrt(share * (1.0 - share) / self.n_draws))

    def gain(self, evaluations: int) -> float:
        """What a number of further evaluations can be expected to add to the objective of the recommended point.

        It is an optimistic figure. Evaluations are taken to be free of noise: for each draw, the best of the chosen
        points is found for certain. The points are chosen one after the other, each as the one that adds most, and
        what they add is divided by the least share of the best choice of that number of points that such a choice can
        have (Nemhauser, Wolsey and Fisher 1978). It is never more than the mean regret, which is what any number of
        evaluations can add, chosen by what was seen before or not.

        Examples
        --------
        >>> import numpy as np
        >>> regret = Regret({"x": 0.5}, "expected reward", np.array([[2.0, 4.0]]), np.array([[2.0, 0.0], [0.0, 3.0]]))
        >>> regret.gain(1), regret.gain(9)
        (1.5, 3.0)
        """
        return min(self.mean, float(np.mean(self._added(evaluations))))

    def gain_error(self, evaluations: int) -> float:
        """Monte Carlo standard error of :meth:`gain`."""
        added = self._added(evaluations)
        return self.mean_error if self.mean <= np.mean(added) else _error(added.reshape(self.draws.shape))

    def _added(self, evaluations: int) -> FloatArray:
        """What the chosen points add in each draw, divided by the least share of the best choice."""
        steps = check_int("evaluations", evaluations, 1)
        if not self.improvements.size:
            return self.draws.ravel()
        best = np.zeros(self.improvements.shape[1])
        for _ in range(min(steps, self.improvements.shape[0])):
            with_each = np.maximum(self.improvements, best)
            chosen = with_each[np.argmax(with_each.mean(axis=1))]
            if np.array_equal(chosen, best):
                break
            best = chosen
        return best / (1.0 - (1.0 - 1.0 / steps) ** steps)

    def __str__(self) -> str:
        lines = [
            f"recommended: {brief_point(self.point)}",
            f"regret of the {self.objective} there, {self.n_draws} draws:",
        ]
        lines.append(f"  mean {self.mean:.3g} ± {self.mean_error:.1g}")
        lines += [
            f"  {100.0 * q:g} % below {self.quantile(q):.3g} ± {self.quantile_error(q):.1g}" for q in (0.5, 0.9, 0.95)
        ]
        return "\n".join([*lines, "(± is the Monte Carlo standard error)"])


def _error(draws: FloatArray) -> float:
    """Standard error of the mean of draws, shape (states, draws of each), of which those in a row are alike."""
    if not np.isfinite(draws).all():
        return 0.0
    states = draws.shape[0]
    within = float(np.var(draws)) / draws.size
    between = float(np.var(draws.mean(axis=1), ddof=1)) / states if states > 1 else 0.0
    return math.sqrt(max(within, between))


def bundles(rng: np.random.Generator, objective: Aimed, kernel: str | None = None) -> list[Bundle]:
    """Draws of an objective from every state, at least `DRAWS` in all; inputs that failed count as poor.

    The kernel is that of the state or, if that is smoother, the one given; variances and length-scales stay the same.
    """
    learned, aim = objective
    ahead = anticipate(rng, learned.draws, np.empty((0, learned.data.x.shape[1])), learned.series.failed)
    if kernel is not None:
        ahead = [_no_smoother(given, kernel) for given in ahead]
    return [draw_bundle(rng, given, aim, math.ceil(DRAWS / len(ahead))) for given in ahead]


def _no_smoother(given: Conditioned, kernel: str) -> Conditioned:
    own = given.model.at(given.state).kernel
    return replace(given, model=replace(given.model, kernel=max(own, kernel, key=KERNELS.index)))


def regret(rng: np.random.Generator, setup: Setup, log: Log, chosen: Chosen) -> Regret:
    """The posterior law of the regret of the chosen point."""
    space, point, name = setup.space, chosen.point(setup, log), str(chosen.objective[1])
    drawn = bundles(rng, chosen.objective, ROUGH)
    if not chosen.allowed(chosen.u[None])[0]:
        return Regret(point, name, np.full((len(drawn), drawn[0].size), np.inf))
    known = best_evaluated(chosen)
    good = np.vstack((chosen.u, best_of(known, chosen.mean(known))))
    at = np.vstack((known, candidates(rng, space, good, SPREAD, AROUND)))
    at = np.vstack((chosen.u, at[chosen.allowed(at)]))
    regrets, improvements = [], []
    for bundle in drawn:
        values = bundle(at)
        best, (tops, which) = values.max(axis=0), _climbed(bundle, space, at, values)
        np.maximum.at(best, which, np.where(chosen.allowed(tops), bundle.at_rows(tops, which), -np.inf))
        regrets.append(best - values[0])
        improvements.append(np.maximum(values[1:] - values[0], 0.0))
    return Regret(point, name, np.array(regrets), np.concatenate(improvements, axis=1))


def best_evaluated(chosen: Chosen) -> FloatArray:
    """The distinct evaluated inputs with the best objective, at most `EVALUATED` of them, one a row."""
    distinct = np.unique(chosen.objective[0].data.x, axis=0)
    return np.asarray(distinct[np.argsort(-chosen.mean(distinct), kind="stable")[:EVALUATED]])


@dataclass(frozen=True, eq=False)
class _Rows:
    """A score that is another draw in every row."""

    bundle: Bundle
    which: IntArray

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.bundle.rows(at, self.which)


def _climbed(bundle: Bundle, space: Space, at: FloatArray, values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Points that gradients and single changes reach from the best candidates of each draw, and which draw it is."""
    starts = [spread_best(at, values[:, k], STARTS) for k in range(values.shape[1])]
    which = np.repeat(np.arange(len(starts)), [part.size for part in starts])
    tops = climb(_Rows(bundle, which), space, at[np.concatenate(starts)], ITERATIONS)
    if space.discrete.any():
        tops = _changed(bundle, space, tops, which)
    return tops, which


def _changed(bundle: Bundle, space: Space, tops: FloatArray, which: IntArray) -> FloatArray:
    """Points with one integer or choice changed after the other, as long as that is better in their draw."""
    for _ in range(CHANGES):
        near = [np.vstack((top, space.neighbours(top))) for top in tops]
        sizes = [part.shape[0] for part in near]
        values = bundle.at_rows(np.concatenate(near), np.repeat(which, sizes))
        ends = np.cumsum(sizes)[:-1]
        tops = np.array([part[np.argmax(v)] for part, v in zip(near, np.split(values, ends), strict=True)])
    return tops
