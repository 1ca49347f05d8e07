"""The weights of hyperedges over windows of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hsls import _checks
from hsls.drawing import _canvas
from hsls.windowing import Windows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_timeline"]

WIDTH, ROW = 6.4, 0.2  # inches, of a figure of our own and of each hyperedge in it
LONGEST = 36  # letters of a hyperedge's nodes
MOST_TICKS = 8


def draw_timeline(result: Windows, *, top: int = 24, ax: Axes | None = None) -> Axes:
    """Draw which hyperedges are in which window: a row a hyperedge, darker where it weighs more.

    Parameters
    ----------
    result : Windows
        As `hsls.windows` returns it.
    top : int
        So many hyperedges, those of largest weight over all windows; in the order in which they first appear.
    ax : matplotlib Axes, optional
        By default those of a new figure outside pyplot.

    Returns
    -------
    matplotlib Axes
        The windows are at 0, 1, ..., labelled with the position of their first observation.
    """
    if not isinstance(result, Windows):
        raise TypeError(f"draw_timeline needs what hsls.windows returns, got {type(result).__name__}.")
    top = _checks.whole(top, "top")
    totals = result.weights.sum(axis=1)
    chosen = np.sort(np.argsort(-totals, kind="stable")[:top])
    chosen = chosen[np.lexsort((-totals[chosen], np.argmax(result.presence[chosen], axis=1)))]
    rows, names = result.weights[chosen], result.union.named_edges
    ax = _canvas.axes_or_new(ax, WIDTH, 1.0 + ROW * max(len(rows), 4))
    shown = np.where(result.presence[chosen], rows, np.nan)  # which is left white
    if len(rows):
        largest = float(rows.max()) or 1.0
        image = ax.imshow(shown, aspect="auto", cmap=_blues(), vmin=0.0, vmax=largest, interpolation="none")
        ax.figure.colorbar(image, ax=ax, label="weight")
    ax.set_yticks(np.arange(len(rows)), [_shortened(", ".join(names[number])) for number in chosen.tolist()])
    for label in ax.get_yticklabels():
        _canvas.literal(label)
    ticks = np.unique(np.linspace(0, len(result) - 1, min(len(result), MOST_TICKS)).round().astype(np.int64))
    ax.set_xticks(ticks, [str(result.windows[tick].start) for tick in ticks.tolist()])
    ax.set_xlabel(f"first observation of a window of {result.length}")
    return ax


def _blues() -> Any:
    """Shades of blue of which the lightest, too, can be told from white."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["Blues"](np.linspace(0.2, 1.0, 256)))


def _shortened(text: str) -> str:
    plain = _canvas.plain(text)
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 3] + "..."
