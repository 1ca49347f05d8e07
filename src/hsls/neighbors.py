"""Nearest neighbours of every node, exact unless said otherwise."""

from __future__ import annotations

import importlib.util
import logging
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsls import _checks, _progress, _threads
from hsls._kernels import neighbours as kernels
from hsls._types import AnyArray, FloatArray, Int32Array, IntArray

__all__ = ["Neighbors", "nearest_neighbors"]

_log = logging.getLogger("hsls")

METHODS = ("auto", "exact", "approximate")

# A k-d tree answers in logarithmic time up to about this many dimensions, and no faster than all pairs beyond.
_TREE_DIMENSIONS = 15
# Below this many nodes all pairs take less time than importing and building a tree.
_TREE_NODES = 2_000
# All pairs of more nodes than this take minutes in many dimensions: the automatic choice is approximate then.
APPROXIMATE_NODES = 50_000
# Bytes of one block of pair distances.
_BLOCK_BYTES = 64 * 2**20
# Faiss HNSW: links a node, effort of building and of searching. The effort of searching is doubled, "most" at most,
# until a sample of nodes finds this share of its true neighbours. Signals with structure need none of that, pure noise
# all of it and more (20,000 nodes in 100 dimensions: a share of 0.61 at 32, 0.96 at 512).
_HNSW = {"links": 16, "build": 40, "search": 32, "most": 512}
_RECALL = 0.99
_SAMPLE = 200


@dataclass(frozen=True)
class Neighbors:
    """Neighbours of every node.

    Attributes
    ----------
    indices : int32 array, shape (N, r)
        Nearest first, the node itself left out. Of nodes that are equally far the smaller number comes first, but in
        a k-d tree any.
    distances : array, shape (N, r)
        Euclidean; where values are missing, over the shared observations and rescaled.
    method : str
        How they were found, in words.
    exact : bool
    recall : float
        Share of neighbours that are as near as the true ones: 1 for an exact search, estimated on a sample of nodes
        for an approximate one.
    """

    indices: Int32Array
    distances: FloatArray
    method: str
    exact: bool
    recall: float


def nearest_neighbors(
    X: AnyArray, r: int, *, method: str = "auto", observation_weights: FloatArray | None = None
) -> Neighbors:
    """The r nearest neighbours of each row of X (Euclidean, NaN for missing values).

    Parameters
    ----------
    X : array, shape (N, P)
    r : int
    method : {"auto", "exact", "approximate"}
        "exact": a k-d tree for few dimensions and many nodes, all pairs otherwise. All pairs run in single precision
        with bounds on the error, and whatever the bounds leave open is decided in double precision. "approximate":
        faiss HNSW, from the extra ``approx``. "auto": approximate only for more than 50,000 nodes in more than 15
        dimensions without missing values, if faiss is installed; this is logged as a warning.
    observation_weights : array of P numbers, optional
    """
    _checks.one_of(method, "neighbor_search", METHODS)
    n_nodes = len(X)
    check_neighbors(r, n_nodes)
    points = np.asarray(X, dtype=np.float64)
    if observation_weights is not None:
        points = points * np.sqrt(observation_weights)
    missing = bool(np.isnan(points).any())
    if method == "approximate" and missing:
        raise ValueError(
            "neighbor_search='approximate' cannot handle missing values; use 'exact', or fill the values in."
        )
    with _progress.stage("neighbours", n_nodes) as reporter:
        if method == "approximate" or (method == "auto" and not missing and _choose_approximate(points)):
            return _approximate(points, r)
        if not missing and points.shape[1] <= _TREE_DIMENSIONS and n_nodes > _TREE_NODES:
            return _by_tree(points, r)
        if method == "auto" and missing and n_nodes > APPROXIMATE_NODES:
            _log.warning("values are missing: exact neighbours of %d nodes take time quadratic in the nodes.", n_nodes)
        weights = np.ones(points.shape[1]) if observation_weights is None else np.asarray(observation_weights)
        return _by_all_pairs(points, r, weights if missing else np.empty(0), np.arange(n_nodes), reporter)


def check_neighbors(r: int, n_nodes: int) -> None:
    """Refuse more neighbours than there are other nodes."""
    if _checks.whole(r, "neighbors") > n_nodes - 1:
        raise ValueError(
            f"neighbors is {r}, but each of the {n_nodes} nodes has only {n_nodes - 1} others; lower neighbors."
        )


def _choose_approximate(points: FloatArray) -> bool:
    n_nodes, dimensions = points.shape
    if n_nodes <= APPROXIMATE_NODES or dimensions <= _TREE_DIMENSIONS:
        return False
    if importlib.util.find_spec("faiss") is None:
        _log.warning(
            "exact neighbours of %d nodes in %d dimensions take time quadratic in the nodes; "
            'pip install "hsls[approx]" for an approximate search.',
            n_nodes,
            dimensions,
        )
        return False
    return True


