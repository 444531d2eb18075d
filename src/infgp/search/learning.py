"""What a search knows of one number that it learns: an objective or a constraint, with a chain that goes on.

Rewards reach the model standardised, and through a warp where one is learned; what is called *standard* here is in the
model's units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model
from infgp.core.options import ModelOptions
from infgp.core.partition import IntArray
from infgp.core.priors import Gamma, LogNormal, Normal, Priors
from infgp.core.rewardmap import RewardMap, WarpedUnits
from infgp.core.scaling import RewardScale
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.core.warp import Warps, grid
from infgp.errors import InvalidInputError, NumericalError
from infgp.predict.functionals import Aim
from infgp.predict.law import Law
from infgp.predict.lawmixture import LawMixture, mixed
from infgp.predict.mixture import predictive
from infgp.predict.objectives import typical
from infgp.sample.blocked import compilable, run_blocked
from infgp.sample.chain import ONE_SURFACE_SWEEP, Schedule, cooling, run_collapsed, sweep
from infgp.sample.large import completed, part, selected_size
from infgp.sample.start import in_warps
from infgp.search import large

#: Largest distance of a reward from the median, in half 16–84 % ranges. A reward that is farther is set to this
#: distance.
FARTHEST = 1e6
#: Largest reward that arithmetic can bear, in the user's units.
LARGEST = 1e150
#: Largest factor by which the unit of the rewards may change; beyond it the chain starts afresh.
UNIT_JUMP = 1e6


@dataclass(frozen=True)
class Effort:
    """How many sweeps a chain makes: work / n² for n rewards, since a sweep costs about n², but `least` to `most`.

    Examples
    --------
    >>> Effort(work=160_000, least=2, most=20).sweeps(100)
    16
    """

    work: int
    least: int
    most: int

    def sweeps(self, n: int) -> int:
        """Number of sweeps for n rewards."""
        return min(max(self.work // n**2, self.least), self.most)


#: Sweeps of the warm-up of a chain that begins.
FIRST = Effort(work=2_000_000, least=10, most=200)
#: Sweeps of the warm-up of a chain that begins on selected rewards, from the state of a short chain.
FIRST_SELECTED = 60
#: Sweeps after new rewards, before the next point is chosen.
NEXT = Effort(work=160_000, least=2, most=20)
#: Sweeps before a recommendation.
LAST = Effort(work=500_000, least=4, most=60)
#: Sweeps of the truncated sampler, before the next point and before a recommendation: the paper's B.
TRUNCATED_SWEEPS = 500
#: Number of states kept of the sweeps before the next point is chosen.
NEXT_STATES = 5
#: Number of states kept of the sweeps before a recommendation.
LAST_STATES = 12


@dataclass(frozen=True, eq=False)
class Series:
    """The values told of one number that is learned: larger is better for an objective, smaller for a constraint.

    Attributes
    ----------
    x, y, noise : arrays, shapes (n, d), (n,), (n,)
        Inputs in the unit cube, values, and the known parts of their noise variances.
    failed : array, shape (k, d)
        Inputs whose evaluation failed.
    bounded : bool
        Whether it is a constraint, of which no value is better than another as long as it holds.
    aside : float or None
        A number that stands for failed evaluations, in the user's units: it is not among the values.
    """

    x: FloatArray
    y: FloatArray
    noise: FloatArray
    failed: FloatArray
    bounded: bool = False
    aside: float | None = None


@dataclass(frozen=True, eq=False)
class WarmChain:
    """States of a chain for the first `n` values of a series, in units of `scale`, that choose from some warps.

    Of many values, it is a chain on the selected ones in `rows`; None for all. What the states then make of the others
    is drawn with randomness from `seed`. A series from which another number than `aside` is left out has other values.
    """

    states: tuple[State, ...]
    n: int
    scale: RewardScale
    warps: Warps = field(default_factory=Warps)
    rows: IntArray | None = None
    seed: int = 0
    aside: float | None = None


@dataclass(frozen=True)
class Learner:
    """How a number is learned.

    Attributes
    ----------
    model, known_noise_model : Model
        Without and with known noise variances.
    warp : bool
        Whether a warp is learned.
    truncated : bool
        Whether the paper's sampler is used: `TRUNCATED_SWEEPS` sweeps, of which the last state is taken to find the
        next point.
    exact_up_to : int or None
        Number of values up to which the chain runs on all of them; None for any number.
    """

    model: Model
    known_noise_model: Model
    warp: bool = False
    truncated: bool = False
    exact_up_to: int | None = None

    @classmethod
    def of(cls, options: ModelOptions, d: int, warp: bool = False) -> Learner:
        """For d inputs; the priors are those of searches unless the options bring their own.

        Those of the truncated sampler are the priors of :class:`infgp.Priors`: the paper's model has a trend.
        """
        truncated = options.sampler == "truncated"
        priors = Priors() if truncated else search_priors(d)
        models = options.model(d, priors), options.model(d, priors, noise_known=True)
        return cls(*models, warp, truncated, None if truncated else options.exact_up_to)

    def learn(
        self,
        rng: np.random.Generator,
        series: Series,
        chain: WarmChain | None,
        effort: Effort = NEXT,
        keep: int = NEXT_STATES,
        again: bool = False,
    ) -> Learned:
        """The chain some sweeps on, with the values that it has not seen yet.

        Parameters
        ----------
        rng : numpy.random.Generator
        series : Series
            It has at least one value. The first `chain.n` values are those that the chain has seen.
        chain : WarmChain or None
            None for a new chain, which is warmed up first. So is one in place of a chain on other values.
        effort : Effort
        keep : int
            Number of states to keep, evenly spaced.
        again : bool
            Whether a chain that has seen all values goes on, too; it stays as it is otherwise.

        Examples
        --------
        >>> import numpy as np
        >>> x, none = np.linspace(0, 1, 6)[:, None], np.empty((0, 1))
        >>> learner = Learner.of(ModelOptions(), d=1)
        >>> learned = learner.learn(np.random.default_rng(0), Series(x, x[:, 0], np.zeros(6), none), None)
        >>> learned.chain.n, len(learned.chain.states)
        (6, 5)
        """
        chain = None if chain is None or chain.aside != series.aside else chain
        n, known = series.y.size, bool(series.noise.any())
        model = self.known_noise_model if known else self.model
        tempered = self.warp and not known  # known variances are of rewards as they are
        if chain is not None and chain.n == n and not again:
            return Learned(series, chain, replace(model, warps=chain.warps), tempered)
        scale = RewardScale.fit(series.y)
        data = every = standard_data(series, scale)
        if tempered:
            model = replace(model, warps=grid(data.y, resolve_good=not series.bounded))
        fresh = chain is None or not 1.0 / UNIT_JUMP < chain.scale.scale / scale.scale < UNIT_JUMP
        start: str | State = "one"
        if chain is not None and not fresh:
            start = in_warps(chain.states[-1], chain.scale, scale, chain.warps, model.warps)
        if self.truncated:
            return self._truncated(rng, series, data, scale, start, keep if again else 1)
        rows, seed = None, 0
        try:
            if self.exact_up_to is not None and n > self.exact_up_to:
                rows, start = self._selected(rng, data, model, chain, start, not series.bounded)
                data, seed = part(data, rows), int(rng.integers(2**53))
            sweeps, heat = effort.sweeps(data.y.size), np.empty(0)
            kept = np.unique(np.linspace(sweeps - 1, 0, min(keep, sweeps)).round().astype(int)).tolist()
            if fresh:
                heat = cooling(FIRST.sweeps(n)) if rows is None else np.zeros(FIRST_SELECTED)
            moves = ONE_SURFACE_SWEEP if model.one_surface else (sweep,)
            draws = run_collapsed(rng, data, model, Schedule(heat, sweeps, kept, traced=False), start, moves)
        except NumericalError:
            if fresh:
                raise
            return self.learn(rng, series, None, effort, keep)  # where the chain was may no longer be a place to start
        learned = Learned(
            series, WarmChain(draws.states, n, scale, model.warps, rows, seed, series.aside), model, tempered
        )
        vars(learned).update(every=every)  # with what has been found of the inputs
        return learned

    def _selected(
        self,
        rng: np.random.Generator,
        data: Data,
        model: Model,
        chain: WarmChain | None,
        start: str | State,
        ranked: bool,
    ) -> tuple[IntArray, State]:
        """Rows of the data that a chain is to run on, and where it starts."""
        assert self.exact_up_to is not None, "all rows are selected otherwise"
        size = selected_size(self.exact_up_to)
        if chain is None or not isinstance(start, State):
            return large.begin(rng, data, model, size, ranked)
        known = np.arange(chain.n) if chain.rows is None else chain.rows
        return large.go_on(rng, start, known, chain.n, data, model, size, ranked)

    def _truncated(
        self, rng: np.random.Generator, series: Series, data: Data, scale: RewardScale, start: str | State, keep: int
    ) -> Learned:
        """The paper's chain some sweeps on; from one surface where it cannot go on from where it was."""
        try:
            states = run_blocked(rng, data, self.model, start, TRUNCATED_SWEEPS, keep)
        except NumericalError:
            if start == "one":
                raise
            states = run_blocked(rng, data, self.model, "one", TRUNCATED_SWEEPS, keep)
        return Learned(series, WarmChain(states, data.y.size, scale, aside=series.aside), self.model)


