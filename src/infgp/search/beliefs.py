"""What a search believes: recommendations, regret, candidates, predictions and laws."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.errors import check_int
from infgp.predict.law import Law
from infgp.predict.lawmixture import LawMixture
from infgp.predict.objectives import MeanObjective
from infgp.search import frames, recommending
from infgp.search import regret as regrets
from infgp.search.candidates import Candidates, rank
from infgp.search.journal import Journal, generator
from infgp.search.learning import LAST, LAST_STATES, Learned, Series
from infgp.search.outcomes import Recommendation, Tradeoff, nothing_known
from infgp.search.proposal import Problem
from infgp.search.recommending import BestExpected, Chosen
from infgp.search.regret import Regret
from infgp.search.several import Aimed
from infgp.search.standing import Log, Standing

#: First number of the key that the randomness of recommendations and predictions is derived from.
BELIEF = 2
#: First number of the key that the randomness of a chain is derived from.
CHAIN = 3


@dataclass(frozen=True, eq=False)
class Belief:
    """Randomness, what was told, all numbers that are learned, by name, and what they were learned from."""

    rng: np.random.Generator
    log: Log
    known: Mapping[str, Learned]
    problem: Problem

    @property
    def objectives(self) -> list[Learned]:
        """What is known of each objective."""
        return [self.known[name] for name in self.problem.objectives]

    @property
    def constraints(self) -> list[Learned]:
        """What is known of each constraint."""
        return [self.known[name] for name in self.problem.constraints]

    @property
    def costs(self) -> list[Learned]:
        """What is known of the logarithm of the cost; nothing where it does not count."""
        return [self.known[name] for name in self.problem.costs if name in self.known]


class Beliefs(Journal):
    """What follows from what was told. Asking for it does not change what comes next; a part of `infgp.Optimizer`.

    Examples
    --------
    >>> import infgp
    >>> isinstance(infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}), Beliefs)
    True
    """

    def recommend(self) -> Recommendation:
        """The point with the best posterior mean of the objective. Asking for it does not change what comes next.

        Raises
        ------
        InvalidInputError
            Before any reward has been told, and with several objectives: see :meth:`tradeoffs`.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, -(x - 0.5) ** 2)
        >>> abs(optimizer.recommend().point["x"] - 0.5) < 0.1
        True
        """
        self._single("recommend")
        with one_blas_thread():
            belief, chosen = self._choose("recommend")
            return recommending.recommend(self._setup, belief.log, chosen)

    def best_expected(self) -> BestExpected:
        """The evaluated point with the best objective, as the next suggestion sees it: for progress bars.

        The sweeps that it takes are those of the next :meth:`ask`, which need not make them again.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, -(x - 0.5) ** 2)
        >>> optimizer.best_expected().index in (2, 3)
        True
        """
        self._single("best_expected")
        standing = self._standing  # more may be told meanwhile
        learned, log = self._learned(standing, 0), self._told(standing)
        feasible = [o.feasible for (o, _), has in zip(log, self._setup.counted(log), strict=True) if has]
        with one_blas_thread():
            return recommending.best_expected(self._setup.strategy.aims([learned])[0], feasible)

    def regret(self) -> Regret:
        """What is still to be gained: the law of the best objective anywhere less that of the recommended point.

        192 functions, or a few more, are drawn from the posterior and maximised, whatever the number of rewards; it
        takes two to four times as long as :meth:`recommend`. Asking for it does not change what comes next.

        Raises
        ------
        InvalidInputError
            Before any reward has been told, and with several objectives.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for k in range(11):
        ...     optimizer.tell({"x": 0.1 * k}, -(0.1 * k - 0.5) ** 2)
        >>> regret = optimizer.regret()
        >>> regret.quantile(0.9) < 0.1, regret.probability_below(0.1) > 0.9
        (True, True)
        """
        self._single("regret")
        with one_blas_thread():
            belief, chosen = self._choose("recommend")
            return regrets.regret(belief.rng, self._setup, belief.log, chosen)

    def candidates(self, top: int = 5) -> Candidates:
        """The points that may be best, the likeliest first: evaluated points, and the recommended one.

        Under constraints they are points that are more likely feasible than not, all if there is none.

        Parameters
        ----------
        top : int, default=5
            Number of points at most.

        Returns
        -------
        Candidates
            A tuple of :class:`~infgp.search.candidates.Candidate`, which prints as a table.

        Raises
        ------
        InvalidInputError
            Before any reward has been told, and with several objectives.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, x)
        >>> best = optimizer.candidates()[0]
        >>> best.point, best.n_rewards, best.probability > 0.5
        ({'x': 1.0}, 1, True)
        """
        self._single("candidates")
        check_int("top", top, 1)
        with one_blas_thread():
            belief, chosen = self._choose("rank")
            return rank(belief.rng, self._setup, belief.log, chosen, top)

    def tradeoffs(self) -> tuple[Tradeoff, ...]:
        """For several objectives: evaluated points that no other is believed to be as good as in all and better in one.

        Points that are more likely feasible than not come into question, all if there is none. Each comes with the law
        of a further value of every objective there.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, ["maximize", "minimize"], seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, [-(x - 0.3) ** 2, (x - 0.7) ** 2])
        >>> sorted({round(t.point["x"], 1) for t in optimizer.tradeoffs()} - {0.2, 0.8})
        [0.4, 0.6]
        """
        with one_blas_thread():
            belief, strategy = self._believe("recommend"), self._setup.strategy
            aims, limits = strategy.aims(belief.objectives), strategy.limits(belief.constraints)
            return recommending.tradeoffs(belief.log, aims, limits)

    def predict(self, points: Sequence[Mapping[str, object]]) -> tuple[FloatArray, FloatArray]:
        """Posterior mean of the objective at some points and its standard deviation; what :meth:`recommend` goes by.

        Returns
        -------
        mean, std : arrays, shape (points,), or (points, objectives) with several objectives

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, x)
        >>> mean, std = optimizer.predict([{"x": 0.5}, {"x": 0.7}])
        >>> bool(mean[0] < mean[1])
        True
        """
        at, setup = self.space.to_unit(points), self._setup
        with one_blas_thread():
            aims = setup.strategy.aims(self._believe("predict", constrained=False).objectives)
            columns = [MeanObjective.of(learned.draws, aim).moments(at) for learned, aim in aims]
        if len(columns) == 1:
            return columns[0]
        return np.column_stack([mean for mean, _ in columns]), np.column_stack([std for _, std in columns])

    def law(self, points: Sequence[Mapping[str, object]], objective: int = 0) -> Law | LawMixture:
        """The law of a further reward at some points, noise included. Asking for it does not change what comes next.

        Nothing is set aside: outliers are part of the law. The posterior states are those of :meth:`predict` and
        :meth:`recommend`.

        Parameters
        ----------
        points : sequence of points
        objective : int, default=0
            Index of the objective, where there are several.

        Raises
        ------
        InvalidInputError
            Before any reward has been told.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, x)
        >>> law = optimizer.law([{"x": 0.5}, {"x": 0.7}])
        >>> law.mean.shape, law.quantile([0.1, 0.9]).shape
        ((2,), (2, 2))
        >>> bool(law.probability(0.6)[1] > 0.5)
        True
        """
        at, k = self.space.to_unit(points), self._index(objective)
        with one_blas_thread():
            learned = self._believe("predict", constrained=False).objectives[k]
            return learned.law(at, self._setup.signs[k])

    def learned(self, objective: int = 0) -> Learned:
        """What the search knows of an objective, in the model's units. Asking for it does not change what comes next.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, x)
        >>> optimizer.learned().data.x.shape
        (6, 1)
        """
        return self._learned(self._standing, self._index(objective))

    def _learned(self, standing: Standing, index: int) -> Learned:
        problem = self._setup.problem(self._told(standing))
        name, series = list(problem.objectives.items())[index]
        if not series.y.size:
            raise nothing_known("learn from", len(self._told(standing)))
        with one_blas_thread():
            return self._learn(standing, name, series)

    def aimed(self, objective: int = 0) -> Aimed:
        """What is known of an objective after the sweeps of :meth:`recommend`, and what is optimised of it.

        Pictures and tables are made from it. Asking for it does not change what comes next.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, "minimize", seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, x)
        >>> learned, aim = optimizer.aimed()
        >>> learned.data.x.shape, str(aim)
        ((6, 1), 'expected cost')
        """
        k = self._index(objective)
        with one_blas_thread():
            return self._setup.strategy.aims(self._believe("show", constrained=False).objectives)[k]

    def to_frame(self) -> Any:
        """Everything told as a pandas data frame, with what is believed of it; :meth:`tell_many` takes it back.

        It has a column for each parameter (missing where it does not apply), and ``value`` (missing where the
        evaluation failed), ``mean`` and ``std`` of the objective at the point, ``off_surface_probability`` of the
        reward and, where any were told, ``noise_variance``, ``cost`` and ``constraint:NAME``. With several objectives
        the names of the first four end in a colon and the index. A column that would have the name of a parameter ends
        in ``_``.

        Raises
        ------
        MissingExtraError
            Where pandas is not installed.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> optimizer.tell_many([{"x": 0.2}, {"x": 0.4}, {"x": 0.9}], [1.0, 2.0, None])
        >>> frame = optimizer.to_frame()
        >>> list(frame.columns)
        ['x', 'value', 'mean', 'std', 'off_surface_probability']
        >>> again = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> again.tell_many(frame, frame["value"])
        >>> again.observations == optimizer.observations
        True
        """
        frames.check_pandas()
        standing = self._standing
        log, aims = self._told(standing), []
        with one_blas_thread():
            done = self._setup.counted(log)
            if done.any():
                aims = self._setup.strategy.aims(self._believe("show", False, standing).objectives)
            return frames.to_frame(self.space, log, done, aims)

    # --- What beliefs are made from ----------------------------------------------------------------------------------

    def _learn(self, standing: Standing, name: str, series: Series) -> Learned:
        """What is known of a number: its chain as the last suggestion left it, some sweeps on.

        The randomness of the sweeps is derived from how much was told, so that it does not matter who asks first, or
        how often; what was found is remembered for the next who asks.
        """
        chain = standing.chains.get(name)
        told, before, learned = self._known.get(name, (-1, None, None))
        if learned is None or told != standing.told or (chain is not before and chain is not learned.chain):
            rng = generator(self._entropy, CHAIN, standing.told, zlib.crc32(name.encode()))
            learned = self._setup.learner.learn(rng, series, chain)
            self._known[name] = (standing.told, chain, learned)
        return learned

    def _believe(self, purpose: str, constrained: bool = True, standing: Standing | None = None) -> Belief:
        """What is known after more sweeps, which are not kept."""
        standing = standing or self._standing
        log = self._told(standing)
        problem = self._setup.problem(log)
        if not all(series.y.size for series in problem.objectives.values()):
            raise nothing_known(purpose, len(log))
        rng = generator(self._entropy, BELIEF, standing.told)

        def learn(name: str, series: Series) -> Learned:
            chain = standing.chains.get(name)
            return self._setup.learner.learn(rng, series, chain, LAST, LAST_STATES, again=True)

        objectives = {name: learn(name, series) for name, series in problem.objectives.items()}
        others = {**problem.constraints, **problem.costs} if constrained else {}
        return Belief(rng, log, objectives | {name: learn(name, s) for name, s in others.items()}, problem)

    def _choose(self, purpose: str, standing: Standing | None = None) -> tuple[Belief, Chosen]:
        """What is known after more sweeps, and the input that is recommended."""
        belief, strategy = self._believe(purpose, standing=standing), self._setup.strategy
        objective, limits = strategy.aims(belief.objectives)[0], strategy.limits(belief.constraints)
        return belief, recommending.chosen_point(belief.rng, self._setup, objective, limits)
