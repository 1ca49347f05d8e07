"""What the default scale rests on: F1 on simulated signals against what a node's nearest candidate is scaled to."""

from __future__ import annotations

import numpy as np

from benchmarks.table import header, row, title
from hsls import Problem, random_hypergraph, smooth_signals, variation
from hsls.candidates import knn_candidates
from hsls.metrics import precision_recall_f1
from hsls.neighbors import nearest_neighbors
from hsls.scale import least_at_nodes, median
from hsls.solvers import newton

NEAREST = (1.5, 3.0, 4.5, 6.0, 8.0, 10.0, 15.0)
TRUTHS = ((40, 30, (3,)), (60, 60, (2,)), (80, 60, (2, 3)), (120, 100, (2, 3, 4)))
NEIGHBORS = (6, 12)
SEEDS = range(5)


def calibration() -> None:
    """Mean F1 by the median variation of the nearest candidates, alpha = beta = 1; the default scale makes it 6."""
    title("Default scale: F1, alpha = beta = 1, max-square, P = 250, 5 seeds, weights >= 0.01")
    print("Columns: what the median over the nodes of their nearest candidate's variation is scaled to; last, the")
    print("variations divided by their median over all candidates instead, as scale='median' does.\n")
    header("truth", "neighbours", *(f"{value:g}" for value in NEAREST), "over median")
    for n_nodes, n_edges, cardinalities in TRUTHS:
        for r in NEIGHBORS:
            scores = np.mean([_scores(n_nodes, n_edges, cardinalities, r, seed) for seed in SEEDS], axis=0)
            name = f"{n_nodes} nodes, {n_edges} of {'-'.join(map(str, cardinalities))}"
            row(name, r, *(f"{score:.3f}" for score in scores))


def _scores(n_nodes: int, n_edges: int, cardinalities: tuple[int, ...], r: int, seed: int) -> list[float]:
    truth = random_hypergraph(n_nodes, n_edges, cardinalities, random_state=seed)
    X = smooth_signals(truth, 250, random_state=seed)
    neighbors = nearest_neighbors(X, r).indices
    candidates = knn_candidates(dict.fromkeys(cardinalities, neighbors))
    z = variation.of_candidates(candidates, X)
    nearest = float(np.median(least_at_nodes(candidates, z)))
    units = [*(nearest / value for value in NEAREST), median(z)]
    found = [candidates.hypergraph(newton(Problem(candidates, z / unit)).weights, 1e-2) for unit in units]
    return [precision_recall_f1(H, truth)[2] for H in found]