@dataclass(frozen=True, eq=False)
class Learned:
    """A number as it is known: its values, a chain that has seen every value, and the maps between units.

    Objectives are compared in tempered units (:meth:`infgp.core.rewardmap.WarpedUnits.compared`) where warps are
    learned, and in those of the model otherwise.
    """

    series: Series
    chain: WarmChain
    model: Model
    tempered: bool = False

    @cached_property
    def every(self) -> Data:
        """All inputs and standard values."""
        return standard_data(self.series, self.chain.scale)

    @cached_property
    def data(self) -> Data:
        """Inputs and standard values that the states of the chain have labels for: of many values, the selected."""
        return self.every if self.chain.rows is None else part(self.every, self.chain.rows)

    @cached_property
    def rows(self) -> IntArray:
        """Places of the data among the values of the series, ascending."""
        return np.arange(self.series.y.size) if self.chain.rows is None else self.chain.rows

    @cached_property
    def draws(self) -> tuple[Conditioned, ...]:
        """The states of the chain, each with its surfaces conditioned on all values."""
        if self.chain.rows is not None:
            return completed(self.chain.seed, self.chain.states, self.every, self.model, self.chain.rows)
        return tuple(Conditioned(state, self.data.seen(state, self.model), self.model) for state in self.chain.states)

    @cached_property
    def units(self) -> WarpedUnits:
        """The units of the series, whose values states see through warps of their own."""
        return WarpedUnits.of(self.chain.scale, self.series.y)

    @cached_property
    def rewards(self) -> RewardMap:
        """From the units of the last state to those of the series."""
        return self._map(self.chain.states[-1].warp)

    def aimed(self, aim: Aim) -> Aim:
        """The aim with the units in which points are compared: tempered ones where warps are learned."""
        if not self.tempered:
            return aim
        last = self.model.warps.maps[self.chain.states[-1].warp]
        return replace(aim, common=self.units.compared(last, typical(self.draws[-1], aim)))

    def _map(self, warp: int) -> RewardMap:
        """From the units of states with this warp to those of the series."""
        return self.units.through(self.model.warps.maps[warp])

    def law(self, at: FloatArray, sign: float) -> Law | LawMixture:
        """The law of a further value at the rows of `at`; `sign` is −1 for values that the user minimises.

        By default the chances of the surfaces may change with the input (:meth:`infgp.core.model.Model.for_laws`).
        """
        model, of_warp = self.model.for_laws(), [given.state.warp for given in self.draws]
        laws = {}
        for warp in dict.fromkeys(of_warp):
            draws = [replace(given, model=model) for given in self.draws if given.state.warp == warp]
            laws[warp] = Law(predictive(draws, at), self._map(warp), sign)
        return mixed(list(laws.values()), [of_warp.count(warp) for warp in laws])


