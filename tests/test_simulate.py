"""Random hypergraphs cover, repeat nothing and follow their law; signals have the stated covariance."""

from __future__ import annotations

import logging
import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hsls import Hypergraph, _covering, _star, random_hypergraph, smooth_signals

# -- random hypergraphs --------------------------------------------------------------------------------


@st.composite
def wishes(draw: st.DrawFn) -> tuple[int, dict[int, int]]:
    """Numbers of nodes and of hyperedges of each cardinality that are possible."""
    n = draw(st.integers(2, 12))
    counts = draw(st.dictionaries(st.integers(2, n), st.integers(0, 12), min_size=1))
    counts = {k: min(m, math.comb(n, k)) for k, m in counts.items()}
    missing = n - sum(k * m for k, m in counts.items())
    if missing > 0:
        counts[2] = counts.get(2, 0) + -(-missing // 2)
    return n, counts


@given(wishes(), st.integers(0, 2**32 - 1))
def test_counts_are_kept_and_every_node_is_covered(wish, seed):
    n, counts = wish
    H = random_hypergraph(n, cardinalities=counts, random_state=seed)
    assert H.n_nodes == n
    assert Counter(H.cardinalities.tolist()) == Counter({k: m for k, m in counts.items() if m})
    assert H.degrees(weighted=False).min() >= 1
    assert len(set(H.edges)) == H.n_edges


@pytest.mark.parametrize(
    ("n", "n_edges", "k"),
    [(300, 100, 3), (301, 151, 2), (1000, 300, 5), (100, 3, 50), (20, 1140, 3), (9, 9, 8)],
)
def test_hard_cases_cover(n, n_edges, k):
    H = random_hypergraph(n, n_edges, k, random_state=0)
    assert Counter(H.cardinalities.tolist()) == {k: n_edges}
    assert H.degrees().min() >= 1


def test_lopsided_mixtures_cover():
    # Plain draws would cover once in 20,000 times, though only two nodes are expected to be missed.
    H = random_hypergraph(200, cardinalities={198: 1, 2: 1}, random_state=0)
    assert H.degrees().tolist() == [1.0] * 200
    assert random_hypergraph(200, cardinalities={198: 1, 3: 1}, random_state=0).degrees().min() == 1


def test_one_hundred_thousand_nodes():
    H = random_hypergraph(100_000, 100_000, (2, 3, 4), random_state=0)
    assert Counter(H.cardinalities.tolist()) == {2: 33_334, 3: 33_333, 4: 33_333}
    assert H.degrees().min() >= 1


def test_plain_draws_have_exactly_the_uniform_law():
    # 5 nodes, 3 pairs: expected to miss 1.08 nodes, so drawn by rejection.
    n, m, repeats = 5, 3, 6000
    possible = [edges for edges in combinations(combinations(range(n), 2), m) if len(set().union(*edges)) == n]
    rng = np.random.default_rng(1)
    seen = Counter(tuple(random_hypergraph(n, m, 2, random_state=rng).edges) for _ in range(repeats))
    assert set(seen) == set(possible)
    assert stats.chisquare([seen[edges] for edges in possible]).pvalue > 1e-3


def test_partitions_have_exactly_the_uniform_law():
    # 6 nodes in 3 pairs, arranged: the 15 perfect matchings.
    rng = np.random.default_rng(2)
    seen = Counter()
    for _ in range(3000):
        (block,) = _covering.arrangement(6, {2: 3}, rng)
        seen[frozenset(map(tuple, block.tolist()))] += 1
    assert len(seen) == 15
    assert stats.chisquare(list(seen.values())).pvalue > 1e-3


def test_arranged_degrees_follow_the_law_of_rejection():
    # 40 nodes in 30 triples: 3.9 nodes are expected to be missed; plain draws cover once in 50 times.
    n, counts, rng = 40, {3: 30}, np.random.default_rng(3)
    assert _covering.uncovered(n, counts) > _covering.MOST_UNCOVERED

    def degrees(blocks):
        return np.bincount(np.concatenate([block.ravel() for block in blocks]), minlength=n)

    arranged = np.concatenate([degrees(_covering.arrangement(n, counts, rng)) for _ in range(300)])
    plain = (degrees([_covering.distinct(n, 3, 30, rng)]) for _ in range(20_000))
    accepted = np.concatenate([degree for degree in plain if degree.min() > 0])
    frequencies = [np.bincount(np.minimum(sample, 7), minlength=8) / len(sample) for sample in (arranged, accepted)]
    # Total variation distance: 0.01 to 0.02 of sampling error; 1 + Poisson(1.25) would be 0.07 away.
    assert np.abs(frequencies[0] - frequencies[1]).sum() / 2 < 0.03


def test_degrees_add_up_and_are_positive():
    rng = np.random.default_rng(4)
    for n, counts in ((1000, {3: 700}), (1000, {2: 501}), (500, {2: 100, 7: 90}), (5000, {5: 8000})):
        degrees = _covering.covering_degrees(n, counts, rng)
        assert degrees.sum() == sum(k * m for k, m in counts.items())
        assert degrees.min() >= 1
        assert degrees.max() <= sum(counts.values())


@pytest.mark.parametrize(("n", "k"), [(6, 2), (7, 3), (5, 4), (5, 5)])
def test_subsets_are_uniform(n, k):
    rows = _covering.subsets(n, k, 4000, np.random.default_rng(5))
    seen = Counter(map(tuple, rows.tolist()))
    assert set(seen) == set(combinations(range(n), k))
    assert len(seen) == 1 or stats.chisquare(list(seen.values())).pvalue > 1e-3


def test_the_number_of_possible_hyperedges():
    for n in range(2, 30):
        for k in range(2, n + 1):
            assert _covering.possible(n, k) == math.comb(n, k)
    assert 10**11 < _covering.possible(100, 50) <= math.comb(100, 50)


def test_same_seed_same_hypergraph():
    first, second, other = (random_hypergraph(50, 40, (2, 3), random_state=seed) for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_several_cardinalities_share_evenly():
    assert Counter(random_hypergraph(9, 11, [4, 2, 3], random_state=0).cardinalities.tolist()) == {
        2: 4,
        3: 4,
        4: 3,
    }


def test_weights():
    assert random_hypergraph(10, 10, random_state=0).weights.tolist() == [1.0] * 10
    weights = random_hypergraph(400, 400, weights=(0.5, 2.0), random_state=0).weights
    assert 0.5 <= weights.min() < 0.6
    assert 1.9 < weights.max() <= 2.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_nodes": 1, "n_edges": 1}, ValueError, "n_nodes must be at least 2"),
        ({"n_nodes": 9}, TypeError, "n_edges is needed unless"),
        ({"n_nodes": 9, "n_edges": 0}, ValueError, "n_edges must be at least 1"),
        (
            {"n_nodes": 9, "n_edges": 2},
            ValueError,
            "2 hyperedges hold at most 6 nodes, too few to cover 9; raise",
        ),
        (
            {"n_nodes": 4, "n_edges": 5},
            ValueError,
            "4 nodes have 4 different hyperedges of 3 nodes, but 5 are",
        ),
        (
            {"n_nodes": 4, "n_edges": 5, "cardinalities": 5},
            ValueError,
            "cardinality 5 is above the number of n",
        ),
        ({"n_nodes": 4, "n_edges": 5, "cardinalities": 1}, ValueError, "a cardinality must be at least 2"),
        (
            {"n_nodes": 4, "n_edges": 5, "cardinalities": "23"},
            TypeError,
            "a cardinality must be a whole number",
        ),
        ({"n_nodes": 4, "n_edges": 5, "cardinalities": []}, ValueError, "different numbers, at least one"),
        (
            {"n_nodes": 4, "n_edges": 5, "cardinalities": [2, 2]},
            ValueError,
            "different numbers, at least one",
        ),
        ({"n_nodes": 4, "n_edges": 5, "cardinalities": {2: 4}}, ValueError, "n_edges is 5, but .* up to 4"),
        ({"n_nodes": 4, "cardinalities": {2: -1}}, ValueError, "a number of hyperedges must be at least 0"),
        (
            {"n_nodes": 4, "cardinalities": {2: 0.5}},
            TypeError,
            "a number of hyperedges must be a whole number",
        ),
        ({"n_nodes": 4, "cardinalities": {}}, ValueError, "0 hyperedges hold at most 0 nodes"),
        ({"n_nodes": 4, "n_edges": 4, "weights": 2.0}, TypeError, r"weights must be \(low, high\)"),
        ({"n_nodes": 4, "n_edges": 4, "weights": (2, 1)}, ValueError, "with low at most high"),
        ({"n_nodes": 4, "n_edges": 4, "random_state": "x"}, TypeError, "random_state must be"),
    ],
)
def test_what_cannot_be_drawn(arguments, error, message):
    with pytest.raises(error, match=message):
        random_hypergraph(**arguments)


