"""Signals from files and from arrays, lists and data frames: one matrix, a row for each node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hsls import _checks
from hsls._containers import read_mat, read_numpy, read_parquet
from hsls._delimited import read_table
from hsls._files import PathLike, existing_file
from hsls._frames import Table, table_of
from hsls._types import FloatArray

__all__ = ["Signals", "read_signals", "signals_from"]


_TEXT = (".csv", ".tsv", ".txt")

_READERS: dict[str, Callable[[Path, str | None, bool | None], Table]] = {
    ".csv": lambda file, variable, header: read_table(file, ",", header),
    ".tsv": lambda file, variable, header: read_table(file, "\t", header),
    ".txt": lambda file, variable, header: read_table(file, None, header),
    ".npy": lambda file, variable, header: read_numpy(file, None),
    ".npz": lambda file, variable, header: read_numpy(file, variable),
    ".mat": lambda file, variable, header: read_mat(file, variable),
    ".parquet": lambda file, variable, header: read_parquet(file),
}


@dataclass(frozen=True, eq=False)
class Signals:
    """Signals of N nodes: `values` is N x P with NaN where missing, `names` the nodes' names where known.

    `values` may share memory with what it was made from; it is not to be written to.
    """

    values: FloatArray
    names: tuple[str, ...] | None


def read_signals(
    path: PathLike, *, nodes: str = "rows", variable: str | None = None, header: bool | None = None
) -> Signals:
    """Read signals from a .csv, .tsv, .txt, .npy, .npz, .mat or .parquet file; the ending says which it is.

    Parameters
    ----------
    path : path
    nodes : {"rows", "columns"}
        Whether a node's signal is a row or a column of the table.
    variable : str, optional
        The array to read, where a .npz or .mat file holds several.
    header : bool, optional
        Whether the first row of a text table holds the names of the columns. By default the first row is a
        header if its cells are texts, with nothing among them but whole numbers and empty cells.

    Returns
    -------
    Signals
        With `nodes` "rows", the names are the first column, if most of its cells are texts or the header
        leaves its corner empty (or, in parquet, the index or a leading text column); with "columns", the
        names are the header.

    Notes
    -----
    Empty cells, NA, NaN and null are missing values. Infinite values, texts, complex numbers and pickled
    objects are refused. Text is UTF-8; the columns of .txt are parted by blanks.
    """
    _checks.one_of(nodes, "nodes", ("rows", "columns"))
    file = existing_file(path)
    ending = file.suffix.lower()
    if ending not in _READERS:
        raise ValueError(f"{file} has the ending {ending!r}, but signals are read from {', '.join(_READERS)}.")
    if header is not None and ending not in _TEXT:
        raise ValueError(f"header is for text tables ({', '.join(_TEXT)}), but {file} is none; leave it out.")
    if variable is not None and ending not in (".npz", ".mat"):
        raise ValueError(f"variable is for .npz and .mat files, but {file} is none; leave it out.")
    return _oriented(_READERS[ending](file, variable, header), nodes, str(file))


def signals_from(X: Any, nodes: str = "rows") -> Signals:
    """Return signals held in memory: an array, nested lists, or a pandas or polars data frame.

    Parameters
    ----------
    X : array-like, data frame or Signals
        NaN, None and masked cells are missing values. `Signals`, as `read_signals` gives them, stay as they are.
    nodes : {"rows", "columns"}
        Whether a node's signal is a row or a column of `X`.

    Returns
    -------
    Signals
        Names come from a pandas index or columns (unless these only count from 0), or from the leading text
        column or the columns of a polars data frame. `X` is not changed, and not copied where it is a float64
        array.

    Examples
    --------
    >>> signals_from([[1, 2, 3], [4, None, 6]]).values
    array([[ 1.,  2.,  3.],
           [ 4., nan,  6.]])
    """
    _checks.one_of(nodes, "nodes", ("rows", "columns"))
    return X if isinstance(X, Signals) else _oriented(table_of(X, "X"), nodes, "X")


def _oriented(table: Table, nodes: str, source: str) -> Signals:
    """The table with a row for each node, checked."""
    infinite = np.isinf(table.values)
    if np.any(infinite):
        i, j = np.argwhere(infinite)[0].tolist()
        raise ValueError(
            f"{source} holds an infinite value at row {i}, column {j} (counted from 0); "
            "values must be finite, or NaN where missing."
        )
    values, names = (table.values, table.row_names) if nodes == "rows" else (table.values.T, table.column_names)
    if names is None:
        return Signals(values, None)
    try:
        return Signals(values, _checks.node_names(names, len(values)))
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
