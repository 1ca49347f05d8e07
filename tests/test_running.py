"""Streams: what is learned piece by piece is what is learned at once, in memory that does not grow."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsls import Settings, learn
from hsls.candidates import all_candidates
from hsls.neighbors import nearest_neighbors
from hsls.running import RunningDistances, Stream
from hsls.variation import Variation, of_candidates
from instances import seeds
from learned import assert_certified, gaussian_signals

VARIATIONS = ["sum-square", "max-square", "mean-square", "scaled-absolute", "max-absolute"]
VARIATIONS += ["sum-l3^2", "max-linf", "mean-l2"]


def in_pieces(rng, X):
    """The observations in pieces of any length, oldest first."""
    cuts = np.sort(rng.choice(np.arange(1, X.shape[1]), min(4, X.shape[1] - 1), replace=False))
    return np.split(X, cuts, axis=1)


def some_missing(rng, X):
    """With missing values, but for the last observation, which everyone shares."""
    X = X.copy()
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, -1] = rng.standard_normal(len(X))
    return X


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("variation", VARIATIONS)
@given(seed=seeds(), forgetting=st.sampled_from([1.0, 0.9, 0.3]))
@settings(max_examples=8)
def test_variations_and_neighbours_are_those_of_weighted_observations(variation, missing, seed, forgetting):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((7, 12))
    X = some_missing(rng, X) if missing else X
    kind = Variation.parse(variation)
    forgetting = 1.0 if math.isinf(kind.p) else forgetting
    kept = RunningDistances(7, kind.p)
    for piece in in_pieces(rng, X):
        kept.add(piece, forgetting)
    omega = forgetting ** np.arange(11, -1, -1.0)
    candidates = all_candidates(7, (2, 3, 4))
    expected = of_candidates(candidates, X, kind, omega)
    np.testing.assert_allclose(kept.variation(candidates, kind), expected, rtol=1e-10, atol=1e-12)
    nearest = nearest_neighbors(X, 4, observation_weights=omega)
    found = kept.neighbors(4)
    np.testing.assert_array_equal(found.indices, nearest.indices)
    np.testing.assert_allclose(found.distances, nearest.distances, rtol=1e-10)
    assert kept.weight == pytest.approx(omega.sum())
    assert kept.n_observations == 12


@pytest.mark.parametrize("n_nodes", [31, 32, 33, 100])
def test_all_pairs_take_part_however_many_nodes_there_are(n_nodes):
    X = gaussian_signals(0, n_nodes, 3)
    kept = RunningDistances(n_nodes, 2.0)
    kept.add(X[:, :2])
    kept.add(X[:, 2:])
    candidates = all_candidates(n_nodes, 2)
    np.testing.assert_allclose(kept.variation(candidates, Variation()), of_candidates(candidates, X), rtol=1e-12)
    pairs = np.array(candidates.edges)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(kept.variation(candidates, Variation()), distances[pairs[:, 1], pairs[:, 0]] ** 2)


def test_missing_values_may_come_late():
    X = gaussian_signals(0, 8, 10)
    X[2, 8] = X[5, 9] = np.nan
    kept = RunningDistances(8, 2.0)
    kept.add(X[:, :5], 0.8)
    kept.add(X[:, 5:], 0.8)
    candidates = all_candidates(8, 2)
    expected = of_candidates(candidates, X, "max-square", 0.8 ** np.arange(9, -1, -1.0))
    np.testing.assert_allclose(kept.variation(candidates, Variation()), expected, rtol=1e-12)


def test_equally_near_nodes_come_in_the_order_of_their_numbers():
    kept = RunningDistances(5, 2.0)
    kept.add(np.array([[0.0], [1.0], [1.0], [-1.0], [1.0]]))
    assert kept.neighbors(3).indices.tolist() == [[1, 2, 3], [2, 4, 0], [1, 4, 0], [0, 1, 2], [1, 2, 0]]


def test_memory_does_not_grow_with_the_observations():
    kept = RunningDistances(10, 1.0, memory_budget=2300)
    sizes = set()
    for _ in range(50):
        kept.add(np.random.default_rng(0).standard_normal((10, 40)), 0.99)
        sizes.add(kept.nbytes)
    assert sizes == {2 * 8 * 10 * 10}
    assert kept.weight == pytest.approx(100 * (1 - 0.99**2000))
    assert len(pickle.dumps(kept)) < 2 * 8 * 10 * 10 + 1000  # nothing else is held
    with pytest.raises(ValueError, match=r"distances of all pairs of its 10 nodes.*memory budget.*hsls.windows"):
        kept.add(np.full((10, 1), np.nan))
    with pytest.raises(ValueError, match=r"more than the memory budget"):
        RunningDistances(100_000, 2.0, memory_budget=4 * 2**30)
    assert RunningDistances(10, 1.0, searched=False).nbytes == 800


# -- learning --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variation", VARIATIONS)
@pytest.mark.parametrize("options", [{}, {"neighbors": "all"}, {"candidates": [(0, 1), (2, 3, 4), (1, 5, 19)]}])
def test_a_stream_learns_what_is_learned_at_once(variation, options):
    forgetting = 1.0 if "inf" in variation else 0.9
    X = gaussian_signals(3, 20, 30)
    told = Settings(variation=variation, tol=1e-10, **({"neighbors": 5} | options))
    stream = Stream(told, 20, None)
    for piece in (X[:, :10], X[:, 10:11], X[:, 11:]):
        found = stream.take(piece, told, None, forgetting)
    omega = forgetting ** np.arange(29, -1, -1.0)
    whole = learn(X, Settings(**{**vars(told), "observation_weights": omega}))
    assert found.candidates.edges == whole.candidates.edges
    assert found.scale == pytest.approx(whole.scale, rel=1e-10)
    assert found.hypergraph.edges == whole.hypergraph.edges
    np.testing.assert_allclose(found.weights, whole.weights, atol=1e-4)
    assert_certified(found, X, Settings(**{**vars(told), "observation_weights": omega}), 1e-10)


def test_a_warm_start_takes_fewer_iterations():
    X = gaussian_signals(1, 60, 200)
    told = Settings(cardinalities=3)
    stream = Stream(told, 60, None)
    stream.take(X[:, :190], told, None, 1.0)
    warm = stream.take(X[:, 190:], told, None, 1.0)
    cold = learn(X, told)
    assert warm.solution.n_iter < cold.solution.n_iter
    assert warm.hypergraph.edges == cold.hypergraph.edges


def test_what_changes_is_followed_and_what_is_over_forgotten():
    """Two pairs of nodes change partners: with forgetting the new ones are found, without it the old ones stay."""
    rng = np.random.default_rng(0)
    common = rng.standard_normal((2, 600))
    X = np.empty((4, 600))
    X[:, :500] = common[[0, 0, 1, 1], :500]
    X[:, 500:] = common[[0, 1, 1, 0], 500:]
    X += 0.1 * rng.standard_normal(X.shape)
    edges = {}
    for forgetting in (1.0, 0.9):
        told = Settings(cardinalities=2, neighbors="all")
        stream = Stream(told, 4, None)
        for start in range(0, 600, 100):
            learned = stream.take(X[:, start : start + 100], told, None, forgetting)
        edges[forgetting] = learned.hypergraph.top(2).edges
    assert edges == {1.0: [(0, 1), (2, 3)], 0.9: [(0, 3), (1, 2)]}


def test_a_node_may_fall_silent_once_it_was_seen():
    X = gaussian_signals(0, 6, 8)
    told = Settings(cardinalities=2, neighbors="all")
    stream = Stream(told, 6, None)
    silent = X[:, :4].copy()
    silent[2] = np.nan
    with pytest.raises(ValueError, match=r"node 2 has no observation so far"):
        stream.take(silent, told, None, 1.0)
    apart = np.full((6, 2), np.nan)
    apart[2] = 1.0
    with pytest.raises(ValueError, match=r"nodes \d and \d share no observation so far"):
        stream.take(apart, told, None, 1.0)
    learned = stream.take(X[:, 4:], told, None, 1.0)
    whole = learn(np.concatenate([silent, apart, X[:, 4:]], axis=1), told)
    np.testing.assert_allclose(learned.weights, whole.weights, atol=1e-5)


@pytest.mark.parametrize(
    ("told", "take", "message"),
    [
        ({}, {"forgetting": 0.0}, "forgetting must be a finite number above 0"),
        ({}, {"forgetting": 1.5}, "forgetting must be at most 1"),
        ({"variation": "max-linf"}, {"forgetting": 0.9}, "keeps the largest difference, which no forgetting lessens"),
        ({}, {"names": ("b", "a", "c", "d", "e", "f")}, "have other names, or another order"),
        ({}, {"X": np.zeros((5, 2))}, "the new observations are of 5 nodes, but the stream is of 6"),
        ({"alpha": "auto"}, {}, "alpha is chosen on signals, which a stream lets go; give alpha a number"),
        ({"n_hyperedges": 3}, {}, "alpha is chosen on signals, which a stream lets go"),
        ({"neighbors": "certified"}, {}, "neighbors of a stream must be numbers, 'auto' or 'all'; got 'certified'"),
        ({"neighbors": "some"}, {}, "neighbors of a stream must be numbers, 'auto' or 'all'; got 'some'"),
        ({"neighbors": 6}, {}, "neighbors is 6, but each of the 6 nodes has only 5 others"),
        ({"observation_weights": np.ones(4)}, {}, "new observations are weighed by forgetting alone"),
        ({}, {"settings": Settings(variation="max-absolute")}, "needs other distances than were kept"),
    ],
)
def test_bad_pieces_are_refused_and_change_nothing(told, take, message):
    stream = Stream(
        Settings(cardinalities=2, neighbors=2, variation=told.get("variation", "max-square")), 6, [*"abcdef"]
    )
    told = Settings(**{"cardinalities": 2, "neighbors": 2, **told})
    given = {"X": gaussian_signals(0, 6, 4), "settings": told, "names": None, "forgetting": 1.0} | take
    with pytest.raises(ValueError, match=message):
        stream.take(**given)
    assert stream.distances.n_observations == 0
