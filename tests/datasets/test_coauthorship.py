"""The selections from the co-authorship networks, against a search by hand."""

from __future__ import annotations

import pickle
from collections import defaultdict

import numpy as np
import pytest

from hsls import Hypergraph
from hsls.datasets import COAUTHORSHIPS, coauthorship, load_coauthorship
from hsls.datasets._plain import plain_pickle
from hsls.datasets.coauthorship import coauthorship_network

SIZES = {"dblp-uniform": (40, 22), "dblp-mixed": (84, 66), "cora-uniform": (12, 6), "cora-mixed": (30, 23)}


def components_by_hand(edges):
    """Sets of hyperedges that hang together, found by walking from node to node."""
    at = defaultdict(list)
    for edge in edges:
        for node in edge:
            at[node].append(edge)
    parts, left = [], set(at)
    while left:
        waiting, nodes = [left.pop()], set()
        while waiting:
            node = waiting.pop()
            if node not in nodes:
                nodes.add(node)
                waiting += [other for edge in at[node] for other in edge]
        left -= nodes
        parts.append((nodes, {edge for node in nodes for edge in at[node]}))
    return parts


@pytest.mark.parametrize("name", SIZES)
def test_each_selection_is_the_component_of_its_size(data_folder, name):
    selection = COAUTHORSHIPS[name]
    authors = pickle.loads((data_folder / f"coauthorship-{selection.network}.pickle").read_bytes())
    edges = {frozenset(map(str, papers)) for papers in authors.values()}
    parts = components_by_hand([edge for edge in edges if len(edge) in selection.cardinalities])
    ours = [part for part in parts if (len(part[0]), len(part[1])) == SIZES[name]]
    assert len(ours) == 1
    H = load_coauthorship(name, data=data_folder)
    assert set(H.nodes) == ours[0][0]
    assert {frozenset(edge) for edge in H.named_edges} == ours[0][1]
    assert (H.n_nodes, H.n_edges) == (selection.n_nodes, selection.n_edges) == SIZES[name]
    if name != "dblp-mixed":  # which is the component with the listed numbers, not the largest
        assert len(ours[0][0]) == max(len(nodes) for nodes, _ in parts)


@pytest.mark.parametrize("name", SIZES)
def test_they_are_connected_with_weights_of_one_and_papers_in_order(data_folder, name):
    H = load_coauthorship(name, data=data_folder)
    np.testing.assert_array_equal(H.weights, 1.0)
    assert H.degrees().min() >= 1
    assert set(H.cardinalities.tolist()) == set(COAUTHORSHIPS[name].cardinalities)
    assert [int(node) for node in H.nodes] == sorted(int(node) for node in H.nodes)


def test_only_the_first_is_the_papers_own():
    assert [name for name, selection in COAUTHORSHIPS.items() if selection.own] == ["dblp-uniform"]


@pytest.mark.parametrize("network", ["cora", "dblp"])
def test_a_whole_network_holds_each_set_of_papers_once(data_folder, network):
    authors = plain_pickle(data_folder / f"coauthorship-{network}.pickle")
    expected = {frozenset(map(str, papers)) for papers in authors.values() if len(set(papers)) > 1}
    assert len(expected) < sum(len(set(papers)) > 1 for papers in authors.values())
    whole = coauthorship_network(network, data=data_folder)
    assert whole.n_edges == len(expected)
    assert {frozenset(edge) for edge in whole.named_edges} == expected
    assert whole.degrees().min() >= 1
    threes = coauthorship_network(network, 3, data=data_folder)
    assert {frozenset(edge) for edge in threes.named_edges} == {edge for edge in expected if len(edge) == 3}
    assert threes.degrees().min() == 1
    assert coauthorship_network(network, [3], data=data_folder) == threes


def test_repeats_within_an_author_and_between_authors_are_merged(tmp_path, monkeypatch):
    file = tmp_path / "x.pickle"
    file.write_bytes(pickle.dumps({"a": [7, 10, 7], "b": [10, 7], "c": [3], "d": [3, 3], "e": [9, 10, 7], "f": []}))
    monkeypatch.setattr(coauthorship, "find", lambda source, data: file)
    assert coauthorship_network("cora") == Hypergraph.from_edges(
        [("7", "10"), ("7", "9", "10")], nodes=["7", "9", "10"]
    )
    assert coauthorship_network("cora", 2) == Hypergraph.from_edges([("7", "10")])
    assert coauthorship_network("cora", (4, 5)).n_nodes == 0


@pytest.mark.parametrize(
    ("load", "error", "message"),
    [
        (
            lambda data: load_coauthorship("dblp", data=data),
            ValueError,
            "name must be one of 'dblp-uniform', 'dblp-mixed'",
        ),
        (lambda data: coauthorship_network("DBLP", data=data), ValueError, "network must be one of 'dblp', 'cora'"),
        (
            lambda data: coauthorship_network("cora", 1, data=data),
            ValueError,
            "cardinalities must be at least 2, got 1",
        ),
        (lambda data: load_coauthorship("cora-uniform", data="no folder"), ValueError, "data names no folder, which"),
    ],
)
def test_names_that_cannot_be(tmp_path, load, error, message):
    with pytest.raises(error, match=message):
        load(tmp_path)
