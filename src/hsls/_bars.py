"""Progress bars on a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Bars"]


class Bars:
    """Draws the stages of a run as bars on standard error; silent where that is not a terminal.

    A `hsls._progress.Reporter`, to be used as a context manager. A bar is there as long as its stage lasts, so nothing
    of it stays on the screen; what is written to standard error meanwhile, and to standard output where that is a
    terminal too, appears above the bars.

    Parameters
    ----------
    stream : text stream, optional
        Where to draw instead of standard error.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._progress: Progress | None = None
        self._tasks: list[TaskID] = []

    def __enter__(self) -> Bars:
        stream = sys.stderr if self._stream is None else self._stream
        if _is_terminal(stream):
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description:<12}"), BarColumn(), TimeElapsedColumn())
            note = TextColumn("{task.fields[note]}", markup=False)
            # Standard output that goes to a file or a pipe must not be led to the bars.
            self._progress = Progress(
                *columns,
                note,
                console=Console(file=stream),
                transient=True,
                redirect_stdout=_is_terminal(sys.stdout),
            )
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
        self._tasks.clear()

    def begin(self, stage: str, total: float | None) -> None:
        if self._progress is not None:
            self._tasks.append(self._progress.add_task(stage, total=total, note=""))

    def advance(self, done: float, note: str = "") -> None:
        if self._progress is not None and self._tasks:
            self._progress.update(self._tasks[-1], completed=done, note=note)

    def end(self) -> None:
        if self._progress is not None and self._tasks:
            self._progress.remove_task(self._tasks.pop())


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal; there is none where a program has no console."""
    return stream is not None and stream.isatty()
