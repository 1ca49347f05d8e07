"""Outlines: the set of points within the padding of the convex hull, whatever the points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial import ConvexHull

from hsls.drawing.hulls import convex_hull, rounded_hull

SOME = st.integers(1, 8).map(lambda n: (n, 2))
# Whole coordinates make coincident and collinear points likely, others make nearly collinear ones.
POINTS = st.one_of(
    hnp.arrays(np.float64, SOME, elements=st.integers(-3, 3).map(float)),
    hnp.arrays(np.float64, SOME, elements=st.floats(-100, 100)),
)
PADDING = st.floats(0.01, 10)
ANGLES = np.linspace(0, 2 * np.pi, 97)
DIRECTIONS = np.stack([np.cos(ANGLES), np.sin(ANGLES)])


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def distance_to_outline(point: np.ndarray, outline: np.ndarray) -> float:
    edges = np.roll(outline, -1, axis=0) - outline
    squares = np.maximum((edges**2).sum(axis=1), 1e-300)
    along = np.clip(((point - outline) * edges).sum(axis=1) / squares, 0, 1)
    return float(np.linalg.norm(outline + along[:, None] * edges - point, axis=1).min())


@given(POINTS, PADDING)
def test_every_point_lies_inside_at_the_padding_or_more(points, padding):
    outline = rounded_hull(points, padding)
    edges = np.roll(outline, -1, axis=0) - outline
    for point in points:
        assert np.all(cross(edges, point - outline) >= -1e-9 * (1 + np.abs(points).max()))
        assert distance_to_outline(point, outline) >= 0.99 * padding


@given(POINTS, PADDING)
def test_it_reaches_just_as_far_as_the_points_and_the_padding_together_in_every_direction(points, padding):
    reach = (rounded_hull(points, padding) @ DIRECTIONS).max(axis=0)
    wanted = (points @ DIRECTIONS).max(axis=0) + padding
    assert np.all(reach <= wanted + 1e-9)
    assert np.all(reach >= wanted - 0.01 * padding - 1e-9)


@given(POINTS, PADDING, st.randoms(use_true_random=False))
def test_the_order_and_repetition_of_points_do_not_matter(points, padding, random):
    rows = points.tolist()
    shuffled = random.sample([*rows, random.choice(rows)], len(rows) + 1)
    np.testing.assert_array_equal(rounded_hull(shuffled, padding), rounded_hull(points, padding))


@given(POINTS, PADDING)
def test_the_outline_is_convex_and_goes_round_once_counter_clockwise(points, padding):
    outline = rounded_hull(points, padding)
    edges = np.roll(outline, -1, axis=0) - outline
    edges = edges[np.linalg.norm(edges, axis=1) > 1e-9 * (1 + np.abs(points).max())]
    following = np.roll(edges, -1, axis=0)
    turns = np.arctan2(cross(edges, following), (edges * following).sum(axis=1))
    assert np.all(turns >= -1e-5)
    assert turns.sum() == pytest.approx(2 * np.pi, abs=1e-4)


@given(st.integers(0, 1000))
def test_corners_agree_with_qhull_where_it_works(seed):
    points = np.random.default_rng(seed).normal(size=(20, 2))
    assert {tuple(p) for p in convex_hull(points)} == {tuple(p) for p in points[ConvexHull(points).vertices]}


@given(st.floats(-50, 50), st.floats(-50, 50), PADDING)
def test_one_point_gives_a_disc(x, y, padding):
    distances = np.linalg.norm(rounded_hull([(x, y)] * 3, padding) - (x, y), axis=1)
    np.testing.assert_allclose(distances, padding)


def test_two_points_give_a_capsule():
    outline = rounded_hull([(0, 0), (3, 0)], 0.5)
    x, y = outline.T
    area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    assert area == pytest.approx(3 * 1 + np.pi * 0.25, rel=0.002)


def test_collinear_points_have_the_capsule_of_their_ends():
    np.testing.assert_array_equal(rounded_hull([(0, 0), (2, 2), (1, 1)], 0.3), rounded_hull([(2, 2), (0, 0)], 0.3))


@pytest.mark.parametrize("bad", [[], [(1, 2, 3)], [1, 2], [(np.nan, 0)], [(0, np.inf)]])
def test_what_is_no_set_of_points_is_refused(bad):
    with pytest.raises(ValueError, match="points must be"):
        convex_hull(bad)


@pytest.mark.parametrize("padding", [0, -1, np.nan])
def test_the_padding_must_be_positive(padding):
    with pytest.raises(ValueError, match="padding must be above 0"):
        rounded_hull([(0, 0)], padding)
