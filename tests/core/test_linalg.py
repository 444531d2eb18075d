import numpy as np
import pytest

from infgp.core.linalg import _libraries, cholesky, one_blas_thread
from infgp.errors import NumericalError


def test_singular_matrix_gets_the_least_jitter():
    a = np.ones((50, 50))
    factor = cholesky(a)
    assert np.abs(factor @ factor.T - a).max() < 1e-9


def test_healthy_matrix_gets_none(rng):
    a = rng.normal(size=(20, 20))
    a = a @ a.T + np.eye(20)
    assert np.allclose(cholesky(a), np.linalg.cholesky(a), rtol=0, atol=1e-12)


@pytest.mark.parametrize("bad", [np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[np.nan]]), -np.eye(2)])
def test_hopeless_matrix_says_so(bad):
    with pytest.raises(NumericalError, match="could not be factorised") as error:
        cholesky(bad)
    assert error.value.evidence["size"] == bad.shape[0]


def test_overlapping_contexts_give_the_threads_back():
    """Two contexts that begin and end in the same order, as those of two Python threads do."""

    def threads():
        return [library["num_threads"] for library in _libraries().info() if library["user_api"] == "blas"]

    with _libraries().limit(limits=2, user_api="blas"):
        before = threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert set(threads()) == {1}
        first.__exit__(None, None, None)
        assert set(threads()) == {1}
        second.__exit__(None, None, None)
        assert threads() == before
