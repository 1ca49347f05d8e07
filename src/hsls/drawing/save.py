"""Writing a drawing to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hsls import _files
from hsls.drawing import _canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["save"]

# By ending, what keeps the time of writing out of the file: the same drawing gives the same bytes.
METADATA: dict[str, dict[str, None]] = {".png": {}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
DOTS_PER_INCH = 200


def save(drawing: Axes | Figure, path: _files.PathLike) -> None:
    """Write the figure of a drawing as PNG, PDF or SVG, by the ending of the path.

    The file appears whole or not at all.

    Parameters
    ----------
    drawing : matplotlib Axes or Figure
        What `draw` and its kin return.
    path : str or path
    """
    matplotlib = _canvas.matplotlib()
    from matplotlib.figure import Figure as AnyFigure

    figure = getattr(getattr(drawing, "figure", None), "figure", None)  # that of axes, and of a sub-figure
    if not isinstance(figure, AnyFigure):
        raise TypeError(f"drawing must be matplotlib Axes or a Figure, got {type(drawing).__name__}.")
    ending = check_ending(path)
    with _files.atomic_path(path) as temporary, matplotlib.rc_context({"svg.hashsalt": "hsls"}):
        figure.savefig(temporary, format=ending[1:], dpi=DOTS_PER_INCH, metadata=METADATA[ending])


def check_ending(path: _files.PathLike) -> str:
    """The ending of a path that a drawing can be written to, in lower case; other paths are refused."""
    ending = Path(path).suffix.lower()
    if ending not in METADATA:
        known = ", ".join(METADATA)
        raise ValueError(f"{path}: a drawing is written as one of {known}; choose one of these endings.")
    return ending
