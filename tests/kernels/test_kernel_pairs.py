"""Pair distances, with and without missing values, and the table that remembers them."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsls._kernels import pairs
from instances import seeds

KINDS = {pairs.SQUARE: 2.0, pairs.ABSOLUTE: 1.0, pairs.POWER: 3.5, pairs.LARGEST: math.inf}
NONE_MISSING = np.empty(0)


def power_sum(difference, kind):
    d = np.abs(difference)
    return d.max(initial=0.0) if kind == pairs.LARGEST else np.sum(d ** KINDS[kind])


def reduced(X, members, kind=pairs.SQUARE, power=1.0, reduction=pairs.MAX, factor=1.0):
    out = np.empty(len(members))
    positions = np.ascontiguousarray(members, np.int32).view(np.uint32)
    assert pairs.reduce_members(positions, X, NONE_MISSING, kind, KINDS[kind], power, reduction, factor, out,
                                0, len(out)) == -1  # fmt: skip
    return out


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds(), length=st.integers(1, 20))
def test_a_distance_is_a_power_sum_of_differences(kind, seed, length):
    X = np.random.default_rng(seed).standard_normal((2, length))
    assert pairs.distance(X, 0, 1, kind, KINDS[kind]) == pytest.approx(power_sum(X[0] - X[1], kind))


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds(), length=st.integers(1, 12))
def test_missing_values_are_left_out_and_the_sum_scaled_up(kind, seed, length):
    rng = np.random.default_rng(seed)
    X, omega = rng.standard_normal((2, length)), rng.uniform(0.5, 2, length)
    X[rng.random((2, length)) < 0.4] = np.nan
    shared = ~np.isnan(X).any(axis=0)
    found = pairs.distance_missing(X, omega, 0, 1, kind, KINDS[kind])
    if not shared.any():
        assert found == -1
    else:
        scale = 1.0 if kind == pairs.LARGEST else omega.sum() / omega[shared].sum()
        assert found == pytest.approx(scale * power_sum((X[0] - X[1])[shared], kind))


@pytest.mark.parametrize("n_observations", [1, 7, 8, 40], ids=lambda p: f"P={p}")
@pytest.mark.parametrize("reduction", [pairs.SUM, pairs.MAX])
def test_remembered_distances_never_belong_to_another_pair(n_observations, reduction):
    """Some 800,000 pairs pass through 32,768 slots, in no order, so that most are driven out and come again."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, n_observations))
    members = np.sort(np.array([rng.choice(700, 3, replace=False) for _ in range(20_000)]), axis=1)
    members = np.concatenate([members, members[rng.permutation(len(members))]])
    pairwise = np.stack(
        [np.sum((X[members[:, a]] - X[members[:, b]]) ** 2, axis=1) for a, b in ((0, 1), (0, 2), (1, 2))]
    )
    expected = pairwise.max(axis=0) if reduction == pairs.MAX else pairwise.sum(axis=0)
    np.testing.assert_allclose(reduced(X, members, reduction=reduction), expected, rtol=1e-12)


def test_two_pairs_of_one_slot_take_turns():
    def slot(j, i):
        return ((((j << 32) | i) * 0x9E3779B97F4A7C15) % 2**64) >> (64 - pairs._SLOT_BITS)

    first_of = {}
    first, second = next(
        (first_of[slot(*pair)], pair)
        for pair in combinations(range(2000), 2)
        if first_of.setdefault(slot(*pair), pair) != pair and not set(first_of[slot(*pair)]) & set(pair)
    )
    X = np.random.default_rng(1).standard_normal((2000, 9))
    members = np.array([first, second] * 5)
    expected = np.sum((X[members[:, 0]] - X[members[:, 1]]) ** 2, axis=1)
    assert expected[0] != pytest.approx(expected[1])
    np.testing.assert_allclose(reduced(X, members), expected, rtol=1e-12)


@given(seeds(), st.floats(0.2, 3.0), st.floats(0.1, 5.0), st.sampled_from([3, 20]))
def test_power_and_factor_are_applied_to_remembered_distances_too(seed, power, factor, n_observations):
    X = np.random.default_rng(seed).standard_normal((5, n_observations))
    members = np.array(list(combinations(range(5), 3)) * 2)
    found = reduced(X, members, pairs.ABSOLUTE, power, pairs.SUM, factor)
    for row, value in zip(members, found, strict=True):
        terms = [np.sum(np.abs(X[i] - X[j])) ** power for i, j in combinations(row, 2)]
        assert value == pytest.approx(factor * sum(terms))


@pytest.mark.parametrize("n_observations", [3, 10])
def test_the_first_candidate_without_a_shared_observation_is_named(n_observations):
    X = np.ones((4, n_observations))
    X[1, 0], X[2, 1:] = np.nan, np.nan
    members = np.array([[0, 1], [0, 2], [1, 2], [1, 2]], np.int32).view(np.uint32)
    args = (members, X, np.ones(n_observations), pairs.SQUARE, 2.0, 1.0, pairs.MAX, 1.0, np.empty(4))
    assert [pairs.reduce_members(*args, *reach) for reach in [(0, 4), (3, 4), (0, 2)]] == [2, 3, -1]
