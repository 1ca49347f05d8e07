"""Choice of nearest neighbours from a block of approximate squared distances with known error."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsls._kernels.jit import kernel


@kernel
def certain_candidates(
    approximate: Any, own: Any, norms: Any, error: float, r: int, found: Any, counts: Any, start: int, stop: int
) -> None:
    """For each row the nodes that may be among its r nearest, given ``|error_ij| <= error * (norm_i + norm_j)``.

    Row b of `approximate` belongs to node ``own[b]``. Writes to ``found[b, :counts[b]]`` every node whose lower
    bound is at most the r-th smallest upper bound; counts[b] is -1 where more of them exist than `found` has room
    for.
    """
    n_nodes = approximate.shape[1]
    heap = np.empty(r)
    for b in range(start, stop):
        i = own[b]
        size = 0
        for j in range(n_nodes):
            if j == i:
                continue
            upper = approximate[b, j] + error * (norms[i] + norms[j])
            if size < r:
                at = size
                size += 1
                while at > 0 and heap[(at - 1) >> 1] < upper:
                    heap[at] = heap[(at - 1) >> 1]
                    at = (at - 1) >> 1
                heap[at] = upper
            elif upper < heap[0]:
                at = 0
                while 2 * at + 1 < r:
                    child = 2 * at + 1
                    if child + 1 < r and heap[child + 1] > heap[child]:
                        child += 1
                    if heap[child] <= upper:
                        break
                    heap[at] = heap[child]
                    at = child
                heap[at] = upper
        number = 0
        for j in range(n_nodes):
            if j != i and approximate[b, j] - error * (norms[i] + norms[j]) <= heap[0]:
                if number == found.shape[1]:
                    number = -1
                    break
                found[b, number] = j
                number += 1
        counts[b] = number


@kernel
def nearest_of(
    X: Any, observed: Any, own: Any, found: Any, counts: Any, indices: Any, distances: Any, start: int, stop: int
) -> None:
    """The r nearest of the nodes found for each row, by exact squared distance, ties to the smaller number.

    `observed` is empty where no value is missing; otherwise distances are rescaled by total over shared weight, and
    nodes that share no observation are infinitely far.
    """
    r = indices.shape[1]
    for b in range(start, stop):
        if counts[b] < 0:
            continue
        i = own[b]
        size = 0
        for a in range(counts[b]):
            j = found[b, a]
            total, shared, everything = 0.0, 0.0, 0.0
            if observed.size == 0:
                for t in range(X.shape[1]):
                    difference = X[i, t] - X[j, t]
                    total += difference * difference
            else:
                for t in range(X.shape[1]):
                    everything += observed[t]
                    difference = X[i, t] - X[j, t]
                    if not np.isnan(difference):
                        total += difference * difference
                        shared += observed[t]
                total = total * everything / shared if shared > 0.0 else np.inf
            at = size
            while at > 0 and (
                distances[b, at - 1] > total or (distances[b, at - 1] == total and indices[b, at - 1] > j)
            ):
                if at < r:
                    distances[b, at] = distances[b, at - 1]
                    indices[b, at] = indices[b, at - 1]
                at -= 1
            if at < r:
                distances[b, at] = total
                indices[b, at] = j
                size = min(size + 1, r)
