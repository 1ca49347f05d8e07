"""The search over every hyperedge lists what going through all of them lists."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hsls.pricing as room
from hsls import Variation, _threads
from hsls.pricing import Pricing
from hsls.variation import Distances
from instances import seeds
from learned import gaussian_signals, with_holes

VARIATIONS = [
    "sum-square", "sum-absolute", "max-square", "max-absolute", "mean-square", "mean-absolute", "scaled-square",
    "scaled-absolute", "max-l3^2", "sum-l3", "mean-linf", "max-linf^2", "sum-l2^0.5", "scaled-l1.5^3",
]  # fmt: skip


def every(n_nodes, k, distances):
    """All hyperedges of k nodes and their variations."""
    rows = np.array(list(combinations(range(n_nodes), k)), dtype=np.int32)
    z = np.empty(len(rows))
    distances.of_members(rows, z)
    return rows, z


def as_set(rows):
    return {tuple(row) for row in rows.tolist()}


@st.composite
def instances(draw):
    """Distances of a few nodes, some of them identical; a cardinality; whether a tree or a matrix finds the pairs."""
    rng = np.random.default_rng(draw(seeds()))
    n_nodes = draw(st.integers(4, 13))
    X = rng.standard_normal((n_nodes, draw(st.integers(1, 6))))
    X[draw(st.integers(1, n_nodes)) :] = X[0]
    omega = rng.uniform(0.0, 2.0, X.shape[1]) + 0.01 if draw(st.booleans()) else None
    distances = Distances(X, Variation.parse(draw(st.sampled_from(VARIATIONS))), omega)
    return rng, n_nodes, draw(st.integers(2, min(5, n_nodes))), distances, draw(st.booleans())


def search_on(distances, by_tree):
    limit = room._DENSE_NODES
    room._DENSE_NODES = 0 if by_tree else limit
    try:
        pricing = Pricing(distances)
    finally:
        room._DENSE_NODES = limit
    assert (pricing._tree is not None) == by_tree
    return pricing


@given(instances(), st.floats(0.3, 3.0))
def test_the_search_lists_what_all_combinations_list(instance, size):
    rng, n_nodes, k, distances, by_tree = instance
    rows, z = every(n_nodes, k, distances)
    v = size * rng.exponential(size=n_nodes) ** 2 * (np.median(z) or 1.0) / k
    excess = v[rows].sum(axis=1) - z
    sure = np.abs(excess) > 1e-7 * v[rows].sum(axis=1)
    known = rows[rng.random(len(rows)) < 0.3]
    found = search_on(distances, by_tree).violated(k, v, known, len(rows))
    expected, listed = as_set(rows[sure & (excess > 0)]) - as_set(known), as_set(found.members)
    assert expected <= listed <= as_set(rows[~sure | (excess > 0)]) - as_set(known)
    assert found.total == len(found.members) == len(listed)
    np.testing.assert_array_equal(found.members, np.sort(found.members, axis=1))


@given(instances())
def test_the_least_variation_of_any_hyperedge_at_a_node(instance):
    rng, n_nodes, k, distances, by_tree = instance
    rows, z = every(n_nodes, k, distances)
    expected = np.array([z[(rows == i).any(axis=1)].min() for i in range(n_nodes)])
    # Bounds come from candidates: some are the least already, some hold it from above.
    bounds = expected * np.where(rng.random(n_nodes) < 0.5, 1.0, rng.uniform(1.0, 5.0, n_nodes))
    np.testing.assert_allclose(search_on(distances, by_tree).least(k, bounds), expected, rtol=1e-13)


@given(instances(), st.integers(1, 4))
def test_of_too_many_the_ones_of_greatest_excess_are_kept(instance, most):
    rng, n_nodes, k, distances, by_tree = instance
    rows, z = every(n_nodes, k, distances)
    v = rng.uniform(0.5, 1.5, n_nodes) * (z.max() + 1.0)
    found = search_on(distances, by_tree).violated(k, v, rows[:0], most)
    assert found.total == len(rows)  # all exceed
    excess = v[rows].sum(axis=1) - z
    root = rows[np.arange(len(rows)), np.argmax(v[rows], axis=1)]
    listed = as_set(found.members)
    for i in range(n_nodes):
        own = np.flatnonzero(root == i)
        kept = np.array([tuple(row) in listed for row in rows[own].tolist()], dtype=bool)
        assert kept.sum() == min(most, len(own))
        if 0 < kept.sum() < len(own):
            assert excess[own][kept].min() >= excess[own][~kept].max() - 1e-9 * v.max()


def test_missing_values():
    X = with_holes(gaussian_signals(3, 12, 8))
    distances = Distances(X, Variation.parse("mean-square"))
    rows, z = every(12, 3, distances)
    v = np.random.default_rng(0).exponential(size=12) * np.median(z) / 3
    found = Pricing(distances).violated(3, v, rows[:0], len(rows))
    assert as_set(found.members) == as_set(rows[v[rows].sum(axis=1) > z])


def test_nodes_that_share_no_observation_are_named():
    X = gaussian_signals(n_nodes=6)
    X[1, ::2], X[4, 1::2] = np.nan, np.nan
    with pytest.raises(ValueError, match="nodes 1 and 4 share no observation"):
        Pricing(Distances(X, Variation()))


@pytest.mark.parametrize("by_tree", [False, True])
def test_any_number_of_threads_and_any_blocks_give_the_same(monkeypatch, by_tree):
    X = gaussian_signals(5, 200, 3)
    distances = Distances(X, Variation.parse("sum-absolute"))
    pricing = search_on(distances, by_tree)
    v = np.random.default_rng(1).uniform(1.0, 3.0, 200)
    known = np.empty((0, 3), dtype=np.int32)
    expected = pricing.violated(3, v, known, 7)
    assert len(expected.members) > 200
    assert expected.total > len(expected.members)
    monkeypatch.setattr(room, "_LISTED", 500)
    with _threads.limit(3):
        found = pricing.violated(3, v, known, 7)
    np.testing.assert_array_equal(found.members, expected.members)
    assert (found.total, found.examined) == (expected.total, expected.examined)


def test_a_search_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(room, "SEARCH_LIMIT", 1000)
    pricing = Pricing(Distances(gaussian_signals(), Variation()))
    with pytest.raises(ValueError, match=r"look at more than 1,000 sets of up to 3 nodes.*lower alpha or beta"):
        pricing.violated(3, np.full(20, 100.0), np.empty((0, 3), dtype=np.int32), 5)


def test_a_matrix_of_all_pairs_that_does_not_fit_is_refused():
    X = gaussian_signals(0, 20, 30)
    with pytest.raises(
        ValueError, match=r"all pairs of the 20 nodes here, 3.125 KiB, more than the memory budget of 9"
    ):
        Pricing(Distances(X, Variation()), memory_budget=900)
    assert Pricing(Distances(X[:, :3], Variation()), memory_budget=900)._tree is not None


def test_distances_that_overflow_are_refused():
    X = np.array([[0.0], [1e140], [1.0]])
    with pytest.raises(ValueError, match="overflows"):
        Pricing(Distances(X, Variation("max", 2.0, 4.0)))
