"""Hypergraphs as numpy arrays in one .npz file: exact, compact, and the same bytes for the same value."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hsls._files import PathLike, atomic_path, numpy_arrays
from hsls._types import AnyArray
from hsls.hypergraph import Hypergraph
from hsls.readwrite import _assemble

__all__ = ["read_npz", "write_npz"]

_VERSION = 1
_KINDS = {
    "hsls_version": "iu",
    "name_bytes": "u",
    "name_offsets": "iu",
    "indptr": "iu",
    "indices": "iu",
    "weights": "f",
}
_OPTIONAL = {"frequencies": "f"}


def write_npz(H: Hypergraph, path: PathLike) -> None:
    """Write a hypergraph as arrays that `numpy.load` opens.

    ``indptr``, ``indices`` and ``weights`` are those of `Hypergraph`. The names are UTF-8 bytes one after
    another, name i being ``name_bytes[name_offsets[i]:name_offsets[i + 1]]``: numpy's own string arrays would
    drop trailing NUL characters and give every name the width of the longest. ``frequencies`` are there where the
    hypergraph has them.
    """
    H = _assemble.hypergraph(H)
    encoded = [name.encode("utf-8", "surrogatepass") for name in H.nodes]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    optional = {} if H.frequencies is None else {"frequencies": H.frequencies}
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            hsls_version=np.int64(_VERSION),
            name_bytes=np.frombuffer(b"".join(encoded), dtype=np.uint8),
            name_offsets=offsets,
            indptr=H.indptr,
            indices=H.indices,
            weights=H.weights,
            **optional,
        )


def read_npz(path: PathLike) -> Hypergraph:
    """Read a hypergraph from a file of `write_npz`."""
    arrays = numpy_arrays(path)
    missing = [name for name in _KINDS if name not in arrays]
    if missing:
        raise ValueError(f"{path} holds no hypergraph: the arrays {', '.join(missing)} are missing.")
    expected = _KINDS | {name: kinds for name, kinds in _OPTIONAL.items() if name in arrays}
    for name, kinds in expected.items():
        kind, shape = arrays[name].dtype, arrays[name].shape
        if kind.kind not in kinds or len(shape) != (name != "hsls_version"):
            raise ValueError(f"{path} holds no hypergraph: {name} has dtype {kind} and shape {shape}.")
    version = int(arrays["hsls_version"])
    if version != _VERSION:
        raise ValueError(f"{path} has version {version} of this format, but this hsls reads {_VERSION}; update hsls.")
    if arrays["weights"].dtype != np.float64 or arrays["name_bytes"].dtype != np.uint8:
        raise ValueError(f"{path} holds no hypergraph: weights must be float64 and name_bytes uint8.")
    names = _names(arrays["name_bytes"], arrays["name_offsets"], str(path))
    try:
        return Hypergraph(names, arrays["indptr"], arrays["indices"], arrays["weights"], arrays.get("frequencies"))
    except ValueError as error:
        raise ValueError(f"{path} holds no hypergraph: {error}") from None


def _names(text: AnyArray, offsets: AnyArray, source: str) -> tuple[str, ...]:
    steps = np.diff(offsets.astype(np.int64))
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(text) or np.any(steps < 0):
        raise ValueError(f"{source} holds no hypergraph: name_offsets do not fit name_bytes.")
    joined = text.tobytes()
    try:
        return tuple(joined[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets.tolist()))
    except UnicodeDecodeError:
        raise ValueError(f"{source} holds no hypergraph: its node names are no UTF-8 text.") from None
