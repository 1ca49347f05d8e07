"""The paper's solver (its Algorithm 2): forward-backward-forward splitting, with its parameters as defaults."""

from __future__ import annotations

import math

import numpy as np

from hsls import _checks, _progress
from hsls._kernels import splitting as kernels
from hsls._types import FloatArray
from hsls.incidence import Share, total
from hsls.problem import DualPoint, Problem
from hsls.solvers.solution import History, Solution

__all__ = ["fbf"]

# A look at the gap costs about as much as an iteration, so each waits for 5 % more iterations than the one before.
_LOOK_GROWTH = 1.05


def fbf(
    problem: Problem,
    *,
    tol: float = 1e-8,
    max_iter: int = 10_000,
    balance: float = 1.0,
    gap_tol: float | None = None,
) -> Solution:
    r"""Forward-backward-forward from w = 0, d = 0, step sizes rising linearly over `max_iter` iterations.

    Parameters
    ----------
    problem : Problem
    tol : float
        The paper's rule: stop when the squared relative changes of both variables are below `tol`. It says that the
        iterates move little, not that they are near the optimum: look at the gap of the solution.
    max_iter : int
    balance : float
        Solve in the variables ``w / balance`` (``z -> balance z``, ``beta -> balance^2 beta``): the same problem,
        other steps. 1 is the paper's; 0.1 or 0.01 often need 30 to 50 times fewer iterations.
    gap_tol : float, optional
        Stop at this relative duality gap instead of by the paper's rule.

    Notes
    -----
    ``mu = 2 beta max q + ||S C||``, ``epsilon = 0.9 / (1 + mu)``; the step rises from epsilon to
    ``(1 - epsilon) / mu``. The dual variable d of the algorithm is minus the v of `hsls.problem.Problem`.

    References
    ----------
    N. Komodakis, J.-C. Pesquet, "Playing with duality", IEEE Signal Processing Magazine 32(6), 2015.
    """
    max_iter = _checks.whole(max_iter, "max_iter")
    balance = _checks.positive(balance, "balance")
    tol = _checks.positive(tol, "tol")
    if gap_tol is not None:
        gap_tol = _checks.positive(gap_tol, "gap_tol")
    history = History()
    state = _State(problem, balance)
    epsilon = 0.9 / (1.0 + state.mu)
    steps = np.linspace(epsilon, (1.0 - epsilon) / state.mu, max_iter)
    iteration, look, status = 0, 1, "max_iter"
    with _progress.towards("solving", gap_tol or tol, "change" if gap_tol is None else "gap") as report:
        while status == "max_iter" and iteration < max_iter:
            done, change = state.advance(steps[iteration:look], tol if gap_tol is None else 0.0)
            iteration += done
            look = min(max_iter, math.ceil(look * _LOOK_GROWTH))
            primal, point = state.certificate()
            gap = max(primal - point.value, 0.0)  # below 0 by rounding alone
            relative = problem.relative_gap(gap)
            history.add(iteration, primal, point.value, relative)
            report(change if gap_tol is None else relative)
            if change < tol if gap_tol is None else relative <= gap_tol:
                status = "converged"
    dual = np.zeros(problem.candidates.n_nodes)
    dual[problem.nodes] = point.v
    return Solution(
        weights=state.weights(),
        dual=dual,
        primal=primal,
        dual_value=point.value,
        gap=gap,
        relative_gap=relative,
        n_iter=iteration,
        status=status,
        solver="fbf",
        seconds=history.seconds(),
        history=history.arrays(),
    )


