"""Integrals over a piece of a Gaussian, of powers and of exponentials; all arrays are broadcast against each other.

z ~ N(mean, sd²) is between a and b, and α and β are a and b in units of sd from the mean. Φ and φ are the distribution
function and the density of the standard normal law.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, ndtr

from infgp.core.linalg import FloatArray


def powers(mean: FloatArray, sd: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Integrals of 1, z − mean and (z − mean)² from a to b.

    They are P = Φ(β) − Φ(α), sd (φ(α) − φ(β)) and sd² (P + α φ(α) − β φ(β)) (Johnson, Kotz and Balakrishnan,
    Continuous Univariate Distributions 1, section 13.10.1).

    Examples
    --------
    >>> import numpy as np
    >>> mass, first, second = powers(np.array(3.0), np.array(2.0), np.array(3.0), np.array(np.inf))
    >>> float(mass), round(float(first), 4), float(second)
    (0.5, 0.7979, 2.0)
    """
    alpha, beta = (a - mean) / sd, (b - mean) / sd
    mass, (low, high) = ndtr(beta) - ndtr(alpha), (_density(alpha), _density(beta))
    return mass, sd * (low - high), sd**2 * (mass + _finite(alpha) * low - _finite(beta) * high)


def probability(mean: FloatArray, sd: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Integral of 1 from a to b."""
    return np.asarray(ndtr((b - mean) / sd) - ndtr((a - mean) / sd))


def exponential(
    power: float, mean: FloatArray, sd: FloatArray, a: FloatArray, b: FloatArray, origin: FloatArray | float
) -> FloatArray:
    """Integral of exp(z − origin) to the power 1 or 2 from a to b, which must be finite.

    Examples
    --------
    >>> import numpy as np
    >>> law = np.array(0.0), np.array(1.0), np.array(-30.0), np.array(30.0)
    >>> [bool(np.isclose(exponential(k, *law, 0.0), np.exp(0.5 * k**2))) for k in (1.0, 2.0)]
    [True, True]
    """
    upper = np.exp(power * (b - origin)) * _decay(power, mean, sd, b)
    return np.asarray(upper - np.exp(power * (a - origin)) * _decay(power, mean, sd, a))


def _decay(s: float, mean: FloatArray, sd: FloatArray, b: FloatArray) -> FloatArray:
    """Integral of exp(s (z − b)) up to b, between 0 and 1.

    Completing the square, it is exp(s (mean − b) + s² sd² / 2) Φ(−t) with t = s sd − β, as for log-normal laws. Where t
    is positive, the first factor may overflow and the second vanish; Φ(−t) = φ(t) √(π/2) erfcx(t / √2) then gives
    φ(β) √(π/2) erfcx(t / √2).
    """
    beta = (b - mean) / sd
    t = s * sd - beta
    near = np.exp(np.minimum(s * sd * (0.5 * s * sd - beta), 0.0)) * ndtr(-t)
    far = _density(beta) * np.sqrt(np.pi / 2.0) * erfcx(np.maximum(t, 0.0) / np.sqrt(2.0))
    return np.asarray(np.where(t < 0.0, near, far))


def _density(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi))


def _finite(x: FloatArray) -> FloatArray:
    return np.where(np.isinf(x), 0.0, x)
