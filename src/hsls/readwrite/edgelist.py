"""Hypergraphs as a CSV table with the columns hyperedge, node, weight and, where known, frequency: a row an incidence.

A row without hyperedge lists a node. `write_csv` begins with such rows, one for each node, so isolated nodes
and the order of the nodes are kept::

    hyperedge,node,weight
    ,a,
    ,b,
    ,c,
    0,a,0.5
    0,b,0.5

A table written by hand may leave them out: the nodes stand in order of first appearance. It may also leave
out the column of weights, or a weight where another row of the hyperedge states it; without any the weight is
1. A column of frequencies must state one for every hyperedge. Rows whose cells are all empty are skipped; a node whose
name is empty is therefore listed as ``,"",0``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from hsls._delimited import number_in
from hsls._files import PathLike, atomic_path, existing_file
from hsls.hypergraph import Hypergraph
from hsls.readwrite import _assemble

__all__ = ["read_csv", "write_csv"]

_NEEDS_QUOTES = re.compile(r'[,"\r\n\0]|^\s|\s$')


def write_csv(H: Hypergraph, path: PathLike) -> None:
    """Write a hypergraph as a CSV table (UTF-8) with the columns hyperedge, node, weight and, where known, frequency.

    Hyperedges are numbered 0, 1, ... in canonical order, and weights have as many digits as they need to be
    read back exactly.
    """
    H = _assemble.hypergraph(H)
    _assemble.check_text(H)
    cells = [_quoted(name) for name in H.nodes]
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        known = H.frequencies is not None
        file.write(f"hyperedge,node,weight{',frequency' if known else ''}\n")
        end = ",\n" if known else "\n"
        file.writelines(f",{cell},{end}" if name else f',"",0{end}' for name, cell in zip(H.nodes, cells, strict=True))
        ends = [end] * H.n_edges if H.frequencies is None else [f",{f!r}\n" for f in H.frequencies.tolist()]
        for edge, (members, weight, end) in enumerate(zip(H.edges, H.weights.tolist(), ends, strict=True)):
            file.writelines(f"{edge},{cells[i]},{weight!r}{end}" for i in members)


def read_csv(path: PathLike) -> Hypergraph:
    """Read a hypergraph from a CSV table of `write_csv`, or one written by hand.

    Rows may stand in any order, and hyperedges have any labels. Hyperedges with the same nodes are merged
    (weights added) with a `UserWarning`.
    """
    file = existing_file(path)
    table = _Table(str(file))
    for row, edge, node, weight, frequency in _rows(file, table):
        if edge:
            table.incidence(row, edge, node, weight, frequency)
        elif node or weight:
            table.node(row, node, weight)
    return table.hypergraph()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if not name or _NEEDS_QUOTES.search(name) else name


def _rows(file: PathLike, table: _Table) -> Iterator[tuple[int, str, str, str, str]]:
    """Number (the header being 1), hyperedge, node, weight and frequency of each row; tells the table its columns."""
    number = 0
    try:
        with open(file, encoding="utf-8-sig", newline="") as stream:
            order: list[int] = []
            for number, cells in enumerate(csv.reader(stream, strict=True), start=1):
                if not cells:
                    continue
                if not order:
                    width, order = len(cells), _header(cells, f"{file}: row {number}")
                    table.has_frequencies = order[3] >= 0
                    continue
                if len(cells) != width:
                    raise ValueError(f"{file}: row {number} has {len(cells)} cells where {width} are expected.")
                edge, node, weight, frequency = (cells[k] if k >= 0 else "" for k in order)
                yield number, edge.strip(), node, weight.strip(), frequency
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 text ({error.reason}); save it as UTF-8.") from None
    except csv.Error as error:
        raise ValueError(f"{file}: row {number + 1} is no CSV ({error}).") from None
    if not order:
        raise ValueError(f"{file} holds no rows; it must begin with the header hyperedge,node,weight.")


def _header(cells: list[str], where: str) -> list[int]:
    """Columns of hyperedge, node, weight and frequency; -1 for the last two where there is none."""
    titles = [cell.strip().lower() for cell in cells]
    known = {"hyperedge", "node", "weight", "frequency"}
    if len(set(titles)) < len(titles) or not {"hyperedge", "node"} <= set(titles) <= known:
        shown = ",".join(cells)
        raise ValueError(f"{where} must be the header hyperedge,node,weight; got {shown[:60]!r}.")
    return [titles.index(title) if title in titles else -1 for title in ("hyperedge", "node", "weight", "frequency")]


class _Table:
    """The rows read so far."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.nodes: dict[str, int] = {}
        self.listed: set[str] = set()
        self.edges: dict[str, int] = {}
        self.weights: list[float | None] = []
        self.text: list[str] = []
        self.frequencies: list[float] = []
        self.has_frequencies = False
        self.edge_of: list[int] = []
        self.node_of: list[int] = []

    def node(self, row: int, node: str, weight: str) -> None:
        if weight not in ("", "0"):
            raise ValueError(f"{self.source}: row {row} has the weight {weight[:40]!r} but no hyperedge.")
        if node in self.listed:
            raise ValueError(f"{self.source}: row {row} lists the node {node!r} a second time; remove one.")
        self.listed.add(node)
        self.nodes.setdefault(node, len(self.nodes))

    def incidence(self, row: int, edge: str, node: str, weight: str, frequency: str) -> None:
        if not node and node not in self.listed:
            raise ValueError(f"{self.source}: row {row} has no node.")
        number = self.edges.setdefault(edge, len(self.edges))
        if number == len(self.weights):
            self.weights.append(None)
            self.text.append("")
        if weight and weight != self.text[number]:
            self._weigh(row, edge, number, weight)
        if self.has_frequencies:
            self._count(row, edge, number, frequency)
        self.edge_of.append(number)
        self.node_of.append(self.nodes.setdefault(node, len(self.nodes)))

    def _weigh(self, row: int, edge: str, number: int, text: str) -> None:
        where = f"{self.source}: row {row}"
        stated = number_in(text)
        value = _assemble.weight(text[:40] if stated is None else stated, where)
        known = self.weights[number]
        if known is not None and known != value:
            raise ValueError(f"{where} has the weight {value}, but another row of the hyperedge {edge!r} has {known}.")
        self.weights[number] = value
        self.text[number] = text

    def _count(self, row: int, edge: str, number: int, text: str) -> None:
        value = number_in(text)
        if value is None or not 0 <= value <= 1:
            raise ValueError(f"{self.source}: row {row} has the frequency {text[:40]!r}; it must be from 0 to 1.")
        if number == len(self.frequencies):
            self.frequencies.append(value)
        elif value != self.frequencies[number]:
            known = self.frequencies[number]
            raise ValueError(
                f"{self.source}: row {row} has the frequency {value}, but another row of the hyperedge {edge!r} has "
                f"{known}."
            )

    def hypergraph(self) -> Hypergraph:
        weights = [1.0 if weight is None else weight for weight in self.weights]
        frequencies = self.frequencies if self.has_frequencies else None
        return _assemble.assemble(list(self.nodes), self.edge_of, self.node_of, weights, self.source, frequencies)
