"""Connected components of a hypergraph."""

from __future__ import annotations

import numpy as np

from hsls._types import IntArray
from hsls.hypergraph import Hypergraph

__all__ = ["component_labels"]


def component_labels(H: Hypergraph) -> IntArray:
    """Number of the connected component of each node, from 0 in the order of their first nodes.

    Two nodes are connected if hyperedges lead from one to the other; an isolated node is a component by itself.

    Examples
    --------
    >>> from hsls import Hypergraph
    >>> component_labels(Hypergraph.from_edges([(0, 3), (3, 4, 5)], nodes=7))
    array([0, 1, 2, 0, 0, 0, 3])
    """
    from scipy.sparse.csgraph import connected_components

    labels = connected_components(H.binary().star_adjacency(), directed=False)[1][: H.n_nodes]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
