"""The convex problem: objective, dual, certificate and curvature. Solvers know it by these names alone."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hsls import _checks
from hsls._kernels import incidence as kernels
from hsls._types import FloatArray
from hsls.candidates import Candidates
from hsls.incidence import Block, Incidence, Share, total

__all__ = ["DualPoint", "Problem"]


@dataclass(frozen=True, eq=False)
class DualPoint:
    """What one pass over the candidates tells of a dual vector v.

    Attributes
    ----------
    v : array over the covered nodes
    degrees : array
        Degrees of the weights ``w(v) = max(0, S'v - z) / (2 beta q)``.
    value : float
        Dual objective D(v), a lower bound on the optimum.
    gap : float
        ``P(w(v)) - D(v) = alpha * sum_i (t_i - 1 - log t_i)`` with ``t_i = v_i d_i / alpha``: a sum of terms of one
        sign, so it is exact to the last digits however small; infinite where a node has degree 0.
    """

    v: FloatArray
    degrees: FloatArray
    value: float
    gap: float


class Problem:
    r"""Learn weights of candidate hyperedges from their variations.

    .. math:: \min_{w \ge 0} \; z'w - \alpha \sum_i \log (S C w)_i + \beta \sum_e q_e w_e^2

    with S the incidence matrix of the candidates and C = diag(c). Nodes that no candidate holds have no term: no
    weights could give them a degree.

    Parameters
    ----------
    candidates : Candidates
    variation : array, shape (n_candidates,)
        z, finite and at least 0.
    alpha, beta : float
        Weight of the degrees (larger: more and heavier hyperedges) and of the squared weights (larger: more even).
    degree_coefficient, quadratic_coefficient : float or array, shape (n_candidates,)
        c and q, above 0.

    Notes
    -----
    The dual has one variable a node. For v > 0 and ``u = max(0, c S'v - z)``,

    .. math:: D(v) = \alpha \sum_i \log v_i + \alpha N (1 - \log\alpha) - \sum_e u_e^2 / (4 \beta q_e)

    At the optimum ``v_i = alpha / d_i`` and ``z'w + 2 beta sum q w^2 = alpha N``: the terms that depend on units add
    up to ``alpha N``, which is therefore what `relative_gap` measures gaps by. The change of variable
    ``c w -> w`` (``z -> z / c``, ``q -> q / c^2``) leaves every product with a plain S.
    """

    def __init__(
        self,
        candidates: Candidates,
        variation: Any,
        alpha: float = 1.0,
        beta: float = 1.0,
        *,
        degree_coefficient: Any = 1.0,
        quadratic_coefficient: Any = 1.0,
    ) -> None:
        self.candidates = candidates
        self.alpha = _checks.positive(alpha, "alpha")
        self.beta = _checks.positive(beta, "beta")
        self.z = _over_candidates(variation, "variation", candidates.n_candidates, least=0.0)
        if self.z.ndim == 0:
            raise ValueError("variation must hold one number for each candidate.")
        self.c = _over_candidates(degree_coefficient, "degree_coefficient", candidates.n_candidates)
        self.q = _over_candidates(quadratic_coefficient, "quadratic_coefficient", candidates.n_candidates)
        if candidates.n_candidates == 0:
            raise ValueError("the problem needs at least one candidate hyperedge.")
        covered = candidates.covered()
        self.nodes = np.flatnonzero(covered)
        members = candidates.members
        if len(self.nodes) < candidates.n_nodes:
            position = np.cumsum(covered, dtype=np.int32) - 1
            members = tuple(position[block] for block in members)
        self.S = Incidence(members, len(self.nodes))
        # In the variables c w: variation z / c and 1 / (2 beta q / c^2), the slope of w in u.
        self._z = self.z if self.c.ndim == 0 and self.c == 1 else self.z / self.c
        self._curvature = np.atleast_1d(np.asarray(self.c**2 / (2 * self.beta * self.q), dtype=np.float64))
        self._step = int(self._curvature.size > 1)

    def with_alpha(self, alpha: float) -> Problem:
        """The same problem with another alpha; shares all arrays."""
        other = copy.copy(self)
        other.alpha = _checks.positive(alpha, "alpha")
        other.__dict__.pop("least_shares", None)
        return other

    def near(self, v: FloatArray, ratio: float, most: float) -> Problem | None:
        """The problem on the candidates with ``z < ratio S'v`` and, for every node, its least: for its dual side only.

        Far from these nothing is active, so solving the small problem solves the large one, unless the solution
        moves away: then `at` of the large problem shows a larger gap. None where that is more than the share `most`
        of the candidates. They are counted first, so that no more memory is taken than they fill.
        """
        shares = self.least_shares * (1 + 1e-12)
        counts = np.zeros((self.S.parts, len(self.S.blocks)), dtype=np.int64)

        def count(share: Share, part: int) -> None:
            for number, block, start, stop in share:
                counts[part, number] = kernels.count_near(
                    block.shape, block.members, self._z[block.slice], v, shares, ratio, start, stop
                )

        self.S.each_part(count)
        if counts.sum() > most * self.n_candidates:
            return None
        # Block after block, and in each the parts' shares one after another.
        last = np.cumsum(counts.T).reshape(counts.T.shape).T
        z = np.empty(counts.sum())
        curvatures = np.empty(counts.sum()) if self._step else self._curvature
        sizes = counts.sum(axis=0).tolist()
        members = [
            np.empty((size, len(block.shape)), np.uint32) for size, block in zip(sizes, self.S.blocks, strict=True)
        ]

        def take(share: Share, part: int) -> None:
            for number, block, start, stop in share:
                own = slice(last[part, number] - counts[part, number], last[part, number])
                kernels.take_near(
                    block.shape, block.members, self._z[block.slice], self.curvature(block), self._step, v, shares,
                    ratio, members[number][counts[:part, number].sum() :], z[own],
                    curvatures[own] if self._step else curvatures, start, stop,
                )  # fmt: skip

        self.S.each_part(take)
        other = copy.copy(self)
        other.S = Incidence(members, self.n_nodes)
        other._z, other._curvature = z, curvatures
        return other

    # -- sizes ---------------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes that a candidate holds; the length of dual vectors."""
        return len(self.nodes)

    @property
    def n_candidates(self) -> int:
        return self.candidates.n_candidates

    def curvature(self, block: Block) -> FloatArray:
        """The slope ``c^2 / (2 beta q)`` of c w in u, for each candidate of a block, or the one that all share."""
        return self._curvature[block.slice] if self._step else self._curvature

    def relative_gap(self, gap: float) -> float:
        """Gap over alpha N, the sum of the linear and twice the quadratic term at the optimum."""
        return gap / (self.alpha * self.n_nodes)

    # -- primal ----------------------------------------------------------------------------------------------

    def degrees(self, w: FloatArray) -> FloatArray:
        """S C w, for the covered nodes."""
        return self.S.degrees(w if self.c.ndim == 0 and self.c == 1 else w * self.c)

    def primal(self, w: FloatArray) -> float:
        """Objective at w >= 0; infinite where a covered node has degree 0."""
        d = self.degrees(w)
        if not np.all(d > 0):
            return math.inf
        return float(self.z @ w - self.alpha * np.sum(np.log(d)) + self.beta * np.sum(self.q * w**2))

    def kkt_residual(self, w: FloatArray) -> float:
        """Largest violation of the optimality conditions ``min(w, gradient) = 0``, in units of z's mean."""
        gradient = self.z - self.c * self.S.adjoint(self.alpha / self.degrees(w)) + 2 * self.beta * self.q * w
        scale = float(np.mean(self.z)) or 1.0
        return float(np.max(np.abs(np.where(w > 0, gradient, np.minimum(gradient, 0.0))))) / scale

    # -- dual ------------------------------------------------------------------------------------------------

    def at(self, v: FloatArray) -> DualPoint:
        """Value, gap and degrees at the dual vector v > 0: one pass over the candidates."""

        def work(share: Share, _part: int) -> tuple[FloatArray, float]:
            out = np.zeros(self.n_nodes)
            quadratic = 0.0
            for _, block, start, stop in share:
                quadratic += kernels.dual_pass(
                    block.shape, block.members, self._z[block.slice], self.curvature(block), self._step, v, out,
                    start, stop,
                )  # fmt: skip
            return out, quadratic

        parts = self.S.each_part(work)
        d = total([part[0] for part in parts])
        quadratic = sum(part[1] for part in parts)
        n, alpha = self.n_nodes, self.alpha
        value = alpha * float(np.sum(np.log(v))) + alpha * n * (1 - math.log(alpha)) - 0.5 * quadratic
        return DualPoint(v, d, value, self._gap(v, d))

    def _gap(self, v: FloatArray, d: FloatArray) -> float:
        excess = v * d / self.alpha - 1.0
        if excess.min() <= -1.0:
            return math.inf
        return self.alpha * float(np.sum(excess - np.log1p(excess)))

    def weights(self, v: FloatArray) -> FloatArray:
        """The weights ``max(0, c S'v - z) / (2 beta q)`` that minimise the Lagrangian at v."""
        w = np.empty(self.n_candidates)

        def work(share: Share, _part: int) -> None:
            for _, block, start, stop in share:
                kernels.weights(
                    block.shape, block.members, self._z[block.slice], self.curvature(block), self._step, v,
                    w[block.slice], start, stop,
                )  # fmt: skip

        self.S.each_part(work)
        return w if self.c.ndim == 0 and self.c == 1 else w / self.c

    def start(self) -> FloatArray:
        """A dual vector in the right region: node i in proportion to its least z_e / k, best common factor.

        Candidates are active where the sum of v over them exceeds z, so the least variation around a node sets the
        scale of its v. The factor solves ``v'd = alpha N``, the optimality condition along the ray, roughly.
        """
        v = self.least_shares
        low, high, factor = 0.0, math.inf, 1.0
        for _ in range(60):
            product = factor * float(v @ self.at(factor * v).degrees)
            if product > self.alpha * self.n_nodes:
                high = factor
            else:
                low = factor
            if low > 0 and high < 1.3 * low:
                break
            factor = 2 * low if math.isinf(high) else high / 2 if low == 0 else math.sqrt(low * high)
        return factor * v

    @cached_property
    def least_shares(self) -> FloatArray:
        """For each node the least z_e / k over its candidates, kept away from 0."""

        def work(share: Share, _part: int) -> FloatArray:
            least = np.full(self.n_nodes, math.inf)
            for _, block, start, stop in share:
                kernels.least_at_nodes(block.shape, block.members, self._z[block.slice], least, start, stop)
            return least

        out: FloatArray = np.minimum.reduce(self.S.each_part(work))
        floor = 1e-3 * float(np.mean(out)) or math.sqrt(self.alpha * float(np.mean(1 / self._curvature)))
        return np.maximum(out, floor, out=out)


def _over_candidates(value: Any, name: str, count: int, least: float | None = None) -> Any:
    """A number, or one for each candidate, as a float array; above 0, or at least `least` where that is given."""
    array = np.asarray(value, dtype=np.float64, order="C")
    if array.ndim and array.shape != (count,):
        raise ValueError(f"{name} must hold one number for each of the {count} candidates, got shape {array.shape}.")
    good = np.isfinite(array) & (array > 0 if least is None else array >= least)
    if not np.all(good):
        bad = float(array.ravel()[int(np.argmin(good))])
        raise ValueError(f"{name} must be finite and {'above 0' if least is None else 'at least 0'}, got {bad}.")
    return array
