"""The classifier: what it learns, how it trains (against a plain loop), scikit-learn's conventions, and bad input."""

from __future__ import annotations

import io
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from hsls import Hypergraph
from hsls.nn import HypergraphClassifier, HypergraphNetwork, propagation

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
QUICK = {"hidden": 16, "epochs": 30, "random_state": 0, "device": "cpu"}


def partition(seed=0, n_nodes=120, n_groups=4, wrong=0, features=8, strength=0.3):
    """Groups of nodes, hyperedges of 4 inside them (weight 1) and anywhere (weight 0.02), and weak features."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_nodes) % n_groups
    inside = [rng.choice(np.flatnonzero(group == g), 4, replace=False) for g in range(n_groups) for _ in range(50)]
    anywhere = [rng.choice(n_nodes, 4, replace=False) for _ in range(wrong)]
    weights = [1.0] * len(inside) + [0.02] * wrong
    H = Hypergraph.from_edges([edge.tolist() for edge in (*inside, *anywhere)], weights, nodes=n_nodes, merge=True)
    X = rng.standard_normal((n_nodes, features)) + strength * rng.standard_normal((n_groups, features))[group]
    return H, X, group


def few(group, each=4, seed=0):
    """Labels of a few nodes of each group, -1 for the others."""
    rng = np.random.default_rng(seed)
    chosen = np.concatenate([rng.choice(np.flatnonzero(group == g), each, replace=False) for g in np.unique(group)])
    y = np.full(len(group), -1)
    y[chosen] = group[chosen]
    return y


# -- learning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_partition_is_learned_from_few_labels(seed, device):
    H, X, group = partition(seed)
    y = few(group, seed=seed)
    model = HypergraphClassifier(epochs=100, random_state=seed, device=device).fit(X, y, hypergraph=H)
    unseen = y < 0
    assert np.mean(model.predict(X)[unseen] == group[unseen]) > 0.9  # chance: 0.25
    alone = Hypergraph.from_edges([(i,) for i in range(len(X))])
    without = clone(model).fit(X, y, hypergraph=alone)
    assert np.mean(without.predict(X)[unseen] == group[unseen]) < 0.6


def test_hyperedges_of_little_weight_mislead_little():
    H, X, group = partition(wrong=800)
    y = few(group)
    model = HypergraphClassifier(epochs=100, random_state=0)

    def accuracy(hypergraph):
        return np.mean(model.fit(X, y, hypergraph=hypergraph).predict(X) == group)

    assert accuracy(H) > accuracy(H.binary()) + 0.1


def test_samples_share_the_prediction_of_their_node():
    """Pixels of superpixels, several hypergraphs side by side: as the labels of the nodes themselves."""
    H, X, group = partition()
    rng = np.random.default_rng(0)
    membership = rng.permutation(np.repeat(np.arange(len(X)), 5))
    pixels = np.array(["abcd"[g] for g in group[membership]])
    chosen = rng.permutation(len(pixels))
    model = HypergraphClassifier(epochs=60, random_state=0)
    model.fit(
        X, pixels, hypergraph=[H, H.incidence()], membership=membership, train=chosen[:60], validation=chosen[60:90]
    )
    assert model.classes_.tolist() == list("abcd")
    np.testing.assert_array_equal(model.train_, np.sort(chosen[:60]))
    np.testing.assert_array_equal(model.validation_, np.sort(chosen[60:90]))
    at_nodes, at_pixels = model.predict(X), model.predict(X, membership=membership)
    np.testing.assert_array_equal(at_pixels, at_nodes[membership])
    assert model.score(X, pixels, membership=membership) == np.mean(at_pixels == pixels) > 0.9
    weight = rng.random(len(pixels))
    right = np.average(at_pixels == pixels, weights=weight)
    assert model.score(X, pixels, weight, membership=membership) == pytest.approx(right)
    probability = model.predict_proba(X, membership=membership)
    assert probability.shape == (600, 4)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], at_pixels)


def test_labels_outside_training_and_validation_are_not_looked_at():
    H, X, group = partition()
    mask = few(group, 6) >= 0
    train, validation = np.flatnonzero(mask)[::2], np.flatnonzero(mask)[1::2]
    other = group.copy()
    other[~mask] = 9
    models = [
        HypergraphClassifier(**QUICK).fit(X, y, hypergraph=H, train=train, validation=validation)
        for y in (group, other, np.where(mask, group, -1))
    ]
    for model in models:
        np.testing.assert_array_equal(model.predict_proba(X), models[0].predict_proba(X))
    by_mask = clone(models[0]).fit(
        X, np.where(mask, group, -1), hypergraph=H, validation=np.isin(range(120), validation)
    )
    np.testing.assert_array_equal(by_mask.predict_proba(X), models[0].predict_proba(X))


# -- training --------------------------------------------------------------------------------------------------------


def test_training_is_the_plain_loop():
    """Cross entropy of the samples one by one, Adam, the plateau rule written out, the best state kept."""
    H, X, group = partition(n_nodes=40, strength=0.1)
    membership = np.random.default_rng(1).integers(0, 40, 200)
    y = group[membership]
    model = HypergraphClassifier(hidden=8, epochs=40, learning_rate=0.05, patience=2, factor=0.5, random_state=3)
    model.set_params(device="cpu").fit(
        X, y, hypergraph=H, membership=membership, train=np.arange(30), validation=np.arange(30, 60)
    )
    generator = torch.Generator().manual_seed(int(np.random.default_rng(3).integers(2**63)))
    network = HypergraphNetwork(8, 4, 8, generator=generator)
    features, P = torch.tensor(X, dtype=torch.float32), propagation(H)
    nodes, labels = torch.from_numpy(membership), torch.from_numpy(y)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    losses, rates, rate, least, waited = [], [], 0.05, np.inf, 0
    for _ in range(40):
        rates.append(rate)
        network.train()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(features, P)[nodes[:30]], labels[:30]).backward()
        optimizer.step()
        network.eval()
        with torch.no_grad():
            logits = network(features, P)[nodes[30:60]]
        losses.append(torch.nn.functional.cross_entropy(logits, labels[30:60]).item())
        waited = 0 if losses[-1] < least * (1 - 1e-4) else waited + 1
        least = min(least, losses[-1]) if waited == 0 else least
        if waited > 2:
            rate, waited = rate * 0.5, 0
            optimizer.param_groups[0]["lr"] = rate
    np.testing.assert_allclose(model.history_["validation_loss"], losses, rtol=1e-3)
    np.testing.assert_allclose(model.history_["learning_rate"], rates)
    assert rates[-1] < 0.05
    assert model.best_epoch_ == 1 + np.argmin(losses)


def test_the_history_tells_of_the_state_that_is_kept():
    H, X, group = partition(strength=0.1)
    y = few(group, 8)
    model = HypergraphClassifier(random_state=0, epochs=80, device="cpu").fit(X, y, hypergraph=H)
    history = model.history_
    assert list(history) == ["epoch", "train_loss", "validation_loss", "validation_accuracy", "learning_rate"]
    assert history["epoch"].tolist() == list(range(1, 81))
    assert model.n_iter_ == 80
    best = model.best_epoch_ - 1
    assert history["validation_loss"][best] == history["validation_loss"].min()
    held_out = model.validation_
    probability = model.predict_proba(X)[held_out, y[held_out]]
    assert -np.log(probability).mean() == pytest.approx(history["validation_loss"][best], rel=1e-4)
    assert model.score(X, np.where(np.isin(range(120), held_out), y, -1)) == pytest.approx(
        history["validation_accuracy"][best]
    )
    assert best < 79
    assert history["train_loss"][-1] < 0.1
    assert history["learning_rate"][0] == 0.01


@pytest.mark.parametrize(("fraction", "each"), [(0.2, 2), (0.5, 5), (0.99, 9), (0.0, 0)])
def test_the_validation_samples_are_a_share_of_each_class(fraction, each):
    H, X, group = partition()
    y = few(group, 10)
    model = HypergraphClassifier(**QUICK).set_params(validation_fraction=fraction, epochs=3).fit(X, y, hypergraph=H)
    assert np.bincount(y[model.validation_], minlength=4).tolist() == [each] * 4
    assert np.bincount(y[model.train_]).tolist() == [10 - each] * 4
    np.testing.assert_array_equal(np.union1d(model.train_, model.validation_), np.flatnonzero(y >= 0))
    other = clone(model).set_params(random_state=1).fit(X, y, hypergraph=H)
    assert (other.validation_.tolist() != model.validation_.tolist()) == (each > 0)


def test_without_validation_samples_the_training_samples_validate():
    H, X, group = partition()
    model = HypergraphClassifier(**QUICK).fit(X, few(group, 1), hypergraph=H)
    assert (len(model.train_), len(model.validation_)) == (4, 0)
    assert model.history_["validation_accuracy"][-1] == 1


@pytest.mark.parametrize("device", DEVICES)
def test_the_same_seed_gives_the_same_model_and_torchs_own_state_is_left_alone(device):
    H, X, group = partition()
    y = few(group)
    before = torch.random.get_rng_state()
    options = QUICK | {"device": device}
    first, again = (HypergraphClassifier(**options).fit(X, y, hypergraph=H).predict_proba(X) for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state())
    tolerance = 0 if device == "cpu" else 1e-3  # a GPU may add up in another order
    np.testing.assert_allclose(first, again, rtol=0, atol=tolerance)
    torch.manual_seed(5)
    seeded = HypergraphClassifier(**options).fit(X, y, hypergraph=H).predict_proba(X)
    np.testing.assert_allclose(seeded, first, rtol=0, atol=tolerance)
    other = HypergraphClassifier(**options | {"random_state": 1}).fit(X, y, hypergraph=H).predict_proba(X)
    assert not np.allclose(other, first, atol=1e-2)


def test_the_number_of_threads_is_as_before_also_after_an_error():
    H, X, group = partition(n_nodes=20)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        HypergraphClassifier(**QUICK).fit(X, group, hypergraph=H)
        assert torch.get_num_threads() == 2
        with pytest.raises(ValueError, match="the loss is"):
            HypergraphClassifier(**QUICK | {"learning_rate": 1e30}).fit(X, group, hypergraph=H)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_another_hypergraph_may_be_given_to_predict():
    H, X, group = partition()
    model = HypergraphClassifier(**QUICK).fit(X, few(group), hypergraph=H)
    np.testing.assert_array_equal(model.predict_proba(X, hypergraph=H), model.predict_proba(X))
    new_H, new_X, new_group = partition(n_nodes=60)
    assert model.predict(new_X, hypergraph=new_H).shape == new_group.shape
    assert not np.allclose(model.predict_proba(X, hypergraph=H.top(3)), model.predict_proba(X))


# -- scikit-learn's conventions; its own checks call fit(X, y), without the hypergraph that there must be here -------


def test_parameters_clones_and_pickles():
    model = HypergraphClassifier(hidden=7, random_state=3)
    assert is_classifier(model)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(n_layers=3).get_params()["n_layers"] == 3
    defaults = HypergraphClassifier().get_params()
    expected = {"hidden": 128, "n_layers": 2, "epochs": 300, "learning_rate": 0.01, "factor": 0.7, "patience": 5}
    assert expected.items() <= defaults.items()
    assert HypergraphClassifier(**defaults).get_params() == defaults
    for unfitted in (model.predict, model.predict_proba):
        with pytest.raises(NotFittedError):
            unfitted(np.ones((3, 2)))
    with pytest.raises(NotFittedError):
        model.score(np.ones((3, 2)), [0, 1, 0])


def test_fit_returns_itself_and_changes_neither_parameters_nor_input():
    H, X, group = partition()
    y = few(group)
    copies = X.copy(), y.copy()
    model = HypergraphClassifier(**QUICK)
    before = model.get_params()
    assert model.fit(X, y, hypergraph=H) is model
    assert model.get_params() == before
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(y, copies[1])
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))
    assert next(model.module_.parameters()).device == torch.device("cpu")


def test_data_frames_and_their_names():
    H, X, group = partition()
    frame = pd.DataFrame(X, columns=[f"band {i}" for i in range(8)])
    model = HypergraphClassifier(**QUICK).fit(frame, pd.Series(few(group)), hypergraph=H)
    assert model.n_features_in_ == 8
    assert model.feature_names_in_.tolist() == list(frame.columns)
    same = HypergraphClassifier(**QUICK).fit(X, few(group).tolist(), hypergraph=H)
    np.testing.assert_array_equal(model.predict(frame), same.predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns=str.upper))
    with pytest.raises(ValueError, match="X has 3 features, but HypergraphClassifier is expecting 8"):
        same.predict(X[:, :3])


@pytest.mark.parametrize("names", [["left", "right"], [False, True], [1.0, 2.0]])
@pytest.mark.parametrize("marker", [-1, "?", None])
def test_labels_and_markers_of_any_kind(names, marker):
    H, X, group = partition(n_nodes=40)
    y = [names[g % 2] if i < 12 else marker for i, g in enumerate(group)]
    model = HypergraphClassifier(**QUICK | {"unlabelled": marker}).fit(X, y, hypergraph=H)
    assert model.classes_.tolist() == names
    assert len(model.train_) + len(model.validation_) == 12
    assert model.score(X, y) > 0.7
    assert set(model.predict(X).tolist()) <= set(names)


def test_progress_is_shown_on_wish(monkeypatch):
    H, X, group = partition(n_nodes=20)
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    HypergraphClassifier(**QUICK, verbose=True).fit(X, few(group, 2), hypergraph=H)
    assert "training" in terminal.getvalue()


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"hidden": 0}, ValueError, "hidden must be at least 1, got 0"),
        ({"n_layers": 1.5}, TypeError, r"n_layers must be a whole number, got 1\.5"),
        ({"epochs": 0}, ValueError, "epochs must be at least 1"),
        ({"learning_rate": 0}, ValueError, "learning_rate must be a finite number above 0"),
        ({"factor": 1.0}, ValueError, r"factor must be below 1, got 1\.0"),
        ({"patience": -1}, ValueError, "patience must be at least 0"),
        ({"validation_fraction": 1}, ValueError, "validation_fraction must be below 1, got 1"),
        ({"validation_fraction": -0.1}, ValueError, "validation_fraction must be a finite number, 0 or more"),
        ({"device": "tpu"}, ValueError, "device must be one of 'auto', 'cpu', 'cuda'"),
        ({"random_state": "x"}, TypeError, "random_state must be None, a whole number"),
        ({"learning_rate": 1e30, "epochs": 50}, ValueError, "the loss is .* in epoch .*; standardise X, or lower"),
    ],
)
def test_parameters_that_cannot_be(options, error, message):
    H, X, group = partition(n_nodes=20)
    with pytest.raises(error, match=message):
        HypergraphClassifier(**QUICK | options).fit(X, group, hypergraph=H)


def test_no_gpu_is_said(monkeypatch):
    H, X, group = partition(n_nodes=20)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="PyTorch finds no GPU; use 'auto' or 'cpu'"):
        HypergraphClassifier(device="cuda").fit(X, group, hypergraph=H)


def changed(values, at, value):
    values = np.array(values, dtype=object if isinstance(value, str) else None)
    values[at] = value
    return values


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda X, y: {"hypergraph": None}, TypeError, "structure must be a Hypergraph"),
        (lambda X, y: {"X": X[:19]}, ValueError, r"X holds 19 nodes \(rows\), but the hypergraph has 20"),
        (lambda X, y: {"X": changed(X, 0, np.nan)}, ValueError, "NaN"),
        (lambda X, y: {"y": y[:19]}, ValueError, "y holds 19 labels for 20 nodes; give membership"),
        (lambda X, y: {"y": [y]}, ValueError, "y must be a list of labels"),
        (lambda X, y: {"y": y + 0.5}, ValueError, "y must hold classes, but it holds numbers that are not whole"),
        (lambda X, y: {"y": np.full(20, -1)}, ValueError, "no sample is left to train on"),
        (lambda X, y: {"y": np.zeros(20)}, ValueError, r"of two classes or more, but all are .*0\.0"),
        (lambda X, y: {"y": changed(y, 0, "a")}, TypeError, "labels of one kind, all texts or all numbers"),
        (lambda X, y: {"membership": [0.5] * 20}, TypeError, "membership must be a list of whole numbers"),
        (lambda X, y: {"membership": [0] * 19}, ValueError, "the node of each of the 20 samples, got 19"),
        (lambda X, y: {"membership": [20] * 20}, ValueError, "nodes from 0 to 19, got 20 to 20"),
        (lambda X, y: {"train": []}, TypeError, "train must be positions of samples or a boolean mask of length 20"),
        (lambda X, y: {"train": np.zeros(20, bool)}, ValueError, "train holds no sample"),
        (lambda X, y: {"train": [True, False]}, TypeError, "a boolean mask of length 20"),
        (lambda X, y: {"validation": [20]}, ValueError, "validation must hold positions from 0 to 19"),
        (lambda X, y: {"validation": [-1]}, ValueError, "validation must hold positions from 0 to 19"),
        (lambda X, y: {"train": [0, 1], "validation": [1]}, ValueError, "must have no sample in common"),
        (lambda X, y: {"y": changed(y, 3, -1), "train": [0, 1, 3]}, ValueError, "train holds sample 3, which has no"),
        (lambda X, y: {"train": [0, 1], "validation": [2]}, ValueError, "validation holds the class 2, of which"),
    ],
)
def test_input_that_cannot_be(change, error, message):
    H, X, group = partition(n_nodes=20)
    given = {"X": X, "y": group, "hypergraph": H} | change(X, group)
    with pytest.raises(error, match=message):
        HypergraphClassifier(**QUICK).fit(**given)


def test_fit_needs_a_hypergraph():
    with pytest.raises(TypeError, match="hypergraph"):
        HypergraphClassifier().fit(np.ones((3, 2)), [0, 1, 0])


def test_predictions_that_cannot_be():
    H, X, group = partition(n_nodes=20)
    model = HypergraphClassifier(**QUICK).fit(X, group, hypergraph=H)
    with pytest.raises(ValueError, match=r"X holds 19 nodes \(rows\), but the hypergraph has 20"):
        model.predict(X[:19])
    with pytest.raises(ValueError, match="nodes from 0 to 19"):
        model.predict(X, membership=[20])
    with pytest.raises(ValueError, match="a label for each of the 20 samples, got 3"):
        model.score(X, [0, 1, 2])
    with pytest.raises(ValueError, match="no label to score"):
        model.score(X, np.full(20, -1))
