"""Precision matrices of hyperedges: sums, traces, products of traces, and coordinate descent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fields import dense_matrices, random_hyperedges
from hsls._kernels import precision
from instances import seeds


def instance(seed):
    rng = np.random.default_rng(seed)
    edges = random_hyperedges(rng, 9, 14)
    root = rng.standard_normal((9, 12))
    return rng, edges, root @ root.T, dense_matrices(edges)


@given(seeds())
def test_sums_traces_and_products_are_those_of_the_matrices(seed):
    rng, edges, theta, M = instance(seed)
    w = rng.uniform(0, 2, len(edges))
    out = np.zeros((9, 9))
    precision.add_laplacian(edges.indptr, edges.indices, w, out)
    np.testing.assert_allclose(out, np.tensordot(w, M, 1), atol=1e-12)
    traces = np.full(len(edges), np.nan)
    precision.traces(edges.indptr, edges.indices, theta, traces, 0, len(edges))
    np.testing.assert_allclose(traces, np.einsum("ij,eji->e", theta, M), rtol=1e-10)
    H = np.full((len(edges), len(edges)), np.nan)
    for start, stop in ((0, 5), (5, len(edges))):
        precision.products(edges.indptr, edges.indices, theta, H, start, stop)
    np.testing.assert_allclose(H, np.einsum("ij,ejk,kl,fli->ef", theta, M, theta, M), rtol=1e-9, atol=1e-9)


@given(seeds(), st.integers(1, 12))
def test_coordinate_descent_ends_at_the_minimum(seed, count):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((count, count + 3))
    H, g, w = root @ root.T, rng.standard_normal(count), np.maximum(rng.standard_normal(count), 0)
    y, slope = w.copy(), g.copy()
    assert precision.descend(H, slope, y, 100_000, 1e-30) <= 1e-30
    np.testing.assert_allclose(slope, g + H @ (y - w), atol=1e-8)
    assert np.all(y >= 0)
    assert np.all(slope >= -1e-8)
    assert y @ slope == pytest.approx(0.0, abs=1e-7)
