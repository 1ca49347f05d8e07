"""The experiment on a small scene: what it writes, that it repeats itself, and that test pixels are only scored."""

from __future__ import annotations

import dataclasses
import json
import shutil

import numpy as np
import pytest

from extras import needed
from hsls.cli import main
from hsls.experiments._outputs import Folder
from hsls.experiments.hyperspectral import _cache, _cnn, _models, _report, experiment
from hsls.experiments.hyperspectral._models import BASELINE, BASELINE_MULTI_SCALE, HSLS, MULTI_SCALE
from hsls.experiments.hyperspectral._scene import Scene
from hsls.experiments.hyperspectral._splits import draw
from scenes import TINY, raw, scene

needed("torch", "matplotlib", "skimage")

BANDS = 52
WORDS = ("--trials", "2", "--epochs", "3", "--seed", "1")
KEYS = ["protocol", "model", "OA_mean", "OA_std", "AA_mean", "AA_std", "kappa_mean", "kappa_std"]


def tiles(scene, n_segments):
    """Superpixels that take no time: squares of 2 x 2 pixels, and single columns of two where more are asked for."""
    rows, columns = np.indices(scene.classes.shape)
    return (rows // 2) * scene.classes.shape[1] + columns // (2 if n_segments == _models.N_SEGMENTS else 1)


def numbered(scene, n_segments):
    labels = tiles(scene, n_segments)
    return np.unique(labels, return_inverse=True)[1].reshape(labels.shape)


def small(models):
    return tuple(dataclasses.replace(m, choices=m.choices[-2:], scales=m.scales[:2]) for m in models)


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    """A small scene, small networks and two settings to choose from; the cache is a folder of the tests."""
    cache = _cache.Cache(tmp_path_factory.mktemp("setting") / "cache")
    network = _cnn.network
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cnn, "network", lambda bands, classes, _: network(bands, classes, TINY.widths))
        patch.setattr(_cache, "users", lambda: cache)
        patch.setattr(experiment, "load_indian_pines", lambda data: (*raw(bands=BANDS), ("rock", "water", "plasma")))
        patch.setattr(experiment, "superpixels", numbered)
        patch.setattr(experiment, "MODELS", small(experiment.MODELS))
        told_of = (_models.CHOSEN, _models.AS_LOW, _models.RAW)
        patch.setattr(experiment, "TRIED", small(model for model in _models.TRIED if model.name in told_of))
        patch.setattr(_report, "SCALES", _report.SCALES[:2])
        yield cache


@pytest.fixture(scope="module")
def written(setting, tmp_path_factory):
    """The folder of a run, and its page."""
    home = tmp_path_factory.mktemp("written")
    out, page = home / "out", home / "docs" / "page.md"
    page.parent.mkdir()
    assert reproduce("--out", out, *WORDS, "--protocol", "both", "--page", page) == 0
    return out, page


@pytest.fixture
def no_figures(monkeypatch):
    monkeypatch.setattr(Folder, "figure", lambda *_: None)


@pytest.fixture
def no_training(monkeypatch):
    monkeypatch.setattr(_cnn, "train", lambda *_: pytest.fail("a network that is there was trained again"))


def reproduce(*words):
    return main(["reproduce", "hyperspectral", *map(str, words), "--jobs", "1", "--quiet"])


