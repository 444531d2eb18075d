import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from infgp.core.priors import Fixed, Gamma, Grid, InverseGamma, LogNormal, Normal, Priors, UniformPhi
from infgp.errors import InvalidInputError


@pytest.mark.parametrize(
    ("prior", "reference"),
    [
        (InverseGamma(2.5, 0.4), stats.invgamma(2.5, scale=0.4)),
        (Gamma(1.5, 3.0), stats.gamma(1.5, scale=1 / 3.0)),
        (LogNormal(loc=0.4, scale=0.8, lower=1e-9), stats.norm(0.4, 0.8)),
        (LogNormal(loc=0.4, scale=0.8, lower=1.05), stats.truncnorm((np.log(1.05) - 0.4) / 0.8, np.inf, 0.4, 0.8)),
    ],
)
def test_density_and_samples(prior, reference, rng):
    for value in (0.1, 0.5, 2.0):
        assert prior.logpdf(value) == pytest.approx(reference.logpdf(value))
    assert stats.kstest(prior.sample(rng, 4000), reference.cdf).pvalue > 1e-4


def test_normal_takes_a_mean_and_sd_for_each_coefficient(rng):
    prior = Normal(np.array([1.0, -2.0]), np.array([0.5, 3.0]))
    value = np.array([0.3, 0.4])
    assert prior.logpdf(value) == pytest.approx(stats.norm(prior.mean, prior.sd).logpdf(value).sum())
    draws = np.array([prior.sample(rng, 2) for _ in range(4000)])
    assert np.allclose(draws.std(axis=0), prior.sd, rtol=0.1)


def test_uniform_phi_is_a_density_of_log_lengthscale(rng):
    prior = UniformPhi(upper=30.0)
    total, _ = quad(lambda t: np.exp(prior.logpdf(t)), -0.5 * np.log(60.0), 12.0)
    assert total == pytest.approx(1.0, abs=1e-6)
    assert stats.kstest(prior.sample(rng, 4000), prior.cdf).pvalue > 1e-4


def test_uniform_phi_reach():
    """At φ = b_φ the correlation is exp(−3) ≈ 0.05 at the distance reach · diameter: √(3/φ), not the paper's 3/φ."""
    upper = Priors(lengthscale=UniformPhi(reach=0.1)).resolve(4).lengthscale.upper
    assert np.exp(-upper * (0.1 * np.sqrt(4)) ** 2) == pytest.approx(0.0498, abs=1e-4)


def test_lengthscale_prior_follows_the_dimension():
    for d in (1, 7):
        assert Priors().resolve(d).lengthscale.loc == pytest.approx(np.sqrt(2) + 0.5 * np.log(d))


@pytest.mark.parametrize("prior", [LogNormal(loc=0.3), UniformPhi(upper=400.0)])
def test_grid_is_a_distribution_near_its_prior(prior, rng):
    grid = Grid.of(prior, 1, 200)
    assert grid.mass.sum() == pytest.approx(1.0)
    draws = grid.sample(rng, 4000)
    assert np.median(draws) == pytest.approx(np.median(prior.sample(rng, 4000)), abs=0.15)
    assert grid.logpdf(grid.log_ell[3]) == pytest.approx(np.log(grid.mass[3]))
    assert grid.logpdf(grid.log_ell[3] + 0.01) == -np.inf


def test_noise_prior_allows_small_noise():
    assert Priors().tau2.scale <= 0.01


@pytest.mark.parametrize(
    "build",
    [
        lambda: InverseGamma(0.0, 1.0),
        lambda: Gamma(1.0, -1.0),
        lambda: Normal(0.0, 0.0),
        lambda: LogNormal(scale=np.inf),
        lambda: UniformPhi(upper=0.0),
        lambda: Priors(tau2=0.1),
        lambda: Priors(nu=InverseGamma(1.0, 1.0)),
        lambda: Priors(sigma2=Fixed(-1.0)),
    ],
)
def test_bad_priors_are_refused(build):
    with pytest.raises(InvalidInputError):
        build()
