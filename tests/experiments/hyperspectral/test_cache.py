"""The cache of trained networks: named by content, exact, all or nothing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hsls.experiments.hyperspectral import _cache
from hsls.experiments.hyperspectral._cache import Cache, key
from hsls.experiments.hyperspectral._cnn import Trained
from hsls.experiments.hyperspectral._splits import draw
from scenes import TINY, scene

SCENE = scene()
SPLIT = draw(SCENE.classes, 0)
TRAINED = Trained(np.arange(6, dtype=np.float16).reshape(3, 2), 2, 0.625, (2.0, 1.0), (1.5, 1.25), (0.5, 1.0))


def test_what_is_put_is_got(tmp_path):
    cache = Cache(tmp_path / "new" / "folder")
    assert cache.get("a") is None
    file = cache.put("a", TRAINED)
    found = cache.get("a")
    assert [*cache.folder.iterdir()] == [file] == [cache.file("a")]
    for name, value in dataclasses.asdict(TRAINED).items():
        np.testing.assert_array_equal(getattr(found, name), value)
    assert found.features.dtype == np.float16
    assert cache.get("b") is None


def test_a_file_of_elsewhere_may_be_put_in(tmp_path):
    file = Cache(tmp_path / "there").put("a", TRAINED)
    here = Cache(tmp_path / "here")
    here.folder.mkdir()
    file.rename(here.folder / file.name)
    assert here.get("a").epoch == 2


def test_equal_content_has_one_key():
    copy = dataclasses.replace(SCENE, cube=np.asfortranarray(SCENE.cube))
    assert key(copy, draw(SCENE.classes, 0), dataclasses.replace(TINY), 1) == key(SCENE, SPLIT, TINY, 1)


def test_other_content_has_another_key(monkeypatch):
    one_value = SCENE.cube.copy()
    one_value[3, 4, 5] += 1e-3
    one_class = SCENE.classes.copy()
    one_class[0, 0] = 0
    keys = [
        key(SCENE, SPLIT, TINY, 1),
        key(SCENE, SPLIT, TINY, 2),
        key(SCENE, draw(SCENE.classes, 1), TINY, 1),
        key(dataclasses.replace(SCENE, cube=one_value), SPLIT, TINY, 1),
        key(dataclasses.replace(SCENE, classes=one_class), SPLIT, TINY, 1),
        *(key(SCENE, SPLIT, dataclasses.replace(TINY, **change), 1) for change in CHANGES),
    ]
    monkeypatch.setattr(_cache, "_VERSION", 2)
    keys.append(key(SCENE, SPLIT, TINY, 1))
    assert len(set(keys)) == len(keys)


CHANGES = ({"epochs": 5}, {"batch_size": 8}, {"learning_rate": 0.1}, {"widths": (2, 3, 4, 6)})


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fails)
    with pytest.raises(OSError, match="disk full"):
        Cache(tmp_path).put("a", TRAINED)
    assert not [*tmp_path.iterdir()]


def test_a_damaged_or_foreign_file_is_named(tmp_path):
    cache = Cache(tmp_path)
    whole = cache.put("a", TRAINED).read_bytes()
    cache.file("a").write_bytes(whole[:-30])
    with pytest.raises(ValueError, match="is damaged or no numpy file"):
        cache.get("a")
    np.savez(cache.file("b"), features=np.zeros(3))
    with pytest.raises(ValueError, match=r"holds no features of a convolutional network .*; delete it"):
        cache.get("b")


def test_the_users_cache_stands_in_the_cache_of_the_package(monkeypatch, tmp_path):
    pytest.importorskip("pooch")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    from hsls.datasets._store import cache_folder

    assert _cache.users().folder == cache_folder() / "hyperspectral"
