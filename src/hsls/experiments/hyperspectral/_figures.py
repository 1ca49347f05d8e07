"""Pictures: the scene, what each model tells of it, and the course of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hsls._types import AnyArray, FloatArray, IntArray
from hsls.experiments.hyperspectral._cnn import Trained
from hsls.experiments.hyperspectral._scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "curves", "maps", "scene"]

#: No class, then the classes: the customary colours of Indian Pines (those of Spectral Python).
COLOURS = (
    "#000000", "#ff0000", "#00ff00", "#0000ff", "#ffff00", "#ff00ff", "#00ffff", "#c86400", "#00c864", "#6400c8",
    "#c80064", "#64c800", "#0064c8", "#964b4b", "#4b964b", "#4b4b96", "#ff6464",
)  # fmt: skip

# Near infrared, red and green, counted from 0: plants are red.
_FALSE_COLOUR = (49, 26, 16)
_COLUMNS = 4


def scene(scene: Scene, names: Sequence[str]) -> Figure:
    """The scene in false colour, and its ground truth (the paper's figure 7)."""
    from hsls.drawing import _canvas

    drawing, axes = _canvas.panels(1, 2, 7.2, 4.6)
    axes[0].imshow(_false_colour(scene))
    _frame(axes[0], "false colour")
    _classes(axes[1], scene.classes)
    _frame(axes[1], "ground truth")
    _legend(drawing, names)
    return drawing


def maps(told: Mapping[str, IntArray], scene: Scene, names: Sequence[str]) -> Figure:
    """The ground truth, and the class of every pixel by each model."""
    from hsls.drawing import _canvas

    shown = {"ground truth": scene.classes, **told}
    rows = -(-len(shown) // _COLUMNS)
    drawing, axes = _canvas.panels(rows, _COLUMNS, 8.4, 2.3 * rows + 0.9)
    for ax in axes:
        ax.set_axis_off()
    for ax, (name, classes) in zip(axes, shown.items(), strict=False):
        _classes(ax, classes)
        _frame(ax, name)
    _legend(drawing, names)
    return drawing


def curves(networks: Sequence[Trained], histories: Mapping[str, Sequence[Mapping[str, AnyArray]]]) -> Figure:
    """Loss by epoch: of the convolutional networks, and of the models' networks, the mean over the trials."""
    from matplotlib import colormaps
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    from hsls.drawing import _canvas

    drawing, axes = _canvas.panels(1, 2, 9.0, 3.8)
    left, right = axes
    for number, network in enumerate(networks):
        epochs = np.arange(1, len(network.train_loss) + 1)
        first = number == 0
        left.plot(epochs, network.train_loss, color="#9a9a9a", lw=0.7, label="training" if first else None)
        left.plot(epochs, network.validation_loss, color="#1f6fb4", lw=0.7, label="validation" if first else None)
        best = network.validation_loss[network.epoch - 1]
        left.plot(network.epoch, best, "o", color="#c8321e", ms=4, zorder=3, label="state kept" if first else None)
    left.set_title("convolutional networks, each trial", fontsize=9)
    palette = ["#222222", *map(colormaps["tab10"], range(len(histories) - 1))]
    for colour, (name, trials) in zip(palette, histories.items(), strict=True):
        mean = np.mean([one["validation_loss"] for one in trials], axis=0)
        right.plot(np.arange(1, len(mean) + 1), mean, color=colour, lw=1.0, label=name)
    right.set_title("networks on hypergraphs, validation, mean over trials", fontsize=9)
    for ax in axes:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("epoch", fontsize=8)
        ax.set_ylabel("cross entropy", fontsize=8)
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(fontsize=7, frameon=False)
    right.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    return drawing


def _false_colour(scene: Scene) -> FloatArray:
    """Three bands, each stretched between its 2nd and 98th percentile."""
    bands = scene.cube[:, :, list(_FALSE_COLOUR)].astype(np.float64)
    low, high = np.percentile(bands, [2, 98], axis=(0, 1))
    stretched: FloatArray = np.clip((bands - low) / np.maximum(high - low, 1e-12), 0, 1)
    return stretched


def _classes(ax: Axes, classes: IntArray) -> None:
    from matplotlib.colors import ListedColormap

    ax.imshow(classes, cmap=ListedColormap(COLOURS), vmin=0, vmax=len(COLOURS) - 1, interpolation="nearest")


def _frame(ax: Axes, title: str) -> None:
    ax.set_title(title, fontsize=8)
    ax.set_axis_off()


def _legend(drawing: Figure, names: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    patches: list[Any] = [
        Patch(facecolor=colour, edgecolor="#555555", linewidth=0.4, label=name)
        for colour, name in zip(COLOURS, ("no class", *names), strict=False)
    ]
    drawing.legend(handles=patches, loc="outside lower center", ncols=5, fontsize=7, frameon=False)
