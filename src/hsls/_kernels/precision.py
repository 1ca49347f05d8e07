"""Precision matrices of the star expansion: hyperedge e adds ``w_e M_e`` with ``M_e = diag(1_e) - 1_e 1_e' / |e|``.

Conventions of every function here: hyperedge e holds the nodes ``indices[indptr[e]:indptr[e + 1]]``; `theta` is a
symmetric (N, N) matrix; the work is the hyperedges `start` to `stop`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hsls._kernels.jit import kernel

# Precision of levels, over that of typical hyperedges, small enough to stand for none.
_REGULAR = 1e-7


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
    indptr: Any, indices: Any, theta: Any, labels: Any, sizes: Any, gram: Any, z: Any, least: float, out: Any
) -> None:
    """out_e = the most by which ``logdet L - tr(C L) - log levels`` rises with a weight for e, all else as it is.

    `theta` holds the pseudo-inverse of L, `labels` the connected component of each node, `sizes` its nodes and `gram`
    the inner products of the summed signals of components; levels are at least `least`. L is made regular by a small
    precision on the constants of every component, whose limit is taken: with the eigenvalues mu of the centred block
    of its inverse the rise is ``sum log (1 + w mu) - w z_e``, and what the levels change.
    """
    for e in range(len(out)):
        first, last = indptr[e], indptr[e + 1]
        k = last - first
        block = np.empty((k, k))
        parts = np.empty(k, np.int64)
        count = 0
        for a in range(k):
            i = indices[first + a]
            own = labels[i]
            if not np.any(parts[:count] == own):
                parts[count] = own
                count += 1
            for b in range(k):
                j = indices[first + b]
                block[a, b] = theta[i, j]
                if labels[j] == own:
                    block[a, b] += 1.0 / (_REGULAR * sizes[own])
        for a in range(k):
            block[a] -= np.mean(block[a])
        for b in range(k):
            block[:, b] -= np.mean(block[:, b])
        rise = 0.0
        if count > 1:
            square, nodes = 0.0, 0.0
            for a in range(count):
                nodes += sizes[parts[a]]
                rise += math.log(max(gram[parts[a], parts[a]] / sizes[parts[a]], least))
                for b in range(count):
                    square += gram[parts[a], parts[b]]
            rise += (count - 1) * (1.0 + math.log(_REGULAR)) - math.log(max(square / nodes, least))
        elif np.trace(block) <= z[e]:
            out[e] = 0.0
            continue
        mu = np.maximum(np.linalg.eigvalsh(block), 0.0)[1:]
        w = (k - 1) / z[e]  # at least the best; Newton's steps towards 0 are shortened
        for _ in range(60):
            shares = mu / (1.0 + w * mu)
            new = max(w - (np.sum(shares) - z[e]) / -np.sum(shares * shares), 0.1 * w)
            done = abs(new - w) <= 1e-10 * w
            w = new
            if done:
                break
        out[e] = rise + np.sum(np.log(1.0 + w * mu)) - w * z[e]


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
