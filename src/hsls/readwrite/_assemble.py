"""What the formats share: a hypergraph from a list of incidences, and checks of what is written."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from hsls import _flat
from hsls.hypergraph import Hypergraph


def hypergraph(value: Any) -> Hypergraph:
    """Return `value` if it is a hypergraph."""
    if not isinstance(value, Hypergraph):
        raise TypeError(f"H must be a hsls.Hypergraph, got {type(value).__name__}; a fitted model's is `hypergraph_`.")
    return value


def check_text(H: Hypergraph) -> None:
    """Refuse names with lone surrogates, which are no Unicode text and cannot stand in a text file."""
    try:
        "".join(H.nodes).encode("utf-8")
    except UnicodeEncodeError:
        name = next(name for name in H.nodes if any("\ud800" <= character <= "\udfff" for character in name))
        raise ValueError(
            f"node name {name!r} holds a lone surrogate, which no text file can hold; rename it or use .npz."
        ) from None


def weight(value: Any, where: str) -> float:
    """Return a weight read from a file as a float; `where` says in which place it stands."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{where} has the weight {value!r}, which is no number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{where} has the weight {number}; weights must be finite and 0 or more.")
    return number


def assemble(
    nodes: Sequence[str],
    edge_of: Sequence[int],
    node_of: Sequence[int],
    weights: Sequence[float],
    source: str,
    frequencies: Sequence[float] | None = None,
) -> Hypergraph:
    """Build from incidences: hyperedge ``edge_of[j]`` holds node ``node_of[j]``; repeats count once.

    Hyperedges without nodes are dropped, and hyperedges with the same nodes merged (their weights added),
    each with a `UserWarning` that begins with `source`. Frequencies cannot be merged.
    """
    width = max(len(nodes), 1)
    keys = np.unique(np.asarray(edge_of, dtype=np.int64) * width + np.asarray(node_of, dtype=np.int64))
    sizes = np.bincount(keys // width, minlength=len(weights))
    values = np.asarray(weights, dtype=np.float64)
    if np.any(sizes == 0):
        warnings.warn(f"{source}: dropped {np.sum(sizes == 0)} empty hyperedge(s).", stacklevel=2)
        values = values[sizes > 0]
        frequencies = None if frequencies is None else np.asarray(frequencies)[sizes > 0].tolist()
        sizes = sizes[sizes > 0]
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    if frequencies is not None:
        return _checked(nodes, indptr, keys % width, values, frequencies, source)
    indptr, indices, sums = _flat.canonical(len(nodes), indptr, keys % width, values, merge=True)
    if len(sums) < len(values):
        warnings.warn(
            f"{source}: merged {len(values) - len(sums)} hyperedge(s) into others with the same nodes, "
            "adding the weights.",
            stacklevel=2,
        )
    return _checked(nodes, indptr, indices, sums, None, source)


def _checked(nodes: Sequence[str], *arrays: Any) -> Hypergraph:
    """The hypergraph of these arrays; the last argument is where they come from."""
    *flat, source = arrays
    try:
        return Hypergraph(tuple(nodes), *flat)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
