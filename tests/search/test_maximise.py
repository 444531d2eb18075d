from itertools import product

import numpy as np
import pytest

from infgp.core.model import Data, Model
from infgp.core.priors import Priors
from infgp.core.state import Surface
from infgp.core.surface import Conditional
from infgp.predict.paths import Path, draw_surface_path
from infgp.search.maximise import candidates, maximise
from infgp.space import Choice, Float, Int, Space

PATHS = 10


def cube(d):
    return Space.of({f"x{k}": Float(0.0, 1.0) for k in range(d)})


def nothing(space):
    return np.empty((0, space.d))


def prior_path(rng, d, lengthscale=0.3):
    """A draw of the prior whose length-scale, in units of the cube's diagonal, does not depend on the dimension."""
    surface = Surface(np.empty(0, int), np.full(d, 0.5 / (d * lengthscale**2)), 1.0, 0.1)
    nobody = Data(np.empty((0, d)), np.empty(0))
    return draw_surface_path(rng, Conditional.of(surface, nobody.y, nobody, Model("se", Priors().resolve(d), ard=True)))


@pytest.mark.parametrize("d", [1, 2, 3, 5, 7, 10])
def test_maxima_of_paths_are_found(d, monkeypatch):
    """At least 99 % of the range of a path, which a search of thirty times the effort finds."""
    monkeypatch.setattr("infgp.predict.paths.FEATURES", 128)  # cheaper, and as rough
    space, found = cube(d), []
    for seed in range(PATHS):
        rng = np.random.default_rng([d, seed])
        path = prior_path(rng, d)
        x, value = maximise(rng, path, space, nothing(space))
        assert path(x[None])[0] == pytest.approx(value, rel=1e-12)
        assert ((x >= 0.0) & (x <= 1.0)).all()
        top = max(value, *(maximise(rng, path, space, nothing(space), effort=10)[1] for _ in range(3)))
        bottom = path(rng.random((5000, d))).min()
        found.append((value - bottom) / (top - bottom))
    assert min(found) > 0.99, found


def test_a_narrow_peak_is_found_from_a_good_point():
    class Peak:
        def __call__(self, at):
            return self.value_and_gradient(at)[0]

        def value_and_gradient(self, at):
            gap = at - 0.123456
            value = np.exp(-0.5 * (gap**2).sum(axis=1) / 0.01**2)
            return value, -gap / 0.01**2 * value[:, None]

    space = cube(5)
    good = np.full((1, 5), 0.13)
    x, value = maximise(np.random.default_rng(0), Peak(), space, good)
    assert x == pytest.approx(np.full(5, 0.123456), abs=1e-3)
    assert value == pytest.approx(1.0, abs=1e-3)


def test_the_result_is_at_least_as_good_as_every_good_point(rng):
    space, path = cube(4), prior_path(rng, 4, 0.05)
    good = rng.random((5, 4))
    _, value = maximise(rng, path, space, good)
    assert value >= path(good).max()


def test_coordinates_that_matter_move_more_often():
    d, good = 40, np.full((1, 40), 0.5)
    weight = np.where(np.arange(d) < 4, 1.0, 1e-3)
    near, far = slice(17, 17 + 400), slice(417, None)
    points = candidates(np.random.default_rng(0), cube(d), good, 16, 400, weight)
    assert points.shape == (16 + 1 + 400 + 16, d)
    moved = (points[near] != 0.5).mean(axis=0)
    assert moved[:4].min() > 0.99
    assert moved[4:].mean() == pytest.approx(0.125, abs=0.02)
    anywhere = points[far]
    assert (anywhere[:, :4] != 0.5).all()
    assert np.ptp(anywhere[:, :4], axis=0).min() > 0.5
    assert (anywhere[:, 4:] == 0.5).mean() > 0.8


def test_without_weights_all_coordinates_move_alike():
    points = candidates(np.random.default_rng(0), cube(40), np.full((1, 40), 0.5), 16, 400)[17:]
    assert (points != 0.5).mean(axis=0) == pytest.approx(np.full(40, 0.25), abs=0.1)


