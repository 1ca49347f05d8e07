"""Candidates: each once, in canonical order, and nothing that does not fit into memory."""

from __future__ import annotations

import math
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hsls.candidates as room
from hsls import Hypergraph, _threads
from hsls._kernels import subsets
from hsls.candidates import (
    Candidates,
    all_candidates,
    bytes_for,
    check_cardinalities,
    knn_bound,
    knn_candidates,
    listed_candidates,
    neighbors_needed,
)
from instances import candidate_sets, dense_incidence, random_table, seeds


def oracle(table, k):
    """Every node with every (k - 1)-subset of its neighbours: each set once, in lexicographic order."""
    return sorted(
        {tuple(sorted((i, *rest))) for i, row in enumerate(table.tolist()) for rest in combinations(row, k - 1)}
    )


# -- the paper's Algorithm 1 -----------------------------------------------------------------------------------------


@given(seeds(), st.integers(5, 40), st.data())
def test_knn_candidates_are_those_of_algorithm_1_each_once(seed, n_nodes, data):
    rng = np.random.default_rng(seed)
    sizes = data.draw(st.sets(st.integers(2, 5), min_size=1))
    tables = {k: random_table(rng, n_nodes, data.draw(st.integers(k - 1, min(7, n_nodes - 1)))) for k in sizes}
    before = {k: table.copy() for k, table in tables.items()}
    found = knn_candidates(tables)
    assert found.cardinalities == tuple(sorted(sizes))
    assert found.edges == [edge for k in sorted(sizes) for edge in oracle(tables[k], k)]
    assert all(np.array_equal(tables[k], before[k]) for k in sizes)
    bound = knn_bound(n_nodes, {k: table.shape[1] for k, table in tables.items()})
    assert all(len(block) <= bound[k] for k, block in zip(found.cardinalities, found.members, strict=True))


@pytest.mark.parametrize(
    ("k", "n_nodes", "neighbors", "fits"),
    [(6, 5000, 5, True), (8, 600, 8, True), (14, 40, 14, False), (10, 300, 11, False)],
)
def test_keys_of_high_cardinalities_by_local_rank_or_by_sorting(monkeypatch, k, n_nodes, neighbors, fits):
    """k - 1 node numbers do not fit into 64 bits: ranks near each node do where rows are local, else all is sorted."""
    assert int(subsets.bits_for(n_nodes)) * (k - 1) > 64
    sorted_globally = []
    by_sorting = room._knn_by_sorting
    monkeypatch.setattr(room, "_knn_by_sorting", lambda *args: sorted_globally.append(k) or by_sorting(*args))
    rng = np.random.default_rng(k)
    if fits:
        ring = np.array([[j for j in range(-6, 7) if j]]) + np.arange(n_nodes)[:, None]
        table = rng.permuted(ring % n_nodes, axis=1)[:, :neighbors]
    else:
        table = random_table(rng, n_nodes, neighbors)
    assert knn_candidates({k: table}).edges == oracle(table, k)
    assert bool(sorted_globally) != fits


@given(seeds(), st.integers(2, 6))
def test_the_global_sort_finds_the_same(seed, k):
    table = random_table(np.random.default_rng(seed), 15, 6)
    expected = knn_candidates({k: table}).members[0]
    np.testing.assert_array_equal(room._knn_by_sorting(table.astype(np.int32), k), expected)


@pytest.mark.parametrize("threads", [1, 3])
def test_any_split_into_pieces_gives_the_same(monkeypatch, threads):
    table = random_table(np.random.default_rng(0), 500, 6)
    expected = knn_candidates({3: table, 4: table})
    monkeypatch.setattr(room, "_NODES_A_PIECE", 37)
    with _threads.limit(threads):
        found = knn_candidates({3: table, 4: table})
    assert found.edges == expected.edges == [e for k in (3, 4) for e in oracle(table, k)]


def test_nodes_that_share_all_neighbours_make_one_candidate():
    table = np.array([[1, 2], [0, 2], [0, 1]])
    assert knn_candidates({3: table}).edges == [(0, 1, 2)]
    assert knn_candidates({2: table}).edges == [(0, 1), (0, 2), (1, 2)]


# -- how many neighbours it takes ------------------------------------------------------------------------------------


