"""The convex problem: objective, dual and certificate against their formulas, and the laws between them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hsls.incidence as incidence_room
from hsls import _threads
from hsls.candidates import Candidates, all_candidates, knn_candidates, listed_candidates
from hsls.problem import Problem
from instances import (
    dense_incidence,
    dual_objective,
    numbers,
    objective,
    problems,
    random_problem,
    random_table,
    seeds,
)


def positive(problem, seed, over="nodes"):
    size = problem.n_nodes if over == "nodes" else problem.n_candidates
    return np.random.default_rng(seed).uniform(0.05, 3.0, size)


# -- the formulas ----------------------------------------------------------------------------------------------------


@given(problems(), seeds())
def test_primal_and_degrees_are_their_formulas(problem, seed):
    w = positive(problem, seed, "candidates")
    S = dense_incidence(problem.candidates)
    np.testing.assert_allclose(problem.degrees(w), (S @ (problem.c * w))[problem.nodes])
    assert problem.primal(w) == pytest.approx(objective(problem, w), rel=1e-12, abs=1e-10)


@given(problems(), seeds())
def test_dual_value_and_weights_are_their_formulas(problem, seed):
    v = positive(problem, seed)
    S = dense_incidence(problem.candidates)[problem.nodes]
    u = np.maximum(problem.c * (S.T @ v) - problem.z, 0.0)
    np.testing.assert_allclose(problem.weights(v), u / (2 * problem.beta * problem.q), atol=1e-13)
    assert problem.at(v).value == pytest.approx(dual_objective(problem, v), rel=1e-12, abs=1e-10)


@given(problems(), seeds())
def test_weights_minimise_the_lagrangian(problem, seed):
    """w(v) minimises z'w + beta w'Qw - v'SCw over w >= 0: no other weights do better."""
    rng = np.random.default_rng(seed)
    v = positive(problem, seed)

    def lagrangian(w):
        return problem.z @ w + problem.beta * np.sum(problem.q * w**2) - v @ problem.degrees(w)

    best = problem.weights(v)
    for _ in range(5):
        other = np.maximum(best + rng.normal(0, 0.5, len(best)), 0.0)
        assert lagrangian(best) <= lagrangian(other) + 1e-10


# -- duality ---------------------------------------------------------------------------------------------------------


@given(problems(), seeds(), seeds())
def test_no_dual_value_exceeds_an_objective(problem, one, other):
    w, v = positive(problem, one, "candidates"), positive(problem, other)
    assert problem.at(v).value <= problem.primal(w) + 1e-9 * (1 + abs(problem.primal(w)))


@given(problems(), seeds(), st.sampled_from([0.3, 1.0, 20.0]))
def test_the_gap_is_objective_minus_dual_value(problem, seed, far):
    v = far * positive(problem, seed)
    point = problem.at(v)
    w = problem.weights(v)
    np.testing.assert_allclose(point.degrees, problem.degrees(w), atol=1e-11)
    if np.all(point.degrees > 1e-9):
        t = v * point.degrees / problem.alpha
        assert point.gap == pytest.approx(problem.alpha * np.sum(t - 1 - np.log(t)), rel=1e-6, abs=1e-9)
        direct = problem.primal(w) - point.value
        assert point.gap == pytest.approx(direct, rel=1e-9, abs=1e-9 * (1 + abs(point.value)))
        assert point.gap >= 0
    elif not np.all(point.degrees > 0):
        assert point.gap == problem.primal(w) == math.inf


def test_a_tiny_gap_keeps_its_digits():
    """One hyperedge, v off its optimum by a known share: the gap is alpha N (t - 1 - log t), far below P's rounding."""
    problem = Problem(all_candidates(3, 3), [0.0], alpha=2.0, beta=1.0)
    # d = 3 v / (2 beta), so v^2 = 2 alpha beta / 3 at the optimum, and t = share^2.
    optimum = math.sqrt(2 * 2.0 / 3)
    for share in (1e-5, 1e-7):
        x = 2 * share + share**2
        assert problem.at(np.full(3, optimum * (1 + share))).gap == pytest.approx(2.0 * 3 * x**2 / 2, rel=1e-3)


@given(problems(), seeds())
def test_the_gradient_of_the_dual_is_alpha_over_v_minus_degrees(problem, seed):
    v = positive(problem, seed)
    gradient = problem.alpha / v - problem.at(v).degrees
    step = 1e-6
    numeric = [
        (problem.at(v + step * e).value - problem.at(v - step * e).value) / (2 * step) for e in np.eye(problem.n_nodes)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4 * problem.alpha / v.min())


@given(problems(), seeds(), seeds(), st.floats(0.05, 0.95))
def test_the_dual_is_strictly_concave(problem, one, other, share):
    v, u = positive(problem, one), positive(problem, other)
    assume(np.abs(v - u).max() > 0.1)
    between = problem.at(share * v + (1 - share) * u).value
    assert between > share * problem.at(v).value + (1 - share) * problem.at(u).value


