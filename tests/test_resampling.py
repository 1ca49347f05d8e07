"""Stability against resampling by hand, on any number of processes; what cannot be fitted; the bound."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from hsls import (
    HGSI,
    HSLS,
    ConvergenceWarning,
    KNNHypergraph,
    random_hypergraph,
    smooth_signals,
    stability,
)
from hsls.resampling import Plan
from hsls.tables import Signals

X = smooth_signals(random_hypergraph(12, 6, 3, random_state=0), 60, random_state=0)
MODEL = HSLS(cardinalities=(2, 3), neighbors=4)


# -- which observations ----------------------------------------------------------------------------------


@given(st.integers(2, 200), st.floats(0.05, 0.95), st.integers(0, 99))
def test_resamples_are_sets_of_the_wanted_size(n, fraction, seed):
    drawn = list(Plan.of(n, 8, fraction, random_state=seed).draw())
    assert len(drawn) == 8
    for chosen in drawn:
        assert len(chosen) == min(n - 1, max(1, round(fraction * n)))
        assert np.all(np.diff(chosen) > 0)
        assert 0 <= chosen[0] <= chosen[-1] < n
    again = Plan.of(n, 8, fraction, random_state=seed).draw()
    assert all(np.array_equal(one, other) for one, other in zip(drawn, again, strict=True))


@given(st.integers(1, 9), st.integers(2, 60), st.integers(0, 99))
def test_blocks_are_drawn_whole(length, extra, seed):
    n = 2 * length + extra
    for chosen in Plan.of(n, 5, 0.5, length, seed).draw():
        for block in np.unique(chosen // length):
            whole = np.arange(block * length, min((block + 1) * length, n))
            assert np.array_equal(chosen[chosen // length == block], whole)


def test_every_observation_is_drawn_equally_often():
    times = Counter(t for chosen in Plan.of(10, 4000, random_state=0).draw() for t in chosen.tolist())
    assert sum(times.values()) == 20_000
    assert max(abs(times[t] - 2000) for t in range(10)) < 5 * np.sqrt(4000 / 4)


# -- frequencies -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [MODEL, HGSI(3, 5), KNNHypergraph(2)], ids=["HSLS", "HGSI", "KNN"])
def test_frequencies_are_those_of_a_loop_by_hand(model):
    result = stability(model, X, 12, random_state=3)
    times, weights = Counter(), Counter()
    for chosen in Plan.of(60, 12, random_state=3).draw():
        found = type(model)(**model.get_params()).fit(X[:, chosen]).hypergraph_
        times.update(found.edges)
        weights.update(dict(zip(found.edges, found.weights.tolist(), strict=True)))
    full = type(model)(**model.get_params()).fit(X)
    assert result.hypergraph == full.hypergraph_.with_frequencies([times[e] / 12 for e in full.hypergraph_.edges])
    assert set(result.union.edges) == set(times)
    assert result.union.frequencies.tolist() == [times[e] / 12 for e in result.union.edges]
    np.testing.assert_allclose(result.union.weights, [weights[e] / times[e] for e in result.union.edges], rtol=1e-9)
    assert result.mean_selected == sum(times.values()) / 12
    assert result.n_candidates == full.candidates_.n_candidates
    assert result.stable(0.75).edges == [e for e in result.union.edges if times[e] >= 9]
    assert (result.n_resamples, result.n_failed, result.n_warned, result.seed) == (12, 0, 0, 3)
    np.testing.assert_array_equal(result.frequencies, result.hypergraph.frequencies)


def test_the_number_of_processes_changes_nothing():
    assert stability(MODEL, X, 6, random_state=1, n_jobs=1) == stability(MODEL, X, 6, random_state=1, n_jobs=2)


def test_the_seed_that_was_drawn_draws_the_same_again():
    one = stability(MODEL, X, 3, random_state=np.random.default_rng(5))
    assert stability(MODEL, X, 3, random_state=one.seed) == one
    assert stability(MODEL, X, 2).seed != stability(MODEL, X, 2).seed


def test_the_estimator_is_left_alone_and_its_method_is_the_function():
    model = HSLS(cardinalities=(2, 3), neighbors=4)
    before = model.get_params()
    assert model.stability(X, 4, block=5, random_state=0) == stability(MODEL, X, 4, block=5, random_state=0)
    assert model.get_params() == before
    assert not hasattr(model, "hypergraph_")


def test_names_columns_and_candidates_by_name_find_their_way_into_the_refits():
    table = pd.DataFrame(X.T, columns=[f"n{i}" for i in range(12)])
    listed = [("n0", "n1"), ("n2", "n3", "n4"), ("n5", "n1"), ("n0", "n11", "n7")]
    omega = np.linspace(0.5, 2.0, 60)
    model = HSLS(candidates=listed, nodes="columns", observation_weights=omega)
    result = stability(model, table, 5, random_state=0)
    assert result.hypergraph.nodes == tuple(table.columns)
    by_hand = Counter()
    for chosen in Plan.of(60, 5, random_state=0).draw():
        fitted = HSLS(candidates=listed, nodes="columns", observation_weights=omega[chosen]).fit(table.iloc[chosen])
        by_hand.update(fitted.hypergraph_.named_edges)
    assert result.union.frequencies.tolist() == [by_hand[e] / 5 for e in result.union.named_edges]


def test_signals_that_were_read_can_be_fitted():
    names = tuple(f"n{i}" for i in range(12))
    for nodes in ("rows", "columns"):
        assert HSLS(nodes=nodes).fit(Signals(X, names)).hypergraph_.nodes == names


def test_where_nothing_is_found_there_are_no_frequencies():
    result = stability(HSLS(threshold=1e9), X, 3, random_state=0)
    assert result.hypergraph.n_edges == result.union.n_edges == len(result.frequencies) == 0
    assert result.expected_false(0.9) == 0


# -- what goes wrong -------------------------------------------------------------------------------------


def test_resamples_that_cannot_be_fitted_are_counted():
    gappy = X.copy()
    gappy[3, 2:] = np.nan  # seen in two observations, so unseen in about every fourth resample
    with pytest.warns(
        UserWarning, match=r"\d+ of 16 resamples could not be fitted.*node 3 has no observation"
    ) as given:
        result = stability(KNNHypergraph(2), gappy, 16, random_state=0)
    assert len(given) == 1
    unseen = sum(not {0, 1} & set(chosen.tolist()) for chosen in Plan.of(60, 16, random_state=0).draw())
    assert result.n_failed == unseen > 0
    steps = result.union.frequencies * (16 - unseen)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)


class Hopeless(BaseEstimator):
    """Finds something on many observations and nothing on few."""

    def fit(self, X, y=None):
        values = X.values if isinstance(X, Signals) else X
        if values.shape[1] < 60:
            raise ValueError("too few observations.")
        self.hypergraph_ = random_hypergraph(12, 6, 3, random_state=0)
        return self


def test_where_no_resample_can_be_fitted_the_error_says_why():
    with pytest.raises(ValueError, match=r"none of the 4 resamples could be fitted: too few observations"):
        stability(Hopeless(), X, 4)


def test_refits_that_do_not_converge_are_told_of_once():
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        result = stability(HSLS(max_iter=1), X, 5, random_state=0)
    assert result.n_warned == 5
    assert [w.category for w in given] == [ConvergenceWarning] * 2  # one of the full fit, one of all the others
    assert "5 of 5 fits on resamples gave warnings" in str(given[1].message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be at least 1"),
        ({"fraction": 1.0}, "fraction must be below 1"),
        ({"fraction": 0.0}, "fraction must be a finite number above 0"),
        ({"block": 31}, "too few to draw some from in blocks of 31; lower block"),
        ({"block": 0}, "block must be at least 1"),
        ({"random_state": "a"}, "random_state must be None"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        stability(MODEL, X, **options)


@pytest.mark.parametrize("estimator", [HSLS, "HSLS", None])
def test_what_is_no_estimator_is_refused(estimator):
    with pytest.raises(TypeError, match=r"estimator must learn hypergraphs, such as HSLS\(cardinalities=3\)"):
        stability(estimator, X)


# -- the bound -------------------------------------------------------------------------------------------


def test_the_bound_is_the_one_of_the_theorem():
    result = stability(HGSI(3, 2), X, 10, random_state=0)
    q, D = result.mean_selected, result.n_candidates
    assert q == 2
    assert result.expected_false(0.9) == pytest.approx(q**2 / (0.8 * D))
    assert result.threshold_for(result.expected_false(0.7)) == pytest.approx(0.7)
    with pytest.raises(ValueError, match=r"threshold must be above 0.5"):
        result.expected_false(0.5)
    with pytest.raises(ValueError, match=r"no threshold bounds the false hyperedges by 1e-06"):
        result.threshold_for(1e-6)


def test_the_bound_is_for_halves():
    with pytest.raises(ValueError, match=r"resamples of half of the observations, not of 0.3"):
        stability(KNNHypergraph(2), X, 2, fraction=0.3).expected_false(0.9)


def test_the_bound_holds_where_all_hyperedges_are_false():
    """White noise: nothing is true, every hyperedge of a kind is like the next."""
    noise = np.random.default_rng(0).standard_normal((14, 100))
    result = stability(HGSI(2, 8), noise, 40, random_state=0)
    for threshold in (0.6, 0.75, 0.9):
        assert result.stable(threshold).n_edges <= result.expected_false(threshold) + 3
