"""``hsls compare``: a learned hypergraph against the true one."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from hsls.cli import _options, _outputs, _report

_EPILOG = """\
examples:
  hsls compare learned.json truth.json
  hsls compare learned.json truth.json --top 22 --plot comparison.pdf

Nodes are matched by name; weights play no part beyond --threshold and --top, which select hyperedges of FOUND.
"""


def add(commands: argparse._SubParsersAction[_options.Parser]) -> None:
    parser = _options.command(commands, "compare", run, "compare a hypergraph with the true one", _EPILOG)
    parser.add_argument("found", metavar="FOUND", help="file of the hypergraph that was found")
    parser.add_argument("truth", metavar="TRUTH", help="file of the true hypergraph")
    parser.add_argument("--plot", metavar="FILE", help="draw right, wrong and missed hyperedges: .png, .pdf or .svg")
    _options.add_selection(parser)


def run(arguments: argparse.Namespace) -> int:
    _outputs.check_distinct(("the hypergraph found", arguments.found), ("the drawing", arguments.plot))
    _outputs.check_distinct(("the true hypergraph", arguments.truth), ("the drawing", arguments.plot))
    if arguments.plot:
        _outputs.check_figure(arguments.plot)
    from hsls.metrics import compare
    from hsls.readwrite import read

    found = _options.selected(read(arguments.found), arguments)
    truth = read(arguments.truth)
    result = compare(found, truth)
    if arguments.plot:
        from hsls.drawing import draw_comparison, save

        save(draw_comparison(found, truth), arguments.plot)
    rows = [
        ("exact", _scores(result.precision, result.recall, result.f1)),
        ("overlap", _scores(result.overlap_precision, result.overlap_recall, result.overlap_f1)),
        ("hyperedges", _outcome(result.true_positives, result.false_positives, result.false_negatives)),
    ]
    rows += [(f"  of {_report.count(k, 'node')}", _outcome(*counts)) for k, counts in result.by_cardinality.items()]
    if arguments.plot:
        rows.append(("written", arguments.plot))
    _report.present(arguments, asdict(result), _report.table(rows))
    return 0


def _scores(precision: float, recall: float, f1: float) -> str:
    return f"F1 {f1:.3f} (precision {precision:.3f}, recall {recall:.3f})"


def _outcome(right: int, wrong: int, missed: int) -> str:
    return f"{right:,} right, {wrong:,} wrong, {missed:,} missed"
