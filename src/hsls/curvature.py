"""Second-order information of the dual, for Newton steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hsls import _threads
from hsls._kernels import incidence as kernels
from hsls._types import FloatArray
from hsls.incidence import Share, total
from hsls.problem import Problem

__all__ = ["Curvature"]


class Curvature:
    """Hessian of the negative dual, ``alpha diag(1 / v^2) + S_A diag(curvature) S_A'``, A the active candidates.

    The active candidates are copied together, so that products read nothing else; `update` uses the same memory
    again.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._room: list[dict[int, tuple[Any, Any]]] = [{} for _ in range(problem.S.parts)]
        self._pieces: list[list[tuple[Any, Any, FloatArray]]] = []
        self._barrier = np.empty(0)
        self.n_active = 0

    def update(self, v: FloatArray) -> None:
        """Move to the dual vector v."""
        problem = self.problem
        step = problem._step

        def work(share: Share, part: int) -> list[tuple[Any, Any, FloatArray]]:
            room = self._room[part]
            pieces = []
            for number, block, start, stop in share:
                curvature = problem.curvature(block)
                if number not in room:
                    size = stop - start
                    room[number] = (
                        np.empty((size, len(block.shape)), np.uint32),
                        np.empty(size) if step else curvature,
                    )
                members, values = room[number]
                found = kernels.compact(
                    block.shape, block.members, problem._z[block.slice], curvature, step, v, members, values,
                    start, stop,
                )  # fmt: skip
                pieces.append((block.shape, members[:found], values[:found] if step else values))
            return pieces

        self._pieces = problem.S.each_part(work)
        self._barrier = problem.alpha / v**2
        self.n_active = sum(len(piece[1]) for pieces in self._pieces for piece in pieces)

    def product(self, p: FloatArray) -> FloatArray:
        """Hessian times p."""
        result = self._over_pieces(lambda shape, members, values, out: kernels.normal_product(
            shape, members, values, self.problem._step, p, out, 0, len(members)
        ))  # fmt: skip
        result += self._barrier * p
        return result

    def diagonal(self) -> FloatArray:
        result = self._over_pieces(lambda shape, members, values, out: kernels.normal_diagonal(
            shape, members, values, self.problem._step, out, 0, len(members)
        ))  # fmt: skip
        result += self._barrier
        return result

    def dense(self) -> FloatArray:
        """The Hessian as a matrix."""
        matrix = np.diag(self._barrier)
        for pieces in self._pieces:
            for shape, members, values in pieces:
                kernels.normal_matrix(shape, members, values, self.problem._step, matrix, 0, len(members))
        return matrix

    def _over_pieces(self, add: Callable[[Any, Any, FloatArray, FloatArray], None]) -> FloatArray:
        def work(first: int, _last: int, _number: int) -> FloatArray:
            out = np.zeros(self.problem.n_nodes)
            for shape, members, values in self._pieces[first]:
                add(shape, members, values, out)
            return out

        return total(_threads.over(work, [(i, i + 1) for i in range(len(self._pieces))]))
