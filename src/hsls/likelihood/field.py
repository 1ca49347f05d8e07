"""Gaussian fields on hyperedges: the penalised likelihood as a convex problem, with its blocks and its dual."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hsls import _checks, _threads
from hsls._kernels import precision as kernels
from hsls._types import BoolArray, FloatArray, IntArray
from hsls.candidates import Candidates

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["LARGEST_BLOCK", "Block", "Hyperedges", "Likelihood", "Point", "node_labels"]

#: Nodes of the largest block: its dense matrices and its Hessian then fit into some GiB.
LARGEST_BLOCK = 4_000

# Hyperedges for which a second thread pays.
_A_THREAD = 2_000
# Pieces of the Hessian, whose rows grow longer, a thread.
_PIECES = 8


@dataclass(frozen=True, eq=False)
class Hyperedges:
    """Hyperedges on `n_nodes` nodes as flat arrays: e holds ``indices[indptr[e]:indptr[e + 1]]``."""

    n_nodes: int
    indptr: IntArray
    indices: IntArray

    @classmethod
    def of(cls, candidates: Candidates) -> Hyperedges:
        sizes = np.repeat(candidates.cardinalities, np.diff(candidates.offsets)).astype(np.int64)
        flat = [block.ravel().astype(np.int64) for block in candidates.members]
        return cls(
            candidates.n_nodes,
            np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
            np.concatenate([np.zeros(0, np.int64), *flat]),
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def sizes(self) -> IntArray:
        return np.diff(self.indptr)

    def take(self, chosen: IntArray) -> Hyperedges:
        """The hyperedges at these positions, in this order, on the same nodes."""
        sizes = self.sizes[chosen]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        places = np.repeat(self.indptr[chosen] - indptr[:-1], sizes) + np.arange(indptr[-1])
        return Hyperedges(self.n_nodes, indptr, self.indices[places])

    def numbered(self, position: IntArray, n_nodes: int) -> Hyperedges:
        """The same hyperedges where node i is called ``position[i]``."""
        return Hyperedges(n_nodes, self.indptr, position[self.indices])

    def incidence(self) -> sparse.csr_array:
        """Rows are hyperedges, columns nodes."""
        from scipy import sparse

        return sparse.csr_array(
            (np.ones(len(self.indices)), self.indices, self.indptr), shape=(len(self), self.n_nodes)
        )

    @cached_property
    def _at_node(self) -> sparse.csc_array:
        return self.incidence().tocsc()

    def touching(self, nodes: IntArray) -> IntArray:
        """Positions of the hyperedges that hold one of these nodes, ascending."""
        return np.asarray(np.unique(self._at_node[:, nodes].indices), dtype=np.int64)

    def within(self, labels: IntArray) -> BoolArray:
        """Whether all nodes of each hyperedge have the same label."""
        first = labels[self.indices[self.indptr[:-1]]]
        same = labels[self.indices] == np.repeat(first, self.sizes)
        return np.asarray(np.logical_and.reduceat(same, self.indptr[:-1]))

    def disjoint(self, groups: Iterable[IntArray]) -> list[IntArray]:
        """Those of the groups of hyperedges that share no node with one taken before."""
        found = []
        used = np.zeros(self.n_nodes, dtype=bool)
        for group in groups:
            nodes = self.take(group).indices
            if not used[nodes].any():
                used[nodes] = True
                found.append(group)
        return found

    def laplacian(self, w: FloatArray) -> FloatArray:
        """L(w), dense."""
        out = np.zeros((self.n_nodes, self.n_nodes))
        positive = np.flatnonzero(w)
        own = self.take(positive)
        kernels.add_laplacian(own.indptr, own.indices, np.ascontiguousarray(w[positive]), out)
        return out

    def traces(self, theta: FloatArray) -> FloatArray:
        """tr(theta M_e) for every hyperedge."""
        out = np.empty(len(self))

        def work(start: int, stop: int, _: int) -> None:
            kernels.traces(self.indptr, self.indices, theta, out, start, stop)

        _threads.over(work, _threads.split(len(self), min(_threads.count(), 1 + len(self) // _A_THREAD)))
        return out

    def rises(
        self,
        theta: FloatArray,
        labels: IntArray,
        sizes: FloatArray,
        gram: FloatArray,
        cost: FloatArray,
        least_level: float,
        least: float,
    ) -> FloatArray:
        """What each hyperedge more would bring, see the kernel."""
        out = np.empty(len(self))

        def work(start: int, stop: int, _: int) -> None:
            kernels.rises(
                self.indptr, self.indices, theta, labels, sizes, gram, cost, least_level, least, out, start, stop
            )

        _threads.over(work, _threads.split(len(self), min(_threads.count(), 1 + len(self) // _A_THREAD)))
        return out

    def hessian(self, theta: FloatArray) -> FloatArray:
        """tr(theta M_e theta M_f) for every pair of hyperedges."""
        out = np.empty((len(self), len(self)))

        def work(start: int, stop: int, _: int) -> None:
            kernels.products(self.indptr, self.indices, theta, out, start, stop)

        threads = min(_threads.count(), 1 + len(self) // 100)
        _threads.over(work, _threads.split(len(self), 1 if threads == 1 else _PIECES * threads))
        return out


def node_labels(edges: Hyperedges) -> IntArray:
    """Number of the connected component of each node; a node in no hyperedge is one by itself."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    # A path through the nodes of each hyperedge connects them.
    inner = np.ones(len(edges.indices), dtype=bool)
    inner[edges.indptr[:-1]] = False
    later = np.flatnonzero(inner)
    pairs = (edges.indices[later - 1], edges.indices[later])
    graph = sparse.csr_array((np.ones(len(later)), pairs), shape=(edges.n_nodes, edges.n_nodes))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Point:
    """What one factorisation tells of the weights of a block.

    Attributes
    ----------
    w : array
        With ``cost'w = N - 1``, the best multiple of the weights that were asked for.
    theta : array, shape (N, N)
        ``(L(w) + J)^-1``.
    traces : array
        tr(theta M_e): the gradient is `cost` less this.
    value : float
        Objective.
    shrink : float
        The largest s for which ``s (theta - J) + J`` is a feasible dual point: the least of ``cost_e / traces_e``.
    gap : float
        ``-(N - 1) log s``, by which that dual point falls short of `value`.
    """

    w: FloatArray
    theta: FloatArray
    traces: FloatArray
    value: float
    shrink: float
    gap: float


