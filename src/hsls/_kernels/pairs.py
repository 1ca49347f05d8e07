"""Distances of pairs of nodes, and their sum or maximum over the pairs of each candidate.

`kind` says which power sum a distance is: SQUARE, ABSOLUTE, POWER (of exponent `p`) or LARGEST. Observation
weights are folded into X beforehand, except that `observed` weights are needed where values are missing: there a
distance is the sum over the observations that both nodes have, scaled up by total / shared weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hsls._kernels.jit import kernel

SQUARE, ABSOLUTE, POWER, LARGEST = 0, 1, 2, 3
SUM, MAX = 0, 1

# Slots of the table of recent pair distances that each thread keeps; 2^15 slots of 16 bytes fit into a core's
# second-level cache. Candidates come in lexicographic order, so neighbouring ones share most of their pairs.
_SLOT_BITS = 15
# Below this many observations a distance costs less than its look-up.
_CHEAP = 8


@kernel
def distance(X: Any, i: int, j: int, kind: int, p: float) -> float:
    """Power sum of the differences of two rows, complete data."""
    total = 0.0
    if kind == SQUARE:
        for t in range(X.shape[1]):
            difference = X[i, t] - X[j, t]
            total += difference * difference
    elif kind == ABSOLUTE:
        for t in range(X.shape[1]):
            total += abs(X[i, t] - X[j, t])
    elif kind == POWER:
        for t in range(X.shape[1]):
            total += abs(X[i, t] - X[j, t]) ** p
    else:
        for t in range(X.shape[1]):
            total = max(total, abs(X[i, t] - X[j, t]))
    return total


@kernel
def distance_missing(X: Any, observed: Any, i: int, j: int, kind: int, p: float) -> float:
    """The same over the observations that both rows have; -1 where they share none."""
    total, shared, everything = 0.0, 0.0, 0.0
    for t in range(X.shape[1]):
        everything += observed[t]
        difference = abs(X[i, t] - X[j, t])
        if np.isnan(difference):
            continue
        shared += observed[t]
        if kind == SQUARE:
            total += difference * difference
        elif kind == ABSOLUTE:
            total += difference
        elif kind == POWER:
            total += difference**p
        else:
            total = max(total, difference)
    if shared <= 0.0:
        return -1.0
    return total if kind == LARGEST else total * (everything / shared)


@kernel
def reduce_members(
    members: Any,
    X: Any,
    observed: Any,
    kind: int,
    p: float,
    power: float,
    reduction: int,
    factor: float,
    out: Any,
    start: int,
    stop: int,
) -> int:
    """out_e = factor * (sum or max over the pairs of e) of distance ** power.

    `observed` is empty where no value is missing. Returns -1, or the first candidate of the range that holds
    two nodes without a shared observation.
    """
    k = members.shape[1]
    cached = X.shape[1] >= _CHEAP
    slots = 1 << _SLOT_BITS if cached else 1
    owner = np.full(slots, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64)
    value = np.empty(slots)
    for e in range(start, stop):
        total = 0.0
        for a in range(1, k):
            i = members[e, a]
            for b in range(a):
                j = members[e, b]
                pair = (np.uint64(j) << np.uint64(32)) | np.uint64(i)
                # An odd multiplier mixes both numbers into the upper bits of the product: these are the slot.
                mixed = pair * np.uint64(0x9E3779B97F4A7C15)
                slot = (mixed >> np.uint64(64 - _SLOT_BITS)) if cached else np.uint64(0)
                if cached and owner[slot] == pair:
                    s = value[slot]
                else:
                    if observed.size:
                        s = distance_missing(X, observed, i, j, kind, p)
                        if s < 0.0:
                            return e
                    else:
                        s = distance(X, i, j, kind, p)
                    if power != 1.0:
                        s = s**power
                    owner[slot] = pair
                    value[slot] = s
                if reduction == MAX:
                    total = max(total, s)
                else:
                    total += s
        out[e] = total * factor
    return -1
