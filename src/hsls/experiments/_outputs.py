"""What experiments write: tables as JSON, CSV and Markdown, figures as PNG and PDF, all or nothing each."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hsls._files import PathLike, atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Folder:
    """The folder that an experiment writes to; with its parents it is made when the first file is written.

    Whether it can be made is said at once, before any work is done for it.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: PathLike) -> None:
        self.path = Path(path)
        there = next(folder for folder in (self.path, *self.path.absolute().parents) if os.path.lexists(folder))
        if not there.is_dir():
            raise ValueError(f"{self.path} cannot be made a folder: {there} is no folder.")
        if not os.access(there, os.W_OK | os.X_OK):
            raise ValueError(f"{self.path} cannot be written: permission denied.")

    def table(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows of named values as NAME.json and NAME.csv."""
        self.json(name, rows)
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        self.text(f"{name}.csv", text.getvalue())

    def json(self, name: str, value: Any) -> None:
        """Write numbers and what holds them as NAME.json."""
        self.text(f"{name}.json", json.dumps(value, indent=1, default=_plain) + "\n")

    def text(self, file_name: str, text: str) -> None:
        with atomic_path(self._made() / file_name) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")

    def figure(self, name: str, drawing: Axes | Figure) -> None:
        """Write a drawing as NAME.png and NAME.pdf."""
        from hsls.drawing import save

        for ending in (".png", ".pdf"):
            save(drawing, self._made() / f"{name}{ending}")

    def _made(self) -> Path:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"{self.path} cannot be made a folder: {error.strerror}.") from None
        return self.path


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown; numbers stand as they are given, so round them before."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def spread(values: Any, digits: int = 3) -> str:
    """Mean and standard deviation over repetitions, as text."""
    array = np.asarray(values, dtype=np.float64)
    return f"{array.mean():.{digits}f} ± {array.std(ddof=1) if array.size > 1 else 0.0:.{digits}f}"


def means(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, float]:
    """NAME_mean and NAME_std of these values over the rows, as columns of a table."""
    columns: dict[str, float] = {}
    for name in names:
        values = np.array([row[name] for row in rows], dtype=np.float64)
        columns[f"{name}_mean"] = float(values.mean())
        columns[f"{name}_std"] = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return columns


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