def check_sampler(options: ModelOptions, warp: str | None, d: int) -> None:
    """Raise unless a search over d inputs can use the sampler with the given options.

    Examples
    --------
    >>> check_sampler(ModelOptions(sampler="truncated", ard=False), "auto", d=2)
    """
    if options.sampler != "truncated":
        return
    if options.ard and d > 1:
        raise InvalidInputError(
            "The truncated sampler of a search has one length-scale for all inputs; set ard=False, or use "
            "sampler='collapsed'."
        )
    if options.surfaces is not None:
        raise InvalidInputError(
            "surfaces=1 is for sampler='collapsed'; the truncated sampler of a search finds the number of surfaces."
        )
    if warp == "learned":
        raise InvalidInputError("warp='learned' is for sampler='collapsed'; the truncated sampler knows no warps.")
    if options.priors is not None and not compilable(options.priors.resolve(d)):
        raise InvalidInputError(
            "The truncated sampler of a search learns the trend, both variances and the concentration; of the priors, "
            "only that of the length-scale may be Fixed."
        )


def standard_data(series: Series, scale: RewardScale) -> Data:
    """The data of a model, from a series in the user's units."""
    return Data(series.x, scale.to_standard(series.y), scale.variances_to_standard(series.noise))


def bounded(y: FloatArray) -> FloatArray:
    """Values that arithmetic can bear: those within `LARGEST` and `FARTHEST` stay as they are, others are clipped.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(bounded(np.append(np.arange(10.0), 1e300))[-1]))
    3400005
    """
    if not y.size:
        return y
    y = np.clip(y, -LARGEST, LARGEST)
    low, middle, high = np.percentile(y, (16.0, 50.0, 84.0))
    reach = FARTHEST * (high - low) / 2.0
    return np.clip(y, middle - reach, middle + reach) if reach > 0.0 else y


def search_priors(d: int) -> Priors:
    """Priors for optimization: no linear trend, length-scales of every size, few surfaces.

    The priors of :class:`infgp.InfiniteGP` cost regret in a search. A trend points to the corners of the cube, and so
    do very long length-scales before much is known; and it should take strong evidence before good rewards are held to
    be noise.

    Examples
    --------
    >>> search_priors(2).lengthscale.scale
    1.0
    """
    return Priors(
        beta=Normal(0.0, np.r_[1.0, np.full(d, 1e-3)]),
        lengthscale=LogNormal(loc=math.log(0.3 * math.sqrt(d)), scale=1.0),
        nu=Gamma(1.0, 200.0),
    )
