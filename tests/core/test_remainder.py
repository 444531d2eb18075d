from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_t

from infgp.core.remainder import CONSTANT, LENGTHS, STRENGTHS, Patterns, Remainder, draw_remainder
from tests.exact import central_differences

#: The largest of a few dozen z-scores exceeds this once in 10⁵ seeds.
LARGEST_Z = 5.5


def correlation(a, b, length):
    """Of the squared exponential with a length-scale in units of √d."""
    return np.exp(-cdist(a, b, "sqeuclidean") / (2.0 * a.shape[1] * LENGTHS[length] ** 2))


@pytest.fixture
def x(rng):
    return rng.random((14, 2))


@pytest.fixture
def missed(rng, x):
    return np.sin(5.0 * x[:, 0]) + 0.5 * rng.standard_normal(14)


@pytest.fixture
def left(x, missed):
    return Remainder.of(Patterns(x), missed)


@pytest.fixture
def at(rng, x):
    """At one input, among the inputs and far away."""
    return np.vstack((x[:1], rng.random((5, 2)), [[4.0, -3.0]]))


def log_evidence(missed, covariance):
    """Of e ~ N(0, v C) with p(v) ∝ 1 / v, up to a constant, as the limit of a Student t with few degrees of freedom."""
    tiny = 1e-9  # of v ~ InverseGamma(tiny / 2, tiny² / 2), which is 1 / v where it matters
    return multivariate_t.logpdf(missed, shape=tiny * covariance, df=tiny)


def posterior(x, missed, length, strength, at):
    """Mean and covariance of one pattern at `at`, by dense formulas."""
    inner = strength * correlation(x, x, length) + np.eye(len(x))
    across = strength * correlation(at, x, length)
    noise = missed @ np.linalg.solve(inner, missed) / len(x)
    covariance = strength * correlation(at, at, length) - across @ np.linalg.solve(inner, across.T)
    return across @ np.linalg.solve(inner, missed), noise * covariance


def exact(x, missed):
    """Probability that there is no pattern, the chances of the others by length-scale and strength, and the centre."""
    n, flat = len(x), [0.0, *STRENGTHS]
    logs = [log_evidence(missed, np.eye(n) + a) + np.log(CONSTANT / len(flat)) for a in flat]
    pairs = [(length, a) for length in range(len(LENGTHS)) for a in STRENGTHS]
    for length, a in pairs:
        one = log_evidence(missed, a * correlation(x, x, length) + np.eye(n))
        logs.append(one + np.log((1.0 - CONSTANT) / len(pairs)))
    chance = np.exp(np.array(logs) - np.max(logs))
    without, chance = chance[: len(flat)], chance / chance.sum()
    centre = without / without.sum() @ [a * missed.sum() / (1.0 + a * n) for a in flat]
    chance = np.where(chance < 0.01, 0.0, chance)
    chance /= chance.sum()
    return chance[: len(flat)].sum(), dict(zip(pairs, chance[len(flat) :], strict=True)), centre


def mixture(x, missed, at):
    """Mean and covariance of r − centre over all patterns, from their dense posteriors."""
    flat, chances, centre = exact(x, missed)
    parts = [(c, *posterior(x, missed, *pair, at)) for pair, c in chances.items()]
    parts = [(flat, np.zeros(len(at)), np.zeros((len(at), len(at)))), *((c, m - centre, v) for c, m, v in parts)]
    mean = sum(c * m for c, m, _ in parts)
    return mean, sum(c * (v + np.outer(m - mean, m - mean)) for c, m, v in parts)


def test_chances_are_those_of_student_t_evidence(x, missed, left):
    flat, chances, centre = exact(x, missed)
    assert left.flat == pytest.approx(flat, rel=1e-4, abs=1e-9)
    found = {(s.length, a): c for s in left.shapes for a, c in zip(s.strength, s.chance, strict=True)}
    assert len(found) > 3
    assert found == pytest.approx({pair: c for pair, c in chances.items() if c}, rel=1e-4)
    assert left.centre == pytest.approx(centre, rel=1e-4)


def test_moments_of_each_pattern_are_those_of_a_gaussian_process(x, missed, left, at):
    for shape in left.shapes:
        for j, strength in enumerate(shape.strength):
            one = replace(shape, **{k: getattr(shape, k)[..., j : j + 1] for k in ("strength", "noise", "weights")})
            one = replace(one, shrunk=shape.shrunk[:, j : j + 1], chance=np.ones(1))
            mean, variance = replace(left, flat=0.0, shapes=(one,))(at)
            wanted, covariance = posterior(x, missed, shape.length, strength, at)
            assert mean == pytest.approx(wanted - left.centre, abs=1e-8)
            assert variance == pytest.approx(np.diag(covariance), abs=1e-8)


def test_moments_are_those_of_the_mixture(x, missed, left, at):
    mean, covariance = mixture(x, missed, at)
    assert left(at)[0] == pytest.approx(mean, abs=1e-5)
    assert left.mean(at) == pytest.approx(mean, abs=1e-5)
    assert left(at)[1] == pytest.approx(np.diag(covariance), abs=1e-5)


def test_the_gradient_is_that_of_the_mean(left, at):
    assert left.gradient(at) == pytest.approx(central_differences(left.mean, at), rel=1e-5, abs=1e-7)
    assert np.abs(left.gradient(at)).max() > 0.1


def test_differences_are_those_of_the_joint_law(x, missed, left, at):
    _, covariance = mixture(x, missed, at)
    for i, j, slopes in ((1, 2, (1.0, 1.0)), (0, 6, (0.7, 1.9)), (3, 4, (2.0, -0.5))):
        sign = np.array([slopes[0], -slopes[1]])
        wanted = sign @ covariance[np.ix_([i, j], [i, j])] @ sign
        assert left.difference(at[i], at[j], np.array(slopes)) == pytest.approx(wanted, rel=1e-4, abs=1e-6)
    assert left.difference(at[1], at[1], np.ones(2)) == pytest.approx(0.0, abs=1e-9)