MIXED = Space.of(
    {
        "x": Float(0.0, 1.0),
        "n": Int(1, 40),
        "kind": Choice(["a", "b", "c"]),
        "rate": Float(1e-4, 1.0, log=True),
        "only": Int(3, 3),
    }
)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_scored_is_what_is_evaluated(seed):
    rng = np.random.default_rng(seed)
    path = prior_path(rng, MIXED.d)
    x, value = maximise(rng, path, MIXED, MIXED.sobol(rng, 3))
    assert x == pytest.approx(MIXED.snap(x[None])[0], abs=1e-12)
    assert path(x[None])[0] == pytest.approx(value, rel=1e-12)
    many = path(MIXED.snap(rng.random((20_000, MIXED.d))))
    assert value >= many.max() - 0.01 * np.ptp(many)


@pytest.mark.parametrize("seed", range(5))
def test_small_discrete_spaces_are_searched_exactly(seed):
    space = Space.of({"n": Int(1, 6), "k": Int(1, 16, log=True), "kind": Choice(["a", "b", "c"])})
    points = [dict(zip(space.names, v, strict=True)) for v in product(range(1, 7), range(1, 17), "abc")]
    rng = np.random.default_rng(seed)
    path = prior_path(rng, space.d, 0.1)
    x, value = maximise(rng, path, space, nothing(space))
    every = path(space.to_unit(points))
    assert value == pytest.approx(every.max(), rel=1e-9)
    assert space.from_unit(x[None]) == [points[int(np.argmax(every))]]


@pytest.mark.parametrize("seed", range(5))
def test_choices_are_improved_one_at_a_time(seed):
    """Far more points than candidates, but no choice depends on another."""
    rng = np.random.default_rng(seed)
    space = Space.of({f"kind{k}": Choice(["a", "b", "c"]) for k in range(9)})
    weights = rng.normal(size=(9, 3))
    _, value = maximise(rng, Path(np.append(0.0, weights)), space, nothing(space))
    assert value == pytest.approx(weights.max(axis=1).sum())


class Broken:
    """A plane that cannot be scored where its first coordinate is beyond an edge."""

    def __init__(self, edge, d):
        self.edge, self.plane = edge, Path(np.append(0.0, np.ones(d)))

    def __call__(self, at):
        return np.where(at[:, 0] > self.edge, np.nan, self.plane(at))

    def value_and_gradient(self, at):
        value, gradient = self.plane.value_and_gradient(at)
        bad = at[:, 0] > self.edge
        return np.where(bad, np.nan, value), np.where(bad[:, None], np.nan, gradient)


@pytest.mark.parametrize("space", [cube(1), cube(3), Space.of({"x": Float(0.0, 1.0), "n": Int(1, 9)})])
@pytest.mark.parametrize("edge", [0.01, 0.1, 0.5, 0.9])
def test_what_cannot_be_scored_is_never_chosen(space, edge):
    rng = np.random.default_rng(0)
    x, value = maximise(rng, Broken(edge, space.d), space, np.full((1, space.d), 0.999))
    assert np.isfinite(value)
    assert x[0] <= edge
    assert value == pytest.approx(x.sum())


def test_a_score_that_is_never_a_number_still_gives_a_point():
    x, value = maximise(np.random.default_rng(0), Broken(-1.0, 2), cube(2), nothing(cube(2)))
    assert ((x >= 0.0) & (x <= 1.0)).all()
    assert value == -np.inf


def test_candidates_are_spread_and_gather_around_the_good_points(rng):
    good = np.array([[0.3, 0.7, 0.5], [0.9, 0.1, 0.0]])
    points = candidates(rng, cube(3), good, 256)
    assert ((points >= 0.0) & (points <= 1.0)).all()
    for centre in good:
        distance = np.abs(points - centre).max(axis=1)
        assert (distance == 0.0).any()
        assert ((distance > 0.0) & (distance < 0.01)).sum() >= 3
    assert np.abs(np.histogramdd(points[:256], (2, 2, 2), [(0.0, 1.0)] * 3)[0] - 32).max() <= 1  # Sobol


def test_the_same_seed_finds_the_same_point():
    path = prior_path(np.random.default_rng(1), 3)
    a, b = (maximise(np.random.default_rng(5), path, cube(3), nothing(cube(3))) for _ in range(2))
    assert np.array_equal(a[0], b[0])
    assert a[1] == b[1]
