"""The law of a further reward where posterior states see rewards through warps of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from infgp.core.linalg import FloatArray
from infgp.errors import check_int
from infgp.predict.law import Law, as_generator
from infgp.predict.lawtext import PrintedLaw

#: Number of bisections to a quantile: more than the digits of a float.
BISECTIONS = 100


@dataclass(frozen=True, eq=False, repr=False)
class LawMixture(PrintedLaw):
    """Mixture of the laws that groups of posterior states have; it has the methods of :class:`Law`.

    Each law has its own map to the user's units, and all is put together there: means are means of means that were
    found by integration, never maps of a mean.

    Attributes
    ----------
    laws : sequence of Law
        For the same points, with the same sign.
    shares : array, shape (laws,)
        Share of the posterior states that each law is of; they sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.predict.mixture import Mixture
    >>> one = Mixture(np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1)))
    >>> law = LawMixture([Law(one, RewardScale(0.0, 1.0)), Law(one, RewardScale(4.0, 1.0))], np.array([0.5, 0.5]))
    >>> law.mean, law.median.round(6), law.std.round(3), law.cdf(2.0).round(6), law.sample(3, 0).shape
    (array([2.]), array([2.]), array([2.236]), array([0.5]), (1, 3))
    """

    laws: Sequence[Law]
    shares: FloatArray

    def __len__(self) -> int:
        return len(self.laws[0])

    @property
    def sign(self) -> float:
        """1, or −1 for a search that minimises."""
        return self.laws[0].sign

    def _mean(self, values: Sequence[FloatArray]) -> FloatArray:
        return np.asarray(np.tensordot(self.shares, np.array(values), axes=1))

    @property
    def mean(self) -> FloatArray:
        """Mean reward at each point, shape (m,)."""
        return self._mean([law.mean for law in self.laws])

    @property
    def std(self) -> FloatArray:
        """Standard deviation of the reward at each point, shape (m,)."""
        mean = self.mean
        return np.asarray(np.sqrt(self._mean([law.std**2 + (law.mean - mean) ** 2 for law in self.laws])))

    @property
    def median(self) -> FloatArray:
        """Median reward at each point, shape (m,)."""
        return self.quantile(0.5)

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles of the reward, as :meth:`Law.quantile`: between the least and the largest of those of the laws."""
        ends = np.array([law.quantile(q) for law in self.laws])
        low, high = ends.min(axis=0), ends.max(axis=0)
        for _ in range(BISECTIONS):
            middle = low + 0.5 * (high - low)
            under = self.cdf(middle) < np.asarray(q, dtype=np.float64)
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return np.asarray(low + 0.5 * (high - low))

    def cvar(self, q: float) -> FloatArray:
        """Mean of the worst share `q` of the rewards, as :meth:`Law.cvar`."""
        ends = [law.cvar(q) for law in self.laws]  # checks q, too
        if q == 1.0 or len(ends) == 1:
            return self._mean(ends)
        sign, ones = self.laws[0].sign, np.ones(len(self))
        t = sign * self.quantile(q if sign > 0 else 1.0 - q)
        short = []
        for law in self.laws:
            z = law.rewards.to_standard(t)
            inside = law.rewards.from_standard(np.clip(z, *law.rewards.ends))
            short.append(law.mean_of_worst(z[:, None], ones) - inside)
        return np.asarray(sign * (t + self._mean(short) / q))

    def probability(self, threshold: ArrayLike) -> FloatArray:
        """Chance of a reward that is better than a threshold, as :meth:`Law.probability`."""
        return self._mean([law.probability(threshold) for law in self.laws])

    def density(self, y: ArrayLike) -> FloatArray:
        """Probability density of a reward, as :meth:`Law.density`."""
        return self._mean([law.density(y) for law in self.laws])

    def cdf(self, y: ArrayLike) -> FloatArray:
        """Chance of a reward of at most y, as :meth:`Law.cdf`."""
        return self._mean([law.cdf(y) for law in self.laws])

    def sample(self, n: int, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Independent rewards at each point, as :meth:`Law.sample`."""
        count, source = check_int("n", n, 1), as_generator(rng)
        who = source.choice(len(self.laws), size=(len(self), count), p=self.shares)
        drawn = np.array([law.sample(count, source) for law in self.laws])
        return np.asarray(np.take_along_axis(drawn, who[None], axis=0)[0])


def mixed(laws: Sequence[Law], counts: Sequence[int]) -> Law | LawMixture:
    """The law that some groups of posterior states have together, from the law and the number of states of each.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.predict.mixture import Mixture
    >>> one = Law(Mixture(np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1))), RewardScale(0.0, 1.0))
    >>> mixed([one], [5]) is one, mixed([one, one], [3, 2]).shares
    (True, array([0.6, 0.4]))
    """
    return laws[0] if len(laws) == 1 else LawMixture(laws, np.array(counts) / sum(counts))
