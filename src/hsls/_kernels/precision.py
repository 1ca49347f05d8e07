"""Precision matrices of the star expansion: hyperedge e adds ``w_e M_e`` with ``M_e = diag(1_e) - 1_e 1_e' / |e|``.

Conventions of every function here: hyperedge e holds the nodes ``indices[indptr[e]:indptr[e + 1]]``; `theta` is a
symmetric (N, N) matrix; the work is the hyperedges `start` to `stop`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hsls._kernels.jit import inline, kernel

# Precision of levels, over that of typical hyperedges, small enough to stand for none.
_REGULAR = 1e-7
# What the inverse then has on the constants, in place of the 1 of J.
_CONSTANTS = 1.0 / _REGULAR - 1.0


@kernel
def add_laplacian(indptr: Any, indices: Any, w: Any, out: Any) -> None:
    """out += sum over e of w_e M_e."""
    for e in range(len(w)):
        first, last = indptr[e], indptr[e + 1]
        share = w[e] / (last - first)
        for a in range(first, last):
            i = indices[a]
            out[i, i] += w[e]
            for b in range(first, last):
                out[i, indices[b]] -= share


@kernel
def traces(indptr: Any, indices: Any, theta: Any, out: Any, start: int, stop: int) -> None:
    """out_e = tr(theta M_e), summed over pairs: ``theta_ii + theta_jj - 2 theta_ij`` over |e|."""
    for e in range(start, stop):
        first, last = indptr[e], indptr[e + 1]
        total = 0.0
        for a in range(first, last):
            i = indices[a]
            for b in range(first, a):
                j = indices[b]
                total += (theta[i, i] - theta[i, j]) + (theta[j, j] - theta[i, j])
        out[e] = total / (last - first)


@kernel
def rises(
    indptr: Any,
    indices: Any,
    theta: Any,
    labels: Any,
    sizes: Any,
    gram: Any,
    z: Any,
    least_level: float,
    least: float,
    out: Any,
    start: int,
    stop: int,
) -> None:
    """out_e = the most by which ``logdet L - tr(C L) - log levels`` rises with a weight for e, all else as it is.

    `theta` is the inverse of L + J, `labels` holds the connected component of each node, `sizes` its nodes and `gram`
    the inner products of the summed signals of components; levels are at least `least_level`. L is made regular by a
    small precision on the constants of every component, whose limit is taken: with the eigenvalues mu of the centred
    block B of its inverse the rise is ``sum log (1 + w mu) - w z_e``, and what the levels change. Where B's trace alone
    says that it is below `least`, it is given as 0.
    """
    largest = 0
    for e in range(start, stop):
        largest = max(largest, indptr[e + 1] - indptr[e])
    room = np.empty((largest, largest))
    parts = np.empty(largest, np.int64)
    for e in range(start, stop):
        first, last = indptr[e], indptr[e + 1]
        k = last - first
        count = 0
        trace = 0.0
        for a in range(k):
            i = indices[first + a]
            own = labels[i]
            known = False
            for b in range(count):
                known = known or parts[b] == own
            if not known:
                parts[count] = own
                count += 1
            for b in range(a):
                j = indices[first + b]
                room[a, b] = theta[i, j]
                if labels[j] == own:
                    room[a, b] += _CONSTANTS / sizes[own]
                room[b, a] = room[a, b]
            room[a, a] = theta[i, i] + _CONSTANTS / sizes[own]
            for b in range(a):
                trace += room[a, a] - room[a, b] + (room[b, b] - room[a, b])
        trace /= k
        rise = 0.0
        if count > 1:
            square, nodes = 0.0, 0.0
            for a in range(count):
                nodes += sizes[parts[a]]
                rise += math.log(max(gram[parts[a], parts[a]] / sizes[parts[a]], least_level))
                for b in range(count):
                    square += gram[parts[a], parts[b]]
            rise += (count - 1) * (1.0 + math.log(_REGULAR)) - math.log(max(square / nodes, least_level))
        else:
            # The most that eigenvalues of this sum could bring, were they equal.
            if (k - 1) * _along_one(trace, z[e]) <= least:
                out[e] = 0.0
                continue
        if k == 2:
            out[e] = rise + _along_one(trace, z[e])
        elif k == 3:
            out[e] = rise + _along_two(trace, _second(room), z[e])
        else:
            block = room[:k, :k].copy()
            for a in range(k):
                block[a] -= np.mean(block[a])
            for b in range(k):
                block[:, b] -= np.mean(block[:, b])
            out[e] = rise + _along(np.maximum(np.linalg.eigvalsh(block), 0.0)[1:], z[e])


@inline
def _along_one(mu: float, z: float) -> float:
    """The largest ``log (1 + w mu) - w z`` over w >= 0."""
    return math.log(mu / z) - 1.0 + z / mu if mu > z else 0.0


@inline
def _second(room: Any) -> float:
    """The product of the two eigenvalues of the centred block of three nodes, from their three differences."""
    ab = room[0, 0] - room[0, 1] + (room[1, 1] - room[0, 1])
    ac = room[0, 0] - room[0, 2] + (room[2, 2] - room[0, 2])
    bc = room[1, 1] - room[1, 2] + (room[2, 2] - room[1, 2])
    # As the area of a triangle follows from its sides, here squared.
    inner = 0.5 * (ab + ac - bc)
    square: float = max(ab * ac - inner * inner, 0.0)
    return square / 3.0


@inline
def _along_two(total: float, product: float, z: float) -> float:
    """The largest ``log (1 + w mu1) + log (1 + w mu2) - w z`` over w >= 0, from the sum and the product of the mu."""
    if total <= z:
        return 0.0
    # The slope is 0 where z p w^2 + (z s - 2 p) w + z - s is, which has one root above 0.
    half = 0.5 * (z * total - 2.0 * product)
    root = math.sqrt(half * half + z * product * (total - z))
    w = (total - z) / (half + root) if half > 0.0 else (root - half) / (z * product)
    return math.log(1.0 + w * (total + w * product)) - w * z


@inline
def _along(mu: Any, z: float) -> float:
    """The largest ``sum log (1 + w mu) - w z`` over w >= 0, by Newton's method."""
    if np.sum(mu) <= z:
        return 0.0
    w = len(mu) / z  # at least the best; steps towards 0 are shortened
    for _ in range(60):
        shares = mu / (1.0 + w * mu)
        new = max(w - (np.sum(shares) - z) / -np.sum(shares * shares), 0.1 * w)
        done = abs(new - w) <= 1e-10 * w
        w = new
        if done:
            break
    rise: float = np.sum(np.log(1.0 + w * mu)) - w * z
    return rise


