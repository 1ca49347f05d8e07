"""Numbers held in memory, as arrays, lists or data frames, brought into one float64 table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from hsls._types import AnyArray, FloatArray


@dataclass(frozen=True, eq=False)
class Table:
    """Values as they stand in their source, and the names of rows and columns where it gives them."""

    values: FloatArray
    row_names: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None


def table_of(X: Any, source: str) -> Table:
    """Return numbers held in memory as a table; no library of data frames is imported."""
    library = type(X).__module__.partition(".")[0]
    if library == "scipy" and hasattr(X, "toarray"):
        raise TypeError(f"{source} is a sparse matrix, but signals are dense; give its .toarray().")
    if library == "pandas" and type(X).__name__ == "DataFrame":
        return _from_pandas(X, source)
    if library == "polars" and type(X).__name__ == "DataFrame":
        return from_polars(X, source)
    return Table(matrix(X, source))


def matrix(X: Any, source: str) -> FloatArray:
    """Return `X` as a float64 matrix, without a copy where it is one; None and masked cells become NaN."""
    A = _as_array(X, source)
    if A.ndim != 2:
        raise ValueError(
            f"{source} must be a table with rows and columns, but has {A.ndim} dimension(s), shape {A.shape}."
        )
    for size, word in zip(A.shape, ("sample", "feature"), strict=True):
        if size == 0:  # The wording is the one that scikit-learn's checks of estimators look for.
            raise ValueError(f"{source} is empty: 0 {word}(s) (shape={A.shape}) while a minimum of 1 is required.")
    if A.dtype.kind == "c":
        refuse_complex(source)
    if A.dtype.kind in "OUS":
        return _cell_by_cell(A, source)
    if A.dtype.kind not in "biuf":
        raise TypeError(f"{source} holds values of type {A.dtype}; numbers are expected.")
    with np.errstate(over="ignore"):  # A longdouble beyond float64 becomes infinite, which is refused later.
        values = A.astype(np.float64, copy=False)
    return np.where(X.mask, np.nan, values) if isinstance(X, np.ma.MaskedArray) else values


def refuse_complex(source: str) -> NoReturn:
    """Say so in the words that scikit-learn's checks of estimators look for."""
    raise ValueError(f"Complex data not supported: {source} holds complex numbers.")


def _as_array(X: Any, source: str) -> AnyArray:
    try:
        A = np.asarray(X)
        # Out of a list with one text numpy makes texts of all its numbers.
        return np.asarray(X, dtype=object) if A.dtype.kind in "US" and isinstance(X, list | tuple) else A
    except ValueError:
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in X]
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
        raise ValueError(
            f"{source} is ragged: row {odd} holds {lengths[odd]} values and row 0 {lengths[0]} (from 0)."
        ) from None


def _cell_by_cell(A: AnyArray, source: str) -> FloatArray:
    """Numbers out of Python objects; a text is refused even where it spells a number."""
    values = np.empty(A.shape)
    for i, row in enumerate(A.tolist()):
        for j, value in enumerate(row):
            if value is None or type(value).__name__ == "NAType":
                values[i, j] = math.nan
                continue
            where = f"{source} at row {i}, column {j} (counted from 0)"
            if isinstance(value, str | bytes):
                raise TypeError(f"{where} holds the text {value[:40]!r}; a number is expected.")
            if isinstance(value, complex):
                refuse_complex(where)
            try:
                values[i, j] = float(value)
            except (TypeError, ValueError) as error:
                raise TypeError(f"{where} holds no number: {error}.") from None
            except OverflowError:
                values[i, j] = math.inf
    return values


# -- data frames -----------------------------------------------------------------------------------------


def _from_pandas(X: Any, source: str) -> Table:
    kinds = {getattr(dtype, "kind", "O") for dtype in X.dtypes}
    if "c" in kinds:
        refuse_complex(source)
    if not kinds <= set("biuf"):
        values = matrix(X.to_numpy(dtype=object), source)
    elif all(isinstance(dtype, np.dtype) for dtype in X.dtypes):
        values = matrix(X.to_numpy(), source)
    else:  # pandas' own types of numbers, which know missing values
        values = matrix(X.to_numpy(dtype=np.float64, na_value=np.nan), source)
    return Table(values, _labels(X.index), _labels(X.columns))


def _labels(index: Any) -> tuple[str, ...] | None:
    """The labels of a pandas index, or None where it only counts from 0."""
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return None
    return tuple(str(label) for label in index)


def from_polars(X: Any, source: str) -> Table:
    """Return a polars data frame as a table; a leading column of texts holds the names of the rows."""
    columns = X.get_columns()
    named = bool(columns) and str(columns[0].dtype).partition("(")[0] in ("String", "Categorical", "Enum")
    names = tuple(str(label) for label in columns[0].to_list()) if named else None
    columns = columns[1:] if named else columns
    values = np.empty((X.height, len(columns)), order="F")
    for j, column in enumerate(columns):
        if not column.dtype.is_numeric() and str(column.dtype) not in ("Boolean", "Null"):
            raise TypeError(f"{source} holds {column.dtype} in the column {column.name!r}; numbers are expected.")
        values[:, j] = column.cast(float).to_numpy()
    return Table(matrix(values, source), names, tuple(column.name for column in columns))
