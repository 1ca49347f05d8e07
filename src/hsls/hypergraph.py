"""The hypergraph: named nodes and weighted hyperedges, as a frozen value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from hsls import _checks, _flat
from hsls._types import AnyArray, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Hypergraph"]


@dataclass(frozen=True, eq=False, repr=False)
class Hypergraph:
    """Nodes with names and hyperedges with weights; a value that never changes.

    Hyperedges stand in one canonical order (by cardinality, then lexicographically by node position, the
    positions inside each ascending), so two hypergraphs that mean the same are equal array by array.
    Most users call `from_edges` or `from_incidence`; the constructor takes the flat arrays themselves and
    brings them into canonical order.

    Parameters
    ----------
    nodes : sequence of str
        Names of all nodes, isolated ones included; the position of a name is its node's position.
    indptr : array of int, shape (n_edges + 1,)
        Hyperedge e holds the node positions ``indices[indptr[e]:indptr[e + 1]]``.
    indices : array of int
    weights : array of float, shape (n_edges,)
        Finite and at least 0.
    frequencies : array of float, shape (n_edges,), optional
        From 0 to 1: how often each hyperedge was found on resampled observations; see `hsls.stability`.

    Examples
    --------
    >>> from hsls import Hypergraph
    >>> H = Hypergraph.from_edges([("b", "a"), ("a", "b", "c")], weights=[0.5, 2.0], nodes="a b c d".split())
    >>> H.edges
    [(0, 1), (0, 1, 2)]
    >>> H.named_edges
    [('a', 'b'), ('a', 'b', 'c')]
    >>> H.degrees()
    array([2.5, 2.5, 2. , 0. ])
    """

    nodes: tuple[str, ...]
    indptr: IntArray
    indices: IntArray
    weights: FloatArray
    frequencies: FloatArray | None = None

    def __post_init__(self) -> None:
        names = _checks.node_names(self.nodes)
        indptr = _flat.as_positions(self.indptr, "indptr")
        indices = _flat.as_positions(self.indices, "indices")
        _flat.check(len(names), indptr, indices)
        count = len(indptr) - 1
        weights = _flat.as_weights(self.weights, count)
        frequencies = None if self.frequencies is None else _flat.as_frequencies(self.frequencies, count)
        indptr, indices, order = _flat.canonical(len(names), indptr, indices, np.arange(count), merge=False)
        self._set(names, indptr, indices, weights[order], None if frequencies is None else frequencies[order])

    def _set(self, nodes: tuple[str, ...], *arrays: AnyArray | None) -> None:
        """Put canonical values in place, once, and freeze them."""
        object.__setattr__(self, "nodes", nodes)
        for name, array in zip(("indptr", "indices", "weights", "frequencies"), arrays, strict=True):
            if array is not None:
                array.setflags(write=False)
            object.__setattr__(self, name, array)

    def _with(
        self, indptr: IntArray, indices: IntArray, weights: FloatArray, frequencies: FloatArray | None
    ) -> Hypergraph:
        """A hypergraph on the same nodes from arrays that are canonical already, so not checked again."""
        result = object.__new__(Hypergraph)
        result._set(self.nodes, indptr, indices, weights, frequencies)
        return result

    # -- building ----------------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Iterable[Any]],
        weights: Iterable[float] | None = None,
        nodes: int | Iterable[Any] | None = None,
        *,
        merge: bool = False,
    ) -> Hypergraph:
        """Build from a list of hyperedges, each a list of node names or node positions.

        Parameters
        ----------
        edges : iterable of iterables
            Integers are node positions, anything else a node name (matched as a string).
        weights : iterable of float, optional
            One weight a hyperedge; 1 by default.
        nodes : int or iterable, optional
            Number of nodes (then named "0", "1", ...) or their names. By default the nodes that the
            hyperedges mention: positions up to the largest one, or the names in order of appearance.
        merge : bool
            Add the weights of a hyperedge that stands more than once, instead of refusing it.
        """
        members = [_listed(edge, number) for number, edge in enumerate(edges)]
        mentioned = list(chain.from_iterable(members))
        names = _names_for(mentioned, nodes)
        indptr = np.concatenate([[0], np.cumsum([len(edge) for edge in members], dtype=np.int64)])
        indices = _positions(mentioned, names, indptr)
        values = _flat.as_weights(weights, len(members))
        if merge:
            _flat.check(len(names), indptr, indices)
            indptr, indices, values = _flat.canonical(len(names), indptr, indices, values, merge=True)
        return cls(names, indptr, indices, values)

    @classmethod
    def from_incidence(
        cls, incidence: Any, weights: Iterable[float] | None = None, nodes: Iterable[Any] | None = None
    ) -> Hypergraph:
        """Build from an N x E incidence matrix, dense or sparse: its non-zero entries are the memberships."""
        from scipy import sparse

        given = incidence if sparse.issparse(incidence) else np.asarray(incidence)
        if given.ndim != 2:
            raise ValueError(f"incidence must be a matrix, nodes by hyperedges, got {given.ndim} dimensions.")
        matrix = sparse.csc_array(given, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        if np.any(matrix.data != matrix.data):
            raise ValueError("incidence holds NaN; every entry must be a number, 0 where the node is not in.")
        n_nodes, n_edges = matrix.shape
        names = _checks.node_names(range(n_nodes) if nodes is None else nodes, n_nodes)
        return cls(names, matrix.indptr, matrix.indices, _flat.as_weights(weights, n_edges))

    @classmethod
    def from_members(
        cls, blocks: Iterable[AnyArray], weights: AnyArray | None, nodes: int | Iterable[Any]
    ) -> Hypergraph:
        """Build from one integer array (n_edges_k, k) of node positions for each cardinality k.

        The weights (None: all 1) stand in the order of the blocks, and in each in the order of its rows.
        """
        arrays = [_flat.as_positions(block, "a block of members") for block in blocks]
        for array in arrays:
            if array.ndim != 2:
                raise ValueError(f"a block of members must be of shape (n_edges_k, k), got {array.shape}.")
        sizes = [np.full(len(array), array.shape[1], dtype=np.int64) for array in arrays]
        indptr = np.concatenate([np.zeros(1, np.int64), *sizes]).cumsum()
        indices = np.concatenate([np.zeros(0, np.int64), *(array.ravel() for array in arrays)])
        return cls(_names_for([], nodes), indptr, indices, _flat.as_weights(weights, len(indptr) - 1))

    # -- reading -----------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        return len(self.nodes)

    @property
    def n_edges(self) -> int:
        return len(self.weights)

    @property
    def cardinalities(self) -> IntArray:
        """Number of nodes of each hyperedge."""
        return np.diff(self.indptr)

    @cached_property
    def _tuples(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(row) for block in self.members().values() for row in block.tolist())

    @property
    def edges(self) -> list[tuple[int, ...]]:
        """Hyperedges as tuples of node positions (a list of your own: changing it changes nothing here)."""
        return list(self._tuples)

    @property
    def named_edges(self) -> list[tuple[str, ...]]:
        """Hyperedges as tuples of node names."""
        return [tuple(self.nodes[i] for i in edge) for edge in self._tuples]

    def members(self) -> dict[int, IntArray]:
        """For each cardinality k that occurs, ascending, the (n_edges_k, k) array of node positions."""
        values, starts, counts = np.unique(self.cardinalities, return_index=True, return_counts=True)
        blocks = {}
        for k, start, count in zip(values.tolist(), starts.tolist(), counts.tolist(), strict=True):
            first = int(self.indptr[start])
            blocks[k] = self.indices[first : first + k * count].reshape(count, k)
        return blocks

    def degrees(self, weighted: bool = True) -> FloatArray:
        """Sum of the weights (or the number) of the hyperedges at each node."""
        values = np.repeat(self.weights, self.cardinalities) if weighted else None
        return np.bincount(self.indices, weights=values, minlength=self.n_nodes).astype(np.float64)

    # -- matrices ----------------------------------------------------------------------------------------

    def incidence(self) -> sparse.csr_array:
        """Binary N x E incidence matrix H."""
        from hsls import _matrices

        return _matrices.incidence(self.indptr, self.indices, self.n_nodes)

    def star_adjacency(self) -> sparse.csr_array:
        """Adjacency of the star expansion: nodes first, then hyperedges, joined with weight w_e."""
        from hsls import _matrices

        return _matrices.star_adjacency(self.incidence(), self.weights)

    def star_laplacian(self) -> sparse.csr_array:
        """Laplacian of the star expansion, ``[[diag(H w), -H W], [-W H', diag(W H'1)]]``."""
        from hsls import _matrices

        return _matrices.laplacian(self.star_adjacency())

    def clique_adjacency(self) -> sparse.csr_array:
        """Adjacency of the clique expansion: the weights of the hyperedges that hold both nodes, summed."""
        from hsls import _matrices

        return _matrices.clique_adjacency(self.incidence(), self.weights)

    def clique_laplacian(self) -> sparse.csr_array:
        """Laplacian of the clique expansion; ``x' L x`` is the weighted sum-square variation of x."""
        from hsls import _matrices

        return _matrices.laplacian(self.clique_adjacency())

    def laplacian(self) -> sparse.csr_array:
        """Normalised hypergraph Laplacian ``I - Dv^-1/2 H W De^-1 H' Dv^-1/2`` (Zhou et al. 2006)."""
        from hsls import _matrices

        return _matrices.normalized_laplacian(self.incidence(), self.weights)

    # -- selecting ---------------------------------------------------------------------------------------

    def select(self, keep: BoolArray | Sequence[bool]) -> Hypergraph:
        """The hypergraph of the hyperedges that the boolean mask `keep` marks, on the same nodes."""
        mask = np.asarray(keep)
        if mask.shape != (self.n_edges,) or (mask.dtype != np.bool_ and mask.size):
            got = f"{mask.dtype} of shape {mask.shape}"
            raise ValueError(f"keep must be a boolean mask of length {self.n_edges}, got {got}.")
        mask = mask.astype(bool)
        sizes = self.cardinalities
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[mask])])
        frequencies = None if self.frequencies is None else self.frequencies[mask]
        return self._with(indptr, self.indices[np.repeat(mask, sizes)], self.weights[mask], frequencies)

    def top(self, m: int) -> Hypergraph:
        """The `m` hyperedges of largest weight; ties go to the first in canonical order."""
        m = _checks.whole(m, "m", least=0)
        keep = np.zeros(self.n_edges, dtype=bool)
        keep[np.argsort(-self.weights, kind="stable")[:m]] = True
        return self.select(keep)

    def threshold(self, t: float) -> Hypergraph:
        """The hyperedges of weight at least `t`."""
        return self.select(self.weights >= _checks.nonnegative(t, "t"))

    def frequent(self, t: float) -> Hypergraph:
        """The hyperedges with a frequency of at least `t`."""
        if self.frequencies is None:
            raise ValueError("the hypergraph has no frequencies; hsls.stability finds them.")
        return self.select(self.frequencies >= _checks.nonnegative(t, "t"))

    def binary(self) -> Hypergraph:
        """The same hyperedges, each of weight 1."""
        return self._with(self.indptr, self.indices, np.ones(self.n_edges), self.frequencies)

    def with_frequencies(self, frequencies: Any) -> Hypergraph:
        """The same hyperedges with a frequency from 0 to 1 each, in their order; None takes frequencies away."""
        values = None if frequencies is None else _flat.as_frequencies(frequencies, self.n_edges)
        return self._with(self.indptr, self.indices, self.weights, values)

    # -- as a value --------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hypergraph):
            return NotImplemented
        return (
            self.nodes == other.nodes
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.weights, other.weights)
            and _same(self.frequencies, other.frequencies)
        )

    def __hash__(self) -> int:
        frequencies = None if self.frequencies is None else self.frequencies.tobytes()
        return hash((self.nodes, self.indptr.tobytes(), self.indices.tobytes(), self.weights.tobytes(), frequencies))

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and pickles come back through the constructor: checked, and with arrays that are read-only.
        return (type(self), (self.nodes, self.indptr, self.indices, self.weights, self.frequencies))

    def __len__(self) -> int:
        return self.n_edges

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(block)} of {k} nodes" for k, block in self.members().items())
        return f"Hypergraph({self.n_nodes} nodes, {self.n_edges} hyperedges{': ' + sizes if sizes else ''})"


