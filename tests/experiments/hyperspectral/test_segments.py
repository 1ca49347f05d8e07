"""Superpixels and their features, against loops and on the real scene."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras import needed
from hsls.datasets import load_indian_pines
from hsls.experiments.hyperspectral import _segments
from hsls.experiments.hyperspectral._scene import Scene
from scenes import scene


@st.composite
def labelled(draw):
    """Labels that leave no number out, and the generator that drew them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 8))
    labels = np.concatenate([np.arange(count), rng.integers(0, count, 40 - count)])
    return rng.permutation(labels).reshape(5, 8), rng


@given(labelled())
def test_means_are_those_of_a_loop(drawn):
    labels, rng = drawn
    values = rng.standard_normal((40, 3)).astype(np.float32)
    expected = [values[labels.ravel() == label].mean(axis=0) for label in range(labels.max() + 1)]
    np.testing.assert_allclose(_segments.means(labels, values), expected, atol=1e-6)


@given(labelled())
def test_the_ceiling_is_what_majorities_reach(drawn):
    labels, rng = drawn
    classes = rng.integers(0, 4, labels.shape)
    classes[0, 0] = 1
    told = np.zeros_like(classes)
    for label in range(labels.max() + 1):
        own = classes[(labels == label) & (classes > 0)]
        told[labels == label] = np.bincount(own).argmax() if own.size else 0
    right = (told == classes)[classes > 0].mean()
    assert _segments.ceiling(labels, classes) == pytest.approx(right)


def test_pixels_as_superpixels_have_no_ceiling():
    some = scene()
    assert _segments.ceiling(np.arange(some.n_pixels).reshape(some.classes.shape), some.classes) == 1.0
    assert _segments.ceiling(np.zeros_like(some.classes), some.classes) == 70 / 98


@given(labelled())
def test_blocks_are_standardised_by_column(drawn):
    labels, rng = drawn
    cube = rng.random((5, 8, 6))
    convolutional = np.column_stack([rng.standard_normal((40, 2)), np.full(40, 3.0)]).astype(np.float16)
    some = Scene.of(cube, np.ones((5, 8), int))
    found = _segments.blocks(some, labels, convolutional)
    assert {name: block.shape[1] for name, block in found.items()} == {"spectral": 6, "spatial": 2, "convolutional": 3}
    for block in found.values():
        assert len(block) == labels.max() + 1
        np.testing.assert_allclose(block.mean(axis=0), 0, atol=1e-9)
        spread = block.std(axis=0)
        np.testing.assert_allclose(spread[spread > 0], 1, rtol=1e-9)
    assert not found["convolutional"][:, 2].any()


def test_centroids_are_rows_and_columns():
    labels = np.repeat([[0, 1, 2]], 4, axis=0)
    some = Scene.of(np.random.default_rng(0).random((4, 3, 2)), np.ones((4, 3), int))
    spatial = _segments.blocks(some, labels, np.zeros((12, 1)))["spatial"]
    np.testing.assert_allclose(spatial, np.column_stack([np.zeros(3), np.sqrt(1.5) * np.array([-1, 0, 1])]))


def test_indian_pines_has_the_superpixels_of_the_paper():
    needed("tensorly", "skimage")
    cube, classes, _ = load_indian_pines()
    pines = Scene.of(cube, classes)
    labels = _segments.superpixels(pines)
    np.testing.assert_array_equal(np.unique(labels), np.arange(194))
    assert round(100 * _segments.ceiling(labels, pines.classes), 1) == 94.2
    finer = _segments.superpixels(pines, 800)
    assert finer.max() > 194
    assert _segments.ceiling(finer, pines.classes) > 0.96
