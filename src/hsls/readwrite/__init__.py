"""Hypergraphs to and from files, one format a room; the file's ending chooses.

========== ============================================ =========================
ending     format                                       room
========== ============================================ =========================
.json .hif Hypergraph Interchange Format (HIF)          `hsls.readwrite.hif`
.npz       numpy arrays, smallest and fastest           `hsls.readwrite.npz`
.csv       edge list, one row an incidence              `hsls.readwrite.edgelist`
========== ============================================ =========================

Each keeps everything: names, isolated nodes, the order of the nodes, and every bit of the weights and frequencies.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hsls._files import PathLike
from hsls.hypergraph import Hypergraph
from hsls.readwrite.edgelist import read_csv, write_csv
from hsls.readwrite.hif import from_hif, read_hif, to_hif, write_hif
from hsls.readwrite.npz import read_npz, write_npz

__all__ = [
    "check_ending",
    "from_hif",
    "read",
    "read_csv",
    "read_hif",
    "read_npz",
    "to_hif",
    "write",
    "write_csv",
    "write_hif",
    "write_npz",
]

_WRITERS = {".json": write_hif, ".hif": write_hif, ".npz": write_npz, ".csv": write_csv}
_READERS = {".json": read_hif, ".hif": read_hif, ".npz": read_npz, ".csv": read_csv}

_Function = TypeVar("_Function", bound=Callable[..., object])


def write(H: Hypergraph, path: PathLike) -> None:
    """Write a hypergraph in the format that the ending of `path` names: .json or .hif (HIF), .npz, .csv.

    Nothing half-written is left behind: the file appears whole or not at all.

    Examples
    --------
    >>> from hsls import Hypergraph, read, write
    >>> H = Hypergraph.from_edges([("a", "b"), ("b", "c", "d")], weights=[0.1, 2.0])
    >>> write(H, "learned.json")  # doctest: +SKIP
    >>> read("learned.json") == H  # doctest: +SKIP
    True
    """
    _by_ending(_WRITERS, path)(H, path)


def read(path: PathLike) -> Hypergraph:
    """Read a hypergraph from a .json or .hif (HIF), .npz or .csv file; the ending says which it is."""
    return _by_ending(_READERS, path)(path)


def check_ending(path: PathLike) -> None:
    """Refuse a path whose ending names no format."""
    _by_ending(_WRITERS, path)


def _by_ending(functions: dict[str, _Function], path: PathLike) -> _Function:
    ending = Path(path).suffix.lower()
    if ending not in functions:
        has = f"the ending {ending!r}" if ending else "no ending"
        raise ValueError(f"{path} has {has}; a hypergraph's file must end in one of {', '.join(functions)}.")
    return functions[ending]
