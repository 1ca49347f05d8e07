"""Candidate hyperedges: the sets of nodes among which the learner chooses.

The paper's Algorithm 1 joins every node with every (k - 1)-subset of its r nearest neighbours; `all_candidates`
takes every subset of k nodes, `listed_candidates` those that the user names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hsls import _checks, _threads
from hsls._kernels import subsets
from hsls._types import AnyArray, Int32Array, IntArray
from hsls.hypergraph import Hypergraph

__all__ = [
    "DEFAULT_MEMORY_BUDGET",
    "Candidates",
    "all_candidates",
    "knn_candidates",
    "listed_candidates",
    "neighbors_needed",
]

# Bytes that the candidates, their variations and their weights may take unless the user says otherwise.
DEFAULT_MEMORY_BUDGET = 4 * 2**30

# Nodes of one piece of work: enough pieces to keep every thread busy to the end, each long enough to amortise its
# start.
_NODES_A_PIECE = 1 << 14


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """Distinct candidate hyperedges on `n_nodes` nodes, in canonical order.

    Parameters
    ----------
    n_nodes : int
    members : tuple of int32 arrays
        One (D_k, k) array for each cardinality k, ascending in k; rows ascending and in lexicographic order. Of a list
        in any order `listed_candidates` makes this.
    """

    n_nodes: int
    members: tuple[Int32Array, ...]

    def __post_init__(self) -> None:
        # The kernels read and write where the members say, without a look at the bounds.
        members = tuple(_canonical(block, self.n_nodes) for block in self.members)
        sizes = [block.shape[1] for block in members]
        if sizes != sorted(set(sizes)):
            raise ValueError(f"members must hold one array for each cardinality, ascending, got cardinalities {sizes}.")
        self._set(self.n_nodes, members)

    def _set(self, n_nodes: int, members: Iterable[Int32Array]) -> Candidates:
        """Put canonical values in place and freeze them."""
        object.__setattr__(self, "n_nodes", n_nodes)
        object.__setattr__(self, "members", tuple(members))
        for block in self.members:
            block.setflags(write=False)
        return self

    @classmethod
    def _of(cls, n_nodes: int, members: Iterable[Int32Array]) -> Candidates:
        """Candidates of arrays that are canonical already, so neither checked nor copied."""
        return object.__new__(cls)._set(n_nodes, members)

    @property
    def n_candidates(self) -> int:
        return sum(len(block) for block in self.members)

    @cached_property
    def offsets(self) -> IntArray:
        """Where each cardinality's candidates start in an array over all candidates; the last entry is their number."""
        return np.cumsum([0, *(len(block) for block in self.members)], dtype=np.int64)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        return tuple(block.shape[1] for block in self.members)

    @property
    def edges(self) -> list[tuple[int, ...]]:
        """Candidates as tuples of node positions."""
        return [tuple(row) for block in self.members for row in block.tolist()]

    def covered(self) -> AnyArray:
        """Boolean mask of the nodes that at least one candidate holds."""
        mask = np.zeros(self.n_nodes, dtype=bool)
        for block in self.members:
            mask[block.ravel()] = True
        return mask

    def hypergraph(self, weights: AnyArray, threshold: float, nodes: Iterable[Any] | None = None) -> Hypergraph:
        """The hypergraph of the candidates whose weight is at least `threshold` and above 0."""
        kept, values = [], [np.zeros(0)]
        for block, first, last in zip(self.members, self.offsets[:-1], self.offsets[1:], strict=True):
            w = weights[first:last]
            chosen = np.flatnonzero((w >= threshold) & (w > 0))
            kept.append(block[chosen])
            values.append(w[chosen])
        return Hypergraph.from_members(kept, np.concatenate(values), self.n_nodes if nodes is None else nodes)

    def __len__(self) -> int:
        return self.n_candidates

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(block)} of {block.shape[1]} nodes" for block in self.members)
        return f"Candidates({self.n_nodes} nodes, {sizes or 'none'})"


def _canonical(block: AnyArray, n_nodes: int) -> Int32Array:
    """A copy of the members of one cardinality, or what is wrong with them."""
    rows = np.asarray(block)
    if rows.ndim != 2 or rows.shape[1] < 2 or rows.dtype.kind not in "iu":
        raise TypeError(
            f"members must be integer arrays of shape (D_k, k) with k of at least 2, got {rows.dtype} of {rows.shape}."
        )
    if len(rows) and not 0 <= rows.min() <= rows.max() < n_nodes:
        bad = rows[(rows < 0) | (rows >= n_nodes)][0]
        raise ValueError(f"members hold node {bad}, but positions run from 0 to {n_nodes - 1}.")
    steps = np.sign(np.diff(rows.astype(np.int64), axis=0))
    first = np.take_along_axis(steps, np.argmax(steps != 0, axis=1)[:, None], axis=1)
    if not (np.all(rows[:, 1:] > rows[:, :-1]) and np.all(first > 0)):
        raise ValueError(
            "members must have ascending rows in lexicographic order, each once; `listed_candidates` takes any order."
        )
    return np.array(rows, dtype=np.int32, order="C")


