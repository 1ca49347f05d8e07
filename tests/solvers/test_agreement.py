"""Solvers that share no code agree: newton, fbf, cvxpy with Clarabel, and for graphs an independent graph learner."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from graph_learn.smooth_learning import gsp_learn_graph_log_degrees
from hypothesis import given, reject, settings
from scipy.spatial.distance import pdist, squareform

from hsls.candidates import all_candidates
from hsls.problem import Problem
from hsls.solvers import fbf, newton
from hsls.variation import of_candidates
from instances import dense_incidence, objective, paper_problem, problems, random_problem


def clarabel(problem):
    """Weights by cvxpy and its interior-point solver, from the formula of the objective."""
    S = dense_incidence(problem.candidates)[problem.nodes]
    w = cp.Variable(problem.n_candidates, nonneg=True)
    degrees = S @ cp.multiply(np.broadcast_to(problem.c, problem.z.shape), w)
    squares = cp.sum_squares(cp.multiply(np.sqrt(np.broadcast_to(problem.q, problem.z.shape)), w))
    value = problem.z @ w - problem.alpha * cp.sum(cp.log(degrees)) + problem.beta * squares
    task = cp.Problem(cp.Minimize(value))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    if task.status != cp.OPTIMAL:
        reject()  # another example then; outside of generated ones this is an error
    return np.maximum(w.value, 0.0)


def balanced(problem, w, v):
    """The balance at which weights and dual variables are of one size."""
    return float(np.sqrt(np.linalg.norm(w) / np.linalg.norm(v)))


def assert_all_agree(problem):
    best = newton(problem, tol=1e-12)
    long = fbf(problem, balance=balanced(problem, best.weights, best.dual), gap_tol=1e-7, max_iter=200_000)
    assert best.converged
    assert long.converged
    independent = clarabel(problem)
    unit = problem.alpha * problem.n_nodes
    values = [objective(problem, w) for w in (best.weights, long.weights, independent)]
    np.testing.assert_allclose(values, values[0], rtol=0, atol=1e-6 * min(unit, unit + abs(values[0])))
    # The certificate holds for what others found.
    assert best.dual_value <= min(values) + 1e-9 * unit
    # Strong convexity: ||w - w*||^2 <= (P - P*) / (beta min q).
    far = np.sqrt(1e-6 * unit / (problem.beta * np.min(problem.q)))
    assert np.linalg.norm(best.weights - independent) <= far
    assert np.linalg.norm(best.weights - long.weights) <= far


@settings(max_examples=25)
@given(problems(most=15))
def test_newton_fbf_and_clarabel_agree_on_generated_problems(problem):
    assert_all_agree(problem)


@pytest.mark.parametrize("coefficients", [False, True])
@pytest.mark.parametrize("theta", [0.1, 1.0, 10.0])
def test_newton_fbf_and_clarabel_agree_on_neighbours_of_signals(theta, coefficients):
    assert_all_agree(random_problem(2, coefficients=coefficients, alpha=1 / theta, beta=1 / theta))


def test_newton_fbf_and_clarabel_agree_in_the_papers_regime():
    assert_all_agree(paper_problem())


# -- graphs ----------------------------------------------------------------------------------------------------------


def learned_graph(z, alpha, beta):
    """Kalofolias' model by the package graph_structure_learning, run to high accuracy, as a condensed vector.

    It minimises over symmetric W the sum of W_ij Z_ij, which counts each pair twice, minus alpha times the log
    degrees, plus beta / 2 ||W||_F^2: over pairs that is 2 z'w - alpha sum log(S w) + beta ||w||^2.
    """
    W = gsp_learn_graph_log_degrees(z, alpha, beta, maxit=200_000, tol=1e-12, step_size=0.9, edge_tol=0.0)
    return squareform(np.maximum(W, 0.0))


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 0.1), (3.0, 2.0)])
@pytest.mark.parametrize("seed", [0, 1])
def test_graphs_are_those_of_an_independent_graph_learner(seed, alpha, beta):
    X = np.random.default_rng(seed).standard_normal((15, 4))
    z = pdist(X) ** 2
    z /= np.median(z)
    candidates = all_candidates(15, 2)
    np.testing.assert_allclose(of_candidates(candidates, X, "sum-square") / np.median(pdist(X) ** 2), z)
    problem = Problem(candidates, 2 * z, alpha, beta)
    ours, theirs = newton(problem, tol=1e-12), learned_graph(z, alpha, beta)
    unit = alpha * problem.n_nodes
    assert ours.primal <= objective(problem, theirs) + 1e-9 * unit
    assert ours.primal == pytest.approx(objective(problem, theirs), abs=1e-7 * unit)
    np.testing.assert_allclose(theirs, ours.weights, atol=1e-4 * ours.weights.max())
    # The same edges, but for those that neither solver can tell from none.
    clear = np.abs(theirs - 1e-3 * theirs.max()) > 5e-4 * theirs.max()
    np.testing.assert_array_equal((theirs > 1e-3 * theirs.max())[clear], (ours.weights > 1e-3 * theirs.max())[clear])
