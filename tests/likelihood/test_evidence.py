"""Refits: their likelihood by dense Gaussian densities, and what they foretell of one hyperedge more or less."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize_scalar

from fields import constants, dense_matrices
from hsls import Hypergraph, smooth_signals
from hsls.candidates import all_candidates
from hsls.likelihood.evidence import Evidence, Refit, joins, variations
from hsls.likelihood.field import node_labels
from instances import seeds
from learned import gaussian_signals, with_holes

CANDIDATES = all_candidates(7, (2, 3))
WITH_FOURS = all_candidates(7, (2, 3, 4))


def evidence(seed, n_observations=40, candidates=CANDIDATES, **options):
    return Evidence.of(candidates, gaussian_signals(seed, 7, n_observations), **options)


def support(seed, count=6):
    return np.sort(np.random.default_rng(seed).choice(CANDIDATES.n_candidates, count, replace=False))


def precision(own, refit, test=None):
    """Of all signals: L(w), and over each component's constants the inverse variance of its level."""
    labels = node_labels(own.edges.take(refit.support))
    L = np.tensordot(refit.weights, dense_matrices(own.edges.take(refit.support)), 1)
    J = constants(labels)
    C = own.signals @ own.signals.T
    for label in np.unique(labels):
        mine = labels == label
        L += J * mine[:, None] / np.trace(C @ (J * mine[:, None]))
    return L


def log_density(K, C):
    return np.linalg.slogdet(K)[1] - np.trace(K @ C)


@settings(max_examples=25)
@given(seeds())
def test_the_log_likelihood_is_that_of_a_gaussian(seed):
    own = evidence(seed)
    refit = own.refit(support(seed))
    K = precision(own, refit)
    expected = 20 * log_density(K, own.signals @ own.signals.T)
    assert refit.log_likelihood == pytest.approx(expected, rel=1e-3, abs=0.05)
    assert refit.n_parameters == len(refit.support) + len(np.unique(node_labels(own.edges.take(refit.support))))


@settings(max_examples=15)
@given(seeds())
def test_held_out_observations_have_the_density_of_the_refit(seed):
    own, other = evidence(seed), evidence(seed + 1, 15)
    refit = own.refit(support(seed))
    expected = log_density(precision(own, refit), other.signals @ other.signals.T)
    assert own.held_out(refit, other) == pytest.approx(expected, rel=1e-3, abs=0.05)


@settings(max_examples=15)
@given(seeds())
def test_more_hyperedges_within_a_component_never_explain_less(seed):
    own = evidence(seed)
    few = support(seed, 8)
    more = np.union1d(few, support(seed + 1, 4))
    if len(np.unique(node_labels(own.edges.take(few)))) == len(np.unique(node_labels(own.edges.take(more)))):
        assert own.refit(more).log_likelihood >= own.refit(few).log_likelihood - 1e-3


def test_losses_and_gains_foretell_the_refit():
    """Wald's statistic is near the likelihood ratio; the gain, which leaves the others as they are, below it."""
    own = evidence(3, 4000)
    complete = own.refit(np.arange(21))  # all pairs: every one of them connects
    losses = own.losses(complete)
    weakest = np.argsort(losses)[:3]
    for e in weakest:
        without = own.refit(np.delete(complete.support, e))
        fall = complete.log_likelihood - without.log_likelihood
        assert fall == pytest.approx(losses[e], rel=0.1, abs=0.5)
        assert 0.3 * fall <= own.gains(without)[complete.support[e]] <= 1.1 * fall