@given(seeds(), st.integers(4, 9), st.data())
def test_neighbors_needed_is_the_first_number_whose_candidates_hold_the_hyperedge(seed, n_nodes, data):
    most = data.draw(st.integers(1, n_nodes - 1))
    table = random_table(np.random.default_rng(seed), n_nodes, most)
    truth = data.draw(candidate_sets(least_nodes=n_nodes, most_nodes=n_nodes)).edges
    expected = [
        next((r for r in range(len(edge) - 1, most + 1) if edge in oracle(table[:, :r], len(edge))), most + 1)
        for edge in truth
    ]
    found = neighbors_needed(Hypergraph.from_edges(truth, nodes=n_nodes), table)
    assert found.tolist() == expected
    assert found.dtype == np.int64


def test_neighbors_needed_of_nothing_is_nothing():
    table = random_table(np.random.default_rng(0), 5, 2)
    assert neighbors_needed(Hypergraph.from_edges([], nodes=5), table).tolist() == []


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((4, 2), int), "must be an integer array with a row for each of the 5 nodes"),
        (np.zeros((5, 2)), "must be an integer array with a row for each of the 5 nodes"),
        (np.zeros(5, int), "must be an integer array with a row for each of the 5 nodes"),
        (np.full((5, 2), 5), "holds a node outside 0 to 4"),
        (np.full((5, 2), -1), "holds a node outside 0 to 4"),
    ],
)
def test_neighbors_needed_refuses_a_table_of_other_nodes(table, message):
    with pytest.raises(ValueError, match=message):
        neighbors_needed(Hypergraph.from_edges([(0, 1, 4)]), table)


# -- every subset ----------------------------------------------------------------------------------------------------


@given(st.integers(2, 9), st.data())
def test_all_candidates_are_all_combinations(n_nodes, data):
    sizes = data.draw(st.sets(st.integers(2, n_nodes), min_size=1))
    found = all_candidates(n_nodes, sizes)
    assert found.edges == [edge for k in sorted(sizes) for edge in combinations(range(n_nodes), k)]


def test_as_many_neighbours_as_there_are_nodes_make_all_candidates():
    table = np.array([[j for j in range(8) if j != i] for i in range(8)])
    assert knn_candidates({2: table, 4: table}).edges == all_candidates(8, (2, 4)).edges


# -- listed by the user ----------------------------------------------------------------------------------------------


@given(candidate_sets(), st.randoms())
def test_a_list_in_any_order_is_the_same_candidates(candidates, random):
    edges = [tuple(random.sample(edge, len(edge))) for edge in candidates.edges]
    random.shuffle(edges)
    n_nodes = candidates.n_nodes
    names = [f"node {i}" for i in range(n_nodes)]
    hypergraph = Hypergraph.from_edges(edges, nodes=n_nodes)
    named = [[names[i] for i in edge] for edge in edges]
    for listed in (edges, hypergraph, candidates, hypergraph.named_edges):
        assert listed_candidates(listed, n_nodes).edges == candidates.edges
    for listed in (edges, named, hypergraph, Hypergraph.from_edges(named, nodes=names)):
        assert listed_candidates(listed, n_nodes, names).edges == candidates.edges
    blocks = listed_candidates(edges, n_nodes).members
    assert all(block.dtype == np.int32 for block in blocks)


@given(candidate_sets(), st.randoms())
def test_a_hypergraph_is_matched_by_name_whatever_its_order_of_nodes(candidates, random):
    names = [f"node {i}" for i in range(candidates.n_nodes)]
    shuffled = random.sample(names, len(names))
    hypergraph = Hypergraph.from_edges([[names[i] for i in edge] for edge in candidates.edges], nodes=shuffled)
    assert listed_candidates(hypergraph, len(names), names).edges == candidates.edges


@pytest.mark.parametrize(
    ("listed", "error", "message"),
    [
        ([(0, 1), (2, 9)], ValueError, "candidates: hyperedge 1 .*9"),
        ([(0, 1), (2, -1)], ValueError, "candidates: hyperedge 1 .*-1"),
        ([(0, 1), (2, 2)], ValueError, "candidates: hyperedge 1 holds a node more than once"),
        ([(0, 1), (2, 1), (1, 0)], ValueError, "candidates: hyperedges 0 and 2 hold the same nodes"),
        ([(0, 1), (2,)], ValueError, r"candidates: \(2,\) holds a single node"),
        ([(0, 1), ()], ValueError, "candidates: hyperedge 1 "),
        ([], ValueError, "candidates holds no hyperedge; list at least one"),
        ([("a", "b")], ValueError, "candidates: hyperedge 0 holds 'a', which is not among the node names"),
        (["01"], TypeError, "candidates: hyperedge 0 is '01'; every hyperedge must be a list of nodes"),
        (Hypergraph.from_edges([(0, 1)]), ValueError, "the hypergraph has 2 nodes, but the signals have 4"),
        (all_candidates(5, 2), ValueError, "candidates are for 5 nodes, but the signals have 4"),
    ],
)
def test_a_list_that_cannot_be_is_refused(listed, error, message):
    with pytest.raises(error, match=message):
        listed_candidates(listed, 4)