@kernel
def products(indptr: Any, indices: Any, theta: Any, out: Any, start: int, stop: int) -> None:
    """out_ef = out_fe = tr(theta M_e theta M_f) for f up to e: the squared norm of theta's block centred both ways."""
    n_nodes = theta.shape[0]
    largest = 0
    for e in range(len(out)):
        largest = max(largest, indptr[e + 1] - indptr[e])
    rows = np.empty((largest, n_nodes))
    for e in range(start, stop):
        first, last = indptr[e], indptr[e + 1]
        k = last - first
        for a in range(k):
            rows[a] = theta[indices[first + a]]
        for j in range(n_nodes):
            mean = 0.0
            for a in range(k):
                mean += rows[a, j]
            mean /= k
            for a in range(k):
                rows[a, j] -= mean
        for f in range(e + 1):
            begin, end = indptr[f], indptr[f + 1]
            total = 0.0
            for a in range(k):
                mean = 0.0
                for b in range(begin, end):
                    mean += rows[a, indices[b]]
                mean /= end - begin
                for b in range(begin, end):
                    centred = rows[a, indices[b]] - mean
                    total += centred * centred
            out[e, f] = total
            out[f, e] = total


@kernel
def descend(H: Any, slope: Any, y: Any, sweeps: int, least: float) -> float:
    """Coordinate descent on ``slope'd + d'Hd / 2`` over y = w + d >= 0; `y` and its gradient `slope` move along.

    Ends after so many sweeps, or once one promises a decrease of at most `least`; returns what the last one promised.
    """
    count = len(y)
    decrease = 0.0
    for _ in range(sweeps):
        decrease = 0.0
        for e in range(count):
            new = max(0.0, y[e] - slope[e] / H[e, e])
            step = new - y[e]
            if step != 0.0:
                decrease += step * step * H[e, e]
                y[e] = new
                for f in range(count):
                    slope[f] += step * H[e, f]
        if decrease <= least:
            break
    return decrease
