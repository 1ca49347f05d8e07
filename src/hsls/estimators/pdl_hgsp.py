"""Hypergraph learning in the tensor framework, as the vector problem that it comes down to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hsls import _checks, _threads, scale, variation
from hsls._types import FloatArray
from hsls.candidates import DEFAULT_MEMORY_BUDGET, Candidates, all_candidates, check_cardinalities
from hsls.estimators._base import HypergraphEstimator, shown
from hsls.learning import check_solver_options
from hsls.problem import Problem
from hsls.solvers import SOLVERS, solve

__all__ = ["PDLHGSP", "coefficients", "tensor_problem"]


class PDLHGSP(HypergraphEstimator):
    r"""Learn a hypergraph by primal-dual tensor-based hypergraph signal processing (t-HGSP).

    The method's variable is the adjacency tensor of order M, N x ... x N, and its smoothness a t-product of tensors.
    Both are symmetric, and only the zero frequency of the tubes' Fourier transform takes part, so the problem is that
    of `HSLS` over all hyperedges of 2 to M nodes, with coefficients: with ``s_t = sum_k x_kt``,

    .. math::
        z_e = 2 a_k \sum_{i<j \in e} \sum_t s_t^{2(M-2)} (x_{it} - x_{jt})^2, \quad
        a_k = \frac{\sigma(M, k) - \sigma(M-1, k)}{k (k-1)}

    where k = \|e\| and :math:`\sigma(M, k)` counts the ways to fill M places of a tensor's index with exactly these k
    nodes. A hyperedge adds :math:`\sigma(M, k) / k` times its weight to the degree of each of its nodes, and
    :math:`\sigma(M, k) / 2^{M-2}` times its squared weight to the tensor's squared norm. No tensor is made.

    Parameters
    ----------
    order : int
        M, at least 2; the largest hyperedge.
    cardinalities : int or iterable of int, optional
        Sizes of hyperedges to choose among, at most `order`; all from 2 to `order` by default.
    alpha, beta, scale, threshold, solver, tol, max_iter, solver_options
        As in `HSLS`.
    nodes, memory_budget, n_jobs, verbose
        As in `HSLS`. All C(N, k) hyperedges take part, so N is limited by memory.

    Attributes
    ----------
    hypergraph_, candidates_, weights_, duality_gap_, dual_, n_iter_, history_, scale_, solution_
        As in `HSLS`.

    Notes
    -----
    The variation weighs an observation by the sum of all its values: an observation whose values add up to 0 counts
    nothing, and adding a constant to all values changes the result. Where values are missing, hyperedges that hold
    two nodes without a shared observation take no part.

    Examples
    --------
    >>> from hsls import PDLHGSP, random_hypergraph, smooth_signals
    >>> truth = random_hypergraph(12, 6, 3, random_state=0)
    >>> PDLHGSP(order=3, cardinalities=3).fit(smooth_signals(truth, 250, random_state=0)).hypergraph_.n_nodes
    12
    """

    def __init__(
        self,
        order: int = 3,
        cardinalities: Any = None,
        alpha: float = 1.0,
        beta: float = 1.0,
        *,
        scale: Any = "auto",
        threshold: float = 1e-2,
        solver: str = "newton",
        tol: float | None = None,
        max_iter: int | None = None,
        solver_options: Mapping[str, Any] | None = None,
        nodes: str = "rows",
        memory_budget: float | None = DEFAULT_MEMORY_BUDGET,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.order = order
        self.cardinalities = cardinalities
        self.alpha = alpha
        self.beta = beta
        self.scale = scale
        self.threshold = threshold
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.solver_options = solver_options
        self.nodes = nodes
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> PDLHGSP:
        """Learn the hypergraph of X; see `HSLS.fit` for what X may be."""
        threshold = _checks.nonnegative(self.threshold, "threshold")
        _checks.one_of(self.solver, "solver", SOLVERS)
        check_solver_options(self.solver, self.solver_options)
        options = dict(self.solver_options or {})
        options |= {name: value for name in ("tol", "max_iter") if (value := getattr(self, name)) is not None}
        signals, names = self._read(X)
        with shown(self.verbose), _threads.limit(self.n_jobs):
            problem, self.scale_ = tensor_problem(
                signals, self.order, self.cardinalities, self.alpha, self.beta,
                scale_by=self.scale, memory_budget=self.memory_budget,
            )  # fmt: skip
            solution = solve(problem, self.solver, **options)
        solution.warn_unless_converged("raise max_iter, or tol, or alpha * beta")
        self.solution_ = solution
        self.candidates_ = problem.candidates
        self.weights_ = solution.weights
        self.hypergraph_ = problem.candidates.hypergraph(solution.weights, threshold, names)
        self.duality_gap_ = solution.relative_gap
        self.dual_ = solution.dual
        self.n_iter_ = solution.n_iter
        self.history_ = solution.history
        return self


def tensor_problem(
    signals: FloatArray,
    order: int = 3,
    cardinalities: Any = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    *,
    scale_by: str | float | None = None,
    memory_budget: float | None = DEFAULT_MEMORY_BUDGET,
) -> tuple[Problem, float]:
    """The problem that the tensor problem comes down to, and what its variations were divided by."""
    order = _checks.whole(order, "order", least=2)
    sizes = check_cardinalities(range(2, min(order, len(signals)) + 1) if cardinalities is None else cardinalities)
    if sizes[-1] > order:
        raise ValueError(f"cardinalities holds {sizes[-1]}, but order is {order}; raise order or leave it out.")
    weights = _observation_weights(signals, order)
    candidates = all_candidates(len(signals), sizes, memory_budget=memory_budget)
    candidates = _comparable(candidates, signals if weights is None else signals[:, weights > 0])
    smoothness, degree, square = (
        _over(candidates, [coefficients(order, k)[which] for k in candidates.cardinalities]) for which in range(3)
    )
    z = smoothness * variation.of_candidates(candidates, signals, "sum-square", weights)
    unit = scale.typical(candidates, z, scale_by)
    problem = Problem(candidates, z / unit, alpha, beta, degree_coefficient=degree, quadratic_coefficient=square)
    return problem, unit


def _comparable(candidates: Candidates, signals: FloatArray) -> Candidates:
    """The candidates without those that hold two nodes without a shared observation."""
    seen = ~np.isnan(signals)
    if seen.all():
        return candidates
    shared = seen.astype(np.float64) @ seen.T > 0
    kept = [block[shared[block[:, :, None], block[:, None, :]].all(axis=(1, 2))] for block in candidates.members]
    if not any(map(len, kept)):
        raise ValueError("no two nodes share an observation, so no distance is known; fill values in.")
    return Candidates(candidates.n_nodes, tuple(block for block in kept if len(block)))


def coefficients(order: int, k: int) -> tuple[float, float, float]:
    """Factors of a hyperedge of k nodes in a tensor of the given order: of its sum-square variation, of its weight in
    the degrees, and of its squared weight in the squared norm."""
    words = _onto(order, k)
    return 2.0 * (words - _onto(order - 1, k)) / (k * (k - 1)), words / k, words / 2.0 ** (order - 2)


def _onto(places: int, k: int) -> int:
    """Number of ways to fill so many places with exactly k different things, each used."""
    return sum((-1) ** j * math.comb(k, j) * (k - j) ** places for j in range(k + 1))


def _over(candidates: Candidates, values: list[float]) -> FloatArray:
    return np.repeat(values, np.diff(candidates.offsets))


def _observation_weights(signals: FloatArray, order: int) -> FloatArray | None:
    """``s_t^(2 (M - 2))``, a missing value taken to be the mean of the others."""
    if order == 2:
        return None
    seen = np.sum(~np.isnan(signals), axis=0)
    sums = np.nansum(signals, axis=0) * (len(signals) / np.maximum(seen, 1))
    if not np.any(sums):
        raise ValueError(
            "the values of every observation add up to 0 over the nodes, and this method weighs observations by that "
            "sum; use signals that are not centred over the nodes, or HSLS."
        )
    return np.asarray(sums ** (2 * (order - 2)))