# Positions without `nodes` make a node of every number up to the largest: beyond this they are surely names.
_MOST_UNNAMED = 10**8


def _same(one: FloatArray | None, other: FloatArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def _is_position(kind: type) -> bool:
    return issubclass(kind, int | np.integer) and kind is not bool


def _listed(edge: Iterable[Any], number: int) -> list[Any]:
    """The nodes of one hyperedge; a text is no list of nodes (it would fall into letters)."""
    if isinstance(edge, str | bytes) or not isinstance(edge, Iterable):
        raise TypeError(f"hyperedge {number} is {edge!r}; every hyperedge must be a list of nodes.")
    return list(edge)


def _names_for(mentioned: list[Any], nodes: int | Iterable[Any] | None) -> tuple[str, ...]:
    """The node names of hyperedges that mention these nodes."""
    if isinstance(nodes, int | np.integer):
        return tuple(map(str, range(_checks.whole(nodes, "nodes", least=0))))
    if nodes is not None:
        return _checks.node_names(nodes)
    different = list(dict.fromkeys(mentioned))
    positions = [node for node in different if _is_position(type(node))]
    if positions and len(positions) < len(different):
        raise TypeError("hyperedges mix node names with node positions; give `nodes`, or use one of the two.")
    if not positions:
        return _checks.node_names(different)
    if max(positions) >= _MOST_UNNAMED:
        raise ValueError(
            f"hyperedges hold position {max(positions)}, which would make as many nodes; give `nodes`, or "
            "write names as text."
        )
    return tuple(map(str, range(max(positions) + 1)))


def _positions(mentioned: list[Any], names: tuple[str, ...], indptr: IntArray) -> IntArray:
    """Positions of the nodes that the hyperedges mention by position or by name."""
    kinds = {kind: _is_position(kind) for kind in set(map(type, mentioned))}
    if not all(kinds.values()):
        lookup = {name: position for position, name in enumerate(names)}
        found = [int(node) if kinds[type(node)] else lookup.get(str(node)) for node in mentioned]
        if None in found:
            at = found.index(None)
            number, node = _flat.owner(indptr, at), mentioned[at]
            raise ValueError(f"hyperedge {number} holds {node!r}, which is not among the node names.")
        mentioned = found
    try:
        return np.asarray(mentioned, dtype=np.int64)
    except OverflowError:
        raise ValueError(f"hyperedges hold a position outside 0 to {len(names) - 1}.") from None
