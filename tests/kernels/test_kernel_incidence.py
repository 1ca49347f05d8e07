"""Each kernel on blocks of candidates against a line of numpy with the dense incidence matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from hsls._kernels import incidence as kernels
from kernel_blocks import blocks, given_values

PER_CANDIDATE = pytest.mark.parametrize("step", [0, 1], ids=["one value", "one a candidate"])


@given(blocks())
def test_gather_sums_over_the_nodes_of_a_candidate(b):
    out = np.full(b.count, 7.0)
    kernels.gather(*b.args, b.v, out, *b.range)
    np.testing.assert_allclose(out, np.where(b.inside, b.S.T @ b.v, 7.0), atol=1e-14)


@given(blocks())
def test_scatter_adds_over_the_candidates_of_a_node(b):
    out = b.before.copy()
    kernels.scatter(*b.args, b.w, out, *b.range)
    np.testing.assert_allclose(out, b.before + b.S @ (b.w * b.inside), atol=1e-13)


@PER_CANDIDATE
@given(b=blocks())
def test_dual_pass_adds_degrees_and_returns_the_quadratic_term(step, b):
    passed, curvature = given_values(b.values, step)
    out = b.before.copy()
    quadratic = kernels.dual_pass(*b.args, b.z, passed, step, b.v, out, *b.range)
    u = np.maximum(b.S.T @ b.v - b.z, 0.0) * b.inside
    np.testing.assert_allclose(out, b.before + b.S @ (u * curvature), atol=1e-13)
    np.testing.assert_allclose(quadratic, np.sum(u**2 * curvature), atol=1e-13)


@PER_CANDIDATE
@given(b=blocks())
def test_weights_are_the_positive_part(step, b):
    passed, curvature = given_values(b.values, step)
    out = np.full(b.count, 7.0)
    kernels.weights(*b.args, b.z, passed, step, b.v, out, *b.range)
    expected = np.maximum(b.S.T @ b.v - b.z, 0.0) * curvature
    np.testing.assert_allclose(out, np.where(b.inside, expected, 7.0), atol=1e-14)


@PER_CANDIDATE
@given(b=blocks())
def test_compact_copies_the_active_candidates_in_order(step, b):
    passed, _ = given_values(b.values, step)
    start, stop = b.range
    members = np.zeros((stop - start, b.k), np.uint32)
    values = np.zeros(stop - start)
    found = kernels.compact(*b.args, b.z, passed, step, b.v, members, values, *b.range)
    slack = b.v[b.members].sum(axis=1) - b.z
    # A sum that rounding alone can carry over z may count or not.
    if np.abs(slack[slack != 0]).min(initial=1.0) > 1e-12:
        active = np.flatnonzero(b.inside & (slack > 0))
        assert found == len(active)
        np.testing.assert_array_equal(members[:found], b.members[active])
        if step:
            np.testing.assert_array_equal(values[:found], b.values[active])


@PER_CANDIDATE
@given(b=blocks())
def test_normal_product_matrix_and_diagonal_are_one_operator(step, b):
    passed, curvature = given_values(b.values, step)
    normal = (b.S * (curvature * b.inside)) @ b.S.T
    product, diagonal, matrix = b.before.copy(), b.before.copy(), np.diag(b.before)
    kernels.normal_product(*b.args, passed, step, b.p, product, *b.range)
    kernels.normal_diagonal(*b.args, passed, step, diagonal, *b.range)
    kernels.normal_matrix(*b.args, passed, step, matrix, *b.range)
    np.testing.assert_allclose(product, b.before + normal @ b.p, atol=1e-12)
    np.testing.assert_allclose(diagonal, b.before + np.diag(normal), atol=1e-13)
    np.testing.assert_allclose(matrix, np.diag(b.before) + normal, atol=1e-13)


@given(blocks())
def test_least_at_nodes_is_the_least_share_of_a_candidate(b):
    out = np.full(b.n_nodes, 0.6)
    kernels.least_at_nodes(*b.args, b.z, out, *b.range)
    shares = [[z / b.k for z, e, inside in zip(b.z, b.members, b.inside, strict=True) if inside and i in e]
              for i in range(b.n_nodes)]  # fmt: skip
    np.testing.assert_allclose(out, [min([0.6, *share]) for share in shares])
