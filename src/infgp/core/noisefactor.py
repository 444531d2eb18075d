"""By what factor noise is larger or smaller at an input than the surfaces believe.

The score of a reward y is Φ⁻¹(F(y)), where F is the believed distribution function of rewards at its input. Where all
is as believed, scores are standard normal, whatever the law: heavy tails and modes are part of F. Where noise is s
times as large, scores have the variance s². With t_i the scores,

    t_i ~ N(0, exp g(x_i)),   g = log s²,   g ~ GP(0, a R).

There are patterns R with the length-scales of :mod:`infgp.core.remainder` and several strengths a, and g = 0, which has
half of the prior probability. The posterior of each is approximated by Laplace's method: with the Fisher information of
g_i, ½, as its precision, the mode is found by steps g ← aR (aR + 2I)⁻¹ (g + t² e^−g − 1), and

    log p(t | pattern) ≈ −½ Σ (g + t² e^−g) − ½ gᵀ (aR)⁻¹ g − ½ log |aR / 2 + I|.

The patterns share the eigenvectors of their R, so that a step costs O(n²). The factor s² is that of the mean of g over
patterns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, softmax

from infgp.core.linalg import FloatArray
from infgp.core.remainder import LENGTHS, Patterns

#: Strengths a of the patterns: variance of the logarithm of s².
STRENGTHS = (0.3, 1.0, 3.0)
#: Prior probability that noise is as believed everywhere.
EVEN = 0.5
#: Probability below which a pattern is left out.
UNLIKELY = 0.01
#: Largest score that counts: rewards beyond are outliers, and do not say how large noise is.
LARGEST_SCORE = 4.0
#: Least number of scores from which anything is learned.
LEAST = 3
#: Largest step towards the mode of g.
LARGEST_STEP = 1.0
#: Step at which the mode counts as found.
PRECISION = 1e-6
#: Largest number of steps to the mode.
STEPS = 60


@dataclass(frozen=True, eq=False)
class NoiseFactor:
    """The factor s²(x) of the noise variance.

    Attributes
    ----------
    patterns : Patterns
    even : float
        Probability that noise is as believed everywhere.
    coefficients : dict of int to array
        For each length-scale, by what the correlations with the observations are multiplied, shape (n,), to have its
        share of log s².

    Examples
    --------
    >>> import numpy as np
    >>> rng, x = np.random.default_rng(0), np.linspace(0.0, 1.0, 80)[:, None]
    >>> louder = NoiseFactor.of(Patterns(x), rng.standard_normal(80) * np.where(x[:, 0] > 0.5, 3.0, 0.5))
    >>> louder.even < 0.01, louder(np.array([[0.2], [0.8]])).round(1)
    (True, array([0.3, 6.9]))
    >>> NoiseFactor.of(Patterns(x), rng.standard_normal(80)).even > 0.5
    True
    """

    patterns: Patterns
    even: float
    coefficients: dict[int, FloatArray]

    @classmethod
    def of(cls, patterns: Patterns, scores: FloatArray, trusted: FloatArray | float = 1.0) -> NoiseFactor:
        """From the scores at the inputs of the patterns, shape (n,), and by how much each counts, from 0 to 1."""
        n = scores.size
        if n < LEAST:
            return cls(patterns, 1.0, {})
        squares = 1.0 + trusted * (np.minimum(scores * scores, LARGEST_SCORE**2) - 1.0)
        strengths, logs, found = np.array(STRENGTHS), [np.array([math.log(EVEN) - 0.5 * squares.sum()])], []
        prior = math.log((1.0 - EVEN) / (len(LENGTHS) * strengths.size))
        for values, vectors in zip(*patterns.spectra, strict=True):
            g, turned = _mode(squares, values[:, None] * strengths, vectors)
            fit = -0.5 * (g + squares[:, None] * np.exp(-g)).sum(axis=0)
            spread = values[:, None] * strengths
            logs.append(prior + fit - 0.5 * (spread * turned**2).sum(axis=0) - 0.5 * np.log1p(0.5 * spread).sum(axis=0))
            found.append(turned)
        chance = softmax(np.concatenate(logs))
        chance[chance < min(UNLIKELY, chance.max())] = 0.0
        chance /= chance.sum()
        shares = chance[1:].reshape(len(found), strengths.size)
        coefficients = {
            k: patterns.spectra[1][k] @ (turned @ (shares[k] * strengths))
            for k, turned in enumerate(found)
            if shares[k].any()
        }
        return cls(patterns, float(chance[0]), coefficients)

    def log(self, at: FloatArray) -> FloatArray:
        """Mean of log s² at the rows of `at`, shape (m,)."""
        out = np.zeros(at.shape[0])
        for length, coefficient in self.coefficients.items():
            out += self.patterns.correlation(length, at).T @ coefficient
        return out

    def __call__(self, at: FloatArray) -> FloatArray:
        """The factor at the rows of `at`, shape (m,)."""
        return np.asarray(np.exp(self.log(at)))

    def gradient(self, at: FloatArray) -> FloatArray:
        """Gradient of the logarithm of the factor, shape (m, d)."""
        out = np.zeros(at.shape)
        for length, coefficient in self.coefficients.items():
            out += self.patterns.pull(length, coefficient, at)
        return out


def _mode(squares: FloatArray, variances: FloatArray, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mode of g for each strength, shape (n, strengths), and (aR)⁻¹ g in the basis of the eigenvectors."""
    g = np.zeros(variances.shape)
    for _ in range(STEPS):
        turned = (vectors.T @ (g + squares[:, None] * np.exp(-g) - 1.0)) / (variances + 2.0)
        step = vectors @ (variances * turned) - g
        g = g + np.clip(step, -LARGEST_STEP, LARGEST_STEP)
        if np.abs(step).max() < PRECISION:
            break
    return g, turned


def scores(weights: FloatArray, gaps: FloatArray, sd: FloatArray) -> FloatArray:
    """The standard normal numbers whose places in their law are those of rewards in mixtures of Gaussians, shape (n,).

    Parameters
    ----------
    weights, gaps, sd : arrays, shape (n, C)
        Weights of the components at each reward, reward less their means, and their standard deviations.

    Examples
    --------
    >>> import numpy as np
    >>> scores(np.ones((2, 1)), np.array([[-1.0], [60.0]]), np.full((2, 1), 0.5)).round(6)
    array([-2.,  4.])
    """
    z = gaps / sd
    below, above = (np.einsum("ic,ic->i", weights, ndtr(side * z)) for side in (1.0, -1.0))
    smaller = np.maximum(np.minimum(below, above) / (below + above), ndtr(-LARGEST_SCORE))
    return np.asarray(np.where(below < above, 1.0, -1.0) * ndtri(np.minimum(smaller, 0.5)))
