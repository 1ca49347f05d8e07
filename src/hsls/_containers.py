"""Tables of numbers in the binary files of numpy, MATLAB and Apache Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hsls._files import numpy_arrays, reason
from hsls._frames import Table, from_polars, matrix


def read_numpy(path: Path, variable: str | None) -> Table:
    """Read a .npy file, or one array of a .npz file."""
    arrays = numpy_arrays(path, only=variable)
    name = "" if "" in arrays else _chosen(path, list(arrays), variable)
    return Table(matrix(arrays[name], str(path)))


def read_mat(path: Path, variable: str | None) -> Table:
    """Read one matrix of a MATLAB file of version 4 to 7.2; texts, cells and structures are passed over."""
    from scipy.io import loadmat, whosmat

    try:
        names = [name for name, _, kind in whosmat(path) if kind in _MATLAB_NUMBERS]
        name = _chosen(path, names, variable)
        value = loadmat(path, variable_names=[name])[name]
    except NotImplementedError:
        raise ValueError(f"{path} is a MATLAB 7.3 file, which is HDF5; save it again with save(..., '-v7').") from None
    except _WrongVariableError:
        raise
    except Exception as error:
        # Any byte of the file may be wrong, and scipy and zlib then raise a dozen different types.
        raise ValueError(f"{path} is damaged or no MATLAB file ({reason(error)}).") from None
    if hasattr(value, "toarray"):
        raise TypeError(f"{path}: {name} is a sparse matrix, but signals are dense; save full({name}).")
    return Table(matrix(value, str(path)))


def read_parquet(path: Path) -> Table:
    """Read a parquet file; its pandas index, or else a leading text column, names the rows."""
    try:
        from pyarrow import parquet
    except ImportError:
        return _with_polars(path)
    try:
        # Not `read_table`, which would take folders named like year=2020 for columns.
        with parquet.ParquetFile(path) as file:
            table = file.read()
        names = _name_column(table)
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} is damaged or no parquet file ({reason(error)}).") from None
    return _from_arrow(table, names, str(path))


_MATLAB_NUMBERS = frozenset(
    ["double", "single", "logical", "sparse"] + [f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)]
)


class _WrongVariableError(ValueError):
    """The file is sound, but which of its arrays is meant is not said or not right."""


def _chosen(path: Path, names: list[str], variable: str | None) -> str:
    """The array to read out of those of a file."""
    if not names:
        raise _WrongVariableError(f"{path} holds no array of numbers.")
    listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    if variable is None and len(names) > 1:
        raise _WrongVariableError(f"{path} holds several arrays ({listed}); choose one with variable=.")
    if variable is not None and variable not in names:
        raise _WrongVariableError(f"{path} holds no array of numbers named {variable!r}; it has {listed}.")
    return names[0] if variable is None else variable


def _with_polars(path: Path) -> Table:
    try:
        import polars
    except ImportError:
        raise ImportError('reading parquet files needs pyarrow: pip install "hsls[tables]".') from None
    try:
        frame = polars.read_parquet(path)
    except (polars.exceptions.PolarsError, OSError) as error:
        raise ValueError(f"{path} is damaged or no parquet file ({reason(error)}).") from None
    return from_polars(frame, str(path))


def _from_arrow(table: Any, column: int | None, source: str) -> Table:
    """The table without the column of names, if there is one."""
    import pyarrow

    kinds = pyarrow.types
    names = None
    if column is not None:
        names = tuple(str(label) for label in table.column(column).to_pylist())
        table = table.remove_column(column)
    values = np.empty((table.num_rows, table.num_columns), order="F")
    for j, (title, cells) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if kinds.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        kind = cells.type
        numeric = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)
        if not (numeric or kinds.is_boolean(kind) or kinds.is_null(kind)):
            raise TypeError(f"{source} holds {kind} in the column {title!r}; numbers are expected.")
        values[:, j] = cells.cast(pyarrow.float64(), safe=False).to_numpy()
    return Table(matrix(values, source), names, tuple(table.column_names))


def _name_column(table: Any) -> int | None:
    """The column that pandas wrote its index to (the last, mostly), or the first if it holds texts."""
    from pyarrow import types

    # An index that only counts is no column; its entry is then a dict.
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    if len(index) == 1 and isinstance(index[0], str) and index[0] in table.column_names:
        return int(table.column_names.index(index[0]))
    if table.num_columns == 0:
        return None
    kind = table.schema.field(0).type
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return 0 if str(kind) in ("string", "large_string", "string_view") else None
