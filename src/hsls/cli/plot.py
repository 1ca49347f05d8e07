"""``hsls plot``: a picture of a hypergraph, or of one against the truth."""

from __future__ import annotations

import argparse

from hsls.cli import _options, _outputs, _report

_EPILOG = """\
examples:
  hsls plot learned.json -o learned.png
  hsls plot learned.json -o comparison.pdf --truth truth.json
  hsls plot learned.json -o strongest.svg --top 50 --labels no
"""
_LABELS: dict[str, str | bool] = {"auto": "auto", "yes": True, "no": False}


def add(commands: argparse._SubParsersAction[_options.Parser]) -> None:
    parser = _options.command(commands, "plot", run, "draw a hypergraph", _EPILOG)
    parser.add_argument("hypergraph", metavar="HYPERGRAPH", help="file of the hypergraph")
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="the picture: .png, .pdf or .svg")
    parser.add_argument("--truth", metavar="FILE", help="show what is right, wrong and missed against this hypergraph")
    parser.add_argument("--labels", default="auto", metavar="auto|yes|no", help="names of the nodes (default: auto)")
    parser.add_argument(
        "--seed", type=_options.whole, default=0, help="another number gives another layout (default: 0)"
    )
    _options.add_selection(parser)


def run(arguments: argparse.Namespace) -> int:
    _outputs.check_distinct(("the hypergraph", arguments.hypergraph), ("the picture", arguments.out))
    _outputs.check_distinct(("the true hypergraph", arguments.truth), ("the picture", arguments.out))
    _outputs.check_figure(arguments.out)
    from hsls import _checks
    from hsls.drawing import draw, draw_comparison, layout, save
    from hsls.hypergraph import Hypergraph
    from hsls.readwrite import read

    labels = _LABELS[_checks.one_of(arguments.labels, "--labels", _LABELS)]
    seed = _checks.whole(arguments.seed, "--seed", least=0)
    hypergraph = _options.selected(read(arguments.hypergraph), arguments)
    if arguments.truth:
        truth = read(arguments.truth)
        joined = truth
        if set(hypergraph.nodes) == set(truth.nodes):
            edges = [*truth.named_edges, *hypergraph.named_edges]
            joined = Hypergraph.from_edges(edges, nodes=truth.nodes, merge=True)
        axes = draw_comparison(hypergraph, truth, pos=layout(joined, random_state=seed), labels=labels)
    else:
        axes = draw(hypergraph, pos=layout(hypergraph, random_state=seed), labels=labels)
    save(axes, arguments.out)
    figures = {"nodes": hypergraph.n_nodes, "hyperedges": hypergraph.n_edges, "out": arguments.out}
    rows = [("nodes", f"{hypergraph.n_nodes:,}"), ("hyperedges", _report.hyperedges(hypergraph))]
    _report.present(arguments, figures, _report.table([*rows, ("written", arguments.out)]))
    return 0
