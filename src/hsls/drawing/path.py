"""The path along which a parameter was chosen: scores, sizes and the chosen point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hsls.drawing import _canvas, _colours
from hsls.selection import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_path"]

WIDTH, HEIGHT = 4.8, 3.2  # inches, of a figure of our own

_MEASURES = {
    ("penalty", "ebic"): "extended BIC (larger is better)",
    ("penalty", "cv"): "held-out log-likelihood",
    ("theta", "ebic"): "agreement with the set of best extended BIC",
    ("theta", "cv"): "agreement with the cross-validated set",
    ("theta", "degree"): "minus the distance to the degree",
    ("theta", "n_hyperedges"): "minus the distance to the number",
}


def draw_path(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the score of each point of a path, the number of hyperedges there, and the chosen point.

    Parameters
    ----------
    model : estimator or Path
        A path, or anything that has one under `path_`, such as ``HypergraphMLE().fit(X)``.
    ax : matplotlib Axes, optional
        By default those of a new figure outside pyplot.

    Returns
    -------
    matplotlib Axes
    """
    path = _path(model)
    new = ax is None
    ax = _canvas.axes_or_new(ax, WIDTH, HEIGHT)
    order = np.argsort(path.values)
    values, scores = path.values[order], path.scores[order]
    bars = None if np.all(np.isnan(path.errors)) else path.errors[order]
    ax.errorbar(values, scores, yerr=bars, color=_colours.BLUE, marker="o", markersize=3.5, lw=1.5, capsize=2)
    ax.plot(path.value, path.scores[path.chosen], "o", markersize=9, mfc="none", mec=_colours.VERMILLION, mew=1.8)
    for value, score, size in zip(values, scores, path.n_hyperedges[order].tolist(), strict=True):
        ax.annotate(str(size), (value, score), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=7)
    ax.set_xscale("log")
    ax.set_xlabel(path.parameter)
    ax.set_ylabel(_MEASURES[path.parameter, path.criterion])
    ax.set_title(f"{path.value:.3g} with {path.n_hyperedges[path.chosen]} hyperedges", fontsize=9)
    ax.margins(y=0.12)
    ax.grid(True, which="major", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    if new:
        ax.spines[["top", "right"]].set_visible(False)
    return ax


def _path(model: Any) -> Path:
    path = model if isinstance(model, Path) else getattr(model, "path_", None)
    if isinstance(path, Path):
        return path
    if hasattr(model, "path_"):
        raise ValueError(
            "the model has no path: its parameter was given, not chosen; fit with penalty='auto' or alpha='auto'."
        )
    raise TypeError(f"draw_path needs a fitted estimator with a path_, or a Path; got {type(model).__name__}.")
