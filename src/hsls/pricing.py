"""Search over every hyperedge of a cardinality, all C(N, k) of them, by branch and bound.

At a dual vector v a hyperedge can have weight only if the sum of v over it exceeds its variation. `Pricing` lists those
hyperedges without going through all: each from its node of largest v, whose pairs with the others must then be near
enough, and adding nodes as long as a lower bound on the variation stays below what v can still add up to.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hsls import _progress, _threads, variation
from hsls._kernels import pairs, pricing
from hsls._types import AnyArray, FloatArray, Int32Array, IntArray
from hsls.candidates import size_in_words

__all__ = ["SEARCH_LIMIT", "Found", "Pricing"]

#: Sets of nodes that one search may look at, about a minute of one core, before it gives up.
SEARCH_LIMIT = 10_000_000_000

# Up to this many nodes the distances of all pairs are kept; beyond, a k-d tree finds the near ones, in so many
# dimensions at most.
_DENSE_NODES = 4_096
_TREE_DIMENSIONS = 15
# Distances may differ in their last digits from how they were computed before: the search takes what is within this of
# being listed, and bounds are loosened as much.
_SLACK = 1e-9
# Roots of one piece of work, and neighbours in the lists of one block of roots (some 50 bytes each).
_ROOTS_A_PIECE = 32
_LISTED = 2_000_000


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found.

    Attributes
    ----------
    members : int32 array, shape (D, k)
        Hyperedges that were not known, rows ascending, by their node of largest v.
    total : int
        How many there are; more than D where only some were kept.
    examined : int
        Sets of nodes, whole hyperedges or parts of them, that were looked at.
    """

    members: Int32Array
    total: int
    examined: int


