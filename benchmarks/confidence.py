"""What selection frequencies are worth where the truth is known, and what an update of a stream costs."""

from __future__ import annotations

import numpy as np

from benchmarks.table import header, once, row, seconds, span, title
from hsls import HSLS, compare, random_hypergraph, smooth_signals, stability

_SEEDS = 20
_RESAMPLES = 50


def confidence() -> None:
    """F1 of all hyperedges and of those often found; false ones among the latter against their bound."""
    title(f"Stability selection: 40 nodes, 22 hyperedges of 3 nodes, {_SEEDS} seeds, {_RESAMPLES} halves")
    header("observations", "F1, all", "F1, at least 50 %", "F1, at least 90 %", "false at 90 %", "bound")
    for n_observations in (50, 100, 250, 1000):
        figures = np.mean([_figures(seed, n_observations) for seed in range(_SEEDS)], axis=0)
        row(n_observations, *(f"{figure:.3f}" for figure in figures[:3]), *(f"{figure:.2f}" for figure in figures[3:]))


def _figures(seed: int, n_observations: int) -> list[float]:
    truth = random_hypergraph(40, 22, 3, random_state=seed)
    X = smooth_signals(truth, n_observations, random_state=seed)
    result = stability(HSLS(cardinalities=3), X, _RESAMPLES, random_state=seed, n_jobs=1)
    often = result.stable(0.9)
    scores = [compare(found, truth).f1 for found in (result.hypergraph, result.stable(0.5), often)]
    return [*scores, float(compare(often, truth).false_positives), result.expected_false(0.9)]


def stream() -> None:
    """One more observation: `update` against `fit` on all of them."""
    title("One more observation after 250: update against fit on all")
    header("nodes", "update", "fit", "memory kept", "iterations, update", "iterations, fit")
    for n_nodes in (500, 2000, 4000):
        X = np.random.default_rng(0).standard_normal((n_nodes, 250))
        model = HSLS(cardinalities=3).update(X)
        following = iter(np.random.default_rng(1).standard_normal((100, n_nodes, 1)))
        updating, _ = seconds(lambda model=model, following=following: model.update(next(following)), budget=0.5)
        fitting, fitted = once(lambda X=X: HSLS(cardinalities=3).fit(X))
        kept = f"{model.stream_.distances.nbytes / 2**20:.0f} MiB"
        row(n_nodes, span(updating), span(fitting), kept, model.n_iter_, fitted.n_iter_)
