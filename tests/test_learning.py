"""From signals to a hypergraph: optimal to the reported gap, and indifferent to whatever should not matter."""

from __future__ import annotations

import math
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hsls.learning as room
from hsls import Settings, Variation, learn
from hsls.candidates import knn_candidates
from instances import nearest, numbers, objective, seeds
from learned import assert_certified, assert_same_candidates, gaussian_signals, problem_of, with_holes

# -- the whole way, against its steps written out --------------------------------------------------------------------


@given(seeds(), st.sampled_from([(2,), (3,), (2, 3), (2, 4)]), numbers(0.1, 10.0), numbers(0.1, 10.0), st.data())
def test_what_is_learned_is_optimal_at_the_reported_gap(seed, cardinalities, alpha, beta, data):
    X = gaussian_signals(seed, n_nodes=12)
    r = data.draw(st.integers(max(cardinalities) - 1, 6))
    tol = data.draw(st.sampled_from([1e-3, 1e-6, 1e-10]))
    told = Settings(cardinalities=cardinalities, neighbors=r, alpha=alpha, beta=beta, tol=tol, threshold=1e-3)
    learned = learn(X, told)
    assert_same_candidates(learned.candidates, knn_candidates({k: nearest(X, r) for k in cardinalities}))
    assert_certified(learned, X, told, tol)
    kept = learned.weights >= 1e-3
    assert learned.hypergraph.edges == [edge for edge, keep in zip(learned.candidates.edges, kept, strict=True) if keep]
    np.testing.assert_array_equal(learned.hypergraph.weights, learned.weights[kept])
    assert learned.hypergraph.nodes == tuple(map(str, range(12)))
    assert learned.n_candidates == len(learned.candidates)


@given(seeds(), numbers(0.1, 10.0), numbers(0.1, 10.0))
def test_the_optimality_conditions(seed, alpha, beta):
    """v_i d_i = alpha, and z_e - sum_i v_i + 2 beta w_e is 0 where w_e > 0, and at least 0 elsewhere."""
    X = gaussian_signals(seed)
    told = Settings(alpha=alpha, beta=beta, tol=1e-13)
    learned = learn(X, told)
    problem = problem_of(learned, X, told)
    w, v = learned.weights, learned.solution.dual
    degrees = np.array([sum(w[e] for e, edge in enumerate(learned.candidates.edges) if i in edge) for i in range(20)])
    np.testing.assert_allclose(v * degrees, alpha, rtol=1e-5)
    gradient = problem.z - [sum(v[i] for i in edge) for edge in learned.candidates.edges] + 2 * beta * w
    unit = np.mean(problem.z)
    assert np.max(np.abs(gradient[w > 0])) <= 1e-9 * unit
    assert np.min(gradient) >= -1e-9 * unit


def test_no_other_weights_are_better():
    X = gaussian_signals()
    learned = learn(X)
    problem = problem_of(learned, X)
    best = objective(problem, learned.weights)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(20):
            other = np.maximum(learned.weights * np.exp(size * rng.standard_normal(problem.n_candidates)), 0)
            other += size * learned.weights.max() * (rng.random(problem.n_candidates) < 0.02)
            assert objective(problem, other) >= best - 1e-6 * 20


@given(seeds(), st.randoms())
def test_the_order_of_the_nodes_does_not_matter(seed, random):
    X = gaussian_signals(seed, 15)
    order = random.sample(range(15), 15)
    names = [f"node {i}" for i in range(15)]
    told = Settings(tol=1e-13, threshold=0.05)
    plain = learn(X, told, nodes=names)
    moved = learn(X[order], told, nodes=[names[i] for i in order])
    edges = [tuple(sorted(order[i] for i in edge)) for edge in moved.candidates.edges]
    back = dict(zip(edges, moved.weights, strict=True))
    assert sorted(back) == sorted(plain.candidates.edges)
    expected = dict(zip(plain.candidates.edges, plain.weights, strict=True))
    for edge, weight in expected.items():
        assert back[edge] == pytest.approx(weight, abs=1e-5)
    np.testing.assert_allclose(moved.solution.dual, plain.solution.dual[order], rtol=1e-5)
    # By name, but for what stands at the threshold.
    clear = {edge for edge, weight in expected.items() if weight > 0.0501}
    found = {tuple(sorted(edge)) for edge in moved.hypergraph.named_edges}
    assert {tuple(sorted(names[i] for i in edge)) for edge in clear} <= found
    assert found <= {tuple(sorted(names[i] for i in e)) for e, weight in expected.items() if weight > 0.0499}


