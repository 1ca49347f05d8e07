"""New observations: `update` in either orientation, and `partial_fit` as scikit-learn wants it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_estimators_partial_fit_n_features,
    check_n_features_in_after_fitting,
)

from hsls import HSLS, ConvergenceWarning
from learned import gaussian_signals

X = gaussian_signals(0, 15, 24)


@pytest.mark.parametrize("forgetting", [1.0, 0.8])
@pytest.mark.parametrize("nodes", ["rows", "columns"])
def test_pieces_give_what_fit_gives_on_all_with_weights(nodes, forgetting):
    names = [f"n{i}" for i in range(15)]
    whole = pd.DataFrame(X.T, columns=names) if nodes == "columns" else pd.DataFrame(X, index=names)
    axis = 0 if nodes == "columns" else 1
    pieces = [whole.take(range(start, min(start + 7, 24)), axis=axis) for start in range(0, 24, 7)]
    model = HSLS(neighbors=4, tol=1e-10, nodes=nodes)
    for piece in pieces:
        assert model.update(piece, forgetting=forgetting) is model
    omega = forgetting ** np.arange(23, -1, -1.0)
    fitted = HSLS(neighbors=4, tol=1e-10, nodes=nodes, observation_weights=omega).fit(whole)
    assert model.hypergraph_.named_edges == fitted.hypergraph_.named_edges
    assert model.candidates_.edges == fitted.candidates_.edges
    np.testing.assert_allclose(model.weights_, fitted.weights_, atol=1e-4)
    assert model.scale_ == pytest.approx(fitted.scale_)
    assert model.duality_gap_ <= 1e-10
    assert model.stream_.distances.n_observations == 24
    assert model.neighbors_.exact


def test_every_row_may_come_alone():
    one_by_one = HSLS(nodes="columns", neighbors=4)
    for row in X.T:
        one_by_one.partial_fit(row[None])
    together = HSLS(nodes="columns", neighbors=4).partial_fit(X.T)
    assert one_by_one.hypergraph_.edges == together.hypergraph_.edges


def test_settings_may_change_between_pieces():
    model = HSLS(2, neighbors=4, tol=1e-10).update(X[:, :12])
    model.set_params(alpha=0.1, cardinalities=3, variation="mean-square").update(X[:, 12:])
    fitted = HSLS(3, neighbors=4, tol=1e-10, alpha=0.1, variation="mean-square").fit(X)
    np.testing.assert_allclose(model.weights_, fitted.weights_, atol=1e-4)


def test_the_papers_solver_updates_too():
    model = HSLS(3, neighbors=4, solver="fbf", solver_options={"balance": 0.1}).update(X[:, :9]).update(X[:, 9:])
    fitted = HSLS(3, neighbors=4, solver="fbf", solver_options={"balance": 0.1}).fit(X)
    np.testing.assert_allclose(model.weights_, fitted.weights_, rtol=1e-6, atol=1e-9)


def test_update_does_not_go_on_from_fit_and_fit_begins_anew():
    model = HSLS(neighbors=4).fit(X)
    with pytest.raises(ValueError, match=r"fitted by fit, which keeps no distances to go on from; begin with update"):
        model.update(X)
    streaming = clone(model).update(X[:, :5])
    assert not hasattr(streaming.fit(X), "stream_")
    assert streaming.hypergraph_ == model.hypergraph_


def test_a_solver_that_does_not_converge_says_so():
    with pytest.warns(ConvergenceWarning, match="newton reached max_iter") as given:
        HSLS(neighbors=4, max_iter=1).update(X)
    assert given[0].filename == __file__


@pytest.mark.parametrize(
    "check",
    [
        check_estimators_partial_fit_n_features,
        check_n_features_in_after_fitting,
        check_dataframe_column_names_consistency,
    ],
)
def test_scikit_learns_checks_of_partial_fit(check):
    check("HSLS", HSLS(2, nodes="columns", neighbors=1))


def test_partial_fit_is_there_where_rows_are_observations():
    assert hasattr(HSLS(nodes="columns"), "partial_fit")
    assert not hasattr(HSLS(), "partial_fit")
    with pytest.raises(AttributeError) as caught:
        HSLS().partial_fit(X)
    assert "use nodes='columns', or update" in str(caught.value.__cause__)
