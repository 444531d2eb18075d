"""What a fitted regressor keeps: posterior states with the data, laws made of them, and the chains as ArviZ data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from infgp.core.absorb import Completed
from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.core.model import Data, Model
from infgp.core.partition import IntArray
from infgp.core.rewardmap import RewardMap, reward_map
from infgp.core.scaling import InputScale, RewardScale, Units
from infgp.core.surface import Conditioned
from infgp.errors import InvalidInputError, require
from infgp.predict import mixture
from infgp.predict.law import Law
from infgp.predict.lawmixture import LawMixture, mixed
from infgp.predict.leftout import all_but_one, log_densities
from infgp.sample.chain import Draws
from infgp.sample.diagnostics import diagnose

#: Largest number of predictive components (points × draws × surfaces) that are in memory at once.
CHUNK = 2_000_000


class Posterior(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The states that a fit has kept, with the data, in the model's units and the user's."""

    n_features_in_: int
    feature_names_in_: Any
    exact_up_to: int | None

    def _keep(
        self,
        probe: Posterior,
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
        >>> from infgp import InfiniteGP
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
        >>> from infgp import InfiniteGP
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
        model = self._model_.for_laws(uneven=False)
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
