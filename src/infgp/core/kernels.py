"""Correlation functions ρ_φ of the surfaces.

Notation
--------
x, x'   inputs in the unit cube, shape (d,)
φ_k     inverse squared length-scale of coordinate k, φ_k = 1 / (2 ℓ_k²)
q       Σ_k φ_k (x_k − x'_k)², the scaled squared distance
ρ       correlation: ρ(q), with ρ(0) = 1
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from infgp.core.linalg import FloatArray
from infgp.errors import check_choice

#: Names of the kernels, from smooth to rough: squared exponential, and Matérn with smoothness 5/2 and 3/2.
KERNELS = ("se", "matern52", "matern32")
#: Value of the option `kernel` with which it is one of the parameters that are learned.
LEARNED = "learned"
#: Prior probabilities of the kernels where one is learned.
KERNEL_CHANCES = (0.5, 0.25, 0.25)
#: Scaled distance from which on a correlation is 0 in floating-point arithmetic.
FAR = 1e3


def phi_from_log_ell(log_ell: FloatArray | float) -> FloatArray:
    """φ = 1 / (2 ℓ²), from the logarithm of the length-scale.

    Examples
    --------
    >>> float(phi_from_log_ell(0.0))
    0.5
    """
    return np.asarray(0.5 * np.exp(np.multiply(-2.0, log_ell)))


def log_ell_from_phi(phi: FloatArray | float) -> FloatArray:
    """Logarithm of the length-scale ℓ = 1 / √(2 φ).

    Examples
    --------
    >>> float(log_ell_from_phi(0.5)) == 0.0
    True
    """
    return np.asarray(-0.5 * np.log(2.0 * np.asarray(phi)))


def scaled_sqdist(x: FloatArray, z: FloatArray, phi: FloatArray) -> FloatArray:
    """q(x_i, z_j) = Σ_k φ_k (x_ik − z_jk)², shape (n, m), from differences (no cancellation)."""
    root = np.sqrt(phi)
    return np.asarray(cdist(x * root, z * root, "sqeuclidean"))


# Values are computed in place: for many pairs of inputs, fresh arrays take longer than the arithmetic.


def _root(scale: float, q: FloatArray) -> FloatArray:
    """√(scale q), at most `FAR`."""
    a = scale * q
    np.sqrt(a, out=a)
    np.minimum(a, FAR, out=a)
    return a


def _decay(a: FloatArray) -> FloatArray:
    """exp(−a), in the place of a."""
    np.negative(a, out=a)
    np.exp(a, out=a)
    return a


def _se(q: FloatArray) -> FloatArray:
    return np.exp(-q)


def _se_slope(q: FloatArray) -> FloatArray:
    return -np.exp(-q)


def _matern52(q: FloatArray) -> FloatArray:
    a = _root(10.0, q)  # √5 r with r² = Σ Δ_k² / ℓ_k² = 2 q
    value = a / 3.0
    value += 1.0
    value *= a
    value += 1.0
    value *= _decay(a)
    return value


def _matern52_slope(q: FloatArray) -> FloatArray:
    a = np.minimum(np.sqrt(10.0 * q), FAR)
    return -5.0 / 3.0 * (1.0 + a) * np.exp(-a)


def _matern32(q: FloatArray) -> FloatArray:
    a = _root(6.0, q)  # √3 r
    value = 1.0 + a
    value *= _decay(a)
    return value


def _matern32_slope(q: FloatArray) -> FloatArray:
    return -3.0 * np.exp(-np.minimum(np.sqrt(6.0 * q), FAR))


_VALUE: dict[str, Callable[[FloatArray], FloatArray]] = {"se": _se, "matern52": _matern52, "matern32": _matern32}
_SLOPE: dict[str, Callable[[FloatArray], FloatArray]] = {
    "se": _se_slope,
    "matern52": _matern52_slope,
    "matern32": _matern32_slope,
}
#: Degrees of freedom of the Student-t spectral densities of Matérn kernels: twice their smoothness.
_FREEDOM = {"matern52": 5.0, "matern32": 3.0}


def correlation(kernel: str, x: FloatArray, z: FloatArray, phi: FloatArray) -> FloatArray:
    """Correlation matrix ρ_φ(x_i, z_j).

    ``"se"`` is exp(−q); ``"matern52"`` is (1 + a + a²/3) exp(−a) with a = √(10 q); ``"matern32"`` is (1 + a) exp(−a)
    with a = √(6 q).

    Parameters
    ----------
    kernel : {"se", "matern52", "matern32"}
    x, z : arrays, shapes (n, d) and (m, d)
    phi : array, shape (d,)
        Inverse squared length-scales, φ_k = 1 / (2 ℓ_k²).

    Returns
    -------
    array, shape (n, m)

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0]])
    >>> correlation("se", x, x, np.array([0.5])).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """
    check_choice("kernel", kernel, KERNELS)
    return _VALUE[kernel](scaled_sqdist(x, z, phi))


def correlation_and_slope(kernel: str, x: FloatArray, z: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """ρ(q_ij) and its derivative ρ'(q_ij), shapes (n, m); ∂ρ/∂x_ik = 2 φ_k (x_ik − z_jk) ρ'(q_ij).

    Examples
    --------
    >>> import numpy as np
    >>> rho, slope = correlation_and_slope("se", np.zeros((1, 1)), np.ones((1, 1)), np.array([0.5]))
    >>> float((rho + slope)[0, 0])
    0.0
    """
    q = scaled_sqdist(x, z, phi)
    if kernel == "se":
        rho = np.exp(-q)
        return rho, -rho
    a = np.sqrt(2.0 * _FREEDOM[kernel] * q)
    decay = np.exp(-a)
    if kernel == "matern32":
        return (1.0 + a) * decay, -3.0 * decay
    return (1.0 + a + a * a / 3.0) * decay, -5.0 / 3.0 * (1.0 + a) * decay


def spectral_draw(rng: np.random.Generator, kernel: str, phi: FloatArray, size: int) -> FloatArray:
    """Frequencies ω from the kernel's spectral density, shape (size, d): ρ(x − x') = E cos ω·(x − x').

    Gaussian for the squared exponential, Student-t with 2ν degrees of freedom for Matérn of smoothness ν.

    Examples
    --------
    >>> import numpy as np
    >>> spectral_draw(np.random.default_rng(0), "se", np.array([0.5, 2.0]), 7).shape
    (7, 2)
    """
    check_choice("kernel", kernel, KERNELS)
    omega = rng.standard_normal((size, phi.size)) * np.sqrt(2.0 * phi)
    if kernel != "se":
        freedom = _FREEDOM[kernel]
        omega *= np.sqrt(freedom / rng.chisquare(freedom, size))[:, None]
    return omega


def log_phi_gradient(kernel: str, x: FloatArray, phi: FloatArray, weights: FloatArray) -> FloatArray:
    """Gradient of Σ_ij W_ij ρ_φ(x_i, x_j) with respect to log φ, for a symmetric W held fixed.

    Since ∂ρ/∂log φ_k = φ_k Δ_k² ρ'(q), no (n, n, d) array is needed.

    Parameters
    ----------
    kernel : {"se", "matern52", "matern32"}
    x : array, shape (n, d)
    phi : array, shape (d,)
    weights : array, shape (n, n)

    Returns
    -------
    array, shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0]])
    >>> log_phi_gradient("se", x, np.array([0.5]), np.ones((2, 2))).round(4)
    array([-0.6065])
    """
    m = weights * _SLOPE[kernel](scaled_sqdist(x, x, phi))
    # Σ_ij m_ij (x_ik − x_jk)² = 2 Σ_i (Σ_j m_ij) x_ik² − 2 x_kᵀ m x_k
    return np.asarray(2.0 * phi * (m.sum(axis=1) @ (x * x) - np.einsum("ik,ik->k", x, m @ x)))
