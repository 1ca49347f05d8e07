"""`solve` and `solve_path`: solvers by name, and the path over theta, which is the whole grid over alpha and beta."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsls.problem import Problem
from hsls.solvers import SOLVERS, fbf, newton, solve, solve_path
from instances import numbers, problems, random_problem

THETAS = [0.01, 0.3, 1.0, 2.0, 10.0, 50.0]


def cold(problem, theta, **options):
    return newton(
        Problem(
            problem.candidates,
            theta * problem.z,
            degree_coefficient=problem.c,
            quadratic_coefficient=problem.q,
        ),
        **options,
    )


@settings(max_examples=30)
@given(problems(), st.lists(numbers(1e-3, 100.0), min_size=1, max_size=6))
def test_a_path_is_what_cold_solves_give_in_the_order_asked_for(problem, thetas):
    path = solve_path(problem, thetas, tol=1e-12)
    assert len(path) == len(thetas)
    for theta, solution in zip(thetas, path, strict=True):
        assert solution.converged
        expected = cold(problem, theta, tol=1e-12)
        assert solution.primal == pytest.approx(expected.primal, abs=1e-10 * (problem.n_nodes + abs(expected.primal)))
        np.testing.assert_allclose(solution.weights, expected.weights, atol=1e-4 * expected.weights.max())


@pytest.mark.parametrize("coefficients", [False, True])
def test_the_path_holds_the_solutions_for_all_alpha_and_beta(coefficients):
    problem = random_problem(coefficients=coefficients)
    for alpha, beta in [(1.0, 1.0), (0.1, 4.0), (20.0, 0.5)]:
        theta = 1 / math.sqrt(alpha * beta)
        (on_path,) = solve_path(problem, [theta], tol=1e-12)
        other = Problem(
            problem.candidates, problem.z, alpha, beta,
            degree_coefficient=problem.c, quadratic_coefficient=problem.q,
        )  # fmt: skip
        expected = newton(other, tol=1e-12).weights
        np.testing.assert_allclose(math.sqrt(alpha / beta) * on_path.weights, expected, atol=1e-5 * expected.max())


def test_alpha_and_beta_of_the_problem_have_no_part_in_the_path():
    one, other = random_problem(), random_problem(alpha=7.0, beta=0.2)
    for a, b in zip(solve_path(one, THETAS), solve_path(other, THETAS), strict=True):
        np.testing.assert_array_equal(a.weights, b.weights)


def test_order_and_repeats_of_thetas_mean_nothing():
    problem = random_problem()
    ascending = dict(zip(THETAS, solve_path(problem, THETAS), strict=True))
    shuffled = [10.0, 0.01, 50.0, 1.0, 0.3, 2.0, 1.0]
    for theta, solution in zip(shuffled, solve_path(problem, shuffled), strict=True):
        assert solution.converged
        assert solution.primal == pytest.approx(ascending[theta].primal, abs=2e-6 * problem.n_nodes)
    assert solve_path(problem, []) == []


def test_a_larger_theta_leaves_fewer_hyperedges():
    counts = [np.count_nonzero(solution.weights) for solution in solve_path(random_problem(), THETAS, tol=1e-10)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < counts[0] / 3


def test_warm_starts_save_iterations():
    problem = random_problem(n_nodes=60)
    thetas = np.geomspace(1, 100, 15)
    warm = sum(solution.n_iter for solution in solve_path(problem, thetas, tol=1e-8))
    assert warm < 0.7 * sum(cold(problem, theta, tol=1e-8).n_iter for theta in thetas)


def test_the_hard_end_of_a_path_converges():
    path = solve_path(random_problem(1, 100, 8, n_observations=3), np.geomspace(1, 1000, 13))
    assert all(solution.converged for solution in path)


def test_max_iter_holds_for_each_theta():
    path = solve_path(random_problem(), [1.0, 30.0], tol=1e-12, max_iter=2)
    assert [(solution.status, solution.n_iter) for solution in path] == [("max_iter", 2)] * 2


@pytest.mark.parametrize("thetas", [[1.0, 0.0], [-1.0], [math.nan], [math.inf]])
def test_thetas_that_cannot_be_are_refused(thetas):
    with pytest.raises(ValueError, match="thetas must be a finite number above 0"):
        solve_path(random_problem(), thetas)


# -- solvers by name -------------------------------------------------------------------------------------------------


def test_solve_passes_options_on():
    problem = random_problem()
    assert {"newton": newton, "fbf": fbf} == SOLVERS
    assert solve(problem).solver == "newton"
    assert solve(problem, tol=1e-11).relative_gap <= 1e-11
    same = fbf(problem, max_iter=30, balance=0.3)
    found = solve(problem, "fbf", max_iter=30, balance=0.3)
    assert (found.solver, found.n_iter) == ("fbf", same.n_iter)
    np.testing.assert_array_equal(found.weights, same.weights)


def test_an_unknown_solver_lists_the_known():
    with pytest.raises(ValueError, match="solver must be one of 'newton', 'fbf'; got 'simplex'"):
        solve(random_problem(), "simplex")
