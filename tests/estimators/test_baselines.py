"""The closed forms: their candidates by brute force, HGSI's optimality conditions, and scikit-learn's own checks."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsls import HGSI, KNNHypergraph
from hsls.variation import of_candidates
from instances import nearest, seeds
from learned import gaussian_signals

ESTIMATORS = [HGSI(), KNNHypergraph(), HGSI((2, 3), n_hyperedges=4), KNNHypergraph((2, 4))]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def joined_with_nearest(X, cardinalities):
    """Each node with its k - 1 nearest neighbours, repeats merged, in canonical order."""
    return [
        edge
        for k in sorted(cardinalities)
        for edge in sorted({tuple(sorted((i, *row))) for i, row in enumerate(nearest(X, k - 1).tolist())})
    ]


def max_square(X, edge):
    return max(np.sum((X[i] - X[j]) ** 2) for i, j in combinations(edge, 2))


# -- K nearest neighbours --------------------------------------------------------------------------------------------


@given(seeds(), st.integers(2, 25), st.data())
def test_knn_joins_each_node_with_its_nearest(seed, n_nodes, data):
    X = gaussian_signals(seed, n_nodes, 4)
    cardinalities = data.draw(st.sets(st.integers(2, min(6, n_nodes)), min_size=1))
    model = KNNHypergraph(cardinalities).fit(X)
    expected = joined_with_nearest(X, cardinalities)
    assert model.hypergraph_.edges == model.candidates_.edges == expected
    np.testing.assert_array_equal(model.weights_, np.ones(len(expected)))
    np.testing.assert_array_equal(model.hypergraph_.weights, np.ones(len(expected)))
    assert model.hypergraph_.n_nodes == n_nodes
    assert model.hypergraph_.degrees().min() >= 1


# -- HGSI ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variation", ["max-square", "sum-absolute", "mean-l3^2"])
@given(seed=seeds(), cardinalities=st.sampled_from([(2,), (3,), (2, 3), (4,)]))
def test_hgsi_meets_the_optimality_conditions_of_its_problem(variation, seed, cardinalities):
    """min z'w - sum log w + sum w: z - 1 / w + 1 = 0 for every hyperedge, and no other weights are better."""
    X = gaussian_signals(seed, 15, 5)
    model = HGSI(cardinalities, variation=variation).fit(X)
    assert model.candidates_.edges == joined_with_nearest(X, cardinalities)
    z, w = of_candidates(model.candidates_, X, variation), model.weights_
    if variation == "max-square":
        np.testing.assert_allclose(z, [max_square(X, edge) for edge in model.candidates_.edges])
    np.testing.assert_allclose(z - 1 / w + 1, 0, atol=1e-9 * z.max())
    assert np.all(w > 0)

    def value(weights):
        return z @ weights - np.sum(np.log(weights)) + np.sum(weights)

    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.1, 1.0):
        assert value(w * np.exp(size * rng.standard_normal(len(w)))) >= value(w)


@given(seeds(), st.integers(1, 30))
def test_hgsi_keeps_the_smoothest(seed, wanted):
    X = gaussian_signals(seed, 15, 5)
    everything, model = HGSI().fit(X), HGSI(n_hyperedges=wanted).fit(X)
    assert everything.hypergraph_.edges == everything.candidates_.edges
    np.testing.assert_array_equal(everything.hypergraph_.weights, everything.weights_)
    assert model.hypergraph_ == everything.hypergraph_.top(wanted)
    assert model.hypergraph_.n_edges == min(wanted, len(everything.weights_))
    kept = [max_square(X, edge) for edge in model.hypergraph_.edges]
    rest = [max_square(X, edge) for edge in everything.hypergraph_.edges if edge not in model.hypergraph_.edges]
    assert max(kept) <= min(rest, default=np.inf)
    np.testing.assert_array_equal(model.weights_, everything.weights_)


def test_identical_nodes_have_weight_one():
    X = np.repeat(gaussian_signals(0, 4), 5, axis=0)
    model = HGSI().fit(X)
    np.testing.assert_array_equal(model.weights_, 1.0)
    np.testing.assert_array_equal(HGSI().fit(np.ones((6, 3))).weights_, 1.0)


# -- both ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_names_columns_missing_values_and_clones(estimator):
    X = gaussian_signals(0, 12, 8)
    names = [f"node {i}" for i in range(12)]
    plain = clone(estimator).fit(X).hypergraph_
    frame = pd.DataFrame(X, index=names)
    named = clone(estimator).fit(frame).hypergraph_
    assert (named.nodes, named.edges) == (tuple(names), plain.edges)
    assert clone(estimator).set_params(nodes="columns").fit(frame.T).hypergraph_ == named
    X[:, 5] = np.nan
    holes = clone(estimator).fit(X).hypergraph_
    assert holes.edges == clone(estimator).fit(np.delete(X, 5, axis=1)).hypergraph_.edges


@pytest.mark.parametrize("make", [HGSI, KNNHypergraph])
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cardinalities": 1}, ValueError, "cardinalities must be at least 2, got 1"),
        ({"cardinalities": (2, 21)}, ValueError, "cardinalities holds 21, but there are only 20 nodes"),
        ({"neighbor_search": "quick"}, ValueError, "neighbor_search must be one of 'auto', 'exact', 'approximate'"),
        ({"nodes": "lines"}, ValueError, "nodes must be one of 'rows', 'columns'"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be a whole number other than 0"),
        ({"memory_budget": 100}, ValueError, "up to 20 candidates would take 560 bytes, more than the memory budget"),
    ],
)
def test_parameters_that_cannot_be(make, options, error, message):
    with pytest.raises(error, match=message):
        make(**options).fit(gaussian_signals())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"variation": "max"}, ValueError, "variation must be one of"),
        ({"n_hyperedges": 0}, ValueError, "n_hyperedges must be at least 1, got 0"),
        ({"n_hyperedges": 2.5}, TypeError, r"n_hyperedges must be a whole number, got 2\.5"),
    ],
)
def test_parameters_of_hgsi_that_cannot_be(options, error, message):
    with pytest.raises(error, match=message):
        HGSI(**options).fit(gaussian_signals())


@pytest.mark.parametrize("make", [HGSI, KNNHypergraph])
def test_signals_that_cannot_be(make):
    with pytest.raises(ValueError, match="cardinalities holds 3, but there are only 2 nodes"):
        make().fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="the signals hold 1 node"):
        make(2).fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"node 1 has no observation \(all missing\)"):
        make(2).fit([[1.0], [np.nan], [2.0]])
