"""The picture of a choice: every point, its size, the chosen one."""

from __future__ import annotations

import numpy as np
import pytest

from hsls import HSLS, HypergraphMLE, Path, draw_path
from learned import gaussian_signals


def path(criterion="cv", errors=(0.1, 0.2, 0.1)):
    return Path(
        "penalty",
        criterion,
        np.array([0.2, 0.1, 0.05]),
        np.array([-3.0, -1.0, -2.0]),
        np.array(errors, dtype=float),
        np.array([9, 12, 15]),
        np.zeros(3),
        1,
    )


def test_every_point_and_the_chosen_one_are_drawn():
    ax = draw_path(path())
    line, ring = (one for one in ax.lines if one.get_marker() == "o")
    np.testing.assert_allclose(line.get_xydata(), [[0.05, -2], [0.1, -1], [0.2, -3]])
    np.testing.assert_allclose(ring.get_xydata(), [[0.1, -1]])
    assert [text.get_text() for text in ax.texts] == ["15", "12", "9"]
    assert (ax.get_xlabel(), ax.get_xscale()) == ("penalty", "log")
    assert len(ax.collections) == 1  # the error bars
    assert not draw_path(path("ebic", [np.nan] * 3)).collections


def test_models_are_drawn_on_given_axes():
    X = gaussian_signals(0, 8, 20)
    ax = draw_path(HypergraphMLE(3).fit(X))
    for model in (HSLS(3, alpha="auto"), HSLS(3, n_hyperedges=4), HSLS(3, degree=1.5)):
        assert draw_path(model.fit(X), ax=ax) is ax
        assert ax.get_xlabel() == "theta"


def test_without_a_path_there_is_nothing_to_draw():
    with pytest.raises(ValueError, match="its parameter was given, not chosen; fit with penalty='auto'"):
        draw_path(HSLS().fit(gaussian_signals()))
    with pytest.raises(TypeError, match="needs a fitted estimator with a path_, or a Path; got HSLS"):
        draw_path(HSLS())
