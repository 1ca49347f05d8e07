"""Accuracies and kappa against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, recall_score

from hsls.experiments.hyperspectral._scores import score


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=60))
def test_scores_are_those_of_scikit_learn(more):
    true, told = np.array([(1, 2), (2, 2), (3, 1), (4, 4), *more]).T
    found = score(told, true, 4)
    assert pytest.approx(np.mean(told == true)) == found.OA
    assert pytest.approx(balanced_accuracy_score(true, told)) == found.AA
    assert found.kappa == pytest.approx(cohen_kappa_score(true, told))
    np.testing.assert_allclose(found.classes, recall_score(true, told, average=None))


def test_the_order_of_pixels_and_one_class_alone():
    true, told = np.array([1, 1, 2, 2, 2]), np.array([1, 2, 2, 2, 1])
    again = score(told[::-1], true[::-1], 2)
    assert (again.OA, again.kappa) == (score(told, true, 2).OA, score(told, true, 2).kappa)
    assert score(np.ones(3, int), np.ones(3, int), 1).kappa == 1