def test_a_hypergraph_on_other_names_is_refused():
    hypergraph = Hypergraph.from_edges([("a", "b"), ("b", "x")])
    with pytest.raises(ValueError, match="candidates: the hypergraph has a node 'x', but the signals have none"):
        listed_candidates(hypergraph, 3, ["a", "b", "c"])


# -- cardinalities and memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given_as", [[3, 2], (2, 3, 3), {2, 3}, frozenset({2, 3}), np.array([3, 2]), range(2, 4)])
def test_cardinalities_come_out_ascending_and_distinct(given_as):
    assert check_cardinalities(given_as) == (2, 3)
    assert check_cardinalities(iter(given_as), 3) == (2, 3)


@pytest.mark.parametrize("one", [2, np.int64(2)])
def test_one_cardinality_needs_no_list(one):
    assert check_cardinalities(one) == (2,)


@pytest.mark.parametrize(
    ("cardinalities", "error", "message"),
    [
        ((), ValueError, "cardinalities must name at least one number of nodes"),
        ((1, 2), ValueError, "cardinalities must be at least 2, got 1"),
        ((2, 6), ValueError, "cardinalities holds 6, but there are only 5 nodes; leave it out"),
        (2.0, TypeError, "cardinalities must be a whole number, got 2.0"),
        ((2, True), TypeError, "cardinalities must be a whole number, got True"),
        ("23", TypeError, "cardinalities must be a whole number, got '2'"),
        (None, TypeError, "cardinalities must be a whole number, got None"),
    ],
)
def test_cardinalities_that_cannot_be_are_refused(cardinalities, error, message):
    with pytest.raises(error, match=message):
        all_candidates(5, cardinalities)


@pytest.mark.parametrize(
    ("make", "count", "size", "lower"),
    [
        (
            lambda budget: all_candidates(3000, (2, 4), memory_budget=budget),
            math.comb(3000, 2) + math.comb(3000, 4),
            "98.03 TiB",
            "cardinalities, or give a number of neighbors instead of 'all'",
        ),
        (
            lambda budget: knn_candidates({5: np.zeros((10_000, 60), np.int32)}, memory_budget=budget),
            10_000 * math.comb(60, 4),
            "163.5 GiB",
            "neighbors",
        ),
    ],
)
def test_what_would_not_fit_is_refused_before_it_is_allocated(make, count, size, lower):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="budget") as error:
            make(4 * 2**30)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    assert str(error.value) == (
        f"up to {count:,} candidates would take {size}, more than the memory budget of 4 GiB; "
        f"lower {lower}, or raise memory_budget."
    )


@given(st.integers(3, 12), st.integers(2, 3))
def test_the_budget_is_exact(n_nodes, k):
    needed = bytes_for({k: math.comb(n_nodes, k)})
    assert needed == math.comb(n_nodes, k) * (4 * k + 8 + 8)
    assert len(all_candidates(n_nodes, k, memory_budget=needed)) == math.comb(n_nodes, k)
    assert len(all_candidates(n_nodes, k, memory_budget=None)) == math.comb(n_nodes, k)
    with pytest.raises(ValueError, match="more than the memory budget"):
        all_candidates(n_nodes, k, memory_budget=needed - 1)


def test_the_bound_never_exceeds_all_hyperedges():
    assert knn_bound(10, {2: 9, 3: 9, 4: 3}) == {2: 45, 3: 120, 4: 10}


def test_a_budget_must_be_positive():
    with pytest.raises(ValueError, match="memory_budget must be a finite number above 0"):
        all_candidates(5, 2, memory_budget=0)


# -- as a value ------------------------------------------------------------------------------------------------------


@given(candidate_sets())
def test_offsets_and_cover_agree_with_the_edges(candidates):
    assert candidates.n_candidates == len(candidates) == len(candidates.edges)
    for k, block, first, last in zip(
        candidates.cardinalities, candidates.members, candidates.offsets[:-1], candidates.offsets[1:], strict=True
    ):
        assert candidates.edges[first:last] == [tuple(row) for row in block.tolist()]
        assert all(len(edge) == k for edge in candidates.edges[first:last])
    np.testing.assert_array_equal(candidates.covered(), dense_incidence(candidates).any(axis=1))


