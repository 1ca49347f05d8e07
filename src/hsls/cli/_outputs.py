"""Checks of the files that a command is to write, before any work is done for them.

As in all rooms that a command loads at once, nothing numerical is imported at the top.
"""

from __future__ import annotations

from pathlib import Path

SIGNAL_ENDINGS = (".csv", ".tsv", ".npy", ".npz")


class _JustTrying(Exception):  # noqa: N818
    """Leaves the writing of a file before it has begun."""


def check_hypergraph(path: str) -> None:
    """Refuse a path that no hypergraph can be written to."""
    from hsls.readwrite import check_ending

    check_ending(path)
    _try(path)


def check_figure(path: str) -> None:
    """Refuse a path that no drawing can be written to, or any where matplotlib is missing."""
    from hsls.drawing import _canvas
    from hsls.drawing.save import check_ending

    check_ending(path)
    _try(path)
    _canvas.matplotlib()


def check_signals(path: str) -> None:
    """Refuse a path that no signals can be written to."""
    ending = Path(path).suffix.lower()
    if ending not in SIGNAL_ENDINGS:
        has = f"the ending {ending!r}" if ending else "no ending"
        raise ValueError(f"{path} has {has}; a file of signals must end in one of {', '.join(SIGNAL_ENDINGS)}.")
    _try(path)


def check_distinct(*named: tuple[str, str | None]) -> None:
    """Refuse two roles for one file; `named` are pairs of what a path is for and the path."""
    seen: dict[Path, str] = {}
    for role, path in named:
        if path is None:
            continue
        real = Path(path).resolve()
        if real in seen:
            raise ValueError(f"{path} is given both as {seen[real]} and as {role}; choose another name for one.")
        seen[real] = role


def _try(path: str) -> None:
    """Create the temporary file that writing begins with, and remove it."""
    from hsls._files import atomic_path

    try:
        with atomic_path(path):
            raise _JustTrying
    except _JustTrying:
        pass
