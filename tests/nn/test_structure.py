"""The propagation matrix against its formula in dense arrays, in every form and from everything it is read from."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hsls import Hypergraph, random_hypergraph
from hsls.nn import Propagation, propagation
from instances import seeds

FORMS = ["product", "factors"]
CHAIN = Hypergraph.from_edges([(0, 1), (1, 2, 3)], weights=[0.5, 2.0])


def formula(H, w):
    """Dv^-1/2 H W De^-1 H' Dv^-1/2 with dense arrays; 0 for the inverse of 0."""

    def inverse(values):
        return np.diag([1 / value if value > 0 else 0.0 for value in values])

    root = np.sqrt(inverse(H @ w))
    return root @ H @ np.diag(w) @ inverse(H.sum(axis=0)) @ H.T @ root


def dense(P):
    return P.tensor().to_dense().numpy()


@st.composite
def incidences(draw, n_nodes=None):
    """Real incidence matrices and weights, with isolated nodes, empty hyperedges and weights of 0 among them."""
    rng = np.random.default_rng(draw(seeds()))
    shape = (draw(st.integers(1, 9)) if n_nodes is None else n_nodes, draw(st.integers(0, 12)))
    H = rng.random(shape) * (rng.random(shape) < draw(st.sampled_from([0.2, 0.6])))
    return H, rng.random(shape[1]) * (rng.random(shape[1]) < 0.8)


@pytest.mark.parametrize("form", [*FORMS, "auto"])
@given(given=incidences(), seed=seeds())
def test_it_is_the_formula(form, given, seed):
    H, w = given
    expected = formula(H, w)
    for structure in (H, sparse.csr_array(H), sparse.coo_matrix(H)):
        P = propagation(structure, w, form=form, dtype=torch.float64)
        np.testing.assert_allclose(dense(P), expected, atol=1e-12)
        X = np.random.default_rng(seed).standard_normal((len(H), 3))
        np.testing.assert_allclose((P @ torch.from_numpy(X)).numpy(), expected @ X, atol=1e-12)


@given(st.data())
def test_side_by_side_is_one_hypergraph_with_the_hyperedges_of_all(data):
    n_nodes = data.draw(st.integers(1, 8))
    parts = data.draw(st.lists(incidences(n_nodes), min_size=1, max_size=3))
    P = propagation([H for H, _ in parts], [w for _, w in parts], dtype=torch.float64)
    joined = formula(np.hstack([H for H, _ in parts]), np.concatenate([w for _, w in parts]))
    np.testing.assert_allclose(dense(P), joined, atol=1e-12)


