"""Parts of hypergraphs against an independent walk through the graph, on generated hypergraphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsls import Hypergraph
from hsls.components import component_labels, connected_components, of_cardinalities, on_nodes


@st.composite
def hypergraphs(draw):
    """Named nodes, some of them in no hyperedge, and weights, some of them 0."""
    n_nodes = draw(st.integers(0, 12))
    subsets = st.frozensets(st.integers(0, max(0, n_nodes - 1)), min_size=1, max_size=4)
    edges = draw(st.lists(subsets, unique=True, max_size=9)) if n_nodes else []
    weights = draw(st.lists(st.one_of(st.just(0.0), st.floats(0.1, 9)), min_size=len(edges), max_size=len(edges)))
    names = draw(st.permutations([f"n{i}" for i in range(n_nodes)]))
    return Hypergraph.from_edges([sorted(edge) for edge in edges], weights, names)


def named(H):
    """What a hypergraph means: the names of its nodes, and the weight of each set of names."""
    return set(H.nodes), {frozenset(edge): w for edge, w in zip(H.named_edges, H.weights.tolist(), strict=True)}


def walked(H):
    """The node sets of the components, by networkx on the bipartite graph of nodes and hyperedges."""
    graph = nx.Graph()
    graph.add_nodes_from(("node", name) for name in H.nodes)
    for number, edge in enumerate(H.named_edges):
        graph.add_edges_from((("node", name), ("hyperedge", number)) for name in edge)
    parts = nx.connected_components(graph)
    return [{name for kind, name in part if kind == "node"} for part in parts]


@given(hypergraphs())
def test_labels_are_equal_where_hyperedges_lead_from_one_to_the_other(H):
    labels = component_labels(H).tolist()
    found = {label: {name for name, other in zip(H.nodes, labels, strict=True) if other == label} for label in labels}
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, walked(H)))
    # Numbered in the order of their first nodes.
    assert list(dict.fromkeys(labels)) == list(range(len(found)))


@given(hypergraphs())
def test_components_are_the_parts_with_their_names_and_weights(H):
    parts = connected_components(H)
    assert sorted(sorted(part.nodes) for part in parts) == sorted(map(sorted, walked(H)))
    nodes, edges = named(H)
    for part in parts:
        own, within = named(part)
        assert within == {edge: weight for edge, weight in edges.items() if edge <= own}
        assert list(part.nodes) == [name for name in H.nodes if name in own]
    # Nothing is lost and nothing stands twice.
    assert sum(part.n_nodes for part in parts) == len(nodes)
    assert sum(part.n_edges for part in parts) == len(edges)
    # The largest first; of equally large ones the one with the first node.
    order = [(-part.n_nodes, H.nodes.index(part.nodes[0])) for part in parts]
    assert order == sorted(order)


@given(hypergraphs())
def test_a_component_is_its_own_only_component(H):
    for part in connected_components(H):
        assert connected_components(part) == [part]
        assert component_labels(part).tolist() == [0] * part.n_nodes


def test_isolated_nodes_and_those_of_zero_weight():
    H = Hypergraph.from_edges([("b", "d"), ("c",)], [0.0, 2.0], nodes=[*"abcde"])
    parts = connected_components(H)
    assert [part.nodes for part in parts] == [("b", "d"), ("a",), ("c",), ("e",)]
    assert [part.named_edges for part in parts] == [[("b", "d")], [], [("c",)], []]
    assert parts[0].weights.tolist() == [0.0]
    assert connected_components(Hypergraph.from_edges([], nodes=0)) == []
    assert component_labels(Hypergraph.from_edges([], nodes=3)).tolist() == [0, 1, 2]


@given(hypergraphs(), st.sets(st.integers(1, 5)))
def test_restriction_by_cardinality_keeps_nodes_names_and_weights(H, sizes):
    kept = of_cardinalities(H, sizes)
    assert kept.nodes == H.nodes
    assert named(kept)[1] == {edge: weight for edge, weight in named(H)[1].items() if len(edge) in sizes}
    assert of_cardinalities(H, iter(sizes)) == kept
    assert of_cardinalities(kept, sizes) == kept
    for k in sizes:
        assert of_cardinalities(H, k) == of_cardinalities(H, [k])


@pytest.mark.parametrize("wrong", ["3", 2.5, None, [2, "3"]])
def test_cardinalities_that_are_no_numbers_are_refused(wrong):
    with pytest.raises(TypeError, match="cardinalities must be a whole number, got"):
        of_cardinalities(Hypergraph.from_edges([(0, 1)]), wrong)


@given(hypergraphs(), st.data())
def test_restriction_to_nodes_keeps_the_hyperedges_within_them(H, data):
    chosen = data.draw(st.lists(st.sampled_from(H.nodes), max_size=12)) if H.n_nodes else []
    part = on_nodes(H, chosen)
    assert list(part.nodes) == [name for name in H.nodes if name in set(chosen)]
    assert named(part)[1] == {edge: weight for edge, weight in named(H)[1].items() if edge <= set(chosen)}
    assert on_nodes(H, [H.nodes.index(name) for name in chosen]) == part
    assert on_nodes(H, np.array([H.nodes.index(name) for name in chosen], dtype=np.int64)) == part


@pytest.mark.parametrize("stranger", ["x", 3, -1, 1.0])
def test_nodes_that_are_not_there_are_refused(stranger):
    with pytest.raises(ValueError, match=f"nodes holds {stranger!r}, but the hypergraph has no such node"):
        on_nodes(Hypergraph.from_edges([("a", "b", "c")]), ["a", stranger])
