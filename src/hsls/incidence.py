"""The incidence matrix S of the candidates, as an operator: products with S and S' without building it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from hsls import _threads
from hsls._kernels import incidence as kernels
from hsls._types import AnyArray, FloatArray

__all__ = ["Incidence"]

Result = TypeVar("Result")

# Candidates for which a second thread pays: below it a pass takes less time than waking the thread.
_CANDIDATES_A_THREAD = 20_000

# Up to this many nodes the spectral norm is computed from the dense matrix S S'.
_DENSE_NORM = 500


class Block:
    """Candidates of one cardinality, as the kernels take them."""

    def __init__(self, members: AnyArray, start: int) -> None:
        signed = members if members.dtype == np.uint32 else np.ascontiguousarray(members, dtype=np.int32)
        self.members = signed.view(np.uint32)
        self.members.setflags(write=False)  # so that the kernels meet, and are compiled for, one type
        self.shape = (0,) * members.shape[1]
        self.slice = slice(start, start + len(members))

    def __len__(self) -> int:
        return len(self.members)


# What one thread works on: (block number, block, start, stop) for every block.
Share: TypeAlias = list[tuple[int, Block, int, int]]


class Incidence:
    """S for blocks of candidates of one cardinality each.

    Parameters
    ----------
    members : sequence of (D_k, k) integer arrays
    n_nodes : int
    """

    def __init__(self, members: Sequence[AnyArray], n_nodes: int) -> None:
        self.n_nodes = n_nodes
        starts = np.cumsum([0, *(len(block) for block in members)]).tolist()
        self.blocks = [Block(block, start) for block, start in zip(members, starts, strict=False)]
        self.n_candidates: int = starts[-1]
        #: Threads that a pass over all candidates is worth, each with its contiguous share of every block.
        self.parts = max(1, min(_threads.count(), self.n_candidates // _CANDIDATES_A_THREAD))
        self._shares: list[Share] = [
            [
                (number, block, len(block) * part // self.parts, len(block) * (part + 1) // self.parts)
                for number, block in enumerate(self.blocks)
            ]
            for part in range(self.parts)
        ]

    def each_part(self, work: Callable[[Share, int], Result]) -> list[Result]:
        """Call ``work(share, part)`` for each part, on as many threads."""
        return _threads.over(
            lambda part, _stop, _number: work(self._shares[part], part), [(i, i + 1) for i in range(self.parts)]
        )

    def degrees(self, w: FloatArray) -> FloatArray:
        """S w: for each node the sum of w over the candidates that hold it."""

        def work(share: Share, _part: int) -> FloatArray:
            out = np.zeros(self.n_nodes)
            for _, block, start, stop in share:
                kernels.scatter(block.shape, block.members, w[block.slice], out, start, stop)
            return out

        return total(self.each_part(work))

    def adjoint(self, v: FloatArray) -> FloatArray:
        """S'v: for each candidate the sum of v over its nodes."""
        out = np.empty(self.n_candidates)

        def work(share: Share, _part: int) -> None:
            for _, block, start, stop in share:
                kernels.gather(block.shape, block.members, v, out[block.slice], start, stop)

        self.each_part(work)
        return out

    def normal_matrix(self, scale: FloatArray | None = None) -> FloatArray:
        """S diag(scale) S' as a dense matrix."""
        matrix = np.zeros((self.n_nodes, self.n_nodes))
        for block in self.blocks:
            own = np.ones(1) if scale is None else scale[block.slice]
            step = int(scale is not None)
            kernels.normal_matrix(block.shape, block.members, own, step, matrix, 0, len(block))
        return matrix

    def spectral_norm(self, coefficient: FloatArray | None = None) -> float:
        """Largest singular value of S, or of S diag(coefficient)."""
        if self.n_nodes <= _DENSE_NORM:
            square = None if coefficient is None else coefficient**2
            return float(np.sqrt(np.linalg.eigvalsh(self.normal_matrix(square))[-1]))
        from scipy.sparse.linalg import LinearOperator, eigsh

        def product(v: FloatArray) -> FloatArray:
            gathered = self.adjoint(np.ascontiguousarray(v.ravel()))
            return self.degrees(gathered if coefficient is None else gathered * coefficient**2)

        operator = LinearOperator((self.n_nodes, self.n_nodes), matvec=product, dtype=np.float64)
        # A positive start has a share in the leading eigenvector, which is positive on its component.
        largest = eigsh(operator, k=1, v0=np.ones(self.n_nodes), tol=1e-10, return_eigenvectors=False)
        return float(np.sqrt(largest[0]))


def total(parts: list[FloatArray]) -> FloatArray:
    """Sum of the threads' arrays, in their order."""
    result = parts[0]
    for part in parts[1:]:
        result += part
    return result
