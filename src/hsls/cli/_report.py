"""What a command says: its summary or one JSON object on standard output, warnings and errors on standard error."""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import statistics
import sys
import traceback as tracebacks
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hsls.hypergraph import Hypergraph


def present(arguments: argparse.Namespace, figures: Mapping[str, Any], lines: Iterable[str]) -> None:
    """Print the figures as JSON where that is asked for, otherwise the lines, or nothing."""
    if arguments.json:
        print(json.dumps(plain(figures), allow_nan=False))
    elif not arguments.quiet:
        for line in lines:
            say(line)


def say(line: str) -> None:
    """Print a line, with escapes for what the encoding of standard output has no place for."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding))


def table(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Lines of a label and what it stands for."""
    pairs = list(rows)
    width = max(len(label) for label, _ in pairs)
    return [f"{label:<{width}}  {text}" for label, text in pairs]


def sizes(counts: Mapping[int, int]) -> str:
    """Numbers by cardinality, in words."""
    return ", ".join(f"{count:,} of {k} nodes" if k != 1 else f"{count:,} of 1 node" for k, count in counts.items())


def by_cardinality(hypergraph: Hypergraph) -> dict[int, int]:
    """Number of hyperedges of each cardinality that occurs."""
    return {k: len(members) for k, members in hypergraph.members().items()}


def hyperedges(hypergraph: Hypergraph) -> str:
    """Number of hyperedges, in all and by cardinality, in words."""
    if hypergraph.n_edges == 0:
        return "none"
    return f"{hypergraph.n_edges:,}: {sizes(by_cardinality(hypergraph))}"


def frequencies(hypergraph: Hypergraph) -> dict[str, Any] | None:
    """How often the hyperedges were found on resamples, where that is known: the extremes, and how many often."""
    found = hypergraph.frequencies
    if found is None or not len(found):
        return None
    ordered = sorted(found.tolist())
    return {
        "least": ordered[0],
        "median": statistics.median(ordered),
        "largest": ordered[-1],
        "often": sum(frequency >= 0.9 for frequency in ordered),
    }


def frequency_rows(hypergraph: Hypergraph, label: str) -> list[tuple[str, str]]:
    """The same in words, as one row of a table, or none."""
    found = frequencies(hypergraph)
    if found is None:
        return []
    shares = f"{found['least']:.0%} to {found['largest']:.0%} of resamples, median {found['median']:.0%}"
    return [(label, f"in {shares}; {found['often']:,} in 90 % and more")]


def count(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def plain(value: Any) -> Any:
    """The value in JSON's own types; what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


@contextmanager
def bars(arguments: argparse.Namespace) -> Iterator[None]:
    """Progress bars within the block, unless the user wants quiet or standard error is no terminal."""
    if arguments.quiet:
        yield
        return
    from hsls import _progress
    from hsls._bars import Bars

    with Bars() as shown, _progress.reporting(shown):
        yield


# -- standard error ----------------------------------------------------------------------------------------------------


def complain(message: str) -> None:
    """One line on standard error."""
    print(f"hsls: {' '.join(message.split())}", file=sys.stderr, flush=True)


def failure(error: Exception, traceback: bool) -> int:
    """Tell of an error, and return the exit status that it deserves."""
    if traceback:
        tracebacks.print_exception(error)
    status, message = _judged(error)
    complain(f"error: {message}")
    return status


def _judged(error: Exception) -> tuple[int, str]:
    message = str(error) or type(error).__name__
    if isinstance(error, ValueError | TypeError) and type(error).__name__ != "LinAlgError":
        return 2, message
    if isinstance(error, MemoryError):
        return 1, "there is not enough memory; lower --neighbors or --cardinalities."
    if isinstance(error, ImportError):
        return 1, message
    if isinstance(error, OSError):
        return (
            1,
            f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror or message.rstrip('.')}.",
        )
    return 1, f"unexpected {type(error).__name__}: {message}; run again with --debug for the traceback."


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Within the block the library's warnings, by `warnings` or in the log, are single lines on standard error."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        complain(f"warning: {message}")

    logger = logging.getLogger("hsls")
    handler = _Lines(logging.WARNING)
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            yield
    finally:
        logger.removeHandler(handler)


class _Lines(logging.Handler):
    """Writes to what standard error is at the time, which progress bars replace."""

    def emit(self, record: logging.LogRecord) -> None:
        complain(f"{record.levelname.lower()}: {record.getMessage()}")


def abandon_stdout() -> None:
    """Send what is still to come on standard output nowhere, so that closing it at exit does not fail."""
    with suppress(OSError, ValueError):  # standard output is no file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
