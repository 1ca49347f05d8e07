"""``hsls learn --window``: a hypergraph for every window of the observations."""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsls.cli import _report

if TYPE_CHECKING:
    from hsls._refits import Estimator
    from hsls.tables import Signals
    from hsls.windowing import Windows

# Windows that the summary lists one by one.
_LISTED = 12


def run(arguments: argparse.Namespace, estimator: Estimator, signals: Signals) -> int:
    """Learn, write and present; returns the exit status."""
    from hsls.windowing import windows

    with _report.bars(arguments):
        result = windows(estimator, signals, arguments.window, step=arguments.step, n_jobs=arguments.jobs)
    written = _write(result, arguments.out) if arguments.out else []
    if arguments.plot:
        from hsls.drawing import draw_timeline, save

        save(draw_timeline(result), arguments.plot)
        written.append(arguments.plot)
    _report.present(arguments, _figures(result, signals, written), _lines(result, signals, written))
    return int(any(window.n_warnings for window in result.windows))


def _write(result: Windows, out: str) -> list[str]:
    """One file a window, its number from 0 in the name before the ending."""
    from hsls.readwrite import write

    path = Path(out)
    width = len(str(len(result) - 1))
    paths = [path.with_name(f"{path.stem}-{number:0{width}}{path.suffix}") for number in range(len(result))]
    for file, found in zip(paths, result.hypergraphs, strict=True):
        write(found, file)
    return [str(file) for file in paths]


def _changes(result: Windows) -> list[tuple[int, int]]:
    """How many hyperedges are new in each window against the one before, and how many of those are gone."""
    sets = [set(found.edges) for found in result.hypergraphs]
    return [(len(sets[0]), 0)] + [(len(now - before), len(before - now)) for before, now in pairwise(sets)]


def _figures(result: Windows, signals: Signals, written: list[str]) -> dict[str, Any]:
    changes = _changes(result)
    return {
        "nodes": signals.values.shape[0],
        "observations": signals.values.shape[1],
        "length": result.length,
        "step": result.step,
        "hyperedges": result.union.n_edges,
        "hyperedges_throughout": int(result.presence.all(axis=1).sum()),
        "windows": [
            {
                "start": window.start,
                "stop": window.stop,
                "hyperedges": window.hypergraph.n_edges,
                "new": new,
                "gone": gone,
                "relative_gap": window.gap,
            }
            for window, (new, gone) in zip(result.windows, changes, strict=True)
        ],
        "written": written,
    }


def _lines(result: Windows, signals: Signals, written: list[str]) -> list[str]:
    figures = _figures(result, signals, written)
    observations = _report.count(figures["observations"], "observation")
    rows = [
        ("nodes", f"{figures['nodes']:,}, {observations}"),
        ("windows", f"{len(result):,} of {_report.count(result.length, 'observation')}, one every {result.step:,}"),
        ("hyperedges", f"{figures['hyperedges']:,} in all, {figures['hyperedges_throughout']:,} in every window"),
        ("relative gap", f"{max(result.gaps.tolist()):.1e} at most"),
    ]
    for number, window in enumerate(figures["windows"][:_LISTED]):
        change = f": {window['new']:,} new, {window['gone']:,} gone" if number else ""
        label = f"{window['start']} to {window['stop'] - 1}"
        rows.append((label, f"{_report.count(window['hyperedges'], 'hyperedge')}{change}"))
    if len(result) > _LISTED:
        rows.append(("...", f"and {len(result) - _LISTED:,} more"))
    rows += [("written", path if len(written) <= _LISTED else f"{path} to {written[-1]}")
             for path in (written if len(written) <= _LISTED else written[:1])]  # fmt: skip
    return _report.table(rows)
