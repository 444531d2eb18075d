"""`Optimizer`: ask, tell, recommend, save."""

from __future__ import annotations

import logging
import math
import os
import threading
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, overload

import numpy as np

from infgp.core.forks import renew_after_fork
from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.core.options import ModelOptions, check_warp
from infgp.core.priors import Priors
from infgp.core.scaling import check_variances
from infgp.errors import InvalidInputError, check_choice, check_int
from infgp.habits import Hints
from infgp.predict.functionals import Objective, ObjectiveLike
from infgp.predict.law import Law
from infgp.predict.lawmixture import LawMixture
from infgp.predict.objectives import MeanObjective
from infgp.printing import html_table, text_table
from infgp.search import frames, printed, recommending, saved
from infgp.search import regret as regrets
from infgp.search.candidates import Candidates, rank, second_look
from infgp.search.learning import LAST, LAST_STATES, Learned, Series, WarmChain, check_sampler
from infgp.search.outcomes import (
    Observation,
    Recommendation,
    Tradeoff,
    checked_constraints,
    checked_cost,
    checked_values,
    nothing_known,
)
from infgp.search.presets import takes_preset
from infgp.search.proposal import DEFAULT_GOAL, Exploration, Proposal, Strategy, propose
from infgp.search.recommending import BestExpected, Chosen, evaluated_at
from infgp.search.regret import Regret
from infgp.search.several import Aimed
from infgp.search.standing import Log, Setup, Standing
from infgp.space import Point, Space, SpaceLike

logger = logging.getLogger("infgp")

DIRECTIONS = ("maximize", "minimize")
#: Values of the option `warp`, besides None.
WARPS = ("auto", "learned")
#: Largest number of points of a design whose size the user did not give.
USUAL_DESIGN = 20
#: Points of a design at most.
LARGEST_DESIGN = 2**20
#: First number of the key that the randomness of a suggestion is derived from.
STEP = 0
#: First number of the key that the randomness of the design is derived from.
DESIGN = 1
#: First number of the key that the randomness of recommendations and predictions is derived from.
BELIEF = 2
#: First number of the key that the randomness of a chain is derived from.
CHAIN = 3


@dataclass(frozen=True, eq=False)
class _Belief:
    """Randomness, what was told, and all numbers that are learned, the objectives first."""

    rng: np.random.Generator
    log: Log
    known: Mapping[str, Learned]
    n_objectives: int

    @property
    def objectives(self) -> list[Learned]:
        return list(self.known.values())[: self.n_objectives]

    @property
    def constraints(self) -> list[Learned]:
        return list(self.known.values())[self.n_objectives :]


