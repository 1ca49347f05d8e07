"""Variations against their definition in three lines, whatever the norm, the weights and the missing values."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hsls.variation as room
from hsls import _threads
from hsls.candidates import all_candidates
from hsls.variation import VARIATIONS, Distances, Variation, of_candidates, of_members
from instances import candidate_sets, seeds

NORMS = {"square": (2.0, 2.0), "absolute": (1.0, 1.0)}
GENERAL = ["max-l3^2", "sum-l1.5", "mean-linf", "scaled-linf^0.5", "sum-l2", "max-l2^4", "mean-l1^3", "sum-l4^4"]


def oracle(X, edge, reduction, p, q):
    """reduce of ||x_i - x_j||_p^q over the pairs."""
    s = [np.linalg.norm(X[i] - X[j], ord=p) ** q for i, j in combinations(edge, 2)]
    return {"sum": sum(s), "max": max(s), "mean": np.mean(s), "scaled": sum(s) / len(edge)}[reduction]


def meaning(name):
    """reduction, p and q of a variation's name."""
    reduction, norm = name.split("-")
    if norm in NORMS:
        return reduction, *NORMS[norm]
    p, _, q = norm[1:].partition("^")
    return reduction, float(p), float(q or 1)


# -- the definition --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*VARIATIONS, *GENERAL])
@given(candidates=candidate_sets(most=8), seed=seeds(), n_observations=st.sampled_from([1, 3, 12]))
def test_every_variation_is_its_definition(name, candidates, seed, n_observations):
    X = np.random.default_rng(seed).standard_normal((candidates.n_nodes, n_observations))
    expected = [oracle(X, edge, *meaning(name)) for edge in candidates.edges]
    np.testing.assert_allclose(of_candidates(candidates, X, name), expected, rtol=1e-10)


@given(
    st.sampled_from(["sum", "max", "mean", "scaled"]),
    st.one_of(st.floats(1, 8), st.just(math.inf), st.integers(1, 4)),
    st.floats(0.2, 4),
    seeds(),
)
def test_any_p_and_q(reduction, p, q, seed):
    X = np.random.default_rng(seed).standard_normal((5, 4))
    members = np.array(list(combinations(range(5), 3)))
    expected = [oracle(X, edge, reduction, p, q) for edge in members]
    np.testing.assert_allclose(of_members(members, X, Variation(reduction, p, q)), expected, rtol=1e-9)
    name = f"{reduction}-l{p}^{q}"
    assert Variation.parse(name) == Variation(reduction, p, q) == Variation.parse(Variation(reduction, p, q))
    assert Variation(reduction, np.float32(3), np.float32(2)) == Variation(reduction, np.int64(3), 2)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, math.inf])
@given(seed=seeds(), n_observations=st.sampled_from([4, 11]))
def test_weights_of_observations_stand_inside_the_power_sum(p, seed, n_observations):
    """Weight 2 is the observation twice, weight 0 the observation left out; a maximum takes no notice of repeats."""
    rng = np.random.default_rng(seed)
    X, omega = rng.standard_normal((5, n_observations)), rng.integers(0, 3, n_observations)
    omega[0] = 1
    members = np.array(list(combinations(range(5), 3)))
    variation = Variation("sum", p, 1.7)
    weighted = of_members(members, X, variation, omega)
    np.testing.assert_allclose(weighted, of_members(members, np.repeat(X, omega, axis=1), variation), rtol=1e-9)


@given(seeds(), st.sampled_from(VARIATIONS))
def test_weights_of_one_change_nothing(seed, name):
    X = np.random.default_rng(seed).standard_normal((5, 9))
    candidates = all_candidates(5, (2, 3))
    np.testing.assert_allclose(of_candidates(candidates, X, name, np.ones(9)), of_candidates(candidates, X, name))


