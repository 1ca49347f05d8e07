"""A hypergraph as translucent hulls over a planar layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hsls._types import FloatArray
from hsls.drawing import _canvas, _colours
from hsls.drawing._scene import Positions, Scene, check, outlines, positions_of, spacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hsls.hypergraph import Hypergraph

__all__ = ["draw"]

# The line of a hyperedge with at least this frequency.
LINES = {"solid": 0.9, "dashed": 0.5, "dotted": 0.0}
LEGEND_FONT = 7.5  # points


def draw(
    H: Hypergraph,
    *,
    pos: Positions | None = None,
    ax: Axes | None = None,
    labels: str | bool = "auto",
    weights: bool = True,
) -> Axes:
    """Draw hyperedges as coloured hulls and nodes as dots.

    Hulls that meet have different colours where seven colours allow it; larger hulls lie behind smaller ones. Where
    the hypergraph has frequencies, solid, dashed and dotted lines tell those found often from those found seldom.

    Parameters
    ----------
    H : Hypergraph
    pos : array of shape (n_nodes, 2) or mapping from node name to position, optional
        By default `hsls.drawing.layout`.
    ax : matplotlib Axes, optional
        By default those of a new figure outside pyplot; `hsls.drawing.save` writes it to a file.
    labels : {"auto", True, False}
        Node names: "auto" writes them up to 60 nodes where the font would not become too small.
    weights : bool
        Show heavier hyperedges by fuller colour and a wider outline.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from hsls import Hypergraph, draw
    >>> from hsls.drawing import save
    >>> ax = draw(Hypergraph.from_edges([("a", "b", "c"), ("c", "d")], weights=[1.0, 0.4]))
    >>> save(ax, "picture.pdf")  # doctest: +SKIP
    """
    check(labels)
    positions = positions_of(H, pos)
    unit = spacing(positions)
    frequencies = H.frequencies if H.n_edges else None
    foot = 0.0 if frequencies is None else 3.6 * LEGEND_FONT
    scene = Scene.on(ax, positions, outlines(H, positions, unit), unit, foot=foot)
    strength = _strength(H.weights) if weights else np.full(H.n_edges, 0.5)
    colours = _colours.colour_numbers(scene.outlines)
    styles = ["solid"] * H.n_edges if frequencies is None else [_line(f) for f in frequencies.tolist()]
    line = float(np.clip(scene.scale * unit / 24, 0.5, 1.2))
    for number, (colour, rel, style) in enumerate(zip(colours, strength, styles, strict=True)):
        fill = _colours.PALETTE[colour]
        scene.add_hull(
            number,
            facecolor=_colours.faded(fill, 0.12 + 0.4 * rel),
            edgecolor=_colours.faded(_colours.darker(fill), 0.45 + 0.5 * rel),
            linewidth=line * (0.5 + rel),
            linestyle=style,
        )
    scene.add_names(H, labels, scene.add_nodes())
    if frequencies is not None:
        _add_legend(scene.ax, styles, line)
    return scene.ax


def _line(frequency: float) -> str:
    return next(style for style, least in LINES.items() if frequency >= least)


def _add_legend(ax: Axes, styles: list[str], line: float) -> None:
    from matplotlib.lines import Line2D

    words = ("90 % and more", "50 to 90 %", "less")
    handles = [Line2D([], [], color=_canvas.INK, linestyle=style, linewidth=line) for style in LINES]
    texts = [f"{word}: {styles.count(style)}" for style, word in zip(LINES, words, strict=True)]
    ax.legend(
        handles, texts, title="found again in resamples", loc="lower center", ncols=3, fontsize=LEGEND_FONT,
        title_fontsize=LEGEND_FONT, labelcolor=_canvas.INK, frameon=False, borderaxespad=0.0, borderpad=0.1,
        handlelength=3.0, columnspacing=1.4, handletextpad=0.5,
    )  # fmt: skip


def _strength(weights: FloatArray) -> FloatArray:
    """Weights over the largest one; 1/2 throughout where they do not differ."""
    if len(weights) == 0 or np.ptp(weights) <= 1e-9 * weights.max():
        return np.full(len(weights), 0.5)
    strength: FloatArray = weights / weights.max()
    return strength
