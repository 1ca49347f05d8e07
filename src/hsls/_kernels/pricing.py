"""Branch and bound over all hyperedges of k nodes: those whose values add up to more than their variation.

A search starts from a root and adds nodes in the order of a list, so that it meets every subset once. Values do not
rise along the list, so m more nodes add at most m times the value of the first that is left. Against this stands a
lower bound on the variation of whatever holds the nodes chosen so far (see `_at_least`). Pair distances are looked up
in `dense`, or computed from X where that is empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hsls._kernels.jit import kernel
from hsls._kernels.pairs import MAX, distance, distance_missing

# Sets that could be looked at in the time that it takes to list one.
LISTING = 50
# Slots of the state of `_record`.
_FILLED, _BASE, _WEAKEST = 0, 1, 2


@kernel
def all_pairs(X: Any, observed: Any, kind: int, p: float, power: float, out: Any, start: int, stop: int) -> int:
    """out_ij = out_ji = distance ** power for the rows i of the range and j < i; a row that shares no observation with
    an earlier one, or -1."""
    for i in range(start, stop):
        out[i, i] = 0.0
        for j in range(i):
            s = distance_missing(X, observed, i, j, kind, p) if observed.size else distance(X, i, j, kind, p)
            if s < 0.0:
                return i
            if power != 1.0:
                s = s**power
            out[i, j] = s
            out[j, i] = s
    return -1


@kernel
def nearest_of_rows(dense: Any, out: Any, start: int, stop: int) -> None:
    """out_i = the least entry of row i off the diagonal."""
    for i in range(start, stop):
        least = np.inf
        for j in range(dense.shape[1]):
            if j != i:
                least = min(least, dense[i, j])
        out[i] = least


@kernel
def _pair(X: Any, kind: int, p: float, power: float, i: int, j: int) -> Any:
    s = distance(X, i, j, kind, p)
    return s if power == 1.0 else s**power


@kernel
def _at_least(reduction: int, total: float, a: int, m: int, triangle: float, nearest: float) -> float:
    """Lower bound on the sum (or maximum) over the pairs of a + m nodes of which a are chosen, with this total.

    A further node d adds ``sum_x t_xd`` over the chosen x: at least the sum `nearest` of the least distances of these,
    and, since ``t_xd + t_yd >= triangle t_xy`` for each of their pairs, at least ``triangle total / (a - 1)``.
    """
    if reduction == MAX:
        return total
    return total + m * max(nearest, triangle * total / (a - 1))


@kernel
def _is_known(known: Any, first: int, last: int, key: Any) -> bool:
    """Whether the sorted rows `first` to `last` hold the row `key`."""
    while first < last:
        middle = (first + last) >> 1
        order = 0
        for j in range(key.size):
            if known[middle, j] != key[j]:
                order = -1 if known[middle, j] < key[j] else 1
                break
        if order == 0:
            return True
        if order < 0:
            first = middle + 1
        else:
            last = middle
    return False


@kernel
def _record(
    chosen: Any, last: int, score: float, most: int, known: Any, first_known: int, last_known: int,
    key: Any, members: Any, scores: Any, state: Any,
) -> Any:  # fmt: skip
    """Keep a hyperedge that is not known, of a root's at most `most` those of the highest scores.

    Returns the arrays, which may have grown, and whether the hyperedge was new.
    """
    k = key.size
    for j in range(k):
        node = last if j == k - 1 else chosen[j]
        at = j
        while at > 0 and key[at - 1] > node:
            key[at] = key[at - 1]
            at -= 1
        key[at] = node
    if _is_known(known, first_known, last_known, key):
        return members, scores, False
    base = state[_BASE]
    if state[_FILLED] - base < most:
        if state[_FILLED] == scores.size:
            more_members = np.empty((2 * scores.size, k), np.int32)
            more_scores = np.empty(2 * scores.size)
            for e in range(scores.size):
                more_scores[e] = scores[e]
                for j in range(k):
                    more_members[e, j] = members[e, j]
            members, scores = more_members, more_scores
        place = state[_FILLED]
        state[_FILLED] += 1
    else:
        place = state[_WEAKEST]
        if score <= scores[place]:
            return members, scores, True
    for j in range(k):
        members[place, j] = key[j]
    scores[place] = score
    if state[_FILLED] - base == most:
        weakest = base
        for e in range(base, state[_FILLED]):
            if scores[e] < scores[weakest]:
                weakest = e
        state[_WEAKEST] = weakest
    return members, scores, True


@kernel
def _next_leaf(
    dense: Any, X: Any, kind: int, p: float, power: float, reduction: int, factor: float, c: int, nodes: Any,
    added: Any, others: Any, have: float, value: float, least: float, up: float, start: int, stop: int,
) -> Any:  # fmt: skip
    """The first place from `start` on whose node, as the last of a hyperedge, lets its values exceed its variation.

    Returns it, `stop` where there is none, the nodes looked at, and the excess. A function of its own, since nothing
    in this loop may be slow.
    """
    seen = 0
    for q in range(start, stop):
        d = nodes[q]
        bound = (value + others[d]) * up
        if least >= bound:
            break
        seen += 1
        t = dense[c, d] if dense.size else _pair(X, kind, p, power, c, d)
        z = factor * (max(have, added[q], t) if reduction == MAX else have + added[q] + t)
        if z < bound:
            return q, seen, value + others[d] - z
    return stop, seen, 0.0


@kernel
def _branch(
    dense: Any, X: Any, kind: int, p: float, power: float, reduction: int, factor: float, triangle: float,
    nearest: Any, c: int, nodes: Any, added: Any, level: int, others: Any, have: float, value: float, around: float,
    least: float, m: int, up: float, start: int, stop: int,
) -> Any:  # fmt: skip
    """Write to the next level the nodes, of the places `start` to `stop`, that may be chosen after c, with m - 1 more
    after them; their number, and that of the nodes looked at."""
    n, seen = 0, 0
    top = others[nodes[level, start]]
    for q in range(start, stop):
        d = nodes[level, q]
        bound = (value + others[d] + (m - 1) * top) * up
        if least >= bound:
            break
        seen += 1
        t = dense[c, d] if dense.size else _pair(X, kind, p, power, c, d)
        more = max(added[level, q], t) if reduction == MAX else added[level, q] + t
        together = max(have, more) if reduction == MAX else have + more
        low = _at_least(reduction, together, level + 3, m - 1, triangle, around + nearest[d])
        if factor * low < bound:
            nodes[level + 1, n] = d
            added[level + 1, n] = more
            n += 1
    return n, seen


@kernel
def search(
    dense: Any,
    X: Any,
    kind: int,
    p: float,
    power: float,
    reduction: int,
    factor: float,
    triangle: float,
    nearest: Any,
    k: int,
    roots: Any,
    own: Any,
    others: Any,
    lists: Any,
    begin: Any,
    end: Any,
    known: Any,
    pointer: Any,
    most: int,
    slack: float,
    limit: int,
    start: int,
    stop: int,
) -> Any:
    """Hyperedges e of a root r and nodes of its list with ``z_e < (own_r + sum of others) * (1 + slack)``.

    Parameters
    ----------
    reduction, factor : z is `factor` times the sum or maximum of the pair distances
    triangle, nearest : for the lower bounds, see `_at_least`; `nearest` holds a lower bound for each node
    roots, own : for root number b of the range the node, and its value
    others : the values of all nodes as members of a list
    lists, begin, end : root number b joins ``lists[begin[b]:end[b]]``, where `others` must not rise (b from 0 at
        `start` of the whole work); the root itself is passed over
    known, pointer : root number b's hyperedges to leave out, rows ascending and sorted
    most : hyperedges of a root to keep, those of the greatest excess
    limit : sets of nodes to look at, listed ones counting `LISTING` times more, before giving up

    Returns
    -------
    members (D, k) with ascending rows, number of all that there are, number of sets looked at
    """
    longest = 1
    for b in range(start, stop):
        longest = max(longest, end[b] - begin[b])
    nodes = np.empty((max(k - 1, 1), longest if k > 2 else 1), np.int32)
    added = np.empty(nodes.shape)
    size, at = np.zeros(k, np.int64), np.zeros(k, np.int64)
    cost, total, near = np.zeros(k), np.zeros(k), np.zeros(k)
    chosen, key = np.empty(k, np.int32), np.empty(k, np.int32)
    members, scores = np.empty((64, k), np.int32), np.empty(64)
    state = np.zeros(3, np.int64)
    fresh, examined = 0, 0
    up = 1.0 + slack
    for b in range(start, stop):
        i = roots[b]
        chosen[0] = i
        state[_BASE] = state[_FILLED]
        least = factor * nearest[i] * (1 if reduction == MAX else k - 1)
        first = begin[b] + (begin[b] < end[b] and lists[begin[b]] == i)
        top = others[lists[first]] if first < end[b] else 0.0
        n = 0
        for q in range(first, end[b]):
            d = lists[q]
            if d == i:
                continue
            bound = (own[b] + others[d] + (k - 2) * top) * up
            if least >= bound:
                break
            examined += 1
            t = dense[i, d] if dense.size else _pair(X, kind, p, power, i, d)
            low = _at_least(reduction, t, 2, k - 2, triangle, nearest[i] + nearest[d])
            if factor * low >= bound:
                continue
            if k == 2:
                members, scores, new = _record(
                    chosen, d, own[b] + others[d] - factor * t, most, known, pointer[b], pointer[b + 1],
                    key, members, scores, state,
                )  # fmt: skip
                fresh += new
            else:
                nodes[0, n] = d
                added[0, n] = t
                n += 1
        while n > 0 and others[nodes[0, 0]] < top:  # the nodes of the highest values are too far away: look again
            top = others[nodes[0, 0]]
            left = 0
            for q in range(n):
                d, t = nodes[0, q], added[0, q]
                low = _at_least(reduction, t, 2, k - 2, triangle, nearest[i] + nearest[d])
                if factor * low < (own[b] + others[d] + (k - 2) * top) * up:
                    nodes[0, left] = d
                    added[0, left] = t
                    left += 1
            n = left
        size[0], at[0], cost[0], total[0], near[0] = n, 0, 0.0, own[b], nearest[i]
        level = 0
        while level >= 0:
            a = at[level]
            m = k - level - 2  # nodes still to choose after this one
            if a + m >= size[level]:
                level -= 1
                continue
            at[level] = a + 1
            c = nodes[level, a]
            chosen[level + 1] = c
            have = max(cost[level], added[level, a]) if reduction == MAX else cost[level] + added[level, a]
            value = total[level] + others[c]
            around = near[level] + nearest[c]
            least = factor * _at_least(reduction, have, level + 2, m, triangle, around)
            if m == 1:
                q = a + 1
                while True:
                    q, seen, excess = _next_leaf(
                        dense, X, kind, p, power, reduction, factor, c, nodes[level], added[level], others, have, value,
                        least, up, q, size[level],
                    )  # fmt: skip
                    examined += seen
                    if q == size[level]:
                        break
                    members, scores, new = _record(
                        chosen, nodes[level, q], excess, most, known, pointer[b], pointer[b + 1],
                        key, members, scores, state,
                    )  # fmt: skip
                    fresh += new
                    q += 1
            else:
                n, seen = _branch(
                    dense, X, kind, p, power, reduction, factor, triangle, nearest, c, nodes, added, level, others,
                    have, value, around, least, m, up, a + 1, size[level],
                )  # fmt: skip
                examined += seen
                level += 1
                size[level], at[level], cost[level], total[level], near[level] = n, 0, have, value, around
            if examined + LISTING * fresh > limit:
                return members[:0], fresh, examined
    return members[: state[_FILLED]], fresh, examined