@given(seeds(), numbers(0.05, 20.0), numbers(0.05, 20.0))
def test_the_scaling_law(seed, alpha, beta):
    """w*(z; alpha, beta) = sqrt(alpha / beta) w*(theta z; 1, 1), theta = 1 / sqrt(alpha beta)."""
    X = gaussian_signals(seed)
    both = learn(X, Settings(alpha=alpha, beta=beta, scale=None, tol=1e-13))
    one = learn(X, Settings(scale=math.sqrt(alpha * beta), tol=1e-13))
    expected = math.sqrt(alpha / beta) * one.weights
    np.testing.assert_allclose(both.weights, expected, atol=1e-5 * expected.max())


def test_the_larger_theta_the_fewer_hyperedges():
    X = gaussian_signals(n_nodes=40)
    counts = [
        np.count_nonzero(learn(X, Settings(alpha=1 / theta, beta=1 / theta, tol=1e-9)).weights > 1e-6)
        for theta in (0.1, 1.0, 10.0)
    ]
    assert counts[0] > counts[1] > counts[2]


@given(seeds(), st.sampled_from([0.0, 1e-4, 0.1, 10.0]))
def test_the_threshold_cuts_and_changes_nothing_else(seed, threshold):
    X = gaussian_signals(seed)
    plain, cut = learn(X, Settings(threshold=0.0)), learn(X, Settings(threshold=threshold))
    assert cut.hypergraph == plain.hypergraph.threshold(threshold)
    assert cut.hypergraph.n_nodes == 20
    np.testing.assert_array_equal(cut.weights, plain.weights)
    assert np.all(plain.hypergraph.weights > 0)


def test_both_solvers_reach_one_solution():
    X = gaussian_signals()
    newton = learn(X, Settings(tol=1e-10))
    fbf = learn(X, Settings(solver="fbf", max_iter=100_000, solver_options={"gap_tol": 1e-8, "balance": 0.3}))
    assert fbf.solution.solver == "fbf"
    np.testing.assert_allclose(fbf.weights, newton.weights, atol=1e-3 * newton.weights.max())
    assert fbf.solution.relative_gap <= 1e-8


# -- numbered for locality inside ------------------------------------------------------------------------------------


@pytest.fixture
def renumbered(monkeypatch):
    """Learn with and without the renumbering that large problems get."""

    def both(X, told, **options):
        plain = learn(X, told, **options)
        monkeypatch.setattr(room, "_RENUMBER_FROM", 2)
        inside = learn(X, told, **options)
        monkeypatch.undo()
        assert (plain.renumbered, inside.renumbered) == (False, True)
        return plain, inside

    return both


