import numpy as np
import pytest

from infgp.core.kernels import KERNELS
from infgp.core.model import Data, Model
from infgp.core.priors import Priors
from infgp.core.state import State, Surface
from infgp.core.surface import Conditional, Conditioned
from infgp.predict.paths import draw_path, draw_surface_path
from infgp.predict.targets import TargetWeights
from infgp.testing import frequency_test
from tests.exact import central_differences, kriging, regional_case, rho, target_law

PATHS = 4000
TARGETS = ("expected", "main", "mean", "surface")
#: The largest of about 600 z-scores in this file exceeds this once in 3 000 seeds.
LARGEST_Z = 5.0

PHI = np.array([3.0, 0.8])
OWN = np.array([0.6, 3.0, 1.7, 2.5])


def case(kernel, own):
    """Seven observations on surfaces of four, two and one, with scales of their own or not."""
    rng = np.random.default_rng(3)
    labels = np.array([0, 1, 0, 0, 1, 0, 2])
    data = Data(rng.random((7, 2)), 2.0 * rng.normal(size=7) + 3.0 * labels)
    scale = OWN if own else np.ones(1)
    state = State(labels, np.array([0.3, 0.7, -0.4]), 0.6, PHI[None], np.array([1.8]), np.array([0.15]), scale)
    model = Model(kernel, Priors().resolve(2), ard=True, scale_shape=2.0 if own else 0.0)
    return state, data, model


def places(x):
    """At some of the data, between them and far away."""
    return np.vstack((x[:3], 0.5 * (x[0] + x[1]), 0.5 * (x[2] + x[3]), [[0.9, 0.1], [4.0, -3.0], [-9.0, 9.0]]))


def largest_z(draws, mean, covariance):
    """Largest z-score of the sample means and, about the true mean, the sample covariances of draws, shape (N, m)."""
    gap = draws - mean
    i, j = np.triu_indices(mean.size)
    products = gap[:, i] * gap[:, j] - covariance[i, j]
    both = np.hstack((gap, products))
    return np.max(np.abs(both.mean(axis=0)) / (both.std(axis=0) / np.sqrt(len(draws))))


@pytest.fixture
def _few_features(monkeypatch):
    """Moments are exact for any number of features."""
    monkeypatch.setattr("infgp.predict.paths.FEATURES", 48)


@pytest.mark.usefixtures("_few_features")
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("target", ["main", "mean", "expected"])
def test_moments_of_paths_are_those_of_the_posterior(kernel, own, target, rng):
    state, data, model = case(kernel, own)
    at = places(data.x)
    draws = np.array([draw_path(rng, Conditioned(state, data, model), target)(at) for _ in range(PATHS)])
    clutter = TargetWeights(Conditioned(state, data, model), target).clutter
    assert bool(clutter) == (target == "expected")
    mean, covariance = target_law(state, data, kernel, target, at, clutter=clutter)
    assert largest_z(draws, mean, covariance) < LARGEST_Z
    assert largest_z(draws, mean, 1.2 * covariance) > LARGEST_Z  # there are enough paths to tell


@pytest.mark.usefixtures("_few_features")
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_moments_of_one_surface(kernel, own, rng):
    state, data, model = case(kernel, own)
    surface, at = state.surface(1), places(data.x)
    draws = np.array([draw_surface_path(rng, Conditional.of(surface, data.y, data, model))(at) for _ in range(PATHS)])
    s = OWN[1] if own else 1.0
    members = [1, 4]
    mean, covariance = kriging(kernel, data.x[members], data.y[members], PHI, 1.8 * s, 0.15 * s, at)
    assert largest_z(draws, mean, covariance) < LARGEST_Z


