"""Matrices of a hypergraph, from its flat arrays, as scipy sparse arrays."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from hsls._types import FloatArray, IntArray


def incidence(indptr: IntArray, indices: IntArray, n_nodes: int) -> sparse.csr_array:
    """Binary N x E incidence matrix."""
    entries = np.ones(len(indices))
    return sparse.csc_array((entries, indices, indptr), shape=(n_nodes, len(indptr) - 1)).tocsr()


def star_adjacency(H: sparse.csr_array, weights: FloatArray) -> sparse.csr_array:
    """Bipartite graph of nodes and hyperedges: node i and hyperedge e joined with weight w_e if i is in e."""
    weighted = H @ sparse.diags_array(weights, shape=(len(weights), len(weights)))
    if not H.nnz:  # block_array takes no empty blocks
        return sparse.csr_array((sum(H.shape), sum(H.shape)))
    return sparse.block_array([[None, weighted], [weighted.T, None]], format="csr")


def clique_adjacency(H: sparse.csr_array, weights: FloatArray) -> sparse.csr_array:
    """Graph on the nodes: the weight of a pair is the sum of w_e over the hyperedges that hold both."""
    weighted = H @ sparse.diags_array(weights, shape=(len(weights), len(weights)))
    product = sparse.csr_array(weighted @ H.T)
    product.setdiag(0.0)
    product.eliminate_zeros()
    return product


def laplacian(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Combinatorial Laplacian, degrees minus adjacency."""
    return sparse.csr_array(sparse.diags_array(adjacency.sum(axis=1), format="csr") - adjacency)


def normalized_laplacian(H: sparse.csr_array, weights: FloatArray) -> sparse.csr_array:
    """`I - Dv^-1/2 H W De^-1 H' Dv^-1/2` (Zhou, Huang, Schoelkopf 2006), and 0 at a node of degree 0."""
    degree = np.asarray(H @ weights)
    cardinality = np.asarray(H.sum(axis=0))
    linked = degree > 0
    root = np.zeros(len(degree))
    root[linked] = 1.0 / np.sqrt(degree[linked])
    half = sparse.diags_array(root) @ H @ sparse.diags_array(np.sqrt(weights / cardinality))
    return sparse.csr_array(sparse.diags_array(linked.astype(float)) - half @ half.T)
