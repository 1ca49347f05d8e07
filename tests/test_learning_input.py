"""What may be told to the learner, in every form, and what is refused with a sentence."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

import hsls.learning as room
from hsls import Hypergraph, Settings, _progress, _threads, learn
from hsls.candidates import knn_candidates
from hsls.learning import candidates_for
from instances import nearest
from learned import assert_certified, assert_same_candidates, gaussian_signals, with_holes

# -- which candidates ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given_as", [5, np.int64(5), [5, 5], (5, 5), np.array([5, 5]), {2: 5, 3: 5}, {3: 5, 2: np.int32(5)}]
)
def test_neighbors_in_every_form(given_as):
    X = gaussian_signals()
    learned = learn(X, Settings(neighbors=given_as))
    assert_same_candidates(learned.candidates, knn_candidates({k: nearest(X, 5) for k in (2, 3)}))
    np.testing.assert_array_equal(learned.neighbors.indices, nearest(X, 5))


@pytest.mark.parametrize(
    ("cardinalities", "given_as"),
    [((2, 3), [3, 6]), ({3, 2}, (3, 6)), (np.array([2, 3]), np.array([3, 6])), ([3, 2], {3: 6, 2: 3})],
)
def test_each_cardinality_has_its_own_neighbours_in_ascending_order(cardinalities, given_as):
    X = gaussian_signals()
    learned = learn(X, Settings(cardinalities=cardinalities, neighbors=given_as))
    assert_same_candidates(learned.candidates, knn_candidates({2: nearest(X, 3), 3: nearest(X, 6)}))


@pytest.mark.parametrize("cardinalities", [[3, 2], (2, 4, 3), np.array([3, 2]), (2, 2)])
def test_numbers_of_neighbours_for_cardinalities_in_another_order_are_refused(cardinalities):
    told = Settings(cardinalities=cardinalities, neighbors=[5] * len(cardinalities))
    with pytest.raises(ValueError, match=r"in ascending order, but cardinalities is \[\d, .*; list them"):
        learn(gaussian_signals(), told)


@pytest.mark.parametrize("word", ["auto", None])
@pytest.mark.parametrize(
    ("n_nodes", "cardinalities", "counts"),
    [(20, (2, 3), {2: 8, 3: 8}), (20, 9, {9: 11}), (6, (2, 3), {2: 5, 3: 5}), (8, (2, 7), {2: 7, 7: 7})],
)
def test_auto_is_eight_or_what_the_cardinality_needs_or_all_there_are(word, n_nodes, cardinalities, counts):
    X = gaussian_signals(n_nodes=n_nodes)
    learned = learn(X, Settings(cardinalities=cardinalities, neighbors=word))
    assert_same_candidates(learned.candidates, knn_candidates({k: nearest(X, r) for k, r in counts.items()}))


def test_all_means_every_subset():
    X = gaussian_signals(n_nodes=9)
    learned = learn(X, Settings(cardinalities=(2, 4), neighbors="all"))
    assert learned.candidates.edges == [e for k in (2, 4) for e in combinations(range(9), k)]
    assert learned.neighbors is None
    assert "neighbors" not in learned.seconds
    as_many = learn(X, Settings(cardinalities=(2, 4), neighbors=8))
    assert_same_candidates(as_many.candidates, learned.candidates)
    np.testing.assert_array_equal(as_many.weights, learned.weights)


def test_candidates_that_the_user_lists():
    X = gaussian_signals(n_nodes=5)
    listed = [(3, 1), (0, 1, 2), (4, 2, 3), (0, 4), (1, 2, 3, 4)]
    names = list("abcde")
    named = [[names[i] for i in edge] for edge in listed]
    canonical = [(0, 4), (1, 3), (0, 1, 2), (2, 3, 4), (1, 2, 3, 4)]
    expected = learn(X, Settings(candidates=listed), nodes=names)
    assert expected.candidates.edges == canonical
    assert expected.neighbors is None
    assert_certified(expected, X)
    for candidates in (named, Hypergraph.from_edges(named, nodes=names), expected.candidates, listed[::-1]):
        learned = learn(X, Settings(candidates=candidates), nodes=names)
        assert_same_candidates(learned.candidates, expected.candidates)
        np.testing.assert_array_equal(learned.weights, expected.weights)
        assert learned.hypergraph == expected.hypergraph


def test_nodes_in_no_candidate_stay_isolated():
    X = gaussian_signals(n_nodes=6)
    learned = learn(X, Settings(candidates=[(0, 2), (2, 3)]))
    assert learned.hypergraph.n_nodes == 6
    np.testing.assert_array_equal(learned.hypergraph.degrees() > 0, [True, False, True, True, False, False])
    np.testing.assert_array_equal(learned.solution.dual > 0, [True, False, True, True, False, False])
    # The same as without them.
    alone = learn(X[[0, 2, 3]], Settings(candidates=[(0, 1), (1, 2)]))
    np.testing.assert_allclose(learned.weights, alone.weights)


@pytest.mark.parametrize(
    "told",
    [
        Settings(),
        Settings(neighbors=[3, 5], observation_weights=np.linspace(0, 1, 6)),
        Settings(cardinalities=3, neighbors="all"),
        Settings(candidates=[(0, 1), (2, 3, 4)]),
    ],
)
def test_the_candidates_can_be_had_without_learning(told):
    X = gaussian_signals()
    assert_same_candidates(candidates_for(X, told.check()), learn(X, told).candidates)


# -- what goes in ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int8, np.uint16, np.bool_, object])
def test_numbers_of_any_kind_are_read_as_doubles(kind):
    X = np.random.default_rng(0).integers(0, 2 if kind is np.bool_ else 9, (12, 7)).astype(kind)
    found, expected = learn(X), learn(X.astype(np.float64))
    assert found.hypergraph == expected.hypergraph
    np.testing.assert_array_equal(found.weights, expected.weights)
    np.testing.assert_array_equal(learn(X.tolist()).weights, expected.weights)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2]])
def test_nothing_that_goes_in_is_changed(layout):
    X = layout(with_holes(gaussian_signals(n_nodes=12, n_observations=8)))
    X.setflags(write=False)
    omega, options = np.ones(8), {"tol": 1e-8}
    told = Settings(observation_weights=omega, solver_options=options, neighbors=[3, 4], max_iter=99)
    before = X.copy(), omega.copy(), dict(options), list(told.neighbors)
    learned = learn(X, told)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(omega, before[1])
    assert (options, told.neighbors) == before[2:]
    np.testing.assert_array_equal(learned.weights, learn(before[0], told).weights)
    table = np.array([[0, 1], [2, 3]])
    learn(X, Settings(candidates=table))
    assert table.flags.writeable


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1, None])
def test_threads_do_not_change_the_result(n_jobs):
    X = gaussian_signals(n_nodes=60)
    before = _threads.count()
    learned = learn(X, Settings(n_jobs=n_jobs, tol=1e-12))
    expected = learn(X, Settings(n_jobs=1, tol=1e-12))
    assert_same_candidates(learned.candidates, expected.candidates)
    np.testing.assert_allclose(learned.weights, expected.weights, atol=1e-6 * expected.weights.max())
    assert _threads.count() == before


def test_the_stages_are_told_and_timed():
    heard = []

    class Listener:
        def begin(self, stage, total):
            heard.append(stage)

        def advance(self, done, note=""):
            pass

        def end(self):
            pass

    with _progress.reporting(Listener()):
        learned = learn(gaussian_signals())
    assert heard == ["neighbours", "candidates", "variations", "solving"]
    assert list(learned.seconds) == ["neighbors", "candidates", "variation", "solve", "hypergraph"]
    assert all(seconds >= 0 for seconds in learned.seconds.values())


def test_settings_may_hold_an_iterator():
    X = gaussian_signals()
    learned = learn(X, Settings(cardinalities=iter([3, 2])))
    assert_same_candidates(learned.candidates, learn(X).candidates)


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[1.0, 2.0]], ValueError, "the signals hold 1 node .*; a hypergraph needs at least 2 nodes"),
        ([], ValueError, "must be a table with rows and columns, but has 1 dimension"),
        (np.zeros((0, 3)), ValueError, "X, the signals, is empty"),
        (np.zeros((3, 0)), ValueError, "X, the signals, is empty"),
        (np.zeros(5), ValueError, "must be a table with rows and columns, but has 1 dimension"),
        (np.zeros((5, 2, 2)), ValueError, "must be a table with rows and columns, but has 3 dimension"),
        ([[1, 2], [3]], ValueError, "is ragged: row 1 holds 1 values and row 0 2"),
        ([[1, 2], [3, "four"]], TypeError, r"row 1, column 1 \(counted from 0\) holds the text 'four'"),
        (
            [[1, 2], [3, math.inf]],
            ValueError,
            r"infinite value \(inf\) at node 1, observation 1; replace it, or use NaN",
        ),
        ([[1, 2], [math.nan, math.nan]], ValueError, r"node 1 has no observation \(all missing\); remove it"),
        ([[1, 2j], [3, 4]], ValueError, "Complex data not supported"),
        ([[1e200, 2], [3, 4]], ValueError, r"the largest of the signals is 1\.0e\+200 .* in another unit"),
        ([[-1e200, 2], [3, math.nan]], ValueError, r"the largest of the signals is 1\.0e\+200 .* in another unit"),
        ([[1e-200, 0], [0, 0]], ValueError, r"the largest of the signals is 1\.0e-200 .* in another unit"),
    ],
)
def test_signals_that_cannot_be(X, error, message):
    with pytest.raises(error, match=message):
        learn(X)


@pytest.mark.parametrize(
    ("told", "error", "message"),
    [
        ({"cardinalities": 1}, ValueError, "cardinalities must be at least 2, got 1"),
        ({"cardinalities": (2, 11)}, ValueError, "cardinalities holds 11, but there are only 10 nodes; leave it out"),
        ({"cardinalities": ()}, ValueError, "cardinalities must name at least one number of nodes"),
        (
            {"cardinalities": 5, "neighbors": 3},
            ValueError,
            "neighbors is 3, but a hyperedge of 5 nodes needs at least 4",
        ),
        ({"neighbors": 10}, ValueError, "neighbors is 10, but each of the 10 nodes has only 9 others; lower neighbors"),
        ({"neighbors": 0}, ValueError, "neighbors must be at least 1, got 0"),
        ({"neighbors": 4.0}, TypeError, r"neighbors must be a whole number, got 4\.0"),
        ({"neighbors": [4]}, ValueError, "neighbors holds 1 numbers for 2 cardinalities; give one for each"),
        ({"neighbors": {2: 4}}, ValueError, r"neighbors names cardinalities \[2\], but cardinalities is \(2, 3\)"),
        ({"neighbors": {2: 4, "3": 4}}, ValueError, r"neighbors names cardinalities \[2, '3'\], but cardinalities"),
        ({"neighbors": "some"}, ValueError, "one for each cardinality, 'auto', 'all' or 'certified'; got 'some'"),
        ({"variation": "max-cube"}, ValueError, "variation must be one of sum-square, .*; got 'max-cube'"),
        ({"alpha": 0}, ValueError, "alpha must be a finite number above 0, got 0"),
        ({"beta": -1.0}, ValueError, r"beta must be a finite number above 0, got -1\.0"),
        ({"alpha": "1"}, TypeError, "alpha must be a number above 0, got '1'"),
        ({"tol": 0.0}, ValueError, r"tol must be a finite number above 0, got 0\.0"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1, got 0"),
        ({"threshold": -0.1}, ValueError, r"threshold must be a finite number, 0 or more, got -0\.1"),
        ({"solver": "simplex"}, ValueError, "solver must be one of 'newton', 'fbf'; got 'simplex'"),
        (
            {"solver_options": {"balance": 0.1}},
            ValueError,
            "option in solver_options for newton must be .* got 'balance'",
        ),
        ({"solver_options": 3}, TypeError, r"solver_options must be a mapping such as \{'balance': 0.1\}, got 3"),
        ({"neighbor_search": "quick"}, ValueError, "neighbor_search must be one of 'auto', 'exact', 'approximate'"),
        ({"memory_budget": 0}, ValueError, "memory_budget must be a finite number above 0, got 0"),
        (
            {"memory_budget": 1000},
            ValueError,
            "up to .* candidates would take .* lower neighbors, or raise memory_budget",
        ),
        (
            {"neighbors": "all", "memory_budget": 1000},
            ValueError,
            "up to 165 candidates would take .* lower cardinalities",
        ),
        ({"observation_weights": [1, 2]}, ValueError, "one number for each of the 6 observations"),
        (
            {"observation_weights": np.zeros(6)},
            ValueError,
            "observation_weights must be finite, 0 or more, and not all 0",
        ),
        ({"candidates": [(0, 1), (2, 10)]}, ValueError, "candidates: hyperedge 1 .*10, but positions run from 0 to 9"),
        ({"candidates": [(0, 1), (2, 2)]}, ValueError, "candidates: hyperedge 1 holds a node more than once"),
        (
            {"candidates": [(0, "x")]},
            ValueError,
            "candidates: hyperedge 0 holds 'x', which is not among the node names",
        ),
        ({"candidates": []}, ValueError, "candidates holds no hyperedge; list at least one"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be a whole number other than 0"),
        ({"scale": "largest"}, ValueError, "scale .* must be one of 'auto', 'median', 'mean'; got 'largest'"),
    ],
)
def test_settings_that_cannot_be(told, error, message):
    with pytest.raises(error, match=message):
        learn(gaussian_signals(n_nodes=10), Settings(**told))


def test_names_that_cannot_be():
    with pytest.raises(ValueError, match="nodes must hold one name for each of the 10 nodes, got 2 names"):
        learn(gaussian_signals(n_nodes=10), nodes=["a", "b"])
    with pytest.raises(ValueError, match="node names must be distinct, but '3' stands more than once; rename one"):
        learn(gaussian_signals(n_nodes=10), nodes=[*range(9), 3])


@pytest.mark.parametrize(
    "told", [{"variation": "x"}, {"solver": "x"}, {"solver_options": {"x": 1}}, {"tol": -1}, {"cardinalities": 1}]
)
def test_settings_are_refused_before_any_work(told):
    with pytest.raises(ValueError, match="must be"):
        Settings(**told).check()


def test_the_budget_is_checked_before_the_search(monkeypatch):
    monkeypatch.setattr(room, "nearest_neighbors", lambda *_, **__: pytest.fail("searched"))
    with pytest.raises(ValueError, match="budget"):
        learn(gaussian_signals(), Settings(memory_budget=1000))
