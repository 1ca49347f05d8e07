"""Swaps: one hyperedge for another, and one for two, found again from the likelihood alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from hsls import random_hypergraph, smooth_signals
from hsls.candidates import all_candidates
from hsls.likelihood.evidence import Evidence
from hsls.likelihood.search import improve
from hsls.likelihood.swapping import swap
from instances import seeds
from learned import gaussian_signals


def score(refit):
    return refit.log_likelihood - 5.0 * refit.n_parameters


@pytest.fixture(scope="module")
def example():
    truth = random_hypergraph(9, cardinalities={2: 5, 3: 4}, random_state=5)
    candidates = all_candidates(9, (2, 3))
    own = Evidence.of(candidates, smooth_signals(truth, 2000, random_state=5))
    return candidates, own, sorted(candidates.edges.index(tuple(sorted(e))) for e in truth.edges)


def test_one_for_another(example):
    """A pair of a triple's nodes in the place of the triple."""
    candidates, own, right = example
    triple = next(e for e in right if len(candidates.edges[e]) == 3)
    pair = candidates.edges.index(candidates.edges[triple][:2])
    wrong = [e for e in right if e != triple]
    start = own.refit(np.array([*wrong, pair]))
    found = swap(own, start, score, 5.0)
    assert triple in found.support
    assert score(found) > score(start)


def test_one_for_two(example):
    """The triple of three nodes in the place of two pairs of them: what a swap leaves, the search adds."""
    candidates, own, right = example
    pairs = [candidates.edges[e] for e in right if len(candidates.edges[e]) == 2]
    one, two = next((a, b) for a in pairs for b in pairs if a < b and set(a) & set(b))
    gone = [candidates.edges.index(one), candidates.edges.index(two)]
    triple = candidates.edges.index(tuple(sorted({*one, *two})))
    start = own.refit(np.array([e for e in right if e not in gone] + [triple]))
    assert score(swap(own, start, score, 5.0)) > score(start)
    assert set(improve(own, start, score, 5.0).support) == set(right)


@settings(max_examples=10)
@given(seeds())
def test_swaps_only_raise_the_score(seed):
    own = Evidence.of(all_candidates(7, (2, 3)), gaussian_signals(seed, 7, 40))
    start = own.refit(np.sort(np.random.default_rng(seed).choice(len(own.edges), 5, replace=False)))
    assert score(swap(own, start, score, 5.0)) >= score(start)


def test_nothing_to_swap():
    own = Evidence.of(all_candidates(5, 2), gaussian_signals(0, 5, 40))
    nothing = own.refit(np.zeros(0, dtype=np.int64))
    assert swap(own, nothing, score, 5.0) is nothing