class Optimizer(Hints):
    """Bayesian optimization that is not fooled by one lucky reward.

    It may be used from several threads: `tell` never waits for an `ask` under way.

    Parameters
    ----------
    space : mapping of str to Float, Int or Choice
        Points that are asked for have the parameters that apply to them (`when`), and so must points that are told.
    direction : {"maximize", "minimize"} or a sequence of them, default="maximize"
        A sequence has an entry for each of several objectives.
    seed : int or None, default=None
        The same seed and rewards give the same points, also across ``save`` and ``load``.
    preset : {"paper", "thompson"} or None, default=None
        A named set of options (:data:`infgp.search.presets.PRESETS`): the paper's Algorithm 1 as printed, or a Thompson
        draw of the objective from infgp's own model, both with the paper's exploration. Options that contradict the
        preset are refused.
    objective : "mean", "median", (str, float), or a list with an entry for each direction, default="mean"
        What is optimised of the reward law at a point: its mean; its median; ("quantile", q), where q = 0.1 is the
        reward that nine of ten exceed; ("cvar", q), the mean of the worst share q; or ("probability", threshold), the
        chance of a better reward than the threshold.
    outliers : {"count", "ignore"}, default="count"
        Whether rewards that fit no surface count. They do if they can happen again: crashes, jackpots, failures.
        Ignore them where they are errors of measurement.
    target : {"objective", "main", "surface"}, default="objective"
        What is searched for: the objective; the dominant surface, which no other rewards move; or (Thompson sampling
        only, the paper's Algorithm 1) a surface drawn by the weights of the surfaces.
    goal : {"final", "along"}, default="final"
        What the search is for: the best point in the end, as in tuning, simulation and design; or good rewards along
        the way, as in trading and online systems, where every evaluation is paid for.
    acquisition : {"kg", "logei", "thompson", "local"} or None, default=None
        How the next point is chosen: by the knowledge gradient or by log expected improvement, averaged over posterior
        states; by Thompson sampling over the space, or around the best points. None is what serves the goal: "kg" for
        "final", "logei" for "along". Several objectives are chosen by expected hypervolume improvement with both, and
        by random weights of Thompson draws with the others.
    exploration : "paper", float or (float, float), default=0.0
        Chance C n^(−λ) of a uniform random point at step n: "paper" is C = 1, λ = ½; a number is C.
    n_initial : int or None, default=None
        Points of a Sobol design before the model is asked; by default 2 (p + 1), with p the number of parameters,
        but at most 20. Earlier data counts.
    gradients : bool, default=False
        Whether log expected improvement is maximised with gradients from many starts, not over candidates.
    reference_point : sequence of float or None, default=None
        With several objectives, a value of each, in the user's units, that trade-offs are to beat. None is the worst
        value of each objective among the evaluated points, as the model believes it to be.
    kernel : {"se", "matern52"}, default="se"
    ard : bool, default=True
        A length-scale for each input, or one for all.
    surfaces : {None, 1}, default=None
        None for any number of surfaces; 1 for an ordinary GP.
    regions : bool, default=True
        Whether surfaces may belong to a place, and have length-scales of their own (landscapes rough here and smooth
        there) or be flat (rare rewards that do not depend on the input). False is the paper's model. Without effect
        where `surfaces` is 1.
    surface_scales : {"own", "shared"}, default="own"
        Whether every surface has a scale of its own that multiplies its variance and its noise.
    odds : {"kriged", "smooth", "constant"}, default="kriged"
        Whether the chances of the surfaces may change with the input (:mod:`infgp.core.odds`): in laws of further
        rewards, given surfaces that were learned with constant chances; in all that is learned; or, as in the paper,
        not at all.
    sampler : {"collapsed", "truncated"}, default="collapsed"
        How the posterior is drawn from; "truncated" is the paper's sampler of the paper's model: `regions`,
        `surface_scales` and `odds` are without effect, no warp is learned, `ard` has to be False where there are
        several inputs, and noise variances cannot be told.
    priors : Priors or None, default=None
        In standardised units; None for :func:`infgp.search.learning.search_priors`, or, with the truncated sampler, for
        the default of :class:`infgp.Priors`.
    warp : {"auto", "learned", None}, default="auto"
        Whether the map by which the model sees rewards is learned with the surfaces (:mod:`infgp.core.warp`): losses
        over decades, and noise that grows with the reward, then need no logarithm of the user's. "auto" means yes,
        unless `surfaces` is 1 or there are several objectives. Rewards that are discrete, or whose noise variances are
        known, are never warped.
        Predictions and recommendations are in the user's units either way.

    Examples
    --------
    >>> import infgp
    >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0, n_initial=4)
    >>> for _ in range(8):
    ...     point = optimizer.ask()
    ...     optimizer.tell(point, -(point["x"] - 0.3) ** 2)
    >>> abs(optimizer.recommend().point["x"] - 0.3) < 0.05
    True
    """

    @takes_preset
    def __init__(
        self,
        space: SpaceLike,
        direction: str | Sequence[str] = "maximize",
        seed: int | None = None,
        *,
        preset: str | None = None,  # its options have come with the others
        objective: ObjectiveLike | Sequence[ObjectiveLike] = "mean",
        outliers: str = "count",
        target: str = "objective",
        goal: str = DEFAULT_GOAL,
        acquisition: str | None = None,
        exploration: str | float | tuple[float, float] = 0.0,
        n_initial: int | None = None,
        gradients: bool = False,
        reference_point: Sequence[float] | None = None,
        kernel: str = "se",
        ard: bool = True,
        surfaces: int | None = None,
        regions: bool = True,
        surface_scales: str = "own",
        odds: str = "kriged",
        sampler: str = "collapsed",
        priors: Priors | None = None,
        warp: str | None = "auto",
    ) -> None:
        directions = (direction,) if isinstance(direction, str) else tuple(direction)
        for one in directions:
            check_choice("direction", one, DIRECTIONS)
        if not directions:
            raise InvalidInputError("direction must have an entry for each objective, but is empty.")
        strategy = Strategy(
            _objectives(objective, len(directions)),
            tuple(1.0 if one == "maximize" else -1.0 for one in directions),
            outliers,
            target,
            goal,
            acquisition,
            Exploration.of(exploration),
            gradients,
            _reference(reference_point, len(directions)),
        )
        strategy.check()
        options = ModelOptions(kernel, ard, surfaces, regions, surface_scales, odds, priors, sampler)
        options.check()
        check_warp(warp, WARPS)
        searched = Space.of(space)
        check_sampler(options, warp, searched.d)
        own = min(2 * (len(searched.names) + 1), USUAL_DESIGN)
        first = own if n_initial is None else check_int("n_initial", n_initial, 1)
        if first > LARGEST_DESIGN:
            raise InvalidInputError(f"n_initial must be at most {LARGEST_DESIGN}, but got {n_initial!r}.")
        self._setup = Setup(searched, directions, strategy, options, warp, first)
        self._entropy = self._design_entropy = _entropy(seed)
        self._log: Log = []  # only grows; what counts of it says the standing
        self._standing = Standing()
        self._known: dict[str, tuple[int, WarmChain | None, Learned]] = {}  # and what it was learned from
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Make the locks anew, held by nobody: for processes that were forked while another thread was asking."""
        self._lock = threading.RLock()  # held to change the standing
        self._asking = threading.RLock()  # held while a point is chosen: two at once would choose the same

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_asking", "_known")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _known={})
        self.renew_locks()
        renew_after_fork(self)

    def __repr__(self) -> str:
        return printed.one_line(self)

    def __str__(self) -> str:
        return text_table(printed.rows(self))

    def _repr_html_(self) -> str:
        return html_table("Optimizer", printed.rows(self))

    # --- Ask and tell ------------------------------------------------------------------------------------------------

    @overload
    def ask(self, n: None = None, *, confirm: bool = False) -> Point: ...
    @overload
    def ask(self, n: int, *, confirm: bool = False) -> list[Point]: ...
    def ask(self, n: int | None = None, *, confirm: bool = False) -> Point | list[Point]:
        """The next point to evaluate, or the next `n`; they are pending until they are told.

        Parameters
        ----------
        n : int, optional
        confirm : bool, default=False
            Choose among the points that were evaluated and the recommended one, to find out which is best: by the
            knowledge gradient, whatever the option `acquisition` is. For one objective.

        Examples
        --------
        >>> import infgp
        >>> len(Optimizer({"k": infgp.Int(1, 9)}, seed=0).ask(3))
        3
        """
        count = 1 if n is None else check_int("n", n, 1)
        with self._asking:
            points: list[Point] = []
            standing = self._standing
            for _ in range(count):  # nothing counts before all are found
                finished = max(standing.told + len(standing.pending), standing.designed) >= self.n_initial
                designs = not (confirm or finished)
                if confirm:
                    found = self._confirm(standing, standing.asked, standing.pending)
                else:
                    index = standing.designed if designs else None
                    found = self._propose(standing, standing.asked, index, standing.pending)
                points.append(self._point(found))
                standing = replace(
                    standing,
                    asked=standing.asked + 1,
                    designed=standing.designed + designs,
                    fallbacks=standing.fallbacks + found.fallback,
                    chains={**standing.chains, **found.chains},
                    pending=(*standing.pending, points[-1]),
                )
            with self._lock:
                now = self._standing  # what was told meanwhile stays told
                self._standing = replace(standing, told=now.told, pending=(*now.pending, *points))
        given = [dict(point) for point in points]
        return given[0] if n is None else given

    def suggest(self, step: int, pending: Sequence[Mapping[str, object]] = (), *, confirm: bool = False) -> Point:
        """A point that is worth evaluating, without a note that it was asked for: for those who keep their own books.

        Parameters
        ----------
        step : int
            Its number, from which randomness is derived; the first ones are of the design.
        pending : sequence of points
            What is being evaluated already, in the place of :attr:`pending`.
        confirm : bool, default=False
            As in :meth:`ask`.

        Examples
        --------
        >>> import infgp
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> optimizer.suggest(0) == optimizer.suggest(0) == optimizer.ask()
        True
        """
        check_int("step", step, 0)
        known = [self.space.validate(point) for point in pending]
        with self._asking:
            standing = self._standing
            if confirm:
                found = self._confirm(standing, step, known)
            else:
                index = step if standing.told + len(known) < self.n_initial else None
                found = self._propose(standing, step, index, known)
            with self._lock:
                fallbacks = self._standing.fallbacks + found.fallback
                chains = {**self._standing.chains, **found.chains}
                self._standing = replace(self._standing, chains=chains, fallbacks=fallbacks)
        return self._point(found)

    def tell(
        self,
        point: Mapping[str, object],
        value: float | Sequence[float] | None,
        noise_variance: float | None = None,
        constraints: Mapping[str, float] | Sequence[float] | None = None,
        cost: float | None = None,
    ) -> None:
        """Report the reward of a point, whether it was asked for or not.

        Parameters
        ----------
        point : mapping of str to value
        value : float, a sequence of floats with one for each objective, or None
            None, NaN and infinities record a failed evaluation, which never enters the likelihood.
        noise_variance : float, optional
            Known noise variance of this reward (the square of its standard error), on top of the noise that is
            learned. Where any is positive, all surfaces share their scales and rewards are not warped, so that
            variances mean what they say. For one objective.
        constraints : mapping of str to float, or sequence of float, optional
            Numbers that must not be positive. They are learned as rewards are, and the search keeps to where they are
            likely to hold.
        cost : float, optional
            What the evaluation cost, in any unit such as seconds or money. It is kept with the observation; points are
            chosen without regard to it.

        Examples
        --------
        >>> import infgp
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)})
        >>> optimizer.tell({"x": 0.5}, 1.0)
        >>> optimizer.tell({"x": 0.6}, None)
        >>> optimizer.tell({"x": 0.7}, 3.0, constraints={"weight": 0.2})
        >>> optimizer.best_observed.point
        {'x': 0.5}
        """
        self._record([self._checked(point, value, noise_variance, constraints, cost)])

    def tell_many(
        self,
        points: Any,
        values: Any,
        noise_variances: Any = None,
        constraints: Any = None,
        costs: Any = None,
    ) -> None:
        """Report the rewards of many points at once: all of them or, where anything is wrong with one, none.

        Parameters
        ----------
        points : sequence of points, or pandas.DataFrame
            A frame has a column for each parameter; other columns are not read. A missing value stands for the option
            None, or for a parameter that does not apply to the point.
        values : sequence, or pandas.Series or DataFrame
            For each point what :meth:`tell` takes; with several objectives a frame has a column for each.
        noise_variances : sequence of float or None, optional
        constraints : sequence of what :meth:`tell` takes, or pandas.DataFrame, optional
            The columns of a frame are named as the constraints, with or without ``constraint:`` before the name.
        costs : sequence of float or None, optional

        Examples
        --------
        >>> import infgp
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)})
        >>> optimizer.tell_many([{"x": 0.5}, {"x": 0.6}], [1.0, None])
        >>> optimizer.counts
        (2, 1)
        """
        rows = frames.rows_to_tell(self.space, points, values, noise_variances, constraints, costs)
        self._record([self._checked(*row) for row in rows])

    def _checked(
        self, point: Any, value: Any, noise_variance: Any, constraints: Any, cost: Any
    ) -> tuple[Observation, FloatArray]:
        """An entry of the log, or an error."""
        valid = self.space.validate(point)
        variance = float(check_variances(None if noise_variance is None else [noise_variance], 1)[0])
        if variance and len(self.directions) > 1:
            raise InvalidInputError("noise_variance is for one objective; leave it out.")
        if variance and self._setup.options.sampler == "truncated":
            raise InvalidInputError("noise_variance is for sampler='collapsed'; the truncated sampler knows one noise.")
        values, limits = checked_values(value, len(self.directions)), checked_constraints(constraints)
        observation = Observation(valid, values, variance, limits, checked_cost(cost))
        return observation, self.space.to_unit([valid])[0]

    def _record(self, entries: Log) -> None:
        """Add entries to the log, and take their points off the pending ones."""
        keys = [self.space.key(observation.point) for observation, _ in entries]
        with self._lock:
            now, pending = self._standing, list(self._standing.pending)
            waiting = [self.space.key(p) for p in pending] if pending else []
            for key in keys:
                if key in waiting:
                    index = waiting.index(key)
                    del waiting[index], pending[index]
            del self._log[now.told :]  # left by a tell that was interrupted
            self._log.extend(entries)
            self._standing = replace(now, told=now.told + len(entries), pending=tuple(pending))

    def withdraw(self, point: Mapping[str, object]) -> None:
        """Take a point that will not be evaluated off the pending ones (the latest, if it is pending several times).

        Examples
        --------
        >>> import infgp
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)})
        >>> optimizer.withdraw(optimizer.ask())
        >>> optimizer.pending
        ()
        """
        key = self.space.key(self.space.validate(point))
        with self._lock:
            pending = self._standing.pending
            match = [i for i, p in enumerate(pending) if self.space.key(p) == key]
            if not match:
                raise InvalidInputError(f"{dict(point)!r} is not pending; nothing was changed.")
            self._standing = replace(self._standing, pending=pending[: match[-1]] + pending[match[-1] + 1 :])

    def reseed(self, seed: int | None = None) -> None:
        """Take other randomness from here on, fresh if no seed is given; the design stays what it is.

        Examples
        --------
        >>> import infgp
        >>> Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0).reseed(1)
        """
        self._entropy = _entropy(seed)
        self._known = {}

    @property
    def setup(self) -> Setup:
        """What the search is set up to do, as plain data."""
        return self._setup

    @property
    def space(self) -> Space:
        """The space that is searched."""
        return self._setup.space

    @property
    def directions(self) -> tuple[str, ...]:
        """Whether each objective is to be maximized or minimized."""
        return self._setup.directions

    @property
    def direction(self) -> str:
        """Whether the objective is to be maximized or minimized; with several objectives see `directions`."""
        self._single("direction")
        return self.directions[0]

    @property
    def n_initial(self) -> int:
        """Points of the design."""
        return self._setup.n_initial

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Everything told, in its order."""
        return tuple(replace(o, point=dict(o.point), constraints=dict(o.constraints)) for o, _ in self._told())

    @property
    def counts(self) -> tuple[int, int]:
        """How many evaluations were told, and how many of them succeeded."""
        told = self._told()
        return len(told), sum(o.values is not None for o, _ in told)

    @property
    def pending(self) -> tuple[Point, ...]:
        """Points asked for and not told yet, in their order."""
        return tuple(dict(point) for point in self._standing.pending)

    @property
    def fallbacks(self) -> int:
        """How many suggestions were random points because the model had failed numerically."""
        return self._standing.fallbacks

    @property
    def best_observed(self) -> Observation | None:
        """The luckiest reward: the best one seen, at a point that violated no constraint. Not :meth:`recommend`."""
        self._single("best_observed")
        done = [o for o in self.observations if o.values is not None and o.feasible]
        return max(done, key=lambda o: self._setup.signs[0] * (o.value or 0.0), default=None)

    def _told(self, standing: Standing | None = None) -> Log:
        """The observations that count."""
        return self._log[: (standing or self._standing).told]

    def _propose(self, standing: Standing, step: int, index: int | None, pending: Sequence[Point]) -> Proposal:
        """The proposal of a step: the design's at `index`, or the model's where that is None."""
        setup = self._setup
        if index is not None:
            rng = _generator(self._design_entropy, DESIGN)
            return Proposal(np.asarray(setup.space.sobol(rng, max(setup.n_initial, index + 1))[index]))
        problem = setup.problem(self._told(standing), pending)
        rng = _generator(self._entropy, STEP, step)
        learn = partial(self._learn, standing)
        return propose(rng, problem, learn, setup.strategy, setup.space)

    def _point(self, found: Proposal) -> Point:
        """The point that was found: as it was told if it is evaluated again, without rounding."""
        return self.space.from_unit(found.u[None])[0] if found.point is None else dict(found.point)

    def _confirm(self, standing: Standing, step: int, pending: Sequence[Point]) -> Proposal:
        """The evaluated or recommended input to evaluate again; where the model fails, that of the best reward."""
        self._single("confirm")
        rng, waiting = _generator(self._entropy, STEP, step), self.space.to_unit(pending)
        try:
            with one_blas_thread():
                belief, chosen = self._choose("confirm", standing)
                u = second_look(rng, chosen, waiting)
                same = bool((u == chosen.u).all())
                again = chosen.point(self._setup, belief.log) if same else evaluated_at(belief.log, u)
                return Proposal(u, belief.known, point=again)
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            logger.warning("The model failed (%s); the point with the best reward is evaluated again.", error)
            done = [o for o, _ in self._told(standing) if o.values is not None]
            best = self.best_observed or done[-1]
            return Proposal(self.space.to_unit([best.point])[0], fallback=True, point=dict(best.point))

    def _learn(self, standing: Standing, name: str, series: Series) -> Learned:
        """What is known of a number: its chain as the last suggestion left it, some sweeps on.

        The randomness of the sweeps is derived from how much was told, so that it does not matter who asks first, or
        how often; what was found is remembered for the next who asks.
        """
        chain = standing.chains.get(name)
        told, before, learned = self._known.get(name, (-1, None, None))
        if learned is None or told != standing.told or (chain is not before and chain is not learned.chain):
            rng = _generator(self._entropy, CHAIN, standing.told, zlib.crc32(name.encode()))
            learned = self._setup.learner.learn(rng, series, chain)
            self._known[name] = (standing.told, chain, learned)
        return learned

    # --- Recommend ---------------------------------------------------------------------------------------------------

    def recommend(self) -> Recommendation:
        """The point with the best posterior mean of the objective. Asking for it does not change what comes next.

        Raises
        ------
        InvalidInputError
            Before any reward has been told, and with several objectives: see :meth:`tradeoffs`.

        Examples
        --------
        >>> import infgp
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
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
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, -(x - 0.5) ** 2)
        >>> optimizer.best_expected().index in (2, 3)
        True
        """
        self._single("best_expected")
        learned = self.learned()
        done = [o.feasible for o, _ in self._told() if o.values is not None]
        with one_blas_thread():
            return recommending.best_expected(self._setup.strategy.aims([learned])[0], done[: learned.data.y.size])

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
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, -(x - 0.5) ** 2)
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
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
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
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, ["maximize", "minimize"], seed=0)
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
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
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
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
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
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, x)
        >>> optimizer.learned().data.x.shape
        (6, 1)
        """
        standing = self._standing
        problem = self._setup.problem(self._told(standing))
        name, series = list(problem.objectives.items())[self._index(objective)]
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
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, "minimize", seed=0)
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
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> optimizer.tell_many([{"x": 0.2}, {"x": 0.4}, {"x": 0.9}], [1.0, 2.0, None])
        >>> frame = optimizer.to_frame()
        >>> list(frame.columns)
        ['x', 'value', 'mean', 'std', 'off_surface_probability']
        >>> again = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> again.tell_many(frame, frame["value"])
        >>> again.observations == optimizer.observations
        True
        """
        frames.check_pandas()
        standing = self._standing
        log, aims = self._told(standing), []
        with one_blas_thread():
            if any(o.values is not None for o, _ in log):
                aims = self._setup.strategy.aims(self._believe("show", False, standing).objectives)
            return frames.to_frame(self.space, log, aims)

    def _believe(self, purpose: str, constrained: bool = True, standing: Standing | None = None) -> _Belief:
        """What is known after more sweeps, which are not kept."""
        standing = standing or self._standing
        log = self._told(standing)
        problem = self._setup.problem(log)
        if not all(series.y.size for series in problem.objectives.values()):
            raise nothing_known(purpose, len(log))
        rng = _generator(self._entropy, BELIEF, standing.told)

        def learn(name: str, series: Series) -> Learned:
            chain = standing.chains.get(name)
            return self._setup.learner.learn(rng, series, chain, LAST, LAST_STATES, again=True)

        objectives = {name: learn(name, series) for name, series in problem.objectives.items()}
        limits = problem.constraints.items() if constrained else ()
        return _Belief(rng, log, {**objectives, **{name: learn(name, s) for name, s in limits}}, len(objectives))

    def _choose(self, purpose: str, standing: Standing | None = None) -> tuple[_Belief, Chosen]:
        """What is known after more sweeps, and the input that is recommended."""
        belief, strategy = self._believe(purpose, standing=standing), self._setup.strategy
        objective, limits = strategy.aims(belief.objectives)[0], strategy.limits(belief.constraints)
        return belief, recommending.chosen_point(belief.rng, self._setup, objective, limits)

    def _index(self, objective: int) -> int:
        if check_int("objective", objective, 0) >= len(self.directions):
            raise InvalidInputError(f"objective must be below {len(self.directions)}, but got {objective!r}.")
        return int(objective)

    def _single(self, what: str) -> None:
        if len(self.directions) > 1:
            raise InvalidInputError(
                f"{what} is for one objective, but there are {len(self.directions)}; see tradeoffs() and directions."
            )

    # --- Save and load -----------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file, all of it or nothing: a crash on the way leaves the old file.

        Examples
        --------
        >>> import infgp, tempfile, os
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     optimizer.save(os.path.join(folder, "run.json"))
        ...     again = Optimizer.load(os.path.join(folder, "run.json"))
        >>> again.ask() == optimizer.ask()
        True
        """
        saved.write(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Optimizer:
        """The optimizer that :meth:`save` wrote; it goes on as if nothing had happened."""
        return cls.from_json(saved.read(path))

    def to_json(self) -> dict[str, Any]:
        """Everything, in plain JSON types; :meth:`from_json` undoes it."""
        standing = self._standing
        entropy = (self._entropy, self._design_entropy)
        return saved.search_to_json(self._setup, self._told(standing), standing, entropy)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Optimizer:
        """The optimizer that :meth:`to_json` described."""
        with saved.damage_named():
            out = cls(**saved.options_from_json(content))
            out._entropy, out._design_entropy = saved.entropy_from_json(content)
            for told in saved.observations_from_json(content):
                out.tell(**told)
            out._standing = saved.standing_from_json(content, out._setup, out._log)
        return out


def _objectives(value: ObjectiveLike | Sequence[ObjectiveLike], count: int) -> tuple[Objective, ...]:
    """The objective of each direction: one for all, or a list with one for each."""
    if isinstance(value, list):
        if len(value) != count:
            raise InvalidInputError(
                f"objective has {len(value)} entries, but there are {count} directions; give one for each."
            )
        return tuple(map(Objective.parse, value))
    return (Objective.parse(value),) * count


def _reference(value: Sequence[float] | None, count: int) -> tuple[float, ...] | None:
    """A finite number for each of `count` objectives, or None."""
    if value is None:
        return None
    text = isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray)
    try:
        numbers = () if text else tuple(-math.inf if isinstance(v, str | bytes) else float(v) for v in value)
    except (TypeError, ValueError, OverflowError):
        numbers = ()
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise InvalidInputError(
            f"reference_point must be a sequence of {count} finite numbers, one for each direction, or None, but got "
            f"{value!r}."
        )
    return numbers


def _entropy(seed: int | None) -> int:
    entropy = np.random.SeedSequence(None if seed is None else check_int("seed", seed, 0)).entropy
    assert isinstance(entropy, int), "one number goes in, or none, and one comes out"
    return entropy


def _generator(entropy: int, *key: int) -> np.random.Generator:
    """Randomness for one purpose: an interrupted step leaves no trace in the next."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))
