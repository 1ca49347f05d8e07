"""Projected Newton for the penalised likelihood, block by block, with the duality gap at every iteration.

Each iteration minimises the second-order model of the objective over w >= 0, on the hyperedges of positive weight and
those that violate the dual constraint most, by coordinate descent (as QUIC does for the graphical lasso), and shortens
the step until the objective falls enough.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from hsls import _checks, _progress
from hsls._kernels import precision as kernels
from hsls._types import FloatArray, IntArray
from hsls.likelihood.field import Block, Likelihood, Point
from hsls.solvers.solution import History, Solution

__all__ = ["maximise"]

# Share of the decrease that the model promises which a step must bring (Armijo), and how often a step is halved.
_SUFFICIENT = 1e-4
_MAX_CUTS = 40
# A promised decrease below this share of the objective is lost in rounding; the gap decides then.
_ROUNDING = 1e-13
# Hyperedges that may join the free ones in one iteration, as a multiple of the nodes.
_JOINING = 1.0
# Sweeps of coordinate descent over the model between two solves on the positive weights, and rounds of both, at most.
_SWEEPS = 100
_ROUNDS = 5
# Added to the diagonal there, relatively: a triple and its three pairs have dependent matrices.
_RIDGE = 1e-10
# The share of the first sweep's decrease that the last one may still bring, at most; it falls with the square of the
# gap, but not below what the wanted gap asks for.
_LOOSEST = 1e-3
_BEYOND = 0.1


def maximise(
    problem: Likelihood, *, tol: float = 1e-6, max_iter: int = 200, start: FloatArray | None = None
) -> Solution:
    """Solve to a relative duality gap of `tol`.

    Parameters
    ----------
    problem : Likelihood
    tol : float
        ``(P - D) / (N - number of blocks)`` to reach.
    max_iter : int
        Iterations of each block.
    start : array, optional
        Weights to start from, such as the solution for a neighbouring penalty.

    Returns
    -------
    Solution
        Its `dual` holds, for every node, the factor s of its block: ``s (L(w) + J)^-1``, off the constants, is the
        dual point of the certificate. Nodes that no hyperedge holds have 0.
    """
    tol = _checks.positive(tol, "tol")
    max_iter = _checks.whole(max_iter, "max_iter")
    history = History()
    weights, dual = np.zeros(len(problem.edges)), np.zeros(problem.edges.n_nodes)
    courses = []
    with _progress.stage("maximising", problem.rank) as reporter:
        done = 0
        for block in problem.blocks:
            own = None if start is None else np.asarray(start, dtype=np.float64)[block.numbers]
            course = _solve(block, own, tol, max_iter, history)
            weights[block.numbers] = course.last.w
            dual[block.nodes] = min(course.last.shrink, 1.0)
            courses.append(course)
            done += block.rank
            if reporter is not None:
                reporter.advance(done, f"gap {course.last.gap / block.rank:.1e}")
    arrays = _merged(courses, problem)
    statuses = [course.status for course in courses]
    gap = sum(course.last.gap for course in courses)
    primal = sum(course.last.value for course in courses)
    return Solution(
        weights=weights,
        dual=dual,
        primal=primal,
        dual_value=primal - gap,
        gap=gap,
        relative_gap=problem.relative_gap(gap),
        n_iter=max(len(course.rows) for course in courses) - 1,
        status=next((status for status in ("stalled", "max_iter") if status in statuses), "converged"),
        solver="likelihood",
        seconds=history.seconds(),
        history=arrays,
    )


@dataclass(eq=False)
class _Course:
    """How the solve of one block went: seconds, value and gap of each iteration, and how it ended."""

    rows: list[tuple[float, float, float]]
    last: Point
    status: str


def _solve(block: Block, start: FloatArray | None, tol: float, max_iter: int, history: History) -> _Course:
    point = None
    if start is not None and np.all(np.isfinite(start)) and np.all(start >= 0) and np.any(start > 0):
        point = block.at(start)
    if point is None:
        point = block.at(block.start())
    if point is None:
        raise ValueError(
            "the variations of the hyperedges differ by more than double precision holds; raise the penalty."
        )
    rows: list[tuple[float, float, float]] = []
    for iteration in itertools.count():
        rows.append((history.seconds(), point.value, point.gap))
        if point.gap <= tol * block.rank:
            return _Course(rows, point, "converged")
        if iteration >= max_iter:
            return _Course(rows, point, "max_iter")
        free = _free(block, point)
        direction = _direction(block, point, free, _accuracy(point.gap / block.rank, tol))
        successor = _search(block, point, free, direction)
        if successor is None:
            return _Course(rows, point, "stalled")
        point = successor
    raise AssertionError("unreachable")


def _free(block: Block, point: Point) -> IntArray:
    """The hyperedges of positive weight, and those of the others that violate the dual constraint most."""
    excess = point.traces / block.cost
    positive = point.w > 0
    outside = np.flatnonzero(~positive & (excess > 1.0))
    most = max(200, int(_JOINING * block.edges.n_nodes))
    if len(outside) > most:
        outside = outside[np.argpartition(-excess[outside], most)[:most]]
    positive[outside] = True
    return np.flatnonzero(positive)


def _accuracy(relative_gap: float, tol: float) -> float:
    """How accurately to minimise the model, so that the gap falls quadratically, as far as it has to."""
    return min(_LOOSEST, max(relative_gap, _BEYOND * tol / relative_gap) ** 2)


def _direction(block: Block, point: Point, free: IntArray, accuracy: float) -> FloatArray:
    """The step to the minimum of the second-order model over w >= 0."""
    H = block.edges.take(free).hessian(point.theta)
    slope = block.cost[free] - point.traces[free]
    y = point.w[free].copy()
    least = accuracy * kernels.descend(H, slope, y, 1, 0.0)
    for _ in range(_ROUNDS):
        if kernels.descend(H, slope, y, _SWEEPS, least) <= least:
            break
        _leap(H, slope, y)
    return np.asarray(y - point.w[free])


def _leap(H: FloatArray, slope: FloatArray, y: FloatArray) -> None:
    """Move y and slope towards the minimum on the positive weights, as far as they stay positive.

    Once coordinate descent knows which these are, that is the solution, which it would take long to creep up to.
    """
    from scipy import linalg

    positive = np.flatnonzero(y)
    inner = H[np.ix_(positive, positive)]
    inner[np.diag_indices(len(inner))] *= 1.0 + _RIDGE
    step, failed = linalg.lapack.dposv(inner.T, -slope[positive], lower=1, overwrite_a=1)[1:]
    if failed:
        return
    shrinking = step < 0
    length = min(1.0, float(np.min(y[positive][shrinking] / -step[shrinking], initial=1.0)))
    y[positive] = np.maximum(y[positive] + length * step, 0.0)
    slope += length * (H[:, positive] @ step)


def _search(block: Block, point: Point, free: IntArray, direction: FloatArray) -> Point | None:
    """Shorten the step until the objective falls enough; None where no step helps any more."""
    slope = float((block.cost[free] - point.traces[free]) @ direction)
    if not slope < 0:
        return None
    rounding = _ROUNDING * (abs(point.value) + block.rank)
    length = 1.0
    for _ in range(_MAX_CUTS):
        w = point.w.copy()
        w[free] = np.maximum(w[free] + length * direction, 0.0)
        trial = block.at(w)
        if trial is not None and trial.value - point.value <= _SUFFICIENT * length * slope:
            return trial
        if -length * slope <= rounding:
            return trial if trial is not None and trial.gap < point.gap else None
        length *= 0.5
    return None


def _merged(courses: list[_Course], problem: Likelihood) -> dict[str, FloatArray]:
    """The courses of all blocks side by side, each staying where it ended."""
    length = max(len(course.rows) for course in courses)
    padded = np.array([course.rows + [course.rows[-1]] * (length - len(course.rows)) for course in courses])
    seconds, values, gaps = padded[:, :, 0].max(axis=0), padded[:, :, 1].sum(axis=0), padded[:, :, 2].sum(axis=0)
    return {
        "iteration": np.arange(length, dtype=np.float64),
        "seconds": seconds,
        "primal": values,
        "dual_value": values - gaps,
        "gap": np.array([problem.relative_gap(gap) for gap in gaps.tolist()]) if math.isfinite(gaps[-1]) else gaps,
    }
