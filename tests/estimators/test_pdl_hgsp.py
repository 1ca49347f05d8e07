"""PDL-HGSP against the tensors that it stands for: adjacency, t-product and norms, entry by entry on six nodes."""

from __future__ import annotations

import copy
from functools import cache
from itertools import combinations, product

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsls import HSLS, PDLHGSP, ConvergenceWarning
from hsls.estimators.pdl_hgsp import coefficients, tensor_problem
from instances import numbers, objective, seeds
from learned import gaussian_signals

N = 6
CASES = [(3, (3,)), (3, (2, 3)), (4, (4,)), (4, (2, 3, 4)), (4, (2,))]


@parametrize_with_checks([PDLHGSP(), PDLHGSP(2)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# -- the tensors -----------------------------------------------------------------------------------------------------


def edges_of(cardinalities):
    return [edge for k in cardinalities for edge in combinations(range(N), k)]


@cache
def places(order, edge):
    """The entries of the adjacency tensor that a hyperedge fills: each of its nodes stands in the index, no other."""
    return [index for index in product(edge, repeat=order) if set(index) == set(edge)]


def adjacency(order, cardinalities, w):
    """The symmetric tensor N x ... x N of the weights."""
    tensor = np.zeros((N,) * order)
    for edge, weight in zip(edges_of(cardinalities), w, strict=True):
        for index in places(order, edge):
            tensor[index] = weight
    return tensor


def symmetrised(tensor):
    """Mirrored along every axis of the tubes: 0, the entries by halves, and the same halves in the other direction."""
    for axis in range(2, tensor.ndim):
        half, nothing = tensor / 2, np.zeros_like(tensor.take([0], axis))
        tensor = np.concatenate([nothing, half, np.flip(half, axis)], axis)
    return tensor


def outer(x, order):
    """The signal as a tensor N x 1 x N x ... x N: the products of its values."""
    tensor = x.reshape(N, 1)
    for _ in range(order - 2):
        tensor = np.multiply.outer(tensor, x)
    return tensor


def smoothness(order, A, X):
    """Sum over the tubes of the t-products of the adjacency tensor with the squared distances of the signal tensors.

    The distances are taken slice by slice in the Fourier domain, the products brought back from there.
    """
    tubes = tuple(range(2, order))
    transformed, total = np.fft.fftn(symmetrised(A), axes=tubes), 0.0
    for x in X.T:
        signal = np.fft.fftn(symmetrised(outer(x, order)), axes=tubes)[:, 0]
        distances = np.abs(signal[:, None] - signal[None, :]) ** 2
        total += np.fft.ifftn(np.sum(transformed * distances, axis=(0, 1))).sum().real
    return total


def tensor_objective(order, cardinalities, w, X, alpha, beta):
    A = adjacency(order, cardinalities, w)
    degrees = A.reshape(N, -1).sum(axis=1)
    norm = np.sum(symmetrised(A) ** 2)
    return smoothness(order, A, X) - alpha * np.sum(np.log(degrees)) + beta * norm


def signals(seed, observations=3):
    return np.random.default_rng(seed).normal(0.3, 1.0, (N, observations))


@pytest.mark.parametrize(("order", "cardinalities"), CASES)
@settings(max_examples=15)
@given(seed=seeds(), alpha=numbers(0.1, 10.0), beta=numbers(0.1, 10.0))
def test_the_objective_is_that_of_the_tensors(order, cardinalities, seed, alpha, beta):
    X = signals(seed)
    problem, unit = tensor_problem(X, order, cardinalities, alpha, beta)
    assert unit == 1.0
    assert problem.candidates.edges == edges_of(cardinalities)
    w = np.random.default_rng(seed).uniform(0.1, 2.0, len(problem.z))
    expected = tensor_objective(order, cardinalities, w, X, alpha, beta)
    size = problem.z @ w + alpha * N + beta * np.sum(problem.q * w**2)
    assert abs(objective(problem, w) - expected) <= 1e-10 * size


@pytest.mark.parametrize(("order", "cardinalities"), CASES)
def test_each_coefficient_is_that_of_its_tensor(order, cardinalities):
    X = signals(7)
    problem, _ = tensor_problem(X, order, cardinalities)
    edges = edges_of(cardinalities)
    for number, edge in enumerate(edges):
        A = adjacency(order, cardinalities, np.arange(len(edges)) == number)
        degrees = np.array([A[i].sum() for i in range(N)])
        expected = np.where(np.isin(np.arange(N), edge), problem.c[number], 0.0)
        np.testing.assert_allclose(degrees, expected, rtol=1e-12)
        np.testing.assert_allclose(np.sum(symmetrised(A) ** 2), problem.q[number], rtol=1e-12)
        np.testing.assert_allclose(smoothness(order, A, X), problem.z[number], rtol=1e-10)


@given(st.integers(2, 6), st.data())
def test_coefficients_count_the_entries_of_a_tensor(order, data):
    k = data.draw(st.integers(2, order))
    entries = places(order, tuple(range(k)))
    smooth, degree, square = coefficients(order, k)
    assert smooth == pytest.approx(2 * sum(index[:2] == (0, 1) for index in entries))
    assert degree == pytest.approx(sum(index[0] == 0 for index in entries))
    assert square == pytest.approx(len(entries) / 2 ** (order - 2))


def test_the_coefficients_of_order_3_are_those_of_the_published_reduction():
    assert coefficients(3, 3) == (2.0, 2.0, 3.0)
    assert coefficients(3, 2) == (4.0, 3.0, 3.0)


@settings(max_examples=8)
@given(seed=seeds(), alpha=numbers(0.3, 3.0), beta=numbers(0.3, 3.0), case=st.sampled_from(CASES))
def test_the_weights_minimise_the_objective_of_the_tensors(seed, alpha, beta, case):
    """Against cvxpy and its interior-point solver, on matrices that are taken from the tensors column by column."""
    order, cardinalities = case
    X = signals(seed) / 2
    model = PDLHGSP(order, cardinalities, alpha, beta, scale=None, tol=1e-10, threshold=0.0).fit(X)
    columns = [adjacency(order, cardinalities, column) for column in np.eye(len(model.weights_))]
    z = np.array([smoothness(order, A, X) for A in columns])
    degrees = np.array([A.reshape(N, -1).sum(axis=1) for A in columns]).T
    norms = np.array([np.sum(symmetrised(A) ** 2) for A in columns])
    w = cp.Variable(len(z), nonneg=True)
    value = z @ w - alpha * cp.sum(cp.log(degrees @ w)) + beta * norms @ cp.square(w)
    task = cp.Problem(cp.Minimize(value))
    task.solve(solver=cp.CLARABEL)
    reached = tensor_objective(order, cardinalities, model.weights_, X, alpha, beta)
    assert reached == pytest.approx(task.value, abs=1e-6 * alpha * N)
    np.testing.assert_allclose(model.weights_, w.value, atol=1e-3 * np.max(w.value))


# -- the estimator ---------------------------------------------------------------------------------------------------


def test_order_2_is_graph_learning():
    """Both directions of a pair count, in the smoothness and in the norm."""
    X = gaussian_signals(0, 10)
    assert coefficients(2, 2) == (2.0, 1.0, 2.0)
    graph = HSLS(2, "all", "sum-square", scale=0.5, tol=1e-12).fit(X)
    model = PDLHGSP(2, beta=0.5, scale=1.0, tol=1e-12).fit(X)
    assert model.candidates_.edges == graph.candidates_.edges
    np.testing.assert_allclose(model.weights_, graph.weights_, atol=1e-8 * graph.weights_.max())


def test_the_attributes_are_those_of_the_problem():
    X = gaussian_signals(1, 8) + 0.5
    model = PDLHGSP(4, (2, 4), 0.5, 2.0, tol=1e-9)
    assert model.fit(X) is model
    problem, unit = tensor_problem(X, 4, (2, 4), 0.5, 2.0, scale_by="auto")
    assert model.scale_ == unit
    assert model.candidates_.edges == problem.candidates.edges
    assert model.hypergraph_ == problem.candidates.hypergraph(model.weights_, 1e-2)
    assert model.duality_gap_ == model.solution_.relative_gap <= 1e-9
    assert model.dual_.shape == (8,)
    assert model.history_["gap"][-1] == model.duality_gap_
    assert model.n_iter_ == model.solution_.n_iter
    assert model.n_features_in_ == 6
    raw, _ = tensor_problem(X, 4, (2, 4), 0.5, 2.0)
    np.testing.assert_allclose(raw.z, problem.z * unit)


def test_all_sizes_up_to_the_order_unless_said_otherwise():
    X = gaussian_signals(2, 5)
    assert PDLHGSP(4).fit(X).candidates_.cardinalities == (2, 3, 4)
    assert PDLHGSP(7).fit(X).candidates_.cardinalities == (2, 3, 4, 5)
    assert PDLHGSP(4, 3).fit(X).candidates_.cardinalities == (3,)


@settings(max_examples=10)
@given(seeds())
def test_permuted_nodes_permute_the_weights(seed):
    X = gaussian_signals(seed, 7) + 0.5
    order = np.random.default_rng(seed).permutation(7)
    model, moved = (PDLHGSP(3, tol=1e-10).fit(table) for table in (X, X[order]))
    at = dict(zip(model.candidates_.edges, model.weights_, strict=True))
    expected = [at[tuple(sorted(order[list(edge)].tolist()))] for edge in moved.candidates_.edges]
    np.testing.assert_allclose(moved.weights_, expected, atol=1e-4 * max(expected))


def test_the_papers_solver_finds_the_same_weights():
    X = gaussian_signals(1, 8) + 0.5
    best = PDLHGSP(3, tol=1e-12).fit(X)
    options = {"balance": 0.1, "gap_tol": 1e-9}
    other = PDLHGSP(3, solver="fbf", max_iter=100_000, solver_options=options).fit(X)
    assert other.duality_gap_ <= 1e-9
    np.testing.assert_allclose(other.weights_, best.weights_, atol=1e-3 * best.weights_.max())


def test_fit_changes_neither_parameters_nor_signals():
    X = gaussian_signals(3, 6)
    given_options = {"cardinalities": [3, 2], "solver_options": {"tol": 1e-7}}
    before, table = copy.deepcopy(given_options), X.copy()
    model = PDLHGSP(3, **given_options)
    parameters = model.get_params()
    model.fit(X)
    assert given_options == before
    assert all(model.get_params()[name] is value for name, value in parameters.items())
    np.testing.assert_array_equal(X, table)


def test_names_columns_and_clones():
    X = gaussian_signals(4, 7)
    frame = pd.DataFrame(X, index=[f"node {i}" for i in range(7)])
    model = PDLHGSP(3).fit(frame)
    assert model.hypergraph_.nodes == tuple(frame.index)
    assert model.hypergraph_.edges == PDLHGSP(3).fit(X).hypergraph_.edges
    assert PDLHGSP(3, nodes="columns").fit(frame.T).hypergraph_ == model.hypergraph_
    assert clone(model).fit(frame).hypergraph_ == model.hypergraph_


def test_a_missing_observation_counts_as_if_it_were_not_there():
    X = gaussian_signals(5, 7) + 0.5
    holes = X.copy()
    holes[:, 2] = np.nan
    model = PDLHGSP(3, scale="mean", tol=1e-10).fit(holes)
    without = PDLHGSP(3, scale="mean", tol=1e-10).fit(np.delete(X, 2, axis=1))
    np.testing.assert_allclose(model.weights_, without.weights_, atol=1e-6)


def test_one_missing_value_is_the_mean_of_the_others_in_the_sum():
    X = gaussian_signals(6, 5) + 0.5
    holes = X.copy()
    holes[1, 3] = np.nan
    filled = holes.copy()
    filled[1, 3] = np.nanmean(holes[:, 3])
    found, expected = (tensor_problem(table, 3, 2)[0] for table in (holes, filled))
    others = [number for number, edge in enumerate(found.candidates.edges) if 1 not in edge]
    np.testing.assert_allclose(found.z[others], expected.z[others], rtol=1e-12)


def test_hyperedges_of_nodes_without_a_shared_observation_take_no_part():
    X = gaussian_signals(5, 6) + 0.5
    X[1, ::2], X[4, 1::2] = np.nan, np.nan
    model = PDLHGSP(3).fit(X)
    assert model.candidates_.edges == [edge for edge in edges_of((2, 3)) if not {1, 4} <= set(edge)]
    assert model.duality_gap_ <= 1e-6
    with pytest.raises(ValueError, match="no two nodes share an observation, so no distance is known; fill values in"):
        PDLHGSP(3).fit(np.where(np.eye(4) == 1, 1.0, np.nan))


def test_no_convergence_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="newton reached max_iter after 1 iterations .* raise max_iter"):
        PDLHGSP(3, max_iter=1).fit(gaussian_signals(0, 8))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"order": 1}, ValueError, "order must be at least 2, got 1"),
        ({"order": 2.5}, TypeError, r"order must be a whole number, got 2\.5"),
        (
            {"order": 3, "cardinalities": (2, 4)},
            ValueError,
            "cardinalities holds 4, but order is 3; raise order or leave",
        ),
        ({"order": 9, "cardinalities": 9}, ValueError, "cardinalities holds 9, but there are only 8 nodes"),
        ({"alpha": 0}, ValueError, "alpha must be a finite number above 0"),
        ({"beta": np.nan}, ValueError, "beta must be a finite number above 0"),
        ({"threshold": -1}, ValueError, "threshold must be a finite number, 0 or more"),
        ({"solver": "magic"}, ValueError, "solver must be one of 'newton', 'fbf'; got 'magic'"),
        ({"solver_options": {"balance": 0.1}}, ValueError, "balance"),
        ({"scale": "huge"}, ValueError, "scale"),
        ({"nodes": "lines"}, ValueError, "nodes must be one of 'rows', 'columns'"),
        ({"memory_budget": 100}, ValueError, "more than the memory budget"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be a whole number other than 0"),
    ],
)
def test_parameters_that_cannot_be(options, error, message):
    model = PDLHGSP(**options)
    with pytest.raises(error, match=message):
        model.fit(gaussian_signals(0, 8))
    assert not hasattr(model, "hypergraph_")


def test_signals_that_add_up_to_nothing_are_refused():
    X = np.array([[1.0, -2.0], [-1.0, 2.0], [3.0, 0.5], [-3.0, -0.5]])
    with pytest.raises(ValueError, match="the values of every observation add up to 0 over the nodes"):
        PDLHGSP(3).fit(X)
    assert PDLHGSP(2).fit(X).hypergraph_.n_nodes == 4
