"""The problems that the benchmarks solve."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from hsls import random_hypergraph, smooth_signals, variation
from hsls._types import FloatArray
from hsls.candidates import Candidates, knn_candidates
from hsls.neighbors import nearest_neighbors


def paper(n_nodes: int, seed: int = 0) -> tuple[Candidates, FloatArray]:
    """The paper's regime: simulated 3-uniform hypergraph, P = 250, r = 6, raw max-square variations."""
    truth = random_hypergraph(n_nodes, int(0.55 * n_nodes), 3, random_state=seed)
    X = smooth_signals(truth, 250, random_state=seed)
    candidates = knn_candidates({3: nearest_neighbors(X, 6).indices})
    return candidates, variation.of_candidates(candidates, X, "max-square")


def points(n_nodes: int, dimensions: int = 3, seed: int = 0) -> FloatArray:
    """Uniform random points."""
    return np.random.default_rng(seed).random((n_nodes, dimensions))


def cloud(n_nodes: int, r: int = 10) -> tuple[Candidates, FloatArray]:
    """Triples among the r nearest neighbours of points in 3-D, numbered for locality; max-square over its median."""
    X = points(n_nodes)
    X = X[KDTree(X).indices]
    candidates = knn_candidates({3: nearest_neighbors(X, r).indices})
    z = variation.of_candidates(candidates, X, "max-square")
    return candidates, z / np.median(z)
