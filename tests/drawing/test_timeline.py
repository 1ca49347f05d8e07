"""The weights of hyperedges over windows: rows, order and names."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from hsls import Hypergraph, draw_timeline
from hsls.windowing import Window, Windows

NAMES = ["$a$", "b", "c_1", "d"]


def timeline(*weights):
    """Windows of 10 observations with these weights for hyperedges given by their letters' positions."""
    found = [Hypergraph.from_edges(list(own), list(own.values()), nodes=NAMES) for own in weights]
    return Windows(tuple(Window(10 * i, 10 * i + 10, H) for i, H in enumerate(found)), 10, 10)


CHANGING = timeline({(0, 1): 1.0}, {(0, 1): 2.0, (2, 3): 0.5}, {(2, 3): 3.0, (1, 2, 3): 0.0})


def cells(ax):
    return np.ma.filled(ax.images[0].get_array().astype(float), np.nan)


def test_each_hyperedge_is_a_row_in_order_of_appearance():
    ax = draw_timeline(CHANGING)
    nan = np.nan
    np.testing.assert_array_equal(cells(ax), [[1.0, 2.0, nan], [nan, 0.5, 3.0], [nan, nan, 0.0]])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["$a$, b", "c_1, d", "b, c_1, d"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "10", "20"]
    ax.figure.draw_without_rendering()
    assert ax.get_yticklabels()[0].get_text() == "$a$, b"
    assert not ax.get_yticklabels()[0].get_parse_math()


def test_the_heaviest_are_shown():
    np.testing.assert_array_equal(cells(draw_timeline(CHANGING, top=1)), [[np.nan, 0.5, 3.0]])


def test_it_draws_on_the_axes_given_and_takes_empty_windows():
    ax = Figure().subplots()
    assert draw_timeline(timeline({}, {}), ax=ax) is ax
    assert len(ax.images) == 0


def test_what_is_no_result_of_windows_is_refused():
    with pytest.raises(TypeError, match=r"draw_timeline needs what hsls.windows returns, got list"):
        draw_timeline([Hypergraph.from_edges([(0, 1)])])
    with pytest.raises(ValueError, match="top must be at least 1"):
        draw_timeline(CHANGING, top=0)
