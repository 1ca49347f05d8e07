"""The convolutional network: its layers, its patches, and that training is repeatable and sees no test pixel."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from extras import needed
from hsls.experiments.hyperspectral import _cnn
from hsls.experiments.hyperspectral._scene import Scene
from hsls.experiments.hyperspectral._splits import draw
from scenes import TINY, raw, scene

needed("torch")
import torch  # noqa: E402

SCENE = scene()
SPLIT = draw(SCENE.classes, 0)


@pytest.fixture(scope="module")
def trained():
    return _cnn.train(SCENE, SPLIT, TINY, seed=1)


def test_the_layers_are_those_of_the_paper():
    model = _cnn.network(200, 16, _cnn.Settings().widths)
    shapes = {name: tuple(value.shape) for name, value in model.named_parameters() if value.ndim > 1}
    assert list(shapes.values()) == [
        (32, 1, 3, 3, 3),
        (64, 32, 3, 3, 3),
        (128, 64, 3, 1, 1),
        (256, 128, 2, 1, 1),
        (16, 256),
    ]
    assert sum(value.numel() for value in model.parameters()) == 896 + 55360 + 24704 + 65792 + 512 + 4112
    assert model[0](torch.zeros(2, 1, 200, 7, 7)).shape == (2, 256)
    assert model(torch.zeros(2, 1, 200, 7, 7)).shape == (2, 16)


def test_fewest_bands():
    assert _cnn.network(44, 2, TINY.widths)[0](torch.zeros(1, 1, 44, 7, 7)).shape == (1, 5)
    with pytest.raises(ValueError, match="need at least 44 bands, but the cube has 43"):
        _cnn.network(43, 2, TINY.widths)


def test_patches_are_windows_padded_with_zeros():
    patches = _cnn.patches(_cnn.padded(SCENE.cube)).numpy()
    around = np.pad(SCENE.cube, ((3, 3), (3, 3), (0, 0)))
    assert patches.shape == (12, 14, 1, 44, 7, 7)
    for row, column in [(0, 0), (11, 13), (0, 13), (5, 6)]:
        window = around[row : row + 7, column : column + 7]
        np.testing.assert_array_equal(np.moveaxis(patches[row, column, 0], 0, 2), window)


@pytest.mark.parametrize("rows", [1, 5, 12, 100])
def test_features_of_the_scene_are_those_of_the_patches(rows, monkeypatch):
    monkeypatch.setattr(_cnn, "_ROWS", rows)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        features = _cnn.network(44, 2, TINY.widths)[0].double()
    cube = _cnn.padded(SCENE.cube).double()
    with torch.inference_mode():
        expected = features(_cnn.patches(cube).flatten(0, 1))
        found = _cnn.scene_features(features, cube)
    assert expected.abs().max() > 0
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-12)


def test_training_is_repeatable_and_leaves_the_random_state_alone(trained):
    before = torch.get_rng_state()
    again = _cnn.train(SCENE, SPLIT, TINY, seed=1)
    assert torch.equal(torch.get_rng_state(), before)
    for name, value in dataclasses.asdict(trained).items():
        np.testing.assert_array_equal(getattr(again, name), value, err_msg=name)
    assert _cnn.train(SCENE, SPLIT, TINY, seed=2).train_loss != trained.train_loss


def test_the_state_of_least_validation_loss_is_kept():
    whole = _cnn.train(SCENE, SPLIT, dataclasses.replace(TINY, epochs=6, learning_rate=0.1), seed=3)
    assert len(whole.train_loss) == len(whole.validation_loss) == len(whole.validation_accuracy) == 6
    assert whole.epoch == 1 + np.argmin(whole.validation_loss)
    stopped = dataclasses.replace(TINY, epochs=whole.epoch, learning_rate=0.1)
    np.testing.assert_array_equal(_cnn.train(SCENE, SPLIT, stopped, seed=3).features, whole.features)


def test_it_learns():
    settings = dataclasses.replace(TINY, epochs=20, learning_rate=0.02, widths=(4, 8, 8, 16))
    found = _cnn.train(SCENE, SPLIT, settings, seed=0)
    assert found.test_accuracy > 0.95
    assert min(found.validation_loss) < 0.5 * np.log(2)


def test_test_pixels_have_no_say(trained):
    cube, classes = raw()
    classes.ravel()[SPLIT.test] = 3 - classes.ravel()[SPLIT.test]
    other = _cnn.train(Scene.of(cube, classes), SPLIT, TINY, seed=1)
    np.testing.assert_array_equal(other.features, trained.features)
    assert other.validation_loss == trained.validation_loss
    assert other.test_accuracy == pytest.approx(1 - trained.test_accuracy)


def test_features_are_small_numbers_for_every_pixel(trained):
    assert trained.features.shape == (168, 5)
    assert trained.features.dtype == np.float16
    assert np.isfinite(trained.features).all()


def test_a_run_that_blows_up_is_no_result():
    with pytest.raises(FloatingPointError, match="no epoch had a finite validation loss"):
        _cnn.train(SCENE, SPLIT, dataclasses.replace(TINY, learning_rate=1e30), seed=0)