def _by_tree(points: FloatArray, r: int) -> Neighbors:
    from scipy.spatial import KDTree

    distances, indices = KDTree(points).query(points, k=r + 1, workers=_threads.count())
    indices, distances = _without_self(indices, distances)
    return Neighbors(indices.astype(np.int32), distances, "exact (k-d tree)", True, 1.0)


def _without_self(indices: IntArray, distances: FloatArray) -> tuple[IntArray, FloatArray]:
    """Drop each node from its own list; where many identical nodes crowded it out, drop the last instead."""
    n_nodes, width = indices.shape
    drop = indices == np.arange(n_nodes)[:, None]
    drop[~drop.any(axis=1), width - 1] = True
    keep = ~drop
    return indices[keep].reshape(n_nodes, width - 1), distances[keep].reshape(n_nodes, width - 1)


def _by_all_pairs(
    points: FloatArray, r: int, observed: FloatArray, rows: IntArray, reporter: _progress.Reporter | None = None
) -> Neighbors:
    """Neighbours of the nodes `rows` among all nodes."""
    points = np.ascontiguousarray(points)
    missing = observed.size > 0
    pair_distances = _MissingPairs(points, observed) if missing else _Pairs(points, np.float32)
    indices = np.empty((len(rows), r), dtype=np.int32)
    squared = np.empty((len(rows), r))
    room = min(len(points) - 1, 4 * r + 60)
    height = max(1, _BLOCK_BYTES // (pair_distances.itemsize * len(points)))
    crowded = []
    for first in range(0, len(rows), height):
        block = rows[first : first + height]
        full = _choose(points, observed, pair_distances, block, room, indices[first:], squared[first:])
        crowded.append(first + np.flatnonzero(full))
        if reporter is not None:
            reporter.advance(first + len(block))
    again = np.concatenate([np.zeros(0, dtype=np.int64), *crowded])
    if len(again):
        # More nodes within the error bounds than there was room for: decide these rows in double precision.
        precise = pair_distances if missing else _Pairs(points, np.float64)
        height = max(1, _BLOCK_BYTES // (16 * len(points)))
        for first in range(0, len(again), height):
            part = again[first : first + height]
            part_indices, part_squared = np.empty((len(part), r), np.int32), np.empty((len(part), r))
            _choose(points, observed, precise, rows[part], len(points) - 1, part_indices, part_squared)
            indices[part], squared[part] = part_indices, part_squared
    return Neighbors(indices, np.sqrt(squared), "exact (all pairs)", True, 1.0)


def _choose(
    points: FloatArray,
    observed: FloatArray,
    pair_distances: Any,
    rows: IntArray,
    room: int,
    indices: Int32Array,
    squared: FloatArray,
) -> AnyArray:
    """Write the neighbours of a block of rows; returns the mask of the rows that need more room."""
    approximate = pair_distances.block(rows)
    found = np.empty((len(rows), room), dtype=np.int32)
    counts = np.empty(len(rows), dtype=np.int64)
    r = indices.shape[1]

    def work(start: int, stop: int, _: int) -> None:
        kernels.certain_candidates(
            approximate, rows, pair_distances.norms, pair_distances.error, r, found, counts, start, stop
        )
        kernels.nearest_of(points, observed, rows, found, counts, indices, squared, start, stop)

    # A row costs about a nanosecond a node, so a second thread pays from some tens of rows on.
    parts = _threads.count() if len(rows) * len(points) > 100_000 else 1
    _threads.over(work, _threads.split(len(rows), parts))
    return counts < 0


def _centred(points: FloatArray) -> FloatArray:
    """The points about their mean, in a unit in which the largest coordinate is between 1 and 2.

    In single precision the squares would overflow from 1e19 and lose their digits from 1e-20.
    """
    seen = np.maximum(1, np.count_nonzero(~np.isnan(points), axis=0))
    centred: FloatArray = points - np.nansum(points, axis=0) / seen
    largest = max(float(np.nanmax(centred)), -float(np.nanmin(centred)))
    np.ldexp(centred, 1 - math.frexp(largest)[1], out=centred)
    return centred


def _underflow(precision: type) -> float:
    """What to add to norms so that the error bound covers what is lost below the smallest normal number.

    Each of the P products of coordinates below 2 may lose a few times that number.
    """
    limits: Any = np.finfo(precision)
    return 8 * float(limits.tiny) / float(limits.eps)


class _Pairs:
    """Blocks of squared distances by one matrix product, in the given precision, with a bound on their error."""

    def __init__(self, points: FloatArray, precision: type) -> None:
        centred = _centred(points)
        self._points: AnyArray = centred.astype(precision)
        norms = np.einsum("ij,ij->i", centred, centred)
        self._norms = norms.astype(precision)
        self.norms = norms + _underflow(precision)
        self.itemsize = np.dtype(precision).itemsize
        # Rounding of the entries, of a sum of P products, and of the two additions; |x||y| <= (|x|^2 + |y|^2) / 2.
        self.error = (points.shape[1] + 8) * float(np.finfo(precision).eps)

    def block(self, rows: IntArray) -> AnyArray:
        result: AnyArray = self._points[rows] @ self._points.T
        result *= -2
        result += self._norms
        result += self._norms[rows][:, None]
        return result


class _MissingPairs:
    """The same over shared observations, scaled up by total over shared weight; infinite where there is none."""

    itemsize = 32

    def __init__(self, points: FloatArray, observed: FloatArray) -> None:
        centred = _centred(points)
        seen = ~np.isnan(centred)
        self._seen = seen.astype(np.float64)
        self._points = np.where(seen, centred, 0.0)
        self._squares = self._points**2
        self._observed = observed
        self.norms = self._squares.sum(axis=1) + _underflow(np.float64)
        least = observed[observed > 0].min() if np.any(observed > 0) else 1.0
        self.error = (points.shape[1] + 8) * float(np.finfo(np.float64).eps) * 2 * observed.sum() / least

    def block(self, rows: IntArray) -> AnyArray:
        points, seen, squares = self._points[rows], self._seen[rows], self._squares[rows]
        distance = squares @ self._seen.T + seen @ self._squares.T - 2 * (points @ self._points.T)
        shared = (seen * self._observed) @ self._seen.T
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = np.maximum(distance, 0.0) * (self._observed.sum() / shared)
        return np.where(shared > 0, scaled, np.inf)


def _approximate(points: FloatArray, r: int) -> Neighbors:
    try:
        import faiss
    except ImportError:
        raise ImportError(
            "an approximate neighbour search needs faiss; pip install \"hsls[approx]\", or use neighbor_search='exact'."
        ) from None
    points = np.ascontiguousarray(points)
    everyone = np.arange(len(points))
    sample = everyone[np.linspace(0, len(points) - 1, min(_SAMPLE, len(points))).astype(np.int64)]
    farthest = _by_all_pairs(points, r, np.empty(0), sample).distances[:, -1:]
    data = _centred(points).astype(np.float32)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(_threads.count())
    try:
        index = faiss.IndexHNSWFlat(data.shape[1], _HNSW["links"])
        index.hnsw.efConstruction = _HNSW["build"]
        index.add(data)
        index.hnsw.efSearch = max(_HNSW["search"], 2 * r)
        while index.hnsw.efSearch < _HNSW["most"]:
            trial = _nearest_of(points, sample, index.search(data[sample], r + 1)[1], r)[1]
            if np.mean(trial <= farthest) >= _RECALL:
                break
            index.hnsw.efSearch *= 2
        indices, distances = _nearest_of(points, everyone, index.search(data, r + 1)[1], r)
    finally:
        faiss.omp_set_num_threads(threads)
    lost = np.flatnonzero(np.isinf(distances[:, -1]))
    if len(lost):
        whole = _by_all_pairs(points, r, np.empty(0), lost)
        indices[lost], distances[lost] = whole.indices, whole.distances
    recall = float(np.mean(distances[sample] <= farthest))
    _log.warning("neighbours are approximate (faiss HNSW): about %.2f %% of the true ones were found.", 100 * recall)
    return Neighbors(indices, distances, "approximate (faiss HNSW)", False, recall)


def _nearest_of(points: FloatArray, rows: IntArray, found: IntArray, r: int) -> tuple[Int32Array, FloatArray]:
    """The r nearest of the nodes found for each row, by distances in double precision, infinite where they are fewer.

    -1 stands for no node, and the node itself may be among those found.
    """
    others = (found >= 0) & (found != rows[:, None])
    found = np.take_along_axis(found, np.argsort(~others, axis=1, kind="stable"), axis=1).astype(np.int32)
    counts = np.count_nonzero(others, axis=1)
    indices, squared = np.zeros((len(rows), r), dtype=np.int32), np.full((len(rows), r), np.inf)

    def work(start: int, stop: int, _: int) -> None:
        kernels.nearest_of(points, np.empty(0), rows, found, counts, indices, squared, start, stop)

    _threads.over(work, _threads.split(len(rows), _threads.count()))
    return indices, np.sqrt(squared)
