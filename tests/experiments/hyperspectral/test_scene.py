"""Scenes: scaled by their own range, and refused when they are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsls.experiments.hyperspectral._scene import Scene
from scenes import raw

CUBE, CLASSES = raw()


@given(factor=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3))
def test_units_do_not_matter(factor, shift):
    scaled = Scene.of(CUBE, CLASSES)
    assert (scaled.cube.min(), scaled.cube.max(), scaled.cube.dtype) == (0, 1, np.float32)
    np.testing.assert_allclose(Scene.of(CUBE * factor + shift, CLASSES).cube, scaled.cube, atol=1e-6)


def test_the_size_of_a_scene():
    scene = Scene.of(CUBE, CLASSES)
    assert (scene.n_pixels, scene.n_classes) == (168, 2)


@pytest.mark.parametrize("cube", [CUBE[0], CUBE.astype(str), CUBE[:0], CUBE.astype(complex)])
def test_what_is_no_cube_is_refused(cube):
    with pytest.raises(ValueError, match="height x width x bands"):
        Scene.of(cube, CLASSES)


@pytest.mark.parametrize("cube", [np.full(CUBE.shape, 3.0), np.where(CUBE > 1000, np.nan, CUBE)])
def test_a_cube_without_a_range_is_refused(cube):
    with pytest.raises(ValueError, match="finite values that are not all the same"):
        Scene.of(cube, CLASSES)


@pytest.mark.parametrize("classes", [CLASSES[1:], CLASSES * 1.0, CLASSES * 0, CLASSES.astype(int) - 1])
def test_what_is_no_ground_truth_is_refused(classes):
    with pytest.raises(ValueError, match="class of each pixel"):
        Scene.of(CUBE, classes)
