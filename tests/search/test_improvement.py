from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from infgp.core.kernels import KERNELS
from infgp.core.model import FLAT_GRADES, Data, Model
from infgp.core.priors import Priors
from infgp.core.scaling import RewardScale
from infgp.core.state import FLAT, State
from infgp.core.surface import Conditioned
from infgp.predict.functionals import Aim, Objective
from infgp.predict.objectives import MeanObjective, ObjectiveLaw
from infgp.predict.targets import LEAST_VARIANCE, TargetLaw
from infgp.search.improvement import LogImprovement, log_h
from tests.exact import central_differences, regional_case, target_law


def case(kernel="se", own=True, seed=4):
    """Seven observations on surfaces of four, two and one."""
    rng = np.random.default_rng(seed)
    labels = np.array([0, 1, 0, 0, 1, 0, 2])
    data = Data(rng.random((7, 2)), rng.normal(size=7) + 2.0 * labels)
    scale = np.array([0.6, 3.0, 1.7, 2.5]) if own else np.ones(1)
    phi = rng.gamma(2.0, size=(1, 2))
    state = State(labels, rng.normal(size=3), 0.6, phi, np.array([1.8]), np.array([0.15]), scale)
    return state, data, Model(kernel, Priors().resolve(2), ard=True, scale_shape=2.0 if own else 0.0)


@pytest.fixture
def at(rng):
    """At one observation, among them and far away."""
    return np.vstack((case()[1].x[:1], rng.random((12, 2)), [[5.0, -4.0]]))


@pytest.mark.parametrize("target", ["main", "mean", "expected"])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_laws_are_kriging(kernel, own, target, at):
    state, data, model = case(kernel, own)
    law = TargetLaw.of(Conditioned(state, data, model), target)
    assert law.weights.clutter == ([1, 2] if target == "expected" else [])  # two and one members prove nothing
    mean, covariance = target_law(state, data, kernel, target, at, clutter=law.weights.clutter)
    for got in (law(at), law.with_gradients(at)[:2]):
        assert got[0] == pytest.approx(mean, abs=1e-9)
        assert got[1] == pytest.approx(np.diag(covariance), abs=1e-9)
    for a, b in pairwise(range(len(at))):
        spread = covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]
        assert law.difference(at[a], at[b]) == pytest.approx((mean[a] - mean[b], spread), abs=1e-9)


