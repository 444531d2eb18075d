from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest, norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from infgp.core.model import Data, Model
from infgp.core.priors import Priors
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.errors import NumericalError
from infgp.predict.mixture import Mixture, main_surface, off_surface_probability, predictive, sample_rewards
from infgp.predict.paths import draw_path
from infgp.predict.targets import TargetLaw


@pytest.fixture
def mixture(rng):
    weights = rng.dirichlet(np.ones(4), size=6)
    return Mixture(weights, rng.normal(size=(6, 4)) * 3.0, rng.gamma(2.0, size=(6, 4)))


def test_moments_density_and_distribution_function_agree(mixture):
    grid = np.linspace(-40.0, 40.0, 200_001)
    step = grid[1] - grid[0]
    for i in range(6):
        one = Mixture(mixture.weights[i : i + 1], mixture.means[i : i + 1], mixture.variances[i : i + 1])
        density = np.array([w * norm(m, np.sqrt(v)).pdf(grid) for w, m, v in zip(*vars_of(one), strict=True)]).sum(0)
        mean = np.sum(grid * density) * step
        assert one.mean()[0] == pytest.approx(mean, abs=1e-6)
        assert one.std()[0] == pytest.approx(np.sqrt(np.sum((grid - mean) ** 2 * density) * step), abs=1e-6)
        y = np.array([0.7])
        assert one.cdf(y)[0] == pytest.approx(np.sum(density[grid <= 0.7]) * step, abs=1e-3)
        assert np.exp(one.logpdf(y))[0] == pytest.approx(np.interp(0.7, grid, density), rel=1e-6)


def vars_of(mixture):
    return mixture.weights[0], mixture.means[0], mixture.variances[0]


def test_quantiles_invert_the_distribution_function(mixture):
    levels = np.array([1e-6, 0.01, 0.5, 0.975, 1 - 1e-6])
    quantiles = mixture.quantile(levels)
    assert quantiles.shape == (6, 5)
    for j, level in enumerate(levels):
        assert np.allclose(mixture.cdf(quantiles[:, j]), level, rtol=1e-9, atol=1e-12)


def test_quantiles_of_one_component_and_of_far_modes():
    one = Mixture(np.ones((1, 1)), np.array([[2.0]]), np.array([[9.0]]))
    assert one.quantile(np.array([0.975]))[0, 0] == pytest.approx(2.0 + 3.0 * 1.959964, abs=1e-5)
    far = Mixture(np.array([[0.5, 0.5]]), np.array([[0.0, 1e9]]), np.array([[1e-12, 1.0]]))
    assert far.quantile(np.array([0.25]))[0, 0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("mean", [1e11, -3e12, 1e15])
def test_quantiles_where_means_dwarf_the_spread(mean):
    mix = Mixture(np.full((1, 2), 0.5), np.array([[mean, mean]]), np.ones((1, 2)))
    assert mix.quantile(np.array([0.05, 0.95]))[0] == pytest.approx(
        [mean - 1.64485, mean + 1.64485], abs=4 * np.spacing(mean)
    )


def test_quantiles_that_cannot_be_found_are_an_error():
    with pytest.raises(NumericalError, match="quantile was not found"):
        Mixture(np.ones((1, 1)), np.array([[np.nan]]), np.ones((1, 1))).quantile(np.array([0.5]))


def one_surface(n, d, lengthscale, sigma2, tau2, nu=1e-14):
    phi = np.broadcast_to(0.5 / np.square(lengthscale), (1, d)).copy()
    return State(np.zeros(n, int), np.zeros(d + 1), nu, phi, np.array([sigma2]), np.array([tau2]))


@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        ("se", RBF),
        ("matern52", lambda ell: Matern(ell, nu=2.5)),
        ("matern32", lambda ell: Matern(ell, nu=1.5)),
    ],
)
@pytest.mark.parametrize("known", [0.0, 0.3], ids=["", "known noise"])
def test_gaussian_process_limit(known, kernel, reference, rng):
    """One surface and ν → 0 (not ∞, as the paper has it): scikit-learn's GP to 1e-8."""
    x, at = rng.random((25, 2)), rng.random((40, 2)) * 1.4 - 0.2
    y = np.sin(5.0 * x[:, 0]) + 0.1 * rng.normal(size=25)
    ell, sigma2, tau2 = np.array([0.3, 0.8]), 1.7, 0.02
    noise = known * rng.exponential(size=25)
    gp = GaussianProcessRegressor(
        ConstantKernel(sigma2) * reference(ell) + WhiteKernel(tau2), alpha=noise, optimizer=None
    )
    mean, std = gp.fit(x, y).predict(at, return_std=True)
    model = Model(kernel, Priors().resolve(2), ard=True)
    states, data = [one_surface(25, 2, ell, sigma2, tau2)] * 3, Data(x, y, noise)
    mix = predictive([Conditioned(s, data, model) for s in states], at)
    assert np.abs(mix.mean() - mean).max() < 1e-8
    assert np.abs(mix.std() - std).max() < 1e-8
    main, main_std = main_surface([Conditioned(s, data, model) for s in states], at)
    assert np.abs(main - mean).max() < 1e-8
    assert np.abs(main_std - np.sqrt(std**2 - tau2)).max() < 1e-8