@given(seeds())
def test_a_hypergraph_brings_its_weights_and_agrees_with_its_laplacian(seed):
    H = random_hypergraph(12, cardinalities={2: 5, 3: 6}, weights=(0.1, 2.0), random_state=seed)
    P = propagation(H, dtype=torch.float64)
    np.testing.assert_allclose(dense(P), np.eye(12) - H.laplacian().toarray(), atol=1e-12)
    other = np.random.default_rng(seed).random(11)
    np.testing.assert_allclose(
        dense(propagation(H, other, dtype=torch.float64)), formula(H.incidence().toarray(), other), atol=1e-12
    )
    mixed = propagation((H, H.incidence()), (None, other), dtype=torch.float64)
    twice = formula(np.tile(H.incidence().toarray(), 2), np.concatenate([H.weights, other]))
    np.testing.assert_allclose(dense(mixed), twice, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_isolated_nodes_have_zero_rows_and_columns(form):
    H = Hypergraph.from_edges([(0, 1, 2), (3, 4)], weights=[1.0, 0.0], nodes=6)
    P = dense(propagation(H, form=form))
    assert np.isfinite(P).all()
    assert not P[3:].any()
    assert not P[:, 3:].any()
    assert (P[:3, :3] > 0).all()
    assert not dense(propagation(H.top(0), form=form)).any()


def test_the_weights_count_in_the_middle_and_in_the_degrees():
    heavy, light = (propagation(CHAIN, [1.0, w], dtype=torch.float64).tensor().to_dense() for w in (4.0, 0.25))
    assert heavy[1, 2] > light[1, 2]
    assert heavy[0, 1] < light[0, 1]
    np.testing.assert_allclose(dense(propagation(CHAIN, [3.0, 12.0])), heavy, rtol=1e-6)  # only ratios count


@given(incidences())
def test_it_smooths(given):
    """Eigenvalues between 0 and 1, and 1 at the square roots of the degrees wherever each hyperedge has a node."""
    H, w = given
    P = dense(propagation(H, w, dtype=torch.float64))
    values = np.linalg.eigvalsh(P)
    assert values.min() >= -1e-12
    assert values.max() <= 1 + 1e-12
    root = np.sqrt(H @ w)
    np.testing.assert_allclose(P @ root, root, atol=1e-12)


def test_the_form_follows_the_size_of_the_hyperedges():
    def n_factors(k):
        return len(propagation(random_hypergraph(60, 50, k, random_state=0)).factors)

    assert [n_factors(k) for k in (2, 3, 10)] == [1, 1, 2]
    assert n_factors(40) == 1  # the 60 x 60 matrix has no more entries than a factor
    whole = propagation(np.ones((200_000, 1)), dtype=torch.float64)  # multiplied out 4e10 entries
    assert len(whole.factors) == 2
    np.testing.assert_allclose((whole @ torch.ones(200_000, 1, dtype=torch.float64)).numpy(), 1.0)


@pytest.mark.parametrize("form", FORMS)
def test_copies_conversions_and_pickles_are_the_same(form):
    P = propagation(CHAIN, form=form)
    assert (P.n_nodes, P.dtype, P.device) == (4, torch.float32, torch.device("cpu"))
    for other in (copy.deepcopy(P), pickle.loads(pickle.dumps(P)), P.to("cpu"), P.to(dtype=torch.float64)):
        assert isinstance(other, Propagation)
        assert len(other.factors) == len(P.factors)
        np.testing.assert_allclose(dense(other), dense(P), rtol=1e-6)
    assert P.to(dtype=torch.float64).dtype == torch.float64
    assert repr(P).startswith(f"Propagation(4 nodes, {form} of ")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([],), ValueError, "structure holds no hypergraph"),
        (("H",), TypeError, "structure must be a Hypergraph, an incidence matrix .* got str"),
        (([CHAIN, 3],), TypeError, "structure 1 must be a Hypergraph"),
        ((np.ones(3),), TypeError, "structure must be a Hypergraph"),
        ((np.array([[1.0, -1.0]]),), ValueError, "finite entries, 0 or more"),
        ((np.array([[1.0, np.nan]]),), ValueError, "finite entries, 0 or more"),
        ((CHAIN, [1.0]), ValueError, r"weights of structure must be 2 numbers, one a hyperedge, got \(1,\)"),
        ((CHAIN, [1.0, -1.0]), ValueError, "weights of structure must be finite and 0 or more"),
        ((CHAIN, [1.0, np.inf]), ValueError, "weights of structure must be finite and 0 or more"),
        (([CHAIN, CHAIN], [1.0]), ValueError, r"one array \(or None\) for each of the 2 structures"),
        (([CHAIN, CHAIN], np.ones(2)), ValueError, r"one array \(or None\) for each of the 2 structures"),
        (([CHAIN, np.ones((5, 1))],), ValueError, r"must have the same nodes, got \[4, 5\] nodes"),
        (
            ([CHAIN, Hypergraph.from_edges([(0, 1)], nodes=["a", "b", "c", "d"])],),
            ValueError,
            "the same nodes in the same order; their names differ",
        ),
    ],
)
def test_what_is_no_hypergraph_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        propagation(*arguments)


def test_wrong_forms_and_features_are_refused():
    with pytest.raises(ValueError, match="form must be one of 'auto', 'product', 'factors'"):
        propagation(CHAIN, form="dense")
    P = propagation(CHAIN)
    with pytest.raises(ValueError, match=r"one row for each of the 4 nodes of the hypergraph, got \(3, 2\)"):
        P @ torch.ones(3, 2)
    with pytest.raises(ValueError, match="one row for each"):
        P @ torch.ones(4)
    with pytest.raises(TypeError, match=r"X is torch.float64 on cpu, but the propagation is torch.float32 on cpu"):
        P @ torch.ones(4, 2, dtype=torch.float64)


def test_without_torch_one_sentence_says_what_to_install():
    code = """if True:
        import sys
        class WithoutTorch:
            def find_spec(name, *_):
                if name == "torch":
                    raise ModuleNotFoundError("No module named 'torch'", name="torch")
        sys.meta_path.insert(0, WithoutTorch)
        import hsls; hsls.Hypergraph, hsls.HSLS
        try: import hsls.nn
        except ImportError as error: print(error)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == 'hsls.nn needs PyTorch; install it with: pip install "hsls[torch]"'
