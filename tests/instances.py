"""Small instances, drawn or from a seed, and the plain numpy oracles that several tests share."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from hsls import random_hypergraph, smooth_signals
from hsls.candidates import Candidates, knn_candidates, listed_candidates
from hsls.problem import Problem
from hsls.variation import of_candidates


def seeds():
    """Seeds of numpy generators, for what is too large to be drawn number by number."""
    return st.integers(0, 2**32 - 1)


def numbers(low, high):
    return st.floats(low, high, allow_subnormal=False)


@st.composite
def candidate_sets(draw, cardinalities=(2, 3, 4), least_nodes=4, most_nodes=8, most=20):
    """Different candidates of mixed cardinalities on a few nodes, some of which may be in none."""
    n_nodes = draw(st.integers(least_nodes, most_nodes))
    subsets = [edge for k in cardinalities for edge in combinations(range(n_nodes), k)]
    edges = draw(st.lists(st.sampled_from(subsets), min_size=1, max_size=most, unique=True))
    return listed_candidates(edges, n_nodes)


@st.composite
def problems(draw, coefficients=None, **options):
    """Problems of moderate numbers: z up to 4, some of it 0, alpha and beta within a factor 10 of 1."""
    candidates = draw(candidate_sets(**options))
    count = candidates.n_candidates
    z = draw(st.lists(st.one_of(st.just(0.0), numbers(0.1, 4.0)), min_size=count, max_size=count))
    coefficients = draw(st.booleans()) if coefficients is None else coefficients
    positive = st.lists(numbers(0.3, 3.0), min_size=count, max_size=count)
    extra = {}
    if coefficients:
        extra = {"degree_coefficient": draw(positive), "quadratic_coefficient": draw(positive)}
    return Problem(candidates, z, draw(numbers(0.1, 10.0)), draw(numbers(0.1, 10.0)), **extra)


def random_problem(seed=0, n_nodes=30, neighbors=6, cardinality=3, n_observations=20, coefficients=False, **options):
    """K nearest neighbours of Gaussian signals, max-square, z over its median."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_nodes, n_observations))
    candidates = knn_candidates({cardinality: nearest(X, neighbors)})
    z = of_candidates(candidates, X)
    if coefficients:
        options["degree_coefficient"] = rng.uniform(0.3, 3.0, len(z))
        options["quadratic_coefficient"] = rng.uniform(0.3, 3.0, len(z))
    return Problem(candidates, z / np.median(z), **options)


def paper_problem(n_nodes=40, seed=0, alpha=100.0, beta=1.0, scale=1.0):
    """The paper's simulation: 3-uniform, 250 smooth signals, 6 neighbours, max-square."""
    candidates, z = _paper_variation(n_nodes, seed)
    return Problem(candidates, scale * z, alpha, beta)


@cache
def _paper_variation(n_nodes, seed):
    X = smooth_signals(random_hypergraph(n_nodes, n_nodes, 3, random_state=seed), 250, random_state=seed)
    candidates = knn_candidates({3: nearest(X, 6)})
    return candidates, of_candidates(candidates, X)


def nearest(X, neighbors):
    """Positions of the nearest other rows, by all distances."""
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1, kind="stable")[:, :neighbors]


def random_table(rng, n_nodes, neighbors):
    """Any neighbours: rows of distinct nodes other than the row's own, in no order."""
    return np.array([rng.permutation(np.delete(np.arange(n_nodes), i))[:neighbors] for i in range(n_nodes)])


def dense_incidence(candidates: Candidates):
    """S as a numpy matrix, entry by entry."""
    return np.array([[float(i in edge) for edge in candidates.edges] for i in range(candidates.n_nodes)])


def objective(problem: Problem, w):
    """The primal objective written out, over the nodes that a candidate holds."""
    S = dense_incidence(problem.candidates) * problem.c
    S = S[S.any(axis=1)]
    return problem.z @ w - problem.alpha * np.sum(np.log(S @ w)) + problem.beta * np.sum(problem.q * w**2)


def dual_objective(problem: Problem, v):
    """The dual objective written out, v over the nodes that a candidate holds."""
    S = dense_incidence(problem.candidates) * problem.c
    S = S[S.any(axis=1)]
    u = np.maximum(S.T @ v - problem.z, 0.0)
    constant = problem.alpha * len(v) * (1 - np.log(problem.alpha))
    return problem.alpha * np.sum(np.log(v)) + constant - np.sum(u**2 / (4 * problem.beta * problem.q))
