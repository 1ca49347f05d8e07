"""The certified solver: optimality conditions, its certificate, the laws that solutions obey, and the hard ends."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsls.incidence as incidence_room
from hsls import _threads
from hsls.candidates import Candidates, all_candidates, listed_candidates
from hsls.problem import Problem
from hsls.solvers import _direction, newton
from instances import (
    dense_incidence,
    dual_objective,
    numbers,
    objective,
    paper_problem,
    problems,
    random_problem,
    seeds,
)


def with_numbers(problem, z=None, alpha=None, beta=None):
    """The same problem with other numbers."""
    return Problem(
        problem.candidates,
        problem.z if z is None else z,
        problem.alpha if alpha is None else alpha,
        problem.beta if beta is None else beta,
        degree_coefficient=problem.c,
        quadratic_coefficient=problem.q,
    )


# -- optimality ------------------------------------------------------------------------------------------------------


@given(problems())
def test_the_kkt_conditions_one_by_one(problem):
    solution = newton(problem, tol=1e-12)
    assert solution.converged
    w, v = solution.weights, solution.dual[problem.nodes]
    S = dense_incidence(problem.candidates)[problem.nodes] * problem.c
    degrees = S @ w
    gradient = problem.z - S.T @ (problem.alpha / degrees) + 2 * problem.beta * problem.q * w
    size = 1e-5 * (1 + np.abs(S.T @ v))
    assert np.all(w >= 0)  # feasible
    assert np.all(degrees > 0)
    assert np.all(gradient >= -size)  # no weight ought to grow
    assert np.all(np.abs(gradient[w > 0]) <= size[w > 0])  # nor one above 0 to shrink
    assert np.all(np.abs(w * gradient) <= (1 + w) * size)  # complementary
    np.testing.assert_allclose(v, problem.alpha / degrees, rtol=1e-5)  # and the dual vector belongs to it
    # Euler's identity of the terms that depend on units: z'w + 2 beta w'Qw = alpha N.
    terms = problem.z @ w + 2 * problem.beta * np.sum(problem.q * w**2)
    assert terms == pytest.approx(problem.alpha * problem.n_nodes, rel=1e-5)


@given(problems(), st.sampled_from([1e-1, 1e-3, 1e-6, 1e-9, 1e-12]))
def test_the_gap_proves_the_objective_to_the_wanted_tolerance(problem, tol):
    solution = newton(problem, tol=tol)
    unit = problem.alpha * problem.n_nodes
    rounding = 1e-12 * (unit + abs(solution.primal))
    assert solution.converged
    assert solution.relative_gap == solution.gap / unit <= tol
    assert solution.primal == pytest.approx(objective(problem, solution.weights), abs=rounding)
    assert solution.dual_value == pytest.approx(dual_objective(problem, solution.dual[problem.nodes]), abs=rounding)
    assert solution.gap == pytest.approx(solution.primal - solution.dual_value, abs=rounding)
    best = newton(problem, tol=1e-13).primal
    assert solution.dual_value - rounding <= best <= solution.primal + rounding


@pytest.mark.parametrize("coefficients", [False, True])
def test_conjugate_gradients_and_cholesky_lead_to_the_same(monkeypatch, coefficients):
    problem = random_problem(n_nodes=60, coefficients=coefficients)
    exact = newton(problem, tol=1e-11)
    monkeypatch.setattr(_direction, "DENSE_LIMIT", 0)
    inexact = newton(problem, tol=1e-11)
    assert exact.converged
    assert inexact.converged
    np.testing.assert_allclose(inexact.weights, exact.weights, atol=1e-5 * exact.weights.max())


@pytest.mark.parametrize("dense_limit", [0, 200], ids=["conjugate gradients", "Cholesky"])
@given(problem=problems(), seed=seeds())
def test_a_newton_direction_solves_the_newton_equation(dense_limit, problem, seed):
    rng = np.random.default_rng(seed)
    hessian = _direction.Curvature(problem)
    hessian.update(rng.uniform(0.3, 3, problem.n_nodes))
    gradient = rng.standard_normal(problem.n_nodes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_direction, "DENSE_LIMIT", dense_limit)
        p = _direction.newton_direction(hessian, gradient, 1e-12)
    np.testing.assert_allclose(hessian.dense() @ p, -gradient, atol=1e-8)
    assert gradient @ p < 0


# -- laws ------------------------------------------------------------------------------------------------------------


@given(problems(), st.randoms())
def test_renaming_the_nodes_renames_the_solution(problem, random):
    candidates = problem.candidates
    order = random.sample(range(candidates.n_nodes), candidates.n_nodes)
    renamed = listed_candidates([[order[i] for i in edge] for edge in candidates.edges], candidates.n_nodes)
    place = [renamed.edges.index(tuple(sorted(order[i] for i in edge))) for edge in candidates.edges]

    def moved(values):
        if np.ndim(values) == 0:
            return values
        out = np.empty(len(values))
        out[place] = values
        return out

    other = Problem(
        renamed, moved(problem.z), problem.alpha, problem.beta,
        degree_coefficient=moved(problem.c), quadratic_coefficient=moved(problem.q),
    )  # fmt: skip
    one, two = newton(problem, tol=1e-13), newton(other, tol=1e-13)
    np.testing.assert_allclose(two.weights[place], one.weights, atol=1e-5 * one.weights.max())
    np.testing.assert_allclose(two.dual[order], one.dual, rtol=1e-5, atol=1e-12)


@given(problems())
def test_the_scaling_law(problem):
    """w*(z; alpha, beta) = sqrt(alpha / beta) w*(theta z; 1, 1), theta = 1 / sqrt(alpha beta)."""
    theta = 1 / math.sqrt(problem.alpha * problem.beta)
    plain = newton(with_numbers(problem, theta * problem.z, 1.0, 1.0), tol=1e-13).weights
    found = newton(problem, tol=1e-13).weights
    np.testing.assert_allclose(found, math.sqrt(problem.alpha / problem.beta) * plain, atol=1e-5 * found.max())


@given(problems(), st.sampled_from([1e-12, 1e-6, 1e6, 1e12]))
def test_units_of_the_variation_do_not_matter(problem, unit):
    """In other units of z, and beta in their square, the weights are in the inverse units: just as accurate."""
    found = newton(with_numbers(problem, unit * problem.z, beta=unit**2 * problem.beta), tol=1e-12)
    expected = newton(problem, tol=1e-12)
    assert found.converged
    np.testing.assert_allclose(unit * found.weights, expected.weights, atol=1e-5 * expected.weights.max())


@given(problems())
def test_problems_that_share_no_node_are_solved_each_by_itself(problem):
    n_nodes, count = problem.candidates.n_nodes, problem.n_candidates
    twice = Candidates(2 * n_nodes, tuple(np.concatenate([b, b + n_nodes]) for b in problem.candidates.members))
    offsets = problem.candidates.offsets

    def doubled(values):
        if np.ndim(values) == 0:
            return values
        return np.concatenate([np.tile(values[a:b], 2) for a, b in pairwise(offsets)])

    both = Problem(
        twice, doubled(problem.z), problem.alpha, problem.beta,
        degree_coefficient=doubled(problem.c), quadratic_coefficient=doubled(problem.q),
    )  # fmt: skip
    alone = newton(problem, tol=1e-13)
    found = newton(both, tol=1e-13)
    assert len(found.weights) == 2 * count
    np.testing.assert_allclose(found.weights, doubled(alone.weights), atol=1e-5 * alone.weights.max())
    assert found.primal == pytest.approx(2 * alone.primal, abs=1e-9 * (1 + abs(alone.primal)))


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("coefficients", [False, True])
def test_several_threads_give_the_same_as_one(monkeypatch, threads, coefficients):
    alone = newton(random_problem(coefficients=coefficients), tol=1e-12)
    monkeypatch.setattr(incidence_room, "_CANDIDATES_A_THREAD", 10)
    with _threads.limit(threads):
        together = newton(random_problem(coefficients=coefficients), tol=1e-12)
    np.testing.assert_allclose(together.weights, alone.weights, atol=1e-6 * alone.weights.max())


# -- closed forms ----------------------------------------------------------------------------------------------------


@given(st.integers(2, 5), st.just(0.0) | numbers(1e-15, 1e3), numbers(1e-2, 1e2), numbers(1e-2, 1e2))
def test_a_single_candidate(k, z, alpha, beta):
    """z - alpha k / w + 2 beta w = 0."""
    solution = newton(Problem(all_candidates(k, k), [z], alpha, beta), tol=1e-10)
    assert solution.converged
    # The positive root, free of cancellation.
    expected = 2 * alpha * k / (z + math.sqrt(z**2 + 8 * alpha * beta * k))
    assert solution.weights[0] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("n_nodes", "k"), [(3, 2), (7, 2), (7, 3), (6, 4)])
@pytest.mark.parametrize("z", [0.0, 1e-12, 1.0, 1e3])
def test_all_hyperedges_of_equal_variation_weigh_the_same(n_nodes, k, z):
    """d = C(N - 1, k - 1) w, and each gradient z - k alpha / d + 2 beta w = 0."""
    alpha, beta = 2.0, 0.7
    solution = newton(Problem(all_candidates(n_nodes, k), np.full(math.comb(n_nodes, k), z), alpha, beta), tol=1e-13)
    assert solution.converged
    expected = (
        2
        * alpha
        * k
        / math.comb(n_nodes - 1, k - 1)
        / (z + math.sqrt(z**2 + 8 * alpha * beta * k / math.comb(n_nodes - 1, k - 1)))
    )
    np.testing.assert_allclose(solution.weights, expected, rtol=1e-4)


@given(problems(), seeds())
def test_constant_signals(problem, seed):
    """All z = 0: no error, and the optimum, which then has weights in proportion to 1 / sqrt(beta) alone."""
    one = newton(with_numbers(problem, 0 * problem.z), tol=1e-12)
    four = newton(with_numbers(problem, 0 * problem.z, beta=4 * problem.beta), tol=1e-12)
    assert one.converged
    assert np.all(one.weights > 0)
    np.testing.assert_allclose(four.weights, one.weights / 2, rtol=1e-4)


# -- hard ends -------------------------------------------------------------------------------------------------------


@given(problems(), st.sampled_from([1e-12, 1e-6, 1e-3, 1e3]))
def test_tiny_and_large_variations(problem, scale):
    """With alpha and beta as they are: nothing but the logarithm and the squares, or almost a linear program."""
    scaled = with_numbers(problem, scale * problem.z)
    solution = newton(scaled, tol=1e-9)
    assert solution.converged
    assert solution.gap == pytest.approx(
        objective(scaled, solution.weights) - solution.dual_value, abs=1e-9 * scaled.alpha * scaled.n_nodes
    )


@settings(max_examples=15)
@given(problems(), st.sampled_from([1e6, 1e9, 1e12]))
def test_beyond_the_reach_of_doubles_nothing_is_claimed(problem, scale):
    """There v sums to z in all digits. Whatever comes back, a certificate that it carries is true."""
    scaled = with_numbers(problem, scale * problem.z)
    solution = newton(scaled, tol=1e-9, max_iter=60)
    assert np.all(np.isfinite(solution.weights))
    assert np.all(solution.weights >= 0)
    assert np.all(np.isfinite(solution.dual))
    if solution.converged:
        direct = objective(scaled, solution.weights) - dual_objective(scaled, solution.dual[scaled.nodes])
        assert direct <= 1e-6 * scaled.alpha * scaled.n_nodes * (1 + scale * 1e-9)
    else:
        assert solution.relative_gap > 1e-9


@pytest.mark.parametrize("theta", [1e-3, 1.0, 10.0, 100.0, 1000.0])
@pytest.mark.parametrize("n_nodes", [40, 300], ids=["Cholesky", "conjugate gradients"])
def test_any_theta_is_solved_from_a_cold_start(n_nodes, theta):
    """alpha beta far below z^2: almost a linear program. Points in the plane, so that all are alike and many tie."""
    solution = newton(random_problem(1, n_nodes, 8, n_observations=3, alpha=1 / theta, beta=1 / theta), tol=1e-6)
    assert solution.converged


def test_the_papers_regime_to_1e_9():
    for n_nodes in (40, 200):
        problem = paper_problem(n_nodes)
        solution = newton(problem, tol=1e-9)
        assert solution.converged
        assert solution.relative_gap <= 1e-9
        assert problem.primal(solution.weights) - solution.dual_value <= 2e-9 * problem.alpha * problem.n_nodes


# -- the course ------------------------------------------------------------------------------------------------------


@given(problems())
def test_the_history_tells_the_course(problem):
    solution = newton(problem, tol=1e-9)
    history = solution.history
    assert {len(values) for values in history.values()} == {len(history["gap"])}
    assert np.all(np.diff(history["iteration"]) == 1)
    assert history["iteration"][-1] == solution.n_iter
    assert np.all(np.diff(history["seconds"]) >= 0)
    assert 0 <= history["seconds"][0] <= history["seconds"][-1] <= solution.seconds
    unit = problem.alpha * problem.n_nodes
    finite = np.isfinite(history["gap"])
    np.testing.assert_allclose(
        (history["primal"] - history["dual_value"])[finite] / unit, history["gap"][finite], rtol=1e-6, atol=1e-10
    )
    assert np.all(np.diff(history["dual_value"]) >= -1e-10 * (unit + abs(solution.primal)))
    assert history["gap"][-1] == solution.relative_gap
    assert np.all(history["gap"][:-1] > 1e-9)


def test_too_few_iterations_are_said():
    problem = random_problem()
    enough = newton(problem, tol=1e-10)
    for max_iter in range(1, enough.n_iter):
        solution = newton(problem, tol=1e-10, max_iter=max_iter)
        assert (solution.status, solution.n_iter) == ("max_iter", max_iter)
        assert solution.relative_gap > 1e-10
    assert newton(problem, tol=1e-10, max_iter=enough.n_iter).converged


def test_a_tolerance_below_rounding_ends_as_stalled_near_the_optimum():
    solution = newton(random_problem(), tol=1e-300)
    assert solution.status in ("stalled", "converged")
    assert solution.relative_gap < 1e-12


# -- starts ----------------------------------------------------------------------------------------------------------


@given(problems(), seeds())
def test_the_solution_does_not_depend_on_the_start(problem, seed):
    rng = np.random.default_rng(seed)
    start = np.exp(rng.normal(0, 3, problem.candidates.n_nodes))
    start[rng.random(len(start)) < 0.3] = rng.choice([0.0, -1.0, np.nan, np.inf])
    cold, warm = newton(problem, tol=1e-13), newton(problem, tol=1e-13, start=start)
    assert warm.converged
    np.testing.assert_allclose(warm.weights, cold.weights, atol=1e-5 * cold.weights.max())


def test_the_solution_as_a_start_is_taken_as_it_is():
    problem = random_problem()
    solution = newton(problem, tol=1e-10)
    again = newton(problem, tol=1e-10, start=solution.dual)
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.weights, solution.weights)


def test_nodes_in_no_candidate_have_no_dual():
    candidates = listed_candidates([(1, 2), (2, 4), (1, 2, 4)], 6)
    solution = newton(Problem(candidates, [1.0, 2.0, 3.0]), tol=1e-10)
    np.testing.assert_array_equal(solution.dual > 0, [False, True, True, False, True, False])
    inner = listed_candidates([(0, 1), (1, 2), (0, 1, 2)], 3)
    np.testing.assert_allclose(newton(Problem(inner, [1.0, 2.0, 3.0]), tol=1e-10).weights, solution.weights)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tol": 0}, ValueError, "tol must be a finite number above 0"),
        ({"tol": "small"}, TypeError, "tol must be a number above 0"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"max_iter": 2.5}, TypeError, "max_iter must be a whole number"),
        ({"start": np.ones(29)}, ValueError, "start must hold one number for each of the 30 nodes"),
    ],
)
def test_options_that_cannot_be_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        newton(random_problem(), **options)
