"""How many neighbours it takes until the candidates hold every true hyperedge (the paper's figure 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hsls._files import PathLike
from hsls._runs import each
from hsls._types import FloatArray
from hsls.candidates import neighbors_needed
from hsls.datasets import COAUTHORSHIPS, load_coauthorship
from hsls.experiments._outputs import Folder, markdown
from hsls.neighbors import nearest_neighbors
from hsls.simulate import smooth_signals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_OBSERVATIONS = 250


def run(
    folder: Folder, *, seeds: int = 20, data: PathLike | None = None, n_jobs: int | None = None
) -> list[dict[str, Any]]:
    """Write table.json, table.csv, overlap.png, overlap.pdf and report.md; returns the rows of the table."""
    tasks = [(name, seed, data) for name in COAUTHORSHIPS for seed in range(seeds)]
    found = each(_needed, tasks, "overlap", n_jobs)
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(COAUTHORSHIPS):
        needed = np.stack(found[number * seeds : (number + 1) * seeds])
        least = min(COAUTHORSHIPS[name].cardinalities) - 1
        for r in range(least, int(needed.max()) + 1):
            shares = np.mean(needed <= r, axis=1)
            rows.append(
                {
                    "data": name,
                    "neighbors": r,
                    "share": float(shares.mean()),
                    "share_std": float(shares.std(ddof=1)) if seeds > 1 else 0.0,
                    "complete": float(np.mean(shares == 1.0)),
                }
            )
    folder.table("table", rows)
    folder.figure("overlap", figure(rows))
    folder.text("report.md", report(rows, seeds))
    return rows


def _needed(task: tuple[str, int, PathLike | None]) -> FloatArray:
    name, seed, data = task
    truth = load_coauthorship(name, data=data)
    X = smooth_signals(truth, N_OBSERVATIONS, random_state=seed)
    return np.asarray(neighbors_needed(truth, nearest_neighbors(X, len(X) - 1).indices))


def title(name: str) -> str:
    """The name of a data set as it stands in figures and reports."""
    network, kind = name.split("-")
    return f"{network.upper() if network == 'dblp' else network.capitalize()} ({kind})"


def figure(rows: list[dict[str, Any]]) -> Figure:
    """One panel a data set: bars red and hatched below 100 %, green at it; a line for the share of complete draws."""
    from hsls.drawing import _canvas

    drawing, axes = _canvas.panels(2, 2, 7.0, 4.4)
    for ax, name in zip(axes, dict.fromkeys(row["data"] for row in rows), strict=True):
        _panel(ax, title(name), [row for row in rows if row["data"] == name])
    for ax in axes[2:]:
        ax.set_xlabel("neighbours", fontsize=8)
    for ax in axes[::2]:
        ax.set_ylabel("per cent", fontsize=8)
    handles, labels = axes[0].get_legend_handles_labels()
    drawing.legend(handles, labels, fontsize=7.5, loc="outside lower center", ncols=3, frameon=False)
    return drawing


def _panel(ax: Axes, name: str, rows: list[dict[str, Any]]) -> None:
    from matplotlib.ticker import MaxNLocator

    from hsls.drawing import _colours

    r = [row["neighbors"] for row in rows]
    full = [row["share"] == 1.0 for row in rows]
    for complete, colour, hatch, label in (
        (False, _colours.VERMILLION, "////", "true hyperedges among the candidates"),
        (True, _colours.GREEN, "", "all of them, in every draw"),
    ):
        chosen = [number for number, is_full in enumerate(full) if is_full == complete]
        heights = [100 * rows[number]["share"] for number in chosen]
        places = [r[number] for number in chosen]
        ax.bar(places, heights, 0.75, color=colour, hatch=hatch, edgecolor="white", linewidth=0, label=label)
    ax.plot(r, [100 * row["complete"] for row in rows], ".-", color="#222222", lw=1, label="draws that have them all")
    ax.set_ylim(0, 104)
    ax.set_title(name, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def report(rows: list[dict[str, Any]], seeds: int) -> str:
    """The section of the page on reproduction."""
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == name]
        half = next(row["neighbors"] for row in own if row["complete"] >= 0.5)
        at = {row["neighbors"]: row for row in own}
        six = at.get(6, own[-1])
        lines.append(
            [title(name), f"{100 * six['share']:.1f} % ({100 * six['complete']:.0f} %)", half, own[-1]["neighbors"]]
        )
    header = [
        "data",
        "share at 6 neighbours (draws that have all)",
        "half of the draws have all from",
        "every draw from",
    ]
    return f"""## Overlap: true hyperedges among the candidates (the paper's figure 4)

{N_OBSERVATIONS} signals, {seeds} draws. The paper shows one draw of each data set and concludes that few neighbours
suffice. The mean share rises quickly, but how many neighbours a draw needs until *all* true hyperedges are candidates
differs from draw to draw; what is no candidate cannot be found by any parameters.

{markdown(header, lines)}
![Share of true hyperedges among the candidates as the number of neighbours grows](overlap.png)
"""
