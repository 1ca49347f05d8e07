"""Parts of a hypergraph: connected components, chosen nodes, chosen cardinalities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hsls import _checks
from hsls._types import IntArray
from hsls.hypergraph import Hypergraph

__all__ = ["component_labels", "connected_components", "of_cardinalities", "on_nodes"]


def component_labels(H: Hypergraph) -> IntArray:
    """Number of the connected component of each node, from 0 in the order of their first nodes.

    Two nodes are connected if hyperedges lead from one to the other; an isolated node is a component by itself.

    Examples
    --------
    >>> from hsls import Hypergraph
    >>> component_labels(Hypergraph.from_edges([(0, 3), (3, 4, 5)], nodes=7))
    array([0, 1, 2, 0, 0, 0, 3])
    """
    from scipy.sparse.csgraph import connected_components as of_graph

    labels = of_graph(H.binary().star_adjacency(), directed=False)[1][: H.n_nodes]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def connected_components(H: Hypergraph) -> list[Hypergraph]:
    """The connected components, each on its own nodes with their names: the one of most nodes first.

    Of equally large ones the one with the first node comes first.

    Examples
    --------
    >>> from hsls import Hypergraph
    >>> H = Hypergraph.from_edges([("a", "d"), ("b", "c"), ("c", "e", "f")])
    >>> [part.named_edges for part in connected_components(H)]
    [[('b', 'c'), ('c', 'e', 'f')], [('a', 'd')]]
    """
    labels = component_labels(H)
    sizes = np.bincount(labels)
    nodes = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    of_edge = labels[H.indices[H.indptr[:-1]]]
    edges = np.split(np.argsort(of_edge, kind="stable"), np.cumsum(np.bincount(of_edge, minlength=len(sizes)))[:-1])
    return [_part(H, nodes[label], edges[label]) for label in np.argsort(-sizes, kind="stable").tolist()]


def of_cardinalities(H: Hypergraph, cardinalities: int | Iterable[int]) -> Hypergraph:
    """The hyperedges of the given number of nodes, or of one of several, on all nodes."""
    values = cardinalities if isinstance(cardinalities, Iterable) else [cardinalities]
    return H.select(np.isin(H.cardinalities, [_checks.whole(k, "cardinalities") for k in values]))


def on_nodes(H: Hypergraph, nodes: Iterable[Any]) -> Hypergraph:
    """The hyperedges that lie within the given nodes (names or positions), on these nodes in their order in `H`."""
    position = {name: i for i, name in enumerate(H.nodes)}
    chosen = np.zeros(H.n_nodes, dtype=bool)
    for node in nodes:
        if isinstance(node, int | np.integer) and 0 <= node < H.n_nodes:
            chosen[node] = True
        elif str(node) in position and not isinstance(node, int | np.integer):
            chosen[position[str(node)]] = True
        else:
            raise ValueError(f"nodes holds {node!r}, but the hypergraph has no such node.")
    inside = np.add.reduceat(chosen[H.indices].astype(np.int64), H.indptr[:-1]) if H.n_edges else np.zeros(0)
    return _part(H, np.flatnonzero(chosen), np.flatnonzero(inside == H.cardinalities))


def _part(H: Hypergraph, nodes: IntArray, edges: IntArray) -> Hypergraph:
    """The given hyperedges on the given nodes, which hold all of theirs; positions ascending."""
    position = np.full(H.n_nodes, -1, dtype=np.int64)
    position[nodes] = np.arange(len(nodes))
    sizes = H.cardinalities[edges]
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    places = np.repeat(H.indptr[edges] - indptr[:-1], sizes) + np.arange(indptr[-1])
    names = tuple(H.nodes[i] for i in nodes.tolist())
    frequencies = None if H.frequencies is None else H.frequencies[edges]
    return Hypergraph(names, indptr, position[H.indices[places]], H.weights[edges], frequencies)