# -- signals -------------------------------------------------------------------------------------------


def several_components() -> Hypergraph:
    """Two components, isolated nodes, a hyperedge of one node, one of weight 0, mixed cardinalities."""
    edges = [(0, 1, 2), (2, 3), (1, 3, 4, 5), (7, 8), (8, 9, 10), (11,), (6, 7)]
    return Hypergraph.from_edges(edges, [1.0, 0.3, 2.0, 5.0, 0.7, 1.5, 0.0], nodes=13)


def laplacian(H: Hypergraph, weighted: bool) -> np.ndarray:
    return (H if weighted else H.binary()).star_laplacian().toarray()


@pytest.mark.parametrize("weighted", [False, True])
def test_incidence_factors_the_star_laplacian(weighted):
    H = several_components()
    B = _star.signed_incidence(H if weighted else H.binary()).toarray()
    np.testing.assert_allclose(B @ B.T, laplacian(H, weighted), atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_pseudo_inverse(weighted):
    H = several_components()
    L = (H if weighted else H.binary()).star_laplacian()
    np.testing.assert_allclose(
        _star.pseudo_inverse(L), np.linalg.pinv(L.toarray(), rcond=1e-10, hermitian=True), atol=1e-10
    )


@pytest.mark.parametrize("solver", [_star.factorised, _star.iterated])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("H", [several_components(), random_hypergraph(40, 40, random_state=0)], ids=str)
def test_sparse_samplers_have_exactly_the_covariance(H, weighted, solver):
    # M maps white noise to a signal, so M M' is the covariance of the signals.
    H = H if weighted else H.binary()
    B = _star.signed_incidence(H)
    M = solver((B @ B.T).tocsr())(B.toarray())
    pinv = np.linalg.pinv(laplacian(H, weighted), rcond=1e-10, hermitian=True)
    np.testing.assert_allclose(M @ M.T, pinv, atol=1e-10)


def covariance(H: Hypergraph, noise: float) -> np.ndarray:
    full = np.linalg.pinv(laplacian(H, False), rcond=1e-10, hermitian=True) + noise * np.eye(H.n_nodes + H.n_edges)
    return full[: H.n_nodes, : H.n_nodes]


def test_dense_sampler_has_the_covariance_of_the_paper():
    from hsls.simulate import _covariance, _root

    H = random_hypergraph(20, 20, random_state=1)
    pinv = np.linalg.pinv(laplacian(H, False), hermitian=True, rcond=1e-10)
    pinv[0, 1], pinv[1, 0], pinv[2, 3] = 9e-7, -9e-7, pinv[2, 3] + 1e-3
    expected = np.where(np.abs(pinv + 1e-3 * np.eye(40)) < 1e-6, 0.0, pinv + 1e-3 * np.eye(40))
    expected = (expected + expected.T) / 2
    assert expected[0, 1] == 0.0
    np.testing.assert_array_equal(_covariance(pinv, 1e-3), expected)
    values, vectors = np.linalg.eigh(expected)
    root = _root(expected)
    np.testing.assert_allclose(root @ root.T, vectors @ np.diag(np.maximum(values, 0)) @ vectors.T, atol=1e-12)
    np.testing.assert_allclose(root, root.T, atol=1e-14)
    assert np.isfinite(_root(np.diag([1.0, -1.0]))).all()


def test_the_root_does_not_depend_on_the_choice_of_eigenvectors():
    # Two components of one shape: every eigenvalue comes twice, and its eigenvectors in any rotation.
    from hsls.simulate import _root

    block = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, 0.0], [0.5, 0.0, 1.0]])
    twice = np.kron(np.eye(2), block)
    turn = np.kron([[0.6, -0.8], [0.8, 0.6]], np.eye(3))
    np.testing.assert_allclose(turn @ twice @ turn.T, twice, atol=1e-14)
    np.testing.assert_allclose(_root(twice), np.kron(np.eye(2), _root(block)), atol=1e-12)
    np.testing.assert_allclose(turn @ _root(twice) @ turn.T, _root(twice), atol=1e-12)


