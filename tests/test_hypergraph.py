"""The hypergraph as a value: one canonical order, what is kept, what is refused."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hsls import Hypergraph
from hsls.components import connected_components

FEW = st.integers(1, 9)


@st.composite
def hypergraphs(draw: st.DrawFn, least_edges: int = 0) -> tuple[int, list[tuple[int, ...]], list[float]]:
    """Number of nodes, different hyperedges in arbitrary order, weights (some 0)."""
    n = draw(FEW)
    edges = draw(
        st.lists(
            st.frozensets(st.integers(0, n - 1), min_size=1, max_size=n),
            min_size=least_edges,
            max_size=8,
            unique=True,
        )
    )
    orders = [tuple(draw(st.permutations(sorted(edge)))) for edge in edges]
    weights = draw(st.lists(st.floats(0, 100), min_size=len(edges), max_size=len(edges)))
    return n, orders, weights


def dense_incidence(H: Hypergraph) -> np.ndarray:
    return np.array([[float(i in edge) for edge in H.edges] for i in range(H.n_nodes)]).reshape(H.n_nodes, H.n_edges)


def example() -> Hypergraph:
    return Hypergraph.from_edges([(2, 0), (3, 1, 0), (0, 1)], weights=[3.0, 1.0, 2.0], nodes=6)


# -- one canonical order -------------------------------------------------------------------------------


@given(hypergraphs(), st.randoms())
def test_order_of_hyperedges_and_of_their_nodes_means_nothing(drawn, random):
    n, edges, weights = drawn
    H = Hypergraph.from_edges(edges, weights, n)
    pairs = [(random.sample(edge, len(edge)), weight) for edge, weight in zip(edges, weights, strict=True)]
    random.shuffle(pairs)
    other = Hypergraph.from_edges([edge for edge, _ in pairs], [weight for _, weight in pairs], n)
    assert other == H
    assert hash(H) == hash(other)
    assert len({H, other}) == 1


@given(hypergraphs())
def test_canonical_order_is_by_cardinality_then_lexicographic(drawn):
    n, edges, weights = drawn
    H = Hypergraph.from_edges(edges, weights, n)
    expected = sorted((len(edge), tuple(sorted(edge)), weight) for edge, weight in zip(edges, weights, strict=True))
    assert list(zip(H.cardinalities, H.edges, H.weights, strict=True)) == expected


def test_canonical_order_holds_where_rows_need_several_sort_keys():
    # 25 of a million nodes fill nine 62-bit keys; the rows differ in the last place only.
    rows = np.tile(np.arange(25) * 30_000, (3, 1))
    rows[:, -1] = [999_999, 999_997, 999_998]
    H = Hypergraph.from_members([rows], [1.0, 2.0, 3.0], 1_000_000)
    assert H.members()[25][:, -1].tolist() == [999_997, 999_998, 999_999]
    assert H.weights.tolist() == [2.0, 3.0, 1.0]
    with pytest.raises(ValueError, match="hold the same nodes"):
        Hypergraph.from_members([np.vstack([rows, rows[1]])], None, 1_000_000)


def test_equality_looks_at_names_hyperedges_and_weights():
    H = Hypergraph.from_edges([(0, 1)], [1.0], ["a", "b", "c"])
    assert Hypergraph.from_edges([("b", "a")], [1.0], ["a", "b", "c"]) == H
    assert Hypergraph.from_edges([(0, 1)], [1.0], ["a", "b", "d"]) != H
    assert Hypergraph.from_edges([(0, 2)], [1.0], ["a", "b", "c"]) != H
    assert Hypergraph.from_edges([(0, 1)], [2.0], ["a", "b", "c"]) != H
    assert Hypergraph.from_edges([(0, 1)], [1.0], ["a", "b"]) != H
    assert H != "a hypergraph"


def test_weight_minus_zero_is_weight_zero_also_in_the_hash():
    minus, plus = (Hypergraph.from_edges([(0, 1)], [zero]) for zero in (-0.0, 0.0))
    assert minus == plus
    assert hash(minus) == hash(plus)


# -- building and reading ------------------------------------------------------------------------------


@given(hypergraphs())
def test_round_trips_through_edges_incidence_and_members(drawn):
    n, edges, weights = drawn
    H = Hypergraph.from_edges(edges, weights, n)
    assert Hypergraph.from_edges(H.edges, H.weights, n) == H
    assert Hypergraph.from_edges(H.named_edges, H.weights, H.nodes) == H
    assert Hypergraph.from_incidence(H.incidence(), H.weights) == H
    assert Hypergraph.from_incidence(H.incidence().toarray(), H.weights) == H
    assert Hypergraph.from_members(H.members().values(), H.weights, n) == H
    assert Hypergraph(H.nodes, H.indptr, H.indices, H.weights) == H


@given(hypergraphs())
def test_degrees_are_row_sums_and_cardinalities_column_sums(drawn):
    n, edges, weights = drawn
    H = Hypergraph.from_edges(edges, weights, n)
    incidence = dense_incidence(H)
    assert H.degrees().shape == (n,)
    np.testing.assert_allclose(H.degrees(), incidence @ H.weights)
    np.testing.assert_array_equal(H.degrees(weighted=False), incidence.sum(axis=1))
    np.testing.assert_array_equal(H.cardinalities, incidence.sum(axis=0))
    np.testing.assert_array_equal(H.incidence().toarray(), incidence)


def test_isolated_nodes_stay():
    H = Hypergraph.from_edges([("a", "b")], nodes=["z", "a", "b", "y"])
    assert H.nodes == ("z", "a", "b", "y")
    assert H.edges == [(1, 2)]
    assert H.degrees().tolist() == [0, 1, 1, 0]
    assert H.threshold(2).nodes == H.nodes
    assert Hypergraph.from_incidence(np.array([[0.0], [1.0], [2.0]])).edges == [(1, 2)]


def test_nodes_by_default_are_those_mentioned():
    assert Hypergraph.from_edges([(0, 4)]).nodes == ("0", "1", "2", "3", "4")
    assert Hypergraph.from_edges([("b", "a"), ("a", "c")]).nodes == ("b", "a", "c")
    assert Hypergraph.from_edges([]).nodes == ()
    assert Hypergraph.from_edges([np.array([1, 2], dtype=np.uint8)]).edges == [(1, 2)]


def test_positions_and_names_may_be_mixed_where_nodes_are_given():
    assert Hypergraph.from_edges([(0, "c"), ("b", 2)], nodes=["a", "b", "c"]).edges == [(0, 2), (1, 2)]


def test_merge_adds_the_weights_of_repeated_hyperedges():
    H = Hypergraph.from_edges([(1, 0), (0, 1, 2), (0, 1), (2, 1)], [1.0, 5.0, 2.0, 4.0], merge=True)
    assert Hypergraph.from_edges([(0, 1), (1, 2), (0, 1, 2)], [3.0, 4.0, 5.0]) == H


def test_from_incidence_leaves_a_sparse_input_alone():
    matrix = sparse.csc_array((np.array([1.0, 0.0, 1.0]), np.array([2, 0, 1]), np.array([0, 3])), shape=(3, 1))
    before = matrix.data.copy(), matrix.indices.copy()
    assert Hypergraph.from_incidence(matrix).edges == [(1, 2)]
    np.testing.assert_array_equal(matrix.data, before[0])
    np.testing.assert_array_equal(matrix.indices, before[1])


def test_members_has_one_block_for_each_cardinality():
    members = example().members()
    assert list(members) == [2, 3]
    assert members[2].tolist() == [[0, 1], [0, 2]]
    assert members[3].tolist() == [[0, 1, 3]]
    assert Hypergraph.from_edges([], nodes=3).members() == {}


def test_length_and_text():
    assert len(example()) == 3
    assert repr(example()) == "Hypergraph(6 nodes, 3 hyperedges: 2 of 2 nodes, 1 of 3 nodes)"
    assert repr(Hypergraph.from_edges([], nodes=2)) == "Hypergraph(2 nodes, 0 hyperedges)"


# -- matrices ------------------------------------------------------------------------------------------


@given(hypergraphs(), st.integers(0, 2**32 - 1))
def test_clique_laplacian_is_the_sum_over_pairs(drawn, seed):
    n, edges, weights = drawn
    H = Hypergraph.from_edges(edges, weights, n)
    x = np.random.default_rng(seed).standard_normal(n)
    energy = sum(
        w * sum((x[i] - x[j]) ** 2 for i, j in combinations(edge, 2))
        for edge, w in zip(H.edges, H.weights, strict=True)
    )
    np.testing.assert_allclose(x @ (H.clique_laplacian() @ x), energy, rtol=1e-9, atol=1e-9)


@given(hypergraphs(), st.integers(0, 2**32 - 1))
def test_star_laplacian_is_the_sum_over_memberships(drawn, seed):
    n, edges, weights = drawn
    H = Hypergraph.from_edges(edges, weights, n)
    x = np.random.default_rng(seed).standard_normal(n + H.n_edges)
    energy = sum(
        w * sum((x[i] - x[n + number]) ** 2 for i in edge)
        for number, (edge, w) in enumerate(zip(H.edges, H.weights, strict=True))
    )
    np.testing.assert_allclose(x @ (H.star_laplacian() @ x), energy, rtol=1e-9, atol=1e-9)
    incidence = dense_incidence(H) * H.weights
    blocks = [
        [np.diag(incidence.sum(axis=1)), -incidence],
        [-incidence.T, np.diag(incidence.sum(axis=0))],
    ]
    np.testing.assert_allclose(H.star_laplacian().toarray(), np.block(blocks))


@given(hypergraphs())
def test_laplacians_are_symmetric_semidefinite_with_rows_adding_to_zero(drawn):
    n, edges, weights = drawn
    H = Hypergraph.from_edges(edges, weights, n)
    for L in (H.star_laplacian().toarray(), H.clique_laplacian().toarray()):
        scale = 1 + np.abs(L).max()
        np.testing.assert_array_equal(L, L.T)
        np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-12 * scale)
        assert np.linalg.eigvalsh(L).min() > -1e-10 * scale


@given(hypergraphs())
def test_normalised_laplacian(drawn):
    n, edges, weights = drawn
    H = Hypergraph.from_edges(edges, weights, n)
    L, degree = H.laplacian().toarray(), H.degrees()
    half = np.diag(np.divide(1, np.sqrt(degree), out=np.zeros(n), where=degree > 0)) @ dense_incidence(H)
    theta = half @ np.diag(H.weights / H.cardinalities) @ half.T
    np.testing.assert_allclose(L, np.diag((degree > 0).astype(float)) - theta, atol=1e-12)
    eigenvalues = np.linalg.eigvalsh(L)
    assert eigenvalues.min() > -1e-10
    assert eigenvalues.max() < 1 + 1e-10
    np.testing.assert_allclose(L @ np.sqrt(degree), 0, atol=1e-10 * (1 + degree.max()))


def test_clique_adjacency_stores_no_zeros():
    adjacency = example().clique_adjacency()
    assert adjacency.nnz == np.count_nonzero(adjacency.toarray())
    np.testing.assert_array_equal(adjacency.toarray()[0], [0, 3, 3, 1, 0, 0])


@pytest.mark.parametrize("n_nodes", [0, 3])
def test_matrices_of_no_hyperedges(n_nodes):
    H = Hypergraph.from_edges([], nodes=n_nodes)
    for matrix in (H.star_laplacian(), H.star_adjacency(), H.clique_laplacian(), H.laplacian()):
        assert matrix.shape == (n_nodes, n_nodes)
        assert not matrix.toarray().any()
    assert H.incidence().shape == (n_nodes, 0)


# -- selecting -----------------------------------------------------------------------------------------


@given(hypergraphs(), st.floats(0, 100), st.integers(0, 10))
def test_threshold_top_and_binary(drawn, t, m):
    n, edges, weights = drawn
    H = Hypergraph.from_edges(edges, weights, n)
    pairs = list(zip(H.edges, H.weights.tolist(), strict=True))

    def built(chosen):
        return Hypergraph.from_edges([edge for edge, _ in chosen], [w for _, w in chosen], n)

    assert H.threshold(t) == built([pair for pair in pairs if pair[1] >= t])
    assert H.top(m) == built(sorted(pairs, key=lambda pair: -pair[1])[:m])
    assert H.binary() == built([(edge, 1.0) for edge, _ in pairs])
    assert H.select(np.ones(H.n_edges, dtype=bool)) == H


def test_ties_in_top_go_to_the_first():
    H = Hypergraph.from_edges([(0, 2), (1, 2), (0, 1)], [1.0, 1.0, 1.0])
    assert H.top(2).edges == [(0, 1), (0, 2)]


@pytest.mark.parametrize("keep", [[1, 0, 1], [True, False], np.ones((3, 1), dtype=bool)])
def test_select_refuses_what_is_no_mask(keep):
    with pytest.raises(ValueError, match="keep must be a boolean mask of length 3"):
        example().select(keep)


# -- frozen --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made", [example(), example().top(2), example().binary(), pickle.loads(pickle.dumps(example()))], ids=str
)
def test_nothing_in_it_can_be_changed(made):
    for name in ("indptr", "indices", "weights"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(made, name)[0] = 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, name, np.zeros(1))
    with pytest.raises(ValueError, match="read-only"):
        made.members()[2][0, 0] = 1
    edges = made.edges
    made.edges.append((9, 9))
    assert made.edges == edges


def test_arrays_given_are_copied():
    indptr, indices, weights = np.array([0, 2]), np.array([0, 1]), np.array([1.0])
    H = Hypergraph(["a", "b"], indptr, indices, weights)
    indptr[1], indices[0], weights[0] = 7, 7, 7
    assert Hypergraph.from_edges([(0, 1)], nodes=["a", "b"]) == H


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda H: pickle.loads(pickle.dumps(H))])
def test_copies_and_pickles_are_equal_and_frozen(again):
    H = example()
    assert H.edges  # the list of tuples is kept, and must not travel
    other = again(H)
    assert other == H
    assert hash(other) == hash(H)
    assert other.edges == H.edges
    assert not other.weights.flags.writeable


# -- what is refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: Hypergraph("ab", [0], [], []), TypeError, "nodes must be a list of node names, got 'ab'"),
        (lambda: Hypergraph(["a", "a"], [0], [], []), ValueError, "'a' stands more than once"),
        (lambda: Hypergraph(["a"], [], [], []), ValueError, "indptr must start at 0"),
        (lambda: Hypergraph(["a"], [1], [], []), ValueError, "indptr must start at 0"),
        (lambda: Hypergraph(["a"], [0, 2], [0], [1]), ValueError, "end at the length of indices"),
        (lambda: Hypergraph(["a"], [0, 1], [0.5], [1]), TypeError, "indices must hold whole numbers"),
        (lambda: Hypergraph(["a"], [0.0, 1.0], [0], [1]), TypeError, "indptr must hold whole numbers"),
        (lambda: Hypergraph(["a"], [0, 1], [[0]], [1]), ValueError, "indices must be a flat array"),
        (lambda: Hypergraph(["a", "b"], [0, 1, 1, 2], [0, 1], [1, 1, 1]), ValueError, "hyperedge 1 holds no"),
        (lambda: Hypergraph.from_edges([(0, 1), ()]), ValueError, "hyperedge 1 holds no node"),
        (
            lambda: Hypergraph.from_edges([(0, 1), (1, 1)]),
            ValueError,
            "hyperedge 1 holds a node more than once",
        ),
        (
            lambda: Hypergraph.from_edges([(0, 1, 2), (1, 0), (0, 1)]),
            ValueError,
            r"hyperedges 1 and 2 hold the same nodes \(0, 1\); drop one, or .*merge=True",
        ),
        (
            lambda: Hypergraph.from_edges([(0, 1), (0, 3)], nodes=3),
            ValueError,
            "hyperedge 1 holds node 3, but po",
        ),
        (lambda: Hypergraph.from_edges([(0, -1)], nodes=3), ValueError, "holds node -1, .* run from 0 to 2"),
        (lambda: Hypergraph.from_edges([(0,)], nodes=0), ValueError, "holds node 0, but there are no nodes"),
        (lambda: Hypergraph.from_edges([(0, 2**70)], nodes=3), ValueError, "a position outside 0 to 2"),
        (
            lambda: Hypergraph.from_edges([(0, 10**12)]),
            ValueError,
            "which would make as many nodes; give `no",
        ),
        (
            lambda: Hypergraph.from_edges([("a",), ("b", "x")], nodes=["a", "b"]),
            ValueError,
            "hyperedge 1 holds 'x', which is not among the node names",
        ),
        (lambda: Hypergraph.from_edges([("a", 1)]), TypeError, "mix node names with node positions"),
        (
            lambda: Hypergraph.from_edges(["ab"]),
            TypeError,
            "hyperedge 0 is 'ab'; every hyperedge must be a list",
        ),
        (
            lambda: Hypergraph.from_edges([(0, 1), 2]),
            TypeError,
            "hyperedge 1 is 2; every hyperedge must be a list",
        ),
        (lambda: Hypergraph.from_edges([(0,)], nodes=-1), ValueError, "nodes must be at least 0"),
        (lambda: Hypergraph.from_edges([(0,)], nodes=True), TypeError, "nodes must be a whole number"),
        (
            lambda: Hypergraph.from_edges([(0, 1)], [1.0, 2.0]),
            ValueError,
            "for each of the 1 hyperedges, got 2",
        ),
        (lambda: Hypergraph.from_edges([(0, 1)], [[1.0]]), ValueError, r"got an array of shape \(1, 1\)"),
        (lambda: Hypergraph.from_edges([(0, 1)], ["heavy"]), TypeError, "weights must be numbers"),
        (lambda: Hypergraph.from_edges([(0, 1)], 1.0), TypeError, "weights must be numbers"),
        (lambda: Hypergraph.from_edges([(0,), (1,)], [1.0, -1.0]), ValueError, "hyperedge 1 has weight -1.0"),
        (
            lambda: Hypergraph.from_edges([(0,), (1,)], [1.0, np.nan]),
            ValueError,
            "hyperedge 1 has weight nan",
        ),
        (
            lambda: Hypergraph.from_edges([(0,), (1,)], [np.inf, 0.0]),
            ValueError,
            "hyperedge 0 has weight inf",
        ),
        (
            lambda: Hypergraph.from_incidence(np.eye(2), nodes=["a"]),
            ValueError,
            "each of the 2 nodes, got 1 names",
        ),
        (lambda: Hypergraph.from_incidence([1.0, 0.0]), ValueError, "must be a matrix, .* got 1 dimensions"),
        (lambda: Hypergraph.from_incidence([[np.nan], [1.0]]), ValueError, "incidence holds NaN"),
        (lambda: Hypergraph.from_incidence(np.zeros((3, 1))), ValueError, "hyperedge 0 holds no node"),
        (
            lambda: Hypergraph.from_members([[0, 1]], None, 2),
            ValueError,
            r"must be of shape \(n_edges_k, k\)",
        ),
        (
            lambda: Hypergraph.from_members([[[0.5, 1]]], None, 2),
            TypeError,
            "members must hold whole numbers",
        ),
        (lambda: example().top(-1), ValueError, "m must be at least 0"),
        (lambda: example().top(1.5), TypeError, "m must be a whole number"),
        (lambda: example().threshold(np.nan), ValueError, "t must be a finite number"),
    ],
)
def test_bad_input_gets_one_clear_sentence(build, error, message):
    with pytest.raises(error, match=message):
        build()


# -- frequencies -----------------------------------------------------------------------------------------


@given(hypergraphs(), st.data())
def test_frequencies_stay_with_their_hyperedges(drawn, data):
    n, edges, weights = drawn
    H = Hypergraph.from_edges(edges, weights, nodes=n)
    count = st.lists(st.floats(0.0, 1.0), min_size=H.n_edges, max_size=H.n_edges)
    G = H.with_frequencies(data.draw(count))
    of = dict(zip(G.edges, G.frequencies.tolist(), strict=True))
    order = data.draw(st.permutations(range(H.n_edges)))
    flat = [G.indices[G.indptr[e] : G.indptr[e + 1]] for e in order]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in flat])]).astype(int)
    indices = np.concatenate([np.zeros(0, int), *flat])
    assert Hypergraph(G.nodes, indptr, indices, G.weights[order], G.frequencies[order]) == G
    parts = [G.top(2), G.threshold(float(np.median([0.0, *G.weights]))), G.frequent(0.5), G.binary()]
    parts += connected_components(H.with_frequencies(G.frequencies))
    for part in parts[:4]:
        assert part.frequencies.tolist() == [of[edge] for edge in part.edges]
    named = dict(zip(G.named_edges, G.frequencies.tolist(), strict=True))
    for part in parts[4:]:
        assert part.frequencies.tolist() == [named[edge] for edge in part.named_edges]
    assert G.frequent(0.5).edges == [edge for edge in G.edges if of[edge] >= 0.5]
    assert pickle.loads(pickle.dumps(G)) == copy.copy(G) == G
    assert not G.frequencies.flags.writeable


def test_frequencies_are_part_of_the_value():
    H = Hypergraph.from_edges([(0, 1), (1, 2)])
    G = H.with_frequencies([0.5, 1.0])
    assert H != G != H.with_frequencies([0.5, 0.9])
    assert H.with_frequencies(np.array([0.5, 1.0])) == G
    assert hash(G) == hash(H.with_frequencies([0.5, 1.0])) != hash(H)
    assert G.with_frequencies(None) == H


@pytest.mark.parametrize(
    ("frequencies", "message"),
    [
        ([0.5], r"one number for each of the 2 hyperedges, got \(1,\)"),
        ([0.5, -0.1], r"hyperedge 1 has frequency -0.1; frequencies must be from 0 to 1"),
        ([np.nan, 0.1], r"hyperedge 0 has frequency nan"),
        (["a", "b"], r"frequencies must be numbers"),
    ],
)
def test_wrong_frequencies(frequencies, message):
    H = Hypergraph.from_edges([(0, 1), (1, 2)])
    with pytest.raises((TypeError, ValueError), match=message):
        H.with_frequencies(frequencies)
    with pytest.raises((TypeError, ValueError), match=message):
        Hypergraph(H.nodes, H.indptr, H.indices, H.weights, frequencies)


def test_without_frequencies_none_are_frequent():
    with pytest.raises(ValueError, match=r"has no frequencies; hsls.stability finds them"):
        Hypergraph.from_edges([(0, 1)]).frequent(0.5)
