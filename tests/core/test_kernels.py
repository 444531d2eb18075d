import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from infgp.core.kernels import KERNELS, correlation, log_phi_gradient, phi_from_log_ell
from infgp.errors import InvalidInputError


@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        ("se", RBF),
        ("matern52", lambda ell: Matern(ell, nu=2.5)),
        ("matern32", lambda ell: Matern(ell, nu=1.5)),
    ],
)
def test_values_agree_with_scikit_learn(kernel, reference, rng):
    x, z = rng.random((7, 3)), rng.random((5, 3))
    ell = np.array([0.2, 0.7, 1.9])
    assert np.allclose(correlation(kernel, x, z, phi_from_log_ell(np.log(ell))), reference(ell)(x, z), atol=1e-13)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient(kernel, rng):
    x = rng.random((8, 3))
    w = rng.normal(size=(8, 8))
    w += w.T
    log_phi = rng.normal(size=3)
    gradient = log_phi_gradient(kernel, x, np.exp(log_phi), w)
    for k in range(3):
        step = 1e-6 * np.eye(3)[k]
        up, down = (np.sum(w * correlation(kernel, x, x, np.exp(log_phi + s))) for s in (step, -step))
        assert gradient[k] == pytest.approx((up - down) / 2e-6, abs=1e-7)


def test_points_a_hair_apart_are_not_confused():
    x = np.array([[0.5], [0.5 + 1e-9]])
    rho = correlation("se", x, x, np.array([1e14]))
    assert rho[0, 1] == pytest.approx(np.exp(-1e-4), rel=1e-6)


def test_unknown_kernel_is_named():
    with pytest.raises(InvalidInputError, match=r"kernel='rbf' is not known; use one of 'se', 'matern52'"):
        correlation("rbf", np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1))
