"""Reward distributions that a Gaussian cannot represent, and distances between distributions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq, minimize

Array = NDArray[np.float64]
#: Number of bins of equal probability over which total variation is summed, and of borders of equal distance.
BINS = 200
#: Probability below the lowest, and above the highest, of the borders of equal distance.
EXTREME = 1e-3


@dataclass(frozen=True)
class Noise:
    """A distribution about its mean, which is 0.

    Parameters
    ----------
    label : str
    draw : callable
        Draws, from a generator and their number.
    cdf, ppf : callable
        Distribution function and quantiles.
    sd : float
    """

    label: str
    draw: Callable[[np.random.Generator, int], Array]
    cdf: Callable[[Array], Array]
    ppf: Callable[[Array], Array]
    sd: float

    def edges(self) -> Array:
        """Borders of the bins, inner ones only: the first and the last bin reach to infinity."""
        low, high = self.ppf(np.array([EXTREME, 1.0 - EXTREME]))
        even = np.linspace(low, high, BINS)
        quantiles = self.ppf(np.linspace(0.0, 1.0, BINS + 1))
        return np.unique(np.concatenate((even, quantiles[np.isfinite(quantiles)])))


def _of(label: str, law: stats.rv_continuous) -> Noise:
    mean = float(law.mean())
    return Noise(
        label,
        lambda rng, n: np.asarray(law.rvs(n, random_state=rng)) - mean,
        lambda y: np.asarray(law.cdf(y + mean)),
        lambda q: np.asarray(law.ppf(q)) - mean,
        float(law.std()),
    )


def _bimodal(label: str, apart: float, sd: float) -> Noise:
    def cdf(y: Array) -> Array:
        return np.asarray(0.5 * (stats.norm.cdf(y, -apart, sd) + stats.norm.cdf(y, apart, sd)))

    def quantile(q: float) -> float:
        reach = apart + 40.0 * sd
        return (
            float(brentq(lambda y: cdf(y) - q, -reach, reach)) if 0.0 < q < 1.0 else float(np.copysign(np.inf, q - 0.5))
        )

    return Noise(
        label,
        lambda rng, n: apart * rng.choice((-1.0, 1.0), n) + sd * rng.standard_normal(n),
        cdf,
        np.vectorize(quantile, otypes=[float]),
        float(np.hypot(apart, sd)),
    )


#: Theorem 1 assumes densities that are positive everywhere and finite. Gamma and Weibull rewards are bounded below, and
#: the last, the noise of the heavy-tailed tasks, has an infinite density there.
NOISES = {
    "gaussian": _of("Gaussian (control)", stats.norm(0.0, 0.5)),
    "t3": _of("Student t₃", stats.t(3, 0.0, 0.3)),
    "bimodal": _bimodal("bimodal", 0.5, 0.15),
    "gamma": _of("gamma, shape 2", stats.gamma(2.0, scale=0.35)),
    "weibull": _of("Weibull, shape 1.5", stats.weibull_min(1.5, scale=0.8)),
    "weibull-ht": _of("Weibull, shape 0.3", stats.weibull_min(0.3, scale=0.1)),
}


def total_variation(cdf: Array, other: Array) -> Array:
    """Total variation of two distributions over bins, from their distribution functions at the borders.

    At most the distance of the distributions themselves, to which it tends as the bins become narrow.

    Parameters
    ----------
    cdf, other : arrays, shape (..., k)

    Examples
    --------
    >>> import numpy as np
    >>> round(float(total_variation(np.array([0.0, 0.5]), np.array([0.25, 0.5]))), 3)
    0.25
    """
    ends = [(0, 0)] * (cdf.ndim - 1) + [(1, 0)], [(0, 0)] * (cdf.ndim - 1) + [(0, 1)]
    gap = np.pad(np.pad(cdf - other, ends[0]), ends[1])
    return np.asarray(0.5 * np.abs(np.diff(gap, axis=-1)).sum(axis=-1))


@cache
def gaussian_gap(name: str) -> tuple[float, float, float, float]:
    """How far Gaussians stay from a noise of `NOISES`, however much data there is.

    Returns
    -------
    matched : float
        Total variation of the Gaussian with the same mean and variance: where a GP ends up.
    best, mean, sd : float
        Total variation of the closest Gaussian, and which one it is.

    Examples
    --------
    >>> round(gaussian_gap("gaussian")[0], 6)
    0.0
    """
    noise = NOISES[name]
    edges = noise.edges()
    true = noise.cdf(edges)

    def distance(p: Array) -> float:
        return float(total_variation(stats.norm.cdf(edges, p[0], np.exp(p[1])), true))

    middle, spread = noise.ppf(np.array([0.5, 0.84])) @ [[1.0, -1.0], [0.0, 1.0]]
    starts = [(0.0, np.log(noise.sd)), (middle, np.log(spread)), (middle, np.log(0.3 * spread))]
    fits = [minimize(distance, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-8}) for start in starts]
    found = min(fits, key=lambda fit: float(fit.fun))
    return distance(np.array(starts[0])), float(found.fun), float(found.x[0]), float(np.exp(found.x[1]))
