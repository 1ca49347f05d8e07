"""The stage command: what it writes, that it does nothing twice, and that it needs only torch and numpy."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from extras import needed
from hsls.experiments.hyperspectral import _cnn, features
from hsls.experiments.hyperspectral._cache import Cache
from scenes import TINY, raw, scene

needed("torch")

ABSENT = ("numba", "scipy", "sklearn", "skimage", "tensorly", "rich", "joblib", "pooch")


@pytest.fixture
def files(tmp_path):
    for name, array in zip(("cube", "gt"), raw(), strict=True):
        np.save(tmp_path / f"{name}.npy", array)
    return ["--cube", str(tmp_path / "cube.npy"), "--gt", str(tmp_path / "gt.npy"), "--out", str(tmp_path / "out")]


@pytest.fixture
def tiny(monkeypatch):
    """Networks of seconds, whatever the number of epochs."""
    network = _cnn.network
    monkeypatch.setattr(_cnn, "network", lambda bands, classes, _: network(bands, classes, TINY.widths))


def test_a_file_a_trial_and_a_summary(files, tiny, tmp_path, capsys):
    assert features.main([*files, "--trials", "2", "--epochs", "3", "--seed", "5"]) == 0
    summary = json.loads((tmp_path / "out" / "features.json").read_text())
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == sorted(["features.json", *(row["file"] for row in summary["trials"])])
    assert len(written) == 3
    assert (summary["seed"], summary["device"], summary["settings"]["epochs"]) == (5, "cpu", 3)
    assert {"hsls", "python", "numpy", "torch"} <= set(summary["versions"])
    for row in summary["trials"]:
        with np.load(tmp_path / "out" / row["file"], allow_pickle=False) as arrays:
            assert arrays["features"].shape == (168, 5)
            assert arrays["validation_loss"].tolist() == row["validation_loss"]
        assert row["validation_loss_at_epoch"] == min(row["validation_loss"])
        assert row["validation_accuracy_at_epoch"] == row["validation_accuracy"][row["epoch"] - 1]
        assert 0 <= row["test_accuracy"] <= 1
    said = capsys.readouterr()
    assert "cnn 3 of 3" in said.err
    assert "trial 1: epoch" in said.err
    assert not said.out


def test_what_is_there_is_not_trained_again(files, tiny, monkeypatch, tmp_path):
    assert features.main([*files, "--trials", "1", "--epochs", "1"]) == 0
    monkeypatch.setattr(_cnn, "train", lambda *_: pytest.fail("trained again"))
    assert features.main([*files, "--trials", "1", "--epochs", "1"]) == 0
    shelf = Cache(tmp_path / "out")
    name, _ = features.trained(scene(), 0, _cnn.Settings(epochs=1), 0, "cpu", Cache(tmp_path / "other"), [shelf])
    assert shelf.file(name).exists()
    assert not (tmp_path / "other").exists()


def test_trials_and_seeds_have_networks_of_their_own():
    assert len({features.network_seed(trial, seed) for trial in range(5) for seed in range(5)}) == 25


def test_the_paper_has_the_network_that_tests_best_serve_every_trial():
    networks = [_cnn.Trained(np.zeros((1, 1)), 1, accuracy, (1.0,), (1.0,), (1.0,)) for accuracy in (0.7, 0.9, 0.8)]
    assert features.by_protocol(networks, "leak-free") == networks
    served = features.by_protocol(networks, "paper")
    assert [network is networks[1] for network in served] == [True] * 3
    with pytest.raises(ValueError, match="protocol must be one of 'leak-free', 'paper'"):
        features.by_protocol(networks, "papers")


def test_only_torch_and_numpy_are_needed(files):
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({ABSENT})); from hsls.experiments.hyperspectral import features"
    )
    tiny = f"features._cnn.Settings.__init__.__defaults__ = (1, 16, 1e-3, {TINY.widths})"
    run = f"sys.exit(features.main({[*files, '--trials', '1', '--epochs', '1']}))"
    done = subprocess.run([sys.executable, "-c", f"{code}; {tiny}; {run}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--trials", "0"], "--trials must be at least 1"),
        (["--epochs", "0"], "--epochs must be at least 1"),
        (["--seed", "-1"], "--seed must be at least 0"),
        (["--cube", "nowhere.npy"], "nowhere.npy: there is no such file"),
    ],
)
def test_bad_input_is_told_in_a_sentence(files, wrong, said, capsys, tmp_path):
    assert features.main([*files, *wrong]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_unknown_device_is_told_in_a_sentence(files, tiny, capsys):
    assert features.main([*files, "--epochs", "1", "--device", "abacus"]) == 1
    error = capsys.readouterr().err
    assert "abacus" in error
    assert error.count("\n") == 1


def test_an_archive_is_no_cube(files, tmp_path, capsys):
    np.savez(tmp_path / "cube.npz", cube=raw()[0])
    assert features.main([*files, "--cube", str(tmp_path / "cube.npz")]) == 2
    assert "must be a .npy file of one array" in capsys.readouterr().err