class _State:
    """Variables of the iteration, in units in which the weights are ``balance * w``."""

    def __init__(self, problem: Problem, balance: float) -> None:
        self.problem = problem
        self.balance = balance
        self.z = balance * problem.z
        self.quadratic = np.atleast_1d(2 * problem.beta * balance**2 * problem.q)
        self.coefficient = np.atleast_1d(problem.c)
        norm = problem.S.spectral_norm(self.coefficient if self.coefficient.size > 1 else None)
        if self.coefficient.size == 1:
            norm *= float(self.coefficient[0])
        self.mu = float(np.max(self.quadratic)) + norm
        self.w = np.zeros(problem.n_candidates)
        self.point = np.zeros(problem.n_candidates)
        self.d = np.zeros(problem.n_nodes)
        self.blocks = tuple(block.members for block in problem.S.blocks)
        self.starts = problem.candidates.offsets
        self.room = tuple(np.empty(problem.n_nodes) for _ in range(3))

    def advance(self, steps: FloatArray, tol: float) -> tuple[int, float]:
        """Iterations with these step sizes, until the change is below `tol`: their number, and the last change.

        The change is the larger squared relative change of the two variables, infinite at first.
        """
        if self.problem.S.parts == 1:
            done, change = kernels.iterate(
                self.blocks, self.starts, self.z, *_own(self.quadratic), *_own(self.coefficient), self.problem.alpha,
                steps, tol, self.w, self.d, self.point, *self.room,
            )  # fmt: skip
            return int(done), float(change)
        change = math.inf
        for number, gamma in enumerate(steps.tolist(), start=1):
            change = self._iterate(gamma)
            if change < tol:
                return number, change
        return len(steps), change

    def _iterate(self, gamma: float) -> float:
        """One iteration on several threads; the change."""
        degree_w, degree_point = self._forward(gamma)
        p2 = self.room[2]
        kernels.dual_step(self.problem.alpha, gamma, self.d, degree_w, p2)
        change_w, norm_w = self._correct(gamma, p2)
        change_d, norm_d = kernels.dual_correct(gamma, self.d, degree_w, degree_point, p2)
        return float(kernels.larger_change(change_w, norm_w, change_d, norm_d))

    def _forward(self, gamma: float) -> tuple[FloatArray, FloatArray]:
        n_nodes = self.problem.n_nodes

        def work(share: Share, _part: int) -> tuple[FloatArray, FloatArray]:
            degree_w, degree_point = np.zeros(n_nodes), np.zeros(n_nodes)
            for _, block, start, stop in share:
                own = block.slice
                kernels.forward(
                    block.members, self.z[own], *_own(self.quadratic, own), *_own(self.coefficient, own),
                    gamma, self.w[own], self.d, self.point[own], degree_w, degree_point, start, stop,
                )  # fmt: skip
            return degree_w, degree_point

        parts = self.problem.S.each_part(work)
        return total([part[0] for part in parts]), total([part[1] for part in parts])

    def _correct(self, gamma: float, p2: FloatArray) -> tuple[float, float]:
        def work(share: Share, _part: int) -> tuple[float, float]:
            change, norm = 0.0, 0.0
            for _, block, start, stop in share:
                own = block.slice
                more = kernels.correct(
                    block.members, *_own(self.quadratic, own), *_own(self.coefficient, own),
                    gamma, self.w[own], self.d, self.point[own], p2, start, stop,
                )  # fmt: skip
                change, norm = change + more[0], norm + more[1]
            return change, norm

        parts = self.problem.S.each_part(work)
        return sum(part[0] for part in parts), sum(part[1] for part in parts)

    def weights(self) -> FloatArray:
        """The weights in the problem's units; what an unfinished iteration left below 0 is cut off."""
        return self.balance * np.maximum(self.w, 0.0)

    def certificate(self) -> tuple[float, DualPoint]:
        """Objective of the weights, and the better of the two dual vectors at hand: alpha / degrees and the own."""
        problem = self.problem
        w = self.weights()
        d = problem.degrees(w)
        floor = 1e-6 * float(np.mean(d)) or 1.0
        from_degrees = problem.at(problem.alpha / np.maximum(d, floor))
        v = -self.d / self.balance
        own = problem.at(np.where(v > 0, v, from_degrees.v))
        return problem.primal(w), max(own, from_degrees, key=lambda point: point.value)


def _own(values: FloatArray, own: slice = slice(None)) -> tuple[FloatArray, int]:
    """A block's share of one value, or of one a candidate, with the step that the kernels take through it."""
    return (values, 0) if values.size == 1 else (values[own], 1)
