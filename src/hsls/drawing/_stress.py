"""Positions whose distances follow the distances along the star expansion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hsls._types import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy import sparse

N_PIVOTS = 50  # of classical scaling; more change the picture little (Brandes and Pich 2007)


def star_graph(indptr: IntArray, indices: IntArray, n_nodes: int) -> sparse.csr_array:
    """Sparse adjacency of the star expansion, nodes first, with lengths.

    A node is joined to its hyperedge of k nodes by `circle_radius(k)`, so members of one hyperedge are about
    1 apart whatever its cardinality.
    """
    from scipy import sparse

    sizes = np.diff(indptr)
    total = n_nodes + len(sizes)
    columns = n_nodes + np.repeat(np.arange(len(sizes)), sizes)
    return sparse.csr_array((np.repeat(circle_radius(sizes), sizes), (indices, columns)), shape=(total, total))


def circle_radius(cardinality: IntArray) -> FloatArray:
    """Radius of the circle on which that many points stand at distance 1 from their neighbours."""
    radius: FloatArray = 0.5 / np.sin(np.pi / np.maximum(cardinality, 2))
    return radius


def classical_scaling(graph: sparse.csr_array) -> FloatArray:
    """Plane positions of the vertices of a connected graph by scaling their distances from pivots.

    The pivots are chosen one after another, each as far as possible from those before. The result is up to
    reflection and scaled to the graph's own lengths. Brandes and Pich, "Eigensolver methods for progressive
    multidimensional scaling of large data", 2007.
    """
    from scipy.sparse import csgraph

    n = graph.shape[0]
    distances = np.empty((min(n, N_PIVOTS), n))
    pivot = 0
    for row in range(len(distances)):
        distances[row] = csgraph.dijkstra(graph, directed=False, indices=pivot)
        pivot = int(np.argmax(distances[: row + 1].min(axis=0)))
    squares = distances**2
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    axes, _, _ = np.linalg.svd(centred @ centred.T)
    positions = np.zeros((n, 2))
    for axis in range(min(2, len(axes))):
        along = axes[:, axis] @ centred
        positions[:, axis] = along * np.sign(along[np.argmax(np.abs(along))] or 1.0)
    spread = np.sqrt(np.mean(np.sum((positions - positions[0]) ** 2, axis=1)))
    scale = np.sqrt(np.mean(distances[0] ** 2)) / spread if spread > 0 else 1.0
    return positions * scale


def majorise(positions: FloatArray, graph: sparse.csr_array, n_iterations: int) -> FloatArray:
    """Lower the stress ``sum_ij (|x_i - x_j| - d_ij)^2 / d_ij^2`` by majorisation (Gansner et al. 2004)."""
    from scipy.sparse import csgraph

    distances = csgraph.shortest_path(graph, directed=False)
    n = len(distances)
    np.fill_diagonal(distances, np.inf)
    weights = distances**-2.0
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1.0 / n)
    np.fill_diagonal(distances, 0.0)
    pull = weights * distances
    for _ in range(n_iterations):
        gram = positions @ positions.T
        square = np.diag(gram)
        now = np.sqrt(np.maximum(square[:, None] + square - 2 * gram, 1e-12))
        ratio = pull / now
        positions = inverse @ (ratio.sum(axis=1)[:, None] * positions - ratio @ positions)
    return positions
