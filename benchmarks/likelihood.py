"""The penalised likelihood against cvxpy, and its growth with the nodes."""

from __future__ import annotations

import warnings

import cvxpy
import numpy as np

from benchmarks.table import header, judge, once, row, seconds, span, title
from hsls import HypergraphMLE, compare, random_hypergraph, smooth_signals
from hsls._types import FloatArray
from hsls.candidates import Candidates, knn_candidates
from hsls.hypergraph import Hypergraph
from hsls.likelihood import Likelihood, maximise
from hsls.likelihood.evidence import variations
from hsls.neighbors import nearest_neighbors

PENALTY = 0.05


def likelihood() -> None:
    """maximise to 1e-6 against Clarabel, and then for many nodes."""
    title("The penalised likelihood to 1e-6 against cvxpy + Clarabel (solver time alone), penalty 0.05")
    header(
        "N", "candidates", "likelihood", "iterations", "Clarabel", "Clarabel / likelihood", "objective above Clarabel's"
    )
    for n_nodes, target in ((20, 10), (40, 50)):
        _, _, candidates, z = simulated(n_nodes, (3,))
        problem = Likelihood(candidates, z, PENALTY)
        ours, certified = seconds(lambda problem=problem: maximise(problem))
        theirs, value = by_clarabel(problem)
        above = (certified.primal - value) / abs(value)
        row(n_nodes, len(candidates), span(ours), certified.n_iter, span(theirs), theirs / ours, f"{above:.1e}")
        judge(
            f"likelihood, N = {n_nodes}: Clarabel / ours",
            f"{theirs / ours:.3g}",
            f">= {target}",
            theirs >= target * ours,
        )
    growth()


def growth() -> None:
    """One penalty among the candidates of 8 neighbours, and the automatic choice by default, as the nodes grow."""
    title("The penalised likelihood for more nodes, cardinalities 2 and 3, penalty 0.05, to 1e-6")
    header("N", "candidates", "one penalty", "iterations", "positive weights", "candidates", "automatic choice", "F1")
    for n_nodes in (100, 300, 1000, 3000):
        truth, X, candidates, z = simulated(n_nodes, (2, 3))
        time, solution = once(lambda candidates=candidates, z=z: maximise(Likelihood(candidates, z, PENALTY)))
        chosen, model = once(lambda X=X: HypergraphMLE((2, 3)).fit(X))
        row(
            n_nodes, len(candidates), span(time), solution.n_iter, int(np.sum(solution.weights > 0)),
            len(model.candidates_), span(chosen), f"{compare(model.hypergraph_, truth).f1:.3f}",
        )  # fmt: skip
    judge("likelihood, N = 3,000, one penalty", span(time), "< 5 min", time < 300)
    judge("likelihood, N = 3,000, automatic choice", span(chosen), "< 15 min", chosen < 900)


def simulated(n_nodes: int, sizes: tuple[int, ...]) -> tuple[Hypergraph, FloatArray, Candidates, FloatArray]:
    """Truth, signals, candidates of 8 neighbours and their variations, in units in which true weights are 1."""
    truth = random_hypergraph(n_nodes, int(0.65 * n_nodes), sizes, random_state=0)
    X = smooth_signals(truth, 250, random_state=0)
    table = nearest_neighbors(X, 8).indices
    candidates = knn_candidates(dict.fromkeys(sizes, table))
    return truth, X, candidates, variations(candidates, X)


def by_clarabel(problem: Likelihood) -> tuple[float, float]:
    """Solver time and objective; the candidates connect all nodes."""
    (block,) = problem.blocks
    edges, n = block.edges, block.edges.n_nodes
    incidence = edges.incidence()
    w = cvxpy.Variable(len(edges), nonneg=True)
    shares = cvxpy.diag(cvxpy.multiply(w, 1.0 / edges.sizes))
    L = cvxpy.diag(incidence.T @ w) - incidence.T @ shares @ incidence + np.ones((n, n)) / n
    task = cvxpy.Problem(cvxpy.Minimize(block.cost @ w - cvxpy.log_det(L)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task.solve(solver=cvxpy.CLARABEL)
    return task.solver_stats.solve_time, float(task.value)
