"""Semismooth Newton on the dual: few iterations, each a few passes over the candidates, and a certificate.

Minimises ``F(v) = -D(v)`` over v > 0 (see `hsls.problem.Problem`). F is smooth and strictly convex with gradient
``S w(v) - alpha / v`` and generalised Hessian ``alpha diag(1 / v^2) + S_A S_A' / (2 beta)`` on the active
candidates A. Steps go at most 95 % of the way to the boundary v = 0 and are shortened until F falls enough.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from hsls import _checks, _progress
from hsls._types import FloatArray
from hsls.curvature import Curvature
from hsls.problem import DualPoint, Problem
from hsls.solvers._direction import newton_direction
from hsls.solvers.solution import History, Solution

__all__ = ["newton"]

# Share of the distance to the boundary that a step may go, as in interior-point methods.
_TO_BOUNDARY = 0.95
# Share of the decrease that the slope promises which a step must bring (Armijo).
_SUFFICIENT = 1e-4
# A promised decrease of F below this share of F is lost in rounding; the gap, which is not, decides then.
_ROUNDING = 1e-12
# Where a cold start is far from the solution (alpha beta small against z: almost a linear program), the problem is
# solved first for a larger alpha, then for one after the other, each this much smaller and each this accurately.
_EASIER = 10.0
_LOOSELY = 1e-2
# Work on the candidates with z below this multiple of S'v: the others would have to come that much nearer to be
# active. Worth it from so many candidates on, and where they are at most this share of all; after so many rounds
# that did not hold for all candidates, all take part.
_NEAR = 2.0
_MANY = 50_000
_WORTHWHILE = 0.5
_ROUNDS = 3
# Halvings of one step before the solver calls itself stalled.
_MAX_CUTS = 40


def newton(problem: Problem, *, tol: float = 1e-6, max_iter: int = 500, start: FloatArray | None = None) -> Solution:
    """Solve to a relative duality gap of `tol`.

    Parameters
    ----------
    problem : Problem
    tol : float
        Relative gap ``(P - D) / (alpha N)`` to reach; 1e-12 is within reach of double precision.
    max_iter : int
    start : array, shape (n_nodes,), optional
        Dual vector to start from, such as the solution of a neighbouring problem; values that are not above 0 are
        replaced.
    """
    tol = _checks.positive(tol, "tol")
    max_iter = _checks.whole(max_iter, "max_iter")
    history = History()
    with _progress.towards("solving", tol) as report:
        v, spent = _cold_start(problem, max_iter) if start is None else (_given_start(problem, start), 0)
        point, iteration, status = _solve(problem, v, spent, tol, max_iter, history, report)
    dual = np.zeros(problem.candidates.n_nodes)
    dual[problem.nodes] = point.v
    return Solution(
        weights=problem.weights(point.v),
        dual=dual,
        primal=point.value + point.gap,
        dual_value=point.value,
        gap=point.gap,
        relative_gap=problem.relative_gap(point.gap),
        n_iter=iteration,
        status=status,
        solver="newton",
        seconds=history.seconds(),
        history=history.arrays(),
    )


def _iterate(
    problem: Problem,
    v: FloatArray,
    spent: int,
    tol: float,
    max_iter: int,
    history: History | None,
    report: Callable[[float], None],
) -> tuple[DualPoint, int, str]:
    """The Newton iteration itself, counted from `spent`: the last point, its number and why it is the last."""
    point = problem.at(v)
    hessian = Curvature(problem)
    for iteration in itertools.count(spent):
        relative = problem.relative_gap(point.gap)
        if history is not None:
            history.add(iteration, point.value + point.gap, point.value, relative)
        report(relative)
        if relative <= tol:
            return point, iteration, "converged"
        if iteration >= max_iter:
            return point, iteration, "max_iter"
        hessian.update(point.v)
        gradient = point.degrees - problem.alpha / point.v
        direction = newton_direction(hessian, gradient, _forcing(relative))
        successor = _search(problem, point, direction, float(gradient @ direction))
        if successor is None:
            return point, iteration, "stalled"
        point = successor
    raise AssertionError("unreachable")


def _solve(
    problem: Problem,
    v: FloatArray,
    spent: int,
    tol: float,
    max_iter: int,
    history: History | None,
    report: Callable[[float], None],
) -> tuple[DualPoint, int, str]:
    """Iterate on the candidates near v, and again from there until the gap over all candidates is small."""
    for _ in range(_ROUNDS if problem.n_candidates >= _MANY else 0):
        near = problem.near(v, _NEAR, most=_WORTHWHILE)
        if near is None:
            break
        point, spent, status = _iterate(near, v, spent, tol, max_iter, history, report)
        v = point.v
        point = problem.at(v)
        if status != "converged" or problem.relative_gap(point.gap) <= tol:
            if history is not None:
                history.add(spent, point.value + point.gap, point.value, problem.relative_gap(point.gap))
            return point, spent, status
    return _iterate(problem, v, spent, tol, max_iter, history, report)


def _cold_start(problem: Problem, max_iter: int) -> tuple[FloatArray, int]:
    """A dual vector to start from, and the iterations that went into it.

    At twice the least shares every node has active candidates. That is about the solution for some alpha: if it is
    the wanted one or a smaller one, a common factor mends the rest; otherwise the way down is taken in strides.
    """
    v = 2.0 * problem.least_shares
    alpha = float(v @ problem.at(v).degrees) / problem.n_nodes
    if alpha <= _EASIER * problem.alpha:
        return problem.start(), 0
    spent = 0
    strides = math.ceil(math.log(alpha / problem.alpha, _EASIER)) - 1
    for stride in range(strides, 0, -1):
        easier = problem.with_alpha(problem.alpha * _EASIER**stride)
        point, spent, status = _solve(easier, v, spent, _LOOSELY, max_iter, None, lambda _: None)
        v = point.v
        if status != "converged":  # the harder ones would only end in the same way
            break
    return v, spent


def _given_start(problem: Problem, start: FloatArray) -> FloatArray:
    v = np.asarray(start, dtype=np.float64)
    if v.shape != (problem.candidates.n_nodes,):
        raise ValueError(f"start must hold one number for each of the {problem.candidates.n_nodes} nodes.")
    v = v[problem.nodes]
    return np.where(np.isfinite(v) & (v > 0), v, problem.least_shares)


def _forcing(relative_gap: float) -> float:
    """Accuracy of the direction: loose far away, tighter with the gap, so that convergence stays superlinear."""
    return min(0.1, math.sqrt(relative_gap)) if math.isfinite(relative_gap) else 0.1


def _search(problem: Problem, point: DualPoint, p: FloatArray, slope: float) -> DualPoint | None:
    """Shorten the step until F falls enough; None where no step helps any more."""
    if not slope < 0:
        return None
    shrinking = p < 0
    to_boundary = float(np.min(point.v[shrinking] / -p[shrinking])) if shrinking.any() else math.inf
    length = min(1.0, _TO_BOUNDARY * to_boundary)
    rounding = _ROUNDING * (abs(point.value) + problem.alpha * problem.n_nodes)
    for _ in range(_MAX_CUTS):
        trial = problem.at(point.v + length * p)
        if point.value - trial.value <= _SUFFICIENT * length * slope:
            return trial
        if -length * slope <= rounding:
            return trial if trial.gap < point.gap else None
        length *= 0.5
    return None
