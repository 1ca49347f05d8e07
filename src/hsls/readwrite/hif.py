"""Hypergraph Interchange Format (HIF): JSON that XGI, HyperNetX, HypergraphX and others read too.

References
----------
Coll, M. et al. (2025). HIF: The hypergraph interchange format for higher-order networks. Network Science
13, e21. https://doi.org/10.1017/nws.2025.10018
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any, NoReturn, TypeAlias

from hsls._files import PathLike, atomic_path, existing_file
from hsls.hypergraph import Hypergraph
from hsls.readwrite import _assemble

__all__ = ["from_hif", "read_hif", "to_hif", "write_hif"]

# Source, section and number of a record; put into words only for an error.
_Place: TypeAlias = tuple[str, str, int]


def to_hif(H: Hypergraph) -> dict[str, Any]:
    """Return the hypergraph as a HIF document: a dict that `json.dumps` takes.

    Node ids are the names, hyperedge ids the numbers 0, 1, ... in canonical order. The weight of a hyperedge
    stands in its record and again in the record's ``attrs``, since readers look in one or the other. Where the
    hypergraph has frequencies they stand in ``attrs``, and the metadata say so.

    Examples
    --------
    >>> from hsls import Hypergraph
    >>> to_hif(Hypergraph.from_edges([("a", "b")], weights=[0.5]))["edges"]
    [{'edge': 0, 'weight': 0.5, 'attrs': {'weight': 0.5}}]
    """
    H = _assemble.hypergraph(H)
    _assemble.check_text(H)
    names = H.nodes
    attributes = [{"weight": w} for w in H.weights.tolist()]
    if H.frequencies is not None:
        for attrs, frequency in zip(attributes, H.frequencies.tolist(), strict=True):
            attrs["frequency"] = frequency
    return {
        "network-type": "undirected",
        "metadata": {} if H.frequencies is None else {"frequencies": True},
        "nodes": [{"node": name} for name in names],
        "edges": [{"edge": e, "weight": attrs["weight"], "attrs": attrs} for e, attrs in enumerate(attributes)],
        "incidences": [{"edge": e, "node": names[i]} for e, i in zip(_edge_of(H), H.indices.tolist(), strict=True)],
    }


def from_hif(data: Mapping[str, Any]) -> Hypergraph:
    """Return the hypergraph of a HIF document.

    Integer ids of nodes become strings. The nodes keep the order of ``nodes``, then those that stand in
    incidences only, in order of appearance. A hyperedge's weight may stand in its record, in ``attrs`` or in
    ``attr``; without one it is 1. Frequencies are read where ``metadata`` says that there are some; every hyperedge
    must then state one in ``attrs``. Hyperedges without nodes are dropped, and those with the same nodes merged
    (weights added), each with a `UserWarning`. Directed networks and simplicial complexes are refused.
    """
    return _parse(data, "HIF document")


def write_hif(H: Hypergraph, path: PathLike) -> None:
    """Write a hypergraph as a HIF JSON file in UTF-8, one record a line."""
    document = to_hif(H)
    # No string in JSON holds a raw line end, so those in the text are separators, and the ones before a key can
    # be told from the ones between records: one fast call of the encoder, and yet one record a line.
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",\n", ": ")).encode
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for number, (key, value) in enumerate(document.items()):
            text = encode(value).replace(',\n"', ', "')
            file.write(f"{',' if number else '{'}\n{encode(key)}: {text}")
        file.write("\n}\n")


def read_hif(path: PathLike) -> Hypergraph:
    """Read a hypergraph from a HIF JSON file, of this or another library; see `from_hif`."""
    file = existing_file(path)
    try:
        data = json.loads(file.read_bytes().decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{file} is no JSON: {error.msg} at line {error.lineno}, column {error.colno}.") from None
    except RecursionError:
        raise ValueError(f"{file} is no HIF: it nests too deeply.") from None
    except ValueError as error:
        raise ValueError(f"{file} is no JSON: {error}.") from None
    return _parse(data, str(file))


def _edge_of(H: Hypergraph) -> list[int]:
    """The hyperedge of each entry of ``H.indices``."""
    return [e for e, size in enumerate(H.cardinalities.tolist()) for _ in range(size)]


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _parse(data: Any, source: str) -> Hypergraph:
    if not isinstance(data, Mapping):
        raise ValueError(f"{source} is no HIF: its top level must be a JSON object.")
    _check_type(data.get("network-type", "undirected"), source)
    if "incidences" not in data:
        raise ValueError(f'{source} is no HIF: it has no "incidences".')
    nodes = _Nodes()
    for k, record in enumerate(_records(data, "nodes", source)):
        place = (source, "nodes", k)
        nodes.add(_identity(record, "node", place), place)
    records = _records(data, "edges", source)
    edges, weights = _edges(records, source)
    frequencies = _frequencies(records, source) if _says_frequencies(data) else None
    edge_of, node_of, weighted = [], [], 0
    for k, record in enumerate(_records(data, "incidences", source)):
        place = (source, "incidences", k)
        edge = _identity(record, "edge", place)
        node = _identity(record, "node", place)
        if edge not in edges:
            edges[edge] = len(weights)
            weights.append(1.0)
            if frequencies is not None:
                raise ValueError(f"{_where(place)} holds the hyperedge {edge!r}, which states no frequency.")
        if node not in nodes.position:
            nodes.add(node, place)
        edge_of.append(edges[edge])
        node_of.append(nodes.position[node])
        weighted += record.get("weight", 1) != 1
    if weighted:
        warnings.warn(f"{source}: ignored the weights of {weighted} single incidence(s).", stacklevel=2)
    return _assemble.assemble(list(nodes.names), edge_of, node_of, weights, source, frequencies)


def _check_type(kind: Any, source: str) -> None:
    if kind == "directed":
        raise ValueError(f"{source} holds a directed hypergraph; only undirected ones can be read.")
    if kind == "asc":
        raise ValueError(f"{source} holds a simplicial complex (asc); only undirected hypergraphs can be read.")
    if kind != "undirected":
        raise ValueError(f'{source}: "network-type" must be "undirected", got {kind!r}.')


def _records(data: Mapping[str, Any], section: str, source: str) -> list[Any]:
    records = data.get(section, [])
    if not isinstance(records, list):
        raise ValueError(f'{source}: "{section}" must be a list, got {type(records).__name__}.')
    return records


def _where(place: _Place) -> str:
    return f"{place[0]}: {place[1]}[{place[2]}]"


def _identity(record: Any, key: str, place: _Place) -> str | int:
    """The id under `key` of a record; JSON's true is no integer here, although Python's is."""
    if not isinstance(record, dict):
        raise ValueError(f'{_where(place)} must be an object with "{key}", got {type(record).__name__}.')
    if key not in record:
        raise ValueError(f'{_where(place)} has no "{key}".')
    value = record[key]
    if type(value) is not str and type(value) is not int:
        raise ValueError(f'{_where(place)} has the "{key}" {value!r}; an id must be a string or an integer.')
    return value


def _edges(records: list[Any], source: str) -> tuple[dict[str | int, int], list[float]]:
    """Number and weight of each hyperedge that has a record."""
    numbers: dict[str | int, int] = {}
    weights: list[float] = []
    for k, record in enumerate(records):
        place = (source, "edges", k)
        edge = _identity(record, "edge", place)
        if edge in numbers:
            raise ValueError(f"{_where(place)} lists the hyperedge {edge!r} a second time; keep one record.")
        numbers[edge] = len(weights)
        weights.append(_weight(record, place))
    return numbers, weights


def _weight(record: dict[str, Any], place: _Place) -> float:
    holders = (record, record.get("attrs"), record.get("attr"))
    stated = [
        _assemble.weight(holder["weight"], _where(place))
        for holder in holders
        if isinstance(holder, dict) and "weight" in holder
    ]
    if len(set(stated)) > 1:
        raise ValueError(f"{_where(place)} states two weights, {min(stated)} and {max(stated)}; keep one.")
    return stated[0] if stated else 1.0


def _says_frequencies(data: Mapping[str, Any]) -> bool:
    metadata = data.get("metadata")
    return isinstance(metadata, dict) and metadata.get("frequencies") is True


def _frequencies(records: list[dict[str, Any]], source: str) -> list[float]:
    """The frequency in the ``attrs`` of each hyperedge's record."""
    result = []
    for k, record in enumerate(records):
        attrs = record.get("attrs")
        value = attrs.get("frequency") if isinstance(attrs, dict) else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError(f"{_where((source, 'edges', k))} has the frequency {value!r}; it must be from 0 to 1.")
        result.append(float(value))
    return result


class _Nodes:
    """Positions of the nodes by their ids, which must differ as strings too."""

    def __init__(self) -> None:
        self.position: dict[str | int, int] = {}
        self.names: dict[str, None] = {}

    def add(self, node: str | int, place: _Place) -> None:
        name = str(node)
        if node in self.position:
            raise ValueError(f"{_where(place)} lists the node {node!r} a second time; keep one record.")
        if name in self.names:
            raise ValueError(f"{_where(place)}: the ids {name} and {name!r} would be the same node name; rename one.")
        self.position[node] = len(self.names)
        self.names[name] = None
