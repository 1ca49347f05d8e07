"""``hsls reproduce``: the paper's experiments and those beyond it, each with its numbers, figures and a report."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hsls.cli import _options, _report

_EPILOG = """\
examples:
  hsls reproduce mortality --out mortality
  hsls reproduce coauthorship --out coauthorship --seeds 5 --data folder-of-the-files
  hsls reproduce robustness --out robustness
  hsls reproduce all --out results --page reproduction.md
  hsls reproduce hyperspectral --out hyperspectral --trials 1 --epochs 20

Each writes its numbers as JSON and CSV, its figures as PNG and PDF, and report.md. The data are looked up in the
folder that --data or the environment variable HSLS_DATA names, then in a cache, then fetched.
"""

#: The experiments, those of `all` in the order of the page, and what each is.
EXPERIMENTS = {
    "overlap": "true hyperedges among the candidates as neighbours grow",
    "coauthorship": "the methods compared on co-authorship networks",
    "recovery": "HSLS and the likelihood chosen by the data alone, against their oracles",
    "robustness": "what breaks where the signals are not those of the model",
    "mortality": "lung cancer, smoking and temperature by state",
}
#: Those that go beyond the paper and take their own time: `all` leaves them out.
BEYOND = ("recovery", "robustness")


def add(commands: argparse._SubParsersAction[_options.Parser]) -> None:
    parser = commands.add_parser(
        "reproduce",
        help="run an experiment of the paper, or one beyond it",
        description="Run an experiment of the paper, or one beyond it.",
        epilog=_EPILOG,
    )
    experiments = parser.add_subparsers(title="experiments", metavar="EXPERIMENT", required=True, dest="experiment")
    for name, summary in EXPERIMENTS.items():
        add_draws(_options.command(experiments, name, run, summary, ""))
    everything = _options.command(
        experiments, "all", run_all, "overlap, coauthorship and mortality, and a page of their reports", ""
    )
    add_draws(everything)
    everything.add_argument("--page", metavar="FILE", help="the page (default: reproduction.md in the folder)")
    add_hyperspectral(
        _options.command(experiments, "hyperspectral", run_hyperspectral, "superpixels of Indian Pines, classified", "")
    )


def add_draws(parser: _options.Parser) -> None:
    """The options of an experiment on simulated signals."""
    add_common(parser)
    parser.add_argument("--seeds", type=_options.whole, default=20, help="number of draws (default: %(default)s)")


def add_hyperspectral(parser: _options.Parser) -> None:
    """The options of the experiment that trains neural networks."""
    add_common(parser)
    parser.add_argument(
        "--protocol",
        default="leak-free",
        metavar="leak-free|paper|both",
        help="each trial has a convolutional network of its own, or the best serves all (default: %(default)s)",
    )
    parser.add_argument("--trials", type=_options.whole, default=5, help="number of splits (default: %(default)s)")
    parser.add_argument(
        "--epochs",
        type=_options.whole,
        help="of every network (default: 200 of the convolutional networks, 300 of those on hypergraphs)",
    )
    parser.add_argument("--seed", type=_options.whole, default=0, help="of all draws (default: %(default)s)")
    parser.add_argument(
        "--device",
        default="auto",
        metavar="auto|cpu|cuda",
        help="where convolutional networks are trained (default: %(default)s)",
    )
    parser.add_argument(
        "--features",
        metavar="DIR",
        help="folder of convolutional networks from 'python -m hsls.experiments.hyperspectral.features' (default: "
        "those in a cache; what is not there is trained)",
    )
    parser.add_argument("--page", metavar="FILE", help="write the report as a page, too")


def add_common(parser: _options.Parser) -> None:
    """The options of every experiment."""
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder to write into; made if need be")
    parser.add_argument("--data", metavar="DIR", help="folder to look for the data in first")
    parser.add_argument("--jobs", type=_options.whole, metavar="J", help="processes (default: all cores)")


def run(arguments: argparse.Namespace) -> int:
    rows = _experiment(arguments, arguments.experiment, Path(arguments.out))
    _present(arguments, {arguments.experiment: rows}, [arguments.out])
    return 0


def run_all(arguments: argparse.Namespace) -> int:
    from hsls.experiments import page

    out = Path(arguments.out)
    target = Path(arguments.page or out / "reproduction.md")
    page.check(target)
    found = {name: _experiment(arguments, name, out / name) for name in EXPERIMENTS if name not in BEYOND}
    page.write(target, {name: out / name for name in found})
    _present(arguments, found, [str(out), str(target)])
    return 0


def run_hyperspectral(arguments: argparse.Namespace) -> int:
    from hsls.experiments import page
    from hsls.experiments.hyperspectral import experiment

    options = ("trials", "epochs", "protocol", "features", "seed", "device", "data")
    with _report.bars(arguments):
        rows = experiment.run(
            arguments.out, n_jobs=arguments.jobs, **{name: getattr(arguments, name) for name in options}
        )
    written = [arguments.out]
    if arguments.page:
        page.write(arguments.page, {"hyperspectral": Path(arguments.out)}, page.HYPERSPECTRAL)
        written.append(arguments.page)
    _present(arguments, {"hyperspectral": rows}, written)
    return 0


def _experiment(arguments: argparse.Namespace, name: str, out: Path) -> list[dict[str, Any]]:
    import importlib

    from hsls import _checks
    from hsls.drawing import _canvas
    from hsls.experiments._outputs import Folder

    seeds = _checks.whole(arguments.seeds, "--seeds")
    work: Callable[..., list[dict[str, Any]]] = importlib.import_module(f"hsls.experiments.{name}").run
    folder = Folder(out)
    _canvas.matplotlib()
    with _report.bars(arguments):
        return work(folder, seeds=seeds, data=arguments.data, n_jobs=arguments.jobs)


def _present(arguments: argparse.Namespace, found: dict[str, Any], written: list[str]) -> None:
    rows = [(name, _report.count(len(table), "row")) for name, table in found.items()]
    rows += [("written", path) for path in written]
    _report.present(arguments, {"tables": found, "written": written}, _report.table(rows))
