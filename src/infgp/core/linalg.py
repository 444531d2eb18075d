"""Dense linear algebra that does not fail on near-singular covariance matrices."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from threadpoolctl import ThreadpoolController

from infgp.core.forks import renew_after_fork
from infgp.errors import NumericalError

FloatArray = NDArray[np.float64]

#: Jitters that are added to a diagonal, tried in turn, in units of the mean of the diagonal. The first is zero. The
#: last is far above the rounding error of any matrix that fits into memory.
JITTER_LADDER = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)


class _OneThread:
    """Counts who is inside; the first to enter limits the libraries, and the last to leave gives them back."""

    def __init__(self) -> None:
        self._limiter: Any = None
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Nobody is inside any more."""
        self._lock, self._inside = threading.Lock(), 0
        if self._limiter is not None:
            self._limiter.restore_original_limits()
            self._limiter = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limiter = _libraries().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._limiter is not None:
                self._limiter.restore_original_limits()
                self._limiter = None


_ONE_THREAD = _OneThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Context in which BLAS uses one thread; contexts of several threads may overlap in any order.

    Our matrices are small: a second thread costs more than it brings (20 times more on a busy two-core
    machine), and a fixed number of threads keeps sums, and so seeds, reproducible.
    """
    return _ONE_THREAD


@cache
def _libraries() -> Any:
    """The libraries with thread pools, NumPy's and SciPy's among them; looking for them takes milliseconds."""
    return ThreadpoolController()


def cholesky(a: FloatArray) -> FloatArray:
    """Lower Cholesky factor of a symmetric matrix, with the least jitter of the ladder that works.

    Parameters
    ----------
    a : array, shape (n, n)
        Symmetric, positive semi-definite up to rounding.

    Returns
    -------
    array, shape (n, n)
        Lower triangular C with C Cᵀ = a + jitter · mean(diag a) · I.

    Raises
    ------
    NumericalError
        If the matrix is not finite or stays indefinite with the largest jitter.

    Examples
    --------
    >>> import numpy as np
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]])
    """
    n = a.shape[0]
    for jitter in JITTER_LADDER:
        b = a
        if jitter:
            b = a.copy()
            b.flat[:: n + 1] += jitter * float(np.mean(np.diag(a)))
        factor, info = lapack.dpotrf(b.T, lower=1, clean=1)  # symmetric: the transpose saves LAPACK a copy
        if info == 0 and np.isfinite(factor[-1, -1]):
            return factor  # type: ignore[no-any-return]
    raise NumericalError(
        "A covariance matrix could not be factorised; inputs or hyperparameters are out of range",
        size=n,
        finite=bool(np.isfinite(a).all()),
        diagonal=(float(np.min(np.diag(a))), float(np.max(np.diag(a)))),
    )


def solve_lower(factor: FloatArray, b: FloatArray, transposed: bool = False) -> FloatArray:
    """Solve C x = b (or Cᵀ x = b) for a lower triangular C.

    Examples
    --------
    >>> import numpy as np
    >>> solve_lower(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([2.0, 3.0]))
    array([1., 2.])
    """
    x, _ = lapack.dtrtrs(factor, b, lower=1, trans=int(transposed))
    return x  # type: ignore[no-any-return]


def solve_cholesky(factor: FloatArray, b: FloatArray) -> FloatArray:
    """Solve (C Cᵀ) x = b, given the lower Cholesky factor C.

    Examples
    --------
    >>> import numpy as np
    >>> solve_cholesky(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([4.0, 2.0]))
    array([1., 0.])
    """
    x, _ = lapack.dpotrs(factor, b, lower=1)
    return x  # type: ignore[no-any-return]


def log_det(factor: FloatArray) -> float:
    """Log determinant of C Cᵀ, given the lower Cholesky factor C.

    Examples
    --------
    >>> import numpy as np
    >>> round(log_det(np.diag([1.0, 2.0])), 4)
    1.3863
    """
    return 2.0 * float(np.sum(np.log(np.diag(factor))))
