"""Hyperedges as flat arrays (`indptr`, `indices`, `weights`): their checks and their one canonical order."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from hsls._types import AnyArray, BoolArray, FloatArray, IntArray

Flat: TypeAlias = tuple[IntArray, IntArray, AnyArray]

# Numbers of nodes are packed into int64 keys; 62 bits keep every product clear of overflow.
_KEY_BITS = 62


def as_positions(value: Any, name: str) -> IntArray:
    """A copy of `value` as int64, refusing what is not whole numbers (a cast would cut them off silently)."""
    array = np.asarray(value)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold whole numbers, got an array of {array.dtype}.")
    return array.astype(np.int64)


def as_weights(value: Any, count: int) -> FloatArray:
    """A copy of `value` as float64, one number for each of `count` hyperedges; None stands for all ones."""
    if value is None:
        return np.ones(count)
    try:
        array = np.array(value if isinstance(value, np.ndarray) else list(value), dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("weights must be numbers, one for each hyperedge.") from None
    if array.shape != (count,):
        got = f"{len(array)}" if array.ndim == 1 else f"an array of shape {array.shape}"
        raise ValueError(f"weights must hold one number for each of the {count} hyperedges, got {got}.")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if np.any(wrong):
        number = int(np.argmax(wrong))
        raise ValueError(f"hyperedge {number} has weight {array[number]}; weights must be finite and 0 or more.")
    return np.asarray(array + 0.0)  # -0.0 becomes 0.0, so that equal weights have equal bytes


def as_frequencies(value: Any, count: int) -> FloatArray:
    """A copy of `value` as float64, one number from 0 to 1 for each of `count` hyperedges."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("frequencies must be numbers, one for each hyperedge.") from None
    if array.shape != (count,):
        raise ValueError(f"frequencies must hold one number for each of the {count} hyperedges, got {array.shape}.")
    wrong = ~((array >= 0) & (array <= 1))
    if np.any(wrong):
        number = int(np.argmax(wrong))
        raise ValueError(f"hyperedge {number} has frequency {array[number]}; frequencies must be from 0 to 1.")
    return np.asarray(array + 0.0)


def check(n_nodes: int, indptr: IntArray, indices: IntArray) -> None:
    """Refuse flat arrays that are no hyperedges on `n_nodes` nodes, naming the first one that is wrong."""
    if indptr.ndim != 1 or len(indptr) == 0 or indptr[0] != 0 or indptr[-1] != len(indices):
        raise ValueError("indptr must start at 0 and end at the length of indices.")
    if indices.ndim != 1:
        raise ValueError(f"indices must be a flat array, got shape {indices.shape}.")
    sizes = np.diff(indptr)
    if np.any(sizes < 1):
        number = int(np.argmax(sizes < 1))
        raise ValueError(f"hyperedge {number} holds no node; every hyperedge needs at least one.")
    if len(indices) and (indices.min() < 0 or indices.max() >= n_nodes):
        at = int(np.argmax((indices < 0) | (indices >= n_nodes)))
        known = f"positions run from 0 to {n_nodes - 1}" if n_nodes else "there are no nodes"
        raise ValueError(f"hyperedge {owner(indptr, at)} holds node {indices[at]}, but {known}.")


def owner(indptr: IntArray, at: int) -> int:
    """Number of the hyperedge that the entry `at` of indices belongs to."""
    return int(np.searchsorted(indptr, at, side="right")) - 1


def keys(rows: IntArray, n_nodes: int) -> list[IntArray]:
    """Int64 columns, most significant first, that compare as the rows of node positions do.

    As many columns of `rows` as fit are packed into one key, so that most sorts are of a single array.
    """
    base = max(n_nodes, 2)
    together = max(1, int(_KEY_BITS / np.log2(base)))
    result = []
    for start in range(0, rows.shape[1], together):
        key = rows[:, start].astype(np.int64)
        for column in range(start + 1, min(start + together, rows.shape[1])):
            key *= base
            key += rows[:, column]
        result.append(key)
    return result


def order_of(packed: list[IntArray]) -> IntArray | None:
    """The order that sorts packed rows, or None where each is already above the one before."""
    above = np.zeros(max(len(packed[0]) - 1, 0), dtype=bool)
    for key in reversed(packed):
        above = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & above)
    if np.all(above):
        return None
    return np.argsort(packed[0], kind="stable") if len(packed) == 1 else np.lexsort(packed[::-1])


def repeats(packed: list[IntArray]) -> BoolArray:
    """Mark each of the sorted packed rows that equals the one before."""
    same = np.ones(max(len(packed[0]) - 1, 0), dtype=bool)
    for key in packed:
        same &= key[1:] == key[:-1]
    return np.concatenate([np.zeros(min(len(packed[0]), 1), dtype=bool), same])


def distinct_rows(rows: AnyArray, n_nodes: int) -> IntArray:
    """The different rows of an integer array, in lexicographic order."""
    packed = keys(rows, n_nodes)
    order = order_of(packed)
    if order is None:
        return rows
    return rows[order][~repeats([key[order] for key in packed])]


def canonical(n_nodes: int, indptr: IntArray, indices: IntArray, weights: AnyArray, merge: bool) -> Flat:
    """Checked flat arrays in canonical order; a hyperedge that stands twice is merged or an error."""
    sizes = np.diff(indptr)
    pointers, flats, values = [np.zeros(1, np.int64)], [np.zeros(0, np.int64)], [weights[:0]]
    for k in np.unique(sizes).tolist():
        numbers = np.flatnonzero(sizes == k)
        rows = indices[indptr[numbers][:, None] + np.arange(k)]
        rows, weight = _block(n_nodes, numbers, rows, weights, merge)
        pointers.append(np.full(len(rows), k, dtype=np.int64))
        flats.append(rows.ravel())
        values.append(weight)
    return np.concatenate(pointers).cumsum(), np.concatenate(flats), np.concatenate(values)


def _block(
    n_nodes: int, numbers: IntArray, rows: IntArray, weights: AnyArray, merge: bool
) -> tuple[IntArray, AnyArray]:
    """The hyperedges `numbers`, all of one cardinality, in lexicographic order, with their weights."""
    if not np.all(rows[:, 1:] > rows[:, :-1]):
        rows.sort(axis=1)
        twice = np.any(rows[:, 1:] == rows[:, :-1], axis=1)
        if np.any(twice):
            number = int(numbers[np.argmax(twice)])
            raise ValueError(f"hyperedge {number} holds a node more than once; list each node once.")
    packed = keys(rows, n_nodes)
    order = order_of(packed)
    if order is None:
        return rows, weights[numbers]
    rows, numbers = rows[order], numbers[order]
    again = repeats([key[order] for key in packed])
    if not np.any(again):
        return rows, weights[numbers]
    if not merge:
        at = int(np.argmax(again))
        raise ValueError(
            f"hyperedges {numbers[at - 1]} and {numbers[at]} hold the same nodes {tuple(rows[at].tolist())}; "
            "drop one, or build with Hypergraph.from_edges(..., merge=True) to add their weights."
        )
    sums = np.bincount(np.cumsum(~again) - 1, weights=weights[numbers])
    return rows[~again], sums.astype(np.float64)
