"""Axes to draw on, and text that stays as the user wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#222222"


def matplotlib() -> Any:
    """The package matplotlib, or one sentence that says how to get it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('drawing needs matplotlib; install it with: pip install "hsls[draw]"') from error
    return matplotlib


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or those of a new figure that pyplot does not know, so that nothing has to be closed."""
    matplotlib()
    from matplotlib.axes import Axes as AnyAxes

    if ax is None:
        return panels(1, 1, width, height)[1][0]
    if not isinstance(ax, AnyAxes):
        raise TypeError(f"ax must be matplotlib Axes or None, got {type(ax).__name__}.")
    return ax


def panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A new figure that pyplot does not know, and its axes row by row."""
    matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as AnyFigure

    figure = AnyFigure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def plain(text: str) -> str:
    """The text on one line, without characters that no font shows."""
    return "".join(character if character.isprintable() else " " for character in text)


def literal(artist: Any) -> Any:
    """Keep a text artist from reading "$" or a backslash as mathematics."""
    artist.set_parse_math(False)
    artist.set_usetex(False)
    return artist
