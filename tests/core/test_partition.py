from collections import Counter

import numpy as np
import pytest

from infgp.core.model import Model, prior_draw
from infgp.core.partition import (
    canonical,
    enumerate_partitions,
    expected_surfaces,
    log_gamma_variate,
    stick_logpdf,
    stick_sample,
    urn_logpdf,
    urn_sample,
)
from infgp.core.priors import Fixed, Priors
from infgp.testing import frequency_test
from tests.proofs import all_labels


@pytest.mark.parametrize("nu", [0.3, 1.7, 5.0])
def test_urn_is_a_probability(nu):
    assert sum(np.exp(urn_logpdf(z, nu)) for z in enumerate_partitions(6)) == pytest.approx(1.0)


@pytest.mark.parametrize("nu", [0.3, 1.7, 5.0])
def test_urn_simulation_matches_its_density(nu, rng):
    partitions = list(enumerate_partitions(5))
    seen = Counter(tuple(urn_sample(rng, 5, nu)) for _ in range(10_000))
    counts = np.array([seen[tuple(z)] for z in partitions], float)
    assert counts.sum() == 10_000
    assert frequency_test(counts, np.exp([urn_logpdf(z, nu) for z in partitions])) > 1e-4


@pytest.mark.parametrize("nu", [0.3, 1.7, 5.0])
def test_number_of_surfaces_under_the_prior(nu, rng):
    """E K_n = Σ ν / (ν + i − 1); the paper's approximations do not enter."""
    n, draws = 40, 4000
    model = Model("se", Priors(nu=Fixed(nu)).resolve(1), ard=False)
    x = rng.random((n, 1))
    surfaces = np.array([prior_draw(rng, x, model).n_surfaces for _ in range(draws)])
    standard_error = surfaces.std() / np.sqrt(draws)
    assert abs(surfaces.mean() - expected_surfaces(nu, n)) < 4 * standard_error


def test_paper_example_of_surface_count():
    """ν = 1 and n = 10⁵ give twelve surfaces, not fewer than five."""
    assert expected_surfaces(1.0, 10**5) == pytest.approx(12.09, abs=0.01)


def test_sticks_are_a_probability():
    assert sum(np.exp(stick_logpdf(np.array(z), 0.6, 4)) for z in all_labels(4, 4)) == pytest.approx(1.0)


def truncated_law(nu, sticks, n=4):
    """Exact law of the partition under truncated sticks."""
    law: Counter[tuple[int, ...]] = Counter()
    for z in all_labels(n, sticks):
        labels = np.array(z)
        law[tuple(canonical(labels))] += np.exp(stick_logpdf(labels, nu, sticks))
    return law


def truncation_gap(nu, sticks, n=4):
    """Total variation between the laws of the partition under L sticks and under the urn.

    It bounds that between the predictive distributions, and bounds it sharply where surfaces are far apart.
    """
    law = truncated_law(nu, sticks, n)
    return 0.5 * sum(abs(law[tuple(z)] - np.exp(urn_logpdf(z, nu))) for z in enumerate_partitions(n))


@pytest.mark.parametrize("nu", [0.3, 0.6, 1.7, 5.0])
def test_truncation_gap_shrinks_as_two_sticks_in_the_tail(nu):
    """The gap is at most P(two of n observations lie beyond stick L − 1) = C(n, 2) (ν / (ν + 2))^{L−1}."""
    gaps = [truncation_gap(nu, sticks) for sticks in range(2, 9)]
    bounds = [6.0 * (nu / (nu + 2.0)) ** (sticks - 1) for sticks in range(2, 9)]
    assert np.all(np.diff(gaps) < 0.0)
    assert np.all(np.array(gaps) < np.array(bounds))


@pytest.mark.parametrize("nu", [1.7, 5.0])
def test_truncation_gap_obeys_corollary_1_for_large_nu(nu):
    """2 n exp(−(L − 1) / ν), the paper's rate."""
    for sticks in range(2, 9):
        assert truncation_gap(nu, sticks) < 8.0 * np.exp(-(sticks - 1) / nu)


def test_corollary_1_is_too_optimistic_for_small_nu():
    """At ν = 0.3 the gap falls by (ν + 2) / ν = 7.7 a stick, not by exp(1 / ν) = 28 (docs/departures.md)."""
    assert truncation_gap(0.3, 8) > 8.0 * np.exp(-7 / 0.3)
    assert truncation_gap(0.3, 7) / truncation_gap(0.3, 8) == pytest.approx(2.3 / 0.3, rel=0.1)


def test_truncated_predictive_approaches_the_urn(rng):
    """Prior predictive of the truncated model against a Chinese-restaurant simulation: pairs that share a surface."""
    nu, draws = 1.7, 20_000
    model = Model("se", Priors(nu=Fixed(nu)).resolve(1), ard=False)
    x = np.zeros((2, 1))

    def shared(truncation):
        together = [np.ptp(prior_draw(rng, x, model, truncation).labels) == 0 for _ in range(draws)]
        return np.mean(together)

    urn, error = shared(None), np.sqrt(0.25 / draws)
    gaps = {sticks: shared(sticks) - urn for sticks in (2, 4, 16)}
    assert gaps[2] > gaps[4] + 4 * error
    for sticks, gap in gaps.items():
        assert abs(gap) < (nu / (nu + 2.0)) ** (sticks - 1) + 6 * error


@pytest.mark.parametrize("nu", [1e-12, 1e-6, 0.3, 50.0])
def test_sticks_survive_any_concentration(nu, rng):
    for counts in (np.zeros(6, int), np.array([30, 0, 0, 1, 0, 0])):
        log_w = stick_sample(rng, nu, counts)
        assert np.isfinite(log_w).all()
        assert np.exp(log_w).sum() == pytest.approx(1.0)


def test_log_gamma_variates_have_the_right_law(rng):
    from scipy.stats import kstest, loggamma

    for shape in (0.05, 0.7, 3.0):
        draws = log_gamma_variate(rng, np.full(5000, shape))
        assert kstest(draws, loggamma(shape).cdf).pvalue > 1e-4
