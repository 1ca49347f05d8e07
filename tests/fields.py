"""Small Gaussian fields on hyperedges, and the dense oracles that tests share."""

from __future__ import annotations

import numpy as np

from hsls.candidates import listed_candidates
from hsls.likelihood import Hyperedges, Likelihood


def random_hyperedges(rng, n_nodes, count, sizes=(2, 3, 4)):
    """So many draws of random hyperedges, each kept once."""
    edges = {tuple(sorted(rng.choice(n_nodes, rng.choice(sizes), replace=False).tolist())) for _ in range(count)}
    return Hyperedges.of(listed_candidates(sorted(edges), n_nodes))


def random_likelihood(seed, n_nodes=8, count=25, penalty=0.1, n_observations=20):
    rng = np.random.default_rng(seed)
    edges = random_hyperedges(rng, n_nodes, count)
    X = rng.standard_normal((n_nodes, n_observations))
    z = np.einsum("ij,eji->e", X @ X.T / n_observations, dense_matrices(edges))
    return Likelihood(edges, z, penalty)


def members(edges):
    return [edges.indices[a:b].tolist() for a, b in zip(edges.indptr[:-1], edges.indptr[1:], strict=True)]


def dense_matrices(edges):
    """M_e for every hyperedge, shape (D, N, N)."""
    out = np.zeros((len(edges), edges.n_nodes, edges.n_nodes))
    for M, edge in zip(out, members(edges), strict=True):
        M[edge, edge] = 1.0
        M[np.ix_(edge, edge)] -= 1.0 / len(edge)
    return out


def constants(labels):
    """J: the projection onto the constants of every component that the labels tell apart."""
    same = labels[:, None] == labels[None]
    return same / same.sum(axis=0)


def log_likelihood(problem, w):
    """Objective by dense eigenvalues, over the blocks of the problem."""
    L = np.tensordot(w, dense_matrices(problem.edges), 1)
    held = np.isin(np.arange(problem.edges.n_nodes), problem.edges.indices)
    matrix = (L + constants(problem.labels))[np.ix_(held, held)]
    return (problem.z + problem.penalty) @ w - np.sum(np.log(np.linalg.eigvalsh(matrix)))
