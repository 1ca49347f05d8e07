"""Signals, weights of observations and candidates from the files that the user names."""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hsls._files import atomic_path, numpy_arrays
from hsls._types import FloatArray
from hsls.hypergraph import Hypergraph
from hsls.readwrite import read
from hsls.tables import Signals, read_signals


def read_table(path: str, arguments: argparse.Namespace) -> Signals:
    """The signals in a file, as the options of `_options.add_reading` say."""
    return read_signals(path, nodes=arguments.nodes, header=arguments.header, variable=arguments.variable)


def write_table(path: str, values: FloatArray, names: tuple[str, ...]) -> None:
    """Write signals, exactly, so that `read_signals` finds values and, in text, names again."""
    ending = Path(path).suffix.lower()
    with atomic_path(path) as temporary:
        if ending in (".npy", ".npz"):
            with temporary.open("wb") as file:
                if ending == ".npy":
                    np.save(file, values)
                else:
                    np.savez(file, X=values)
            return
        with temporary.open("w", encoding="utf-8", newline="") as text:
            writer = csv.writer(text, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
            # The empty corner says that the first column holds names, even where these are numbers.
            writer.writerow(["", *(f"x{t}" for t in range(values.shape[1]))])
            writer.writerows([name, *map(repr, row)] for name, row in zip(names, values.tolist(), strict=True))


def read_weights(path: str) -> FloatArray:
    """One number for each observation, from a file that holds a single row or column of them."""
    if Path(path).suffix.lower() == ".npy":
        array = numpy_arrays(path)[""]
        if array.ndim == 1 and array.dtype.kind in "biuf":
            return array.astype(np.float64)
    values = read_signals(path).values
    if 1 not in values.shape:
        raise ValueError(
            f"{path} holds a table of {values.shape[0]} rows and {values.shape[1]} columns; weights of the "
            "observations must be a single row or column."
        )
    return values.ravel()


def read_candidates(path: str, names: tuple[str, ...]) -> Any:
    """The candidates listed in a hypergraph's file, for nodes with these names."""
    try:
        hypergraph = read(path)
        for edge, node in _repeated(Path(path)):
            raise ValueError(f"{path}: hyperedge {edge!r} lists the node {node!r} more than once; list each node once.")
    except ValueError as error:
        raise ValueError(f"candidates: {error}") from None
    positions = tuple(map(str, range(len(names))))
    if hypergraph.nodes == positions:
        return hypergraph
    return _by_name(hypergraph, path, names)


def _by_name(hypergraph: Hypergraph, path: str, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The hyperedges as tuples of names: a list of candidates may leave out nodes, and order the others freely."""
    stranger = next((name for name in hypergraph.nodes if name not in set(names)), None)
    if stranger is not None:
        known = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
        raise ValueError(
            f"candidates: {path} holds the node {stranger!r}, but the signals have none of that name ({known}); "
            "rename or remove it."
        )
    return hypergraph.named_edges


def _repeated(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of hyperedge and node that a well-formed file lists more than once.

    Readers count such a pair once, as other libraries do; in a list of candidates it is a slip.
    """
    ending = path.suffix.lower()
    pairs: Counter[tuple[str, str]] = Counter()
    if ending == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = (cells for cells in csv.reader(stream) if cells)
            titles = [title.strip().lower() for title in next(rows)]
            edge, node = titles.index("hyperedge"), titles.index("node")
            pairs.update((cells[edge].strip(), cells[node]) for cells in rows if cells[edge].strip())
    elif ending in (".json", ".hif"):
        document = json.loads(path.read_bytes().decode("utf-8-sig"))
        pairs.update((record["edge"], record["node"]) for record in document["incidences"])
    yield from (pair for pair, times in pairs.items() if times > 1)


def kind_of(path: Path) -> str:
    """Whether a file holds a "hypergraph" or "signals", by its ending and, where both are possible, its contents."""
    ending = path.suffix.lower()
    if ending in (".json", ".hif"):
        return "hypergraph"
    if ending == ".npz":
        return "hypergraph" if "hsls_version" in numpy_arrays(path, only="hsls_version") else "signals"
    if ending == ".csv" and {"hyperedge", "node"} <= set(_titles(path)):
        return "hypergraph"
    return "signals"


def _titles(path: Path) -> list[str]:
    """The first row of a CSV file, in lower case."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        try:
            first = next((cells for cells in csv.reader(stream) if cells), [])
        except csv.Error:
            return []
    return [title.strip().lower() for title in first]