@pytest.mark.usefixtures("_few_features")
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_surface_without_members_is_a_path_of_the_prior(kernel, own, rng):
    state, data, model = case(kernel, own)
    surface, at = state.surface(3), places(data.x)
    assert surface.members.size == 0
    draws = np.array([draw_surface_path(rng, Conditional.of(surface, data.y, data, model))(at) for _ in range(PATHS)])
    sigma2 = 1.8 * (OWN[3] if own else 1.0)
    assert largest_z(draws, np.zeros(len(at)), sigma2 * rho(kernel, at, at, PHI)) < LARGEST_Z


def test_paths_go_through_data_without_noise(rng):
    x = np.linspace(0.0, 1.0, 5)[:, None]
    y = rng.normal(size=5)
    surface = Surface(np.arange(5), np.array([20.0]), 1.5, 1e-10)
    model = Model("matern52", Priors().resolve(1), ard=False)
    paths = [draw_surface_path(rng, Conditional.of(surface, y, Data(x, y), model)) for _ in range(3)]
    assert all(np.allclose(path(x), y, atol=1e-3) for path in paths)
    between = np.array([path(x[:1] + 0.1)[0] for path in paths])
    assert np.ptp(between) > 1e-3


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("target", TARGETS)
def test_gradients(kernel, target, rng):
    state, data, model = case(kernel, True)
    path = draw_path(rng, Conditioned(state, data, model), target)
    at = np.vstack((places(data.x), rng.random((20, 2))))
    value, gradient = path.value_and_gradient(at)
    assert value == pytest.approx(path(at), abs=1e-12)
    assert gradient == pytest.approx(central_differences(path, at), rel=1e-6, abs=1e-6)
    alone = next(iter(path.surfaces.values()))
    value, gradient = alone.value_and_gradient(at)
    assert value == pytest.approx(alone(at), abs=1e-12)
    assert gradient == pytest.approx(central_differences(alone, at), rel=1e-6, abs=1e-6)


def test_surfaces_are_drawn_by_the_urn(rng):
    """The chi-square test raises a false alarm once in ten thousand seeds."""
    state, data, model = case("se", True)
    drawn = [list(draw_path(rng, Conditioned(state, data, model), "surface").surfaces.values()) for _ in range(3000)]
    assert all(len(surfaces) == 1 for surfaces in drawn)
    members = [surfaces[0].x.shape[0] for surfaces in drawn]
    counts = np.bincount(members, minlength=5)[[4, 2, 1, 0]]
    assert counts.sum() == 3000
    assert frequency_test(counts, np.array([4.0, 2.0, 1.0, 0.6]) / 7.6) > 1e-4
    assert frequency_test(counts, np.array([4.0, 2.0, 1.0, 1.0]) / 8.0) < 1e-4  # there are enough draws to tell


@pytest.mark.usefixtures("_few_features")
@pytest.mark.parametrize("target", ["main", "mean"])
def test_paths_follow_the_places(target, rng):
    state, data, model = regional_case()
    at = places(data.x)
    draws = np.array([draw_path(rng, Conditioned(state, data, model), target)(at) for _ in range(PATHS)])
    mean, covariance = target_law(state, data, "se", target, at, Conditioned(state, data, model).urn_weights(at))
    assert largest_z(draws, mean, covariance) < LARGEST_Z


def test_surfaces_are_drawn_by_their_weights_at_every_place(rng):
    state, data, model = regional_case()
    at = places(data.x)
    weights = Conditioned(state, data, model).urn_weights(at)
    assert np.ptp(weights, axis=0).max() > 0.1
    chosen = np.array(
        [TargetWeights(Conditioned(state, data, model), "surface", u)(at) for u in (np.arange(2000) + 0.5) / 2000]
    )
    assert (chosen.sum(axis=2) == 1.0).all()
    assert chosen.mean(axis=0) == pytest.approx(weights, abs=1e-3)


@pytest.mark.parametrize("target", TARGETS)
def test_the_same_seed_gives_the_same_path(target):
    state, data, model = case("matern52", True)
    at, given = places(data.x), Conditioned(state, data, model)
    first, again, other = (draw_path(np.random.default_rng(seed), given, target)(at) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)
