"""Neighbours against all distances written out: ties, identical nodes, missing values, weights and any magnitude."""

from __future__ import annotations

import importlib.util
import logging
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hsls.neighbors as room
from hsls import _threads
from hsls.neighbors import nearest_neighbors
from instances import seeds


def oracle(X, r, omega=None):
    """Positions and distances of the r nearest other rows, ties to the smaller number; NaN left out and rescaled."""
    omega = np.ones(X.shape[1]) if omega is None else omega
    squares = omega * (X[:, None] - X[None]) ** 2
    shared = np.sum(omega * ~np.isnan(squares), axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.sqrt(np.where(shared > 0, np.nansum(squares, axis=2) * np.sum(omega) / shared, np.inf))
    np.fill_diagonal(distance, np.nan)  # sorts behind infinity
    order = np.argsort(distance, axis=1, kind="stable")[:, :r]
    return order, np.take_along_axis(distance, order, axis=1)


def grid_signals(seed, n_nodes, n_observations, missing=0.0):
    """Small whole numbers: many equal distances and identical nodes, all of them without rounding."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n_nodes, n_observations)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X


@pytest.fixture
def tree_everywhere(monkeypatch):
    monkeypatch.setattr(room, "_TREE_NODES", 0)


# -- exact, by all pairs ---------------------------------------------------------------------------------------------


@given(seeds(), st.integers(2, 40), st.integers(1, 30), st.data())
def test_all_pairs_are_the_nearest_with_ties_to_the_smaller_number(seed, n_nodes, n_observations, data):
    X = grid_signals(seed, n_nodes, n_observations)
    r = data.draw(st.integers(1, n_nodes - 1))
    found = nearest_neighbors(X, r)
    order, distance = oracle(X, r)
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_array_equal(found.distances, distance)
    assert (found.method, found.exact, found.recall) == ("exact (all pairs)", True, 1.0)
    assert found.indices.dtype == np.int32


@given(seeds(), st.booleans(), st.integers(2, 25), st.data())
def test_missing_values_are_left_out_and_the_rest_scaled_up(seed, weighted, n_nodes, data):
    X = grid_signals(seed, n_nodes, 6, missing=0.5)
    # Squares, so that their roots are whole; an observation of weight 0 counts as not shared.
    omega = np.random.default_rng(seed).choice([0.0, 1.0, 4.0], 6) if weighted else None
    if weighted:
        omega[0] = 1.0
    r = data.draw(st.integers(1, n_nodes - 1))
    found = nearest_neighbors(X, r, observation_weights=omega)
    order, distance = oracle(X, r, omega)
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_allclose(found.distances, distance, rtol=1e-15)


@given(seeds(), st.integers(1, 9))
def test_weights_of_observations_stand_before_the_squares(seed, r):
    rng = np.random.default_rng(seed)
    X, omega = rng.standard_normal((10, 5)), rng.uniform(0, 3, 5)
    found = nearest_neighbors(X, r, observation_weights=omega)
    order, distance = oracle(X, r, omega)
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_allclose(found.distances, distance, rtol=1e-12)
    listed = nearest_neighbors(X, r, observation_weights=omega.tolist())
    np.testing.assert_array_equal(listed.indices, order)


def test_nodes_that_share_nothing_are_infinitely_far():
    X = np.array([[1.0, np.nan], [np.nan, 1.0], [5.0, np.nan], [2.0, 7.0]])
    found = nearest_neighbors(X, 3)
    assert found.indices.tolist() == [[3, 2, 1], [3, 0, 2], [3, 0, 1], [0, 2, 1]]
    assert np.isinf(found.distances).sum(axis=1).tolist() == [1, 2, 1, 0]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("power", [-480, -73, -66, -40, 40, 63, 100, 480])
def test_units_of_the_signals_do_not_matter(power, missing):
    """Single precision, in which most pairs are decided, loses squares below 1e-38 and ends at 1e38."""
    X = np.random.default_rng(0).standard_normal((90, 20))
    if missing:
        X[:, :3][X[:, :3] > 0.3] = np.nan
    expected = nearest_neighbors(X, 6)
    found = nearest_neighbors(2.0**power * X, 6)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, 2.0**power * expected.distances)


@pytest.mark.parametrize("few", [1, 40])
def test_small_signals_beside_large_ones(few):
    """What is small against the largest is lost in single precision, yet decided rightly."""
    X = np.random.default_rng(0).standard_normal((80, 20))
    X[few:] *= 1e-22
    # The oracle takes the two kinds apart: beside the large ones the small ones are all but at the origin.
    order, distance = oracle(1e22 * X[few:], 5)
    found = nearest_neighbors(X, 5)
    np.testing.assert_array_equal(found.indices[few:], order + few)
    np.testing.assert_allclose(found.distances[few:], 1e-22 * distance, rtol=1e-12)


@pytest.mark.parametrize("n_nodes", [50, 300])
@pytest.mark.parametrize("spread", [1e-9, 1e-5, 1.0])
def test_crowds_too_dense_for_single_precision(n_nodes, spread):
    """More nodes within its error than there is room for: these rows are decided in double precision."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_nodes, 25))
    X[: n_nodes // 2] *= spread
    X += 1e3
    order, distance = oracle(X, 4)
    found = nearest_neighbors(X, 4)
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_allclose(found.distances, distance, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_any_split_into_blocks_and_threads_gives_the_same(monkeypatch, threads, missing):
    X = grid_signals(0, 400, 12, missing)
    expected = oracle(X, 7)[0]
    monkeypatch.setattr(room, "_BLOCK_BYTES", 500_000)
    with _threads.limit(threads):
        np.testing.assert_array_equal(nearest_neighbors(X, 7).indices, expected)


def test_signals_are_not_changed():
    X = np.asfortranarray(grid_signals(0, 30, 8, missing=0.1))
    before = X.copy()
    np.testing.assert_array_equal(nearest_neighbors(X, 3).indices, oracle(before, 3)[0])
    np.testing.assert_array_equal(X, before)
    whole = np.arange(12).reshape(6, 2) ** 2
    np.testing.assert_array_equal(nearest_neighbors(whole, 3).indices, oracle(whole.astype(float), 3)[0])


# -- exact, by a tree ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("tree_everywhere")
@given(seeds(), st.integers(2, 60), st.integers(1, 4), st.booleans(), st.data())
def test_a_tree_finds_neighbours_as_near(seed, n_nodes, n_observations, weighted, data):
    """Where distances are equal, or nodes identical, it may take others of the same distance."""
    X = grid_signals(seed, n_nodes, n_observations)
    omega = np.arange(n_observations) ** 2.0 if weighted and n_observations > 1 else None
    r = data.draw(st.integers(1, n_nodes - 1))
    found = nearest_neighbors(X, r, observation_weights=omega)
    assert (found.method, found.exact, found.recall) == ("exact (k-d tree)", True, 1.0)
    np.testing.assert_allclose(found.distances, oracle(X, r, omega)[1], rtol=1e-12)
    scaled = X if omega is None else X * np.sqrt(omega)
    direct = np.linalg.norm(scaled[found.indices] - scaled[:, None], axis=2)
    np.testing.assert_allclose(direct, found.distances, rtol=1e-12)
    for i, row in enumerate(found.indices.tolist()):
        assert i not in row
        assert len(set(row)) == r


def test_a_tree_serves_many_nodes_in_few_dimensions_without_missing_values(monkeypatch):
    monkeypatch.setattr(room, "_TREE_NODES", 100)
    X = np.random.default_rng(0).standard_normal((120, 16))
    holes = X[:, :3].copy()
    holes[0, 0] = np.nan
    for signals, tree in [(X[:, :15], True), (X, False), (X[:100, :3], False), (holes, False)]:
        assert ("tree" in nearest_neighbors(signals, 4).method) == tree


# -- approximate -----------------------------------------------------------------------------------------------------


def structured(n_nodes=800, n_observations=40, seed=0):
    """Signals that a few common ones explain, as those of real data."""
    rng = np.random.default_rng(seed)
    few, noise = rng.standard_normal((6, n_observations)), rng.standard_normal((n_nodes, n_observations))
    return rng.standard_normal((n_nodes, 6)) @ few + 0.1 * noise


def share_found(found, truth):
    return np.mean([len(set(a) & set(b)) for a, b in zip(found.tolist(), truth.tolist(), strict=True)]) / found.shape[1]


@pytest.mark.parametrize("X", [structured(), np.random.default_rng(0).standard_normal((800, 40))], ids=["few", "noise"])
def test_an_approximate_search_finds_most_and_says_how_many(caplog, X):
    found = nearest_neighbors(X, 8, method="approximate")
    truth = nearest_neighbors(X, 8, method="exact")
    assert share_found(found.indices, truth.indices) > 0.97
    assert found.recall == pytest.approx(share_found(found.indices, truth.indices), abs=0.02)
    assert (found.exact, found.method) == (False, "approximate (faiss HNSW)")
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("hsls", logging.WARNING)
    assert record.getMessage() == (
        f"neighbours are approximate (faiss HNSW): about {100 * found.recall:.2f} % of the true ones were found."
    )
    # Nearest first, and as accurate as an exact search where it found the same.
    assert np.all(np.diff(found.distances, axis=1) >= 0)
    direct = np.linalg.norm(X[found.indices] - X[:, None], axis=2)
    np.testing.assert_allclose(found.distances, direct, rtol=1e-12)
    assert not np.any(found.indices == np.arange(len(X))[:, None])


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_units_do_not_matter_to_an_approximate_search(scale):
    found = nearest_neighbors(scale * structured(), 8, method="approximate")
    assert found.recall > 0.97


def test_equally_near_nodes_count_as_found():
    found = nearest_neighbors(np.ones((60, 20)), 5, method="approximate")
    assert found.recall == 1.0
    np.testing.assert_array_equal(found.distances, 0.0)


def test_a_weighted_approximate_search():
    X, omega = structured(), np.linspace(0, 2, 40)
    found = nearest_neighbors(X, 5, method="approximate", observation_weights=omega)
    truth = nearest_neighbors(X, 5, method="exact", observation_weights=omega)
    assert share_found(found.indices, truth.indices) > 0.97


def test_nodes_that_the_index_loses_are_searched_exactly(monkeypatch):
    faiss = pytest.importorskip("faiss")

    class Losing(faiss.IndexHNSWFlat):
        def search(self, *args):
            squared, indices = super().search(*args)
            indices[::7, 3:] = -1
            return squared, indices

    monkeypatch.setattr(faiss, "IndexHNSWFlat", Losing)
    found = nearest_neighbors(structured(300), 6, method="approximate")
    truth = nearest_neighbors(structured(300), 6, method="exact")
    np.testing.assert_array_equal(found.indices[::7], truth.indices[::7])
    np.testing.assert_array_equal(found.distances[::7], truth.distances[::7])
    assert share_found(found.indices, truth.indices) > 0.95


def test_an_approximate_search_leaves_the_threads_of_faiss_as_they_were():
    faiss = pytest.importorskip("faiss")
    before = faiss.omp_get_max_threads()
    with _threads.limit(before + 1):
        nearest_neighbors(structured(100), 3, method="approximate")
    assert faiss.omp_get_max_threads() == before


# -- the automatic choice --------------------------------------------------------------------------------------------


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(room, "APPROXIMATE_NODES", 200)


@pytest.mark.usefixtures("few_are_many")
def test_many_nodes_in_many_dimensions_are_searched_approximately_and_it_is_said(caplog):
    assert not nearest_neighbors(structured(201, 16), 4).exact
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "approximate" in caplog.text


@pytest.mark.usefixtures("few_are_many")
def test_otherwise_the_search_is_exact_and_silent(caplog):
    for X, method in [
        (structured(200, 16), "auto"),  # few nodes
        (structured(201, 15), "auto"),  # few dimensions
        (structured(201, 16), "exact"),  # asked for
    ]:
        assert nearest_neighbors(X, 4, method=method).exact
    assert not caplog.records


@pytest.mark.usefixtures("few_are_many")
def test_many_nodes_with_missing_values_are_searched_exactly_and_the_cost_is_said(caplog):
    X = structured(201, 16)
    X[0, 0] = np.nan
    assert nearest_neighbors(X, 4).exact
    assert "values are missing: exact neighbours of 201 nodes take time quadratic in the nodes" in caplog.text


@pytest.mark.usefixtures("few_are_many")
def test_without_faiss_the_automatic_search_is_exact_and_says_what_would_help(monkeypatch, caplog):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    X = structured(201, 16)
    found = nearest_neighbors(X, 4)
    assert found.exact
    np.testing.assert_array_equal(found.indices, oracle(X, 4)[0])
    assert "exact neighbours of 201 nodes in 16 dimensions take time quadratic in the nodes" in caplog.text
    assert 'pip install "hsls[approx]"' in caplog.text


def test_without_faiss_an_approximate_search_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(
        ImportError, match=r'needs faiss; pip install "hsls\[approx\]", or use neighbor_search=\'exact\''
    ):
        nearest_neighbors(structured(100), 3, method="approximate")


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("r", "error", "message"),
    [
        (5, ValueError, "neighbors is 5, but each of the 5 nodes has only 4 others; lower neighbors"),
        (0, ValueError, "neighbors must be at least 1, got 0"),
        (2.0, TypeError, r"neighbors must be a whole number, got 2\.0"),
    ],
)
def test_numbers_of_neighbours_that_cannot_be(r, error, message):
    with pytest.raises(error, match=message):
        nearest_neighbors(np.eye(5), r)


def test_an_unknown_method_lists_the_known():
    with pytest.raises(ValueError, match="neighbor_search must be one of 'auto', 'exact', 'approximate'; got 'fast'"):
        nearest_neighbors(np.eye(5), 2, method="fast")


def test_an_approximate_search_refuses_missing_values():
    X = np.eye(5)
    X[2, 2] = np.nan
    with pytest.raises(ValueError, match="'approximate' cannot handle missing values; use 'exact', or fill"):
        nearest_neighbors(X, 2, method="approximate")
