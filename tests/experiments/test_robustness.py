"""The experiment on robustness: every kind of signal is what it says, and the report says what the table says."""

from __future__ import annotations

import json

import matplotlib
import numpy as np
import pytest

from hsls import HSLS, HypergraphMLE, KNNHypergraph, compare, random_hypergraph, smooth_signals
from hsls.components import connected_components
from hsls.experiments import robustness
from hsls.experiments._outputs import Folder

FEW = ("the model", "white noise, SNR 1", "levels of the nodes")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A run of few conditions on small hypergraphs."""
    folder = tmp_path_factory.mktemp("robustness")
    with pytest.MonkeyPatch.context() as patch, matplotlib.rc_context({"backend": "agg"}):
        patch.setattr(robustness, "SIZE", (15, 15))
        patch.setattr(robustness, "GRID", [(100.0, 0.1), (1000.0, 1.0)])
        patch.setattr(robustness, "CONDITIONS", {name: robustness.CONDITIONS[name] for name in FEW})
        rows = robustness.run(Folder(folder), seeds=2, n_jobs=1)
    return folder, rows


@pytest.fixture
def truth():
    return random_hypergraph(14, 9, (2, 3), random_state=1)


def signals(name, truth, count=400):
    return robustness.CONDITIONS[name].signals(truth, count, np.random.default_rng(5))


def test_every_method_stands_under_every_condition(done):
    folder, rows = done
    plain = [(row["condition"], row["method"]) for row in rows if not row["cure"]]
    assert plain == [(name, method) for name in FEW for method in robustness.METHODS]
    cured = {(row["condition"], row["cure"], row["method"]) for row in rows if row["cure"]}
    assert cured == {
        (name, cure.name, method)
        for name in FEW
        for cure in robustness.CONDITIONS[name].cures
        for method in robustness.CURED
    }
    assert {path.name for path in folder.iterdir()} == {
        "table.json", "table.csv", "draws.json", "draws.csv", "robustness.png", "robustness.pdf", "report.md",
    }  # fmt: skip
    assert json.loads((folder / "table.json").read_text()) == rows
    draws = json.loads((folder / "draws.json").read_text())
    for row in rows:
        own = [one["f1"] for one in draws if all(one[key] == row[key] for key in ("condition", "cure", "method"))]
        assert row["f1_mean"] == pytest.approx(np.mean(own))
        assert row["f1_std"] == pytest.approx(np.std(own, ddof=1))


def test_the_scores_are_those_of_the_public_methods_on_the_same_signals(done):
    draws = json.loads((done[0] / "draws.json").read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(robustness, "SIZE", (15, 15))
        H = robustness.truth_of(robustness.Task("levels of the nodes", 1))
    X = robustness.CONDITIONS["levels of the nodes"].signals(H, 250, np.random.default_rng([1, 1]))
    models = {
        ("", "HSLS, default"): HSLS(),
        ("", "HSLS, automatic"): HSLS(alpha="auto"),
        ("", "MLE, automatic"): HypergraphMLE(),
        ("", "Gao K-NN"): KNNHypergraph((2, 3)),
        (robustness.CENTRED.name, "MLE, automatic"): HypergraphMLE(centre=True),
    }
    for (cure, method), model in models.items():
        key = ("levels of the nodes", 1, cure, method)
        (row,) = [one for one in draws if (one["condition"], one["seed"], one["cure"], one["method"]) == key]
        assert row["f1"] == pytest.approx(compare(model.fit(X).hypergraph_, H).f1)


def test_hypergraphs_are_connected_or_in_as_many_parts_as_said():
    for seed in range(5):
        one = robustness.truth_of(robustness.Task("the model", seed))
        parts = robustness.truth_of(robustness.Task(f"hypergraph of {robustness.PARTS} parts", seed))
        assert (one.n_nodes, one.n_edges) == (parts.n_nodes, parts.n_edges) == robustness.SIZE
        assert [len(connected_components(H)) for H in (one, parts)] == [1, robustness.PARTS]
        assert one == robustness.truth_of(robustness.Task("signs", seed))


def test_centring_undoes_levels(done):
    at = {(row["condition"], row["cure"], row["method"]): row["f1_mean"] for row in done[1]}
    for method in robustness.CURED:
        cured = at["levels of the nodes", robustness.CENTRED.name, method]
        assert cured == at["the model", robustness.CENTRED.name, method]
        assert cured >= at["levels of the nodes", "", method] + 0.2


@pytest.mark.parametrize("name", robustness.CONDITIONS)
def test_signals_repeat_and_are_finite(truth, name):
    count = robustness.CONDITIONS[name].n_observations
    X = signals(name, truth, count)
    assert X.shape == (14, count)
    assert np.all(np.isfinite(X))
    assert np.array_equal(X, signals(name, truth, count))
    for cure in robustness.CONDITIONS[name].cures:
        rows = cure.rows(X)
        assert np.all(np.isfinite(rows))
        for options in (cure.options(X), cure.of_likelihood(X)):
            assert all(np.all(np.isfinite(value)) for value in options.values())


@pytest.mark.parametrize("ratio", [100, 10, 1])
def test_noise_has_its_variance_and_the_cure_is_told_it(truth, ratio):
    name = f"white noise, SNR {ratio}"
    clean = smooth_signals(truth, 4000, random_state=np.random.default_rng(5))
    X = signals(name, truth, 4000)
    assert (X - clean).var() == pytest.approx(clean.var() / ratio, rel=0.03)
    (cure,) = robustness.CONDITIONS[name].cures
    assert cure.of_likelihood(X)["noise"] == pytest.approx(clean.var() / ratio, rel=0.05)


def test_time_is_remembered_and_the_variance_kept(truth):
    clean = smooth_signals(truth, 4000, random_state=np.random.default_rng(5))
    X = signals("AR(1) in time, 0.5", truth, 4000)
    assert np.sum(X[:, 1:] * X[:, :-1]) / np.sum(X**2) == pytest.approx(0.5, abs=0.05)
    assert np.cov(X) == pytest.approx(np.cov(clean), abs=0.12 * clean.var())


def test_filters_weigh_what_is_smooth(truth):
    L = truth.clique_laplacian().toarray()
    L /= np.linalg.eigvalsh(L)[-1]
    X = signals("Tikhonov filter", truth, 20_000)
    assert X @ X.T / X.shape[1] == pytest.approx(
        np.linalg.matrix_power(np.linalg.inv(np.eye(14) + 10 * L), 2), abs=0.03
    )
    X = signals("heat diffusion", truth, 20_000)
    values, vectors = np.linalg.eigh(L)
    assert X @ X.T / X.shape[1] == pytest.approx((vectors * np.exp(-20 * values)) @ vectors.T, abs=0.03)


def test_what_changes_rows_changes_them_alone(truth):
    clean = smooth_signals(truth, 250, random_state=np.random.default_rng(5))
    levels = signals("levels of the nodes", truth, 250) - clean
    assert np.ptp(levels, axis=1).max() < 1e-12
    units = signals("units of the nodes", truth, 250) / clean
    assert np.allclose(units, units[:, :1])
    assert set(np.unique(signals("signs", truth))) == {0.0, 1.0}


def test_the_report_says_what_the_table_says(done):
    folder, rows = done
    report = (folder / "report.md").read_text(encoding="utf-8")
    at = {(row["condition"], row["cure"], row["method"]): row for row in rows}
    first, second = (part.splitlines() for part in report.split("### What was tried"))
    for name in FEW:
        (line,) = [line for line in first if line.startswith(f"| {name} |")]
        cells = [cell.strip() for cell in line.strip("|").split("|")][1:]
        shown = [at[name, "", method] for method in robustness.METHODS]
        assert cells == [f"{row['f1_mean']:.3f} ± {row['f1_std']:.3f}" for row in shown]
        for cure in robustness.CONDITIONS[name].cures:
            (line,) = [line for line in second if line.startswith(f"| {name} | {cure.name} |")]
            for method in robustness.CURED:
                assert f"{at[name, cure.name, method]['f1_mean']:.3f}" in line
    noisy = at["white noise, SNR 1", "", "MLE, automatic"]
    assert (
        f"white noise, SNR 1 (by {at['the model', '', noisy['method']]['f1_mean'] - noisy['f1_mean']:.2f}, " in report
    )


def test_words_follow_the_numbers():
    row = {"hyperedges_mean": robustness.SIZE[1] + 9.0, "f1_mean": 0.5}
    assert robustness._failure("x", 0.31, row) == f"x (by 0.31, with {robustness.SIZE[1] + 9} hyperedges, too many)"
    assert "too few" in robustness._failure("x", 0.31, row | {"hyperedges_mean": 1.0})
    assert robustness._listed([]) == "none"
