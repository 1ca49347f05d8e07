"""A hypergraph as translucent hulls over a planar layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hsls._types import FloatArray
from hsls.drawing import _colours
from hsls.drawing._scene import Positions, Scene, check, outlines, positions_of, spacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hsls.hypergraph import Hypergraph

__all__ = ["draw"]


def draw(
    H: Hypergraph,
    *,
    pos: Positions | None = None,
    ax: Axes | None = None,
    labels: str | bool = "auto",
    weights: bool = True,
) -> Axes:
    """Draw hyperedges as coloured hulls and nodes as dots.

    Hulls that meet have different colours where seven colours allow it; larger hulls lie behind smaller ones.

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
    scene = Scene.on(ax, positions, outlines(H, positions, unit), unit)
    strength = _strength(H.weights) if weights else np.full(H.n_edges, 0.5)
    colours = _colours.colour_numbers(scene.outlines)
    line = np.clip(scene.scale * unit / 24, 0.5, 1.2)
    for number, (colour, rel) in enumerate(zip(colours, strength, strict=True)):
        fill = _colours.PALETTE[colour]
        scene.add_hull(
            number,
            facecolor=_colours.faded(fill, 0.12 + 0.4 * rel),
            edgecolor=_colours.faded(_colours.darker(fill), 0.45 + 0.5 * rel),
            linewidth=line * (0.5 + rel),
        )
    scene.add_names(H, labels, scene.add_nodes())
    return scene.ax


def _strength(weights: FloatArray) -> FloatArray:
    """Weights over the largest one; 1/2 throughout where they do not differ."""
    if len(weights) == 0 or np.ptp(weights) <= 1e-9 * weights.max():
        return np.full(len(weights), 0.5)
    strength: FloatArray = weights / weights.max()
    return strength
