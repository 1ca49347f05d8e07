"""Fits of one estimator on parts of the observations; any estimator with `get_params`, `fit` and `hypergraph_`."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hsls import _flat
from hsls._types import FloatArray, IntArray
from hsls.hypergraph import Hypergraph
from hsls.tables import Signals, signals_from


class Estimator(Protocol):
    """What learns a hypergraph of signals, scikit-learn style, as `hsls.HSLS` does."""

    hypergraph_: Hypergraph

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of its constructor."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn `hypergraph_`."""


@dataclass(frozen=True)
class Refit:
    """What a fit found: the hypergraph, the relative gap (NaN where there is none) and how many warnings it gave.

    Where no fit was possible the hypergraph is None and `reason` says why.
    """

    hypergraph: Hypergraph | None
    gap: float = math.nan
    n_warnings: int = 0
    reason: str = ""


def check(estimator: Any) -> None:
    """Refuse what is no estimator, before any work."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise TypeError(f"estimator must learn hypergraphs, such as HSLS(cardinalities=3); got {estimator!r}.")


def signals_for(estimator: Estimator, X: Any) -> Signals:
    """The signals in X, its nodes where the estimator looks for them."""
    return signals_from(X, nodes=estimator.get_params(deep=False).get("nodes", "rows"))


def copied(estimator: Estimator, **changes: Any) -> Any:
    """An unfitted estimator with the same parameters, but for the `changes` of parameters that it has."""
    parameters = estimator.get_params(deep=False)
    parameters |= {name: value for name, value in changes.items() if name in parameters}
    return type(estimator)(**parameters)


def refit(estimator: Estimator, signals: Signals, observations: IntArray) -> Refit:
    """Fit a copy of the estimator on some of the observations, on one thread and in silence."""
    weights = estimator.get_params(deep=False).get("observation_weights")
    own = {} if weights is None else {"observation_weights": np.asarray(weights)[observations]}
    model = copied(estimator, n_jobs=1, verbose=False, **own)
    with _silence() as given:
        try:
            model.fit(Signals(signals.values[:, observations], signals.names))
        except ValueError as error:
            return Refit(None, n_warnings=len(given), reason=str(error))
    return Refit(model.hypergraph_, float(getattr(model, "duality_gap_", math.nan)), len(given))


@contextmanager
def _silence() -> Iterator[list[warnings.WarningMessage]]:
    """Collect warnings, and keep the log from repeating for every fit what the first one said."""
    log = logging.getLogger("hsls")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("ignore")
            for kind in (UserWarning, RuntimeWarning):
                warnings.simplefilter("always", kind)
            yield given
    finally:
        log.setLevel(level)


def union(hypergraphs: Sequence[Hypergraph], of: int) -> Hypergraph:
    """Every hyperedge of hypergraphs on the same nodes: its mean weight where it is in, and in which share of `of`."""
    first = hypergraphs[0]
    indices = np.concatenate([H.indices for H in hypergraphs])
    sizes = np.concatenate([H.cardinalities for H in hypergraphs])
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    weights = np.concatenate([H.weights for H in hypergraphs])
    flat = [_merged(first.n_nodes, indptr, indices, values) for values in (weights, np.ones(len(weights)))]
    (indptr, indices, sums), (_, _, counts) = flat
    return Hypergraph(first.nodes, indptr, indices, sums / counts, counts / of)


def _merged(n_nodes: int, indptr: IntArray, indices: IntArray, values: FloatArray) -> _flat.Flat:
    return _flat.canonical(n_nodes, indptr, indices, values, merge=True)


def positions_in(union: Hypergraph, part: Hypergraph) -> IntArray:
    """Where each hyperedge of `part` stands in `union`, -1 where it does not."""
    place = {edge: number for number, edge in enumerate(union.edges)}
    return np.array([place.get(edge, -1) for edge in part.edges], dtype=np.int64)