@given(problems(), numbers(0.01, 100.0))
def test_the_relative_gap_is_free_of_units(problem, unit):
    """Multiplying the objective by a number (alpha, beta and z with it) leaves v / alpha and the relative gap alone."""
    other = Problem(
        problem.candidates, unit * problem.z, unit * problem.alpha, unit * problem.beta,
        degree_coefficient=problem.c, quadratic_coefficient=problem.q,
    )  # fmt: skip
    v = np.linspace(0.5, 1.5, problem.n_nodes)
    gap = problem.relative_gap(problem.at(v).gap)
    assume(math.isfinite(gap))
    assert other.relative_gap(other.at(unit * v).gap) == pytest.approx(gap, rel=1e-6, abs=1e-12)
    assert gap == pytest.approx(problem.at(v).gap / (problem.alpha * problem.n_nodes))


# -- coefficients ----------------------------------------------------------------------------------------------------


@given(problems(coefficients=True), seeds())
def test_degree_coefficients_are_a_change_of_variable(problem, seed):
    """In x = c w the variation is z / c, the quadratic coefficient q / c^2 and the degrees are S x."""
    plain = Problem(
        problem.candidates, problem.z / problem.c, problem.alpha, problem.beta,
        quadratic_coefficient=problem.q / problem.c**2,
    )  # fmt: skip
    w, v = positive(problem, seed, "candidates"), positive(problem, seed)
    assert plain.primal(problem.c * w) == pytest.approx(problem.primal(w))
    assert plain.at(v).value == pytest.approx(problem.at(v).value)
    np.testing.assert_allclose(plain.weights(v), problem.c * problem.weights(v))


@given(problems(coefficients=False), numbers(0.3, 3.0), numbers(0.3, 3.0), seeds())
def test_one_coefficient_is_the_same_for_all(problem, c, q, seed):
    rest = (problem.candidates, problem.z, problem.alpha, problem.beta)
    one = Problem(*rest, degree_coefficient=c, quadratic_coefficient=q)
    each = Problem(
        *rest,
        degree_coefficient=np.full(problem.n_candidates, c),
        quadratic_coefficient=np.full(problem.n_candidates, q),
    )
    w, v = positive(problem, seed, "candidates"), positive(problem, seed)
    assert one.primal(w) == pytest.approx(each.primal(w))
    assert one.at(v).value == pytest.approx(each.at(v).value)
    np.testing.assert_allclose(one.weights(v), each.weights(v))


# -- optimality ------------------------------------------------------------------------------------------------------


def test_the_kkt_residual_is_zero_at_the_optimum_alone():
    """One hyperedge of 2 nodes: z - 2 alpha / w + 2 beta w = 0."""
    z, alpha, beta = 3.0, 2.0, 0.5
    problem = Problem(all_candidates(2, 2), [z], alpha, beta)
    optimum = (-z + math.sqrt(z**2 + 16 * alpha * beta)) / (4 * beta)
    assert problem.kkt_residual(np.array([optimum])) == pytest.approx(0.0, abs=1e-12)
    gradient = z - 2 * alpha / 2.0 + 2 * beta * 2.0
    assert problem.kkt_residual(np.array([2.0])) == pytest.approx(abs(gradient) / z)


def test_the_kkt_residual_sees_a_weight_that_ought_not_to_be_zero():
    problem = Problem(all_candidates(3, 2), [1.0, 1.0, 1.0])
    # By symmetry the optimum is one number: z - 2 alpha / (2 w) + 2 beta w = 0.
    optimum = (-1 + math.sqrt(1 + 8)) / 4
    assert problem.kkt_residual(np.full(3, optimum)) == pytest.approx(0.0, abs=1e-12)
    assert problem.kkt_residual(np.array([0.5, 0.5, 0.0])) > 0.1


# -- nodes in no candidate -------------------------------------------------------------------------------------------


@given(problems(), seeds())
def test_nodes_in_no_candidate_have_no_term(problem, seed):
    """Adding nodes that nothing holds, between the others, changes no value."""
    n_nodes = problem.candidates.n_nodes
    wider = Candidates(3 * n_nodes + 1, tuple(3 * block + 1 for block in problem.candidates.members))
    other = Problem(
        wider, problem.z, problem.alpha, problem.beta,
        degree_coefficient=problem.c, quadratic_coefficient=problem.q,
    )  # fmt: skip
    np.testing.assert_array_equal(other.nodes, 3 * problem.nodes + 1)
    w, v = positive(problem, seed, "candidates"), positive(problem, seed)
    assert other.primal(w) == problem.primal(w)
    assert other.at(v).value == problem.at(v).value
    np.testing.assert_array_equal(other.weights(v), problem.weights(v))
    assert other.n_nodes == problem.n_nodes == problem.candidates.covered().sum()


