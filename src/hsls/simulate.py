"""Simulated data: random hypergraphs, and signals that are smooth on a hypergraph."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hsls import _checks, _covering, _star
from hsls._types import FloatArray
from hsls.hypergraph import Hypergraph

__all__ = ["random_hypergraph", "smooth_signals"]

# Vertices of the star expansion, nodes and hyperedges, up to which each method is chosen by itself. 250
# signals take the eigendecomposition 1 to 2 s at the first limit, and the factorisation 1 to 4 s at the
# second. From there on the factors of random hypergraphs fill up, for twice the size eight times the time
# and four times the memory, while conjugate gradients (as fast at the second limit) grow with the size.
DENSE_VERTICES = 2_000
SPARSE_VERTICES = 10_000

METHODS = ("auto", "dense", "sparse", "iterative")

# The paper's generator sets smaller entries of the covariance to zero.
_COVARIANCE_CUT = 1e-6

# Observations drawn at a time by the sparse methods: bounds the memory, and never changes the result.
_BATCH = 50

_log = logging.getLogger("hsls")


def random_hypergraph(
    n_nodes: int,
    n_edges: int | None = None,
    cardinalities: int | Iterable[int] | Mapping[int, int] = 3,
    *,
    weights: tuple[float, float] | None = None,
    random_state: Any = None,
) -> Hypergraph:
    """Draw a random hypergraph of different hyperedges in which every node has at least one.

    Parameters
    ----------
    n_nodes : int
    n_edges : int, optional
        Number of hyperedges; needed unless `cardinalities` is a mapping.
    cardinalities : int, iterable of int, or mapping
        One cardinality for all hyperedges; or several, among which `n_edges` is split as evenly as it can
        be, the smaller ones first; or the number of hyperedges of each, ``{2: 30, 3: 20}``.
    weights : (low, high), optional
        Draw the weights uniformly between the two; by default all are 1.
    random_state : None, int, numpy.random.Generator or RandomState

    Returns
    -------
    Hypergraph
        Nodes named "0", "1", ...

    Raises
    ------
    ValueError
        If so few hyperedges cannot cover the nodes, or so many different ones do not exist.

    Notes
    -----
    The model is: all hypergraphs with the wanted number of hyperedges of each cardinality that cover every
    node are equally likely. Let u be the number of nodes that hyperedges drawn without regard to covering
    are expected to miss.

    - u <= 2: such draws (uniform, without repeats) are repeated until one covers every node. The result has
      exactly the law above.
    - u > 2 (or, in rare lopsided mixtures, after 100 draws in vain): first the degrees are drawn, as
      independent sums of binomials given that none is 0 and that they add up to the number of places in the
      hyperedges; then copies of the nodes are dealt to the places in random order; then a node that meets
      itself in a hyperedge, or one of a hyperedge that repeats another, changes places with a random other
      one. This law treats all nodes alike and tends to the one above as n_nodes grows with bounded mean
      degree and cardinalities; it is not exactly the same. If the hyperedges must be a partition of the
      nodes it is exact.

    Examples
    --------
    >>> from hsls import random_hypergraph
    >>> H = random_hypergraph(40, 40, random_state=0)
    >>> H
    Hypergraph(40 nodes, 40 hyperedges: 40 of 3 nodes)
    >>> bool(H.degrees().min() >= 1)
    True
    >>> random_hypergraph(30, cardinalities={2: 12, 3: 11}, random_state=0)
    Hypergraph(30 nodes, 23 hyperedges: 12 of 2 nodes, 11 of 3 nodes)
    """
    n_nodes = _checks.whole(n_nodes, "n_nodes", least=2)
    counts = _edge_counts(n_nodes, n_edges, cardinalities)
    rng = _checks.random_generator(random_state)
    between = None if weights is None else _bounds(weights)
    blocks = _covering.covering(n_nodes, counts, rng)
    values = None if between is None else rng.uniform(*between, sum(counts.values()))
    return Hypergraph.from_members(blocks, values, n_nodes)


def _bounds(weights: Any) -> tuple[float, float]:
    if not isinstance(weights, tuple | list) or len(weights) != 2:
        raise TypeError(f"weights must be (low, high), the bounds to draw them between, got {weights!r}.")
    low, high = (_checks.nonnegative(value, "weights") for value in weights)
    if low > high:
        raise ValueError(f"weights must be (low, high) with low at most high, got {weights!r}.")
    return low, high


def _edge_counts(
    n_nodes: int, n_edges: int | None, cardinalities: int | Iterable[int] | Mapping[int, int]
) -> dict[int, int]:
    """Number of hyperedges of each cardinality, ascending, checked to be possible."""
    if isinstance(cardinalities, Mapping):
        counts = {k: _checks.whole(m, "a number of hyperedges", least=0) for k, m in cardinalities.items()}
        if n_edges is not None and n_edges != sum(counts.values()):
            total = sum(counts.values())
            raise ValueError(f"n_edges is {n_edges}, but cardinalities add up to {total}; leave n_edges out.")
    elif n_edges is None:
        raise TypeError("n_edges is needed unless cardinalities gives the number of hyperedges of each.")
    else:
        n_edges = _checks.whole(n_edges, "n_edges")
        wanted = [*cardinalities] if isinstance(cardinalities, Iterable) else [cardinalities]
        if not wanted or len(set(wanted)) < len(wanted):
            raise ValueError(f"cardinalities must be different numbers, at least one, got {cardinalities!r}.")
        share, more = divmod(n_edges, len(wanted))
        counts = {k: share + (place < more) for place, k in enumerate(sorted(wanted))}
    counts = {_checks.whole(k, "a cardinality", least=2): m for k, m in sorted(counts.items()) if m}
    for k, count in counts.items():
        if k > n_nodes:
            raise ValueError(f"cardinality {k} is above the number of nodes, {n_nodes}; lower it.")
        most = _covering.possible(n_nodes, k)
        if count > most:
            raise ValueError(
                f"{n_nodes} nodes have {most} different hyperedges of {k} nodes, but {count} are asked for; "
                "lower n_edges."
            )
    places = sum(k * count for k, count in counts.items())
    if places < n_nodes:
        raise ValueError(
            f"{sum(counts.values())} hyperedges hold at most {places} nodes, too few to cover {n_nodes}; "
            "raise n_edges or the cardinalities."
        )
    return counts


def smooth_signals(
    H: Hypergraph,
    n_observations: int = 250,
    *,
    noise: float = 1e-3,
    weighted: bool = False,
    method: str = "auto",
    random_state: Any = None,
) -> FloatArray:
    """Draw Gaussian signals that are smooth on the star expansion of a hypergraph.

    With L the Laplacian of the star expansion (a graph on the nodes and one further vertex for each
    hyperedge), the signals are the node part of draws from N(0, L^+ + noise I). An isolated node gets noise
    alone.

    Parameters
    ----------
    H : Hypergraph
    n_observations : int
    noise : float
        Variance of the white noise, 0 or more.
    weighted : bool
        Give the edges of the star expansion the weights of the hyperedges, instead of 1.
    method : {"auto", "dense", "sparse", "iterative"}
        "dense" forms the covariance, sets its entries below 1e-6 in magnitude to zero, and draws from its
        eigendecomposition with negative eigenvalues put at 0, as in the paper: time (N + E)^3, memory
        (N + E)^2. "sparse" draws from the same covariance, without that cut, by a sparse factorisation of
        L. "iterative" does the same by conjugate gradients, for sizes where the factors would fill up.
        "auto" takes "dense" up to N + E = 2,000, "sparse" up to 10,000 and "iterative" beyond, and says so
        in the log "hsls".
    random_state : None, int, numpy.random.Generator or RandomState
        The methods draw different signals from one seed.

    Returns
    -------
    X : array, shape (n_nodes, n_observations)

    Examples
    --------
    >>> from hsls import random_hypergraph, smooth_signals
    >>> H = random_hypergraph(40, 40, random_state=0)
    >>> smooth_signals(H, 250, random_state=0).shape
    (40, 250)
    """
    if not isinstance(H, Hypergraph):
        raise TypeError(f"H must be a Hypergraph, got {type(H).__name__}.")
    n_observations = _checks.whole(n_observations, "n_observations")
    noise = _checks.nonnegative(noise, "noise")
    method = _chosen(_checks.one_of(method, "method", METHODS), H)
    rng = _checks.random_generator(random_state)
    B = _star.signed_incidence(H if weighted else H.binary())
    L = (B @ B.T).tocsr()
    if method == "dense":
        root = _root(_covariance(_star.pseudo_inverse(L), noise))[: H.n_nodes]
        return np.asarray(root @ rng.standard_normal((L.shape[0], n_observations)))
    solve = _star.factorised(L) if method == "sparse" else _star.iterated(L)
    X = math.sqrt(noise) * rng.standard_normal((H.n_nodes, n_observations))
    for start in range(0, n_observations, _BATCH):
        width = min(_BATCH, n_observations - start)
        X[:, start : start + width] += solve(B @ rng.standard_normal((B.shape[1], width)))[: H.n_nodes]
    return X


def _chosen(method: str, H: Hypergraph) -> str:
    """The method that "auto" stands for, said in the log."""
    vertices = H.n_nodes + H.n_edges
    if method == "auto":
        small = "dense" if vertices <= DENSE_VERTICES else "sparse"
        method = small if vertices <= SPARSE_VERTICES else "iterative"
        _log.info("smooth_signals: %s method for %d nodes and hyperedges", method, vertices)
    return method


def _covariance(pseudo_inverse: FloatArray, noise: float) -> FloatArray:
    """The paper's covariance: L^+ + noise I, small entries cut, symmetric."""
    covariance = pseudo_inverse + noise * np.eye(len(pseudo_inverse))
    covariance[np.abs(covariance) < _COVARIANCE_CUT] = 0.0
    return np.asarray((covariance + covariance.T) / 2)


def _root(covariance: FloatArray) -> FloatArray:
    """The symmetric R with R R the covariance, its negative eigenvalues (cut or rounding) put at 0.

    It is unique, unlike the eigenvectors, so one seed draws the same signals on every machine, to rounding.
    """
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