@pytest.mark.parametrize("name", [*VARIATIONS, *GENERAL])
def test_identical_rows_vary_by_nothing_and_order_means_nothing(name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 10))
    X[3:] = X[2]
    z = of_members(np.array([[2, 3, 4], [3, 4, 5], [0, 1, 2], [2, 0, 1], [1, 2, 0]]), X, name)
    assert z[0] == z[1] == 0
    assert z[2] > 0
    np.testing.assert_allclose(z[2:], z[2])
    constant = np.full((6, 10), 7.5)
    np.testing.assert_array_equal(of_candidates(all_candidates(6, (2, 4)), constant, name), 0.0)


@given(seeds(), st.floats(-1e3, 1e3), st.floats(0.1, 10.0), st.sampled_from(VARIATIONS))
def test_shifts_cancel_and_scales_come_out(seed, shift, scale, name):
    X = np.random.default_rng(seed).standard_normal((5, 9))
    members = np.array(list(combinations(range(5), 3)))
    q = Variation.parse(name).q
    expected = scale**q * of_members(members, X, name)
    np.testing.assert_allclose(of_members(members, scale * X + shift, name), expected, rtol=1e-8)


def test_on_pairs_all_reductions_agree_but_scaled():
    X = np.random.default_rng(0).standard_normal((6, 5))
    candidates = all_candidates(6, 2)
    expected = of_candidates(candidates, X, "sum-square")
    for reduction, factor in [("max", 1), ("mean", 1), ("scaled", 2)]:
        np.testing.assert_allclose(factor * of_candidates(candidates, X, f"{reduction}-square"), expected)


def test_integers_and_views_are_read_as_they_are():
    rng = np.random.default_rng(0)
    X = rng.integers(-5, 5, (9, 40))
    members = np.array(list(combinations(range(4), 3)))
    expected = of_members(members, X[::2, ::-2].astype(float).copy())
    np.testing.assert_array_equal(of_members(members, X[::2, ::-2]), expected)
    np.testing.assert_array_equal(of_members(members[::-1], np.asfortranarray(X[::2, ::-2])), expected[::-1])


@pytest.mark.parametrize("threads", [1, 3])
def test_any_split_into_pieces_gives_the_same(monkeypatch, threads):
    X = np.random.default_rng(0).standard_normal((30, 12))
    candidates = all_candidates(30, (2, 3))
    expected = of_candidates(candidates, X)
    monkeypatch.setattr(room, "_CANDIDATES_A_PIECE", 101)
    with _threads.limit(threads):
        np.testing.assert_array_equal(of_candidates(candidates, X), expected)


# -- missing values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*VARIATIONS, "sum-l3^2", "max-linf"])
@pytest.mark.parametrize("weighted", [False, True])
@given(seed=seeds(), n_observations=st.sampled_from([5, 14]))
def test_missing_values_are_left_out_and_the_power_sum_scaled_up(name, weighted, seed, n_observations):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((5, n_observations))
    X[rng.random(X.shape) < 0.25] = np.nan
    X[:, 0] = rng.standard_normal(5)
    omega = rng.uniform(0.5, 2, n_observations) if weighted else np.ones(n_observations)
    reduction, p, q = meaning(name)

    def distance(i, j):
        d, shared = np.abs(X[i] - X[j]), ~np.isnan(X[i] - X[j])
        if math.isinf(p):
            return d[shared].max() ** q
        return (np.sum(omega[shared] * d[shared] ** p) * omega.sum() / omega[shared].sum()) ** (q / p)

    for members in (np.array(list(combinations(range(5), 3))), np.array(list(combinations(range(5), 2)))):
        expected = []
        for edge in members:
            s = [distance(i, j) for i, j in combinations(edge, 2)]
            expected.append({"sum": sum(s), "max": max(s), "mean": np.mean(s), "scaled": sum(s) / len(edge)}[reduction])
        found = of_members(members, X, name, omega if weighted else None)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_missing_values_by_hand():
    nan = np.nan
    X = np.array([[1.0, 2.0, nan, 4.0], [3.0, nan, 5.0, 1.0], [1.0, 2.0, 3.0, 5.0]])
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    # Shared: columns 0 and 3, columns 0, 1 and 3, columns 0, 2 and 3.
    np.testing.assert_allclose(of_members(pairs, X, "sum-square"), [2 * (4 + 9), 4 / 3 * 1, 4 / 3 * (4 + 4 + 16)])
    np.testing.assert_allclose(of_members(pairs, X, "sum-absolute"), [2 * 5, 4 / 3, 4 / 3 * 8])
    np.testing.assert_allclose(of_members(pairs, X, "sum-linf"), [3, 1, 4])
    # With weights 1, 2, 3, 4: of 10 in all, 5, 7 and 8 are shared.
    expected = [2 * (4 + 4 * 9), 10 / 7 * 4 * 1, 10 / 8 * (4 + 3 * 4 + 4 * 16)]
    np.testing.assert_allclose(of_members(pairs, X, "sum-square", [1, 2, 3, 4]), expected)


