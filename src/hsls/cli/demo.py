"""``hsls demo``: simulate, learn, compare and draw, with every file left to look at."""

from __future__ import annotations

import argparse
from pathlib import Path

from hsls.cli import _options, _report

_EPILOG = """\
Writes into the folder: signals.csv, truth.json, learned.json, learned.png (the hypergraph), comparison.png (right,
wrong and missed hyperedges) and convergence.png (the duality gap by iteration).
"""


def add(commands: argparse._SubParsersAction[_options.Parser]) -> None:
    parser = _options.command(commands, "demo", run, "simulate, learn, compare and draw", _EPILOG)
    parser.add_argument("--out", default="demo", metavar="DIR", help="folder to write to (default: %(default)s)")
    parser.add_argument("--seed", type=_options.whole, default=0, help="of the simulation (default: 0)")


def run(arguments: argparse.Namespace) -> int:
    folder = _folder(arguments.out)
    from hsls import _checks
    from hsls.cli import _signals
    from hsls.drawing import _canvas

    seed = _checks.whole(arguments.seed, "--seed", least=0)
    _canvas.matplotlib()
    from hsls.drawing import draw, draw_comparison, draw_convergence, layout, save
    from hsls.learning import Settings, learn
    from hsls.metrics import compare
    from hsls.readwrite import write
    from hsls.simulate import random_hypergraph, smooth_signals

    truth = random_hypergraph(40, 22, 3, random_state=seed)
    signals = smooth_signals(truth, 250, random_state=seed)
    with _report.bars(arguments):
        learned = learn(signals, Settings(cardinalities=3))
    found, solution = learned.hypergraph, learned.solution
    result = compare(found, truth)
    written = [folder / name for name in ("signals.csv", "truth.json", "learned.json")]
    _signals.write_table(str(written[0]), signals, truth.nodes)
    write(truth, written[1])
    write(found, written[2])
    positions = layout(truth)
    pictures = {
        "learned.png": draw(found, pos=positions),
        "comparison.png": draw_comparison(found, truth, pos=positions),
        "convergence.png": draw_convergence(solution),
    }
    for name, picture in pictures.items():
        written.append(folder / name)
        save(picture, written[-1])
    figures = {
        "nodes": truth.n_nodes,
        "observations": signals.shape[1],
        "true_hyperedges": truth.n_edges,
        "hyperedges": found.n_edges,
        "f1": result.f1,
        "relative_gap": solution.relative_gap,
        "written": [str(path) for path in written],
    }
    rows = [
        ("truth", f"{truth.n_nodes} nodes, {truth.n_edges} hyperedges of 3 nodes"),
        ("signals", _report.count(signals.shape[1], "smooth observation")),
        ("learned", f"{_report.hyperedges(found)}, among {_report.count(learned.n_candidates, 'candidate')}"),
        ("relative gap", f"{solution.relative_gap:.1e} after {_report.count(solution.n_iter, 'iteration')}"),
        ("against truth", f"F1 {result.f1:.3f}: {result.true_positives} right, {result.false_positives} wrong, "
                          f"{result.false_negatives} missed"),
        *(("written", str(path)) for path in written),
    ]  # fmt: skip
    _report.present(arguments, figures, _report.table(rows))
    return 0


def _folder(path: str) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(exist_ok=True)
    except FileNotFoundError:
        raise ValueError(f"--out: the folder {folder.parent} does not exist; create it first.") from None
    except OSError as error:
        raise ValueError(f"--out: {folder} cannot be made a folder ({error.strerror}).") from None
    return folder