@given(candidate_sets(), seeds(), st.sampled_from([0.0, 0.5]))
def test_the_hypergraph_of_weights_keeps_those_above_the_threshold(candidates, seed, threshold):
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random(len(candidates)) < 0.3, 0.0, rng.uniform(0, 1, len(candidates)))
    names = [f"n{i}" for i in range(candidates.n_nodes)]
    hypergraph = candidates.hypergraph(weights, threshold, names)
    expected = [(e, w) for e, w in zip(candidates.edges, weights, strict=True) if w >= threshold and w > 0]
    assert list(zip(hypergraph.edges, hypergraph.weights, strict=True)) == expected
    assert hypergraph.nodes == tuple(names)
    assert candidates.hypergraph(weights, threshold).nodes == tuple(map(str, range(candidates.n_nodes)))


def test_members_are_read_only():
    candidates = all_candidates(4, (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        candidates.members[0][0, 0] = 3


def test_repr_counts():
    assert repr(all_candidates(4, (2, 3))) == "Candidates(4 nodes, 6 of 2 nodes, 4 of 3 nodes)"
    assert repr(Candidates(4, ())) == "Candidates(4 nodes, none)"


# -- canonical arrays ------------------------------------------------------------------------------------------------


@given(candidate_sets())
def test_arrays_in_canonical_order_are_copied_and_frozen(candidates):
    given = [block.astype(np.int64) for block in candidates.members]
    made = Candidates(candidates.n_nodes, tuple(given))
    assert made.edges == candidates.edges
    for block, own in zip(given, made.members, strict=True):
        assert block.flags.writeable
        assert not own.flags.writeable
        assert (own.dtype, own.flags.c_contiguous) == (np.int32, True)


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        ([[0, 1, 5]], ValueError, "members hold node 5, but positions run from 0 to 4"),
        ([[-1, 1, 2]], ValueError, "members hold node -1, but positions"),
        ([[0, 2, 1]], ValueError, "ascending rows in lexicographic order"),
        ([[0, 1, 1]], ValueError, "ascending rows in lexicographic order"),
        ([[0, 1, 3], [0, 1, 2]], ValueError, "ascending rows in lexicographic order"),
        ([[0, 3, 4], [0, 1, 2]], ValueError, "ascending rows in lexicographic order"),
        ([[0, 1, 2], [0, 1, 2]], ValueError, "each once; `listed_candidates` takes any order"),
        ([[0], [1]], TypeError, r"integer arrays of shape \(D_k, k\) with k of at least 2, got int64 of \(2, 1\)"),
        ([0, 1, 2], TypeError, r"integer arrays of shape \(D_k, k\)"),
        ([[0.0, 1.0]], TypeError, "got float64"),
    ],
)
def test_arrays_that_the_kernels_could_not_take_are_refused(members, error, message):
    with pytest.raises(error, match=message):
        Candidates(5, (np.array(members),))


def test_one_array_for_each_cardinality_ascending():
    two, three = np.array([[0, 1]]), np.array([[0, 1, 2]])
    assert Candidates(3, (two, three)).edges == [(0, 1), (0, 1, 2)]
    for members in [(three, two), (two, two)]:
        with pytest.raises(ValueError, match="one array for each cardinality, ascending, got cardinalities"):
            Candidates(3, members)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2], [0, 2], [0, 3]], "holds a node outside 0 to 2"),
        ([[1, 2], [0, 2], [0, -1]], "holds a node outside 0 to 2"),
        ([[1, 2], [0, 2], [0, 2]], "holds a node twice, or the node that it belongs to"),
        ([[1, 2], [0, 2], [1, 1]], "holds a node twice, or the node that it belongs to"),
        ([[1.0, 2.0], [0.0, 2.0], [0.0, 1.0]], "must be an integer array with a row for each of the 3 nodes"),
        ([[1, 2], [0, 2]], "must be an integer array with a row for each of the 3 nodes"),
    ],
)
def test_tables_of_neighbours_that_the_kernels_could_not_take_are_refused(table, message):
    whole = np.array([[1, 2], [0, 2], [0, 1]])
    with pytest.raises(ValueError, match=message):
        knn_candidates({2: whole, 3: np.array(table)})
