"""Windows are separate fits, whether the series comes whole or in pieces, in one process or in two."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsls import HGSI, HSLS, ConvergenceWarning, KNNHypergraph, random_hypergraph, smooth_signals, windows
from hsls.tables import Signals
from hsls.windowing import _cut, iter_windows

X = smooth_signals(random_hypergraph(12, 6, 3, random_state=0), 90, random_state=0)
MODEL = HSLS(cardinalities=(2, 3), neighbors=4)


@pytest.mark.parametrize(("length", "step", "starts"), [(30, None, [0, 30, 60]), (40, 25, [0, 25, 50]), (90, 1, [0])])
def test_every_window_is_a_fit_of_its_own(length, step, starts):
    result = windows(MODEL, X, length, step=step)
    assert result.bounds.tolist() == [[start, start + length] for start in starts]
    for window, start in zip(result.windows, starts, strict=True):
        fitted = HSLS(cardinalities=(2, 3), neighbors=4).fit(X[:, start : start + length])
        assert window.hypergraph == fitted.hypergraph_
        assert window.gap == fitted.duality_gap_
    np.testing.assert_array_equal(result.gaps, [window.gap for window in result.windows])
    assert len(result) == len(starts) == len(result.hypergraphs)
    assert (result.length, result.step) == (length, step or length)


def test_the_number_of_processes_changes_nothing():
    assert windows(MODEL, X, 30, n_jobs=1) == windows(MODEL, X, 30, n_jobs=2)


@given(st.integers(1, 7), st.integers(1, 9), st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_pieces_are_cut_into_the_windows_of_the_whole(length, step, sizes):
    whole = np.arange(2 * sum(sizes), dtype=float).reshape(2, -1)
    pieces = [Signals(piece, None) for piece in np.split(whole, np.cumsum(sizes)[:-1], axis=1)]
    found = list(_cut(pieces, length, step))
    starts = range(0, whole.shape[1] - length + 1, step)
    assert [start for start, _ in found] == list(starts)
    assert all(np.array_equal(window.values, whole[:, start : start + length]) for start, window in found)


def test_a_series_in_pieces_gives_the_windows_of_the_whole():
    names = [f"n{i}" for i in range(12)]
    table = pd.DataFrame(X.T, columns=names)
    model = HSLS(neighbors=4, nodes="columns")
    whole = windows(model, table, 40, step=20)
    assert windows(model, (table.iloc[start : start + 13] for start in range(0, 90, 13)), 40, step=20) == whole
    assert whole.hypergraphs[0].nodes == tuple(names)


def test_an_endless_series_is_read_only_as_far_as_its_windows_are_wanted():
    read = itertools.count()

    def endless():
        rng = np.random.default_rng(0)
        while True:
            next(read)
            yield rng.standard_normal((6, 5))

    found = iter_windows(KNNHypergraph(2), endless(), 10)
    assert [window.start for window in itertools.islice(found, 4)] == [0, 10, 20, 30]
    found.close()
    assert next(read) <= 20


def test_union_weights_and_presence_tell_what_comes_and_goes():
    result = windows(HGSI(3, 5), X, 30)
    edges = sorted({edge for H in result.hypergraphs for edge in H.edges})
    assert result.union.edges == edges
    for row, edge in enumerate(edges):
        for column, H in enumerate(result.hypergraphs):
            expected = dict(zip(H.edges, H.weights.tolist(), strict=True)).get(edge)
            assert result.presence[row, column] == (expected is not None)
            assert result.weights[row, column] == (expected or 0.0)
    np.testing.assert_array_equal(result.union.frequencies, result.presence.mean(axis=1))
    np.testing.assert_allclose(result.union.weights, result.weights.sum(axis=1) / result.presence.sum(axis=1))
    assert np.isnan(result.gaps).all()  # in closed form there is none


def test_weights_of_the_observations_go_with_them():
    omega = np.linspace(0.1, 3.0, 90)
    result = windows(HSLS(neighbors=4, observation_weights=omega), X, 45)
    for start, found in zip((0, 45), result.hypergraphs, strict=True):
        fitted = HSLS(neighbors=4, observation_weights=omega[start : start + 45]).fit(X[:, start : start + 45])
        assert found == fitted.hypergraph_
    with pytest.raises(ValueError, match="observation_weights are for one table"):
        iter_windows(HSLS(observation_weights=omega), [X], 45)


def test_windows_that_do_not_converge_are_told_of_once():
    with pytest.warns(ConvergenceWarning, match=r"the fits of 3 of 3 windows gave warnings") as given:
        result = windows(HSLS(max_iter=1), X, 30)
    assert len(given) == 1
    assert [window.n_warnings for window in result.windows] == [1, 1, 1]


def test_what_cannot_be_fitted_is_named():
    gappy = X.copy()
    gappy[4, 30:60] = np.nan
    with pytest.raises(ValueError, match=r"observations 30 to 59: node 4 has no observation"):
        windows(MODEL, gappy, 30)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: windows(MODEL, X, 91), "a window of 91 observations is longer than the series of 90; lower length"),
        (lambda: windows(MODEL, iter([X]), 91), "the series is shorter than one window of 91 observations"),
        (lambda: windows(MODEL, X, 0), "length must be at least 1"),
        (lambda: windows(MODEL, X, 10, step=0), "step must be at least 1"),
        (lambda: windows(MODEL, iter([X, X[:5]]), 80), "nodes of a piece of the series are others than those"),
        (lambda: windows(HSLS, X, 10), "estimator must learn hypergraphs"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