@pytest.mark.parametrize("n_observations", [4, 20])
@pytest.mark.parametrize("k", [2, 3])
def test_two_nodes_without_a_shared_observation_are_named(n_observations, k):
    X = np.random.default_rng(0).standard_normal((6, n_observations))
    X[2, ::2], X[4, 1::2] = np.nan, np.nan
    with pytest.raises(ValueError, match="nodes 2 and 4 share no observation, so their distance is unknown"):
        of_candidates(all_candidates(6, k), X)
    # Not an error where no candidate holds both.
    members = np.array([e for e in combinations(range(6), k) if not {2, 4} <= set(e)])
    assert np.all(np.isfinite(of_members(members, X)))


def test_an_observation_of_weight_zero_is_not_shared():
    X = np.array([[1.0, np.nan, 3.0], [np.nan, 2.0, 1.0]])
    assert of_members(np.array([[0, 1]]), X, "sum-square")[0] == pytest.approx(3 * 4)
    with pytest.raises(ValueError, match="nodes 0 and 1 share no observation"):
        of_members(np.array([[0, 1]]), X, "sum-square", [1, 1, 0])


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["max", "square", "max-cube", "max_square", "MAX-SQUARE", "max-l", "max-l2^", "least-l2", "", 3, None, "max-l-2"],
)
def test_an_unknown_variation_lists_the_known(name):
    with pytest.raises(ValueError, match=r"variation must be one of sum-square, .* or '<sum") as error:
        Variation.parse(name)
    assert all(known in str(error.value) for known in VARIATIONS)
    assert repr(name) in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("max-l0.5", "variation 'max-l0.5': p must be a number of at least 1"),
        ("max-l2^0", "variation 'max-l2\\^0': q must be a finite number above 0"),
        ("max-l1.2.3", "variation 'max-l1.2.3': could not convert"),
    ],
)
def test_a_norm_that_is_none_is_refused(name, message):
    with pytest.raises(ValueError, match=message):
        Variation.parse(name)


@pytest.mark.parametrize(
    "options", [{"p": math.nan}, {"p": 0.9}, {"p": "2"}, {"q": -1.0}, {"q": math.inf}, {"reduction": "least"}]
)
def test_parts_of_a_variation_are_checked(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        Variation(**options)


@pytest.mark.parametrize(
    ("omega", "message"),
    [
        (np.ones(3), "observation_weights must hold one number for each of the 4 observations, got shape \\(3,\\)"),
        ([1, 1, 1, -1], "observation_weights must be finite, 0 or more, and not all 0"),
        ([1, 1, 1, np.nan], "observation_weights must be finite"),
        (np.zeros(4), "observation_weights must be finite, 0 or more, and not all 0"),
    ],
)
def test_weights_that_cannot_be_are_refused(omega, message):
    with pytest.raises(ValueError, match=message):
        Distances(np.ones((2, 4)), Variation(), omega)


def test_a_variation_that_overflows_is_said():
    X = 1e50 * np.random.default_rng(0).standard_normal((4, 3))
    with pytest.raises(ValueError, match=r"the variation 'sum-l8\^8' of the signals overflows; divide the signals"):
        of_candidates(all_candidates(4, 2), X, "sum-l8^8")