@pytest.mark.parametrize("method", ["dense", "sparse", "iterative"])
def test_sample_covariance_is_near_the_exact_one(method):
    H, P = several_components(), 40_000
    X = smooth_signals(H, P, noise=0.01, method=method, random_state=0)
    assert X.shape == (13, P)
    C = covariance(H, 0.01)
    # An entry of the sample covariance has standard deviation sqrt((C_ii C_jj + C_ij^2) / P).
    deviation = np.sqrt((np.outer(np.diag(C), np.diag(C)) + C**2) / P)
    assert np.max(np.abs(X @ X.T / P - C) / deviation) < 4.5
    assert np.max(np.abs(X.mean(axis=1)) / np.sqrt(np.diag(C) / P)) < 4.5


@pytest.mark.parametrize("method", ["dense", "sparse", "iterative"])
def test_isolated_nodes_have_noise_alone(method):
    X = smooth_signals(several_components(), 5000, noise=0.25, method=method, random_state=0)
    assert 0.23 < np.mean(X[12] ** 2) < 0.27
    silent = smooth_signals(several_components(), 10, noise=0.0, method=method, random_state=0)
    np.testing.assert_allclose(silent[12], 0, atol=1e-7)
    assert np.all(np.abs(silent[0]) > 0)


@pytest.mark.parametrize("method", ["dense", "sparse", "iterative"])
def test_without_hyperedges_there_is_only_noise(method):
    X = smooth_signals(Hypergraph.from_edges([], nodes=4), 4000, noise=1.0, method=method, random_state=0)
    np.testing.assert_allclose(X @ X.T / 4000, np.eye(4), atol=0.1)


