"""``hsls info``: what is in a file of a hypergraph or of signals."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsls.cli import _options, _report

if TYPE_CHECKING:
    from hsls.hypergraph import Hypergraph
    from hsls.tables import Signals

_EPILOG = """\
examples:
  hsls info learned.json --top 10
  hsls info signals.csv

What the file holds is told by its ending and, where that leaves it open, by its contents.
"""
_HEAVIEST = 5


def add(commands: argparse._SubParsersAction[_options.Parser]) -> None:
    parser = _options.command(commands, "info", run, "describe a file of a hypergraph or of signals", _EPILOG)
    parser.add_argument("file", metavar="FILE", help="file of a hypergraph or of signals")
    _options.add_selection(parser)
    _options.add_reading(parser)


def run(arguments: argparse.Namespace) -> int:
    from hsls._files import existing_file
    from hsls.cli import _signals

    path = existing_file(arguments.file)
    if _signals.kind_of(path) == "hypergraph":
        from hsls.readwrite import read

        hypergraph = _options.selected(read(path), arguments)
        _report.present(arguments, _of_hypergraph(hypergraph), _lines_of_hypergraph(hypergraph, arguments.top))
    else:
        _refuse_selection(path, arguments)
        figures = _of_signals(_signals.read_table(str(path), arguments))
        _report.present(arguments, figures, _lines_of_signals(figures))
    return 0


def _refuse_selection(path: Path, arguments: argparse.Namespace) -> None:
    for name in ("threshold", "frequency", "top"):
        if getattr(arguments, name) is not None:
            raise ValueError(f"--{name} is for hypergraphs, but {path} holds signals; leave it out.")


def _of_hypergraph(hypergraph: Hypergraph) -> dict[str, Any]:
    import numpy as np

    from hsls.components import component_labels

    weights, degrees = hypergraph.weights, hypergraph.degrees(weighted=False)
    some = hypergraph.n_edges > 0
    return {
        "kind": "hypergraph",
        "nodes": hypergraph.n_nodes,
        "isolated_nodes": int(np.count_nonzero(degrees == 0)),
        "components": len(set(component_labels(hypergraph).tolist())),
        "hyperedges": hypergraph.n_edges,
        "by_cardinality": _report.by_cardinality(hypergraph),
        "weights": {
            "least": float(weights.min()) if some else None,
            "median": float(np.median(weights)) if some else None,
            "largest": float(weights.max()) if some else None,
        },
        "frequencies": _report.frequencies(hypergraph),
        "hyperedges_a_node": {
            "mean": float(degrees.mean()) if len(degrees) else None,
            "largest": int(max(degrees, default=0)),
        },
    }


def _lines_of_hypergraph(hypergraph: Hypergraph, top: int | None) -> list[str]:
    figures = _of_hypergraph(hypergraph)
    rows = [
        ("hypergraph", f"{_report.count(figures['nodes'], 'node')}, {figures['isolated_nodes']:,} of them isolated, "
                       f"in {_report.count(figures['components'], 'component')}"),
        ("hyperedges", _report.hyperedges(hypergraph)),
    ]  # fmt: skip
    if hypergraph.n_edges:
        w, d = figures["weights"], figures["hyperedges_a_node"]
        rows.append(("weights", f"{w['least']:.4g} to {w['largest']:.4g}, median {w['median']:.4g}"))
        rows.append(("a node is in", f"{d['mean']:.3g} hyperedges on average, {d['largest']:,} at most"))
        rows += _report.frequency_rows(hypergraph, "found again")
        shown = hypergraph if top is not None else hypergraph.top(_HEAVIEST)
        order = (-shown.weights).argsort(kind="stable")
        names = shown.named_edges
        often = [""] * shown.n_edges if shown.frequencies is None else [f"  {f:4.0%}" for f in shown.frequencies]
        rows += [
            ("heaviest" if place == 0 else "", f"{shown.weights[e]:.4g}{often[e]}  {', '.join(names[e])}")
            for place, e in enumerate(order.tolist())
        ]
    return _report.table(rows)


def _of_signals(signals: Signals) -> dict[str, Any]:
    import numpy as np

    values = signals.values
    seen = np.isfinite(values)
    anything = bool(seen.any())
    low = np.where(seen, values, np.inf).min(axis=1, initial=np.inf)
    high = np.where(seen, values, -np.inf).max(axis=1, initial=-np.inf)
    return {
        "kind": "signals",
        "nodes": values.shape[0],
        "observations": values.shape[1],
        "names": None if signals.names is None else list(signals.names),
        "missing": int(np.count_nonzero(~seen)),
        "constant_nodes": int(np.count_nonzero(low == high)),
        "least": float(low.min()) if anything else None,
        "largest": float(high.max()) if anything else None,
    }


def _lines_of_signals(figures: dict[str, Any]) -> list[str]:
    names = figures["names"]
    known = "none" if names is None else ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    total = figures["nodes"] * figures["observations"]
    rows = [
        (
            "signals",
            f"{_report.count(figures['nodes'], 'node')}, {_report.count(figures['observations'], 'observation')}",
        ),
        ("names", known),
        ("missing", f"{figures['missing']:,} of {_report.count(total, 'value')}"),
    ]
    if figures["least"] is not None:
        rows.append(("range", f"{figures['least']:.4g} to {figures['largest']:.4g}"))
    if figures["constant_nodes"]:
        rows.append(("constant", _report.count(figures["constant_nodes"], "node")))
    return _report.table(rows)
