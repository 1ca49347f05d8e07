"""Positions: repeatable, finite, apart, and hulls free of foreign nodes where the hypergraph allows it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

from hsls import Hypergraph, random_hypergraph
from hsls.drawing import _arrange, layout
from hsls.drawing._pack import MARGIN, pack
from hsls.drawing._stress import classical_scaling, majorise, star_graph

ANGLES = np.linspace(0, 2 * np.pi, 65)
DIRECTIONS = np.stack([np.cos(ANGLES), np.sin(ANGLES)])


def gap(a: np.ndarray, b: np.ndarray) -> float:
    """Distance of two convex hulls, below 0 where they overlap."""
    return float(((b @ DIRECTIONS).min(axis=0) - (a @ DIRECTIONS).max(axis=0)).max())


def intrusions(H: Hypergraph, positions: np.ndarray, clearance: float) -> list[tuple[int, tuple[int, ...]]]:
    return [
        (node, edge)
        for edge in H.edges
        for node in range(H.n_nodes)
        if node not in edge and gap(positions[list(edge)], positions[[node]]) < clearance
    ]


@st.composite
def small_hypergraphs(draw: st.DrawFn) -> Hypergraph:
    n = draw(st.integers(1, 9))
    edges = draw(st.lists(st.frozensets(st.integers(0, n - 1), min_size=1, max_size=5), max_size=7, unique=True))
    return Hypergraph.from_edges(edges, nodes=n)


@given(small_hypergraphs(), st.integers(0, 5))
@settings(max_examples=25)
def test_positions_are_finite_apart_and_repeatable(H, seed):
    positions = layout(H, random_state=seed)
    assert positions.shape == (H.n_nodes, 2)
    assert np.all(np.isfinite(positions))
    assert np.all(pdist(positions) > 0.3)
    np.testing.assert_array_equal(positions, layout(H, random_state=seed))


def test_positions_depend_on_the_seed_alone():
    H = random_hypergraph(20, 14, (2, 3), random_state=3)
    first = layout(H, random_state=1)
    np.random.seed(5)  # noqa: NPY002
    np.testing.assert_array_equal(layout(H, random_state=np.random.default_rng(1)), first)
    np.testing.assert_array_equal(layout(Hypergraph.from_edges(H.edges, nodes=20), random_state=1), first)
    assert not np.allclose(layout(H, random_state=2), first)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 30])
def test_without_hyperedges_nodes_stand_in_rows_one_apart(n):
    positions = layout(Hypergraph.from_edges([], nodes=n))
    assert positions.shape == (n, 2)
    assert np.all(pdist(positions) >= 1 - 1e-9)
    if n:
        np.testing.assert_allclose(positions.max(axis=0) + positions.min(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3, 4, 9])
def test_a_hyperedge_alone_is_a_regular_polygon_with_sides_of_one(k):
    positions = layout(Hypergraph.from_edges([tuple(range(k))]))
    np.testing.assert_allclose(np.linalg.norm(positions - np.roll(positions, 1, axis=0), axis=1), 1)


def test_isolated_nodes_stand_below_everything_else():
    H = Hypergraph.from_edges([(0, 1, 2), (2, 3), (5, 6)], nodes=12)
    positions = layout(H)
    linked = [0, 1, 2, 3, 5, 6]
    isolated = [4, *range(7, 12)]
    assert positions[isolated, 1].max() < positions[linked, 1].min() - 1


TREE_LIKE = {
    "chain of triples": [(2 * i, 2 * i + 1, 2 * i + 2) for i in range(9)],
    "star of pairs": [(0, i) for i in range(1, 9)],
    "tree of mixed cardinalities": [(0, 1, 2, 3), (1, 4), (2, 5, 6), (3, 7), (6, 8, 9, 10), (4, 11, 12)],
    "ring": [(i, (i + 1) % 12) for i in range(12)],
    "nested": [(0, 1, 2, 3), (0, 1), (2, 3)],
}


@pytest.mark.parametrize("edges", TREE_LIKE.values(), ids=TREE_LIKE.keys())
def test_where_it_can_be_avoided_no_node_lies_in_or_near_a_foreign_hull(edges):
    H = Hypergraph.from_edges(edges)
    positions = layout(H)
    assert intrusions(H, positions, clearance=0.4) == []
    assert pdist(positions).min() > 0.7


def test_even_a_crowded_random_hypergraph_has_few_nodes_inside_foreign_hulls():
    H = random_hypergraph(60, 45, (2, 3, 4), random_state=0)
    positions = layout(H)
    assert len(intrusions(H, positions, clearance=0.1)) <= 6  # of some 2500 pairs of node and foreign hull
    assert pdist(positions).min() > 0.4


def test_components_do_not_overlap():
    triples = [(3 * i, 3 * i + 1, 3 * i + 2) for i in range(6)]
    H = Hypergraph.from_edges([*triples, *((18 + i, 19 + i) for i in range(5))])
    positions = layout(H)
    groups = [*map(list, triples), list(range(18, 24))]
    distances = [cdist(positions[a], positions[b]).min() for a in groups for b in groups if a is not b]
    assert min(distances) > 0.8


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), max_size=12), st.integers(0, 99))
@settings(max_examples=40)
def test_packing_keeps_hulls_apart(sizes, seed):
    rng = np.random.default_rng(seed)
    drawings = [[rng.uniform(size=(5, 2)) * size + rng.normal(size=2) * 20] for size in sizes]
    shifts = pack(drawings, 1.2)
    moved = [hulls[0] + shift for hulls, shift in zip(drawings, shifts, strict=True)]
    cell = 0.35  # masks are grids: each side may be off by a cell
    for i, a in enumerate(moved):
        for b in moved[:i]:
            assert gap(a, b) > 2 * MARGIN - 2 * cell


def test_a_thousand_nodes_are_laid_out_within_the_budget(monkeypatch):
    looked_at = []
    anneal = _arrange.Arrangement.anneal

    def counting(self, positions, n_sweeps, rng):
        looked_at.append(n_sweeps * self.cost)
        return anneal(self, positions, n_sweeps, rng)

    monkeypatch.setattr(_arrange.Arrangement, "anneal", counting)
    H = random_hypergraph(1000, 600, (2, 3, 4), random_state=0)
    positions = layout(H)
    assert np.all(np.isfinite(positions))
    assert len(np.unique(positions, axis=0)) == 1000
    assert sum(looked_at) <= _arrange.BUDGET


def test_scaling_gives_back_positions_on_a_line():
    H = Hypergraph.from_edges([(i, i + 1) for i in range(6)])
    positions = classical_scaling(star_graph(H.indptr, H.indices, H.n_nodes))[:7]
    np.testing.assert_allclose(np.abs(np.diff(positions[:, 0])), 1, rtol=1e-6)
    np.testing.assert_allclose(positions[:, 1], positions[0, 1], atol=1e-4)


@given(st.integers(0, 500))
@settings(max_examples=20)
def test_majorisation_never_raises_the_stress(seed):
    H = Hypergraph.from_edges([(0, 1, 2), (2, 3), (3, 4, 5, 0), (5, 6)])
    graph = star_graph(H.indptr, H.indices, H.n_nodes)
    from scipy.sparse.csgraph import shortest_path

    upper = np.triu_indices(graph.shape[0], 1)
    wanted = shortest_path(graph, directed=False)[upper]
    positions = np.random.default_rng(seed).normal(size=(graph.shape[0], 2))
    stresses = []
    for _ in range(6):
        stresses.append(np.sum((pdist(positions) / wanted - 1) ** 2))
        positions = majorise(positions, graph, 1)
    assert np.all(np.diff(stresses) <= 1e-9)
