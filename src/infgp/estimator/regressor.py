"""`InfiniteGP`: the ∞-GP as a scikit-learn regressor that knows the whole reward distribution."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from infgp.arguments import answers_names
from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.core.model import Data, Model
from infgp.core.options import EXACT_UP_TO, ModelOptions, check_warp
from infgp.core.partition import IntArray
from infgp.core.priors import Priors
from infgp.core.scaling import InputScale, RewardScale, Units, check_variances
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.core.warp import grid
from infgp.errors import ConvergenceWarning, InvalidInputError, check_choice, check_int
from infgp.estimator.predictions import Predictions, generator
from infgp.habits import REGRESSOR_ARGUMENTS
from infgp.progress import progress_bar
from infgp.sample.chain import HEAT, Draws, Schedule, cooling, run_collapsed, run_truncated
from infgp.sample.large import completed, first_guess, part, select, selected_size
from infgp.sample.start import STARTS, in_units
from infgp.sample.threads import Ticks, side_by_side
from infgp.sample.truncated import grid_factors

#: Largest number of states that take in the observations that were not selected, where there are many.
MOST_COMPLETED = 20


class InfiniteGP(Predictions):
    """Infinite mixture of Gaussian-process surfaces: regression with a learned, input-dependent reward distribution.

    Inputs and rewards may be in any units. Predictions are of the reward itself, noise included, averaged over
    posterior draws; nothing assumes that the noise is Gaussian.

    Parameters
    ----------
    kernel : {"se", "matern52", "matern32", "learned", "auto"}, default="se"
        Correlation of the surfaces: squared exponential, Matérn with smoothness 5/2 or 3/2, or which of the three is
        learned. "auto" is "learned", but "se" for an ordinary GP and with the truncated sampler.
    ard : bool, default=True
        A length-scale for each input, or one for all.
    sampler : {"collapsed", "truncated"}, default="collapsed"
        ``"collapsed"`` integrates the surfaces out; it is exact and finds the same answer from any start.
        ``"truncated"`` is the paper's blocked Gibbs sampler. With several inputs and ``ard=True`` it plugs in
        conditional maximum-likelihood length-scales (empirical Bayes, re-estimated every 10 sweeps of the warm-up,
        fixed afterwards); otherwise it samples the length-scale from a grid.
    surfaces : {None, 1}, default=None
        None for any number of surfaces; 1 for an ordinary GP with the same priors.
    regions : bool, default=True
        Whether surfaces may belong to a place (:mod:`infgp.core.places`) and have length-scales of their own, 4 or 16
        times as short as the shared ones: landscapes that are rough here and smooth there. A surface that belongs to a
        place is met near its members, and nearest neighbours are likely to share it; modes of the noise and outliers
        are met everywhere alike. Surfaces of few members may also be flat: a constant with noise of its own. False is
        the paper's model, and the only one that the truncated sampler knows.
    surface_scales : {"own", "shared"}, default="own"
        With ``"own"`` every surface has a scale of its own that multiplies σ² and τ²: surfaces are Student-t processes
        with four degrees of freedom, and one gross outlier does not inflate them all. ``"shared"`` is the paper's
        model, the only one that the truncated sampler knows, and the one used where noise variances are given: own
        scales would multiply the given variances too, which then would not be the variances of the noise.
    n_warmup : int, default=250
        Sweeps of each chain before the first kept draw.
    n_samples : int, default=60
        Draws kept from each chain.
    thin : int, default=2
        Sweeps for each kept draw.
    n_chains : int, default=2
        Independent chains. More than one is needed to see whether they agree.
    init : {"spread", "one", "random", "alone"} or Draws, default="spread"
        Start of the chains: all observations on one surface, at random on eight, each on its own, or ("spread") chains
        taking turns at the three, so that R-hat shows whether the answer depends on the start. An entry of ``chains_``
        of an earlier fit goes on from its last state, with further observations at the end of X and y.
    truncation : int or None, default=None
        Largest number of surfaces of the truncated sampler; None chooses it from the data size and the concentration.
    grid_size : int, default=20
        Length-scales on the truncated sampler's grid.
    warm_start : bool, default=False
        When fitting again to the same data with more of it at the end, go on with the chains as they are: a few tens of
        sweeps of warm-up are then enough. Other data starts afresh.
    odds : {"kriged", "smooth", "constant"}, default="kriged"
        Whether the chances of the surfaces may change with the input (:mod:`infgp.core.odds`): in laws of further
        rewards, given surfaces that were learned with constant chances; in all that is learned; or, as in the paper,
        not at all.
    warp : {"learned", None}, default=None
        Whether rewards reach the surfaces through a map that is learned with them (:mod:`infgp.core.warp`), for rewards
        that span decades, or whose noise grows with them. The identity is among the maps and has half of the prior; it
        is the only one where rewards are discrete, or where noise variances are given. A reward that is farther from
        the median than three times the farthest one told counts in means as one at this distance, as in :class:`Law`.
        With the collapsed sampler only.
    exact_up_to : int or None, default=1000
        Number of observations up to which the posterior is drawn from exactly. With more, the chains run on half as
        many selected ones, and the surfaces of at most 20 of their states take in all others: the cost then grows in
        proportion to the number of observations (docs/large_n.md). None: always exact. With the truncated sampler it
        always is.
    priors : Priors or None, default=None
        Priors in standardised units; see :class:`infgp.Priors`.
    progress : bool, default=False
        Show a progress bar (needs the extra ``progress``).
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None, default=None
        Source of all randomness in ``fit``. The same int gives the same numbers.

    Attributes
    ----------
    chains_ : list of Draws
        The kept draws and their traces.
    diagnostics_ : Diagnosis
        R-hat and effective sample size of label-free summaries, and acceptance rates of the proposals.
    off_surface_probability_ : array, shape (n_samples,)
        For each training point, the probability that it does not lie on the dominant surface: an outlier, or another
        mode of the reward.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = rng.random((30, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=30)
    >>> y[4] += 25.0
    >>> model = InfiniteGP(random_state=0).fit(X, y)
    >>> bool(model.off_surface_probability_[4] > 0.9)
    True
    >>> model.predict_quantiles(X[:2], [0.1, 0.5, 0.9]).shape
    (2, 3)
    """

    @answers_names("infgp.InfiniteGP", REGRESSOR_ARGUMENTS)
    def __init__(
        self,
        kernel: str = "se",
        *,
        ard: bool = True,
        sampler: str = "collapsed",
        surfaces: int | None = None,
        regions: bool = True,
        surface_scales: str = "own",
        odds: str = "kriged",
        warp: str | None = None,
        exact_up_to: int | None = EXACT_UP_TO,
        n_warmup: int = 250,
        n_samples: int = 60,
        thin: int = 2,
        n_chains: int = 2,
        init: str | Draws = "spread",
        truncation: int | None = None,
        grid_size: int = 20,
        warm_start: bool = False,
        priors: Priors | None = None,
        progress: bool = False,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.ard = ard
        self.sampler = sampler
        self.surfaces = surfaces
        self.regions = regions
        self.surface_scales = surface_scales
        self.odds = odds
        self.warp = warp
        self.exact_up_to = exact_up_to
        self.n_warmup = n_warmup
        self.n_samples = n_samples
        self.thin = thin
        self.n_chains = n_chains
        self.init = init
        self.truncation = truncation
        self.grid_size = grid_size
        self.warm_start = warm_start
        self.priors = priors
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, noise_variance: ArrayLike | None = None) -> Self:
        """Draw from the posterior given the data.

        Parameters
        ----------
        X : array-like, shape (n, d)
        y : array-like, shape (n,)
            Rewards. Replicated inputs are welcome: they show the noise.
        noise_variance : array-like, shape (n,), optional
            Known noise variance of each reward, in squared units of y, on top of the noise that is learned; 0 where
            none is known. Predictions are of rewards without such extra noise. With the collapsed sampler only.

        Returns
        -------
        self

        Raises
        ------
        InvalidInputError or ValueError
            For unusable options or data; a fitted estimator then stays as it was.

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
        >>> model.fit([[0.0], [1.0]], [1.0, 2.0]).n_features_in_
        1
        >>> _ = model.fit([[0.0], [1.0]], [1.0, 2.0], noise_variance=[0.1, 0.4])
        """
        self._check_options()
        probe = clone(self)
        x, rewards = validate_data(probe, X, y, y_numeric=True, dtype=np.float64)
        rewards = np.asarray(rewards, dtype=np.float64)
        input_scale, reward_scale = InputScale.fit(x), RewardScale.fit(rewards)
        noise = check_variances(noise_variance, rewards.size)
        if noise.any() and self.sampler == "truncated":
            raise InvalidInputError('noise_variance is for sampler="collapsed"; the truncated sampler knows one noise.')
        known = reward_scale.variances_to_standard(noise)
        data = Data(input_scale.to_unit(x), reward_scale.to_standard(rewards), known)
        model, units = self._model(x.shape[1], noise_known=bool(noise.any())), Units(input_scale, reward_scale)
        if self.warp == "learned" and not noise.any():
            model = replace(model, warps=grid(data.y))

        sweeps = self.n_chains * (self.n_warmup + self.n_samples * self.thin)
        large = self.sampler == "collapsed" and self.exact_up_to is not None and rewards.size > self.exact_up_to
        with one_blas_thread(), progress_bar(self.progress, sweeps, "sweep") as on_sweep:
            rng, ticks = generator(self.random_state), Ticks(on_sweep)
            rows = self._selected(rng, data, model) if large else None
            learned = data if rows is None else part(data, rows)
            run = self._runner(learned, model, ticks)
            starts = self._starts(x, rewards, noise, units, model, large)
            runs = [partial(run, child, start) for child, start in zip(rng.spawn(self.n_chains), starts, strict=True)]
            chains = [replace(chain, units=units) for chain in side_by_side(runs, learned.y.size, ticks)]
            draws = self._conditioned(rng, chains, data, model, rows)
            if large:
                chains = [replace(chain, units=None) for chain in chains]  # a chain for other rows cannot start there
            self._keep(probe, x, rewards, noise, data, model, units, chains, draws)
        self._warn()
        return self

    @staticmethod
    def _conditioned(
        rng: np.random.Generator, chains: Sequence[Draws], data: Data, model: Model, rows: IntArray | None
    ) -> list[Conditioned]:
        """The kept states with the data: all of them or, where rows were selected, some with all others taken in."""
        states = [state for chain in chains for state in chain.states]
        if rows is None:
            return [Conditioned(state, data.seen(state, model), model) for state in states]
        some = np.unique(np.linspace(0, len(states) - 1, MOST_COMPLETED).astype(int))
        return list(completed(int(rng.integers(2**53)), [states[k] for k in some], data, model, rows))

    def _selected(self, rng: np.random.Generator, data: Data, model: Model) -> IntArray:
        """Rows of the data that chains run on, where there are many: among them rows off the main surface."""
        if isinstance(self.init, Draws):
            raise InvalidInputError(
                f"init is a start ('spread', ...) where there are more than exact_up_to={self.exact_up_to} "
                "observations: chains then run on other rows than those of an earlier fit."
            )
        assert self.exact_up_to is not None, "all rows are selected otherwise"
        size = selected_size(self.exact_up_to)
        return select(rng, data.x, size, first_guess(rng, data, model, max(size // 2, 1)).off_main())

    def _runner(
        self, data: Data, model: Model, on_sweep: Callable[[], object]
    ) -> Callable[[np.random.Generator, str | State], Draws]:
        """The chosen sampler with all but the generator and the start filled in."""

        def schedule(start: str | State) -> Schedule:
            heat = cooling(self.n_warmup, 0.0 if isinstance(start, State) else HEAT)
            return Schedule.thinned(heat, self.n_samples, self.thin)

        if self.sampler == "collapsed":
            return lambda rng, start: run_collapsed(rng, data, model, schedule(start), start, on_sweep=on_sweep)
        factors, most = grid_factors(data, model, self.grid_size), 1 if self.surfaces == 1 else self.truncation
        return lambda rng, start: run_truncated(rng, data, model, schedule(start), start, most, factors, on_sweep)

    @property
    def _options(self) -> ModelOptions:
        return ModelOptions(
            self.kernel,
            self.ard,
            self.surfaces,
            self.regions,
            self.surface_scales,
            self.odds,
            self.priors,
            self.sampler,
            self.exact_up_to,
        )

    def _check_options(self) -> None:
        self._options.check()
        check_warp(self.warp)
        if self.warp is not None and self.sampler == "truncated":
            raise InvalidInputError('warp="learned" is for sampler="collapsed"; the truncated sampler knows no warps.')
        if self.truncation is not None:
            check_int("truncation", self.truncation, 1)
            if self.sampler == "collapsed":
                raise InvalidInputError(
                    f"The collapsed sampler is not truncated, but truncation={self.truncation!r} was given; leave it "
                    'out, use surfaces=1 for an ordinary GP, or sampler="truncated".'
                )
        check_int("n_warmup", self.n_warmup, 0)
        for name in ("n_samples", "thin", "n_chains", "grid_size"):
            check_int(name, getattr(self, name), 1)
        if not isinstance(self.init, Draws):
            check_choice("init", self.init, ("spread", *STARTS))
        elif self.init.units is None:
            raise InvalidInputError("init must be a start or an entry of chains_ of a fitted InfiniteGP.")

    def _model(self, n_features: int, noise_known: bool) -> Model:
        return self._options.model(n_features, Priors(), noise_known, self.grid_size)

    def _starts(
        self, x: FloatArray, y: FloatArray, noise: FloatArray, units: Units, model: Model, large: bool
    ) -> list[str | State]:
        """Where each chain begins; earlier states, unless they are for other rows, in the units of the data at hand."""

        def last(draws: Draws) -> State:
            assert draws.units is not None, "fit sets them, and _check_options asks for them"
            state = draws.states[-1]
            same_inputs = state.phi.shape[1] == x.shape[1]  # otherwise `start_state` says what is wrong
            return in_units(state, draws.units, units, model.ard, draws.warps, model.warps) if same_inputs else state

        if self.warm_start and not large and self._continues(x, y, noise):
            return [last(self.chains_[k % len(self.chains_)]) for k in range(self.n_chains)]
        if isinstance(self.init, Draws):
            return [last(self.init)] * self.n_chains
        if self.surfaces == 1 or self.truncation == 1:
            return ["one"] * self.n_chains
        return [STARTS[k % len(STARTS)] if self.init == "spread" else self.init for k in range(self.n_chains)]

    def _continues(self, x: FloatArray, y: FloatArray, noise: FloatArray) -> bool:
        """Whether the data begins with that of the last fit."""
        if not hasattr(self, "chains_") or self._completed is not None or self._x.shape[1] != x.shape[1]:
            return False
        n, pairs = self._y.size, ((self._x, x), (self._y, y), (self._noise, noise))
        return n <= y.size and all(np.array_equal(old, new[:n]) for old, new in pairs)

    def _warn(self) -> None:
        problems = self.diagnostics_.problems() if self.n_chains > 1 else []
        if problems:
            warnings.warn(
                f"The chains disagree or are too short ({'; '.join(problems)}). Raise n_warmup (now {self.n_warmup}) "
                f"and n_samples or thin (now {self.n_samples}, {self.thin}); if that does not help, the posterior has "
                "several modes between which the sampler does not move: treat the predictions with care.",
                ConvergenceWarning,
                stacklevel=3,
            )
