"""``hsls simulate``: smooth signals on a random, or a given, hypergraph."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hsls.cli import _options, _outputs, _report

if TYPE_CHECKING:
    from hsls.hypergraph import Hypergraph

_EPILOG = """\
examples:
  hsls simulate -o signals.csv --truth truth.json --seed 0
  hsls simulate --n-nodes 200 --n-edges 150 --cardinalities 2,3,4 -o signals.npy
  hsls simulate --on truth.json --n-observations 1000 -o signals.npz
"""
_SIZES = {"n_nodes": 40, "n_edges": 22, "cardinalities": [3]}


def add(commands: argparse._SubParsersAction[_options.Parser]) -> None:
    parser = _options.command(commands, "simulate", run, "draw signals that are smooth on a hypergraph", _EPILOG)
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="write the signals: .csv, .tsv, .npy, .npz")
    parser.add_argument("--truth", metavar="FILE", help="write the hypergraph: .json, .hif, .csv or .npz")
    parser.add_argument("--on", metavar="FILE", help="take this file's hypergraph instead of a random one")
    group = parser.add_argument_group("random hypergraph")
    group.add_argument("--n-nodes", type=_options.whole, metavar="N", help="(default: 40)")
    group.add_argument("--n-edges", type=_options.whole, metavar="M", help="number of hyperedges (default: 22)")
    group.add_argument(
        "-k", "--cardinalities", type=_options.wholes, metavar="K[,K...]",
        help="sizes of the hyperedges, among which their number is split evenly (default: 3)",
    )  # fmt: skip
    group = parser.add_argument_group("signals")
    group.add_argument("--n-observations", type=_options.whole, default=250, metavar="P", help="(default: 250)")
    group.add_argument("--noise", type=_options.number, default=1e-3, help="variance of white noise (default: 0.001)")
    group.add_argument("--weighted", action="store_true", help="let the hyperedges' weights count")
    parser.add_argument(
        "--seed", type=_options.whole, help="the same number draws the same (default: another each time)"
    )


def run(arguments: argparse.Namespace) -> int:
    _outputs.check_distinct(
        ("the given hypergraph", arguments.on), ("the signals", arguments.out), ("the hypergraph", arguments.truth)
    )
    _outputs.check_signals(arguments.out)
    if arguments.truth:
        _outputs.check_hypergraph(arguments.truth)
    import numpy as np

    from hsls import _checks
    from hsls.cli import _signals
    from hsls.readwrite import write
    from hsls.simulate import smooth_signals

    if arguments.seed is None:
        seed = int(np.random.default_rng().integers(2**32))
    else:
        seed = _checks.whole(arguments.seed, "--seed", least=0)
    truth = _hypergraph(arguments, seed)
    signals = smooth_signals(
        truth,
        arguments.n_observations,
        noise=arguments.noise,
        weighted=arguments.weighted,
        random_state=seed,
    )
    if arguments.truth:
        write(truth, arguments.truth)
    _signals.write_table(arguments.out, signals, truth.nodes)
    figures = {
        "nodes": truth.n_nodes,
        "observations": signals.shape[1],
        "hyperedges": truth.n_edges,
        "by_cardinality": _report.by_cardinality(truth),
        "seed": seed,
        "out": arguments.out,
        "truth": arguments.truth,
    }
    rows = [
        ("nodes", f"{truth.n_nodes:,}, {_report.count(signals.shape[1], 'observation')}"),
        ("hyperedges", _report.hyperedges(truth)),
        ("seed", str(seed)),
        *(("written", path) for path in (arguments.out, arguments.truth) if path),
    ]
    _report.present(arguments, figures, _report.table(rows))
    return 0


def _hypergraph(arguments: argparse.Namespace, seed: int) -> Hypergraph:
    given = {name: getattr(arguments, name) for name in _SIZES if getattr(arguments, name) is not None}
    if arguments.on:
        if given:
            option = "--" + next(iter(given)).replace("_", "-")
            raise ValueError(f"{option} is for a random hypergraph, but --on names a file; leave one of them out.")
        from hsls.readwrite import read

        return read(arguments.on)
    from hsls.simulate import random_hypergraph

    sizes = {**_SIZES, **given}
    return random_hypergraph(sizes["n_nodes"], sizes["n_edges"], sizes["cardinalities"], random_state=seed)
