"""What the commands share in reading their options; nothing numerical is imported here."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from hsls.hypergraph import Hypergraph

#: Stands for what the user did not give, where None is a value of its own.
DEFAULT: Any = object()


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one sentence, raised as a `ValueError`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message.removeprefix('argument ')}; see '{self.prog} --help'.")

    def refuse(self, word: str) -> NoReturn:
        """Complain about a word that is neither an option nor expected, and offer the option most like it."""
        if not word.startswith("-"):
            self.error(f"{word!r} is one argument too many")
        known = [option for action in self._actions for option in action.option_strings]
        near = difflib.get_close_matches(word.partition("=")[0], known, n=1)
        self.error(f"there is no option {word}" + (f", did you mean {near[0]}?" if near else ""))


class Version(argparse.Action):
    """Prints the version; with a `help` of its own, since argparse's needs the number at once."""

    def __init__(self, **options: Any) -> None:
        super().__init__(nargs=0, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from hsls._version import __version__

        print(f"hsls {__version__}")
        parser.exit()


def command(
    commands: argparse._SubParsersAction[Parser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
    epilog: str,
) -> Parser:
    """A new command with the options that all have."""
    capital = summary[0].upper() + summary[1:]
    parser = commands.add_parser(name, help=summary, description=f"{capital}.", epilog=epilog)
    parser.set_defaults(run=run, parser=parser)
    shared = parser.add_argument_group("report")
    shared.add_argument("--json", action="store_true", help="print one JSON object instead of the summary")
    shared.add_argument("-q", "--quiet", action="store_true", help="print no summary and draw no progress bars")
    shared.add_argument("--debug", action="store_true", help="on an error print the traceback, too")
    return parser


def add_reading(parser: Parser) -> None:
    """How a file of signals is read."""
    group = parser.add_argument_group("reading signals")
    group.add_argument(
        "--nodes",
        default="rows",
        metavar="rows|columns",
        help="whether a node's signal is a row or a column of the table (default: %(default)s)",
    )
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first row of a text table holds the names of the columns (default: found out)",
    )
    group.add_argument("--variable", metavar="NAME", help="the array to read, where a .npz or .mat file holds several")


def add_selection(parser: Parser) -> None:
    """Which hyperedges of a file take part."""
    parser.add_argument(
        "--threshold", type=number, metavar="WEIGHT", help="leave out hyperedges of smaller weight (default: none)"
    )
    parser.add_argument(
        "--frequency", type=number, metavar="SHARE",
        help="leave out hyperedges found on a smaller share of resamples (default: none)",
    )  # fmt: skip
    parser.add_argument("--top", type=whole, metavar="M", help="keep the M heaviest hyperedges (default: all)")


def selected(hypergraph: Hypergraph, arguments: argparse.Namespace) -> Hypergraph:
    """The hyperedges that the options of `add_selection` leave."""
    from hsls import _checks

    if arguments.threshold is not None:
        hypergraph = hypergraph.threshold(_checks.nonnegative(arguments.threshold, "--threshold"))
    if arguments.frequency is not None:
        if hypergraph.frequencies is None:
            raise ValueError("--frequency: the hypergraph has no frequencies; 'hsls learn --stability' finds them.")
        hypergraph = hypergraph.frequent(_checks.nonnegative(arguments.frequency, "--frequency"))
    if arguments.top is not None:
        hypergraph = hypergraph.top(_checks.whole(arguments.top, "--top", least=0))
    return hypergraph


# -- values ------------------------------------------------------------------------------------------------------------


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def number_or_auto(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or 'auto', got {text!r}") from None


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def wholes(text: str) -> list[int]:
    """Whole numbers parted by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        message = f"must be whole numbers parted by commas, such as 2,3; got {text!r}"
        raise argparse.ArgumentTypeError(message) from None


def neighbors(text: str) -> str | int | list[int]:
    """A number of neighbours, one for each cardinality, or a word."""
    if text in ("auto", "all", "certified"):
        return text
    try:
        counts = wholes(text)
    except argparse.ArgumentTypeError:
        message = f"must be a number, one for each cardinality such as 6,8, 'auto', 'all' or 'certified'; got {text!r}"
        raise argparse.ArgumentTypeError(message) from None
    return counts[0] if len(counts) == 1 else counts


def scale(text: str) -> str | float | None:
    """A number above 0, or a word; 'none' stands for no scaling."""
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        return text


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{unit}i": 2 ** (10 * power) for power, unit in enumerate("kmgt", start=1)}


def memory(text: str) -> float | None:
    """A number of bytes such as 4GiB, 500MB or 1e9; 'none' stands for no limit."""
    if text == "none":
        return None
    parts = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?i?)b?", text.strip().lower())
    if parts is not None and parts[2] in _UNITS:
        try:
            return float(parts[1]) * _UNITS[parts[2]]
        except ValueError:
            pass
    raise argparse.ArgumentTypeError(f"must be a size such as 4GiB or 500MB, or 'none'; got {text!r}")
