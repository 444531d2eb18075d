"""Hypervolumes, against sums over all cells of a grid, and what a Gaussian point adds, against many draws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infgp.search.frontier import worst
from infgp.search.hypervolume import Boxes, hypervolume, undominated
from infgp.search.improvement import log_h


def by_cells(points, reference):
    """Volume of the cells of the grid through all coordinates that some point dominates."""
    edges = [
        np.unique(np.append(np.maximum(column, low), low)) for column, low in zip(points.T, reference, strict=True)
    ]
    total = 0.0
    for index in np.ndindex(*(edge.size - 1 for edge in edges)):
        top = np.array([edge[i + 1] for edge, i in zip(edges, index, strict=True)])
        sides = [edge[i + 1] - edge[i] for edge, i in zip(edges, index, strict=True)]
        total += math.prod(sides) * bool((points >= top).all(axis=1).any())
    return total


def corners(boxes: Boxes):
    lower, upper = (
        np.column_stack([edge[side] for edge, side in zip(boxes.edges, sides.T, strict=True)])
        for sides in (boxes.lower, boxes.upper)
    )
    return lower, upper


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(2, 4), st.data())
def test_hypervolume_is_that_of_the_cells(objectives, data):
    """Integers, so that points share coordinates, repeat and dominate each other."""
    row = st.lists(st.integers(-1, 5), min_size=objectives, max_size=objectives)
    points = np.array(data.draw(st.lists(row, min_size=1, max_size=7)), dtype=float)
    reference = np.zeros(objectives)
    assert hypervolume(points, reference) == pytest.approx(by_cells(points, reference))


@pytest.mark.parametrize("objectives", [2, 3, 4])
def test_boxes_tile_what_is_not_dominated(objectives):
    rng = np.random.default_rng(objectives)
    points, reference = rng.random((12, objectives)), np.full(objectives, 0.1)
    lower, upper = corners(undominated(points, reference))
    at = rng.uniform(0.1, 1.2, (4000, objectives))
    inside = ((at[:, None] > lower) & (at[:, None] < upper)).all(axis=2).sum(axis=1)
    free = ~(points[None] >= at[:, None]).all(axis=2).any(axis=1)
    np.testing.assert_array_equal(inside, free)


@pytest.mark.parametrize("objectives", [2, 3, 4])
def test_what_a_sure_point_adds_is_the_difference_of_two_hypervolumes(objectives):
    rng = np.random.default_rng(objectives)
    points, reference, new = rng.random((10, objectives)), np.zeros(objectives), rng.random((30, objectives)) + 0.2
    gain = np.exp(undominated(points, reference).log_gain(new, np.full(new.shape, 1e-9)))
    before = by_cells(points, reference)
    expected = [by_cells(np.vstack((points, row)), reference) - before for row in new]
    np.testing.assert_allclose(gain, expected, atol=1e-7)


@pytest.mark.parametrize("objectives", [2, 3, 4])
def test_expected_gain_is_the_mean_over_draws(objectives):
    rng = np.random.default_rng(objectives)
    points, reference = rng.random((8, objectives)), np.zeros(objectives)
    mean, sd = rng.random((3, objectives)), rng.uniform(0.1, 0.5, (3, objectives))
    boxes = undominated(points, reference)
    lower, upper = corners(boxes)
    draws = mean + sd * rng.standard_normal((40_000, 1, objectives))
    gains = np.maximum(np.minimum(draws[:, :, None], upper) - lower, 0.0).prod(axis=3).sum(axis=2)
    error = gains.std(axis=0) / math.sqrt(draws.shape[0])
    assert np.all(np.abs(np.exp(boxes.log_gain(mean, sd)) - gains.mean(axis=0)) < 4.5 * error)


def test_one_front_point_far_above_leaves_a_finite_order():
    """Two strips, each reached by a tail of 60 or 80 standard deviations: no underflow, and nearer is better."""
    boxes = undominated(np.array([[8.0, 8.0]]), np.zeros(2))
    sd = np.full((2, 2), 0.1)
    far = boxes.log_gain(np.array([[2.0, 2.0], [0.0, 0.0]]), sd)
    assert np.isfinite(far).all()
    assert far[0] > far[1]
    log_tail = math.log(0.1) + float(log_h(np.array([-60.0]))[0])
    log_width = math.log(2.0)  # E (y − 0)₊ − E (y − 8)₊ for y about 2
    assert far[0] == pytest.approx(math.log(2.0) + log_tail + log_width, rel=1e-6)


def test_order_and_units_of_objectives_do_not_matter():
    rng = np.random.default_rng(5)
    points, mean, sd = rng.random((9, 3)), rng.random((20, 3)), np.full((20, 3), 0.2)
    scale, shift, turn = np.array([3.0, 0.2, 10.0]), np.array([-4.0, 7.0, 0.5]), [2, 0, 1]
    plain = undominated(points, worst(points)).log_gain(mean, sd)
    moved = points * scale + shift
    other = undominated(moved[:, turn], worst(moved)[turn]).log_gain(
        (mean * scale + shift)[:, turn], (sd * scale)[:, turn]
    )
    np.testing.assert_allclose(other - plain, np.log(scale).sum(), atol=1e-6)


def test_nothing_above_the_reference_point():
    points, reference = np.array([[0.5, 2.0], [2.0, 0.5]]), np.ones(2)
    assert hypervolume(points, reference) == 0.0
    gain = undominated(points, reference).log_gain(np.full((1, 2), 3.0), np.full((1, 2), 1e-9))
    assert np.exp(gain) == pytest.approx(4.0)
