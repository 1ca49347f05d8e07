"""The convolutional features: a small 3-D network learns to tell the class of a pixel from the patch around it.

    convolution  32 of 3x3x3, max-pool 3x1x1
    convolution  64 of 3x3x3, max-pool 3x1x1
    convolution 128 of 3x1x1
    convolution 256 of 2x1x1
    maximum over what is left: 256 features
    batch norm, linear: a score for each class

The first axis is the bands'. The convolutions are not padded, and each is followed by a rectifier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hsls import _progress
from hsls._types import AnyArray, Float32Array, IntArray
from hsls.experiments.hyperspectral._scene import Scene
from hsls.experiments.hyperspectral._splits import Split

if TYPE_CHECKING:
    import torch

__all__ = ["Settings", "Trained", "network", "padded", "patches", "scene_features", "train"]

#: Side of the square of pixels around each; those beyond the scene's edge are zero.
PATCH = 7
#: The least bands that the convolutions and pools leave anything of.
LEAST_BANDS = 44

# Rows of the scene that features are computed for at once: 200 MiB for 145 columns and 200 bands.
_ROWS = 24


@dataclass(frozen=True)
class Settings:
    """How a network is made and trained.

    Parameters
    ----------
    epochs : int
        The default is where the least validation loss so far, averaged over five trials on Indian Pines, has stopped
        falling by much: 1.14 at 20 epochs, 0.42 at 50, 0.34 at 100, 0.33 at 200.
    batch_size : int
    learning_rate : float
        Of Adam.
    widths : tuple of int
        Channels of the four convolutions.
    """

    epochs: int = 200
    batch_size: int = 32
    learning_rate: float = 1e-3
    widths: tuple[int, int, int, int] = (32, 64, 128, 256)


@dataclass(frozen=True)
class Trained:
    """What training a network gave.

    Attributes
    ----------
    features : float16 array of shape (pixels, features)
        Of every pixel of the scene.
    epoch : int
        Number, from 1, of the epoch after which the validation loss was least; the features and accuracy are of that
        state.
    test_accuracy : float
        Share of the test pixels whose class the network itself tells.
    train_loss, validation_loss, validation_accuracy : tuple of float
        Of each epoch; the first is the mean over its batches.
    """

    features: AnyArray
    epoch: int
    test_accuracy: float
    train_loss: tuple[float, ...]
    validation_loss: tuple[float, ...]
    validation_accuracy: tuple[float, ...]


def network(n_bands: int, n_classes: int, widths: tuple[int, int, int, int]) -> torch.nn.Sequential:
    """The network in two parts: the features of patches, and the scores of the classes from these."""
    from torch import nn

    if n_bands < LEAST_BANDS:
        raise ValueError(f"the convolutions need at least {LEAST_BANDS} bands, but the cube has {n_bands}.")
    first, second, third, fourth = widths
    features = nn.Sequential(
        nn.Conv3d(1, first, 3),
        nn.ReLU(),
        nn.MaxPool3d((3, 1, 1)),
        nn.Conv3d(first, second, 3),
        nn.ReLU(),
        nn.MaxPool3d((3, 1, 1)),
        nn.Conv3d(second, third, (3, 1, 1)),
        nn.ReLU(),
        nn.Conv3d(third, fourth, (2, 1, 1)),
        nn.ReLU(),
        nn.AdaptiveMaxPool3d(1),
        nn.Flatten(),
    )
    return nn.Sequential(features, nn.Sequential(nn.BatchNorm1d(fourth), nn.Linear(fourth, n_classes)))


def padded(cube: Float32Array, device: str = "cpu") -> torch.Tensor:
    """The cube with a margin of zeros, bands first."""
    import torch

    bands_first = torch.from_numpy(np.ascontiguousarray(np.moveaxis(cube, 2, 0))).to(device)
    return torch.nn.functional.pad(bands_first, (PATCH // 2,) * 4)


def patches(cube: torch.Tensor) -> torch.Tensor:
    """The patch around each pixel of a padded cube, as a view of shape (height, width, 1, bands, PATCH, PATCH)."""
    return cube.unfold(1, PATCH, 1).unfold(2, PATCH, 1).movedim(0, 2).unsqueeze(2)


def scene_features(features: torch.nn.Sequential, cube: torch.Tensor) -> torch.Tensor:
    """The features of every pixel of a padded cube, equal to `features` of their patches but many times faster.

    Nothing in the network pads, so the convolutions may run over the scene and share what patches have in common; the
    maximum over what is left of a patch is then one over the bands and over a window that moves with the pixel.
    """
    import torch

    margin = PATCH - 1
    height = cube.shape[1] - margin
    convolutions = features[:-2]  # all but the maximum and what flattens it
    found = []
    with _progress.stage("features", height) as reporter:
        for top in range(0, height, _ROWS):
            strip = cube[None, None, :, top : top + _ROWS + margin]
            left = convolutions(strip).amax(2)
            window = left.shape[3] - (cube.shape[2] - margin) + 1
            found.append(torch.nn.functional.max_pool2d(left, window, stride=1)[0])
            if reporter is not None:
                reporter.advance(min(top + _ROWS, height))
    return torch.cat(found, dim=1).flatten(1).T


def train(scene: Scene, split: Split, settings: Settings, seed: int, device: str = "cpu") -> Trained:
    """Train a network on the training pixels of a split and choose its state on the validation pixels.

    Parameters
    ----------
    scene : Scene
    split : Split
    settings : Settings
    seed : int
        Of the initial weights and of the batches; both are drawn on the CPU, whatever the device.
    device : str
        As torch names it: "cpu", "cuda".
    """
    import torch

    with (
        torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False),
        torch.random.fork_rng(devices=[]),
    ):
        random = torch.default_generator.manual_seed(seed)
        run = _Run(scene, network(scene.cube.shape[2], scene.n_classes, settings.widths), device)
        return _train(run, split, settings, random)


class _Run:
    """A network and the scene that it is shown."""

    def __init__(self, scene: Scene, model: torch.nn.Sequential, device: str) -> None:
        import torch

        # With the channels last in memory the pools take the CPU a ninth of the time.
        self.model = model.to(device, memory_format=torch.channels_last_3d) if device == "cpu" else model.to(device)
        self.cube = padded(scene.cube, device)
        self.patches = patches(self.cube)
        self.classes = torch.from_numpy(scene.classes.ravel() - 1).to(device)

    def of(self, pixels: IntArray) -> tuple[torch.Tensor, torch.Tensor]:
        """The patches of pixels and their classes, counted from 0."""
        rows, columns = np.divmod(pixels, self.patches.shape[1])
        return self.patches[rows, columns], self.classes[pixels]

    def step(self, optimiser: torch.optim.Optimizer, pixels: IntArray) -> float:
        """One step of training; returns the loss before it."""
        from torch.nn.functional import cross_entropy

        self.model.train()
        shown, classes = self.of(pixels)
        loss = cross_entropy(self.model(shown), classes)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return float(loss.item())

    def validate(self, pixels: IntArray) -> tuple[float, float]:
        """Mean cross entropy over pixels, and the share of them that is told right."""
        import torch
        from torch.nn.functional import cross_entropy

        self.model.eval()
        with torch.inference_mode():
            shown, classes = self.of(pixels)
            scores = self.model(shown)
            return cross_entropy(scores, classes).item(), (scores.argmax(1) == classes).double().mean().item()

    def features_and_accuracy(self, pixels: IntArray) -> tuple[Float32Array, float]:
        """The features of the whole scene, and the share of `pixels` that is told right."""
        import torch

        self.model.eval()
        with torch.inference_mode():
            features = scene_features(self.model[0], self.cube)
            told = self.model[1](features[pixels]).argmax(1)
            return features.cpu().numpy(), (told == self.classes[pixels]).double().mean().item()


def _train(run: _Run, split: Split, settings: Settings, random: torch.Generator) -> Trained:
    import torch

    optimiser = torch.optim.Adam(run.model.parameters(), lr=settings.learning_rate)
    curves: list[tuple[float, float, float]] = []
    best, chosen = np.inf, 0
    state: dict[str, torch.Tensor] = {}
    with _progress.stage("cnn", settings.epochs) as reporter:
        for epoch in range(1, settings.epochs + 1):
            order = torch.randperm(len(split.train), generator=random).numpy()
            batches = _batches(split.train[order], settings.batch_size)
            losses = [run.step(optimiser, batch) for batch in batches]
            loss, accuracy = run.validate(split.validation)
            curves.append((float(np.mean(losses)), loss, accuracy))
            if loss < best:
                best, chosen = loss, epoch
                state = {name: value.clone() for name, value in run.model.state_dict().items()}
            if reporter is not None:
                reporter.advance(epoch, f"loss {curves[-1][0]:.3f}, validation {loss:.3f} ({accuracy:.3f} right)")
    if not state:
        raise FloatingPointError("training the convolutional network failed: no epoch had a finite validation loss.")
    run.model.load_state_dict(state)
    features, test_accuracy = run.features_and_accuracy(split.test)
    train_loss, validation_loss, validation_accuracy = zip(*curves, strict=True)
    return Trained(
        features=features.astype(np.float16),
        epoch=chosen,
        test_accuracy=test_accuracy,
        train_loss=train_loss,
        validation_loss=validation_loss,
        validation_accuracy=validation_accuracy,
    )


def _batches(pixels: IntArray, size: int) -> list[IntArray]:
    """Parts of nearly equal length: batch norm cannot train on a single pixel left over."""
    return np.array_split(pixels, -(-len(pixels) // size))
