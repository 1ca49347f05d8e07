"""The two halves of a forward-backward-forward iteration against numpy, and the whole against the halves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsls._kernels import splitting as kernels
from kernel_blocks import blocks, given_values


@pytest.mark.parametrize("steps", [(0, 0), (1, 0), (0, 1), (1, 1)])
@given(b=blocks(), gamma=st.floats(0.01, 1.0))
def test_the_two_halves_of_a_forward_backward_forward_iteration(steps, b, gamma):
    quadratic_passed, quadratic = given_values(b.values, steps[0])
    c_passed, c = given_values(b.others, steps[1])
    S = b.S * c
    d, p2 = b.p, b.before

    point = np.full(b.count, 7.0)
    degree_w, degree_point = b.before.copy(), b.before.copy()
    kernels.forward(b.args[1], b.z, quadratic_passed, steps[0], c_passed, steps[1], gamma, b.w, d, point,
                        degree_w, degree_point, *b.range)  # fmt: skip
    y1 = b.w - gamma * (quadratic * b.w + S.T @ d)
    p1 = np.maximum(0.0, y1 - gamma * b.z)
    np.testing.assert_allclose(point, np.where(b.inside, p1, 7.0), atol=1e-13)
    np.testing.assert_allclose(degree_w, b.before + S @ (b.w * b.inside), atol=1e-13)
    np.testing.assert_allclose(degree_point, b.before + S @ (p1 * b.inside), atol=1e-13)

    w = b.w.copy()
    change, norm = kernels.correct(b.args[1], quadratic_passed, steps[0], c_passed, steps[1], gamma, w, d, p1, p2,
                                       *b.range)  # fmt: skip
    q1 = p1 - gamma * (quadratic * p1 + S.T @ p2)
    delta = np.where(b.inside, q1 - y1, 0.0)
    np.testing.assert_allclose(w, b.w + delta, atol=1e-13)
    np.testing.assert_allclose([change, norm], [np.sum(delta**2), np.sum((b.w * b.inside) ** 2)], atol=1e-12)


@given(b=blocks(), alpha=st.floats(0.1, 10.0), gamma=st.floats(0.01, 1.0))
def test_the_dual_steps(b, alpha, gamma):
    d, degree_w, degree_point = b.p, b.v, b.before
    p2 = np.empty(b.n_nodes)
    kernels.dual_step(alpha, gamma, d, degree_w, p2)
    y2 = d + gamma * degree_w
    np.testing.assert_allclose(p2, (y2 - np.sqrt(y2**2 + 4 * alpha * gamma)) / 2, atol=1e-12)
    # The proximal point of gamma times the conjugate of -alpha log: (p - y) / gamma + alpha / -p = 0, p below 0.
    np.testing.assert_allclose((p2 - y2) / gamma, alpha / p2, rtol=1e-6, atol=1e-8)
    after = d.copy()
    change, norm = kernels.dual_correct(gamma, after, degree_w, degree_point, p2)
    delta = p2 + gamma * degree_point - y2
    np.testing.assert_allclose(after, d + delta, atol=1e-13)
    np.testing.assert_allclose([change, norm], [np.sum(delta**2), np.sum(d**2)], atol=1e-12)


def test_the_change_is_the_larger_of_the_two_and_infinite_from_zero():
    assert kernels.larger_change(1.0, 2.0, 3.0, 4.0) == 0.75
    assert kernels.larger_change(4.0, 2.0, 3.0, 4.0) == 2.0
    assert kernels.larger_change(1.0, 0.0, 3.0, 4.0) == math.inf
    assert kernels.larger_change(1.0, 2.0, 3.0, 0.0) == math.inf
