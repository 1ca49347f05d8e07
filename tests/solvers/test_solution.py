"""What every solver returns: one frozen result that says aloud when it is not the wanted one."""

from __future__ import annotations

import dataclasses
import re
import warnings

import numpy as np
import pytest

from hsls._warnings import ConvergenceWarning
from hsls.solvers import fbf, newton
from hsls.solvers.solution import History
from instances import random_problem

SOLVES = {
    "newton": lambda **options: newton(random_problem(), **options),
    "fbf": lambda **options: fbf(random_problem(), **options),
}


@pytest.mark.parametrize("solver", SOLVES)
def test_the_fields_mean_the_same_for_every_solver(solver):
    problem = random_problem()
    solution = SOLVES[solver]()
    assert solution.solver == solver
    assert solution.converged
    assert solution.status == "converged"
    assert solution.weights.shape == (problem.n_candidates,)
    assert solution.dual.shape == (problem.candidates.n_nodes,)
    assert np.all(solution.weights >= 0)
    assert np.all(solution.dual >= 0)
    unit = problem.alpha * problem.n_nodes
    assert solution.primal == pytest.approx(problem.primal(solution.weights), abs=1e-12 * unit)
    assert solution.dual_value == pytest.approx(problem.at(solution.dual).value, abs=1e-12 * unit)
    assert solution.gap == pytest.approx(solution.primal - solution.dual_value, abs=1e-12 * unit)
    assert solution.relative_gap == solution.gap / unit
    assert solution.seconds > 0
    assert list(solution.history) == ["iteration", "seconds", "primal", "dual_value", "gap"]
    last = {name: values[-1] for name, values in solution.history.items()}
    assert last["iteration"] == solution.n_iter
    assert last["gap"] == solution.relative_gap
    assert last["primal"] == solution.primal
    assert last["dual_value"] == solution.dual_value


@pytest.mark.parametrize("solver", SOLVES)
def test_the_result_is_frozen_and_compares_by_identity(solver):
    solution, other = SOLVES[solver](), SOLVES[solver]()
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.weights = other.weights
    assert solution == solution
    assert solution != other
    assert len({solution, other}) == 2


@pytest.mark.parametrize("solver", SOLVES)
def test_a_solve_that_fell_short_warns_with_the_gap_and_the_advice(solver):
    solution = SOLVES[solver](max_iter=2, tol=1e-12)
    assert not solution.converged
    gap = re.escape(f"{solution.relative_gap:.2g}")
    message = f"{solver} reached max_iter after 2 iterations at a relative gap of {gap}; raise max_iter"
    with pytest.warns(ConvergenceWarning, match=message):
        solution.warn_unless_converged("raise max_iter")


def test_a_stalled_solve_says_so():
    solution = dataclasses.replace(newton(random_problem()), status="stalled", relative_gap=3.14e-5)
    with pytest.warns(
        ConvergenceWarning, match=r"newton made no more progress .* relative gap of 3\.1e-05; raise tol\."
    ):
        solution.warn_unless_converged("raise tol")


def test_the_warning_points_at_the_caller_of_the_caller():
    solution = newton(random_problem(), max_iter=1, tol=1e-12)

    def fit():
        solution.warn_unless_converged("raise max_iter")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    assert caught[0].filename == __file__


@pytest.mark.parametrize("solver", SOLVES)
def test_a_converged_solve_is_silent(solver):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SOLVES[solver]().warn_unless_converged("nothing")


def test_repr_says_what_matters():
    solution = dataclasses.replace(
        newton(random_problem()), status="max_iter", n_iter=7, primal=-12.5, relative_gap=0.00321
    )
    assert repr(solution) == "Solution(newton: max_iter after 7 iterations, objective -12.5, relative gap 0.0032)"


def test_a_history_keeps_rows_as_columns():
    history = History()
    assert {name: len(values) for name, values in history.arrays().items()} == dict.fromkeys(
        ["iteration", "seconds", "primal", "dual_value", "gap"], 0
    )
    history.add(0, 3.0, 1.0, 0.2)
    history.add(1, 2.5, 2.0, 0.05)
    columns = history.arrays()
    assert columns["iteration"].tolist() == [0, 1]
    assert columns["primal"].tolist() == [3.0, 2.5]
    assert columns["dual_value"].tolist() == [1.0, 2.0]
    assert columns["gap"].tolist() == [0.2, 0.05]
    assert 0 <= columns["seconds"][0] <= columns["seconds"][1] <= history.seconds()
