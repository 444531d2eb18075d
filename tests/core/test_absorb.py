"""Absorbed members: exact where they can be, close where they cannot."""

from dataclasses import replace

import numpy as np
import pytest

from infgp.core.absorb import Absorber, Sums, joined, log_shares
from infgp.core.model import Data, Model
from infgp.core.priors import Priors
from infgp.core.state import Surface
from infgp.core.surface import Conditional
from infgp.predict.paths import draw_surface_path

PHI, SIGMA2, TAU2 = np.array([6.0, 2.0]), 1.7, 0.09
AT = np.random.default_rng(9).random((40, 2))


def law_of(x, r, kernel="se"):
    model = Model(kernel, Priors().resolve(2), ard=True)
    return Conditional.of(Surface(np.arange(r.size), PHI, SIGMA2, TAU2), r, Data(x, r), model)


def absorbed(x, r, rows, kernel="se"):
    others = np.setdiff1d(np.arange(r.size), rows)
    absorber = Absorber(law_of(x[rows], r[rows], kernel))
    sums = Sums.none(len(rows))
    for some in np.array_split(others, 3):  # in several blocks
        half, left = absorber.half(x[some])
        sums.add(half, r[some], left + TAU2)
    return absorber, sums


def replicated(rng):
    x = np.repeat(rng.random((12, 2)), 5, axis=0)
    return x, np.sin(5.0 * x[:, 0]) + 0.3 * rng.standard_normal(60), np.arange(0, 60, 5)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_replicates_are_absorbed_exactly(kernel):
    x, r, rows = replicated(np.random.default_rng(0))
    exact = law_of(x, r, kernel)
    absorber, sums = absorbed(x, r, rows, kernel)
    law = absorber.absorbed(sums)
    for own, other in zip(law(AT), exact(AT), strict=True):
        np.testing.assert_allclose(own, other, atol=2e-4)
    np.testing.assert_allclose(law.joint(AT)[1], exact.joint(AT)[1], atol=2e-4)
    np.testing.assert_allclose(law.with_gradients(AT)[2], exact.with_gradients(AT)[2], atol=2e-3)
    assert absorber.quadratic(sums) == pytest.approx(exact.quadratic, rel=1e-3)


def test_selected_members_alone_count_otherwise():
    x, r, rows = replicated(np.random.default_rng(0))
    alone = law_of(x[rows], r[rows])
    assert np.max(np.abs(alone(AT)[0] - law_of(x, r)(AT)[0])) > 0.1


def test_many_members_among_enough_selected_ones():
    rng = np.random.default_rng(1)
    x = rng.random((600, 2))
    r = np.sin(5.0 * x[:, 0]) + x[:, 1] + 0.3 * rng.standard_normal(600)
    exact = law_of(x, r)
    absorber, sums = absorbed(x, r, np.arange(80))
    mean, variance = absorber.absorbed(sums)(AT)
    assert np.max(np.abs(mean - exact(AT)[0])) < 0.05 * np.sqrt(TAU2)
    assert np.max(np.abs(np.sqrt(variance) - np.sqrt(exact(AT)[1]))) < 0.05 * np.sqrt(TAU2)


def test_joined_members_are_as_if_they_had_been_there():
    x, r, rows = replicated(np.random.default_rng(2))
    more, r_more = np.array([[0.3, 0.4], [0.9, 0.1]]), np.array([1.0, -2.0])
    absorber, sums = absorbed(x, r, rows)
    law = joined(absorber.absorbed(sums), more, r_more, np.full(2, TAU2))
    exact = law_of(np.vstack((x, more)), np.concatenate((r, r_more)))
    for own, other in zip(law(AT), exact(AT), strict=True):
        np.testing.assert_allclose(own, other, atol=2e-4)


def test_paths_have_the_moments_of_the_law():
    x, r, rows = replicated(np.random.default_rng(3))
    absorber, sums = absorbed(x, r, rows)
    law, rng = absorber.absorbed(sums), np.random.default_rng(4)
    scaled = law.scaled(replace(law.surface, sigma2=2.5 * SIGMA2, tau2=2.5 * TAU2, scale=2.5))
    paths = np.array([draw_surface_path(rng, scaled)(AT[:6]) for _ in range(1500)])
    mean, variance = scaled(AT[:6])
    np.testing.assert_allclose(variance, 2.5 * law(AT[:6])[1], rtol=1e-6)
    assert np.all(np.abs(paths.mean(axis=0) - mean) < 4.5 * np.sqrt(variance / 1500))
    np.testing.assert_allclose(paths.var(axis=0), variance, rtol=0.2)


def test_draws_at_the_selected_inputs_have_the_moments_of_the_law():
    x, r, rows = replicated(np.random.default_rng(5))
    absorber, sums = absorbed(x, r, rows)
    rng = np.random.default_rng(6)
    values = np.array([absorber.prior @ absorber.draw(rng, sums, 1.0) for _ in range(2000)])
    mean, variance = law_of(x, r)(x[rows])
    assert np.all(np.abs(values.mean(axis=0) - mean) < 4.5 * np.sqrt(variance / 2000) + 1e-3)
    np.testing.assert_allclose(values.var(axis=0), variance, rtol=0.2)


def test_shares_are_those_of_all_observations():
    selected, rest = np.array([0] * 30 + [1] * 10), np.array([0] * 950 + [1] * 10 + [2] * 5)
    weights = np.array([30.0, 10.0]) * np.exp(log_shares(selected, rest, rest.size)[:-1])
    assert weights[1] / weights.sum() == pytest.approx(20 / 1000, rel=0.05)
