"""The convergence picture: the gap by iteration, one curve a solution."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from hsls import draw_convergence


def history(gaps, start=0):
    n = len(gaps)
    return {"iteration": np.arange(start, start + n), "gap": np.asarray(gaps, float), "seconds": np.arange(n) * 0.1}


FAST = SimpleNamespace(history=history([1.0, 1e-2, 1e-5, 1e-9]))
SLOW = SimpleNamespace(history=history(1 / np.arange(1.0, 31)))


@pytest.fixture(autouse=True)
def no_figures_left_in_pyplot():
    before = pyplot.get_fignums()
    yield
    assert pyplot.get_fignums() == before


@pytest.mark.parametrize("given", [FAST, FAST.history, SimpleNamespace(history_=FAST.history)])
def test_a_solution_a_history_or_an_estimator_gives_one_curve_without_legend(given):
    ax = draw_convergence(given)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xydata(), np.c_[FAST.history["iteration"], FAST.history["gap"]])
    assert ax.get_yscale() == "log"
    assert ax.get_legend() is None
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("iteration", "relative duality gap")


def test_a_mapping_gives_a_curve_for_each_label_in_order():
    ax = draw_convergence({"newton": FAST, "fbf": SLOW.history})
    assert [len(line.get_xydata()) for line in ax.lines] == [4, 30]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["newton", "fbf"]
    assert len({line.get_color() for line in ax.lines}) == 2
    assert len({line.get_linestyle() for line in ax.lines}) == 2  # told apart without colour too


@pytest.mark.parametrize("label", ["_hidden", "$x^2$", "$\\nosuch{$", ""])
def test_labels_are_written_literally(label):
    ax = draw_convergence({label: FAST, "other": SLOW})
    text = ax.get_legend().get_texts()[0]
    assert text.get_text() == label
    assert not text.get_parse_math()
    ax.figure.canvas.draw()


def test_points_that_are_not_finite_are_dropped():
    ax = draw_convergence(history([np.inf, np.nan, 0.5, 0.1], start=3))
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), [(5, 0.5), (6, 0.1)])


def test_gaps_of_zero_and_below_stand_at_machine_precision():
    ax = draw_convergence(history([1.0, 0.0, -1e-18]))
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [1.0, np.finfo(float).eps, np.finfo(float).eps])


def test_a_single_point_can_be_seen():
    ax = draw_convergence(history([0.0]))
    assert ax.lines[0].get_marker() not in ("None", None, "")
    ax.figure.canvas.draw()


def test_curves_of_very_different_lengths_share_a_logarithmic_scale_of_iterations():
    long = history(np.geomspace(1, 1e-3, 5000))
    assert draw_convergence({"newton": FAST, "fbf": long}).get_xscale() == "symlog"
    assert draw_convergence({"newton": FAST, "fbf": SLOW}).get_xscale() == "linear"
    assert draw_convergence(long).get_xscale() == "linear"


def test_the_users_axes_are_used_and_returned_and_keep_what_they_show():
    ax = Figure().add_subplot()
    (own,) = ax.plot([0, 1], [1, 1], label="own")
    assert draw_convergence({"a": FAST, "b": SLOW}, ax=ax) is ax
    assert ax.lines[0] is own
    assert len(ax.lines) == 3
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({}, TypeError, "an empty mapping"),
        ([1, 2], TypeError, "got list"),
        ({"a": FAST, "b": 3}, TypeError, "the solution under 'b' has no history"),
        ({"a": history([np.nan])}, ValueError, "history of 'a' holds no finite gap"),
        (history([]), ValueError, "the history holds no finite gap"),
        ({"iteration": [0, 1], "gap": [1.0]}, ValueError, "one length"),
    ],
)
def test_what_has_no_history_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        draw_convergence(given)