@dataclass(frozen=True, eq=False)
class Block:
    """Hyperedges that connect all of their nodes, and what a unit of their weight costs, ``z_e + lambda``."""

    nodes: IntArray
    """Positions of the nodes among all."""
    numbers: IntArray
    """Positions of the hyperedges among all."""
    edges: Hyperedges
    cost: FloatArray

    @property
    def rank(self) -> int:
        """Rank of L(w) for weights that connect the block."""
        return self.edges.n_nodes - 1

    def at(self, w: FloatArray) -> Point | None:
        """The point of the best multiple of w; None where the hyperedges of positive weight leave the block apart."""
        from scipy import linalg

        w = w * (self.rank / float(self.cost @ w))
        matrix = self.edges.laplacian(w)
        matrix += 1.0 / self.edges.n_nodes
        factor, failed = linalg.lapack.dpotrf(matrix.T, lower=1, overwrite_a=1, clean=0)
        if failed:
            return None
        diagonal = np.diagonal(factor)
        half = float(np.sum(np.log(diagonal)))
        theta, failed = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
        if failed or not math.isfinite(half):
            return None
        theta = np.ascontiguousarray(theta.T)
        _mirror(theta)
        traces = self.edges.traces(theta)
        if not np.all(traces > 0):
            return None
        shrink = float(np.min(self.cost / traces))
        return Point(w, theta, traces, self.rank - 2.0 * half, shrink, -self.rank * math.log(min(shrink, 1.0)))

    def start(self) -> FloatArray:
        """The hyperedges that Kruskal's algorithm takes, cheapest join first, at the weight best for each alone."""
        joins = self.edges.sizes - 1
        parent = list(range(self.edges.n_nodes))

        def root(i: int) -> int:
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        w = np.zeros(len(self.edges))
        left = self.rank
        pointers, indices = self.edges.indptr.tolist(), self.edges.indices.tolist()
        for e in np.argsort(self.cost / joins, kind="stable").tolist():
            roots = {root(i) for i in indices[pointers[e] : pointers[e + 1]]}
            if len(roots) > 1:
                first = roots.pop()
                for other in roots:
                    parent[other] = first
                w[e] = len(roots) / self.cost[e]
                left -= len(roots)
                if left == 0:
                    break
        return w


