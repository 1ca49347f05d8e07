"""Signals to learn from, and what must hold for whatever is learned from them."""

from __future__ import annotations

import numpy as np
import pytest

from hsls import Problem, Settings
from hsls.variation import of_candidates
from instances import dual_objective, objective


def gaussian_signals(seed=0, n_nodes=20, n_observations=6):
    return np.random.default_rng(seed).standard_normal((n_nodes, n_observations))


def problem_of(learned, X, told=None):
    """The problem that was solved, put together again from the result."""
    told = told or Settings()
    z = of_candidates(learned.candidates, X, told.variation, told.observation_weights) / learned.scale
    return Problem(learned.candidates, z, told.alpha, told.beta)


def assert_certified(learned, X, told=None, tol=1e-6):
    """The reported gap is that of the weights and the dual vector reported, by formulas written out."""
    problem = problem_of(learned, X, told)
    w, v = learned.weights, learned.solution.dual
    assert learned.solution.converged
    assert learned.solution.relative_gap <= tol
    assert np.all(w >= 0)
    direct = objective(problem, w) - dual_objective(problem, v[problem.nodes])
    unit = problem.alpha * problem.n_nodes
    assert direct <= tol * unit + 1e-11 * (unit + abs(learned.solution.primal))
    assert learned.solution.primal == pytest.approx(objective(problem, w), abs=1e-10 * unit, rel=1e-10)


def assert_same_candidates(one, two):
    assert one.n_nodes == two.n_nodes
    assert one.edges == two.edges


def with_holes(X):
    """The signals with values missing here and there, never two nodes without a shared observation."""
    X = X.copy()
    X[::3, 1], X[1::4, 2] = np.nan, np.nan
    return X
