"""``neighbors="certified"``: the optimum over every hyperedge, and the proof of it."""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hsls.certified as room
import hsls.pricing
from hsls import HSLS, ConvergenceWarning, Problem, Settings, Variation, learn
from hsls.candidates import all_candidates, knn_candidates
from hsls.certified import Certificate, solve_over_all
from hsls.pricing import Pricing
from hsls.scale import typical
from hsls.variation import VARIATIONS, Distances, of_candidates
from instances import dual_objective, nearest, numbers, objective, seeds
from learned import assert_certified, gaussian_signals, with_holes


def assert_optimal_among_all(learned, X, told):
    """The reported gap, written out over every hyperedge: those that are no candidates have weight 0."""
    every = all_candidates(len(X), told.cardinalities)
    z = of_candidates(every, X, told.variation, told.observation_weights) / learned.scale
    problem = Problem(every, z, told.alpha, told.beta)
    weight = dict(zip(learned.candidates.edges, learned.weights, strict=True))
    w = np.array([weight.get(edge, 0.0) for edge in every.edges])
    v = learned.solution.dual
    unit = problem.alpha * problem.n_nodes
    gap = objective(problem, w) - dual_objective(problem, v)
    assert gap == pytest.approx(learned.solution.gap, abs=1e-11 * (unit + abs(learned.solution.primal)))
    excess = np.array([v[list(edge)].sum() for edge in every.edges]) - z
    outside = np.array([edge not in weight for edge in every.edges])
    assert excess[outside].max(initial=-math.inf) <= 0
    return w


@pytest.fixture(params=["matrix", "tree"])
def by(request, monkeypatch):
    """Whether pairs come from a matrix or a tree."""
    if request.param == "tree":
        monkeypatch.setattr(hsls.pricing, "_DENSE_NODES", 0)
    return request.param


@given(
    seeds(),
    st.sampled_from([(2,), (3,), (2, 3), (2, 4), (3, 4)]),
    st.sampled_from([*VARIATIONS, "max-l3^2", "mean-l1.5", "sum-l2^0.5", "scaled-linf"]),
    numbers(0.1, 10.0),
    numbers(0.1, 10.0),
    st.sampled_from([1, 2, 5, 40]),
    st.sampled_from(["auto", None, 0.7]),
    st.booleans(),
)
def test_as_good_as_with_all_candidates(seed, cardinalities, variation, alpha, beta, dimensions, scale, weighted):
    X = gaussian_signals(seed, 16, dimensions)
    omega = np.random.default_rng(seed).uniform(0.1, 2.0, dimensions) if weighted else None
    told = Settings(cardinalities, "certified", None, variation, alpha, beta, scale, tol=1e-12,
                    observation_weights=omega)  # fmt: skip
    learned, full = learn(X, told), learn(X, dataclasses.replace(told, neighbors="all"))
    assert learned.certificate.complete
    assert learned.scale == pytest.approx(full.scale, rel=1e-13)
    w = assert_optimal_among_all(learned, X, told)
    assert_certified(learned, X, told, 1e-12)
    np.testing.assert_allclose(w, full.weights, atol=2e-5 * full.weights.max())
    np.testing.assert_allclose(learned.solution.dual, full.solution.dual, rtol=1e-5)
    assert learned.solution.primal == pytest.approx(full.solution.primal, abs=1e-10 * alpha * 16)
    clear = full.weights > 1e-3 * full.weights.max()
    assert {e for e, c in zip(full.candidates.edges, clear, strict=True) if c} <= set(learned.candidates.edges)


def test_where_it_starts_makes_no_difference(by, monkeypatch):
    """From two neighbours a node, and one new hyperedge a node in a round, to the same optimum."""
    X = gaussian_signals(4, 25, 5)
    plain = learn(X, Settings(neighbors="certified", variation="mean-square", tol=1e-12))
    monkeypatch.setattr(room, "_MOST_AT_A_NODE", 1)
    start = knn_candidates({2: nearest(X, 1), 3: nearest(X, 2)})
    pricing = Pricing(Distances(X, Variation.parse("mean-square")))
    candidates, unit, solution, certificate = solve_over_all(start, pricing, 1.0, 1.0, "auto", options={"tol": 1e-12})
    assert certificate.complete
    assert certificate.rounds > plain.certificate.rounds
    assert certificate.added == len(candidates) - len(start)
    assert len(candidates) < plain.n_candidates
    assert unit == pytest.approx(plain.scale, rel=1e-13)
    assert solution.primal == pytest.approx(plain.solution.primal, abs=1e-9)
    np.testing.assert_allclose(solution.dual, plain.solution.dual, rtol=1e-5)
    found = candidates.hypergraph(solution.weights, 1e-2)
    assert found.edges == plain.hypergraph.edges


def test_the_scale_is_that_of_all_hyperedges(by):
    """Also where the candidates at the start do not hold the least variation of a typical node."""
    X = gaussian_signals(3, 30, 10)
    start, distances = knn_candidates({3: nearest(X, 2)}), Distances(X, Variation.parse("sum-absolute"))
    _, unit, _, _ = solve_over_all(start, Pricing(distances), 1.0, 1.0, "auto")
    every = all_candidates(30, 3)
    assert unit == pytest.approx(typical(every, of_candidates(every, X, "sum-absolute"), "auto"), rel=1e-13)
    assert unit < 0.99 * typical(start, of_candidates(start, X, "sum-absolute"), "auto")


