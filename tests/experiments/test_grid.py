"""The grid over alpha and beta: its numbers, and that each point holds what a solve of its own gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsls import ConvergenceWarning, Problem
from hsls.experiments._grid import by_fbf, certified, decades
from hsls.solvers import fbf, newton
from instances import numbers, objective, problems, random_problem

POINTS = [(0.5, 2.0), (2.0, 0.5), (1.0, 1.0), (0.1, 0.3), (0.1, 0.3), (4.0, 0.1)]


def at(problem, alpha, beta):
    return Problem(
        problem.candidates, problem.z, alpha, beta, degree_coefficient=problem.c, quadratic_coefficient=problem.q
    )


def test_decades_are_the_numbers_as_they_are_written():
    assert decades(-2, 1) == [0.01, 0.1, 1.0, 10.0]
    assert decades(0, 1, (1, 2, 4, 5)) == [1, 2, 4, 5, 10, 20, 40, 50]
    assert decades(-2, -1, (1, 2, 4, 5)) == [0.01, 0.02, 0.04, 0.05, 0.1, 0.2, 0.4, 0.5]
    assert decades(3, 2) == []


@pytest.mark.parametrize("coefficients", [False, True])
def test_the_papers_solver_is_run_at_each_point(coefficients):
    problem = random_problem(3, coefficients=coefficients, alpha=7.0, beta=8.0)
    found = list(by_fbf(problem, POINTS))
    assert [point for point, _, _ in found] == POINTS
    for (alpha, beta), weights, solution in found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            expected = fbf(at(problem, alpha, beta))
        np.testing.assert_array_equal(weights, expected.weights)
        assert solution.relative_gap == expected.relative_gap


@settings(max_examples=15)
@given(problems(most=12), st.lists(st.tuples(numbers(0.1, 10), numbers(0.1, 10)), min_size=1, max_size=4))
def test_the_certified_weights_are_those_of_the_problem_at_each_point(problem, points):
    found = list(certified(problem, points))
    assert [point for point, _, _ in found] == points
    for (alpha, beta), weights, solution in found:
        own = at(problem, alpha, beta)
        best = newton(own, tol=1e-10)
        unit = alpha * own.n_nodes
        assert solution.relative_gap <= 1e-6
        assert objective(own, weights) - objective(own, best.weights) <= 1.1e-6 * unit + 1e-9 * abs(best.primal)
        # Strong convexity bounds how far weights of such a gap can be.
        far = np.sqrt(1.2e-6 * unit / (beta * np.min(own.q)))
        assert np.linalg.norm(weights - best.weights) <= far


def test_points_of_one_product_are_solved_once(monkeypatch):
    solved = []

    def path(problem, thetas):
        from hsls.solvers import solve_path

        solved.append(list(thetas))
        return solve_path(problem, thetas)

    monkeypatch.setattr("hsls.experiments._grid.solve_path", path)
    problem = random_problem(1)
    points = [(alpha, beta) for alpha in decades(-2, 1) for beta in decades(-3, 1)]
    found = list(certified(problem, points))
    assert [len(thetas) for thetas in solved] == [8]  # products from 1e-5 to 1e2
    weights = {point: w for point, w, _ in found}
    np.testing.assert_allclose(weights[1.0, 0.01], 10 * weights[0.1, 0.1], rtol=1e-12)
