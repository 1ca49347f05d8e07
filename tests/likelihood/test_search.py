"""The search: what each step keeps, and that it ends where one hyperedge more or less is no better."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from hsls import random_hypergraph, smooth_signals
from hsls.candidates import all_candidates
from hsls.likelihood.evidence import Evidence
from hsls.likelihood.search import combine, explore, heaviest, heavy, improve
from instances import seeds
from learned import gaussian_signals

CANDIDATES = all_candidates(7, (2, 3))


def evidence(seed):
    return Evidence.of(CANDIDATES, gaussian_signals(seed, 7, 40))


def support(seed, count=6):
    return np.sort(np.random.default_rng(seed).choice(CANDIDATES.n_candidates, count, replace=False))


def score(refit):
    return refit.log_likelihood - 4.0 * refit.n_parameters


@settings(max_examples=15)
@given(seeds())
def test_a_combination_is_never_worse_than_the_best(seed):
    own = evidence(seed)
    several = [own.refit(support(seed + number, 5)) for number in range(4)]
    both = combine(own, several, score)
    assert score(both) >= max(map(score, several))
    assert set(both.support) <= set(np.concatenate([one.support for one in several]))
    assert combine(own, [both], score) is both


@settings(max_examples=10)
@given(seeds())
def test_no_single_hyperedge_less_is_better_after_a_search(seed):
    own = evidence(seed)
    start = own.refit(support(seed))
    found = improve(own, start, score, 4.0)
    assert score(found) >= score(start)
    for place in range(len(found.support)):
        assert score(own.refit(np.delete(found.support, place))) <= score(found) + 0.2


@settings(max_examples=15)
@given(seeds())
def test_the_search_never_ends_below_its_start_and_no_single_drop_betters_it(seed):
    own = evidence(seed)
    first = own.refit(support(seed, 10))
    last = improve(own, first, score, 4.0)
    assert score(last) >= score(first)
    if len(last.support):
        weakest = int(np.argmin(own.losses(last)))
        if own.losses(last)[weakest] < 4.0:
            assert score(own.refit(np.delete(last.support, weakest))) <= score(last) + 1e-6


def test_offers_of_any_kind_lead_to_the_truth():
    """Also one that offers nothing of it."""
    truth = random_hypergraph(8, 7, (2, 3), random_state=3)
    X = smooth_signals(truth, 1000, random_state=3)
    candidates = all_candidates(8, (2, 3))
    own = Evidence.of(candidates, X)
    right = np.array([candidates.edges.index(tuple(sorted(e))) for e in truth.edges])
    offers = np.zeros((2, len(own.edges)))
    offers[0, right] = 1.0
    offers[1, np.setdiff1d(np.arange(len(own.edges)), right)[::9]] = 1.0
    found = explore(own, [[weights] for weights in offers], score, 4.0)
    assert len(found) == 2
    assert max(map(score, found)) >= score(own.refit(right))
    assert set(max(found, key=score).support) == set(right)


def test_the_heaviest_are_taken_however_many_reach_a_cut():
    weights = np.array([0.1, 0.9, 0.0, 0.5, 0.5])
    assert heavy(weights, (2.0, 0.5, 0.45)) == [1, 3]
    np.testing.assert_array_equal(heaviest(weights, [3])[0], [1, 3, 4])
