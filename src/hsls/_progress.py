"""Progress of long stages: said to whoever asked to hear it, to nobody otherwise.

The library tells the reporter of the current context what it is at; the command line installs one that draws bars.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Reporter(Protocol):
    """Listens to the stages of a run."""

    def begin(self, stage: str, total: float | None) -> None:
        """A stage starts, of `total` units of work where that is known."""

    def advance(self, done: float, note: str = "") -> None:
        """The stage has got to `done` units; `note` says more in a few words."""

    def end(self) -> None:
        """The stage is over."""


_reporter: ContextVar[Reporter | None] = ContextVar("hsls_progress", default=None)


@contextmanager
def reporting(reporter: Reporter | None) -> Iterator[None]:
    """Within the block tell `reporter` about progress."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def stage(name: str, total: float | None = None) -> Iterator[Reporter | None]:
    """A stage of work; yields the reporter to advance, or None when nobody listens."""
    reporter = _reporter.get()
    if reporter is None:
        yield None
        return
    reporter.begin(name, total)
    try:
        yield reporter
    finally:
        reporter.end()


@contextmanager
def towards(name: str, tolerance: float, measure: str = "gap") -> Iterator[Callable[[float], None]]:
    """A stage that ends when a measure has come down to `tolerance`; yields what to call with each value of it.

    Its units of work are decades below 1.
    """
    goal = max(1e-9, -math.log10(tolerance))
    with stage(name, goal) as reporter:

        def report(value: float) -> None:
            if reporter is not None:
                decades = -math.log10(value) if 0 < value < math.inf else (goal if value <= 0 else 0.0)
                reporter.advance(min(max(decades, 0.0), goal), f"{measure} {value:.1e}")

        yield report
