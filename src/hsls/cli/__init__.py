"""The command ``hsls``: one room a command, each with `add` (its options) and `run`.

No numerical library is loaded until a command runs, so ``hsls --help`` and mistyped options answer at once.

Exit status: 0 success; 1 a failure, such as a solver that did not converge; 2 bad usage or bad input, told in one
sentence on standard error, with nothing written; 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hsls.cli import _options, _report, compare, demo, info, learn, plot, reproduce, simulate

__all__ = ["main"]

_EPILOG = """\
examples:
  hsls demo                                   simulate, learn, draw and compare
  hsls learn signals.csv -o learned.json      learn a hypergraph from a table of signals
  hsls info learned.json --top 10             look at it

'hsls COMMAND --help' describes a command. Exit status: 0 success, 1 failure (as when a solver
did not converge), 2 bad usage or bad input, 130 interrupted.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (that of the process by default) and return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with _report.warnings_as_lines():
            status = _command(words)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # As under `| head`: the reader has what it wanted.
        _report.abandon_stdout()
        return 0
    except KeyboardInterrupt:
        _report.complain("interrupted; nothing half-written is left.")
        return 130
    except Exception as error:
        return _report.failure(error, traceback="--debug" in words)


def _command(words: list[str]) -> int:
    parser = _options.Parser(
        prog="hsls",
        description="Learn hypergraphs from signals by certified convex optimisation.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action=_options.Version, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    for room in (learn, simulate, compare, info, plot, demo, reproduce):
        room.add(commands)
    try:
        arguments, unknown = parser.parse_known_args(words)
        if unknown:
            arguments.parser.refuse(unknown[0])
    except SystemExit as stop:  # --help and --version
        return int(stop.code or 0)
    return int(arguments.run(arguments))