def test_the_numbers_of_the_certificate(by):
    X = gaussian_signals(1, 30, 40)
    told = Settings(neighbors="certified")
    learned = learn(X, told)
    certificate = learned.certificate
    assert certificate.possible == math.comb(30, 2) + math.comb(30, 3)
    start = learn(X, Settings())
    assert certificate.added == learned.n_candidates - start.n_candidates > 0
    assert certificate.rounds >= 2
    assert 0 < certificate.examined < certificate.possible
    assert str(certificate).startswith(f"optimal among all 4,495 hyperedges ({certificate.rounds} rounds, ")
    assert learned.over_all
    assert_optimal_among_all(learned, X, told)


def test_the_iterations_and_the_course_are_those_of_all_rounds():
    solution = learn(gaussian_signals(1, 30, 40), Settings(neighbors="certified")).solution
    history = solution.history
    assert history["iteration"][-1] == solution.n_iter
    assert np.all(np.diff(history["iteration"]) >= 0)
    assert np.all(np.diff(history["seconds"]) >= 0)
    assert history["gap"][-1] == solution.relative_gap
    assert {len(values) for values in history.values()} == {len(history["gap"])}


@given(seeds(), st.integers(2, 6), st.integers(2, 5), st.sampled_from([(2,), (3,), (2, 3)]))
def test_identical_nodes(seed, different, copies, cardinalities):
    X = np.repeat(gaussian_signals(seed, different), copies, axis=0)
    told = Settings([k for k in cardinalities if k <= len(X)], "certified", scale=1.0, tol=1e-10)
    learned = learn(X, told)
    assert learned.certificate.complete
    full = learn(X, dataclasses.replace(told, neighbors="all"))
    assert learned.solution.primal == pytest.approx(full.solution.primal, abs=1e-7)
    assert_optimal_among_all(learned, X, told)


@pytest.mark.parametrize(("n_nodes", "k"), [(2, 2), (7, 3), (5, 5), (20, 3)])
def test_constant_signals_weigh_all_hyperedges_alike(by, n_nodes, k):
    learned = learn(np.full((n_nodes, 4), 3.7), Settings(k, "certified", alpha=2.0, beta=0.5, tol=1e-12))
    assert learned.hypergraph.edges == list(combinations(range(n_nodes), k))
    np.testing.assert_allclose(learned.weights, math.sqrt(2.0 * k / math.comb(n_nodes - 1, k - 1)), rtol=1e-5)


def test_missing_values():
    X = with_holes(gaussian_signals(2, 20, 8))
    for variation in ("max-square", "sum-absolute"):
        told = Settings(neighbors="certified", variation=variation, tol=1e-10)
        assert_optimal_among_all(learn(X, told), X, told)


def test_no_proof_where_the_solver_did_not_converge():
    X = gaussian_signals(1, 30, 40)
    with pytest.warns(ConvergenceWarning):
        model = HSLS(neighbors="certified", max_iter=1).fit(X)
    assert not model.certified_
    assert "no proof over all 4,495 hyperedges: the solver did not converge" in str(model.certificate_)


def test_the_estimator_says_for_which_hyperedges_the_gap_holds():
    X = gaussian_signals()
    assert HSLS(neighbors="certified").fit(X).certified_
    assert isinstance(HSLS(neighbors="certified").fit(X).certificate_, Certificate)
    assert HSLS(neighbors="all").fit(X).certified_
    assert HSLS(neighbors="all").fit(X).certificate_ is None
    assert not HSLS().fit(X).certified_
    assert not HSLS(candidates=[(0, 1), (1, 2)]).fit(X).certified_


def test_more_hyperedges_than_memory_holds_are_refused():
    with pytest.raises(ValueError, match=r"up to .* candidates would take .* lower alpha or beta, or give a number of"):
        learn(np.zeros((60, 4)), Settings(3, "certified", memory_budget=300_000))


@pytest.mark.parametrize(
    ("told", "complaint"),
    [
        ({"solver": "fbf"}, "neighbors='certified' needs solver='newton', got 'fbf'"),
        ({"scale": "median"}, "scale='median' is over all hyperedges"),
        ({"candidates": [(0, 1)]}, "neighbors='certified' is over every hyperedge, but candidates lists some"),
        ({"cardinalities": 30}, "cardinalities holds 30, but there are only 20 nodes"),
    ],
)
def test_what_cannot_be_certified_is_refused(told, complaint):
    with pytest.raises(ValueError, match=complaint):
        learn(gaussian_signals(), Settings(**{"neighbors": "certified", **told}))


@pytest.mark.parametrize("wish", [{"alpha": "auto"}, {"n_hyperedges": 12}, {"degree": 1.5}])
def test_a_parameter_that_follows_from_the_data_is_proved_for_all_hyperedges(wish):
    X = gaussian_signals(n_nodes=16)
    model = HSLS(3, "certified", **wish).fit(X)
    assert model.certified_
    assert model.path_ is not None
    same = HSLS(3, "all", alpha=model.alpha_, scale=model.scale_).fit(X)
    members = dict(zip(same.hypergraph_.edges, same.hypergraph_.weights, strict=True))
    found = dict(zip(model.hypergraph_.edges, model.hypergraph_.weights, strict=True))
    for edge, w in found.items():
        assert w == pytest.approx(members[edge], abs=1e-2)
    if "n_hyperedges" in wish:
        assert len(found) <= wish["n_hyperedges"]
