"""The relative duality gap of one or more solves, by iteration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hsls._types import FloatArray
from hsls.drawing import _canvas, _colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_convergence"]

WIDTH, HEIGHT = 4.8, 3.2  # inches, of a figure of our own
LINES = ("solid", "dashed", "dotted", "dashdot")
MARKERS = ("o", "s", "^", "D", "v")
COLOURS = tuple(colour for colour in _colours.PALETTE if colour != _colours.YELLOW)  # too pale for a line
FEW = 60  # points up to which each has a marker
FAR = 20  # times as many iterations as the shortest curve: they then stand on a logarithmic scale

# Below this a relative gap is rounding, and zero or negative values are; a logarithm wants them positive.
SMALLEST = float(np.finfo(np.float64).eps)


def draw_convergence(solutions: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the relative duality gap against the iteration, the gap on a logarithmic scale.

    Parameters
    ----------
    solutions : solution, history or mapping
        A solution (anything with an attribute `history`, or `history_` as estimators have), a history (a
        mapping with arrays "iteration" and "gap"), or a mapping from label to either, for several curves.
        Points that are not finite are left out; a gap below the machine precision is drawn at it.
    ax : matplotlib Axes, optional
        By default those of a new figure outside pyplot.

    Returns
    -------
    matplotlib Axes
    """
    curves = {label: _points(history, label) for label, history in _histories(solutions).items()}
    new = ax is None
    ax = _canvas.axes_or_new(ax, WIDTH, HEIGHT)
    for number, (iterations, gaps) in enumerate(curves.values()):
        few = len(gaps) <= FEW
        ax.plot(
            iterations, gaps, color=COLOURS[number % len(COLOURS)], linestyle=LINES[number % len(LINES)],
            linewidth=1.5, marker=MARKERS[number % len(MARKERS)] if few else None, markersize=3.5,
        )  # fmt: skip
    ax.set_yscale("log")
    lengths = [float(np.ptp(iterations)) for iterations, _ in curves.values()]
    if max(lengths) > FAR * max(min(lengths), 1.0) and len(lengths) > 1:
        ax.set_xscale("symlog", linthresh=1.0)  # has a place for iteration 0
        ax.set_xlim(left=-0.2)
    ax.set_xlabel("iteration")
    ax.set_ylabel("relative duality gap")
    ax.grid(True, which="major", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    if new:
        ax.spines[["top", "right"]].set_visible(False)
    if list(curves) != [""]:
        legend = ax.legend(ax.lines[-len(curves) :], [str(i) for i in range(len(curves))], frameon=False)
        # Texts put in afterwards stay as they are: a legend reads "_" at the start as "leave out".
        for text, label in zip(legend.get_texts(), curves, strict=True):
            _canvas.literal(text).set_text(_canvas.plain(label))
    return ax


def _histories(solutions: Any) -> dict[str, Mapping[str, Any]]:
    """Label and history of each curve; the label of a single one is empty."""
    single = _history(solutions)
    if single is not None:
        return {"": single}
    if not isinstance(solutions, Mapping) or len(solutions) == 0:
        raise TypeError(
            "draw_convergence needs a solution with a history, or a mapping from label to solution; "
            f"got {'an empty mapping' if isinstance(solutions, Mapping) else type(solutions).__name__}."
        )
    histories = {}
    for label, solution in solutions.items():
        history = _history(solution)
        if history is None:
            raise TypeError(f"the solution under {label!r} has no history; give what a solver returned.")
        histories[str(label)] = history
    return histories


def _history(solution: Any) -> Mapping[str, Any] | None:
    for candidate in (solution, getattr(solution, "history", None), getattr(solution, "history_", None)):
        if isinstance(candidate, Mapping) and {"iteration", "gap"} <= set(candidate):
            return candidate
    return None


def _points(history: Mapping[str, Any], label: str) -> tuple[FloatArray, FloatArray]:
    iterations = np.asarray(history["iteration"], dtype=np.float64)
    gaps = np.asarray(history["gap"], dtype=np.float64)
    of = f" of {label!r}" if label else ""
    if iterations.ndim != 1 or iterations.shape != gaps.shape:
        raise ValueError(
            f'"iteration" and "gap" in the history{of} must be 1-D arrays of one length, '
            f"got shapes {iterations.shape} and {gaps.shape}."
        )
    finite = np.isfinite(iterations) & np.isfinite(gaps)
    if not np.any(finite):
        raise ValueError(f"the history{of} holds no finite gap, so there is nothing to draw.")
    return iterations[finite], np.maximum(gaps[finite], SMALLEST)
