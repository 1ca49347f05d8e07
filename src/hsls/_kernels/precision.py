"""Precision matrices of the star expansion: hyperedge e adds ``w_e M_e`` with ``M_e = diag(1_e) - 1_e 1_e' / |e|``.

Conventions of every function here: hyperedge e holds the nodes ``indices[indptr[e]:indptr[e + 1]]``; `theta` is a
symmetric (N, N) matrix; the work is the hyperedges `start` to `stop`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hsls._kernels.jit import kernel


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
def curvatures(indptr: Any, indices: Any, theta: Any, out: Any, start: int, stop: int) -> None:
    """out_e = tr(theta M_e theta M_e)."""
    for e in range(start, stop):
        first, last = indptr[e], indptr[e + 1]
        k = last - first
        squares, rows, total = 0.0, 0.0, 0.0
        corner = theta[indices[first], indices[first]]
        for a in range(first, last):
            row = 0.0
            for b in range(first, last):
                value = theta[indices[a], indices[b]] - corner
                squares += value * value
                row += value
            rows += row * row
            total += row
        out[e] = squares - 2.0 * rows / k + total * total / (k * k)


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
