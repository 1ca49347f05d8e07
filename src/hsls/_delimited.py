"""Tables of numbers as text: comma- or tab-separated, or columns parted by blanks.

What is a number, a missing value or a text is decided cell by cell; whether there is a header and a column of
names, from the first rows (`_layout`).
"""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np

from hsls._frames import Table
from hsls._types import FloatArray

Row: TypeAlias = tuple[int, list[str]]  # number in the file, counted from 1, and cells

_MISSING = frozenset({"", "na", "nan", "null"})

# The layout is decided on the first rows: so many at most, and so many cells.
_HEAD_ROWS = 100
_HEAD_CELLS = 100_000


def number_in(cell: str) -> float | None:
    """The number in a cell, NaN where it is empty, NA, NaN or null, or None where it is another text."""
    text = cell.strip()
    if text.lower() in _MISSING:
        return math.nan
    if "_" in text:  # Python reads 1_000 as a number; tables do not mean one.
        return None
    try:
        return float(text)
    except ValueError:
        return None


def read_table(path: Path, delimiter: str | None, header: bool | None) -> Table:
    """Read a table of numbers; `delimiter` None parts cells at blanks, `header` None looks for one."""
    rows = _rows(path, delimiter)
    head: list[Row] = []
    for row in rows:
        head.append(row)
        if len(head) == _HEAD_ROWS or (len(head) > 2 and len(head) * len(row[1]) > _HEAD_CELLS):
            break
    head = _without_remarks(head)
    if not head:
        raise ValueError(f"{path} holds no rows, only blank lines or remarks.")
    _check_delimiter(path, head, delimiter)
    titles, first_column = _layout(path, head, header)
    body = chain(head[titles is not None :], rows)
    values, names = _values(path, body, titles, first_column)
    skip = int(first_column)
    columns = None if titles is None else tuple(title.strip() for title in titles[skip:])
    return Table(values, tuple(names) if first_column else None, columns)


def _rows(path: Path, delimiter: str | None) -> Iterator[Row]:
    """The rows that are not blank."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines: Iterable[list[str]] = (
                (line.split() for line in stream)
                if delimiter is None
                else csv.reader(stream, delimiter=delimiter, strict=True)
            )
            for number, cells in enumerate(lines, start=1):
                if cells:
                    yield number, cells
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8.") from None
    except csv.Error as error:
        raise ValueError(f"{path}: row {number + 1} cannot be read ({error}).") from None


def _without_remarks(head: list[Row]) -> list[Row]:
    """Leave out leading rows that begin with # and have not the width of the table."""
    while len(head) > 1 and head[0][1][0].startswith("#") and len(head[0][1]) != len(head[-1][1]):
        head = head[1:]
    return head


def _check_delimiter(path: Path, head: list[Row], delimiter: str | None) -> None:
    if delimiter is None or any(len(cells) > 1 for _, cells in head):
        return
    for other, word in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
        if all(other in cells[0] for _, cells in head):
            expected = "tabs" if delimiter == "\t" else "commas"
            raise ValueError(f"{path}: the cells are parted by {word}, not {expected}; save it with {expected}.")


# -- header and names ------------------------------------------------------------------------------------


def _layout(path: Path, head: list[Row], header: bool | None) -> tuple[list[str] | None, bool]:
    """The titles of the columns, or None, and whether the first column holds names.

    The first row is a header if its cells (the corner left out) are texts, perhaps with some whole numbers
    or empty cells among them. The first column holds names if the header leaves the corner empty, or if most
    of its cells are texts.
    """
    first = head[0][1]
    below = [cells for _, cells in head[1:]]
    if header is None:
        header = _is_header(path, first, below)
    if not header:
        return None, len(first) > 1 and _mostly_text([first, *below])
    if not below:
        raise ValueError(f"{path} holds no numbers, only a header.")
    titles = ["", *first] if len(first) == len(below[0]) - 1 else first
    corner_empty = len(titles) > 1 and not titles[0].strip() and any(title.strip() for title in titles)
    return titles, corner_empty or (len(titles) > 1 and _mostly_text(below))


