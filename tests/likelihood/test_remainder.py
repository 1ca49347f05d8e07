"""Remainders against dense Gaussian densities: whole components, split ones, and what candidates then bring."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from hsls.candidates import all_candidates
from hsls.likelihood.evidence import Evidence
from hsls.likelihood.field import node_labels
from hsls.likelihood.remainder import Remainders
from instances import seeds
from learned import gaussian_signals

CANDIDATES = all_candidates(8, (2, 3))


def evidence(seed):
    return Evidence.of(CANDIDATES, gaussian_signals(seed, 8, 60))


def refit_of(own, seed, count=7):
    return own.refit(np.sort(np.random.default_rng(seed).choice(CANDIDATES.n_candidates, count, replace=False)))


def joined(labels):
    """J of every component."""
    same = labels[:, None] == labels
    return same / same.sum(axis=1)


def log_likelihood(own, support, weights):
    edges = own.edges.take(support)
    labels = node_labels(edges)
    J, C = joined(labels), own.signals @ own.signals.T
    levels = [np.trace(C @ (J * (labels == label))) for label in np.unique(labels)]
    inner = np.linalg.slogdet(edges.laplacian(weights) + J)[1] - own.z[support] @ weights
    return 0.5 * own.n_observations * (inner - np.sum(np.log(levels) + 1.0)), len(support) + len(levels)


@settings(max_examples=40)
@given(seeds())
def test_what_is_left_has_the_likelihood_of_its_density(seed):
    own = evidence(seed)
    refit = refit_of(own, seed)
    left_out = np.random.default_rng(seed).random(len(refit.support)) < 0.4
    rest = Remainders(own, refit).without(left_out)
    value, n_parameters = log_likelihood(own, refit.support[~left_out], refit.weights[~left_out])
    assert rest.log_likelihood == pytest.approx(value, rel=1e-4, abs=1e-2)
    assert rest.n_parameters == n_parameters
    np.testing.assert_array_equal(rest.support, refit.support[~left_out])
    np.testing.assert_array_equal(rest.weights, refit.weights[~left_out])
    assert rest.log_likelihood <= own.refit(rest.support).log_likelihood + 1e-2


def test_leaving_out_nothing_changes_nothing_and_everything_leaves_single_nodes():
    own = evidence(1)
    refit = refit_of(own, 1)
    none = np.zeros(len(refit.support), dtype=bool)
    assert Remainders(own, refit).without(none).log_likelihood == pytest.approx(refit.log_likelihood)
    bare = own.refit(np.zeros(0, dtype=np.int64))
    rest = Remainders(own, refit).without(~none)
    assert rest.log_likelihood == pytest.approx(bare.log_likelihood)
    assert rest.n_parameters == bare.n_parameters == 8


@settings(max_examples=20)
@given(seeds())
def test_gains_without_some_are_those_at_the_inverse_written_out(seed):
    own = evidence(seed)
    refit = refit_of(own, seed)
    left_out = np.arange(len(refit.support)) == seed % len(refit.support)
    candidates = np.arange(0, len(own.edges), 3)
    rest, gains = Remainders(own, refit).gains_without(left_out, candidates, 0.0)
    edges = own.edges.take(rest.support)
    labels = node_labels(edges)
    inverse = np.linalg.inv(edges.laplacian(rest.weights) + joined(labels))
    np.testing.assert_allclose(gains, own.gains_at(labels, inverse, candidates, 0.0), rtol=1e-3, atol=1e-2)
