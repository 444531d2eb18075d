"""The law of a further reward in the user's units: what may come out when a point is evaluated once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from infgp.core.linalg import FloatArray
from infgp.core.rewardmap import RewardMap
from infgp.errors import InvalidInputError, check_int
from infgp.predict.lawtext import PrintedLaw
from infgp.predict.mixture import Mixture

#: Largest number of components, over all points, whose moments are computed at once.
BLOCK = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Law(PrintedLaw):
    """Law of a further reward at each of m points, noise included, averaged over the posterior.

    Rewards have the units and the sign in which they are told. High rewards are good ones, and low ones in a search
    that minimises; :meth:`cvar` and :meth:`probability` follow that.

    Means are integrals over the whole law in closed form, also where the model sees warped rewards. The range of the
    integrals is stated, because a mean of heavy-tailed rewards may not exist (that of Cauchy noise does not) or be
    ruled by rewards nothing like any that was seen. Where rewards are warped, a reward that is farther from the median
    than `infgp.core.rewardmap.REACH` = 3 times the farthest reward told counts in :attr:`mean`, :attr:`std`,
    :meth:`cvar` and :meth:`sample` as one at this distance. It is not left out, for a heavier tail would then have the
    milder mean. Where rewards are not warped, the law is a mixture of Gaussians with finite moments, all rewards count,
    and rare posterior states may rule the mean. Quantiles and probabilities need no range.

    Attributes
    ----------
    mixture : Mixture
        The law in the model's units, where larger is better.
    rewards : RewardMap
        From the model's units to the user's.
    sign : float
        1, or −1 for a search that minimises: by what rewards are multiplied so that larger is better.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.scaling import RewardScale
    >>> halves = Mixture(np.full((1, 2), 0.5), np.array([[-1.0, 1.0]]), np.full((1, 2), 0.01))
    >>> law = Law(halves, RewardScale(100.0, 10.0))
    >>> law.mean.round(6), law.std.round(2), law.quantile(0.25).round(2), law.cvar(0.5).round(2)
    (array([100.]), array([10.05]), array([90.]), array([90.]))
    >>> law.probability(105.0).round(3), law.cdf(105.0).round(3), law.sample(4, 0).shape
    (array([0.5]), array([0.5]), (1, 4))
    """

    mixture: Mixture
    rewards: RewardMap
    sign: float = 1.0

    def __len__(self) -> int:
        return int(self.mixture.means.shape[0])

    @property
    def mean(self) -> FloatArray:
        """Mean reward at each point, shape (m,)."""
        return self.sign * self._moments[0]

    @property
    def std(self) -> FloatArray:
        """Standard deviation of the reward at each point, shape (m,)."""
        return self._moments[1]

    @property
    def median(self) -> FloatArray:
        """Median reward at each point, shape (m,)."""
        return self.quantile(0.5)

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles of the reward; those of small `q` are the low rewards, also in a search that minimises.

        Parameters
        ----------
        q : float or array-like, shape (k,)
            Levels strictly between 0 and 1.

        Returns
        -------
        array, shape (m,), or (m, k) for k levels
        """
        levels = _numbers("q", q)
        if levels.ndim > 1 or not levels.size or not np.all((levels > 0.0) & (levels < 1.0)):
            raise InvalidInputError(f"q must be one or more levels strictly between 0 and 1, but got {q!r}.")
        of_reward = np.atleast_1d(levels if self.sign > 0 else 1.0 - levels)
        found = self.sign * self.rewards.from_standard(self.mixture.quantile(of_reward))
        return found if levels.ndim else found[:, 0]

    def cvar(self, q: float) -> FloatArray:
        """Mean of the worst share `q` of the rewards: the lowest ones, or the highest in a search that minimises.

        With t the quantile of level q of a reward y that is to be maximised, it is t + E[(y − t) 1(y ≤ t)] / q
        (Rockafellar and Uryasev, Optimization of Conditional Value-at-Risk, 2000). ``cvar(1)`` is the mean.

        Parameters
        ----------
        q : float
            Above 0 and at most 1.

        Returns
        -------
        array, shape (m,)
        """
        share = _numbers("q", q)
        if share.ndim or not 0.0 < share <= 1.0:
            raise InvalidInputError(f"q must be a share of the rewards, above 0 and at most 1, but got {q!r}.")
        if share == 1.0:
            return self.mean
        return self.sign * self.mean_of_worst(self.mixture.quantile(share[None]), np.full(len(self), share))

    def mean_of_worst(self, z: FloatArray, share: FloatArray) -> FloatArray:
        """Mean of the worst share of the rewards that are to be maximised, shape (m,); :meth:`cvar` has one for all.

        The share has shape (m,), and z, of shape (m, 1), is the quantile of that level in the model's units.
        """
        t = self._drawn_in(z)

        def shortfall(mix: Mixture, rows: slice) -> FloatArray:
            sd = np.sqrt(mix.variances)
            first, _ = self.rewards.partial_moments(mix.means, sd, z[rows])
            gap = (self._drawn_in(mix.means) - t[rows]) / self.rewards.unit
            return _sum(mix.weights, gap * ndtr((z[rows] - mix.means) / sd) + first)

        return np.asarray(t[:, 0] + self.rewards.unit * self._in_blocks(shortfall) / share)

    def probability(self, threshold: ArrayLike) -> FloatArray:
        """Chance of a reward that is better than a threshold: above it, or below it in a search that minimises.

        Parameters
        ----------
        threshold : float or array-like, shape (m,) or (m, k)
            One for all points, one for each point, or k for each point.

        Returns
        -------
        array of the shape of the threshold, or (m,)
        """
        return 1.0 - self._at("threshold", threshold, self.mixture.cdf)

    def density(self, y: ArrayLike) -> FloatArray:
        """Probability density of a reward, per unit of the user's.

        Parameters
        ----------
        y : float or array-like, shape (m,) or (m, k)
            One for all points, one for each point, or k for each point.

        Returns
        -------
        array of the shape of y, or (m,)
        """
        return self._at("y", y, lambda z: np.exp(self.mixture.logpdf(z) - self.rewards.log_slope(z)))

    def cdf(self, y: ArrayLike) -> FloatArray:
        """Chance of a reward of at most y.

        Parameters
        ----------
        y : float or array-like, shape (m,) or (m, k)
            One for all points, one for each point, or k for each point.

        Returns
        -------
        array of the shape of y, or (m,)
        """
        below = self._at("y", y, self.mixture.cdf)
        return below if self.sign > 0 else 1.0 - below

    def sample(self, n: int, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Independent rewards at each point. For joint draws at several points see `InfiniteGP.sample_y`.

        Parameters
        ----------
        n : int
            Number of rewards at each point.
        rng : int, numpy.random.Generator or None, default=None
            A seed, a generator, or None for fresh randomness.

        Returns
        -------
        array, shape (m, n)
        """
        count, generator, mix = check_int("n", n, 1), as_generator(rng), self.mixture
        shares = np.cumsum(mix.weights, axis=1)
        lots = generator.random((len(self), count)) * shares[:, -1:]
        who = np.array([np.searchsorted(*row, side="right") for row in zip(shares, lots, strict=True)], dtype=np.intp)
        who = np.minimum(who.reshape(lots.shape), shares.shape[1] - 1)
        mean, variance = (np.take_along_axis(part, who, axis=1) for part in (mix.means, mix.variances))
        return self.sign * self._drawn_in(mean + np.sqrt(variance) * generator.standard_normal(who.shape))

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of rewards that are to be maximised."""

        def moments(mix: Mixture, _: slice) -> FloatArray:
            first, second = self.rewards.partial_moments(mix.means, np.sqrt(mix.variances), np.array(np.inf))
            unit, centre = self.rewards.unit, self._drawn_in(mix.means)
            mean = _sum(mix.weights, centre + unit * first)
            gap = (centre - mean[:, None]) / unit + first
            spread = np.maximum(second - first**2, 0.0) + gap**2
            return np.column_stack((mean, unit * np.sqrt(_sum(mix.weights, spread))))

        both = self._in_blocks(moments)
        return both[:, 0], both[:, 1]

    def _drawn_in(self, z: FloatArray) -> FloatArray:
        """Rewards in the user's units, those beyond the ends at the ends."""
        return self.rewards.from_standard(np.clip(z, *self.rewards.ends))

    def _in_blocks(self, evaluate: Callable[[Mixture, slice], FloatArray]) -> FloatArray:
        """`evaluate` on the mixtures at some points at a time, so that memory stays bounded."""
        mix, step = self.mixture, max(1, BLOCK // self.mixture.means.shape[1])
        blocks = [slice(start, start + step) for start in range(0, max(len(self), 1), step)]
        return np.concatenate(
            [evaluate(Mixture(mix.weights[rows], mix.means[rows], mix.variances[rows]), rows) for rows in blocks]
        )

    def _at(self, name: str, y: ArrayLike, evaluate: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """`evaluate` on rewards of each point, in the model's units."""
        values, m = _numbers(name, y), len(self)
        shape = values.shape or (m,)
        if shape[0] != m or len(shape) > 2:
            raise InvalidInputError(
                f"{name} must be a number or have one entry or row for each of the {m} points, but has shape {shape}."
            )
        z = self.rewards.to_standard(self.sign * np.broadcast_to(values, shape))
        return np.array([evaluate(column) for column in np.atleast_2d(z.T)]).T.reshape(shape)


def _sum(weights: FloatArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ic,ic->i", weights, values))


def _numbers(name: str, value: ArrayLike) -> FloatArray:
    """An array of floats without NaN."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.array(np.nan)
    if np.isnan(numbers).any():
        raise InvalidInputError(f"{name} must be a number or an array of numbers without NaN, but got {value!r}.")
    return numbers


def as_generator(rng: object) -> np.random.Generator:
    """A generator from a seed, a generator or None.

    Examples
    --------
    >>> as_generator(0).random() == as_generator(0).random()
    True
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or (isinstance(rng, int | np.integer) and rng >= 0):
        return np.random.default_rng(rng)
    raise InvalidInputError(f"rng must be a seed >= 0, a numpy.random.Generator or None, but got {rng!r}.")