@settings(max_examples=15)
@given(seeds())
def test_gains_are_the_largest_rises_of_the_likelihood_along_one_weight(seed):
    """Within a component, between components, and both at once."""
    own = evidence(seed, candidates=WITH_FOURS)
    refit = own.refit(support(seed, 3))
    C = own.signals @ own.signals.T
    gains = own.gains(refit)
    before = log_density(precision(own, refit), C)
    others = [block[seed % len(block)] for block in np.split(np.arange(len(gains)), WITH_FOURS.offsets[1:-1])]
    for e in np.setdiff1d(np.append(others, support(seed + 1, 4)), refit.support).tolist():
        numbers = np.append(refit.support, e)

        def rise(log_w, numbers=numbers):
            weights = np.append(refit.weights, np.exp(log_w))
            return 20 * (log_density(precision(own, Refit(numbers, weights, 0.0, 0)), C) - before)

        best = minimize_scalar(lambda log_w, rise=rise: -rise(log_w), bounds=(-12, 12), method="bounded").fun
        assert gains[e] == pytest.approx(-best, rel=1e-3, abs=0.05)


@settings(max_examples=15)
@given(seeds())
def test_gains_that_matter_are_the_same_where_small_ones_are_skipped(seed):
    own = evidence(seed, candidates=WITH_FOURS)
    refit = own.refit(support(seed, 8))
    gains = own.gains(refit)
    least = float(np.quantile(gains, 0.7))
    skipped = own.gains(refit, least)
    matter = gains > 1.001 * max(least, 0.0)
    np.testing.assert_array_equal(skipped[matter], gains[matter])
    assert np.all(skipped[~matter] <= 1.001 * max(least, 0.0))


def test_no_hyperedge_at_all_is_a_model_too():
    own = evidence(0)
    refit = own.refit(np.zeros(0, dtype=np.int64))
    variances = np.sum(own.signals**2, axis=1)
    assert refit.log_likelihood == pytest.approx(-20 * np.sum(np.log(variances) + 1))
    assert len(own.losses(refit)) == 0
    assert np.any(own.gains(refit) > 0)


def test_variations_are_traces_with_the_noise_taken_off():
    X = gaussian_signals(0, 7, 30)
    M = dense_matrices(evidence(0).edges)
    np.testing.assert_allclose(variations(CANDIDATES, X), np.einsum("ij,eji->e", X @ X.T / 30, M))
    freed = np.einsum("ij,eji->e", X @ X.T / 30 - 0.1 * np.eye(7), M)
    np.testing.assert_allclose(variations(CANDIDATES, X, noise=0.1), np.maximum(freed, 0))
    np.testing.assert_array_equal(joins(CANDIDATES), np.einsum("eii->e", M).round())


def test_missing_values_and_weights_are_taken():
    X = with_holes(gaussian_signals(0, 7, 30))
    own = Evidence.of(CANDIDATES, X, observation_weights=np.linspace(1, 2, 30), unit=2.0)
    assert 28 < own.n_observations < 30
    assert np.isfinite(own.refit(support(0)).log_likelihood)


def test_parts_are_what_correlations_connect():
    """Two hypergraphs side by side and a node of its own, nodes shuffled: independent, whatever their levels."""
    one = Hypergraph.from_edges([(0, 1, 2), (2, 3), (3, 4, 5), (5, 6), (6, 7)], nodes=range(8))
    two = Hypergraph.from_edges([(0, 1), (1, 2, 3), (3, 4), (2, 4, 5)], nodes=range(6))
    X = np.vstack([smooth_signals(H, 400, random_state=seed) for seed, H in enumerate((one, two))])
    X = np.vstack([X, np.random.default_rng(7).standard_normal((1, 400))]) + 3.0
    order = np.random.default_rng(1).permutation(15)
    found = Evidence.of(all_candidates(15, 2), (X - X.mean(axis=1, keepdims=True))[order]).parts()
    expected = np.repeat([0, 1, 2], [8, 6, 1])[order]
    np.testing.assert_array_equal(found[:, None] == found, expected[:, None] == expected)


def test_dependent_nodes_are_one_part():
    own = evidence(0, 40)
    own.signals[:] = gaussian_signals(1, 1, 40) + 0.1 * own.signals
    assert len(np.unique(own.parts())) == 1