def test_draws_have_the_moments_of_the_mixture(rng, missed, left, at, monkeypatch):
    monkeypatch.setattr("infgp.core.remainder.FEATURES", 48)  # moments are exact for any number
    mean, covariance = mixture(left.patterns.x, missed, at)
    draws = np.array([draw_remainder(rng, left, missed).value_and_gradient(at)[0] for _ in range(6000)])
    gap = draws - mean
    i, j = np.triu_indices(len(at))

    def largest(factor):
        both = np.hstack((gap, gap[:, i] * gap[:, j] - factor * covariance[i, j]))
        return np.max(np.abs(both.mean(axis=0)) / (both.std(axis=0) / np.sqrt(len(gap))))

    assert largest(1.0) < LARGEST_Z
    assert largest(1.2) > LARGEST_Z  # that is enough of them


def test_draws_have_gradients(rng, missed, left, at):
    for _ in range(5):
        drawn = draw_remainder(rng, left, missed)
        slopes = central_differences(lambda u, drawn=drawn: drawn.value_and_gradient(u)[0], at)
        assert drawn.value_and_gradient(at)[1] == pytest.approx(slopes, rel=1e-5, abs=1e-6)


def test_over_levels_each_pattern_has_its_share(left, at):
    levels = (np.arange(4000) + 0.5) / 4000
    chosen = [left.settled(level) for level in levels]
    assert all(one.flat == left.flat and len(one.shapes) == 1 for one in chosen)
    assert all(one.shapes[0].chance == pytest.approx([1.0 - left.flat]) for one in chosen)
    picked = [(one.shapes[0].length, one.shapes[0].strength[0]) for one in chosen]
    for shape in left.shapes:
        for strength, chance in zip(shape.strength, shape.chance, strict=True):
            share = picked.count((shape.length, strength)) / 4000
            assert share == pytest.approx(chance / (1.0 - left.flat), abs=1e-3)
    assert np.mean([one.mean(at) for one in chosen[::40]], axis=0) == pytest.approx(left.mean(at), abs=0.02)


@pytest.mark.parametrize("missed", [np.zeros(9), np.array([1.0, -3.0]), np.empty(0)], ids=["nothing", "two", "none"])
def test_where_little_was_missed_nothing_is_left(missed, rng):
    x = rng.random((missed.size, 2))
    left, at = Remainder.of(Patterns(x), missed), rng.random((4, 2))
    assert (left.flat, left.centre, left.spread, left.shapes) == (1.0, 0.0, 0.0, ())
    assert left.settled(0.3) is left
    assert all((part == 0.0).all() for part in (*left(at), left.mean(at), left.gradient(at)))
    assert left.difference(at[0], at[1], np.ones(2)) == 0.0
    assert (draw_remainder(rng, left, missed).value_and_gradient(at)[0] == 0.0).all()


@pytest.mark.parametrize("unit", [-1.0, 3.0, 1e-9, 1e9])
def test_the_unit_does_not_matter(unit, x, missed, left, at):
    other = Remainder.of(left.patterns, unit * missed)
    assert other.flat == pytest.approx(left.flat)
    assert other.centre == pytest.approx(unit * left.centre)
    assert other.spread == pytest.approx(unit**2 * left.spread)
    assert other(at)[0] == pytest.approx(unit * left(at)[0], rel=1e-6)
    assert other(at)[1] == pytest.approx(unit**2 * left(at)[1], rel=1e-6)
    assert other.gradient(at) == pytest.approx(unit * left.gradient(at), rel=1e-6)


def test_what_is_the_same_everywhere_is_the_centre(rng):
    x = rng.random((200, 1))
    left = Remainder.of(Patterns(x), 2.0 + rng.standard_normal(200))
    assert left.centre == pytest.approx(2.0, abs=0.3)
    assert left.spread == pytest.approx(1.0 / 200.0, rel=0.3)  # of a mean of 200 with variance 1
    assert np.ptp(left.mean(np.linspace(0.0, 1.0, 9)[:, None])) < 0.3


def test_rare_events_are_learned_from_their_sizes_and_places(rng):
    x = rng.random((200, 1))
    missed = -9.0 * (rng.random(200) < x[:, 0] ** 2)
    left = Remainder.of(Patterns(x), missed)
    assert left.mean(np.array([[0.1], [0.5], [0.9]])) + left.centre == pytest.approx(
        -9.0 * np.array([0.01, 0.25, 0.81]), abs=1.6
    )


def lonely_crashes(rng, crashes):
    """Inputs in a cluster and ten lonely ones, and misses that are small but at some of the lonely inputs."""
    x = np.vstack((0.5 + 0.02 * rng.standard_normal((30, 2)), rng.random((10, 2))))
    missed = 0.1 * rng.standard_normal(40)
    missed[30 : 30 + crashes] -= 9.0
    return x, missed


def test_two_crashes_at_lonely_inputs_prove_nothing():
    flat = [Remainder.of(Patterns(x), e).flat for x, e in (lonely_crashes(rng, 2) for rng in generators(20))]
    assert np.mean(flat) > 0.2 * CONSTANT


def test_crashes_at_all_lonely_inputs_are_a_pattern():
    flat = [Remainder.of(Patterns(x), e).flat for x, e in (lonely_crashes(rng, 10) for rng in generators(20))]
    assert np.mean(flat) < 0.01 * CONSTANT


def generators(count):
    return map(np.random.default_rng, range(count))