def test_weights_are_used_only_when_asked_for():
    H = random_hypergraph(30, 30, weights=(0.1, 10.0), random_state=0)
    for method in ("dense", "sparse"):
        plain = smooth_signals(H, 5, method=method, random_state=0)
        weighted = smooth_signals(H, 5, method=method, weighted=True, random_state=0)
        np.testing.assert_array_equal(plain, smooth_signals(H.binary(), 5, method=method, random_state=0))
        assert np.abs(plain - weighted).max() > 0.01


def test_factorisation_and_conjugate_gradients_give_the_same_signals():
    H = random_hypergraph(500, 450, (2, 3), random_state=0)
    sparse, iterative = (smooth_signals(H, 60, method=m, random_state=3) for m in ("sparse", "iterative"))
    np.testing.assert_allclose(sparse, iterative, atol=1e-8)


def test_same_seed_same_signals():
    H = random_hypergraph(30, 30, random_state=0)
    for method in ("dense", "sparse", "iterative"):
        first, second, other = (smooth_signals(H, 7, method=method, random_state=seed) for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, second)
        assert not np.array_equal(first, other)


def test_auto_takes_the_method_for_the_size_and_says_so(caplog, monkeypatch):
    H = random_hypergraph(30, 20, random_state=0)
    drawn = {method: smooth_signals(H, 3, method=method, random_state=0) for method in ("dense", "sparse")}
    assert not np.allclose(drawn["dense"], drawn["sparse"])
    with caplog.at_level(logging.INFO, logger="hsls"):
        np.testing.assert_array_equal(smooth_signals(H, 3, random_state=0), drawn["dense"])
        monkeypatch.setattr("hsls.simulate.DENSE_VERTICES", 49)
        np.testing.assert_array_equal(smooth_signals(H, 3, random_state=0), drawn["sparse"])
        monkeypatch.setattr("hsls.simulate.SPARSE_VERTICES", 49)
        smooth_signals(H, 3, random_state=0)
    said = [record.getMessage() for record in caplog.records]
    assert [text.split()[1] for text in said] == ["dense", "sparse", "iterative"]
    assert all("50 nodes and hyperedges" in text for text in said)


def test_thousands_of_nodes_without_a_dense_matrix():
    # The dense method would need an eigendecomposition of 10,000 x 10,000.
    X = smooth_signals(random_hypergraph(5000, 5000, random_state=0), 20, random_state=0)
    assert X.shape == (5000, 20)
    assert 0.1 < X.std() < 1.5


def test_conjugate_gradients_that_do_not_converge_say_so(monkeypatch):
    monkeypatch.setattr(_star, "CG_ITERATIONS", 2)
    with pytest.raises(RuntimeError, match=r"did not converge in 2 iterations, .* use method='sparse'"):
        smooth_signals(random_hypergraph(40, 40, random_state=0), 3, method="iterative")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_observations": 0}, ValueError, "n_observations must be at least 1"),
        ({"noise": -1.0}, ValueError, "noise must be a finite number, 0 or more"),
        ({"method": "fast"}, ValueError, "method must be one of 'auto', 'dense', 'sparse', 'iterative'; got"),
        ({"random_state": 1.5}, TypeError, "random_state must be"),
        ({"H": [(0, 1)]}, TypeError, "H must be a Hypergraph, got list"),
    ],
)
def test_signals_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        smooth_signals(**({"H": several_components()} | arguments))
