"""`InfiniteGP`: the ∞-GP as a scikit-learn regressor that knows the whole reward distribution."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from infgp.core.kernels import KERNELS
from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.core.model import OWN_GRADES, OWN_SCALE_SHAPE, Data, Model, State
from infgp.core.priors import Fixed, Grid, Priors
from infgp.core.scaling import InputScale, RewardScale, check_variances
from infgp.errors import ConvergenceWarning, InvalidInputError, check_choice, check_int, require
from infgp.predict import mixture as posterior
from infgp.progress import progress_bar
from infgp.sample.chain import ONE_SURFACE_SWEEP, STARTS, THOROUGH_SWEEP, Draws, run_collapsed, run_truncated
from infgp.sample.diagnostics import diagnose
from infgp.sample.truncated import grid_factors

SAMPLERS = ("collapsed", "truncated")
#: Predictive components (points × draws × surfaces) held in memory at once.
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
        ``"truncated"`` is the paper's blocked Gibbs sampler. With several inputs and ``ard=True`` the latter plugs in
        conditional maximum-likelihood length-scales (empirical Bayes, re-estimated every 10 sweeps of the warm-up,
        fixed afterwards); otherwise it samples the length-scale from a grid.
    surface_scales : {"own", "shared"}, default="own"
        With ``"own"`` every surface has a scale of its own that multiplies σ² and τ²: surfaces are Student-t processes
        with four degrees of freedom, and one gross outlier does not inflate them all. ``"shared"`` is the paper's
        model, the only one that the truncated sampler knows, and the one used where noise variances are given: own
        scales would multiply these too, and they would not mean what they say.
    local : float, default=0.5
        Chance, before any data, that a surface belongs to a place (:mod:`infgp.core.places`): nearest neighbours
        are then likely to share it, and it is met near its members. Regions of a
        landscape become local surfaces, modes of the noise and outliers stay global ones. 0 is the paper's model,
        whose surfaces are met everywhere alike. For ``sampler="collapsed"``.
    surface_lengthscales : {"own", "shared"}, default="own"
        With ``"own"`` a surface may be rougher than others, with length-scales 4 or 16 times as short: landscapes that
        are rough here and smooth there. ``"shared"`` is the paper's model and the truncated sampler's.
    n_warmup : int, default=250
        Sweeps of each chain before the first kept draw.
    n_samples : int, default=60
        Draws kept from each chain.
    thin : int, default=2
        Sweeps for each kept draw.
    n_chains : int, default=2
        Independent chains. More than one is needed to see whether they agree.
    init : {"spread", "one", "random", "alone"} or State, default="spread"
        Start of the chains: all observations on one surface, at random on eight, each on its own, or ("spread") chains
        taking turns at the three, so that R-hat shows whether the answer depends on the start. A state of an earlier
        fit (from ``chains_``) goes on from there, with further observations at the end of X and y.
    truncation : int or None, default=None
        Largest number of surfaces of the truncated sampler; None chooses it from the data size and the concentration.
        ``truncation=1``, with either sampler, is an ordinary GP with the same priors.
    grid_size : int, default=20
        Length-scales on the truncated sampler's grid.
    warm_start : bool, default=False
        When fitting again to the same data with more of it at the end, go on with the chains as they are: a few tens of
        sweeps of warm-up are then enough. Other data starts afresh.
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
        R-hat and effective sample size of label-free summaries.
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
        surface_scales: str = "own",
        local: float = 0.5,
        surface_lengthscales: str = "own",
        n_warmup: int = 250,
        n_samples: int = 60,
        thin: int = 2,
        n_chains: int = 2,
        init: str | State = "spread",
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
        self.surface_scales = surface_scales
        self.local = local
        self.surface_lengthscales = surface_lengthscales
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
        model = self._model(x.shape[1], own=self.surface_scales == "own" and not noise.any())

        sweeps = self.n_chains * (self.n_warmup + self.n_samples * self.thin)
        with one_blas_thread(), progress_bar(self.progress, sweeps, "sweep") as on_sweep:
            run = self._runner(data, model, on_sweep)
            rngs = _generator(self.random_state).spawn(self.n_chains)
            starts = self._starts(x, rewards, noise)
            chains = [run(rng, start=start) for rng, start in zip(rngs, starts, strict=True)]
        self._keep(probe, x, rewards, noise, data, model, input_scale, reward_scale, chains)
        self._warn()
        return self

    def _runner(self, data: Data, model: Model, on_sweep: Callable[[], object]) -> Callable[..., Draws]:
        """The chosen sampler with all but the generator and the start filled in."""
        budget: dict[str, Any] = {
            "n_warmup": self.n_warmup,
            "n_samples": self.n_samples,
            "thin": self.thin,
            "on_sweep": on_sweep,
        }
        if self.sampler == "collapsed":
            moves = ONE_SURFACE_SWEEP if self.truncation == 1 else THOROUGH_SWEEP
            return partial(run_collapsed, data=data, model=model, moves=moves, **budget)
        factors = grid_factors(data, model, self.grid_size)
        return partial(run_truncated, data=data, model=model, truncation=self.truncation, factors=factors, **budget)

    def _check_options(self) -> None:
        check_choice("kernel", self.kernel, KERNELS)
        check_choice("sampler", self.sampler, SAMPLERS)
        check_choice("surface_scales", self.surface_scales, ("own", "shared"))
        check_choice("surface_lengthscales", self.surface_lengthscales, ("own", "shared"))
        if not (isinstance(self.local, Real) and 0.0 <= self.local < 1.0):
            raise InvalidInputError(f"local must be a number with 0 <= local < 1, but got {self.local!r}.")
        if self.truncation is not None:
            check_int("truncation", self.truncation, 1)
        if self.sampler == "collapsed" and self.truncation not in (None, 1):
            raise InvalidInputError(
                f"The collapsed sampler is not truncated: truncation must be None or 1, but got {self.truncation!r}; "
                'use sampler="truncated".'
            )
        check_int("n_warmup", self.n_warmup, 0)
        for name in ("n_samples", "thin", "n_chains", "grid_size"):
            check_int(name, getattr(self, name), 1)
        if not isinstance(self.init, State):
            check_choice("init", self.init, ("spread", *STARTS))
        if self.priors is not None and not isinstance(self.priors, Priors):
            raise InvalidInputError(f"priors must be an infgp.Priors or None, but got {self.priors!r}.")

    def _model(self, n_features: int, own: bool) -> Model:
        priors = (self.priors or Priors()).resolve(n_features)
        ard = bool(self.ard) and n_features > 1
        truncated = self.sampler == "truncated"
        if isinstance(priors.lengthscale, Grid) and (ard or not truncated):
            raise InvalidInputError(
                "A Grid prior of the length-scale is for the isotropic kernel of the truncated sampler; set ard=False "
                'and sampler="truncated", or use LogNormal or UniformPhi.'
            )
        if truncated and not ard and not isinstance(priors.lengthscale, Fixed):
            # The discrete prior is the one that this sampler targets.
            priors = replace(priors, lengthscale=Grid.of(priors.lengthscale, n_features, self.grid_size))
        shape, local = (0.0, 0.0) if truncated else (OWN_SCALE_SHAPE if own else 0.0, float(self.local))
        rough = self.surface_lengthscales == "own" and not truncated and self.truncation is None
        return Model(self.kernel, priors, ard, shape, local, OWN_GRADES if rough else (1.0,))

    def _starts(self, x: FloatArray, y: FloatArray, noise: FloatArray) -> list[str | State]:
        """Where each chain begins."""
        if self.warm_start and self._continues(x, y, noise):
            last = [chain.states[-1] for chain in self.chains_]
            return [last[k % len(last)] for k in range(self.n_chains)]
        if isinstance(self.init, State):
            return [self.init] * self.n_chains
        if self.truncation == 1:
            return ["one"] * self.n_chains
        return [STARTS[k % len(STARTS)] if self.init == "spread" else self.init for k in range(self.n_chains)]

    def _continues(self, x: FloatArray, y: FloatArray, noise: FloatArray) -> bool:
        """Whether the data begins with that of the last fit."""
        if not hasattr(self, "chains_") or self._x.shape[1] != x.shape[1]:
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
        input_scale: InputScale,
        reward_scale: RewardScale,
        chains: list[Draws],
    ) -> None:
        """Set everything that `fit` learns, in one place and after all that can fail."""
        states = [state for chain in chains for state in chain.states]
        off_surface = posterior.off_surface_probability(states, data, model)
        diagnosis = diagnose({name: np.stack([c.traces[name] for c in chains]) for name in chains[0].traces})
        self.n_features_in_ = probe.n_features_in_
        if hasattr(probe, "feature_names_in_"):
            self.feature_names_in_ = probe.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._x, self._y, self._noise, self._data, self._model_ = x, y, noise, data, model
        self._input_scale, self._reward_scale = input_scale, reward_scale
        self.chains_, self._states = chains, states
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
        parts = self._in_chunks(X, lambda mix, rows: np.column_stack((mix.mean(), mix.std())))
        mean, std = self._reward_scale.from_standard(parts[:, 0]), self._reward_scale.scale * parts[:, 1]
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
        with one_blas_thread():
            mean, std = posterior.main_surface(self._states, self._data, self._model_, x)
        mean, std = self._reward_scale.from_standard(mean), self._reward_scale.scale * std
        return (mean, std) if return_std else mean

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
        scale = self._reward_scale_if_fitted().scale
        return self._pointwise(X, y, lambda mix, column: np.exp(mix.logpdf(column)) / scale)

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
        return self._pointwise(X, y, lambda mix, column: mix.cdf(column))

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
        quantiles = self._in_chunks(X, lambda mix, rows: mix.quantile(levels))
        return self._reward_scale.from_standard(quantiles)

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
            draws = [posterior.sample_rewards(rng, self._states, self._data, self._model_, x) for _ in range(n_samples)]
        return self._reward_scale.from_standard(np.column_stack(draws))

    def to_arviz(self) -> Any:
        """The chains as ArviZ data (needs the extra ``arviz``), for its plots and diagnostics.

        Returns
        -------
        arviz.InferenceData
            Group ``posterior`` with the traces of label-free summaries, ``beta``, ``lengthscale`` (model units) and
            ``labels``.

        Examples
        --------
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=2, random_state=0)
        >>> model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).to_arviz().posterior["log_tau2"].shape
        (2, 4)
        """
        check_is_fitted(self)
        arviz = require("arviz", "arviz")
        variables = {name: np.stack([c.traces[name] for c in self.chains_]) for name in self.chains_[0].traces}
        variables["beta"] = np.stack([[s.beta for s in c.states] for c in self.chains_])
        variables["lengthscale"] = np.stack([[(2.0 * s.phi[0]) ** -0.5 for s in c.states] for c in self.chains_])
        variables["labels"] = np.stack([[s.labels for s in c.states] for c in self.chains_])
        return arviz.from_dict(posterior=variables)

    def _reward_scale_if_fitted(self) -> RewardScale:
        check_is_fitted(self)
        return self._reward_scale

    def _points(self, X: ArrayLike) -> FloatArray:
        """X checked against the training data and in the model's units."""
        check_is_fitted(self)
        x = validate_data(self, X, reset=False, dtype=np.float64)
        return self._input_scale.to_unit(x)

    def _in_chunks(
        self,
        X: ArrayLike,
        evaluate: Callable[[posterior.Mixture, slice], FloatArray],
    ) -> FloatArray:
        """`evaluate` on the predictive mixtures at X, a block of rows at a time so that memory stays bounded."""
        x = self._points(X)
        components = sum(state.n_surfaces + 1 for state in self._states)
        step = max(1, CHUNK // components)
        parts = []
        with one_blas_thread():
            for start in range(0, x.shape[0], step):
                rows = slice(start, start + step)
                mix = posterior.predictive(self._states, self._data, self._model_, x[rows])
                parts.append(evaluate(mix, rows))
        return np.concatenate(parts)

    def _pointwise(
        self,
        X: ArrayLike,
        y: ArrayLike,
        function: Callable[[posterior.Mixture, FloatArray], FloatArray],
    ) -> FloatArray:
        """`function` of the mixture at X[i] and each reward in y[i]."""
        scale = self._reward_scale_if_fitted()
        rewards = np.asarray(y, dtype=np.float64)
        m = self._points(X).shape[0]
        shape = rewards.shape if rewards.ndim else (m,)
        if shape[0] != m or len(shape) > 2:
            raise InvalidInputError(
                f"y must be a number or have one entry or row for each of the {m} rows of X, but has shape {shape}."
            )
        if np.isnan(rewards).any():
            raise InvalidInputError("y contains NaN; give the rewards at which to evaluate the distribution.")
        columns = scale.to_standard(np.broadcast_to(rewards, shape)).reshape(m, -1)
        values = self._in_chunks(
            X, lambda mix, rows: np.column_stack([function(mix, column) for column in columns[rows].T])
        )
        return values.reshape(shape)


def _generator(random_state: object) -> np.random.Generator:
    """A Generator from scikit-learn's ``random_state`` (an int, a Generator, a RandomState or None)."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    if random_state is None or isinstance(random_state, int | np.integer | np.random.Generator):
        return np.random.default_rng(random_state)
    raise InvalidInputError(
        f"random_state must be an int, a numpy Generator or RandomState, or None, but got {random_state!r}."
    )
