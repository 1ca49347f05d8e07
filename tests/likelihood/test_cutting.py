"""Groups cut off: those that stand alone are, whatever joins them, and no cut makes the score worse."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from hsls import random_hypergraph, smooth_signals
from hsls.candidates import all_candidates
from hsls.likelihood.cutting import cut_off
from hsls.likelihood.evidence import Evidence
from hsls.likelihood.search import improve
from instances import seeds
from learned import gaussian_signals


def test_a_group_that_stands_alone_is_cut_off():
    """Hyperedges that join it to the rest go at once, however many they are."""
    alone = random_hypergraph(7, cardinalities={3: 1, 4: 1}, random_state=0)
    X = smooth_signals(alone, 400, random_state=0)
    candidates = all_candidates(7, (2, 3, 4))
    own = Evidence.of(candidates, X)
    right = np.array([candidates.edges.index(e) for e in sorted(alone.edges, key=lambda e: (len(e), e))])
    groups = [set(e) for e in alone.edges]
    joining = [at for at, e in enumerate(candidates.edges) if len(e) == 2 and not any(set(e) <= g for g in groups)]

    def score(refit):
        return refit.log_likelihood - 6.0 * refit.n_parameters

    start = own.refit(np.append(right, joining[:3]))
    assert set(right) < set(start.support)
    found = improve(own, start, score, 6.0)
    assert set(found.support) == set(right)


@settings(max_examples=15)
@given(seeds())
def test_cuts_only_raise_the_score_and_only_leave_out(seed):
    own = Evidence.of(all_candidates(8, (2, 3)), gaussian_signals(seed, 8, 40))

    def score(refit):
        return refit.log_likelihood - 4.0 * refit.n_parameters

    start = own.refit(np.sort(np.random.default_rng(seed).choice(len(own.edges), 9, replace=False)))
    found = cut_off(own, start, score, 4.0)
    assert score(found) >= score(start)
    assert set(found.support) <= set(start.support)


def test_nothing_to_cut():
    own = Evidence.of(all_candidates(5, 2), gaussian_signals(0, 5, 40))
    nothing = own.refit(np.zeros(0, dtype=np.int64))
    assert cut_off(own, nothing, lambda refit: refit.log_likelihood, 4.0) is nothing
