"""Solvers of the convex problem, under one interface: a `Problem` in, a `Solution` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hsls import _checks
from hsls._types import FloatArray
from hsls.problem import Problem
from hsls.solvers.fbf import fbf
from hsls.solvers.newton import newton
from hsls.solvers.solution import Solution

__all__ = ["SOLVERS", "Solution", "fbf", "newton", "solve", "solve_path"]

#: The solvers by name.
SOLVERS: dict[str, Callable[..., Solution]] = {"newton": newton, "fbf": fbf}


def solve(problem: Problem, solver: str = "newton", **options: Any) -> Solution:
    """Solve by the named solver; `options` are that solver's keyword arguments.

    Examples
    --------
    >>> from hsls import Problem, solve
    >>> from hsls.candidates import all_candidates
    >>> problem = Problem(all_candidates(3, 2), [1.0, 1.0, 4.0], alpha=0.5)
    >>> solution = solve(problem, tol=1e-10)
    >>> solution.converged, solution.weights.round(4)
    (True, array([0.4114, 0.4114, 0.    ]))
    """
    return SOLVERS[_checks.one_of(solver, "solver", SOLVERS)](problem, **options)


def solve_path(problem: Problem, thetas: Iterable[float], *, tol: float = 1e-6, max_iter: int = 200) -> list[Solution]:
    """Solutions for ``alpha = beta = 1`` and variations ``theta * z``, each started from the one before.

    Ranking and support of the solution depend on ``theta = 1 / sqrt(alpha beta)`` alone:
    ``w*(z; alpha, beta) = sqrt(alpha / beta) * w*(theta z; 1, 1)``, so this is the whole grid over alpha and beta.
    The larger theta, the fewer hyperedges. The solutions come in the order of `thetas`; solving runs from the
    smallest up. The alpha and beta of `problem` have no part in them.
    """
    values = [_checks.positive(theta, "thetas") for theta in thetas]
    found: dict[int, Solution] = {}
    direction: FloatArray | None = None
    for number in np.argsort(values, kind="stable").tolist():
        theta = values[number]
        step = Problem(
            problem.candidates,
            theta * problem.z,
            degree_coefficient=problem.c,
            quadratic_coefficient=problem.q,
        )
        start = None if direction is None else theta * direction
        found[number] = newton(step, tol=tol, max_iter=max_iter, start=start)
        direction = found[number].dual / theta
    return [found[number] for number in range(len(values))]
