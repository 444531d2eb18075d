"""Predictions of rewards in the user's units: moments, quantiles, densities, draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.core.surface import Conditioned
from infgp.errors import InvalidInputError, check_int
from infgp.estimator.posterior import Posterior
from infgp.predict import mixture
from infgp.predict.law import Law
from infgp.predict.lawmixture import LawMixture

#: Least variance of the dominant surface where it is mapped to the user's units, in squared standard units.
LEAST_VARIANCE = 1e-24


class Predictions(Posterior):
    """Predictions of the reward itself, noise included, averaged over posterior draws."""

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
        >>> from infgp import InfiniteGP
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
        >>> from infgp import InfiniteGP
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
        >>> from infgp import InfiniteGP
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
        >>> from infgp import InfiniteGP
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
        >>> from infgp import InfiniteGP
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
        >>> from infgp import InfiniteGP
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
        >>> from infgp import InfiniteGP
        >>> model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
        >>> model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]).sample_y([[0.2], [0.3]], n_samples=5).shape
        (2, 5)
        """
        check_int("n_samples", n_samples, 1)
        x, rng = self._points(X), generator(random_state)
        with one_blas_thread():
            known, draws = list(self._draws()), []
            for _ in range(n_samples):
                given = known[int(rng.integers(len(known)))]
                rewards = self._map(given.state.warp)
                z = mixture.sample_given(rng, given, x)
                draws.append(rewards.from_standard(np.clip(z, *rewards.ends)))
        return np.column_stack(draws)


def generator(random_state: object) -> np.random.Generator:
    """A Generator from scikit-learn's ``random_state`` (an int, a Generator, a RandomState or None)."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    if random_state is None or isinstance(random_state, int | np.integer | np.random.Generator):
        return np.random.default_rng(random_state)
    raise InvalidInputError(
        f"random_state must be an int, a numpy Generator or RandomState, or None, but got {random_state!r}."
    )
