"""Scores against counting by hand and brute force; total variation against three lines of numpy."""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsls import Hypergraph, compare, random_hypergraph, total_variation
from hsls.metrics import edge_variations, precision_recall_f1

N = 6


@st.composite
def sets_of_edges(draw: st.DrawFn, most: int = 5) -> list[tuple[int, ...]]:
    edge = st.frozensets(st.integers(0, N - 1), min_size=1, max_size=N)
    return [tuple(sorted(e)) for e in draw(st.lists(edge, max_size=most, unique=True))]


def jaccard(a, b) -> float:
    return len(set(a) & set(b)) / len(set(a) | set(b))


def best_pairing(found, truth) -> float:
    few, many = sorted((found, truth), key=len)
    return max(
        math.fsum(jaccard(a, b) for a, b in zip(few, chosen, strict=True)) for chosen in permutations(many, len(few))
    )


def built(edges, n: int = N) -> Hypergraph:
    return Hypergraph.from_edges(edges, nodes=n)


# -- compare -------------------------------------------------------------------------------------------


@given(sets_of_edges(), sets_of_edges())
def test_exact_scores_count_common_hyperedges(found, truth):
    result = compare(built(found), built(truth))
    common = len(set(found) & set(truth))
    assert result.true_positives == common
    assert result.false_positives == len(found) - common
    assert result.false_negatives == len(truth) - common
    if found and truth:
        assert result.precision == common / len(found)
        assert result.recall == common / len(truth)
        assert result.f1 == pytest.approx(2 * common / (len(found) + len(truth)))
    assert precision_recall_f1(built(found), built(truth)) == (result.precision, result.recall, result.f1)


@given(sets_of_edges(), sets_of_edges())
def test_overlap_scores_are_the_best_pairing_of_all(found, truth):
    # Brute force knows nothing of exact matches first, so this also checks that they lose nothing.
    result = compare(built(found), built(truth))
    if found and truth:
        matched = best_pairing(found, truth)
        assert result.overlap_precision == pytest.approx(matched / len(found))
        assert result.overlap_recall == pytest.approx(matched / len(truth))
        assert result.overlap_f1 == pytest.approx(2 * matched / (len(found) + len(truth)))


@given(sets_of_edges(), sets_of_edges(), sets_of_edges())
def test_jaccard_distance_obeys_the_triangle_inequality(first, second, third):
    # What pairing exact matches first rests on.
    for a, b, c in zip(first, second, third, strict=False):
        assert 1 - jaccard(a, c) <= (1 - jaccard(a, b)) + (1 - jaccard(b, c)) + 1e-12


@given(sets_of_edges(), sets_of_edges())
def test_soft_scores_are_never_below_the_exact_ones_and_at_most_1(found, truth):
    result = compare(built(found), built(truth))
    assert result.precision <= result.overlap_precision + 1e-12 <= 1 + 2e-12
    assert result.recall <= result.overlap_recall + 1e-12 <= 1 + 2e-12
    assert result.f1 <= result.overlap_f1 + 1e-12 <= 1 + 2e-12


@given(sets_of_edges(), sets_of_edges())
def test_exchanging_found_and_truth_exchanges_precision_and_recall(found, truth):
    there, back = compare(built(found), built(truth)), compare(built(truth), built(found))
    assert (there.precision, there.recall) == (back.recall, back.precision)
    assert there.overlap_precision == pytest.approx(back.overlap_recall)
    assert there.overlap_recall == pytest.approx(back.overlap_precision)
    assert there.overlap_f1 == pytest.approx(back.overlap_f1)


@given(sets_of_edges(), sets_of_edges())
def test_cardinalities_add_up(found, truth):
    result = compare(built(found), built(truth))
    total = np.sum([(0, 0, 0), *result.by_cardinality.values()], axis=0)
    assert total.tolist() == [result.true_positives, result.false_positives, result.false_negatives]
    for k, (right, wrong, missed) in result.by_cardinality.items():
        assert right + wrong == sum(len(edge) == k for edge in found)
        assert right + missed == sum(len(edge) == k for edge in truth)


@pytest.mark.parametrize("seed", [0, 1])
def test_large_comparisons_agree_with_a_dense_assignment(seed):
    from scipy.optimize import linear_sum_assignment

    truth = random_hypergraph(60, 90, (2, 3, 4), random_state=seed)
    found = random_hypergraph(60, 120, (2, 3, 4), random_state=seed + 10)
    found = Hypergraph.from_edges(dict.fromkeys([*found.edges, *truth.edges[::3]]), nodes=60)
    similarity = np.array([[jaccard(a, b) for b in truth.edges] for a in found.edges])
    matched = similarity[linear_sum_assignment(similarity, maximize=True)].sum()
    result = compare(found, truth)
    assert result.true_positives >= 30
    assert result.overlap_recall == pytest.approx(matched / truth.n_edges)
    assert result.overlap_precision == pytest.approx(matched / found.n_edges)


def test_tens_of_thousands_of_hyperedges_with_known_answer():
    # Every true triple is found with one node too many; apart from these pairs nothing overlaps.
    triples = np.arange(80_000).reshape(20_000, 4)
    found = Hypergraph.from_members([triples], None, 80_000)
    truth = Hypergraph.from_members([triples[:, :3]], None, 80_000)
    result = compare(found, truth)
    assert result.f1 == 0.0
    assert result.overlap_f1 == pytest.approx(0.75)