def check_cardinalities(cardinalities: Any, n_nodes: int | None = None) -> tuple[int, ...]:
    """Return the cardinalities ascending; each must be a whole number from 2 to the number of nodes."""
    values = cardinalities if isinstance(cardinalities, Iterable) else [cardinalities]
    result = sorted({_checks.whole(k, "cardinalities", least=2) for k in values})
    if not result:
        raise ValueError("cardinalities must name at least one number of nodes, such as (2, 3).")
    if n_nodes is not None and result[-1] > n_nodes:
        raise ValueError(f"cardinalities holds {result[-1]}, but there are only {n_nodes} nodes; leave it out.")
    return tuple(result)


def knn_candidates(
    tables: Mapping[int, AnyArray], *, memory_budget: float | None = DEFAULT_MEMORY_BUDGET
) -> Candidates:
    """Candidates of the paper's Algorithm 1: each node with every (k - 1)-subset of its neighbours.

    Parameters
    ----------
    tables : mapping
        For each cardinality k an (N, r_k) integer array: row i holds distinct nodes other than i.
    memory_budget : float, optional
        Bytes that candidates with their variations and weights may take; None lifts the limit.
    """
    n_nodes = len(next(iter(tables.values())))
    check_memory(knn_bound(n_nodes, {k: table.shape[1] for k, table in tables.items()}), memory_budget, "neighbors")
    return Candidates._of(n_nodes, [_knn_of_cardinality(k, tables[k], n_nodes) for k in sorted(tables)])


