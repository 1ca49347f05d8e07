"""The maximum-likelihood estimator: scikit-learn's own checks, its certificate, recovery, options and bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.utils.estimator_checks import parametrize_with_checks

from fields import dense_matrices
from hsls import HSLS, ConvergenceWarning, HypergraphMLE, compare, random_hypergraph, smooth_signals
from hsls.likelihood import Hyperedges
from hsls.likelihood.learning import LikelihoodSettings
from instances import numbers, seeds
from learned import gaussian_signals, with_holes


@parametrize_with_checks([HypergraphMLE(), HypergraphMLE(penalty=0.1), HypergraphMLE(2, 3, 0.5, centre=True)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def simulated(seed=0, n_nodes=40, n_observations=250, **options):
    truth = random_hypergraph(n_nodes, int(0.55 * n_nodes), 3, random_state=seed)
    return truth, smooth_signals(truth, n_observations, random_state=seed, **options)


# -- what is solved --------------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(seeds(), numbers(0.02, 1.0))
def test_the_weights_solve_the_problem_of_the_docstring(seed, penalty):
    """Optimality written out: tr((L + J/N)^-1 M_e) <= z_e + lambda everywhere, with equality where w_e > 0."""
    X = gaussian_signals(seed, 9, 15)
    model = HypergraphMLE(neighbors="all", penalty=penalty, tol=1e-10).fit(X)
    M = dense_matrices(Hyperedges.of(model.candidates_))
    C = X @ X.T / (15 * model.scale_)
    theta = np.linalg.inv(np.tensordot(model.weights_, M, 1) + 1 / 9)
    slack = np.einsum("ij,eji->e", C - theta, M) + penalty
    assert np.all(slack >= -1e-8 * np.abs(slack).max())
    assert np.all(np.abs(slack[model.weights_ > 1e-6]) <= 1e-4)
    assert model.hypergraph_ == model.candidates_.hypergraph(model.weights_, 0.3)
    assert model.duality_gap_ <= 1e-10
    assert model.penalty_ == penalty
    assert model.path_ is None
    assert model.history_["gap"][-1] == model.duality_gap_


@settings(max_examples=10)
@given(seeds(), numbers(1e-3, 1e3))
def test_units_do_not_matter(seed, factor):
    _, X = simulated(seed, 20, 60)
    one, other = HypergraphMLE(3).fit(X), HypergraphMLE(3).fit(factor * X)
    assert one.hypergraph_.edges == other.hypergraph_.edges
    np.testing.assert_allclose(one.hypergraph_.weights, other.hypergraph_.weights, rtol=1e-3)
    assert other.scale_ == pytest.approx(factor**2 * one.scale_)


@settings(max_examples=10)
@given(seeds())
def test_a_common_signal_does_not_change_the_penalised_optimum(seed):
    """Only differences between nodes count."""
    X = gaussian_signals(seed, 12, 20)
    common = np.random.default_rng(seed).standard_normal(20)
    one, other = (HypergraphMLE(penalty=0.1, neighbors="all", tol=1e-9).fit(signals) for signals in (X, X + common))
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-3)


def test_centring_takes_the_levels_of_the_nodes_away():
    _, X = simulated(3)
    shifted = X + 10 * np.random.default_rng(0).standard_normal((40, 1))
    centred = HypergraphMLE(3, 8, 0.05, centre=True)
    np.testing.assert_allclose(centred.fit(shifted).weights_, HypergraphMLE(3, 8, 0.05, centre=True).fit(X).weights_)
    assert not np.allclose(HypergraphMLE(3, 8, 0.05).fit(shifted).scale_, centred.scale_)


def test_noise_is_taken_off_the_variations():
    truth, X = simulated(1, n_observations=2000, noise=0.3)
    weight = {}
    for noise in (0.0, 0.3):
        model = HypergraphMLE(candidates=truth.edges, penalty=1e-4, scale=None, noise=noise).fit(X)
        weight[noise] = np.median(model.weights_)
    assert abs(weight[0.3] - 1) < 0.15 < 0.2 < abs(weight[0.0] - 1)


def test_observation_weights_repeat_observations():
    X = gaussian_signals(0, 10, 12)
    repeated = np.concatenate([X, X[:, :4]], axis=1)
    omega = np.where(np.arange(12) < 4, 2.0, 1.0)
    one = HypergraphMLE(penalty=0.1, neighbors=5, tol=1e-10, observation_weights=omega).fit(X)
    other = HypergraphMLE(penalty=0.1, neighbors=5, tol=1e-10).fit(repeated)
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-5)


# -- what is chosen --------------------------------------------------------------------------------------------------


def test_hyperedges_are_recovered_with_nothing_told():
    scores = []
    for seed in range(1000, 1006):
        truth, X = simulated(seed)
        model = HypergraphMLE(3).fit(X)
        scores.append(compare(model.hypergraph_, truth).f1)
        assert model.duality_gap_ <= 1e-6
        assert np.median(model.hypergraph_.weights) / model.scale_ == pytest.approx(1.0, abs=0.2)
    assert np.mean(scores) >= 0.95


def test_the_path_tells_of_the_choice():
    _, X = simulated(2)
    model = HypergraphMLE(3).fit(X)
    path = model.path_
    assert (path.parameter, path.criterion, path.value) == ("penalty", "ebic", model.penalty_)
    assert path.scores[path.chosen] == pytest.approx(path.scores.max(), rel=1e-6)
    assert path.scores[: path.chosen].max(initial=-np.inf) < path.scores[path.chosen]
    assert path.n_hyperedges[path.chosen] == model.hypergraph_.n_edges
    assert np.all(path.relative_gaps <= 1e-3)
    assert path.relative_gaps[path.chosen] == model.duality_gap_ <= 1e-6
    assert len(path) == len(path.values)
    assert "ebic chose penalty" in repr(path)
    fixed = HypergraphMLE(3, penalty=model.penalty_).fit(X)
    np.testing.assert_allclose(fixed.weights_, model.weights_, atol=1e-3)


def test_cross_validation_is_the_other_criterion():
    truth, X = simulated(1002)
    model = HypergraphMLE(3, 6, criterion="cv").fit(X)
    assert compare(model.hypergraph_, truth).recall >= 0.8
    assert model.path_.criterion == "cv"
    assert np.all(model.path_.errors > 0)
    with pytest.raises(ValueError, match="criterion 'cv' with 5 folds needs as many observations, but there are 3"):
        HypergraphMLE(3, criterion="cv").fit(X[:, :3])


def test_gamma_makes_the_choice_sparser():
    _, X = simulated(4, n_observations=40)
    sizes = [HypergraphMLE(3, gamma=gamma).fit(X).hypergraph_.n_edges for gamma in (0.0, 1.0, 4.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


@pytest.mark.parametrize("penalty", ["auto", 0.1])
def test_hard_signals_give_finite_weights(penalty):
    truth, X = simulated(0, n_nodes=12)
    with_pair = X.copy()
    with_pair[1] = with_pair[0]
    for signals in (X[:, :1], X[:, :3], np.ones((6, 4)), with_pair, with_holes(X), X - X.mean(axis=0)):
        model = HypergraphMLE((2, 3), penalty=penalty).fit(signals)
        assert np.all(np.isfinite(model.weights_))
        assert np.all(np.isfinite(model.hypergraph_.weights))
    assert truth.n_nodes == 12


def test_nodes_in_no_candidate_stay_isolated():
    model = HypergraphMLE(candidates=[(0, 1), (1, 2), (4, 5, 6)], penalty=0.1).fit(gaussian_signals(0, 8))
    assert model.hypergraph_.degrees()[[3, 7]].tolist() == [0, 0]
    assert model.solution_.dual[[3, 7]].tolist() == [0, 0]


def test_names_come_from_the_frame():
    X = gaussian_signals(0, 6)
    frame = pd.DataFrame(X, index=list("abcdef"))
    model = HypergraphMLE(penalty=0.1).fit(frame)
    assert model.hypergraph_.nodes == tuple("abcdef")
    assert HypergraphMLE(penalty=0.1, nodes="columns").fit(frame.T).hypergraph_ == model.hypergraph_
    assert model.hypergraph_.edges == HypergraphMLE(penalty=0.1).fit(X).hypergraph_.edges


def test_every_setting_is_a_parameter():
    assert set(LikelihoodSettings.__dataclass_fields__) == set(HypergraphMLE().get_params()) - {"nodes", "verbose"}
    defaults = LikelihoodSettings()
    assert all(value == getattr(defaults, name, value) for name, value in HypergraphMLE().get_params().items())


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": 0}, "penalty must be a finite number above 0"),
        ({"criterion": "aic"}, "criterion must be one of 'ebic', 'cv'"),
        ({"gamma": -1}, "gamma must be a finite number, 0 or more"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"noise": -0.1}, "noise must be a finite number, 0 or more"),
        ({"tol": 0}, "tol must be a finite number above 0"),
        ({"cardinalities": 30}, "cardinalities holds 30, but there are only 20 nodes"),
        ({"scale": "max"}, "scale .* must be one of"),
    ],
)
def test_parameters_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        HypergraphMLE(**options).fit(gaussian_signals())


def test_centre_is_yes_or_no():
    with pytest.raises(TypeError, match="centre must be True or False"):
        HypergraphMLE(centre="mean").fit(gaussian_signals())


def test_no_convergence_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="likelihood reached max_iter after 1 iterations .* or the penalty"):
        HypergraphMLE(penalty=0.01, max_iter=1, tol=1e-12, neighbors=6).fit(gaussian_signals())


# -- HSLS chooses, too -----------------------------------------------------------------------------------------------


def test_hsls_chooses_theta_by_itself():
    scores = {"auto": [], 1.0: []}
    for seed in range(1000, 1006):
        truth, X = simulated(seed)
        for alpha, own in scores.items():
            model = HSLS(3, alpha=alpha).fit(X)
            own.append(compare(model.hypergraph_, truth).f1)
            assert model.duality_gap_ <= 1e-6
        chosen = HSLS(3, alpha="auto").fit(X)
        assert chosen.alpha_ == pytest.approx(1 / chosen.path_.value**2)
        assert chosen.path_.n_hyperedges[chosen.path_.chosen] == chosen.hypergraph_.n_edges
        again = HSLS(3, alpha=chosen.alpha_, threshold=0.0, tol=1e-9).fit(X).hypergraph_.top(chosen.hypergraph_.n_edges)
        assert again.edges == chosen.hypergraph_.edges
    assert np.mean(scores["auto"]) >= np.mean(scores[1.0])


@pytest.mark.parametrize("target", [5, 22, 30])
@pytest.mark.parametrize("beta", [1.0, 0.1])
def test_hsls_hits_a_number_of_hyperedges(target, beta):
    _, X = simulated(0)
    model = HSLS(3, n_hyperedges=target, beta=beta).fit(X)
    assert model.hypergraph_.n_edges == target
    assert model.path_.criterion == "n_hyperedges"
    assert model.alpha_ == pytest.approx(1 / (model.path_.value**2 * beta))


@pytest.mark.parametrize("target", [1.2, 2.0, 4.0])
def test_hsls_hits_a_mean_degree(target):
    _, X = simulated(0)
    found = HSLS(3, degree=target).fit(X).hypergraph_
    assert found.binary().degrees().mean() == pytest.approx(target, abs=0.1)


def test_one_wish_at_a_time():
    with pytest.raises(ValueError, match="alpha='auto', degree and n_hyperedges exclude one another"):
        HSLS(alpha="auto", degree=2).fit(gaussian_signals())


def test_where_there_are_too_many_hyperedges_the_most_correlated_nodes_make_candidates_too(monkeypatch):
    """The nodes of a hyperedge of four that stands alone are negatively correlated, farther apart than strangers."""
    from hsls.likelihood import learning

    monkeypatch.setattr(learning, "_ALL", 0)
    monkeypatch.setattr(learning, "_ROWS", 7)
    truth = random_hypergraph(60, cardinalities={4: 15}, random_state=0)
    X = smooth_signals(truth, 250, random_state=0)
    near, found = HypergraphMLE(4, 8).fit(X), HypergraphMLE(4).fit(X)
    assert set(near.candidates_.edges) <= set(found.candidates_.edges)
    assert compare(found.hypergraph_, truth).f1 == 1.0
    assert compare(near.hypergraph_, truth).f1 < 1.0