@pytest.mark.parametrize(
    "X",
    [gaussian_signals(1, 120, 3), gaussian_signals(2, 90, 20), with_holes(gaussian_signals(3, 90, 8))],
    ids=["tree", "graph", "NaN"],
)
@pytest.mark.parametrize("omega", [False, True])
@pytest.mark.parametrize("threshold", [0.0, 0.03])
def test_renumbering_changes_nothing(renumbered, X, omega, threshold):
    weights = np.linspace(0.5, 2, X.shape[1]) if omega else None
    told = Settings(neighbors={2: 5, 3: 6}, tol=1e-12, threshold=threshold, observation_weights=weights)
    names = [f"node {i}" for i in range(len(X))]
    plain, inside = renumbered(X, told, nodes=names)
    assert_same_candidates(inside.candidates, plain.candidates)
    np.testing.assert_allclose(inside.weights, plain.weights, atol=1e-6 * plain.weights.max())
    np.testing.assert_allclose(inside.solution.dual, plain.solution.dual, rtol=1e-6)
    assert inside.scale == pytest.approx(plain.scale, rel=1e-12)
    assert inside.n_candidates == plain.n_candidates
    np.testing.assert_array_equal(inside.neighbors.indices, plain.neighbors.indices)
    np.testing.assert_allclose(inside.neighbors.distances, plain.neighbors.distances, rtol=1e-12)
    assert_certified(inside, X, told)
    # What is kept is decided on the weights that are reported.
    kept = (inside.weights >= threshold) & (inside.weights > 0)
    assert inside.hypergraph == inside.candidates.hypergraph(inside.weights, threshold, names)
    assert inside.hypergraph.n_edges == np.count_nonzero(kept)


def test_a_renumbered_result_outlives_the_users_array(renumbered):
    X = gaussian_signals(1, 60, 3)
    plain, inside = renumbered(X, Settings(tol=1e-12))
    X[:] = 7.0
    np.testing.assert_allclose(inside.weights, plain.weights, atol=1e-6 * plain.weights.max())
    again = pickle.loads(pickle.dumps(inside))
    np.testing.assert_array_equal(again.weights, inside.weights)
    assert_same_candidates(again.candidates, inside.candidates)


def test_a_start_follows_the_renumbering(renumbered):
    X = gaussian_signals(1, 60, 3)
    dual = learn(X, Settings(tol=1e-10)).solution.dual
    for learned in renumbered(X, Settings(tol=1e-8, solver_options={"start": dual})):
        assert learned.solution.n_iter <= 1
    for learned in renumbered(X, Settings(tol=1e-8, solver_options={"start": dual.tolist()})):
        assert learned.solution.n_iter <= 1


def test_only_the_dual_solver_renumbers(monkeypatch):
    monkeypatch.setattr(room, "_RENUMBER_FROM", 2)
    X = gaussian_signals(1, 30, 3)
    assert not learn(X, Settings(solver="fbf", max_iter=50)).renumbered
    assert not learn(X, Settings(cardinalities=2, neighbors="all")).renumbered
    assert not learn(X, Settings(candidates=[(0, 1), (2, 3)])).renumbered


def test_renumbering_with_identical_nodes_is_certified(monkeypatch):
    monkeypatch.setattr(room, "_RENUMBER_FROM", 2)
    X = np.repeat(gaussian_signals(1, 12, 3), 4, axis=0)
    learned = learn(X, Settings(neighbors=6))
    assert learned.renumbered
    assert_certified(learned, X)


# -- missing values and weights of observations ----------------------------------------------------------------------


@given(seeds())
def test_missing_values(seed):
    rng = np.random.default_rng(seed)
    X = gaussian_signals(seed, 12, 10)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 0] = rng.standard_normal(12)
    learned = learn(X)
    shared = ~np.isnan(X[:, None] - X[None])
    squares = np.nansum((X[:, None] - X[None]) ** 2, axis=2) * 10 / shared.sum(axis=2)
    expected = [max(squares[i, j] for i, j in combinations(edge, 2)) for edge in learned.candidates.edges]
    np.testing.assert_allclose(problem_of(learned, X).z * learned.scale, expected, rtol=1e-10)
    np.fill_diagonal(squares, np.inf)
    order = np.argsort(squares, axis=1, kind="stable")[:, :8]
    np.testing.assert_allclose(learned.neighbors.distances**2, np.take_along_axis(squares, order, axis=1), rtol=1e-10)
    assert_certified(learned, X)