@pytest.mark.parametrize("target", ["main", "mean", "expected"])
def test_laws_follow_the_places(target, at):
    state, data, model = regional_case()
    weights = Conditioned(state, data, model).urn_weights(at)
    assert np.ptp(weights, axis=0).max() > 0.1
    assert np.unique(np.argmax(weights[:, :-1], axis=1)).size > 1
    law = TargetLaw.of(Conditioned(state, data, model), target)
    assert law.weights.clutter == ([2] if target == "expected" else [])  # strewn over both
    mean, covariance = target_law(state, data, "se", target, at, weights, law.weights.clutter)
    for got in (law(at), law.with_gradients(at)[:2]):
        assert got[0] == pytest.approx(mean, abs=1e-9)
        assert got[1] == pytest.approx(np.diag(covariance), abs=1e-9)
    for a, b in pairwise(range(len(at))):
        spread = covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]
        assert law.difference(at[a], at[b]) == pytest.approx((mean[a] - mean[b], spread), abs=1e-9)
    _, _, d_mean, d_variance = law.with_gradients(at)
    assert d_mean == pytest.approx(central_differences(lambda u: law(u)[0], at), rel=1e-5, abs=1e-6)
    assert d_variance == pytest.approx(central_differences(lambda u: law(u)[1], at), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("target", ["main", "objective"])
def test_a_gain_is_uncertain_within_states_and_between_them(target, at):
    aim = Aim(Objective(), RewardScale(0.0, 1.0), target=target)
    laws = [ObjectiveLaw.of(Conditioned(*case(seed=seed)), aim) for seed in (4, 5)]
    (m, v), (n, w) = (law.difference(at[1], at[2]) for law in laws)
    assert MeanObjective(tuple(laws)).difference(at[1], at[2]) == pytest.approx(
        ((m + n) / 2, np.sqrt((v + w) / 2 + (m - n) ** 2 / 4))
    )


@pytest.mark.parametrize("target", ["main", "mean", "expected"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_of_laws(kernel, target, at):
    state, data, model = case(kernel)
    law = TargetLaw.of(Conditioned(state, data, model), target)
    _, _, d_mean, d_variance = law.with_gradients(at)
    assert d_mean == pytest.approx(central_differences(lambda u: law(u)[0], at), rel=1e-5, abs=1e-7)
    assert d_variance == pytest.approx(central_differences(lambda u: law(u)[1], at), rel=1e-5, abs=1e-7)


def hill(x):
    return np.exp(-8.0 * np.sum((x - 0.3) ** 2, axis=1))


def strewn(others, share=0.2, seed=1):
    """A hill, and other rewards at a part of the inputs: `others` of the generator and of that part."""
    rng = np.random.default_rng(seed)
    x = rng.random((60, 2))
    labels = (rng.random(60) < share).astype(int)
    labels[:2] = 0, 1
    y = hill(x)
    y[labels == 1] = others(rng, x[labels == 1])
    one = np.ones(1)
    state = State(labels, np.zeros(3), 0.1, np.full((1, 2), 4.0), one, 0.01 * one, np.array([1.0, 4.0, 1.0]))
    return state, Data(x, y + 0.05 * rng.normal(size=60)), Model("se", Priors().resolve(2), ard=True, scale_shape=2.0)


def test_clutter_is_set_aside(at):
    state, data, model = strewn(lambda rng, x: 8.0 * rng.random(len(x)))
    expected, main, mean = (
        TargetLaw.of(Conditioned(state, data, model), target) for target in ("expected", "main", "mean")
    )
    assert expected.weights.clutter == [1]
    for got, wanted in zip(expected(at), main(at), strict=True):
        assert got == pytest.approx(wanted, abs=1e-12)
    share = np.mean(state.labels)
    assert np.ptp(mean(at)[0] - (1.0 - share) * main(at)[0]) > 0.5  # in which it would be a bumpy surface


@pytest.mark.parametrize("target", ["expected", "main", "mean"])
def test_where_surfaces_may_be_flat_the_flat_ones_are_clutter(target, at):
    """Whatever their members look like: evidence has its say when the grade is drawn."""
    state, data, model = strewn(lambda rng, x: 8.0 * rng.random(len(x)))
    model = replace(model, grades=FLAT_GRADES)
    for grade, clutter in (([0, FLAT, 0], [1]), ([0, 2, 0], []), ([FLAT, 0, FLAT], [])):  # the main surface never is
        law = TargetLaw.of(Conditioned(replace(state, grade=np.array(grade)), data, model), target)
        assert law.weights.clutter == (clutter if target == "expected" else [])
        assert law.with_gradients(at)[2] == pytest.approx(central_differences(law.mean, at), rel=1e-5, abs=1e-6)


def test_what_is_not_rare_is_no_clutter(at):
    state, data, model = strewn(lambda rng, x: 8.0 * rng.random(len(x)), share=0.4)
    expected, mean = (TargetLaw.of(Conditioned(state, data, model), target) for target in ("expected", "mean"))
    assert expected.weights.clutter == []
    weights = mean.weights(at)[:, :2]
    assert expected.weights(at)[:, :2] == pytest.approx(weights / weights.sum(axis=1, keepdims=True))


def test_a_second_surface_decides_where_the_expected_reward_is_best():
    state, data, model = strewn(lambda rng, x: 6.0 * np.exp(-8.0 * np.sum((x - 0.7) ** 2, axis=1)))
    law = TargetLaw.of(Conditioned(state, data, model), "expected")
    assert law.weights.clutter == []
    hills = np.array([[0.3, 0.3], [0.7, 0.7]])
    share = np.mean(state.labels)
    assert law(hills)[0] == pytest.approx([1.0 - share, 6.0 * share], abs=0.25)
    assert (
        np.argmax(TargetLaw.of(Conditioned(state, data, model), "main")(hills)[0]) == 0
    )  # where rewards are best most of the time


def test_with_one_surface_all_targets_but_the_mean_are_the_same(at):
    state, data, model = strewn(lambda rng, x: np.zeros(len(x)))
    state = replace(state, labels=np.zeros(60, dtype=int), scale=np.ones(2))
    for expected, main in zip(
        *(TargetLaw.of(Conditioned(state, data, model), t)(at) for t in ("expected", "main")), strict=True
    ):
        assert np.array_equal(expected, main)


def test_what_is_known_has_a_variance_without_slope():
    data = Data(np.array([[0.5]]), np.array([1.0]))
    state = State(np.zeros(1, int), np.zeros(2), 0.5, np.full((1, 1), 2.0), np.ones(1), np.array([1e-15]))
    law = TargetLaw.of(Conditioned(state, data, Model("se", Priors().resolve(1), ard=False)), "main")
    _, variance, _, slope = law.with_gradients(data.x)
    assert variance == LEAST_VARIANCE == law(data.x)[1]
    assert slope == 0.0
    score = LogImprovement.of([law], data.x)
    assert np.isfinite(score(data.x)).all()
    assert all(np.isfinite(part).all() for part in score.value_and_gradient(data.x))


@pytest.mark.parametrize("z", [-30.0, -12.0, -5.0, -1.001, -1.0, -0.999, -0.3, 0.0, 0.7, 3.0, 10.0])
def test_log_h_is_an_integral(z):
    """φ(z) + z Φ(z) = φ(z) ∫₀^∞ t exp(z t − t²/2) dt, an integral without cancellation."""
    top, width = max(z, 0.0), 1.0 / max(1.0, -z)
    edges = np.array([0.0, top + width, top + 8.0 * width, top + 40.0 * width])
    integral = sum(
        quad(lambda t: t * np.exp(z * t - 0.5 * t * t - 0.5 * top**2), a, b, epsabs=0.0, epsrel=1e-12)[0]
        for a, b in pairwise(edges)
    )
    reference = norm.logpdf(z) + 0.5 * top**2 + np.log(integral)
    assert log_h(np.array([z]))[0] == pytest.approx(reference, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("z", [-50.0, -300.0, -9999.0, -10001.0, -1e5, -1e8])
def test_log_h_far_left_is_its_asymptotic_series(z):
    """φ(z) + z Φ(z) ~ φ(z) (z⁻² − 3 z⁻⁴ + 15 z⁻⁶ − 105 z⁻⁸ + …)."""
    series = np.log1p(-3.0 * z**-2 + 15.0 * z**-4 - 105.0 * z**-6)
    reference = -2.0 * np.log(-z) + series
    assert log_h(np.array([z]))[0] - norm.logpdf(z) == pytest.approx(reference, abs=max(1e-6, 4 * np.spacing(z * z)))


def test_log_h_increases_without_jumps():
    z = np.sort(np.concatenate((-np.geomspace(1e-3, 2e4, 4000), np.linspace(0.0, 10.0, 500), [-1.0, -1e4])))
    steps = np.diff(log_h(z))
    bound = np.diff(z) * (np.abs(z[:-1]) + 2.0) * 1.01  # the slope Φ / h is at most about |z| + 1
    assert (steps > 0.0).all()
    assert (steps <= bound + 1e-6).all()


@pytest.mark.parametrize("target", ["main", "mean"])
def test_improvement_is_what_simulation_says(target, rng):
    """z-scores of eight points and two targets exceed 5 once in 10⁵ seeds."""
    state, data, model = case()
    law = TargetLaw.of(Conditioned(state, data, model), target)
    at = rng.random((8, 2))
    mean, covariance = target_law(state, data, "se", target, at)
    best = float(np.median(mean))
    gains = np.maximum(mean + np.sqrt(np.diag(covariance)) * rng.normal(size=(200_000, 8)) - best, 0.0)
    error = gains.std(axis=0) / np.sqrt(len(gains))
    assert (error < 0.1 * gains.mean(axis=0)).sum() >= 4  # the regime is a moderate one
    assert np.all(np.abs(np.exp(LogImprovement((law,), (best,))(at)) - gains.mean(axis=0)) < 5.0 * error + 1e-9)


@pytest.mark.parametrize("target", ["main", "mean"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("lift", [0.0, 30.0])
def test_gradients_of_the_improvement(kernel, target, lift, rng):
    """Also far below the incumbent, where the improvement itself underflows."""
    laws = [TargetLaw.of(Conditioned(*case(kernel, seed=seed)), target) for seed in (4, 5)]
    score = LogImprovement(tuple(laws), tuple(float(b(case()[1].x)[0].max() + lift) for b in laws))
    at = rng.random((10, 2))
    value, gradient = score.value_and_gradient(at)
    assert value == pytest.approx(score(at), rel=1e-12)
    assert gradient == pytest.approx(central_differences(score, at), rel=1e-4, abs=1e-5)
    if lift:
        assert (value < -50.0).any()


def test_the_logarithm_is_averaged_over_states(at):
    (a, data, model), (b, _, _) = case(), case(seed=5)
    laws = [TargetLaw.of(Conditioned(state, data, model), "mean") for state in (a, b)]
    both = LogImprovement.of(laws, data.x)
    alone = [LogImprovement((law,), (best,))(at) for law, best in zip(laws, both.best, strict=True)]
    assert both(at) == pytest.approx(0.5 * (alone[0] + alone[1]), rel=1e-10)
    assert not np.allclose(*alone, rtol=0.01)


def test_the_incumbent_is_the_best_mean_not_the_best_reward():
    state, data, model = case()
    lucky = Data(data.x, np.where(np.arange(7) == 1, 50.0, data.y))  # off the main surface
    score = LogImprovement.of([TargetLaw.of(Conditioned(state, lucky, model), "main")], lucky.x)
    assert score.best[0] == pytest.approx(target_law(state, lucky, "se", "main", lucky.x)[0].max())
    assert score.best[0] < 10.0


def test_the_incumbent_is_one_point_for_all_states():
    """A state that takes a lucky reward for a surface does not raise what is to be beaten in it."""
    means = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, -9.0]])
    laws = [SimpleNamespace(mean=lambda at, row=row: row) for row in means]
    assert LogImprovement.of(laws, np.zeros((3, 1))).best == (1.0, 2.0)
