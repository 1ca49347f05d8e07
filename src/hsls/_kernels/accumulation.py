"""Distances of all pairs of nodes that grow with every new observation, and the nearest nodes by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsls._kernels.jit import kernel
from hsls._kernels.pairs import ABSOLUTE, LARGEST, SQUARE, distance


@kernel
def _distance_seen(X: Any, i: int, j: int, kind: int, p: float) -> float:
    """The power sum of two rows over the observations that both have; 0 where they share none."""
    total = 0.0
    for t in range(X.shape[1]):
        difference = abs(X[i, t] - X[j, t])
        if np.isnan(difference):
            continue
        if kind == SQUARE:
            total += difference * difference
        elif kind == ABSOLUTE:
            total += difference
        elif kind == LARGEST:
            total = max(total, difference)
        else:
            total += difference**p
    return total


@kernel
def add_distances(X: Any, missing: bool, kind: int, p: float, sums: Any, start: int, stop: int) -> None:
    """Add (kind LARGEST: compare) the power sums of the differences of rows i and j < i to ``sums``, on both sides."""
    if kind == SQUARE and not missing:  # what every stream needs: much faster with the kind known beforehand
        for i in range(start, stop):
            for j in range(i):
                value = sums[i, j] + distance(X, i, j, SQUARE, 2.0)
                sums[i, j] = value
                sums[j, i] = value
        return
    for i in range(start, stop):
        for j in range(i):
            new = _distance_seen(X, i, j, kind, p) if missing else distance(X, i, j, kind, p)
            value = max(sums[i, j], new) if kind == LARGEST else sums[i, j] + new
            sums[i, j] = value
            sums[j, i] = value


@kernel
def nearest_in_rows(distances: Any, first: int, indices: Any, nearest: Any, start: int, stop: int) -> None:
    """The nearest nodes by rows of distances, ties to the smaller number; row b is that of node first + b."""
    r = indices.shape[1]
    for b in range(start, stop):
        size = 0
        for j in range(distances.shape[1]):
            value = distances[b, j]
            if j == first + b or (size == r and not value < nearest[b, r - 1]):
                continue
            at = min(size, r - 1)
            while at > 0 and nearest[b, at - 1] > value:
                nearest[b, at] = nearest[b, at - 1]
                indices[b, at] = indices[b, at - 1]
                at -= 1
            nearest[b, at] = value
            indices[b, at] = j
            size = min(size + 1, r)
