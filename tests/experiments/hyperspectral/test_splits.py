"""The splits of table IV: how many of which class, none twice, the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras import needed
from hsls.datasets import load_indian_pines
from hsls.experiments.hyperspectral._splits import draw
from scenes import raw

CLASSES = raw()[1].astype(np.int64)


@given(trial=st.integers(0, 50), seed=st.integers(0, 2**32))
def test_each_labelled_pixel_has_one_part_and_each_class_its_share(trial, seed):
    split = draw(CLASSES, trial, seed)
    together = np.concatenate([split.train, split.validation, split.test])
    np.testing.assert_array_equal(np.sort(together), np.flatnonzero(CLASSES))
    flat = CLASSES.ravel()
    np.testing.assert_array_equal(np.bincount(flat[split.validation]), [0, 4, 4])
    np.testing.assert_array_equal(np.bincount(flat[split.train]), [0, 11, 46])
    np.testing.assert_array_equal(np.bincount(flat[split.test]), [0, 13, 20])


def test_indian_pines_splits_as_in_the_paper():
    needed("tensorly")
    classes = load_indian_pines()[1].astype(np.int64)
    splits = [draw(classes, trial) for trial in range(5)]
    assert {(len(s.train), len(s.validation), len(s.test)) for s in splits} == {(631, 64, 9554)}
    assert len({s.test.tobytes() for s in splits}) == 5


def test_all_machines_draw_the_same():
    split = draw(CLASSES, 3, 7)
    assert split.validation.tolist() == [11, 13, 58, 63, 76, 88, 96, 118]
    assert draw(CLASSES, 3, 7).train.tolist() == split.train.tolist()
    assert draw(CLASSES, 4, 7).train.tolist() != split.train.tolist()
    assert draw(CLASSES, 3, 8).train.tolist() != split.train.tolist()


def test_every_pixel_of_a_class_is_as_likely_to_be_drawn():
    counts = sum(np.bincount(draw(CLASSES, trial).validation, minlength=CLASSES.size) for trial in range(700))
    drawn = counts[CLASSES.ravel() == 2]  # 700 trials, 4 of 70 pixels: 40 each, standard deviation 6.1
    assert abs(drawn.mean() - 40) < 1e-9
    assert 12 < drawn.min() <= drawn.max() < 68


def test_too_small_a_class_is_named():
    classes = np.where(CLASSES == 1, 3, CLASSES)
    with pytest.raises(ValueError, match="class 1 has 0 pixels, but a split needs more than 15"):
        draw(classes, 0)
