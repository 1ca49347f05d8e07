"""The optimum over every hyperedge, all C(N, k) of each cardinality, by column generation with a proof.

The problem is solved on some candidates; every other hyperedge that its dual vector v would make active, those with
``sum_{i in e} v_i > z_e``, is searched for (`hsls.pricing`) and added; and again, until there is none. At the last v
all other hyperedges have weight 0, so the duality gap is the gap over all of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hsls import _flat, scale, variation
from hsls._types import AnyArray, FloatArray, Int32Array
from hsls.candidates import Candidates, check_memory
from hsls.pricing import Pricing
from hsls.problem import Problem
from hsls.solvers import Solution, newton

__all__ = ["Certificate", "solve_over_all"]

# New hyperedges that one round takes of those with the same node of largest v; twice as many in each round after.
_MOST_AT_A_NODE = 50
# From this round on all that a search finds has to fit into memory, not only what the round takes.
_SETTLED = 3
# What a sum of v may exceed z by and still be called equal, relative: some roundings of a sum.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Certificate:
    """What is proved about the hyperedges that were never candidates.

    Attributes
    ----------
    complete : bool
        Whether a search over every hyperedge found none that the dual vector makes active besides the candidates: the
        duality gap is then the gap over every hyperedge. False where the solver ran into max_iter before.
    rounds : int
        Solves, each followed by a search.
    added : int
        Hyperedges that the searches added to the candidates.
    examined : int
        Sets of nodes, whole hyperedges or parts of them, that the last search looked at; bounds rule out the others.
    possible : int
        Hyperedges that there are: the sum of C(N, k).
    """

    complete: bool
    rounds: int
    added: int
    examined: int
    possible: int

    def __str__(self) -> str:
        searched = f"{self.examined:,} sets looked at"
        if not self.complete:
            return f"no proof over all {self.possible:,} hyperedges: the solver did not converge"
        rounds = f"{self.rounds} round{'s' if self.rounds > 1 else ''}"
        return f"optimal among all {self.possible:,} hyperedges ({rounds}, {self.added:,} added, {searched})"


def solve_over_all(
    candidates: Candidates,
    pricing: Pricing,
    alpha: float,
    beta: float,
    unit: str | float | None,
    *,
    memory_budget: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Candidates, float, Solution, Certificate]:
    """Solve over every hyperedge of the cardinalities of the candidates.

    Parameters
    ----------
    candidates : Candidates
        Where to start; they must cover all nodes.
    pricing : Pricing
        Made of the signals' distances.
    alpha, beta : float
    unit : "auto", float or None
        What variations are divided by, see `hsls.scale.typical`. "auto" looks for each node's least variation over
        every hyperedge.
    memory_budget : float, optional
    options : mapping, optional
        For `hsls.solvers.newton`, in every round.

    Returns
    -------
    candidates, with those added; what variations were divided by; the solution over these; and the certificate
    """
    distances = pricing.distances
    z = _variations(candidates, distances)
    unit = scale.typical(candidates, z, unit, least=lambda: _least(pricing, candidates, z))
    z = z / unit
    told = dict(options or {})
    n_nodes, n_start = candidates.n_nodes, candidates.n_candidates
    solutions: list[Solution] = []
    most = _MOST_AT_A_NODE
    while True:
        problem = Problem(candidates, z, alpha, beta)
        solutions.append(newton(problem, **told))
        v = solutions[-1].dual
        known = _active(problem, v)
        found = [pricing.violated(rows.shape[1], unit * v, rows, most) for rows in known]
        fresh = [_exceeding(part.members, distances, v, unit) for part in found]
        n_fresh = sum(len(rows) for rows, _ in fresh)
        complete = n_fresh == 0 and all(part.total == len(part.members) for part in found)
        if complete or solutions[-1].status == "max_iter":
            break
        # The first solutions let many through that later ones do not; what is found after them is there to stay.
        sizes = [part.total if len(solutions) >= _SETTLED else len(part.members) for part in found]
        counts = {
            k: len(block) + more
            for k, block, more in zip(candidates.cardinalities, candidates.members, sizes, strict=True)
        }
        check_memory(counts, memory_budget, "alpha or beta, or give a number of neighbors instead of 'certified'")
        candidates, z = _joined(candidates, z, fresh)
        told["start"] = v
        most *= 2
    certificate = Certificate(
        complete=complete,
        rounds=len(solutions),
        added=candidates.n_candidates - n_start,
        examined=sum(part.examined for part in found),
        possible=sum(math.comb(n_nodes, k) for k in candidates.cardinalities),
    )
    return candidates, unit, _in_a_row(solutions), certificate


def _variations(candidates: Candidates, distances: variation.Distances) -> FloatArray:
    z = np.empty(candidates.n_candidates)
    for block, (start, stop) in zip(candidates.members, itertools.pairwise(candidates.offsets), strict=True):
        distances.of_members(block, z[start:stop])
    variation.check_finite(z, distances.variation)
    return z


def _least(pricing: Pricing, candidates: Candidates, z: FloatArray) -> FloatArray:
    """For each node the least variation of any hyperedge that holds it."""
    least = scale.least_at_nodes(candidates, z)
    for k in candidates.cardinalities:
        least = pricing.least(k, least)
    return least


def _active(problem: Problem, v: FloatArray) -> list[Int32Array]:
    """For each cardinality the candidates that a search at v could list."""
    sums = problem.S.adjoint(v)
    near = problem.z <= sums * (1 + 1e-8)
    blocks, offsets = problem.candidates.members, problem.candidates.offsets
    return [block[near[start:stop]] for block, (start, stop) in zip(blocks, itertools.pairwise(offsets), strict=True)]


def _exceeding(
    rows: Int32Array, distances: variation.Distances, v: FloatArray, unit: float
) -> tuple[Int32Array, FloatArray]:
    """Of the rows those whose sum of v exceeds their variation, and these variations over the unit."""
    z = np.empty(len(rows))
    distances.of_members(rows, z)
    z /= unit
    chosen = v[rows].sum(axis=1) * (1 + _ROUNDING) > z
    return rows[chosen], z[chosen]


def _joined(
    candidates: Candidates, z: FloatArray, fresh: list[tuple[Int32Array, FloatArray]]
) -> tuple[Candidates, FloatArray]:
    """The candidates and the new ones in canonical order, each once, with their variations."""
    members, values = [], []
    offsets = itertools.pairwise(candidates.offsets)
    for block, (start, stop), (rows, z_rows) in zip(candidates.members, offsets, fresh, strict=True):
        together, z_together = np.concatenate([block, rows]), np.concatenate([z[start:stop], z_rows])
        packed = _flat.keys(together, candidates.n_nodes)
        order = _flat.order_of(packed)
        if order is not None:
            distinct = order[~_flat.repeats([key[order] for key in packed])]
            together, z_together = together[distinct], z_together[distinct]
        members.append(together)
        values.append(z_together)
    return Candidates._of(candidates.n_nodes, members), np.concatenate(values)


def _in_a_row(solutions: list[Solution]) -> Solution:
    """The last solution, with the iterations, seconds and courses of all."""
    history: dict[str, list[AnyArray]] = {name: [] for name in solutions[-1].history}
    iterations, seconds = 0, 0.0
    for solution in solutions:
        for name, values in solution.history.items():
            history[name].append(values + {"iteration": iterations, "seconds": seconds}.get(name, 0))
        iterations += solution.n_iter
        seconds += solution.seconds
    return replace(
        solutions[-1],
        n_iter=iterations,
        seconds=seconds,
        history={name: np.concatenate(values) for name, values in history.items()},
    )
