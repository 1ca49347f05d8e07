"""``hsls learn``: from a file of signals to the file of a hypergraph."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hsls.cli import _method, _options, _outputs, _report

if TYPE_CHECKING:
    from hsls.cli._method import Method
    from hsls.learning import Learned
    from hsls.resampling import Plan, Stability
    from hsls.tables import Signals

_EPILOG = """\
examples:
  hsls learn signals.csv -o learned.json
  hsls learn series.parquet --nodes columns --cardinalities 2,3,4 --neighbors 6,6,8 -o learned.csv
  hsls learn signals.csv --criterion cv --path-plot path.png
  hsls learn signals.csv --method hsls --alpha auto --neighbors certified
  hsls learn signals.csv --n-hyperedges 50
  hsls learn signals.npy --cardinalities 3 --solver fbf --scale none --alpha 100 --neighbors 6
  hsls learn signals.csv --stability 50 -o learned.json
  hsls learn series.csv --nodes columns --window 200 --step 50 -o learned.json --plot timeline.png

Signals are read from .csv, .tsv, .txt, .npy, .npz, .mat and .parquet; the hypergraph is written as .json or .hif
(HIF), .csv or .npz, by its ending. Exit status 1 if the solver did not converge: what it reached is written all
the same, with a warning.
"""


def add(commands: argparse._SubParsersAction[_options.Parser]) -> None:
    parser = _options.command(commands, "learn", run, "learn a hypergraph from signals", _EPILOG)
    parser.add_argument("signals", metavar="SIGNALS", help="file with the signals, a row (or column) for each node")
    parser.add_argument("-o", "--out", metavar="FILE", help="write the hypergraph: .json, .hif, .csv or .npz")
    parser.add_argument("--plot", metavar="FILE", help="draw the hypergraph: .png, .pdf or .svg")
    _options.add_reading(parser)
    _method.add(parser)
    group = parser.add_argument_group("candidates")
    group.add_argument(
        "-k", "--cardinalities", type=_options.wholes, default=[2, 3], metavar="K[,K...]",
        help="sizes of the hyperedges to choose among (default: 2,3)",
    )  # fmt: skip
    group.add_argument(
        "-r", "--neighbors", type=_options.neighbors, default="auto", metavar="R[,R...]|auto|all|certified",
        help="nearest neighbours that a node is joined with, one number or one for each cardinality; "
        "'all' takes every subset of the nodes, 'certified' proves the optimum over these by a search (default: auto)",
    )  # fmt: skip
    group.add_argument("--candidates", metavar="FILE", help="choose among the hyperedges of this file instead")
    group.add_argument(
        "--neighbor-search", default="auto", metavar="auto|exact|approximate", help="(default: %(default)s)"
    )
    group.add_argument(
        "--memory-budget", type=_options.memory, default=_options.DEFAULT, metavar="SIZE",
        help="most memory for candidates and their weights, such as 8GiB, or 'none' (default: 4GiB)",
    )  # fmt: skip
    _add_objective(parser)
    _add_solver(parser)
    _add_resampling(parser)


def _add_objective(parser: _options.Parser) -> None:
    group = parser.add_argument_group("objective")
    group.add_argument(
        "--alpha", type=_options.number_or_auto, metavar="auto|NUMBER",
        help="hsls: weight of the degrees, or chosen by the data (default: auto; 1 for more than "
        f"{_method.LARGEST:,} nodes)",
    )  # fmt: skip
    group.add_argument("--beta", type=_options.number, help="hsls: weight of the squares (default: 1)")
    group.add_argument(
        "--degree", type=_options.number, metavar="D",
        help="hsls: choose alpha such that a node is in D hyperedges on average",
    )  # fmt: skip
    group.add_argument(
        "--n-hyperedges", type=_options.whole, metavar="M", help="hsls: choose alpha such that M hyperedges are kept"
    )
    group.add_argument(
        "--variation", metavar="NAME",
        help="hsls: sum-square, sum-absolute, max-square, max-absolute, mean-..., scaled-..., or such as max-l3^2 "
        "(default: max-square)",
    )  # fmt: skip
    group.add_argument(
        "--penalty", type=_options.number_or_auto, metavar="auto|NUMBER",
        help="mle: price of weight, or chosen by the data (default: auto)",
    )  # fmt: skip
    group.add_argument(
        "--noise", type=_options.number, metavar="VARIANCE", help="mle: variance of white noise in the signals"
    )
    group.add_argument(
        "--scale", type=_options.scale, default="auto", metavar="auto|median|mean|none|NUMBER",
        help="what variations are divided by, so that the parameters mean the same in any units (default: auto)",
    )  # fmt: skip
    group.add_argument(
        "--threshold", type=_options.number, metavar="WEIGHT",
        help="least weight of a hyperedge that is kept where --alpha or --penalty is a number (default: hsls 0.01, "
        "mle 0.3)",
    )  # fmt: skip
    group.add_argument(
        "--observation-weights", metavar="FILE", help="a number for each observation, its weight in all distances"
    )


def _add_solver(parser: _options.Parser) -> None:
    group = parser.add_argument_group("solver")
    group.add_argument(
        "--solver", metavar="newton|fbf", help="hsls: newton is certified, fbf is the paper's (default: newton)"
    )
    group.add_argument(
        "--tol", type=_options.number, help="relative gap (default: 1e-6); of fbf relative change (1e-8)"
    )
    group.add_argument(
        "--max-iter", type=_options.whole, metavar="N", help="(default: hsls 500, with fbf 10000; mle 200)"
    )
    group.add_argument("--balance", type=_options.number, help="fbf: scale of its variables (default: 1, the paper's)")
    group.add_argument("-j", "--jobs", type=_options.whole, metavar="N", help="threads (default: all cores)")


def _add_resampling(parser: _options.Parser) -> None:
    group = parser.add_argument_group("confidence and change")
    group.add_argument(
        "--stability", type=_options.whole, metavar="N",
        help="learn again on N random halves of the observations, and tell how often each hyperedge is found",
    )  # fmt: skip
    group.add_argument(
        "--stability-block", type=_options.whole, metavar="L", help="draw blocks of L consecutive observations"
    )
    group.add_argument("--seed", type=_options.whole, default=0, help="of --stability (default: %(default)s)")
    group.add_argument(
        "--window", type=_options.whole, metavar="L",
        help="learn one hypergraph for every L consecutive observations; -o then names a file a window, numbered",
    )  # fmt: skip
    group.add_argument(
        "--step", type=_options.whole, metavar="S", help="observations from one window to the next (default: L)"
    )


def run(arguments: argparse.Namespace) -> int:
    _check_together(arguments)
    _outputs.check_distinct(
        ("the signals", arguments.signals),
        ("the hypergraph", arguments.out),
        ("the drawing", arguments.plot),
        ("the drawing of the path", arguments.path_plot),
    )
    if arguments.out:
        _outputs.check_hypergraph(arguments.out)
    for figure in filter(None, (arguments.plot, arguments.path_plot)):
        _outputs.check_figure(figure)
    from hsls.cli import _signals, _windowed

    method = _method.of(arguments)
    signals = _signals.read_table(arguments.signals, arguments)
    names = signals.names or tuple(map(str, range(len(signals.values))))
    method, reason = _method.for_signals(method, arguments, *signals.values.shape)
    method = _with_files(method, arguments, names)
    signals = method.prepared(signals)
    plan = _plan(arguments, signals)
    if reason is not None:
        _report.complain(f"note: {reason}")
    if arguments.window is not None:
        return _windowed.run(arguments, method.estimator(), signals)
    with _report.bars(arguments):
        learned = method.learn(signals, names)
        if plan is not None:
            from hsls.resampling import of_hypergraph

            stability = of_hypergraph(
                learned.hypergraph, learned.n_candidates, method.estimator(), signals, plan, arguments.jobs
            )
            learned = replace(learned, hypergraph=stability.hypergraph)
    solution = learned.solution
    if arguments.out:
        from hsls.readwrite import write

        write(learned.hypergraph, arguments.out)
    if arguments.plot:
        from hsls.drawing import draw, save

        save(draw(learned.hypergraph), arguments.plot)
    if arguments.path_plot:
        from hsls.drawing import draw_path, save

        save(draw_path(learned.path), arguments.path_plot)
    found, lines = figures(learned, method, signals, arguments), _lines(learned, method, signals, arguments)
    if plan is not None:
        found["stability"] = _of_stability(stability)
    _report.present(arguments, found, lines)
    solution.warn_unless_converged(method.advice)
    return 0 if solution.converged else 1


def _with_files(method: Method, arguments: argparse.Namespace, names: tuple[str, ...]) -> Method:
    """The method with what stands in files: candidates and weights of the observations."""
    from hsls.cli import _signals

    given: dict[str, Any] = {}
    if arguments.candidates:
        given["candidates"] = _signals.read_candidates(arguments.candidates, names)
    if arguments.observation_weights:
        given["observation_weights"] = _signals.read_weights(arguments.observation_weights)
    return replace(method, settings=replace(method.settings, **given))


def _check_together(arguments: argparse.Namespace) -> None:
    """Refuse options that have no meaning without, or with, another one."""
    for option, other in (("stability_block", "stability"), ("step", "window")):
        if getattr(arguments, option) is not None and getattr(arguments, other) is None:
            raise ValueError(f"--{option.replace('_', '-')} is for --{other}; give both or leave it out.")
    if arguments.path_plot is not None and arguments.window is not None:
        raise ValueError("--path-plot draws one choice, but --window makes one a window; leave one out.")
    if arguments.stability is not None and arguments.window is not None:
        raise ValueError("--stability and --window exclude one another; leave one out.")


def _plan(arguments: argparse.Namespace, signals: Signals) -> Plan | None:
    """The resamples to learn on, if any."""
    if arguments.stability is None:
        return None
    from hsls.resampling import Plan

    count = signals.values.shape[1]
    return Plan.of(count, arguments.stability, block=arguments.stability_block, random_state=arguments.seed)


def _of_stability(result: Stability) -> dict[str, Any]:
    """What ``--json`` prints of the resamples."""
    return {
        "resamples": result.n_resamples,
        "failed": result.n_failed,
        "with_warnings": result.n_warned,
        "block": result.block,
        "seed": result.seed,
        "hyperedges_a_resample": result.mean_selected,
        "hyperedges_ever_found": result.union.n_edges,
        "frequencies": _report.frequencies(result.hypergraph),
    }


def figures(learned: Learned, method: Method, signals: Signals, arguments: argparse.Namespace) -> dict[str, Any]:
    """What ``--json`` prints."""
    from dataclasses import asdict

    solution, found = learned.solution, learned.hypergraph
    return {
        "nodes": found.n_nodes,
        "observations": signals.values.shape[1],
        "method": method.name,
        method.parameter: learned.parameter,
        "choice": _choice(learned),
        "candidates": learned.n_candidates,
        "hyperedges": found.n_edges,
        "by_cardinality": _report.by_cardinality(found),
        "scale": learned.scale,
        "neighbors": None if learned.neighbors is None else learned.neighbors.method,
        "neighbor_recall": None if learned.neighbors is None else learned.neighbors.recall,
        "solver": solution.solver,
        "status": solution.status,
        "iterations": solution.n_iter,
        "objective": solution.primal,
        "relative_gap": solution.relative_gap,
        "certified_over_all": learned.over_all and solution.converged,
        "certificate": None if learned.certificate is None else asdict(learned.certificate),
        "seconds": learned.seconds,
        "out": arguments.out,
    }


def _choice(learned: Learned) -> dict[str, Any] | None:
    """How the parameter was chosen, where it was."""
    path = learned.path
    if path is None:
        return None
    return {
        "criterion": path.criterion,
        "parameter": path.parameter,
        "points": len(path),
        "chosen": path.chosen,
        "score": path.scores[path.chosen],
        "values": path.values,
        "scores": path.scores,
        "hyperedges": path.n_hyperedges,
    }


def _in_words(learned: Learned, method: Method) -> str:
    """The method with its parameter, and how that was chosen."""
    told = f"{method.name}, {method.parameter} {learned.parameter:.4g}"
    path = learned.path
    if path is None:
        return told
    points = _report.count(len(path), "point")
    return f"{told} chosen by {path.criterion} among {points}, score {path.scores[path.chosen]:.6g}"


def _lines(learned: Learned, method: Method, signals: Signals, arguments: argparse.Namespace) -> list[str]:
    solution, found = learned.solution, learned.hypergraph
    observations = _report.count(signals.values.shape[1], "observation")
    candidates = f"{learned.n_candidates:,}"
    if learned.neighbors is not None:
        candidates += f"; {learned.neighbors.indices.shape[1]} neighbours, {learned.neighbors.method}"
    elif learned.over_all:
        candidates += ", all there are"
    stages = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in learned.seconds.items())
    rows = [
        ("nodes", f"{found.n_nodes:,}, {observations}"),
        ("method", _in_words(learned, method)),
        ("candidates", candidates),
        ("hyperedges", _report.hyperedges(found)),
        *_report.frequency_rows(found, "found again"),
        ("relative gap", f"{solution.relative_gap:.1e} ({solution.solver}: {solution.status}, "
                         f"{_report.count(solution.n_iter, 'iteration')})"),
        ("time", f"{sum(learned.seconds.values()):.2f} s: {stages}"),
    ]  # fmt: skip
    if learned.certificate is not None:
        rows.insert(-1, ("certificate", str(learned.certificate)))
    rows += [("written", path) for path in (arguments.out, arguments.plot, arguments.path_plot) if path]
    return _report.table(rows)
