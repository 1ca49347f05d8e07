"""newton against fbf, as the paper runs it and rebalanced, and against cvxpy with Clarabel."""

from __future__ import annotations

import warnings

import cvxpy
import numpy as np
from scipy import sparse

from benchmarks.instances import cloud, paper
from benchmarks.table import header, judge, once, row, seconds, span, title
from hsls import Problem
from hsls.solvers import Solution, fbf, newton

BALANCES = (1.0, 0.3, 0.1, 0.03, 0.01)


def paper_regime() -> None:
    """newton to 1e-9 against fbf to the paper's own stopping rule."""
    title("The paper's regime: raw z, 3-uniform, r = 6, P = 250, alpha = 100, beta = 1")
    print("Gaps are relative to alpha N; in brackets the distance to the optimum relative to the objective.\n")
    header("N", "candidates", "newton to 1e-9", "gap", "fbf to its own rule", "iterations", "gap", "fbf / newton")
    for n_nodes, target in ((40, 5), (200, 10), (400, 20)):
        candidates, z = paper(n_nodes)
        problem = Problem(candidates, z, 100.0, 1.0)
        ours, certified = seconds(lambda problem=problem: newton(problem, tol=1e-9))
        theirs, loose = seconds(lambda problem=problem: fbf(problem), least=1)
        row(
            n_nodes, len(candidates), span(ours), _gap(certified, certified), span(theirs), loose.n_iter,
            _gap(loose, certified), theirs / ours,
        )  # fmt: skip
        judge(
            f"paper's regime, N = {n_nodes}: fbf / newton",
            f"{theirs / ours:.3g}",
            f">= {target}",
            theirs >= target * ours,
        )


def fair_rival() -> None:
    """Both to a relative gap of 1e-6, fbf with its best balance."""
    title("The fair rival: fbf with rescaled variables, both to a relative gap of 1e-6")
    header("problem", "newton", "iterations", "fbf, best balance", "balance", "iterations", "fbf / newton")
    for n_nodes, target in ((40, 1), (200, 3), (400, 3)):
        candidates, z = paper(n_nodes)
        _rivals(f"paper's regime, N = {n_nodes}", Problem(candidates, z, 100.0, 1.0), target, BALANCES)
    candidates, z = cloud(100_000)
    _rivals("cloud, alpha = beta = 1, N = 100,000", Problem(candidates, z), 10, BALANCES)


def _rivals(name: str, problem: Problem, target: float, balances: tuple[float, ...]) -> None:
    ours, certified = seconds(lambda: newton(problem, tol=1e-6))
    large = problem.n_candidates > 100_000
    best, best_balance, best_solution, limit = np.inf, 0.0, None, 1_000 if large else 10_000
    for balance in balances:
        work = lambda balance=balance: fbf(problem, balance=balance, gap_tol=1e-6, max_iter=limit)  # noqa: E731
        theirs, solution = once(work) if large else seconds(work, least=1)
        if solution.converged and theirs < best:
            best, best_balance, best_solution = theirs, balance, solution
    if best_solution is None:
        row(name, span(ours), certified.n_iter, f"none reached it in {limit:,} iterations", "", "", "")
        judge(f"{name}: best fbf / newton", "fbf never got there", f">= {target}", True)
        return
    row(name, span(ours), certified.n_iter, span(best), best_balance, best_solution.n_iter, best / ours)
    judge(f"{name}: best fbf / newton", f"{best / ours:.3g}", f">= {target}", best >= target * ours)


def clarabel() -> None:
    """newton to 1e-6 against the solver time that cvxpy reports for Clarabel."""
    title("newton to 1e-6 against cvxpy + Clarabel (solver time alone)")
    header("problem", "newton", "Clarabel", "Clarabel / newton", "newton's objective above Clarabel's, relative")
    candidates, z = paper(400)
    _against("paper's regime, N = 400", Problem(candidates, z, 100.0, 1.0), 5)
    z = z / np.median(z)
    for alpha in (1.0, 0.01):
        _against(f"z over its median, alpha = {alpha:g}, N = 400", Problem(candidates, z, alpha, 1.0), 20)
    candidates, z = cloud(5_000)
    for alpha in (1.0, 0.01):
        _against(f"z over its median, alpha = {alpha:g}, N = 5,000", Problem(candidates, z, alpha, 1.0), 300)


def _against(name: str, problem: Problem, target: float) -> None:
    ours, certified = seconds(lambda: newton(problem, tol=1e-6))
    theirs, value, accurate = _by_clarabel(problem)
    above = (certified.primal - value) / abs(value)
    said = span(theirs) if accurate else f"{span(theirs)}, inaccurate" if np.isfinite(theirs) else "failed"
    row(name, span(ours), said, theirs / ours, f"{above:.1e}")
    judge(f"{name}: Clarabel / newton", f"{theirs / ours:.3g}", f">= {target}", theirs >= target * ours)


def _by_clarabel(problem: Problem) -> tuple[float, float, bool]:
    """Least solver time, its objective, and whether Clarabel calls it optimal.

    Over several units of the weights, since Clarabel fails in some; what it calls inaccurate counts only where it
    reached its own tolerance in none.
    """
    S = incidence(problem)
    found = [(False, np.inf, np.nan)]
    for unit in (1.0, np.sqrt(problem.alpha / problem.beta), problem.alpha / np.median(problem.z)):
        u = cvxpy.Variable(problem.n_candidates, nonneg=True)
        linear, quadratic = unit * problem.z / problem.alpha, unit**2 * problem.beta / problem.alpha
        objective = linear @ u - cvxpy.sum(cvxpy.log(S @ u)) + quadratic * cvxpy.sum_squares(u)
        task = cvxpy.Problem(cvxpy.Minimize(objective))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            try:
                task.solve(solver=cvxpy.CLARABEL)
            except cvxpy.SolverError:
                continue
        if task.status in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
            w = unit * np.maximum(u.value, 0)
            found.append((task.status == cvxpy.OPTIMAL, task.solver_stats.solve_time, problem.primal(w)))
    accurate, time, value = max(found, key=lambda one: (one[0], -one[1]))
    return time, value, accurate


def incidence(problem: Problem) -> sparse.csr_array:
    """S as a sparse matrix."""
    rows = np.concatenate([block.ravel() for block in problem.candidates.members])
    columns = np.concatenate(
        [
            np.repeat(np.arange(start, start + len(block)), block.shape[1])
            for block, start in zip(problem.candidates.members, problem.candidates.offsets, strict=False)
        ]
    )
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)))


def _gap(solution: Solution, best: Solution) -> str:
    return f"{solution.relative_gap:.1e} ({(solution.primal - best.primal) / abs(best.primal):.1e})"
