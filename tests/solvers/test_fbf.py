"""The paper's solver: its Algorithm 2 to the last digits, its stopping rule, and what that rule is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsls.incidence as incidence_room
from hsls import _threads
from hsls.candidates import all_candidates, listed_candidates
from hsls.problem import Problem
from hsls.solvers import fbf, newton
from hsls.solvers.fbf import _State
from instances import dense_incidence, numbers, objective, paper_problem, problems, random_problem


def algorithm_2(problem, max_iter=10_000, balance=1.0):
    """The paper's Algorithm 2 in plain numpy; yields w, d and the larger squared relative change.

    Coefficients enter as S diag(c) and 2 beta q; `balance` b solves for w / b with z -> b z, beta -> b^2 beta.
    """
    z, q = balance * problem.z, 2 * balance**2 * problem.beta * np.broadcast_to(problem.q, problem.z.shape)
    S = dense_incidence(problem.candidates)[problem.nodes] * problem.c
    mu = q.max() + np.linalg.norm(S, 2)
    epsilon = 0.9 / (1 + mu)
    w, d = np.zeros(S.shape[1]), np.zeros(S.shape[0])
    for gamma in np.linspace(epsilon, (1 - epsilon) / mu, max_iter):
        y1 = w - gamma * (q * w + S.T @ d)
        y2 = d + gamma * (S @ w)
        p1 = np.maximum(0, y1 - gamma * z)
        p2 = (y2 - np.sqrt(y2**2 + 4 * problem.alpha * gamma)) / 2
        q1 = p1 - gamma * (q * p1 + S.T @ p2)
        q2 = p2 + gamma * (S @ p1)
        before = w, d
        w, d = w - y1 + q1, d - y2 + q2
        change = math.inf
        if before[0].any():
            change = max(np.sum((new - old) ** 2) / np.sum(old**2) for new, old in zip((w, d), before, strict=True))
        yield w, d, change


@settings(max_examples=30)
@given(problems(), st.sampled_from([1.0, 0.1, 3.0]))
def test_every_iterate_is_that_of_algorithm_2(problem, balance):
    state = _State(problem, balance)
    epsilon = 0.9 / (1 + state.mu)
    steps = np.linspace(epsilon, (1 - epsilon) / state.mu, 60)
    for gamma, (w, d, change) in zip(steps, algorithm_2(problem, 60, balance), strict=True):
        done, found = state.advance(np.array([gamma]), 0.0)
        assert done == 1
        np.testing.assert_allclose(state.w, w, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(state.d, d, rtol=1e-10, atol=1e-10)
        assert found == pytest.approx(change, rel=1e-6)


@settings(max_examples=20)
@given(problems(), st.floats(1e-6, 1e-1))
def test_many_iterations_in_one_call_are_as_many_calls(problem, tol):
    """And they end with the first whose change is below the tolerance."""
    together, alone = _State(problem, 1.0), _State(problem, 1.0)
    steps = np.linspace(0.01, 0.5 / together.mu, 40)
    done, last = together.advance(steps, tol)
    changes = [alone.advance(steps[number : number + 1], 0.0)[1] for number in range(done)]
    np.testing.assert_array_equal(together.w, alone.w)
    np.testing.assert_array_equal(together.d, alone.d)
    assert last == changes[-1]
    assert all(change >= tol for change in changes[:-1])
    assert done == 40 or last < tol


@pytest.mark.parametrize("problem", [random_problem(), random_problem(coefficients=True, alpha=3.0), paper_problem()],
                         ids=["plain", "coefficients", "the paper's"])  # fmt: skip
def test_it_stops_where_the_papers_rule_stops_algorithm_2(problem):
    solution = fbf(problem)
    course = enumerate(algorithm_2(problem), 1)
    number, w = next((number, w) for number, (w, _, change) in course if change < 1e-8)
    assert (solution.status, solution.n_iter) == ("converged", number)
    np.testing.assert_allclose(solution.weights, np.maximum(w, 0), atol=1e-10)


def test_the_papers_rule_stops_far_from_the_optimum_that_newton_certifies():
    """The paper's regime: at fbf's own stop the objective is above the optimum by some tens of percent."""
    for seed in (0, 1):
        problem = paper_problem(40, seed)
        as_published = fbf(problem)
        best = newton(problem, tol=1e-9)
        assert as_published.converged
        assert best.converged
        assert best.relative_gap <= 1e-9
        assert as_published.relative_gap > 0.05
        assert (as_published.primal - best.primal) / abs(best.primal) > 0.05
        # Its certificate is an honest one all the same.
        assert as_published.dual_value <= best.primal + 1e-9 * abs(best.primal) <= as_published.primal


def test_balanced_variables_bring_the_same_rule_near_the_optimum():
    problem = paper_problem()
    plain, balanced = fbf(problem), fbf(problem, balance=0.1)
    assert balanced.relative_gap < 1e-3 * plain.relative_gap
    assert fbf(problem, balance=0.1, gap_tol=1e-6).relative_gap <= 1e-6


@settings(max_examples=20)
@given(problems(), st.sampled_from([0.1, 0.5, 2.0, 10.0]))
def test_balance_is_a_change_of_variable(problem, balance):
    """The iterates are `balance` times those of the problem with z -> b z, beta -> b^2 beta."""
    other = Problem(
        problem.candidates, balance * problem.z, problem.alpha, balance**2 * problem.beta,
        degree_coefficient=problem.c, quadratic_coefficient=problem.q,
    )  # fmt: skip
    one = fbf(problem, balance=balance, max_iter=40, tol=1e-30)
    two = fbf(other, max_iter=40, tol=1e-30)
    np.testing.assert_allclose(one.weights, balance * two.weights, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("balance", [0.3, 1.0, 3.0])
def test_balance_does_not_change_the_optimum(balance):
    problem = random_problem()
    solution = fbf(problem, balance=balance, gap_tol=1e-8, max_iter=100_000)
    assert solution.converged
    np.testing.assert_allclose(solution.weights, newton(problem, tol=1e-12).weights, atol=2e-3)
    assert solution.primal == pytest.approx(newton(problem, tol=1e-12).primal, abs=1e-8 * problem.n_nodes)


@settings(max_examples=30)
@given(problems(), st.integers(1, 200))
def test_whenever_it_stops_the_certificate_is_true_and_weights_are_not_negative(problem, max_iter):
    solution = fbf(problem, max_iter=max_iter)
    best = newton(problem, tol=1e-12).primal
    unit = problem.alpha * problem.n_nodes
    rounding = 1e-10 * (unit + abs(best))
    assert np.all(solution.weights >= 0)
    assert solution.dual_value <= best + rounding
    assert solution.primal >= best - rounding
    assert solution.gap == max(solution.primal - solution.dual_value, 0.0)
    assert solution.relative_gap == solution.gap / unit
    if np.all(problem.degrees(solution.weights) > 0):
        assert solution.primal == pytest.approx(objective(problem, solution.weights), abs=rounding)
    else:
        assert solution.primal == math.inf
    assert solution.n_iter <= max_iter
    assert (solution.n_iter == max_iter) or solution.converged


@pytest.mark.parametrize("gap_tol", [1e-2, 1e-4])
def test_a_wanted_gap_replaces_the_papers_rule(gap_tol):
    problem = random_problem()
    solution = fbf(problem, gap_tol=gap_tol, tol=1e3, max_iter=100_000)
    assert solution.converged
    assert solution.relative_gap <= gap_tol
    assert np.all(solution.history["gap"][:-1] > gap_tol)
    short = fbf(problem, gap_tol=1e-13, max_iter=20)
    assert (short.status, short.n_iter) == ("max_iter", 20)
    assert short.relative_gap > 1e-13


def test_rounding_makes_no_gap_negative():
    solution = fbf(random_problem(), max_iter=1000, tol=1e-30)
    assert solution.relative_gap < 1e-14
    assert np.all(solution.history["gap"] >= 0)


def test_the_history_looks_more_and_more_rarely_and_ends_at_the_end():
    problem = random_problem()
    solution = fbf(problem, max_iter=200, tol=1e-30)
    history = solution.history
    assert history["iteration"][:10].tolist() == list(range(1, 11))
    assert history["iteration"][-1] == solution.n_iter == 200
    assert np.all(np.diff(history["iteration"]) >= 1)
    assert 30 < len(history["iteration"]) < 100
    assert np.all(np.diff(history["seconds"]) >= 0)
    assert history["seconds"][-1] <= solution.seconds
    assert history["primal"][-1] == solution.primal
    assert history["dual_value"][-1] == solution.dual_value
    np.testing.assert_allclose(
        history["gap"], (history["primal"] - history["dual_value"]) / (problem.alpha * problem.n_nodes), atol=1e-14
    )


@pytest.mark.parametrize("threads", [2, 4])
def test_several_threads_give_the_same_as_one(monkeypatch, threads):
    alone = fbf(random_problem(coefficients=True), max_iter=50, tol=1e-30)
    monkeypatch.setattr(incidence_room, "_CANDIDATES_A_THREAD", 10)
    with _threads.limit(threads):
        together = fbf(random_problem(coefficients=True), max_iter=50, tol=1e-30)
    np.testing.assert_allclose(together.weights, alone.weights, rtol=1e-9, atol=1e-12)


@given(numbers(0.0, 10.0), numbers(0.1, 10.0), numbers(0.1, 10.0))
def test_a_single_candidate(z, alpha, beta):
    solution = fbf(Problem(all_candidates(3, 3), [z], alpha, beta), gap_tol=1e-10, max_iter=50_000)
    assert solution.converged
    expected = 2 * alpha * 3 / (z + math.sqrt(z**2 + 8 * alpha * beta * 3))
    assert solution.weights[0] == pytest.approx(expected, rel=1e-4)


def test_nodes_in_no_candidate_have_no_dual():
    candidates = listed_candidates([(1, 2), (2, 4)], 6)
    solution = fbf(Problem(candidates, [1.0, 2.0]))
    np.testing.assert_array_equal(solution.dual > 0, [False, True, True, False, True, False])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tol": 0.0}, ValueError, "tol must be a finite number above 0"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"balance": -1}, ValueError, "balance must be a finite number above 0"),
        ({"gap_tol": 0}, ValueError, "gap_tol must be a finite number above 0"),
        ({"balance": None}, TypeError, "balance must be a number above 0"),
    ],
)
def test_options_that_cannot_be_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        fbf(random_problem(), **options)
