"""What every drawing of a hypergraph is made of: a frame, hulls, nodes, names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from hsls._types import FloatArray
from hsls.drawing import _canvas, _labels
from hsls.drawing.hulls import rounded_hull
from hsls.hypergraph import Hypergraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Positions = ArrayLike | Mapping[str, Any]

PADDING = 0.2  # of a hull of three nodes, in units of the distance of neighbouring nodes
WIDTH = 6.4  # inches, of a figure of our own
MAX_NAMES = 60
LEAST_FONT = 4.5  # points; smaller is not read in print


def check(labels: str | bool) -> None:
    """Say what is wrong before time goes into a layout."""
    _canvas.matplotlib()
    if not (isinstance(labels, bool) or labels == "auto"):
        raise ValueError(f'labels must be "auto", True or False, got {labels!r}.')


def positions_of(H: Hypergraph, pos: Positions | None) -> FloatArray:
    """Positions as an array, from the user or else from `layout`."""
    if not isinstance(H, Hypergraph):
        raise TypeError(f"H must be a Hypergraph, got {type(H).__name__}.")
    if pos is None:
        from hsls.drawing.layout import layout

        return layout(H)
    if isinstance(pos, Mapping):
        missing = [name for name in H.nodes if name not in pos]
        if missing:
            raise ValueError(f"pos holds no position for node {missing[0]!r}; give one for every node.")
        pos = [pos[name] for name in H.nodes]
    try:
        array = np.asarray(pos, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("pos must hold two numbers, x and y, for each node.") from None
    if array.size == 0:
        array = array.reshape(0, 2)
    if array.shape != (H.n_nodes, 2):
        raise ValueError(f"pos must have shape ({H.n_nodes}, 2), one row for each node, got {array.shape}.")
    if not np.all(np.isfinite(array)):
        bad = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise ValueError(f"pos must be finite, but that of node {H.nodes[bad]!r} is not.")
    return array


def spacing(positions: FloatArray) -> float:
    """A typical distance of neighbouring nodes: the median distance to the nearest other place."""
    from scipy.spatial import cKDTree

    places = np.unique(positions, axis=0)
    if len(places) < 2:
        return 1.0
    distances, _ = cKDTree(places).query(places, k=2)
    return float(np.median(distances[:, 1]))


def outlines(H: Hypergraph, positions: FloatArray, unit: float) -> list[FloatArray]:
    """The hull of each hyperedge. Smaller ones are padded less, so that they show inside larger ones."""
    return [
        rounded_hull(positions[list(edge)], unit * PADDING * (1 + 0.12 * (min(len(edge), 6) - 3))) for edge in H.edges
    ]


@dataclass
class Scene:
    """Axes with a frame set around outlines and nodes, in equal scale and without ticks.

    Parameters
    ----------
    own : bool
        Whether the figure is ours, so that its layout may be run.
    foot : float
        Room kept free at the bottom, in points.
    scale : float
        Points on paper for 1 in data; `frame` sets it.
    """

    ax: Axes
    positions: FloatArray
    outlines: Sequence[FloatArray]
    unit: float
    own: bool
    foot: float = 0.0
    scale: float = 1.0

    @classmethod
    def on(
        cls, ax: Axes | None, positions: FloatArray, outlines: Sequence[FloatArray], unit: float, foot: float = 0.0
    ) -> Scene:
        low, high = _box(positions, outlines, unit)
        width, height = high - low
        inches = float(np.clip(WIDTH * height / width, 2.0, WIDTH)) + foot / 72
        scene = cls(_canvas.axes_or_new(ax, WIDTH, inches), positions, outlines, unit, ax is None, foot)
        scene.ax.set_axis_off()
        scene.ax.set_aspect("equal", adjustable="box")
        scene.frame(low, high)
        return scene

    def frame(self, low: FloatArray, high: FloatArray) -> None:
        """Set the limits, keeping the foot free below, and find the scale."""
        room = 0.0
        for _ in range(3 if self.foot else 1):  # the room changes the scale, which changes the room
            self.ax.set_xlim(low[0], high[0])
            self.ax.set_ylim(low[1] - room, high[1])
            self.scale = self._points_per_unit()
            room = self.foot / self.scale

    def _points_per_unit(self) -> float:
        """Points on paper for 1 in data, after the layout has found the place of the axes."""
        figure: Any = self.ax.figure
        if self.own:
            figure.draw_without_rendering()
        else:
            self.ax.apply_aspect()
        (x0, _), (x1, _) = self.ax.transData.transform([(0.0, 0.0), (1.0, 0.0)])
        return float(abs(x1 - x0) * 72 / figure.dpi)

    def add_hull(self, number: int, **style: Any) -> None:
        """Draw an outline, larger ones behind smaller ones."""
        from matplotlib.patches import Polygon

        outline = self.outlines[number]
        x, y = outline.T
        area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
        rank = 1.0 / (1.0 + area / self.unit**2)
        self.ax.add_patch(Polygon(outline, closed=True, zorder=1 + 0.9 * rank, joinstyle="round", **style))

    def add_nodes(self) -> float:
        """Draw the nodes; returns their radius in points."""
        diameter = float(np.clip(0.17 * self.unit * self.scale, 1.5, 7.0))
        if len(self.positions):
            self.ax.plot(
                *self.positions.T, linestyle="none", marker="o", markersize=diameter, color=_canvas.INK,
                markeredgecolor="white", markeredgewidth=0.12 * diameter, zorder=3,
            )  # fmt: skip
        return diameter / 2

    def add_names(self, H: Hypergraph, labels: str | bool, radius: float) -> None:
        """Write the names, where they are wanted and, if "auto", fit."""
        from matplotlib.patheffects import withStroke

        wish = 0.3 * self.unit * self.scale
        if labels is False or H.n_nodes == 0:
            return
        if labels == "auto" and (H.n_nodes > MAX_NAMES or wish < 0.6 * LEAST_FONT):
            return
        size = float(np.clip(wish, LEAST_FONT, 9.0))
        texts = [_canvas.plain(name) for name in H.nodes]
        boxes, descents = _labels.text_boxes(texts, size)
        offsets = self._offsets(H, boxes, radius)
        offsets[:, 1] += descents - boxes[:, 1] / 2
        for text, node, offset in zip(texts, self.positions, offsets, strict=True):
            artist = self.ax.annotate(
                text, node, offset, textcoords="offset points", annotation_clip=False, fontsize=size,
                ha="center", va="baseline", color=_canvas.INK, zorder=4,
                path_effects=[withStroke(linewidth=0.2 * size, foreground="white", alpha=0.85)],
            )  # fmt: skip
            _canvas.literal(artist)

    def _offsets(self, H: Hypergraph, boxes: FloatArray, radius: float) -> FloatArray:
        """Centres of the names from their nodes, in points; the frame is widened to hold them."""
        middles = _middles(H, self.positions)
        low, high = _box(self.positions, self.outlines, self.unit)
        for _ in range(3):  # a wider frame brings the nodes nearer one another on paper, so look again
            scale = self.scale
            centres = _labels.place(self.positions * scale, boxes, radius, middles * scale)
            half = boxes / 2 + 1
            reach_low, reach_high = (centres - half).min(axis=0) / scale, (centres + half).max(axis=0) / scale
            if np.all(reach_low >= low) and np.all(reach_high <= high):
                break
            low, high = np.minimum(low, reach_low), np.maximum(high, reach_high)
            self.frame(low, high)
        return centres - self.positions * scale


def _box(positions: FloatArray, outlines: Sequence[FloatArray], unit: float) -> tuple[FloatArray, FloatArray]:
    """Corners of the box around everything, with a margin."""
    points = np.concatenate([positions, *outlines, np.zeros((0 if len(positions) else 1, 2))])
    return points.min(axis=0) - 0.35 * unit, points.max(axis=0) + 0.35 * unit


def _middles(H: Hypergraph, positions: FloatArray) -> FloatArray:
    """For each node the mean position of the nodes in its hyperedges, itself included."""
    incidence = H.incidence()
    sizes = np.maximum(H.cardinalities, 1)
    centroids = (incidence.T @ positions) / sizes[:, None]
    degrees = np.maximum(incidence.sum(axis=1), 1)[:, None]
    middles: FloatArray = np.where(incidence.sum(axis=1)[:, None] > 0, (incidence @ centroids) / degrees, positions)
    return middles
