"""Candidates of a neighbour table without a global sort, against sets of sorted tuples."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsls._kernels import subsets
from instances import random_table, seeds


def oracle(table, k):
    """Every node with every (k - 1)-subset of its row, each set once, in lexicographic order."""
    return sorted(
        {tuple(sorted((i, *rest))) for i, row in enumerate(table.tolist()) for rest in combinations(row, k - 1)}
    )


def listers_of(table):
    """pointer and listers as `enumerate_range` takes them."""
    counts = np.zeros(len(table) + 1, np.int64)
    subsets.count_listers(table, counts[1:])
    pointer = np.cumsum(counts)
    listers = np.empty(pointer[-1], np.int32)
    subsets.fill_listers(table, pointer.copy(), listers)
    return pointer, listers


@st.composite
def tables(draw, most_nodes=30, most_neighbors=6):
    n_nodes = draw(st.integers(2, most_nodes))
    neighbors = draw(st.integers(1, min(n_nodes - 1, most_neighbors)))
    table = random_table(np.random.default_rng(draw(seeds())), n_nodes, neighbors)
    return np.sort(table, axis=1).astype(np.int32)


@given(tables())
def test_listers_of_a_node_are_the_later_nodes_whose_row_holds_it(table):
    pointer, listers = listers_of(table)
    for m in range(len(table)):
        expected = [g for g in range(m + 1, len(table)) if m in table[g]]
        assert listers[pointer[m] : pointer[m + 1]].tolist() == expected


@given(tables(), st.integers(2, 5), st.data())
def test_every_range_holds_its_candidates_once_in_lexicographic_order(table, k, data):
    pointer, listers = listers_of(table)
    start = data.draw(st.integers(0, len(table)))
    stop = data.draw(st.integers(start, len(table)))
    flat, fitted = subsets.enumerate_range(table, pointer, listers, k, start, stop)
    assert fitted
    assert [tuple(row) for row in flat.reshape(-1, k).tolist()] == [e for e in oracle(table, k) if start <= e[0] < stop]


@pytest.mark.parametrize(("n_nodes", "k", "neighbors"), [(40, 14, 14), (40, 14, 13), (300, 9, 9), (600, 8, 8)])
def test_keys_too_wide_for_node_numbers_use_ranks_near_the_node(n_nodes, k, neighbors):
    """Rows near the diagonal, so that few nodes can share a hyperedge and their ranks do fit into 64 bits."""
    rows = [[(i + step) % n_nodes for step in range(1, neighbors + 1)] for i in range(n_nodes)]
    table = np.sort(np.array(rows, np.int32), axis=1)
    assert int(subsets.bits_for(n_nodes)) * (k - 1) > 64
    pointer, listers = listers_of(table)
    middle = n_nodes // 2
    flat, fitted = subsets.enumerate_range(table, pointer, listers, k, neighbors, middle)
    assert fitted
    assert [tuple(e) for e in flat.reshape(-1, k).tolist()] == [
        e for e in oracle(table, k) if neighbors <= e[0] < middle
    ]


def test_keys_that_do_not_even_fit_by_rank_are_left_to_the_caller():
    table = np.sort(random_table(np.random.default_rng(0), 40, 20), axis=1).astype(np.int32)
    flat, fitted = subsets.enumerate_range(table, *listers_of(table), 18, 0, 40)
    assert not fitted
    assert flat.size == 0


@pytest.mark.parametrize("n_nodes", [70, 300])
def test_a_hub_that_all_nodes_list(n_nodes):
    """Hundreds of keys at one node: the sort of long runs, and buffers that grow."""
    rng = np.random.default_rng(n_nodes)
    rows = [sorted({0, *rng.permutation(np.arange(1, n_nodes))[:9].tolist()} - {i})[:8] for i in range(n_nodes)]
    table = np.array(rows, np.int32)
    for k in (3, 4):
        flat, _ = subsets.enumerate_range(table, *listers_of(table), k, 0, n_nodes)
        assert [tuple(row) for row in flat.reshape(-1, k).tolist()] == oracle(table, k)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=200), st.integers(0, 5))
def test_the_head_is_sorted_and_the_rest_left_alone(keys, rest):
    array = np.array(keys + list(range(rest)), np.uint64)
    subsets._sort_head(array, len(keys))
    assert array.tolist() == sorted(keys) + list(range(rest))


@given(st.integers(1, 2**31))
def test_bits_hold_all_numbers_below(values):
    assert int(subsets.bits_for(values)) == max(1, (values - 1).bit_length())


@given(st.integers(1, 9), st.data())
def test_all_subsets_in_lexicographic_order(n_nodes, data):
    k = data.draw(st.integers(1, n_nodes))
    expected = list(combinations(range(n_nodes), k))
    out = np.empty((len(expected), k), np.int32)
    subsets.enumerate_all(n_nodes, k, out)
    assert [tuple(row) for row in out.tolist()] == expected