def test_neighbours_that_share_no_observation_are_an_error():
    X = gaussian_signals(n_nodes=6)
    X[1, ::2], X[4, 1::2] = np.nan, np.nan
    with pytest.raises(ValueError, match="nodes 1 and 4 share no observation, so their distance is unknown"):
        learn(X, Settings(neighbors=5))
    # No error where they are no neighbours of one another, nor of one third.
    assert_certified(learn(X, Settings(cardinalities=2, neighbors=1)), X)


def test_observations_that_nobody_has_change_nothing():
    X = gaussian_signals()
    wider = np.column_stack([X, np.full(20, np.nan)])
    # Everything is scaled up by 7 / 6, so is the scale.
    np.testing.assert_allclose(learn(wider).weights, learn(X).weights, rtol=1e-8, atol=1e-12)


@given(seeds())
def test_weights_of_observations_are_repeats(seed):
    X = gaussian_signals(seed)
    omega = np.random.default_rng(seed).integers(0, 4, 6)
    omega[2] = 1
    weighted = learn(X, Settings(observation_weights=omega, tol=1e-12))
    repeated = learn(np.repeat(X, omega, axis=1), Settings(tol=1e-12))
    assert_same_candidates(weighted.candidates, repeated.candidates)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-5 * repeated.weights.max())


# -- nothing to tell nodes apart -------------------------------------------------------------------------------------


@given(seeds(), st.integers(1, 6), st.integers(2, 8), st.sampled_from(["auto", "median", "mean", None]))
def test_identical_nodes(seed, different, copies, scale):
    X = np.repeat(gaussian_signals(seed, different), copies, axis=0)
    told = Settings(cardinalities=2, neighbors=min(3, len(X) - 1), scale=scale)
    learned = learn(X, told)
    assert np.all(np.isfinite(learned.weights))
    assert 0 < learned.scale < math.inf
    assert_certified(learned, X, told)
    if copies > 4:  # every neighbour is a copy
        np.testing.assert_array_equal(problem_of(learned, X, told).z, 0.0)


@pytest.mark.parametrize("variation", ["max-square", "sum-absolute", Variation("mean", 3.0, 1.0)])
@pytest.mark.parametrize("scale", ["auto", "median", "mean", None, 3.0])
@pytest.mark.parametrize(("n_nodes", "k"), [(2, 2), (7, 2), (7, 3), (5, 5)])
def test_constant_signals_weigh_all_hyperedges_alike(variation, scale, n_nodes, k):
    """All z = 0: 2 beta w = alpha k / d with d = C(N - 1, k - 1) w."""
    told = Settings(cardinalities=k, neighbors="all", variation=variation, scale=scale, alpha=2.0, beta=0.5, tol=1e-12)
    learned = learn(np.full((n_nodes, 4), 3.7), told)
    expected = math.sqrt(2.0 * k / (2 * 0.5 * math.comb(n_nodes - 1, k - 1)))
    np.testing.assert_allclose(learned.weights, expected, rtol=1e-5)
    assert learned.hypergraph.edges == list(combinations(range(n_nodes), k))
    assert learned.scale == (3.0 if scale == 3.0 else 1.0)


def test_constant_signals_with_neighbours():
    X = np.zeros((30, 4))
    learned = learn(X)
    assert_certified(learned, X)
    assert learned.hypergraph.degrees().min() > 0


@given(numbers(0.1, 5.0), numbers(0.1, 10.0), numbers(0.1, 10.0))
def test_two_nodes(difference, alpha, beta):
    """One candidate: z - 2 alpha / w + 2 beta w = 0."""
    told = Settings(cardinalities=2, alpha=alpha, beta=beta, scale=None, tol=1e-12)
    learned = learn([[0.0], [difference]], told)
    z = difference**2
    assert learned.candidates.edges == [(0, 1)]
    assert learned.weights[0] == pytest.approx(4 * alpha / (z + math.sqrt(z**2 + 16 * alpha * beta)), rel=1e-5)
