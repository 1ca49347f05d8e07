"""The incidence operator: products, adjoint and norm of the matrix S that is never built."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hsls.incidence as room
from hsls import _threads
from hsls.candidates import all_candidates
from hsls.incidence import Incidence
from instances import candidate_sets, dense_incidence, seeds


@given(candidate_sets(), seeds())
def test_products_are_those_of_the_dense_matrix_and_adjoint_to_each_other(candidates, seed):
    rng = np.random.default_rng(seed)
    S, dense = Incidence(candidates.members, candidates.n_nodes), dense_incidence(candidates)
    w, v = rng.standard_normal(S.n_candidates), rng.standard_normal(S.n_nodes)
    np.testing.assert_allclose(S.degrees(w), dense @ w, atol=1e-13)
    np.testing.assert_allclose(S.adjoint(v), dense.T @ v, atol=1e-13)
    assert S.degrees(w) @ v == pytest.approx(w @ S.adjoint(v), abs=1e-12)


@given(candidate_sets(), seeds())
def test_the_normal_matrix_is_s_scale_s_transposed(candidates, seed):
    S, dense = Incidence(candidates.members, candidates.n_nodes), dense_incidence(candidates)
    scale = np.random.default_rng(seed).uniform(0, 2, S.n_candidates)
    np.testing.assert_allclose(S.normal_matrix(), dense @ dense.T, atol=1e-13)
    np.testing.assert_allclose(S.normal_matrix(scale), (dense * scale) @ dense.T, atol=1e-13)


@pytest.mark.parametrize("dense_up_to", [0, 500], ids=["iterated", "dense"])
@given(candidates=candidate_sets(), seed=seeds(), scaled=st.booleans())
def test_the_spectral_norm_is_the_largest_singular_value(dense_up_to, candidates, seed, scaled):
    S, dense = Incidence(candidates.members, candidates.n_nodes), dense_incidence(candidates)
    c = np.random.default_rng(seed).uniform(0.1, 3, S.n_candidates) if scaled else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "_DENSE_NORM", dense_up_to)
        found = S.spectral_norm(c)
    assert found == pytest.approx(np.linalg.norm(dense * (1 if c is None else c), 2), rel=1e-8)


def test_the_norm_of_all_pairs_and_triples_is_known():
    """S S' = C(n - 2, k - 2) J + (C(n - 1, k - 1) - C(n - 2, k - 2)) I for all subsets of k."""
    n = 12
    assert Incidence(all_candidates(n, 2).members, n).spectral_norm() == pytest.approx(np.sqrt(n + (n - 1) - 1))
    assert Incidence(all_candidates(n, 3).members, n).spectral_norm() == pytest.approx(np.sqrt(10 * 12 + 55 - 10))


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_several_threads_give_the_same_as_one(monkeypatch, threads):
    candidates = all_candidates(14, (2, 3, 4))
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal(candidates.n_candidates), rng.standard_normal(14)
    alone = Incidence(candidates.members, 14)
    assert alone.parts == 1
    monkeypatch.setattr(room, "_CANDIDATES_A_THREAD", 10)
    with _threads.limit(threads):
        together = Incidence(candidates.members, 14)
        assert together.parts == threads
        np.testing.assert_allclose(together.degrees(w), alone.degrees(w), atol=1e-12)
        np.testing.assert_array_equal(together.adjoint(v), alone.adjoint(v))
        again = together.degrees(w)
        assert all(np.array_equal(together.degrees(w), again) for _ in range(5))


def test_the_parts_hold_every_candidate_once(monkeypatch):
    monkeypatch.setattr(room, "_CANDIDATES_A_THREAD", 5)
    candidates = all_candidates(7, (2, 3))
    with _threads.limit(4):
        S = Incidence(candidates.members, 7)
        shares = S.each_part(lambda share, part: [(part, number, e) for number, _, a, b in share for e in range(a, b)])
    held = sorted((number, e) for share in shares for _, number, e in share)
    assert held == [(number, e) for number, block in enumerate(candidates.members) for e in range(len(block))]
    assert [{part for part, _, _ in share} for share in shares] == [{0}, {1}, {2}, {3}]


def test_users_arrays_are_left_as_they_are():
    members = np.array([[0, 1], [1, 2]], dtype=np.int32)
    Incidence([members], 3)
    assert members.flags.writeable