class Pricing:
    """Searches over every hyperedge of the nodes of some signals.

    Parameters
    ----------
    distances : variation.Distances
    memory_budget : float, optional
        Bytes that distances of pairs may take; None lifts the limit.
    """

    def __init__(self, distances: variation.Distances, memory_budget: float | None = None) -> None:
        self.distances = distances
        self.n_nodes, dimensions = distances.X.shape
        self._norm_power = distances.variation.q
        # ||x - z||^q + ||y - z||^q >= triangle ||x - y||^q.
        self._triangle = 0.0 if distances.observed.size else min(1.0, 2.0 ** (1.0 - self._norm_power)) * (1 - _SLACK)
        n_bytes = 8 * self.n_nodes**2
        small = self.n_nodes <= _DENSE_NODES and (memory_budget is None or n_bytes <= memory_budget)
        if small or distances.observed.size or dimensions > _TREE_DIMENSIONS:
            if memory_budget is not None and n_bytes > memory_budget:
                raise ValueError(
                    f"neighbors='certified' needs the distances of all pairs of the {self.n_nodes:,} nodes here, "
                    f"{size_in_words(n_bytes)}, more than the memory budget of {size_in_words(memory_budget)} (with up "
                    f"to {_TREE_DIMENSIONS} observations and none missing it does not); raise memory_budget, or give a "
                    "number of neighbors."
                )
            self._tree = None
            self._dense = self._all_pairs()
            self._nearest = np.empty(self.n_nodes)
            pricing.nearest_of_rows(self._dense, self._nearest, 0, self.n_nodes)
        else:
            from scipy.spatial import KDTree

            self._tree = KDTree(distances.X)
            self._dense = np.empty((0, 0))
            norms, _ = self._tree.query(distances.X, k=2, p=distances.variation.p, workers=_threads.count())
            self._nearest = norms[:, 1] ** self._norm_power * (1 - _SLACK)

    def violated(self, k: int, v: FloatArray, known: AnyArray, most: int) -> Found:
        """Hyperedges of k nodes whose sum of v exceeds the variation, or falls short by a relative 1e-9 at most.

        Parameters
        ----------
        v : array, shape (N,)
            Above 0.
        known : array of int, shape (D, k)
            Hyperedges to leave out, rows ascending.
        most : int
            Of those with the same node of largest v only this many are kept, of the greatest excess.
        """
        order = np.argsort(-v, kind="stable")
        rank = np.empty(self.n_nodes, dtype=np.int64)
        rank[order] = np.arange(self.n_nodes)
        of_root = rank[known].min(axis=1, initial=self.n_nodes)
        sorting = np.lexsort((*known.T[::-1], of_root))
        pointer = np.searchsorted(of_root[sorting], np.arange(self.n_nodes + 1))
        rows = np.ascontiguousarray(known[sorting], dtype=np.int32)
        own = v[order]
        return self._search(k, order, own, v, rank, rows, pointer, most, k * own)

    def least(self, k: int, bounds: FloatArray) -> FloatArray:
        """For each node the least variation of a hyperedge of k nodes that holds it, or its bound if that is less."""
        everyone = np.arange(self.n_nodes)
        nothing, none = np.zeros(self.n_nodes), np.empty((0, k), dtype=np.int32)
        pointer = np.zeros(self.n_nodes + 1, dtype=np.int64)
        found = self._search(k, everyone, bounds, nothing, None, none, pointer, 1, bounds)
        z = np.empty(len(found.members))
        self.distances.of_members(found.members, z)
        least = bounds.copy()
        for column in found.members.T:
            np.minimum.at(least, column, z)
        return least

    def _search(
        self,
        k: int,
        roots: IntArray,
        own: FloatArray,
        others: FloatArray,
        rank: IntArray | None,
        known: Int32Array,
        pointer: IntArray,
        most: int,
        reach: FloatArray,
    ) -> Found:
        """Run the kernel on all roots; a root's list holds the nodes of higher rank, or all where there is no rank."""
        told = self.distances.variation
        reduction = pairs.MAX if told.reduction == "max" else pairs.SUM
        factor = told.factor(k)
        members, total, count = [np.empty((0, k), dtype=np.int32)], 0, _Count(k)
        with _progress.stage(f"searching {k}", self.n_nodes) as reporter:
            for first, last, lists, begin, end in self._lists(roots, rank, self._radii(k, factor, reach)):

                def work(
                    start: int, stop: int, _: int, first: int = first, lists: Int32Array = lists,
                    begin: IntArray = begin, end: IntArray = end,
                ) -> tuple[Int32Array, int]:  # fmt: skip
                    part = slice(first + start, first + stop)
                    rows, fresh, examined = pricing.search(
                        self._dense, self.distances.X, self.distances.kind, told.p, self.distances.power, reduction,
                        factor, self._triangle, self._nearest, k, roots[part], own[part], others, lists,
                        begin[start:stop], end[start:stop], known, pointer[first + start : first + stop + 1], most,
                        _SLACK, SEARCH_LIMIT, 0, stop - start,
                    )  # fmt: skip
                    count.add(examined, fresh)
                    if reporter is not None:
                        reporter.advance(first + stop)
                    return rows, fresh

                for rows, fresh in _threads.over(work, _pieces(last - first)):
                    members.append(rows)
                    total += fresh
        return Found(np.concatenate(members), total, count.number)

    def _radii(self, k: int, factor: float, reach: FloatArray) -> FloatArray:
        """How far, as a norm, a node may be from a root whose hyperedges vary by less than `reach`."""
        pairs_like_it = 1.0 if self.distances.variation.reduction == "max" else 1.0 + (k - 2) * self._triangle
        radii: FloatArray = (reach / (factor * pairs_like_it)) ** (1.0 / self._norm_power) * (1 + _SLACK)
        return radii

    def _lists(
        self, roots: IntArray, rank: IntArray | None, radii: FloatArray
    ) -> Iterator[tuple[int, int, Int32Array, IntArray, IntArray]]:
        """For blocks of roots, first to last: a flat list of nodes by rank, and where each root's begin and end."""
        n_nodes = self.n_nodes
        if self._tree is None:
            begin = np.zeros(n_nodes, dtype=np.int64) if rank is None else np.arange(1, n_nodes + 1)
            yield 0, n_nodes, roots.astype(np.int32), begin, np.full(n_nodes, n_nodes)
            return
        ranked = rank is not None
        rank = np.arange(n_nodes) if rank is None else rank
        points, norm = self.distances.X[roots], self.distances.variation.p
        ask = {"p": norm, "workers": _threads.count()}
        sizes = self._tree.query_ball_point(points, radii, return_length=True, **ask)
        first = 0
        while first < n_nodes:
            reached = np.cumsum(sizes[first:])
            last = first + max(1, int(np.searchsorted(reached, _LISTED, side="right")))
            near = self._tree.query_ball_point(points[first:last], radii[first:last], **ask)
            nodes = np.fromiter(
                itertools.chain.from_iterable(near), dtype=np.int64, count=int(reached[last - first - 1])
            )
            owner = np.repeat(np.arange(last - first), sizes[first:last])
            place = rank[nodes]
            if ranked:
                after = place > owner + first
                nodes, owner, place = nodes[after], owner[after], place[after]
            nodes = nodes[np.argsort(owner * n_nodes + place)]
            ends = np.cumsum(np.bincount(owner, minlength=last - first))
            yield first, last, nodes.astype(np.int32), np.concatenate([[0], ends[:-1]]), ends
            first = last

    def _all_pairs(self) -> FloatArray:
        distances = self.distances
        out = np.empty((self.n_nodes, self.n_nodes))

        def work(start: int, stop: int, _: int) -> int:
            found: int = pricing.all_pairs(
                distances.X,
                distances.observed,
                distances.kind,
                distances.variation.p,
                distances.power,
                out,
                start,
                stop,
            )
            return found

        pieces = _pieces(self.n_nodes)
        for bad in _threads.over(work, pieces):
            if bad >= 0:
                seen = ~np.isnan(distances.X[: bad + 1])
                distances.refuse_strangers(np.array([np.argmin((seen & seen[-1]).any(axis=1)), bad]))
        variation.check_finite(out, distances.variation)
        return out


class _Count:
    """Sets looked at by all threads together, up to the limit."""

    def __init__(self, k: int) -> None:
        self.number = self.effort = 0
        self._k = k
        self._lock = threading.Lock()

    def add(self, examined: int, fresh: int) -> None:
        with self._lock:
            self.number += examined
            self.effort += examined + pricing.LISTING * fresh
        if self.effort > SEARCH_LIMIT:
            raise ValueError(
                f"neighbors='certified' would look at more than {SEARCH_LIMIT:,} sets of up to {self._k} nodes, "
                "since too many are near each other for how much their hyperedges may vary; lower alpha or beta, "
                "leave out the largest of the cardinalities, or give a number of neighbors."
            )


def _pieces(count: int) -> list[tuple[int, int]]:
    return _threads.split(count, math.ceil(count / _ROOTS_A_PIECE))
