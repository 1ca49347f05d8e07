"""How well a hypergraph was found, and how smooth signals are on one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from hsls import _flat
from hsls._types import BoolArray, FloatArray, IntArray
from hsls.hypergraph import Hypergraph

if TYPE_CHECKING:
    from hsls.variation import Variation

__all__ = ["Comparison", "compare", "edge_variations", "precision_recall_f1", "total_variation"]


@dataclass(frozen=True)
class Comparison:
    """Hyperedges found against the true ones, counted exactly and by overlap; see `compare`."""

    precision: float
    recall: float
    f1: float
    true_positives: int
    false_positives: int
    false_negatives: int
    overlap_precision: float
    overlap_recall: float
    overlap_f1: float
    by_cardinality: dict[int, tuple[int, int, int]] = field(hash=False)
    """(true positives, false positives, false negatives) of each cardinality that occurs."""


def compare(found: Hypergraph, truth: Hypergraph) -> Comparison:
    """Compare the hyperedges found with the true ones, exactly and by overlap.

    Weights play no part: to compare above a threshold, apply `Hypergraph.threshold` first. Both must have
    the same node names; where their order differs, nodes are matched by name.

    Parameters
    ----------
    found, truth : Hypergraph

    Returns
    -------
    Comparison

    Notes
    -----
    A hyperedge found is a true positive if the same set of nodes is a true hyperedge. The overlap scores
    credit near misses: found and true hyperedges are paired one to one so that the sum J of their Jaccard
    similarities ``|a & b| / |a | b|`` is as large as can be; precision is J over the number found, recall J
    over the number of true ones, F1 2 J over both numbers added. They are never below the exact ones.

    Every score is 0 where it would be 0 / 0, except that all are 1 if both hypergraphs are empty.

    Exact matches are paired first, at no loss. 1 - Jaccard is a metric, so if a = b but the best pairing
    holds (a, b') and (a', b), then J(a', b') >= J(a', b) + J(a, b') - 1, and (a, b), (a', b') is as good.
    Only pairs that share a node are looked at: memory grows with the number of these,
    sum over nodes of (found degree) x (true degree), without the exact matches.

    Examples
    --------
    >>> from hsls import Hypergraph, compare
    >>> truth = Hypergraph.from_edges([(0, 1, 2), (3, 4, 5)])
    >>> result = compare(Hypergraph.from_edges([(0, 1, 2), (2, 3, 4)], nodes=6), truth)
    >>> result.precision, result.overlap_precision
    (0.5, 0.75)
    """
    found = _on_nodes_of(truth, found)
    found_right, truth_right = _exact(found, truth)
    similarity = float(found_right.sum()) + _overlap(found.select(~found_right), truth.select(~truth_right))
    return Comparison(
        *_scores(float(found_right.sum()), found.n_edges, truth.n_edges),
        int(found_right.sum()),
        int((~found_right).sum()),
        int((~truth_right).sum()),
        *_scores(similarity, found.n_edges, truth.n_edges),
        by_cardinality=_by_cardinality(found.cardinalities, found_right, truth.cardinalities, truth_right),
    )


def precision_recall_f1(found: Hypergraph, truth: Hypergraph) -> tuple[float, float, float]:
    """Precision, recall and F1 of exact matches, with the conventions of `compare`."""
    found = _on_nodes_of(truth, found)
    return _scores(float(_exact(found, truth)[0].sum()), found.n_edges, truth.n_edges)


def edge_variations(H: Hypergraph, X: ArrayLike, variation: str | Variation = "max-square") -> FloatArray:
    """Variation of the signals on each hyperedge, in the order of `H.edges`, without the weights.

    Parameters
    ----------
    H : Hypergraph
    X : array, shape (n_nodes, n_observations) or (n_nodes,)
        Row i is the signal of node i; a flat array is one observation.
    variation : str or Variation
        See `hsls.variation`.
    """
    from hsls.variation import Variation, of_members

    variation = Variation.parse(variation)
    try:
        signals = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("X must hold numbers, one row for each node.") from None
    if np.any(np.isinf(signals)):
        raise ValueError("X holds an infinite value; signals must be finite, or NaN where missing.")
    if signals.ndim == 1:
        signals = signals[:, None]
    if signals.ndim != 2 or len(signals) != H.n_nodes:
        raise ValueError(f"X must have one row for each of the {H.n_nodes} nodes, got an array of shape {np.shape(X)}.")
    blocks = [
        of_members(members, signals, variation) if k > 1 else np.zeros(len(members))
        for k, members in H.members().items()
    ]
    return np.concatenate([np.zeros(0), *blocks])


def total_variation(H: Hypergraph, X: ArrayLike, variation: str | Variation = "max-square") -> float:
    """Sum over the hyperedges of weight times variation of the signals: how unsmooth X is on H.

    Parameters are those of `edge_variations`. With ``variation="sum-square"`` it is the sum over the
    observations x of ``x' L x``, L the Laplacian of the clique expansion.
    """
    return float(H.weights @ edge_variations(H, X, variation))


def _scores(matched: float, n_found: int, n_true: int) -> tuple[float, float, float]:
    """Precision, recall and F1 of a (soft) number of matches."""
    if n_found == n_true == 0:
        return 1.0, 1.0, 1.0
    precision = matched / n_found if n_found else 0.0
    recall = matched / n_true if n_true else 0.0
    return precision, recall, 2.0 * matched / (n_found + n_true)


def _on_nodes_of(truth: Hypergraph, found: Hypergraph) -> Hypergraph:
    """`found` with its nodes in the order of `truth`, or an error that names a node only one of them has."""
    for value, name in ((found, "found"), (truth, "truth")):
        if not isinstance(value, Hypergraph):
            raise TypeError(f"{name} must be a Hypergraph, got {type(value).__name__}.")
    if found.nodes == truth.nodes:
        return found
    if found.n_nodes != truth.n_nodes:
        raise ValueError(
            f"found has {found.n_nodes} nodes but truth has {truth.n_nodes}; give both the same nodes, "
            "isolated ones included."
        )
    position = {name: i for i, name in enumerate(truth.nodes)}
    strange = next((name for name in found.nodes if name not in position), None)
    if strange is not None:
        raise ValueError(f"found has a node {strange!r} that truth has not; give both the same node names.")
    order = np.array([position[name] for name in found.nodes], dtype=np.int64)
    return Hypergraph(truth.nodes, found.indptr, order[found.indices], found.weights, found.frequencies)


def _exact(found: Hypergraph, truth: Hypergraph) -> tuple[BoolArray, BoolArray]:
    """Marks of the hyperedges that the other hypergraph, on the same nodes, has too."""
    marks = np.zeros(found.n_edges, dtype=bool), np.zeros(truth.n_edges, dtype=bool)
    blocks = found.members(), truth.members()
    first = [0, 0]
    for k in sorted({*blocks[0], *blocks[1]}):
        rows = [block.get(k, np.zeros((0, k), dtype=np.int64)) for block in blocks]
        packed = _flat.keys(np.concatenate(rows), found.n_nodes)
        order = np.lexsort(packed[::-1])
        again = np.flatnonzero(_flat.repeats([key[order] for key in packed]))
        for side, offset in ((0, 0), (1, len(rows[0]))):
            # A stable sort puts the hyperedge of `found` before its like in `truth`.
            marks[side][first[side] + order[again - 1 + side] - offset] = True
            first[side] += len(rows[side])
    return marks


def _by_cardinality(
    found: IntArray, found_right: BoolArray, truth: IntArray, truth_right: BoolArray
) -> dict[int, tuple[int, int, int]]:
    return {
        k: (
            int(np.sum(found_right & (found == k))),
            int(np.sum(~found_right & (found == k))),
            int(np.sum(~truth_right & (truth == k))),
        )
        for k in np.unique(np.concatenate([found, truth])).tolist()
    }


def _overlap(found: Hypergraph, truth: Hypergraph) -> float:
    """Largest sum of Jaccard similarities over one-to-one pairings of the hyperedges.

    A sparse assignment problem in which every row also has a private column for staying alone. All entries
    are raised by 1, which adds the number of rows to every full matching, so that none vanishes as a zero.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    if found.n_edges > truth.n_edges:
        found, truth = truth, found
    if found.n_edges == 0:
        return 0.0
    jaccard = (found.incidence().T @ truth.incidence()).tocsr()
    unions = np.repeat(found.cardinalities, np.diff(jaccard.indptr)) + truth.cardinalities[jaccard.indices]
    jaccard.data /= unions - jaccard.data
    raised = jaccard.copy()
    raised.data += 1.0
    alone = sparse.eye_array(found.n_edges, format="csr")
    graph = sparse.hstack([raised, alone], format="csr")
    rows, columns = min_weight_full_bipartite_matching(graph, maximize=True)
    paired = columns < truth.n_edges
    return float(jaccard[rows[paired], columns[paired]].sum())