def test_nothing_found_or_nothing_to_find():
    nothing, something = built([]), built([(0, 1), (1, 2)])
    for result in (compare(nothing, something), compare(something, nothing)):
        scores = dataclasses.astuple(result)
        assert scores[:4] == (0.0, 0.0, 0.0, 0)
        assert scores[6:9] == (0.0, 0.0, 0.0)
    assert compare(nothing, something).false_negatives == 2
    assert compare(something, nothing).false_positives == 2
    result = compare(nothing, nothing)
    assert (result.precision, result.recall, result.f1) == (1.0, 1.0, 1.0)
    assert (result.overlap_precision, result.overlap_recall, result.overlap_f1) == (1.0, 1.0, 1.0)


def test_weights_play_no_part():
    edges = [(0, 1), (1, 2, 3)]
    heavy = Hypergraph.from_edges(edges, [5.0, 0.0], N)
    assert compare(heavy, built(edges)).f1 == 1.0


def test_nodes_are_matched_by_name():
    truth = Hypergraph.from_edges([("a", "b"), ("b", "c", "d")], nodes=["a", "b", "c", "d"])
    found = Hypergraph.from_edges([("a", "b"), ("b", "c", "d")], nodes=["d", "c", "b", "a"])
    assert compare(found, truth).f1 == 1.0
    assert precision_recall_f1(found, truth) == (1.0, 1.0, 1.0)


def test_a_comparison_is_a_value():
    result, again = (compare(built([(0, 1)]), built([(0, 1), (2, 3)])) for _ in range(2))
    assert result == again
    assert hash(result) == hash(again)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.f1 = 1.0


@pytest.mark.parametrize("score", [compare, precision_recall_f1])
def test_what_cannot_be_compared(score):
    truth = Hypergraph.from_edges([("a", "b")], nodes=["a", "b", "c"])
    with pytest.raises(ValueError, match="found has 2 nodes but truth has 3; give both the same nodes"):
        score(Hypergraph.from_edges([("a", "b")]), truth)
    with pytest.raises(ValueError, match="found has a node 'd' that truth has not"):
        score(Hypergraph.from_edges([("a", "b")], nodes=["a", "b", "d"]), truth)
    with pytest.raises(TypeError, match="found must be a Hypergraph, got list"):
        score([(0, 1)], truth)
    with pytest.raises(TypeError, match="truth must be a Hypergraph, got NoneType"):
        score(truth, None)


# -- total variation -----------------------------------------------------------------------------------

REDUCE = {
    "sum": lambda s, k: sum(s),
    "max": lambda s, k: max(s),
    "mean": lambda s, k: sum(s) / len(s),
    "scaled": lambda s, k: sum(s) / k,
}


def oracle(edge, X, variation) -> float:
    reduction, distance = variation.split("-")
    power = {"square": 2, "absolute": 1}[distance]
    pairs = [float((np.abs(X[i] - X[j]) ** power).sum()) for i, j in combinations(edge, 2)]
    return REDUCE[reduction](pairs, len(edge)) if pairs else 0.0


@pytest.mark.parametrize("variation", [f"{r}-{d}" for r in REDUCE for d in ("square", "absolute")])
def test_variations_against_the_definition(variation):
    H = Hypergraph.from_edges([(0, 4), (1, 2, 3), (0, 1, 2, 5), (3,), (2, 4)], [1.0, 0.5, 3.0, 2.0, 0.0], N)
    X = np.random.default_rng(0).standard_normal((N, 7))
    expected = [oracle(edge, X, variation) for edge in H.edges]
    np.testing.assert_allclose(edge_variations(H, X, variation), expected)
    assert total_variation(H, X, variation) == pytest.approx(float(H.weights @ expected))


def test_sum_square_is_the_quadratic_form_of_the_clique_laplacian():
    H = random_hypergraph(30, 40, (2, 3, 4), weights=(0.0, 2.0), random_state=0)
    X = np.random.default_rng(1).standard_normal((30, 9))
    expected = np.trace(X.T @ (H.clique_laplacian() @ X))
    assert total_variation(H, X, "sum-square") == pytest.approx(expected)


def test_max_square_is_the_default_and_a_flat_array_one_observation():
    H = built([(0, 1), (1, 2, 3)])
    x = np.array([0.0, 1.0, 3.0, 4.0, 9.0, 9.0])
    assert edge_variations(H, x).tolist() == [1.0, 9.0]
    assert total_variation(H, x.tolist()) == 10.0


def test_constant_signals_and_no_hyperedges_vary_nothing():
    assert total_variation(built([(0, 1), (1, 2, 3)]), np.ones((N, 4))) == 0.0
    assert total_variation(built([]), np.ones((N, 4))) == 0.0
    assert edge_variations(built([]), np.ones((N, 4))).shape == (0,)


@pytest.mark.parametrize(
    ("X", "variation", "error", "message"),
    [
        (
            np.ones((5, 2)),
            "max-square",
            ValueError,
            r"one row for each of the 6 nodes, got an array of shape \(5, 2",
        ),
        (np.ones((6, 2, 2)), "max-square", ValueError, r"got an array of shape \(6, 2, 2\)"),
        ([["x"]] * 6, "max-square", TypeError, "X must hold numbers"),
        (np.full((6, 2), np.inf), "max-square", ValueError, "X holds an infinite value"),
        (np.ones((6, 2)), "min-square", ValueError, "variation must be one of .*max-square"),
    ],
)
def test_signals_that_do_not_fit(X, variation, error, message):
    for edges in ([], [(0, 1)]):
        with pytest.raises(error, match=message):
            total_variation(built(edges), X, variation)