def test_own_scales_multiply_known_noise(rng):
    """A surface with scale s is one with σ², τ² and v multiplied by s, to whatever looks at it."""
    x, y, at, noise = rng.random((8, 1)), rng.normal(size=8), rng.random((3, 1)), rng.exponential(size=8)
    model, one = Model("se", Priors().resolve(1), ard=False), one_surface(8, 1, 0.3, 1.0, 0.1, nu=0.5)
    scaled, data = replace(one, scale=np.array([3.0, 3.0])), Data(x, y, noise)
    plain, wide = one_surface(8, 1, 0.3, 3.0, 0.3, nu=0.5), Data(x, y, 3.0 * noise)
    first, second = (
        predictive([Conditioned(scaled, data, model)], at),
        predictive([Conditioned(plain, wide, model)], at),
    )
    assert np.allclose(first.means, second.means)
    assert np.allclose(first.variances, second.variances)
    for mean, other in zip(
        TargetLaw.of(Conditioned(scaled, data, model), "main")(at),
        TargetLaw.of(Conditioned(plain, wide, model), "main")(at),
        strict=True,
    ):
        assert np.allclose(mean, other)
    draws = [
        sample_rewards(np.random.default_rng(1), [Conditioned(s, d, model)], at)
        for s, d in ((scaled, data), (plain, wide))
    ]
    assert np.allclose(*draws)


def test_paths_and_beliefs_know_the_noise(rng):
    """Paths have the kriging mean and variance of `main_surface`, and so has a belief."""
    x, at, noise = rng.random((6, 1)), np.array([[0.2], [0.7]]), np.array([0.0, 0.5, 2.0, 0.1, 0.0, 1.0])
    model, state = Model("se", Priors().resolve(1), ard=False), one_surface(6, 1, 0.3, 1.2, 0.05)
    data = Data(x, rng.normal(size=6), noise)
    mean, std = main_surface([Conditioned(state, data, model)], at)
    law = TargetLaw.of(Conditioned(state, data, model), "main")(at)
    assert np.allclose(law[0], mean)
    assert np.allclose(law[1], std**2)
    draws = np.array([draw_path(rng, Conditioned(state, data, model), "main")(at) for _ in range(4000)])
    assert np.abs(draws.mean(axis=0) - mean).max() < 5.0 * std.max() / np.sqrt(4000)
    assert np.allclose(draws.std(axis=0), std, rtol=0.06)


