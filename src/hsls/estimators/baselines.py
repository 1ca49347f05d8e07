"""The methods that the paper compares with and that need no iteration."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsls import _checks, _threads, variation
from hsls._types import FloatArray
from hsls.candidates import DEFAULT_MEMORY_BUDGET, Candidates, check_cardinalities
from hsls.estimators._base import HypergraphEstimator, shown
from hsls.learning import Settings, candidates_for

__all__ = ["HGSI", "KNNHypergraph"]


class _NearestEstimator(HypergraphEstimator):
    """Candidates: each node with its k - 1 nearest neighbours, for every cardinality k."""

    cardinalities: Any
    neighbor_search: str
    memory_budget: float | None
    n_jobs: int | None
    verbose: bool

    def _candidates(self, X: Any) -> tuple[Candidates, FloatArray, tuple[str, ...] | None]:
        signals, names = self._read(X)
        cardinalities = check_cardinalities(self.cardinalities, len(signals))
        settings = Settings(
            cardinalities=cardinalities,
            neighbors={k: k - 1 for k in cardinalities},
            neighbor_search=self.neighbor_search,
            memory_budget=self.memory_budget,
            n_jobs=self.n_jobs,
        ).check()
        with shown(self.verbose), _threads.limit(self.n_jobs):
            return candidates_for(signals, settings, names), signals, names


class KNNHypergraph(_NearestEstimator):
    """Join each node with its k - 1 nearest neighbours; repeats are merged and all hyperedges kept.

    The construction of HGNN+ (Gao et al.): the candidates of `HSLS` with k - 1 neighbours, none left out.

    Parameters
    ----------
    cardinalities : int or iterable of int
        Each node makes one hyperedge of each cardinality.
    neighbor_search, nodes, memory_budget, n_jobs, verbose
        As in `HSLS`.

    Attributes
    ----------
    hypergraph_ : Hypergraph
        All weights are 1.
    candidates_ : Candidates
    weights_ : array

    References
    ----------
    Y. Gao, Y. Feng, S. Ji, R. Ji, "HGNN+: General Hypergraph Neural Networks", IEEE TPAMI 45(3), 2023.

    Examples
    --------
    >>> from hsls import KNNHypergraph
    >>> KNNHypergraph(cardinalities=2).fit([[0.0], [0.1], [5.0], [5.2]]).hypergraph_.edges
    [(0, 1), (2, 3)]
    """

    def __init__(
        self,
        cardinalities: Any = 3,
        *,
        neighbor_search: str = "auto",
        nodes: str = "rows",
        memory_budget: float | None = DEFAULT_MEMORY_BUDGET,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.cardinalities = cardinalities
        self.neighbor_search = neighbor_search
        self.nodes = nodes
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> KNNHypergraph:
        """Build the hypergraph of X; see `HSLS.fit` for what X may be."""
        candidates, _, names = self._candidates(X)
        self.candidates_ = candidates
        self.weights_ = np.ones(candidates.n_candidates)
        self.hypergraph_ = candidates.hypergraph(self.weights_, 0.0, names)
        return self


class HGSI(_NearestEstimator):
    r"""Hypergraph structure inference from smooth signals, in closed form.

    Minimises ``z'w - sum log w + ||w||_1`` over the weights of the candidates (each node with its k - 1 nearest
    neighbours): ``w = 1 / (1 + z)``.

    Parameters
    ----------
    cardinalities : int or iterable of int
    n_hyperedges : int, optional
        Keep this many hyperedges of largest weight; all by default. The paper's comparison gives the number of true
        hyperedges.
    variation : str or Variation
    neighbor_search, nodes, memory_budget, n_jobs, verbose
        As in `HSLS`.

    Attributes
    ----------
    hypergraph_ : Hypergraph
    candidates_ : Candidates
    weights_ : array

    Examples
    --------
    >>> from hsls import HGSI
    >>> model = HGSI(cardinalities=2, n_hyperedges=1).fit([[0.0], [0.5], [5.0], [6.0]])
    >>> model.hypergraph_.edges, model.hypergraph_.weights
    ([(0, 1)], array([0.8]))
    """

    def __init__(
        self,
        cardinalities: Any = 3,
        n_hyperedges: int | None = None,
        variation: Any = "max-square",
        *,
        neighbor_search: str = "auto",
        nodes: str = "rows",
        memory_budget: float | None = DEFAULT_MEMORY_BUDGET,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.cardinalities = cardinalities
        self.n_hyperedges = n_hyperedges
        self.variation = variation
        self.neighbor_search = neighbor_search
        self.nodes = nodes
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> HGSI:
        """Learn the hypergraph of X; see `HSLS.fit` for what X may be."""
        wanted = None if self.n_hyperedges is None else _checks.whole(self.n_hyperedges, "n_hyperedges")
        kind = variation.Variation.parse(self.variation)
        candidates, signals, names = self._candidates(X)
        with _threads.limit(self.n_jobs):
            z = variation.of_candidates(candidates, signals, kind)
        self.candidates_ = candidates
        self.weights_ = 1.0 / (1.0 + z)
        found = candidates.hypergraph(self.weights_, 0.0, names)
        self.hypergraph_ = found if wanted is None else found.top(wanted)
        return self