def _knn_of_cardinality(k: int, neighbors: AnyArray, n_nodes: int) -> Int32Array:
    table = np.ascontiguousarray(np.sort(_neighbor_table(neighbors, n_nodes), axis=1), dtype=np.int32)
    if np.any(table[:, 1:] == table[:, :-1]) or np.any(table == np.arange(n_nodes, dtype=np.int32)[:, None]):
        raise ValueError("a row of a table of neighbors holds a node twice, or the node that it belongs to.")
    counts = np.zeros(n_nodes + 1, dtype=np.int64)
    subsets.count_listers(table, counts[1:])
    pointer = np.cumsum(counts)
    listers = np.empty(pointer[-1], dtype=np.int32)
    subsets.fill_listers(table, pointer.copy(), listers)

    def work(first: int, last: int, _: int) -> tuple[Int32Array, bool]:
        found: tuple[Int32Array, bool] = subsets.enumerate_range(table, pointer, listers, k, first, last)
        return found

    found = _threads.over(work, _threads.split(n_nodes, max(1, n_nodes // _NODES_A_PIECE)))
    if not all(fitted for _, fitted in found):
        return _knn_by_sorting(table, k)
    parts = [part for part, _ in found]
    del found  # the parts are let go of one by one
    return _joined(parts, k)


def _neighbor_table(neighbors: AnyArray, n_nodes: int) -> AnyArray:
    table = np.asarray(neighbors)
    if table.ndim != 2 or len(table) != n_nodes or table.dtype.kind not in "iu":
        raise ValueError(f"a table of neighbors must be an integer array with a row for each of the {n_nodes} nodes.")
    if table.size and not 0 <= table.min() <= table.max() < n_nodes:
        raise ValueError(f"a table of neighbors holds a node outside 0 to {n_nodes - 1}.")
    return table


def _joined(parts: list[Int32Array], k: int) -> Int32Array:
    """Concatenate flat parts on all threads, letting go of each part once it is copied."""
    if len(parts) == 1:
        return parts[0].reshape(-1, k).copy()
    starts = np.cumsum([0, *(part.size for part in parts)])
    out = np.empty(starts[-1], dtype=np.int32)

    def copy(first: int, last: int, _: int) -> None:
        for number in range(first, last):
            out[starts[number] : starts[number + 1]] = parts[number]
            parts[number] = out[:0]

    _threads.over(copy, _threads.split(len(parts), _threads.count()))
    return out.reshape(-1, k)


def _knn_by_sorting(table: Int32Array, k: int) -> Int32Array:
    """The same candidates by one global sort, for cardinalities whose keys do not fit into 64 bits."""
    n_nodes, r = table.shape
    choice = np.empty((math.comb(r, k - 1), k - 1), dtype=np.int32)
    subsets.enumerate_all(r, k - 1, choice)
    own = np.broadcast_to(np.arange(n_nodes, dtype=np.int32)[:, None, None], (n_nodes, len(choice), 1))
    rows = np.sort(np.concatenate([own, table[:, choice]], axis=2).reshape(-1, k), axis=1)
    distinct: Int32Array = np.unique(rows, axis=0)
    return distinct


def neighbors_needed(hypergraph: Hypergraph, neighbors: AnyArray) -> IntArray:
    """For each hyperedge the least r for which it is among the candidates of r neighbours.

    Parameters
    ----------
    hypergraph : Hypergraph
    neighbors : array of int, shape (N, R)
        The neighbours of each node, nearest first, as in `hsls.neighbors.Neighbors.indices`.

    Returns
    -------
    array of int, shape (n_edges,)
        R + 1 for a hyperedge that is not among the candidates of all R neighbours.

    Notes
    -----
    A hyperedge is a candidate if all its nodes but one are among the r nearest of that one: so r is the least, over
    its nodes, of the rank of the farthest other one.
    """
    table = _neighbor_table(neighbors, hypergraph.n_nodes)
    n_nodes, most = table.shape
    ranks = np.full((n_nodes, n_nodes), most + 1, dtype=np.int64)
    np.put_along_axis(ranks, table.astype(np.int64), np.arange(1, most + 1)[None, :], axis=1)
    np.fill_diagonal(ranks, 0)
    needed = [ranks[block[:, :, None], block[:, None, :]].max(axis=2).min(axis=1)
              for block in hypergraph.members().values()]  # fmt: skip
    return np.concatenate([np.zeros(0, dtype=np.int64), *needed])


def all_candidates(
    n_nodes: int, cardinalities: Any, *, memory_budget: float | None = DEFAULT_MEMORY_BUDGET
) -> Candidates:
    """Every subset of the wanted cardinalities: C(N, k) candidates each."""
    sizes = check_cardinalities(cardinalities, n_nodes)
    counts = {k: math.comb(n_nodes, k) for k in sizes}
    check_memory(counts, memory_budget, "cardinalities, or give a number of neighbors instead of 'all'")
    blocks = []
    for k in sizes:
        out = np.empty((counts[k], k), dtype=np.int32)
        subsets.enumerate_all(n_nodes, k, out)
        blocks.append(out)
    return Candidates._of(n_nodes, blocks)


def listed_candidates(candidates: Any, n_nodes: int, nodes: Iterable[Any] | None = None) -> Candidates:
    """Candidates that the user lists: hyperedges of node positions or names, a `Hypergraph`, or `Candidates`.

    The nodes of a `Hypergraph` are matched with the signals' `nodes` by name, and by position where one of the two
    has only the names that positions give, "0", "1", ...
    """
    if isinstance(candidates, Candidates):
        if candidates.n_nodes != n_nodes:
            raise ValueError(f"candidates are for {candidates.n_nodes} nodes, but the signals have {n_nodes}.")
        return candidates
    try:
        if isinstance(candidates, Hypergraph):
            if candidates.n_nodes != n_nodes:
                raise ValueError(f"the hypergraph has {candidates.n_nodes} nodes, but the signals have {n_nodes}.")
            listed = candidates if nodes is None else _with_nodes(candidates, tuple(map(str, nodes)))
        else:
            listed = Hypergraph.from_edges(candidates, nodes=n_nodes if nodes is None else nodes)
    except (TypeError, ValueError) as error:
        raise type(error)(f"candidates: {error}") from None
    if listed.n_edges == 0:
        raise ValueError("candidates holds no hyperedge; list at least one.")
    if listed.cardinalities.min() < 2:
        number = int(np.argmin(listed.cardinalities))
        raise ValueError(f"candidates: {listed.edges[number]} holds a single node; a hyperedge needs two or more.")
    return Candidates._of(n_nodes, [block.astype(np.int32) for block in listed.members().values()])


def _with_nodes(hypergraph: Hypergraph, names: tuple[str, ...]) -> Hypergraph:
    """The same hypergraph on the nodes `names`."""
    if set(hypergraph.nodes) == set(names):
        return Hypergraph.from_edges(hypergraph.named_edges, nodes=names)
    plain = tuple(map(str, range(len(names))))
    if plain not in (hypergraph.nodes, names):
        stranger = min(set(hypergraph.nodes) - set(names))
        raise ValueError(f"the hypergraph has a node {stranger!r}, but the signals have none of that name; rename it.")
    return hypergraph


def knn_bound(n_nodes: int, neighbors: Mapping[int, int]) -> dict[int, int]:
    """Upper bound on the candidates of each cardinality: N * C(r, k - 1), or all C(N, k) if these are fewer."""
    return {k: min(n_nodes * math.comb(r, k - 1), math.comb(n_nodes, k)) for k, r in neighbors.items()}


def bytes_for(counts: Mapping[int, int]) -> int:
    """Bytes of the members (4 each), the variation and the weight (8 each) of so many candidates."""
    return sum(count * (4 * k + 16) for k, count in counts.items())


def check_memory(counts: Mapping[int, int], memory_budget: float | None, lower: str) -> None:
    """Refuse, before anything is allocated, what would not fit into the budget; `lower` names what to lower."""
    if memory_budget is None:
        return
    budget = _checks.positive(memory_budget, "memory_budget")
    needed = bytes_for(counts)
    if needed > budget:
        number = sum(counts.values())
        raise ValueError(
            f"up to {number:,} candidates would take {size_in_words(needed)}, more than the memory budget of "
            f"{size_in_words(budget)}; lower {lower}, or raise memory_budget."
        )


def size_in_words(n_bytes: float) -> str:
    """A number of bytes with its unit."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.4g} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.4g} TiB"
