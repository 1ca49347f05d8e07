"""What variations are divided by: the definition, the median by counting, and units that do not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hsls.scale as room
from hsls import Settings, _threads, learn
from hsls.candidates import all_candidates, knn_candidates, listed_candidates
from hsls.scale import SCALES, median, typical
from hsls.variation import of_candidates
from instances import candidate_sets, nearest, numbers, seeds

VARIATIONS = st.just(0.0) | st.floats(0, 1e307) | numbers(0.5, 2.0) | st.sampled_from([1.0, 1.5])


def least_by_hand(candidates, z):
    """For each node that a candidate holds, its least variation."""
    return [
        min(z[e] for e, edge in enumerate(candidates.edges) if i in edge) for i in np.flatnonzero(candidates.covered())
    ]


# -- the median ------------------------------------------------------------------------------------------------------


@pytest.fixture
def counted_always(monkeypatch):
    monkeypatch.setattr(room, "_MANY", 0)


@pytest.mark.usefixtures("counted_always")
@given(st.lists(VARIATIONS, min_size=1, max_size=60), st.integers(1, 4))
def test_the_median_by_counting_is_the_median(values, threads):
    values = np.array(values)
    with _threads.limit(threads):
        np.testing.assert_array_equal(median(values), np.median(values))


@pytest.mark.parametrize("length", [99_999, 100_000, 100_001, 250_000])
def test_the_median_of_many(length):
    values = np.random.default_rng(length).exponential(size=length)
    before = values.copy()
    assert median(values) == np.median(values)
    assert median(values[::-2]) == np.median(values[::-2])
    np.testing.assert_array_equal(values, before)


# -- the definition --------------------------------------------------------------------------------------------------


@given(candidate_sets(least_nodes=6, most_nodes=12), seeds(), st.integers(1, 3), st.booleans())
def test_auto_is_a_sixth_of_the_median_over_nodes_of_the_least_variation(candidates, seed, threads, pieces):
    z = np.random.default_rng(seed).exponential(size=len(candidates))
    expected = np.median(least_by_hand(candidates, z)) / 6
    with pytest.MonkeyPatch.context() as patch, _threads.limit(threads):
        patch.setattr(room, "_MANY", 0 if pieces else 100)
        assert typical(candidates, z, "auto") == pytest.approx(expected)


@given(candidate_sets(), seeds())
def test_median_mean_a_number_and_none(candidates, seed):
    z = np.random.default_rng(seed).exponential(size=len(candidates))
    assert typical(candidates, z, "median") == np.median(z)
    assert typical(candidates, z, "mean") == pytest.approx(np.mean(z))
    assert typical(candidates, z, 2) == 2.0
    assert typical(candidates, z, None) == 1.0


def test_where_most_vary_by_nothing_the_next_measure_takes_over():
    candidates = listed_candidates([(0, 1), (2, 3), (4, 5), (0, 2), (1, 3), (3, 5)], 6)
    # In canonical order (0, 1), (0, 2), (1, 3), (2, 3), (3, 5), (4, 5).
    z = np.array([0.0, 2.0, 3.0, 0.0, 4.0, 1.0])
    assert typical(candidates, z, "auto") == np.median(z) == 1.5  # four of six nodes have a candidate of 0
    z = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 3.0])
    assert typical(candidates, z, "auto") == typical(candidates, z, "median") == np.mean(z) == 0.5
    for scale in SCALES:
        assert typical(candidates, np.zeros(6), scale) == 1.0


def test_auto_does_not_move_with_the_number_of_neighbours():
    X = np.random.default_rng(0).standard_normal((40, 6))
    scales = [
        typical(candidates, of_candidates(candidates, X), "auto")
        for candidates in (knn_candidates({2: nearest(X, r)}) for r in (1, 5, 20))
    ]
    assert scales[0] == scales[1] == scales[2]


@pytest.mark.parametrize(
    ("scale", "error", "message"),
    [
        ("mode", ValueError, r"scale .* must be one of 'auto', 'median', 'mean'; got 'mode'"),
        (0, ValueError, "scale must be a finite number above 0, got 0"),
        (np.nan, ValueError, "scale must be a finite number above 0, got nan"),
        (True, TypeError, "scale must be a number above 0, got True"),
        ([1.0], TypeError, "scale must be a number above 0"),
    ],
)
def test_scales_that_cannot_be(scale, error, message):
    candidates = all_candidates(4, 2)
    with pytest.raises(error, match=message):
        typical(candidates, np.ones(6), scale)
    if not isinstance(scale, list):
        with pytest.raises(error, match=message):
            learn(np.eye(4), Settings(cardinalities=2, scale=scale))


# -- units -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variation", ["max-square", "sum-absolute", "mean-l3^2"])
@pytest.mark.parametrize("scale", SCALES)
@given(seed=seeds(), unit=st.sampled_from([1e-40, 1e-20, 1e-3, 0.7, 3.0, 1e6, 1e25, 1e40]))
def test_units_of_the_signals_do_not_matter(scale, variation, seed, unit):
    X = np.random.default_rng(seed).standard_normal((14, 5))
    settings = Settings(cardinalities=(2, 3), neighbors=4, scale=scale, variation=variation, tol=1e-12, threshold=0.0)
    plain, other = learn(X, settings), learn(unit * X, settings)
    assert other.candidates.edges == plain.candidates.edges
    np.testing.assert_allclose(other.weights, plain.weights, atol=1e-5 * plain.weights.max())
    np.testing.assert_allclose(other.solution.dual, plain.solution.dual, rtol=1e-5)
    power = {"max-square": 2, "sum-absolute": 1, "mean-l3^2": 2}[variation]
    assert other.scale == pytest.approx(unit**power * plain.scale)


@given(seeds(), st.integers(-400, 400))
def test_units_by_powers_of_two_change_no_digit(seed, power):
    X = np.random.default_rng(seed).standard_normal((14, 5))
    plain, other = learn(X), learn(2.0**power * X)
    assert other.hypergraph == plain.hypergraph
    np.testing.assert_array_equal(other.weights, plain.weights)


def test_the_nearest_variation_can_be_made_another_number():
    candidates = all_candidates(6, 2)
    z = np.random.default_rng(0).exponential(size=len(candidates))
    assert typical(candidates, z, "auto", 1.0) == pytest.approx(6 * typical(candidates, z, "auto"))
