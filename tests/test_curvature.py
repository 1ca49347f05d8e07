"""Second-order information against finite differences of the gradient."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given

import hsls.incidence as incidence_room
from hsls import _threads
from hsls.curvature import Curvature
from instances import dense_incidence, problems, random_problem, seeds


def gradient(problem, v):
    """Of the negative dual."""
    return problem.at(v).degrees - problem.alpha / v


@given(problems(), seeds())
def test_the_hessian_is_the_derivative_of_the_gradient(problem, seed):
    v = np.random.default_rng(seed).uniform(0.5, 3.0, problem.n_nodes)
    slack = problem.c * problem.S.adjoint(v) - problem.z
    assume(np.abs(slack).min() > 1e-3)  # the second derivative jumps where a candidate becomes active
    hessian = Curvature(problem)
    hessian.update(v)
    step = 1e-5
    numeric = [(gradient(problem, v + step * e) - gradient(problem, v - step * e)) / (2 * step) for e in np.eye(len(v))]
    np.testing.assert_allclose(hessian.dense(), numeric, rtol=1e-5, atol=1e-6 * (1 + problem.alpha))
    assert hessian.n_active == np.sum(slack > 0) == np.sum(problem.weights(v) > 0)


@given(problems(), seeds())
def test_the_hessian_is_its_formula_as_matrix_product_and_diagonal(problem, seed):
    rng = np.random.default_rng(seed)
    hessian = Curvature(problem)
    for _ in range(3):  # the same memory serves again
        v, p = rng.uniform(0.1, 3.0, problem.n_nodes), rng.standard_normal(problem.n_nodes)
        hessian.update(v)
        active = (problem.weights(v) > 0) * problem.c**2 / (2 * problem.beta * problem.q)
        S = dense_incidence(problem.candidates)[problem.nodes]
        expected = np.diag(problem.alpha / v**2) + (S * active) @ S.T
        np.testing.assert_allclose(hessian.dense(), expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(hessian.product(p), expected @ p, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
        np.testing.assert_allclose(hessian.diagonal(), np.diag(expected), rtol=1e-10)
        assert np.linalg.eigvalsh(hessian.dense())[0] > 0


@pytest.mark.parametrize("coefficients", [False, True])
def test_several_threads_give_the_same_as_one(monkeypatch, coefficients):
    alone = random_problem(coefficients=coefficients)
    rng = np.random.default_rng(0)
    v, p = rng.uniform(0.3, 1.0, alone.n_nodes), rng.standard_normal(alone.n_nodes)
    expected = Curvature(alone)
    expected.update(v)
    assert 0 < expected.n_active < alone.n_candidates
    monkeypatch.setattr(incidence_room, "_CANDIDATES_A_THREAD", 10)
    with _threads.limit(3):
        problem = random_problem(coefficients=coefficients)
        assert problem.S.parts == 3
        found = Curvature(problem)
        found.update(v)
        assert found.n_active == expected.n_active
        np.testing.assert_allclose(found.product(p), expected.product(p), rtol=1e-10)
        np.testing.assert_allclose(found.diagonal(), expected.diagonal(), rtol=1e-12)
        np.testing.assert_allclose(found.dense(), expected.dense(), rtol=1e-12)