# -- threads ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coefficients", [False, True])
@pytest.mark.parametrize("threads", [2, 5])
def test_several_threads_give_the_same_as_one(monkeypatch, threads, coefficients):
    alone = random_problem(coefficients=coefficients)
    v = positive(alone, 1)
    monkeypatch.setattr(incidence_room, "_CANDIDATES_A_THREAD", 10)
    with _threads.limit(threads):
        together = random_problem(coefficients=coefficients)
        assert together.S.parts == threads
        np.testing.assert_allclose(together.at(v).degrees, alone.at(v).degrees, rtol=1e-12)
        assert together.at(v).value == pytest.approx(alone.at(v).value, rel=1e-13)
        np.testing.assert_array_equal(together.weights(v), alone.weights(v))
        np.testing.assert_array_equal(together.least_shares, alone.least_shares)


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"alpha": 0}, ValueError, "alpha must be a finite number above 0, got 0"),
        ({"alpha": math.inf}, ValueError, "alpha must be a finite number above 0, got inf"),
        ({"beta": -1.0}, ValueError, "beta must be a finite number above 0, got -1.0"),
        ({"beta": "1"}, TypeError, "beta must be a number above 0, got '1'"),
        ({"variation": [1.0, 2.0]}, ValueError, r"variation must hold one number for each of the 3 candidates.*\(2,\)"),
        ({"variation": 1.0}, ValueError, "variation must hold one number for each candidate"),
        ({"variation": [1.0, -0.5, 1.0]}, ValueError, "variation must be finite and at least 0, got -0.5"),
        ({"variation": [1.0, math.nan, 1.0]}, ValueError, "variation must be finite and at least 0, got nan"),
        ({"degree_coefficient": 0}, ValueError, "degree_coefficient must be finite and above 0, got 0"),
        ({"quadratic_coefficient": [1, 2]}, ValueError, "quadratic_coefficient must hold one number for each of the 3"),
        ({"quadratic_coefficient": [1, math.inf, 1]}, ValueError, "quadratic_coefficient must be finite and above 0"),
    ],
)
def test_numbers_that_cannot_be_are_refused(options, error, message):
    arguments = {"variation": [1.0, 2.0, 3.0], **options}
    with pytest.raises(error, match=message):
        Problem(all_candidates(3, 2), **arguments)


def test_a_problem_needs_a_candidate():
    with pytest.raises(ValueError, match="the problem needs at least one candidate"):
        Problem(Candidates(3, ()), [])


def test_the_variation_may_be_any_view_of_numbers():
    candidates = listed_candidates([(0, 1), (1, 2), (0, 2)], 3)
    z = np.array([3, 9, 2, 9, 1, 9])[::2]
    v = np.array([2.0, 2.0, 1.5])
    assert Problem(candidates, z).at(v).value == Problem(candidates, [3.0, 2.0, 1.0]).at(v).value


@given(problems(), seeds(), st.floats(1.0, 4.0))
def test_the_near_problem_has_the_candidates_near_v_and_the_least_of_each_node(problem, seed, ratio):
    v = np.random.default_rng(seed).uniform(0.01, 2.0, problem.n_nodes)
    z = problem.z / problem.c
    sizes = np.array([len(edge) for edge in problem.candidates.edges])
    S = dense_incidence(problem.candidates)[problem.nodes]
    least = np.where(S > 0, np.maximum(z / sizes, 0.0), np.inf).min(axis=1)
    is_least = np.any((S > 0) & ((z / sizes)[None, :] <= np.maximum(least, problem.least_shares)[:, None]), axis=0)
    expected = (z < ratio * (S.T @ v)) | is_least
    near = problem.near(v, ratio, most=1.0)
    blocks = [block.members for block in near.S.blocks]
    found = {tuple(problem.nodes[row].tolist()) for block in blocks for row in block}
    assert found == {edge for edge, wanted in zip(problem.candidates.edges, expected, strict=True) if wanted}
    assert sum(map(len, blocks)) == len(found)
    # Whatever is active at v is near it, so the dual sides agree there.
    ours, theirs = near.at(v), problem.at(v)
    assert ours.value == pytest.approx(theirs.value, rel=1e-12)
    assert ours.degrees == pytest.approx(theirs.degrees, rel=1e-12)
    if not expected.all():
        assert problem.near(v, ratio, most=(expected.sum() - 0.5) / len(expected)) is None


@pytest.mark.parametrize("coefficients", [False, True])
def test_the_near_problem_of_many_candidates_is_put_together_from_its_parts(coefficients):
    rng = np.random.default_rng(0)
    tables = {k: random_table(rng, 2500, r) for k, r in ((2, 8), (3, 8))}
    candidates = knn_candidates(tables)
    z = rng.uniform(0.5, 2.0, candidates.n_candidates)
    options = {"degree_coefficient": rng.uniform(0.5, 2.0, len(z)), "quadratic_coefficient": z} if coefficients else {}
    problem = Problem(candidates, z, **options)
    assert problem.S.parts > 1
    v = rng.uniform(0.1, 0.4, problem.n_nodes)
    near = problem.near(v, 1.5, most=1.0)
    assert len(near._z) == near.S.n_candidates < problem.n_candidates
    ours, theirs = near.at(v), problem.at(v)
    assert ours.value == pytest.approx(theirs.value, rel=1e-12)
    assert ours.degrees == pytest.approx(theirs.degrees, rel=1e-12)
