"""`InfiniteGP`: the ∞-GP as a scikit-learn regressor that knows the whole reward distribution."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from infgp.core.absorb import Completed
from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.core.model import Data, Model, State
from infgp.core.options import EXACT_UP_TO, ModelOptions, check_warp
from infgp.core.partition import IntArray
from infgp.core.priors import Priors
from infgp.core.rewardmap import RewardMap, reward_map
from infgp.core.scaling import InputScale, RewardScale, Units, check_variances
from infgp.core.surface import Conditioned
from infgp.core.warp import grid
from infgp.errors import ConvergenceWarning, InvalidInputError, check_choice, check_int, require
from infgp.predict import mixture
from infgp.predict.law import Law
from infgp.predict.lawmixture import LawMixture, mixed
from infgp.predict.leftout import all_but_one, log_densities
from infgp.progress import progress_bar
from infgp.sample.chain import HEAT, Draws, Schedule, cooling, run_collapsed, run_truncated
from infgp.sample.diagnostics import diagnose
from infgp.sample.large import completed, first_guess, part, select, selected_size
from infgp.sample.start import STARTS, in_units
from infgp.sample.threads import Ticks, side_by_side
from infgp.sample.truncated import grid_factors

#: Least variance of the dominant surface where it is mapped to the user's units, in squared standard units.
LEAST_VARIANCE = 1e-24
#: Largest number of states that take in the observations that were not selected, where there are many.
MOST_COMPLETED = 20
#: Largest number of predictive components (points × draws × surfaces) that are in memory at once.
CHUNK = 2_000_000


class InfiniteGP(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Infinite mixture of Gaussian-process surfaces: regression with a learned, input-dependent reward distribution.

    Inputs and rewards may be in any units. Predictions are of the reward itself, noise included, averaged over
    posterior draws; nothing assumes that the noise is Gaussian.

    Parameters
    ----------
    kernel : {"se", "matern52"}, default="se"
        Correlation of the surfaces: squared exponential or Matérn with smoothness 5/2.
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

    n_features_in_: int
    feature_names_in_: Any

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

    # --- Fitting -----------------------------------------------------------------------------------------------------

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
            rng, ticks = _generator(self.random_state), Ticks(on_sweep)
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

    def _keep(
        self,
        probe: InfiniteGP,
        x: FloatArray,
        y: FloatArray,
        noise: FloatArray,
        data: Data,
        model: Model,
        units: Units,
        chains: list[Draws],
        draws: Sequence[Conditioned],
    ) -> None:
        """Set everything that `fit` learns, all at once, after everything that can fail."""
        off_surface = mixture.off_surface_probability(draws)
        traces = {name: np.stack([c.traces[name] for c in chains]) for name in chains[0].traces}
        diagnosis = diagnose(traces, [c.deeds for c in chains])
        self.n_features_in_ = probe.n_features_in_
        if hasattr(probe, "feature_names_in_"):
            self.feature_names_in_ = probe.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._x, self._y, self._noise, self._data, self._model_ = x, y, noise, data, model
        self._input_scale, self._reward_scale = units.inputs, units.rewards
        self.chains_, self._states = chains, [given.state for given in draws]
        self._completed = draws if isinstance(draws[0], Completed) else None
        self.off_surface_probability_, self.diagnostics_ = off_surface, diagnosis

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

    # --- Predicting --------------------------------------------------------------------------------------------------

    def predict(self, X: ArrayLike, return_std: bool = False) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Expected reward at X and, on request, the standard deviation of a reward there (noise included).

        Under heavy tails both may be ruled by rare draws; :meth:`predict_main` is the robust location.

        Parameters
        ----------
        X : array-like, shape (m, d)
        return_std : bool, default=False

        Returns
        -------
        mean : array, shape (m,)
        std : array, shape (m,)
            Only with ``return_std=True``.

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
        >>> mean, std = model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).predict([[0.2]], return_std=True)
        >>> mean.shape, bool(std[0] > 0)
        ((1,), True)
        """
        parts = self._in_chunks(X, lambda law, rows: np.column_stack((law.mean, law.std)))
        mean, std = parts.T
        return (mean, std) if return_std else mean

    def predict_main(self, X: ArrayLike, return_std: bool = False) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Dominant surface at X, a robust location of the reward, and on request its standard deviation (no noise).

        Parameters
        ----------
        X : array-like, shape (m, d)
        return_std : bool, default=False

        Returns
        -------
        mean : array, shape (m,)
        std : array, shape (m,)
            Uncertainty of the surface itself. Only with ``return_std=True``.

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
        >>> model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).predict_main([[0.2], [0.4]]).shape
        (2,)
        """
        x = self._points(X)

        def surface(draws: Iterator[Conditioned]) -> mixture.Mixture:
            mix = mixture.main_mixture(draws, x)
            return replace(mix, variances=np.maximum(mix.variances, LEAST_VARIANCE))

        with one_blas_thread():
            law = self._law(surface)
            return (law.mean, law.std) if return_std else law.mean

    def law(self, X: ArrayLike) -> Law | LawMixture:
        """The law of a further reward at each row of X, noise included: means, quantiles, probabilities, samples.

        It holds points × posterior draws × surfaces Gaussian components in memory; the methods ``predict…`` do not.

        Parameters
        ----------
        X : array-like, shape (m, d)

        Returns
        -------
        Law, or LawMixture, which has the same methods, where posterior states have different warps

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
        >>> law = model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).law([[0.2], [0.8]])
        >>> law.mean.shape, bool((law.cvar(0.1) < law.median).all())
        ((2,), True)
        """
        x = self._points(X)
        with one_blas_thread():
            return self._law(lambda draws: mixture.predictive(draws, x))

    def predict_density(self, X: ArrayLike, y: ArrayLike) -> FloatArray:
        """Predictive density of reward y[i] at X[i].

        Parameters
        ----------
        X : array-like, shape (m, d)
        y : array-like, shape (m,) or (m, k), or a number
            With k columns, k densities at each point.

        Returns
        -------
        array of the shape of y, or (m,)

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
        >>> bool(model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).predict_density([[0.2]], [1.4])[0] > 0)
        True
        """
        return self._pointwise(X, y, lambda law, rewards: law.density(rewards))

    def predict_cdf(self, X: ArrayLike, y: ArrayLike) -> FloatArray:
        """Predictive probability of a reward of at most y[i] at X[i].

        Parameters
        ----------
        X : array-like, shape (m, d)
        y : array-like, shape (m,) or (m, k), or a number

        Returns
        -------
        array of the shape of y, or (m,)

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
        >>> model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).predict_cdf([[0.2]], [[-1e9, 1e9]]).round(3)
        array([[0., 1.]])
        """
        return self._pointwise(X, y, lambda law, rewards: law.cdf(rewards))

    def predict_quantiles(self, X: ArrayLike, q: ArrayLike) -> FloatArray:
        """Quantiles of the predictive distribution.

        Parameters
        ----------
        X : array-like, shape (m, d)
        q : float or array-like, shape (k,)
            Levels strictly between 0 and 1.

        Returns
        -------
        array, shape (m, k)

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
        >>> low, high = model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).predict_quantiles([[0.2]], [0.1, 0.9])[0]
        >>> bool(low < high)
        True
        """
        levels = np.atleast_1d(np.asarray(q, dtype=np.float64))
        if levels.ndim != 1 or levels.size == 0 or not np.all((levels > 0.0) & (levels < 1.0)):
            raise InvalidInputError(f"q must be one or more levels strictly between 0 and 1, but got {q!r}.")
        return self._in_chunks(X, lambda law, rows: law.quantile(levels))

    def sample_y(
        self,
        X: ArrayLike,
        n_samples: int = 1,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    ) -> FloatArray:
        """Joint draws of further rewards at X: each column is one posterior state, its surfaces and fresh noise.

        Parameters
        ----------
        X : array-like, shape (m, d)
        n_samples : int, default=1
        random_state : int, numpy.random.Generator, numpy.random.RandomState or None, default=0

        Returns
        -------
        array, shape (m, n_samples)

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
        >>> model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).sample_y([[0.2], [0.3]], n_samples=5).shape
        (2, 5)
        """
        check_int("n_samples", n_samples, 1)
        x, rng = self._points(X), _generator(random_state)
        with one_blas_thread():
            known, draws = list(self._draws()), []
            for _ in range(n_samples):
                given = known[int(rng.integers(len(known)))]
                rewards = self._map(given.state.warp)
                z = mixture.sample_given(rng, given, x)
                draws.append(rewards.from_standard(np.clip(z, *rewards.ends)))
        return np.column_stack(draws)

    def to_arviz(self, log_likelihood: bool = True) -> Any:
        """The chains as ArviZ data (needs the extra ``arviz``), for its summaries, plots, diagnostics and comparisons.

        Works with ArviZ 0.18 or newer, and with ArviZ 1.

        Parameters
        ----------
        log_likelihood : bool, default=True
            Whether to compute the group of that name, which ``arviz.loo`` needs. It takes time in proportion to the
            number of draws and to the square of the number of observations.

        Returns
        -------
        arviz.InferenceData, or xarray.DataTree with ArviZ 1
            Groups ``posterior`` with the traces of label-free summaries, ``beta`` and ``lengthscale`` (model units);
            ``sample_stats`` with ``labels``, which have no meaning from one draw to the next; ``log_likelihood`` of
            each reward given all others and the draw (:mod:`infgp.predict.leftout`), in the units of y;
            ``observed_data`` and ``constant_data`` with ``y`` and ``X``.

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=2, random_state=0)
        >>> data = model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).to_arviz()
        >>> data.posterior["log_tau2"].shape, data.log_likelihood["y"].shape
        ((2, 4), (2, 4, 3))
        """
        check_is_fitted(self)
        arviz = require("arviz", "arviz")
        chains = self.chains_
        posterior = {name: np.stack([c.traces[name] for c in chains]) for name in chains[0].traces}
        posterior["beta"] = np.stack([[s.beta for s in c.states] for c in chains])
        posterior["lengthscale"] = np.stack([[(2.0 * s.phi[0]) ** -0.5 for s in c.states] for c in chains])
        labels = np.stack([[s.labels for s in c.states] for c in chains])
        groups: dict[str, Mapping[str, FloatArray | IntArray]] = {
            "posterior": posterior,
            "sample_stats": {"labels": labels},
            "observed_data": {"y": self._y},
            "constant_data": {"X": self._x},
        }
        if log_likelihood and self._completed is not None:
            raise InvalidInputError(
                f"The log likelihood is for at most exact_up_to={self.exact_up_to} observations; pass "
                "log_likelihood=False, or fit with a larger exact_up_to."
            )
        if log_likelihood:
            groups["log_likelihood"] = {"y": self._left_out().reshape(labels.shape)}
        dims = {
            "beta": ["coefficient"],
            "lengthscale": ["coordinate"],
            "labels": ["observation"],
            "y": ["observation"],
            "X": ["observation", "input"],
        }
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict(groups, dims=dims)
        return arviz.from_dict(**groups, dims=dims)

    def _left_out(self) -> FloatArray:
        """Log density of each reward given all others and a draw, in the units of y, shape (draws, n)."""
        model, others, out = self._model_, all_but_one(self._data), []
        with one_blas_thread():
            for state in self._states:
                given = Conditioned(state, self._data.seen(state, model), model)
                slopes = self._map(state.warp).log_slope(given.data.y)
                out.append(log_densities(given, others) - slopes)
        return np.array(out)

    def posterior_draws(self) -> tuple[list[Conditioned], list[RewardMap], InputScale, RewardScale]:
        """The kept states with the data, for code that computes other things from them than this class does.

        Returns
        -------
        draws : list of Conditioned
            As laws of further rewards use them.
        maps : list of RewardMap
            For each draw, the map from its rewards to those in the units of y.
        inputs : InputScale
        rewards : RewardScale

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
        >>> draws, maps, inputs, rewards = model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).posterior_draws()
        >>> len(draws), rewards.location
        (4, 2.0)
        """
        check_is_fitted(self)
        draws = list(self._draws())
        maps = [self._map(given.state.warp) for given in draws]
        return draws, maps, self._input_scale, self._reward_scale

    def _draws(self, warp: int | None = None) -> Iterator[Conditioned]:
        """The kept states, or those with one warp, one at a time: all their factors might not fit into memory."""
        model = self._model_.for_laws()
        if self._completed is not None:
            some = (given for given in self._completed if warp is None or given.state.warp == warp)
            return (replace(given, model=model) for given in some)
        states = (state for state in self._states if warp is None or state.warp == warp)
        return (Conditioned(state, self._data.seen(state, model), model) for state in states)

    def _map(self, warp: int) -> RewardMap:
        """From the units of the surfaces of states with this warp to the user's."""
        return reward_map(self._reward_scale, self._model_.warps.maps[warp], self._y)

    def _law(self, mix: Callable[[Iterator[Conditioned]], mixture.Mixture]) -> Law | LawMixture:
        """The law in the user's units, from that which some states with the same warp have in the model's."""
        warps, counts = np.unique([state.warp for state in self._states], return_counts=True)
        laws = [Law(mix(self._draws(int(warp))), self._map(int(warp))) for warp in warps]
        return mixed(laws, counts.tolist())

    def _points(self, X: ArrayLike) -> FloatArray:
        """X checked against the training data and in the model's units."""
        check_is_fitted(self)
        x = validate_data(self, X, reset=False, dtype=np.float64)
        return self._input_scale.to_unit(x)

    def _in_chunks(
        self,
        X: ArrayLike,
        evaluate: Callable[[Law | LawMixture, slice], FloatArray],
    ) -> FloatArray:
        """`evaluate` on the predictive laws at X, a block of rows at a time so that memory stays bounded."""
        x = self._points(X)
        components = sum(state.n_surfaces + 1 for state in self._states)
        step = max(1, CHUNK // components)
        parts = []
        with one_blas_thread():
            for start in range(0, x.shape[0], step):
                rows = slice(start, start + step)
                parts.append(evaluate(self._law(partial(mixture.predictive, at=x[rows])), rows))
        return np.concatenate(parts)

    def _pointwise(
        self,
        X: ArrayLike,
        y: ArrayLike,
        function: Callable[[Law | LawMixture, FloatArray], FloatArray],
    ) -> FloatArray:
        """`function` of the law at X[i] and each reward in y[i]."""
        rewards = np.asarray(y, dtype=np.float64)
        m = self._points(X).shape[0]
        shape = rewards.shape if rewards.ndim else (m,)
        if shape[0] != m or len(shape) > 2:
            raise InvalidInputError(
                f"y must be a number or have one entry or row for each of the {m} rows of X, but has shape {shape}."
            )
        if np.isnan(rewards).any():
            raise InvalidInputError("y contains NaN; give the rewards at which to evaluate the distribution.")
        columns = np.broadcast_to(rewards, shape).reshape(m, -1)
        return self._in_chunks(X, lambda law, rows: function(law, columns[rows])).reshape(shape)


def _generator(random_state: object) -> np.random.Generator:
    """A Generator from scikit-learn's ``random_state`` (an int, a Generator, a RandomState or None)."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    if random_state is None or isinstance(random_state, int | np.integer | np.random.Generator):
        return np.random.default_rng(random_state)
    raise InvalidInputError(
        f"random_state must be an int, a numpy Generator or RandomState, or None, but got {random_state!r}."
    )
