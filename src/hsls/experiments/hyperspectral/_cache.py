"""Trained networks, kept: features and curves in a file whose name is what they were computed from."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np

from hsls._files import PathLike, atomic_path, numpy_arrays
from hsls.experiments.hyperspectral._cnn import Settings, Trained
from hsls.experiments.hyperspectral._scene import Scene
from hsls.experiments.hyperspectral._splits import Split

__all__ = ["Cache", "key", "users"]

# Raised whenever the same inputs give other features.
_VERSION = 1

_CURVES = ("train_loss", "validation_loss", "validation_accuracy")


def key(scene: Scene, split: Split, settings: Settings, seed: int) -> str:
    """Name what a network is trained from: equal for equal content, on every machine."""
    digest = hashlib.sha256()
    for array in (scene.cube, scene.classes, split.train, split.validation, split.test):
        digest.update(f"{array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(json.dumps([_VERSION, dataclasses.asdict(settings), seed], sort_keys=True).encode())
    return digest.hexdigest()[:32]


class Cache:
    """A folder of trained networks, each a file of its own, so that files computed elsewhere may be put into it.

    Parameters
    ----------
    folder : path
        Made when something is first put into it.
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)

    def file(self, name: str) -> Path:
        """Where a network is kept, whether it is there or not."""
        return self.folder / f"cnn-{name}.npz"

    def get(self, name: str) -> Trained | None:
        """The network of a key, or None if it is not there."""
        file = self.file(name)
        if not file.exists():
            return None
        arrays = numpy_arrays(file)
        try:
            return Trained(
                features=arrays["features"],
                epoch=int(arrays["epoch"]),
                test_accuracy=float(arrays["test_accuracy"]),
                **{curve: tuple(arrays[curve].tolist()) for curve in _CURVES},
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"{file} holds no features of a convolutional network ({error}); delete it.") from None

    def put(self, name: str, trained: Trained) -> Path:
        """Keep a network, all or nothing; returns the file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.file(name)
        with atomic_path(file) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(
                stream,
                features=trained.features,
                epoch=np.int64(trained.epoch),
                test_accuracy=np.float64(trained.test_accuracy),
                **{curve: np.array(getattr(trained, curve)) for curve in _CURVES},
            )
        return file


def users() -> Cache:
    """The cache of this user on this machine."""
    from hsls.datasets._store import cache_folder

    return Cache(cache_folder() / "hyperspectral")
