from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t

from infgp.core.kernels import KERNELS
from infgp.core.model import Data, Model, covariance
from infgp.core.priors import Priors
from infgp.core.state import State, Surface
from infgp.core.surface import Conditional, Conditioned, draw_own_scales
from tests.exact import central_differences, kriging


def case(kernel="se", shape=0.0):
    rng = np.random.default_rng(3)
    data = Data(rng.random((7, 2)), rng.normal(size=7), rng.exponential(size=7) * 0.1)
    labels, phi = np.array([0, 1, 0, 0, 1, 0, 2]), np.array([[2.0, 0.7]])
    state = State(labels, rng.normal(size=3), 0.6, phi, np.array([1.8]), np.array([0.2]))
    return state, data, Model(kernel, Priors().resolve(2), ard=True, scale_shape=shape)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_conditional_is_that_of_the_textbook(kernel, rng):
    state, data, model = case(kernel)
    data = replace(data, noise=np.zeros(7))
    at, given = rng.random((6, 2)), Conditioned(state, data, model)
    own = state.labels == 0
    mean, cov = kriging(kernel, data.x[own], given.residual[own], state.phi[0], 1.8, 0.2, at)
    law = given.surface(0)
    for got in (law(at), law.with_gradients(at)[:2]):
        assert got[0] == pytest.approx(mean)
        assert got[1] == pytest.approx(np.diag(cov))
    assert law.joint(at)[0] == pytest.approx(mean)
    assert law.joint(at)[1] == pytest.approx(cov)
    _, _, d_mean, d_variance = law.with_gradients(at)
    assert d_mean == pytest.approx(central_differences(lambda u: law(u)[0], at), rel=1e-5, abs=1e-7)
    assert d_variance == pytest.approx(central_differences(lambda u: law(u)[1], at), rel=1e-5, abs=1e-7)


def test_a_surface_without_members_is_the_prior(rng):
    state, data, model = case()
    law, at = Conditioned(state, data, model).surface(3), rng.random((4, 2))
    assert np.array_equal(law(at)[0], np.zeros(4))
    assert np.array_equal(law(at)[1], np.full(4, 1.8))
    assert law.joint(at)[1].diagonal() == pytest.approx(1.8)
    assert not any(part.any() for part in law.with_gradients(at)[2:])


@pytest.mark.parametrize("shape", [0.0, 2.0])
def test_evidence_is_a_density(shape):
    state, data, model = case(shape=shape)
    given = Conditioned(state, data, model)
    for label in range(3):
        surface = state.surface(label)
        cov, r = covariance(model, surface, data.x, data.noise), given.residual[surface.members]
        zero = np.zeros(r.size)
        law = multivariate_t(zero, cov, df=2.0 * shape) if shape else multivariate_normal(zero, cov)
        assert given.log_evidence(label) == pytest.approx(law.logpdf(r))


def test_a_scale_multiplies_the_factor():
    """The factor of a surface whose scale was drawn is not computed again, and is that of its covariance."""
    state, data, model = case(shape=2.0)
    scaled = replace(state, scale=np.array([0.6, 3.0, 1.7, 2.5]))
    given = Conditioned(scaled, data, model)
    for label in range(3):
        fresh = Conditional.of(scaled.surface(label), given.residual, data, model)
        assert given.surface(label).factor == pytest.approx(fresh.factor)
        assert given.surface(label).noise == pytest.approx(fresh.noise)
        assert given.log_evidence(label) == pytest.approx(Conditioned(state, data, model).log_evidence(label))


def test_each_surface_is_factorised_once(monkeypatch, rng):
    calls = []
    of = Conditional.of.__func__
    monkeypatch.setattr(Conditional, "of", classmethod(lambda cls, *args: calls.append(1) or of(cls, *args)))
    state, data, model = case(shape=2.0)
    given = Conditioned(replace(state, scale=np.array([0.6, 3.0, 1.7, 2.5])), data, model)
    for _ in range(3):
        for law in given.surfaces():
            law(rng.random((2, 2)))
        given.log_evidence(0)
    assert len(calls) == 4


def test_drawn_scales_follow_their_posterior(rng):
    """s | r ~ InverseGamma(a + m / 2, a + q / 2): the mean over 4000 draws, z-scores of three surfaces within 5."""
    state, data, model = case(shape=2.0)
    draws = np.array([draw_own_scales(rng, state, data, model).scale for _ in range(4000)])
    given = Conditioned(state, data, model)
    for label in range(3):
        a, b = 2.0 + 0.5 * given.plain(label).residual.size, 2.0 + 0.5 * given.plain(label).quadratic
        inverse = 1.0 / draws[:, label]
        assert abs(inverse.mean() - a / b) < 5.0 * inverse.std() / np.sqrt(4000)


def test_a_surface_may_have_one_member():
    data, model = Data(np.array([[0.5]]), np.array([2.0])), Model("se", Priors().resolve(1), ard=False)
    law = Conditional.of(Surface(np.array([0]), np.array([3.0]), 1.0, 1.0), data.y, data, model)
    assert law(data.x)[0] == pytest.approx(1.0)
    assert law(data.x)[1] == pytest.approx(0.5)
