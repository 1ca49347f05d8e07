"""The penalised likelihood: its optimum against an independent solver, its certificate, its invariances."""

from __future__ import annotations

import warnings

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fields import constants, dense_matrices, log_likelihood, members, random_hyperedges, random_likelihood
from hsls.candidates import all_candidates, listed_candidates
from hsls.likelihood import LARGEST_BLOCK, Hyperedges, Likelihood, maximise
from instances import numbers, seeds


def by_cvxpy(problem):
    """Optimal value by Clarabel, block after block."""
    M, total = dense_matrices(problem.edges), 0.0
    for block in problem.blocks:
        own = M[block.numbers][:, block.nodes][:, :, block.nodes]
        n, count = len(block.nodes), len(block.numbers)
        w = cvxpy.Variable(count, nonneg=True)
        L = cvxpy.reshape(own.reshape(count, -1).T @ w, (n, n), order="C") + np.ones((n, n)) / n
        task = cvxpy.Problem(cvxpy.Minimize(block.cost @ w - cvxpy.log_det((L + L.T) / 2)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            task.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        total += task.value
    return total


@pytest.mark.parametrize("seed", range(6))
def test_the_objective_is_that_of_an_independent_solver(seed):
    problem = random_likelihood(seed, count=(6, 12, 40)[seed % 3], penalty=(0.02, 0.5)[seed % 2])
    solution = maximise(problem, tol=1e-9)
    assert solution.converged
    assert solution.primal == pytest.approx(by_cvxpy(problem), rel=1e-6, abs=1e-6)
    assert solution.primal == pytest.approx(log_likelihood(problem, solution.weights), abs=1e-9)
    assert solution.primal == pytest.approx(problem.primal(solution.weights), abs=1e-9)


@settings(max_examples=25)
@given(seeds(), st.integers(5, 40), numbers(0.01, 3.0), st.sampled_from([1e-3, 1e-6, 1e-10]))
def test_the_certificate_holds_by_dense_matrices(seed, count, penalty, tol):
    """The scaled inverse is dual feasible, and its value the lower bound reported."""
    problem = random_likelihood(seed, count=count, penalty=penalty)
    solution = maximise(problem, tol=tol)
    assert solution.converged
    assert solution.relative_gap <= tol
    J = constants(problem.labels)
    M = dense_matrices(problem.edges)
    inverse = np.linalg.inv(np.tensordot(solution.weights, M, 1) + J) - J
    theta = inverse * np.sqrt(solution.dual[:, None] * solution.dual[None]) + J  # the factor of each block
    cost = problem.z + penalty
    assert np.all(np.einsum("ij,eji->e", theta, M) <= cost * (1 + 1e-9))
    n = problem.edges.n_nodes
    held = np.isin(np.arange(n), problem.edges.indices)
    dual_value = np.sum(np.log(np.linalg.eigvalsh(theta[np.ix_(held, held)]))) + held.sum() - np.trace(J[held][:, held])
    assert solution.dual_value == pytest.approx(dual_value, abs=1e-8)
    assert np.all(solution.weights >= 0)
    assert cost @ solution.weights == pytest.approx(problem.rank)


@given(seeds())
def test_the_history_ends_in_the_result_and_the_objective_never_rises(seed):
    solution = maximise(random_likelihood(seed))
    history = solution.history
    assert history["gap"][-1] == solution.relative_gap
    assert history["primal"][-1] == solution.primal
    assert np.all(np.diff(history["primal"]) <= 1e-12)
    assert np.all(history["dual_value"] <= solution.primal + 1e-9)
    assert len(history["iteration"]) == solution.n_iter + 1


@settings(max_examples=20)
@given(seeds(), numbers(0.1, 10.0))
def test_units_scale_the_weights(seed, factor):
    problem = random_likelihood(seed)
    other = Likelihood(problem.edges, factor * problem.z, factor * problem.penalty)
    np.testing.assert_allclose(
        maximise(other, tol=1e-11).weights * factor, maximise(problem, tol=1e-11).weights, atol=1e-4, rtol=1e-4
    )


@settings(max_examples=20)
@given(seeds())
def test_a_start_changes_the_way_and_not_the_optimum(seed):
    problem = random_likelihood(seed)
    near = maximise(problem.with_penalty(0.12))
    warm, cold = maximise(problem, tol=1e-9, start=near.weights), maximise(problem, tol=1e-9)
    assert warm.primal == pytest.approx(cold.primal, abs=1e-7)
    assert maximise(problem, tol=1e-6, start=cold.weights).n_iter == 0
    useless = maximise(problem, tol=1e-9, start=np.full(len(problem.edges), np.nan))
    assert useless.primal == cold.primal


def test_a_tree_of_pairs_has_the_closed_form():
    """On a tree every pair's variance is fitted exactly: w = 1 / (z + lambda)."""
    edges = Hyperedges.of(listed_candidates([(0, 1), (1, 2), (1, 3), (3, 4)], 5))
    problem = Likelihood(edges, [0.5, 1.0, 2.0, 0.25], 0.1)
    solution = maximise(problem)
    np.testing.assert_allclose(solution.weights, 1 / (problem.z + 0.1))
    assert solution.n_iter == 0


def test_one_hyperedge_has_the_closed_form():
    solution = maximise(Likelihood(Hyperedges.of(listed_candidates([(0, 2, 3)], 5)), [4.0], 1.0))
    np.testing.assert_allclose(solution.weights, [2 / 5.0])
    np.testing.assert_allclose(solution.dual, [1, 0, 1, 1, 0])


@settings(max_examples=20)
@given(seeds())
def test_blocks_are_solved_apart(seed):
    rng = np.random.default_rng(seed)
    one, two = random_hyperedges(rng, 6, 9), random_hyperedges(rng, 5, 7)
    listed = members(one) + [[6 + i for i in edge] for edge in members(two)]
    both = Hyperedges.of(listed_candidates(listed, 12))  # node 11 is in none
    order = {tuple(edge): number for number, edge in enumerate(members(both))}
    z = rng.uniform(0.1, 2, len(listed))
    together = np.empty(len(listed))
    for value, edge in zip(z, listed, strict=True):
        together[order[tuple(edge)]] = value
    whole = maximise(Likelihood(both, together, 0.1), tol=1e-10)
    parts = [Likelihood(one, z[: len(one)], 0.1), Likelihood(two, z[len(one) :], 0.1)]
    solutions = [maximise(part, tol=1e-10) for part in parts]
    assert whole.primal == pytest.approx(sum(s.primal for s in solutions), abs=1e-8)
    assert whole.dual[11] == 0
    assert whole.relative_gap <= 1e-10


def test_equal_signals_have_finite_weights():
    solution = maximise(Likelihood(all_candidates(6, (2, 3)), np.zeros(35), 0.5))
    assert solution.converged
    assert solution.weights.sum() == pytest.approx(5 / 0.5)


def test_too_few_iterations_are_told():
    solution = maximise(random_likelihood(0, count=40), tol=1e-12, max_iter=1)
    assert (solution.status, solution.n_iter) == ("max_iter", 1)
    assert solution.relative_gap > 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], 0.1), "variation must hold one number for each of the 1 hyperedges"),
        (([-1.0], 0.1), "variation must be finite and at least 0"),
        (([np.nan], 0.1), "variation must be finite and at least 0"),
        (([0.0], 0.0), "has no finite weight without a penalty"),
        (([1.0], -1.0), "penalty must be a finite number, 0 or more"),
    ],
)
def test_what_cannot_be_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Likelihood(listed_candidates([(0, 1)], 3), *arguments)


def test_too_large_a_block_is_refused_before_any_work():
    n = LARGEST_BLOCK + 1
    edges = Hyperedges.of(listed_candidates([(i, i + 1) for i in range(n - 1)], n))
    with pytest.raises(ValueError, match=r"connect 4,001 nodes.* up to 4,000 nodes; lower neighbors, or use HSLS"):
        maximise(Likelihood(edges, np.ones(n - 1), 0.1))