def _is_header(path: Path, first: list[str], below: list[list[str]]) -> bool:
    labels = first[1:] if len(first) > 1 else first
    if any(number_in(label) is None for label in labels):
        return all(number_in(cell) is None or not cell.strip() or cell.strip().isdecimal() for cell in first)
    if len(first) == 1:
        return False
    corner = first[0].strip()
    if not corner:  # As data frames are saved: a nameless column of names or of 0, 1, 2, ... under the corner.
        index = [cells[0] for cells in below]
        counted = _counts_up(labels) and index[:1] in (["0"], ["1"]) and _counts_up(index)
        return all(label.strip() for label in labels) and (_mostly_text(below) or counted)
    years = len(labels) == 2 and all(len(label.strip()) == 4 for label in labels)
    if number_in(corner) is not None or not _counts_up(labels) or not (len(labels) > 2 or years):
        return False
    if _mostly_text(below):  # "x, 2011, 2012, 2013" above names: numbered columns, or a node with such values.
        raise ValueError(
            f"{path}: row 1 ({corner[:40]}, {', '.join(labels[:2])}, ...) may be a header or a node's values; "
            "say which with header=True or header=False (--header or --no-header)."
        )
    return True


def _mostly_text(rows: list[list[str]]) -> bool:
    """Whether most of the first cells that are not missing are texts."""
    numbers = [number_in(cells[0]) for cells in rows]
    texts = sum(number is None for number in numbers)
    return 2 * texts > sum(number is None or not math.isnan(number) for number in numbers)


def _counts_up(labels: list[str]) -> bool:
    """Whether the labels are whole numbers, each one more than the last."""
    if not all(label.strip().isdecimal() and len(label) < 20 for label in labels):
        return False
    return all(int(b) == int(a) + 1 for a, b in pairwise(labels))


# -- values ----------------------------------------------------------------------------------------------


def _values(
    path: Path, rows: Iterable[Row], titles: list[str] | None, first_column: bool
) -> tuple[FloatArray, list[str]]:
    """The numbers of all rows, and the first cells where they are names."""
    buffer = array("d")
    names: list[str] = []
    numbers = array("q")
    skip = int(first_column)
    width = None if titles is None else len(titles)
    for number, cells in rows:
        if width is None:
            width = len(cells)
        if len(cells) != width:
            raise ValueError(f"{path}: row {number} has {len(cells)} cells where {width} are expected.")
        if skip:
            names.append(cells[0].strip())
            del cells[0]
        plain = _plain_numbers(cells)
        buffer.extend(_one_by_one(path, number, cells, titles, skip) if plain is None else plain)
        numbers.append(number)
    values = np.frombuffer(buffer, dtype=np.float64).reshape(len(numbers), -1) if buffer else np.empty((0, 0))
    _check_values(path, values, numbers, titles, skip)
    return values, names


def _plain_numbers(cells: list[str]) -> list[float] | None:
    """The numbers of a row, the fast way; None if a cell is missing or a text."""
    if "_" in "".join(cells):
        return None
    try:
        return list(map(float, cells))
    except ValueError:
        return None


def _one_by_one(path: Path, number: int, cells: list[str], titles: list[str] | None, skip: int) -> Iterator[float]:
    for k, cell in enumerate(cells):
        value = number_in(cell)
        if value is None:
            where = _where(path, number, k + skip, titles)
            text = cell.strip()
            shown = text if len(text) <= 40 else text[:40] + "..."
            raise ValueError(f"{where} holds the text {shown!r}; a number (or NA) is expected there.")
        yield value


def _check_values(path: Path, values: FloatArray, numbers: array[int], titles: list[str] | None, skip: int) -> None:
    if values.size == 0 or np.all(np.isnan(values)):
        raise ValueError(f"{path} holds no numbers.")
    infinite = np.isinf(values)
    if np.any(infinite):
        row, column = (int(k) for k in np.argwhere(infinite)[0])
        where = _where(path, numbers[row], column + skip, titles)
        raise ValueError(f"{where} holds an infinite value; values must be finite, or NA where missing.")


def _where(path: Path, row: int, column: int, titles: list[str] | None) -> str:
    title = "" if titles is None else titles[column].strip()
    return f"{path}: row {row}, column {column + 1}" + (f" ({title[:40]!r})" if title else "")
