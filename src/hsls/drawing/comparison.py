"""A learned hypergraph against the true one: what is right, wrong and missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hsls.drawing import _canvas, _colours
from hsls.drawing._scene import Positions, Scene, check, outlines, positions_of, spacing
from hsls.hypergraph import Hypergraph
from hsls.metrics import precision_recall_f1

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_comparison"]

# Colour, line style and opacity of the fill; the line style tells them apart without colour.
STYLES = {
    "right": (_colours.GREEN, "solid", 0.22),
    "wrong": (_colours.VERMILLION, "dashed", 0.25),
    "missed": (_colours.BLUE, "dotted", 0.15),
}
LEGEND_FONT = 7.5  # points; the legend then fits a column of 3.4 inches


def draw_comparison(
    found: Hypergraph,
    truth: Hypergraph,
    *,
    pos: Positions | None = None,
    ax: Axes | None = None,
    labels: str | bool = "auto",
) -> Axes:
    """Draw the hyperedges of two hypergraphs on the same nodes: right, wrong and missed.

    Right (in both) green and solid, wrong (only found) red and dashed, missed (only in the truth) blue and
    dotted; the legend gives their numbers and the F1 score. Weights play no part.

    Parameters
    ----------
    found, truth : Hypergraph
        The nodes are matched by name; their order may differ.
    pos : array of shape (n_nodes, 2) or mapping from node name to position, optional
        In the truth's order. By default `hsls.drawing.layout` of both hypergraphs together.
    ax, labels
        As in `draw`.

    Returns
    -------
    matplotlib Axes
    """
    check(labels)
    _, _, score = precision_recall_f1(found, truth)  # says so if their nodes differ
    kinds = _kinds(found, truth)
    both = Hypergraph.from_edges(sorted(kinds), nodes=truth.nodes)
    positions = positions_of(both, pos)
    unit = spacing(positions)
    scene = Scene.on(ax, positions, outlines(both, positions, unit), unit, foot=3.6 * LEGEND_FONT)
    line = float(np.clip(scene.scale * unit / 20, 0.8, 1.5))
    for number, edge in enumerate(both.edges):
        colour, style, opacity = STYLES[kinds[edge]]
        scene.add_hull(
            number,
            facecolor=_colours.faded(colour, opacity),
            edgecolor=colour,
            linestyle=style,
            linewidth=line,
        )
    scene.add_names(both, labels, scene.add_nodes())
    _add_legend(scene.ax, list(kinds.values()), score, line)
    return scene.ax


def _kinds(found: Hypergraph, truth: Hypergraph) -> dict[tuple[int, ...], str]:
    """For each hyperedge of either, by node positions of the truth, whether it is right, wrong or missed."""
    position = {name: i for i, name in enumerate(truth.nodes)}
    learned = {tuple(sorted(position[name] for name in edge)) for edge in found.named_edges}
    kinds = dict.fromkeys(truth.edges, "missed")
    for edge in learned:
        kinds[edge] = "right" if edge in kinds else "wrong"
    return kinds


def _add_legend(ax: Axes, kinds: list[str], score: float, line: float) -> None:
    from matplotlib.patches import Patch

    counts = {kind: kinds.count(kind) for kind in STYLES}
    handles = [
        Patch(facecolor=_colours.faded(colour, opacity), edgecolor=colour, linestyle=style, linewidth=line)
        for colour, style, opacity in STYLES.values()
    ]
    texts = [f"{kind} {count}" for kind, count in counts.items()]
    ax.legend(
        handles, texts, title=f"F1 {score:.2f}", loc="lower center", ncols=3, fontsize=LEGEND_FONT,
        title_fontsize=LEGEND_FONT, labelcolor=_canvas.INK, frameon=False, borderaxespad=0.0, borderpad=0.1,
        handlelength=2.4, columnspacing=1.4, handletextpad=0.5,
    )  # fmt: skip
