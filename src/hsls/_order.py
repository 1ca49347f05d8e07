"""Orders of the nodes in which near ones stand near one another: gathers and scatters over them then find their numbers
in the cache. An order lists the node at each place."""

from __future__ import annotations

import numpy as np

from hsls._types import FloatArray, Int32Array, IntArray


def of_points(X: FloatArray) -> IntArray:
    """The order of the leaves of a k-d tree: a leaf holds near points, and near leaves follow one another."""
    from scipy.spatial import KDTree

    return np.asarray(KDTree(X).indices, dtype=np.int64)


def of_neighbors(indices: Int32Array) -> IntArray:
    """An order in which neighbours stand near one another (reverse Cuthill-McKee)."""
    from scipy import sparse
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n_nodes, r = indices.shape
    pointer = np.arange(0, n_nodes * r + 1, r)
    graph = sparse.csr_array((np.ones(n_nodes * r, dtype=np.int8), indices.ravel(), pointer), shape=(n_nodes, n_nodes))
    return np.asarray(reverse_cuthill_mckee(sparse.csr_array(graph + graph.T), symmetric_mode=True), dtype=np.int64)


def inverse(order: IntArray) -> IntArray:
    """The place of each node in the order."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place