def read(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


# -- what is written ---------------------------------------------------------------------------------------------------


def test_everything_is_written(written):
    tables = ("table", "classes", "trials", "settings", "grid", "tried")
    expected = {f"{name}.{ending}" for name in tables for ending in ("json", "csv")}
    expected |= {f"{name}.{ending}" for name in ("scene", "maps", "curves") for ending in ("png", "pdf")}
    expected |= {"table.md", "report.md", "cnn.json", "run.json"}
    assert {file.name for file in written[0].iterdir()} == expected
    assert read(written[0], "run")["epochs"] == {"convolutional networks": 3, "networks on hypergraphs": 3}


def test_the_table_holds_every_model_and_follows_from_the_trials(written):
    out, _ = written
    table, trials, classes = (read(out, name) for name in ("table", "trials", "classes"))
    names = [BASELINE, *HSLS, BASELINE_MULTI_SCALE, MULTI_SCALE]
    assert [(row["protocol"], row["model"]) for row in table] == [
        (protocol, name) for protocol in ("leak-free", "paper") for name in names
    ]
    assert (out / "table.csv").read_text().startswith(",".join(KEYS))
    for row in table:
        assert list(row)[:8] == KEYS
        own = [one for one in trials if all(one[name] == row[name] for name in KEYS[:2])]
        for score in ("OA", "AA", "kappa"):
            assert row[f"{score}_mean"] == pytest.approx(np.mean([one[score] for one in own]), abs=1e-3)
            assert row[f"{score}_std"] == pytest.approx(np.std([one[score] for one in own], ddof=1), abs=1e-3)
        means = [one["accuracy_mean"] for one in classes if all(one[name] == row[name] for name in KEYS[:2])]
        assert row["AA_mean"] == pytest.approx(np.mean(means), abs=1e-3)


def test_the_papers_figures_stand_beside_the_baseline_and_the_best_model(written):
    table = read(written[0], "table")
    for protocol in ("leak-free", "paper"):
        own = [row for row in table if row["protocol"] == protocol]
        best = max((row for row in own if row["model"] in HSLS), key=lambda row: row["OA_mean"])["model"]
        known = {BASELINE: (78.98, 8.97), best: (90.03, 0.36)}
        for row in own:
            assert (row["paper_OA_mean"], row["paper_OA_std"]) == known.get(row["model"], (None, None))


def test_chosen_are_the_settings_of_least_validation_loss(written):
    chosen, grid = read(written[0], "settings"), read(written[0], "grid")
    of = ("protocol", "model", "trial", "asked_for")
    for row in chosen:
        among = [one for one in grid if all(one[name] == row[name] for name in of)]
        assert len(among) == (1 if row["model"].startswith("baseline") else 2)
        assert row["validation_loss"] == min(one["validation_loss"] for one in among)
    assert {row["asked_for"] for row in chosen if row["model"] == MULTI_SCALE} == {200, 400}


def test_the_page_links_to_the_folder(written):
    text = written[1].read_text()
    assert text.startswith("# Hyperspectral images")
    assert "](../out/maps.png)" in text
    assert "](../out/table.csv)" in text
    assert "| 1 rock | " in text
    assert "plasma" not in text  # a class that the scene has no pixel of


def test_the_same_command_writes_the_same(written, no_figures, no_training, tmp_path):
    assert reproduce("--out", tmp_path, *WORDS, "--protocol", "both") == 0
    again = list(tmp_path.iterdir())
    assert len(again) == 16
    for file in again:
        assert file.read_bytes() == (written[0] / file.name).read_bytes(), file.name


# -- where convolutional networks come from ----------------------------------------------------------------------------


def test_features_from_a_folder_and_their_record(written, setting, no_figures, no_training, tmp_path, monkeypatch):
    shelf = shutil.copytree(setting.folder, tmp_path / "shelf")
    record = {"device": "an abacus", "versions": {"torch": "9"}, "seed": 1, "settings": {"epochs": 3}, "trials": []}
    (shelf / "features.json").write_text(json.dumps(record))
    monkeypatch.setattr(_cache, "users", lambda: _cache.Cache(tmp_path / "empty"))
    assert reproduce("--out", tmp_path / "out", "--features", shelf, *WORDS) == 0
    found, whole = read(tmp_path / "out", "table"), read(written[0], "table")
    assert found == [row for row in whole if row["protocol"] == "leak-free"]
    assert "an abacus" in (tmp_path / "out" / "report.md").read_text()
    assert "an abacus" not in (written[0] / "report.md").read_text()


def test_features_of_other_epochs_are_said_to_be_missing(setting, tmp_path):
    shelf = _cache.Cache(tmp_path)
    with pytest.warns(UserWarning, match="holds no network of trial 0 with these epochs and this seed"):
        experiment._networks(scene(bands=BANDS), 1, _cnn.Settings(epochs=1), 0, "cpu", shelf)


# -- no test pixel is seen ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["leak-free", "paper"])
def test_the_classes_of_test_pixels_change_nothing_but_the_scores(protocol):
    """Whatever stands at test pixels, networks see the same and tell the same."""
    one = scene(bands=BANDS)
    splits = [draw(one.classes, trial) for trial in range(2)]
    split = splits[0]
    others = one.classes.ravel().copy()
    others[split.test] = np.random.default_rng(0).permutation(others[split.test])
    other = Scene(one.cube, others.reshape(one.classes.shape))
    rng = np.random.default_rng(1)
    networks = [_cnn.Trained(rng.random((168, 5)), 1, rng.random(), (1.0,), (1.0,), (1.0,)) for _ in splits]
    labels = {scale: numbered(one, scale) for scale in (200, 400)}
    wanted = [(protocol, model) for model in small(_models.MODELS)[::5]]
    found = [
        experiment._Stage(of, splits[:1], labels, networks, 4, 0).outcomes(wanted, "models", 1) for of in (one, other)
    ]
    for left, right in zip(*found, strict=True):
        np.testing.assert_array_equal(left.told, right.told)
        for scale, network in left.fits.items():
            assert network.tried == right.fits[scale].tried
    assert any(left.scores.OA != right.scores.OA for left, right in zip(*found, strict=True))


def test_no_task_holds_a_test_pixel():
    one = scene(bands=BANDS)
    split = draw(one.classes, 0)
    network = _cnn.Trained(np.random.default_rng(0).random((168, 5)), 1, 0.5, (1.0,), (1.0,), (1.0,))
    own = np.arange(one.n_pixels).reshape(one.classes.shape)  # each pixel its own superpixel
    stage = experiment._Stage(one, [split], {200: own}, [network], 1, 0)
    task = stage.task("leak-free", _models.MODELS[0], 0, 200)
    held = np.concatenate([task.train[0], task.validation[0]])
    assert not np.intersect1d(held, split.test).size
    assert len(task.train[1]) + len(task.validation[1]) == len(held) == 15 + 50


def test_protocols_share_the_networks_of_equal_tasks():
    rng = np.random.default_rng(0)
    networks = [_cnn.Trained(rng.random((168, 5)), 1, accuracy, (1.0,), (1.0,), (1.0,)) for accuracy in (0.2, 0.4)]
    one = scene(bands=BANDS)
    stage = experiment._Stage(one, [draw(one.classes, trial) for trial in (0, 1)], {}, networks, 1, 0)
    model = _models.MODELS[0]
    assert stage.key("leak-free", model, 1, 200) == stage.key("paper", model, 1, 200)
    assert stage.key("leak-free", model, 0, 200) != stage.key("paper", model, 0, 200)


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--trials", "0"], "trials must be at least 1"),
        (["--epochs", "0"], "epochs must be at least 1"),
        (["--seed", "-1"], "seed must be at least 0"),
        (["--seed", "x"], "must be a whole number"),
        (["--protocol", "papers"], "protocol must be one of 'leak-free', 'paper', 'both'"),
        (["--device", "tpu"], "device must be one of 'auto', 'cpu', 'cuda'"),
        (["--features", "nowhere"], "features names nowhere, which is no folder"),
        (["--jobs", "0"], "n_jobs must be"),
    ],
)
def test_bad_input_is_told_in_a_sentence_before_anything_is_written(wrong, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "hyperspectral", "--out", "out", *wrong]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert not (tmp_path / "out").exists()


def test_a_broken_record_is_told(tmp_path, capsys):
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "features.json").write_text("{}")
    assert (
        main(["reproduce", "hyperspectral", "--out", str(tmp_path / "out"), "--features", str(tmp_path / "shelf")]) == 2
    )
    assert "is no record of convolutional networks" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