def test_infinite_concentration_is_not_a_gaussian_process(rng):
    """ν → ∞ puts each observation on a surface of its own: the data then says nothing about other inputs."""
    data = Data(np.linspace(0, 1, 10)[:, None], 5.0 * np.ones(10))
    state = State(np.arange(10), np.zeros(2), 1e12, np.full((1, 1), 2.0), np.ones(1), 0.1 * np.ones(1))
    given = Conditioned(state, data, Model("se", Priors().resolve(1), False))
    assert np.allclose(predictive([given], data.x).mean(), 0.0, atol=1e-6)


def two_surfaces():
    x = np.linspace(0.0, 1.0, 8)[:, None]
    labels = np.array([0, 1, 0, 0, 1, 0, 0, 0])
    data = Data(x, np.where(labels == 1, 4.0, -1.0))
    state = State(labels, np.array([0.3, 0.1]), 0.7, np.full((1, 1), 1.5), np.array([2.0]), np.array([0.05]))
    return state, data, Model("se", Priors().resolve(1), ard=False)


def test_predictive_is_proposition_1_term_by_term():
    state, data, model = two_surfaces()
    at = np.array([[0.35]])
    mix = predictive([Conditioned(state, data, model)], at)
    assert np.allclose(mix.weights[0], np.array([6.0, 2.0, 0.7]) / 8.7)
    assert np.allclose(Conditioned(state, data, model).urn_weights(at), mix.weights)
    level = 0.3 + 0.1 * 0.35
    for j, label in enumerate((0, 1)):
        s = np.flatnonzero(state.labels == label)
        gaps = data.x[s] - data.x[s].T
        cov = 2.0 * np.exp(-1.5 * gaps**2) + 0.05 * np.eye(s.size)
        cross = 2.0 * np.exp(-1.5 * (data.x[s, 0] - 0.35) ** 2)
        r = data.y[s] - data.h[s] @ state.beta
        assert mix.means[0, j] == pytest.approx(level + cross @ np.linalg.solve(cov, r))
        assert mix.variances[0, j] == pytest.approx(2.05 - cross @ np.linalg.solve(cov, cross))
    assert mix.means[0, 2] == pytest.approx(level)
    assert mix.variances[0, 2] == pytest.approx(2.05)


def test_draws_are_averaged():
    state, data, model = two_surfaces()
    other = one_surface(8, 1, 0.5, 1.0, 0.3)
    at = np.array([[0.2], [0.9]])
    both = predictive([Conditioned(s, data, model) for s in (state, other)], at)
    alone = [predictive([Conditioned(s, data, model)], at) for s in (state, other)]
    y = np.array([0.5, 3.0])
    assert np.allclose(both.cdf(y), 0.5 * (alone[0].cdf(y) + alone[1].cdf(y)))
    assert np.allclose(both.mean(), 0.5 * (alone[0].mean() + alone[1].mean()))


def test_samples_follow_the_predictive_distribution(rng):
    state, data, model = two_surfaces()
    at = np.array([[0.1], [0.12], [0.8]])
    draws = np.array([sample_rewards(rng, [Conditioned(state, data, model)], at) for _ in range(4000)])
    mix = predictive([Conditioned(state, data, model)], at)
    for i in range(3):
        one = Mixture(mix.weights[i : i + 1], mix.means[i : i + 1], mix.variances[i : i + 1])
        uniform = one_cdf(one, draws[:, i])
        assert kstest(uniform, "uniform").pvalue > 1e-4
    same_mode = np.mean((draws[:, 0] > 1.5) == (draws[:, 1] > 1.5))
    assert 0.5 < same_mode < 0.9  # neighbours share surfaces, but each is seated for itself


def one_cdf(mixture, values):
    return np.concatenate([mixture.cdf(np.array([v])) for v in values])


def test_off_surface_probability_counts_draws():
    state, data, model = two_surfaces()
    other = one_surface(8, 1, 0.5, 1.0, 0.3)
    assert off_surface_probability([Conditioned(s, data, model) for s in [state, other]]).tolist() == [
        0,
        0.5,
        0,
        0,
        0.5,
        0,
        0,
        0,
    ]