class Likelihood:
    r"""Maximum likelihood of hyperedge weights under the Gaussian field of the star expansion, penalised.

    .. math:: \min_{w \ge 0} \; \sum_e (z_e + \lambda) w_e - \sum_b \log\det (L_b(w) + J_b)

    with ``z_e = tr(C M_e)`` (C the sample covariance), ``L(w) = sum_e w_e M_e`` and ``M_e = diag(1_e) - 1_e 1_e'/|e|``.
    b runs over the connected components of the candidates; J_b is 1/N_b everywhere on the nodes of b, which mends the
    one direction, the constants, in which L_b is 0. A node that no candidate holds has no term.

    Parameters
    ----------
    edges : Hyperedges or Candidates
    variation : array
        z, finite and at least 0: the variation "scaled-square" over the number of observations.
    penalty : float
        lambda, at least 0; z + lambda must be above 0.

    Notes
    -----
    The dual maximises ``log det Theta + N - tr(Theta J)`` over positive definite Theta with ``tr(Theta M_e) <= z_e +
    lambda``. Along a ray of w the optimum has ``(z + lambda)'w = N - 1``, and there ``Theta = s (L(w) + J)^-1`` off
    the constants is feasible for ``s = min_e (z_e + lambda) / tr((L(w) + J)^-1 M_e)``, with the gap ``-(N - 1) log s``.
    """

    def __init__(self, edges: Hyperedges | Candidates, variation: Any, penalty: float = 0.0) -> None:
        self.edges = Hyperedges.of(edges) if isinstance(edges, Candidates) else edges
        self.penalty = _checks.nonnegative(penalty, "penalty")
        self.z = np.asarray(variation, dtype=np.float64)
        if self.z.shape != (len(self.edges),):
            raise ValueError(
                f"variation must hold one number for each of the {len(self.edges)} hyperedges, got shape "
                f"{self.z.shape}."
            )
        if not (np.all(np.isfinite(self.z)) and np.all(self.z >= 0)):
            raise ValueError("variation must be finite and at least 0.")
        if self.penalty == 0 and not np.all(self.z > 0):
            raise ValueError("a hyperedge of variation 0 has no finite weight without a penalty; give one above 0.")
        self.labels = node_labels(self.edges)

    @cached_property
    def blocks(self) -> list[Block]:
        """The connected components that hold a hyperedge."""
        sizes = np.bincount(self.labels, minlength=1)
        if sizes.max() > LARGEST_BLOCK:
            raise ValueError(
                f"the candidates connect {sizes.max():,} nodes, and the likelihood needs dense matrices of that size, "
                f"which are made for up to {LARGEST_BLOCK:,} nodes; lower neighbors, or use HSLS."
            )
        of_edge = self.labels[self.edges.indices[self.edges.indptr[:-1]]]
        position = np.empty(self.edges.n_nodes, dtype=np.int64)
        found = []
        for label in np.unique(of_edge).tolist():
            nodes, numbers = np.flatnonzero(self.labels == label), np.flatnonzero(of_edge == label)
            position[nodes] = np.arange(len(nodes))
            edges = self.edges.take(numbers).numbered(position, len(nodes))
            found.append(Block(nodes, numbers, edges, self.z[numbers] + self.penalty))
        return found

    @property
    def rank(self) -> int:
        """Rank of L(w) for weights that connect every block."""
        return self.edges.n_nodes - int(self.labels.max(initial=-1)) - 1

    def with_penalty(self, penalty: float) -> Likelihood:
        """The same problem with another penalty."""
        return Likelihood(self.edges, self.z, penalty)

    def on(self, chosen: IntArray, penalty: float) -> Likelihood:
        """The problem on the hyperedges at these positions alone."""
        return Likelihood(self.edges.take(chosen), self.z[chosen], penalty)

    def relative_gap(self, gap: float) -> float:
        """Gap over the rank, which is ``(z + lambda)'w`` at the optimum."""
        return gap / self.rank

    def primal(self, w: FloatArray) -> float:
        """Objective at w >= 0; infinite where the hyperedges of positive weight leave a block apart."""
        total = float((self.z + self.penalty) @ w)
        for block in self.blocks:
            matrix = block.edges.laplacian(w[block.numbers]) + 1.0 / len(block.nodes)
            sign, logdet = np.linalg.slogdet(matrix)
            if not (sign > 0 and math.isfinite(logdet)):
                return math.inf
            total -= float(logdet)
        return total


def _mirror(theta: FloatArray) -> None:
    """Copy the upper triangle to the lower one, block by block."""
    width = 256
    for first in range(0, len(theta), width):
        own = slice(first, first + width)
        corner = theta[own, own]
        upper = np.triu(corner)
        corner[:] = upper + np.triu(upper, 1).T
        theta[first + width :, own] = theta[own, first + width :].T
