"""Hypergraphs that follow a stream: distances of all pairs that take in new observations and forget old ones.

The memory that they take does not grow with the observations: an N x N matrix of power sums, and another one of shared
weights from the first missing value on.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from hsls import _checks, _progress, _threads, scale
from hsls._kernels import accumulation, pairs
from hsls._types import AnyArray, BoolArray, FloatArray
from hsls.candidates import Candidates, all_candidates, knn_candidates, listed_candidates
from hsls.learning import Learned, Settings, is_word, neighbor_counts
from hsls.neighbors import Neighbors
from hsls.problem import Problem
from hsls.solvers import solve
from hsls.variation import Variation

__all__ = ["RunningDistances", "Stream"]

_KINDS = {2.0: pairs.SQUARE, 1.0: pairs.ABSOLUTE, math.inf: pairs.LARGEST}
# Bytes of distances looked through at once for neighbours.
_BLOCK_BYTES = 64 * 2**20
# Pieces of work a thread: rows further down are longer, so the last to finish should have little left.
_PIECES = 8


class RunningDistances:
    """For every pair of nodes ``sum_t omega_t |x_it - x_jt|^p`` over all observations so far.

    Parameters
    ----------
    n_nodes : int
    p : float
        ``math.inf`` keeps the largest difference.
    searched : bool
        Whether nearest neighbours, which are Euclidean, will be asked for: for other p they need a second matrix.
    memory_budget : float, optional
        Bytes that the matrices may take.

    Attributes
    ----------
    n_observations : int
    weight : float
        Sum of the weights of the observations: after many with forgetting f, ``1 / (1 - f)``.
    """

    def __init__(self, n_nodes: int, p: float, searched: bool = True, memory_budget: float | None = None) -> None:
        self.n_nodes = n_nodes
        self.p = p
        self.n_observations = 0
        self.weight = 0.0
        self._budget = memory_budget
        exponents = {p, 2.0} if searched else {p}
        self._check_memory(len(exponents))
        self._sums = {exponent: np.zeros((n_nodes, n_nodes)) for exponent in exponents}
        self._shared: FloatArray | None = None

    @property
    def nbytes(self) -> int:
        """Bytes that the matrices take."""
        shared = 0 if self._shared is None else self._shared.nbytes
        return shared + sum(sums.nbytes for sums in self._sums.values())

    def _check_memory(self, matrices: int) -> None:
        needed = 8.0 * matrices * self.n_nodes**2
        if self._budget is not None and needed > _checks.positive(self._budget, "memory_budget"):
            raise ValueError(
                f"a stream keeps the distances of all pairs of its {self.n_nodes:,} nodes, which take "
                f"{needed / 2**30:.3g} GiB, more than the memory budget of {self._budget / 2**30:.3g} GiB; raise "
                "memory_budget, or learn window by window with hsls.windows."
            )

    def add(self, X: FloatArray, forgetting: float = 1.0) -> None:
        """Take in observations (N x M, oldest first); every one makes those before it count `forgetting` times less."""
        forgetting = _checks.positive(forgetting, "forgetting")
        if forgetting > 1:
            raise ValueError(f"forgetting must be at most 1, which forgets nothing; got {forgetting:g}.")
        if math.isinf(self.p) and forgetting < 1:
            raise ValueError("a variation with p = inf keeps the largest difference, which no forgetting lessens.")
        if len(X) != self.n_nodes:
            raise ValueError(f"the new observations are of {len(X)} nodes, but the stream is of {self.n_nodes}.")
        missing = bool(np.isnan(X).any())
        if missing and self._shared is None:
            self._check_memory(len(self._sums) + 1)
            self._shared = np.full((self.n_nodes, self.n_nodes), self.weight)
        n_new = X.shape[1]
        fading = forgetting**n_new
        omega = forgetting ** np.arange(n_new - 1, -1, -1.0)
        X, omega = X[:, omega > 0], omega[omega > 0]
        for p, sums in self._sums.items():
            if fading != 1:
                sums *= fading
            self._add(X if math.isinf(p) else X * omega ** (1 / p), missing, p, sums)
        if self._shared is not None:
            seen = (~np.isnan(X)).astype(np.float64)
            self._shared *= fading
            self._shared += (seen * omega) @ seen.T if missing else omega.sum()
        self.weight = fading * self.weight + float(omega.sum())
        self.n_observations += n_new

    def _add(self, X: FloatArray, missing: bool, p: float, sums: FloatArray) -> None:
        X = np.ascontiguousarray(X)
        kind = _KINDS.get(p, pairs.POWER)

        def work(start: int, stop: int, _: int) -> None:
            accumulation.add_distances(X, missing, kind, p, sums, start, stop)

        _threads.over(work, _threads.split(self.n_nodes, _PIECES * _threads.count()))

    def unseen(self) -> BoolArray:
        """Mask of the nodes that no observation so far holds."""
        if self._shared is None:
            return np.full(self.n_nodes, self.weight == 0)
        return np.diagonal(self._shared) <= 0

    def neighbors(self, r: int) -> Neighbors:
        """The r nearest neighbours of each node, as `hsls.neighbors.nearest_neighbors` finds them exactly."""
        squares = self._sums[2.0]
        indices = np.empty((self.n_nodes, r), dtype=np.int32)
        nearest = np.empty((self.n_nodes, r))
        height = max(1, _BLOCK_BYTES // (8 * self.n_nodes))
        for first in range(0, self.n_nodes, height):
            rows = slice(first, min(first + height, self.n_nodes))
            block = squares[rows]
            if self._shared is not None:
                with np.errstate(divide="ignore", invalid="ignore"):
                    block = np.where(self._shared[rows] > 0, block * (self.weight / self._shared[rows]), np.inf)
            _nearest(block, first, indices[rows], nearest[rows])
        return Neighbors(indices, np.sqrt(nearest), "exact (running distances)", True, 1.0)

    def variation(self, candidates: Candidates, variation: Variation) -> FloatArray:
        """Variation of the observations so far on every candidate, as `hsls.variation.of_candidates` computes it."""
        z = np.empty(candidates.n_candidates)
        for block, start, stop in zip(candidates.members, candidates.offsets[:-1], candidates.offsets[1:], strict=True):
            k = block.shape[1]
            total = np.zeros(len(block))
            for a in range(1, k):
                for b in range(a):
                    s = self._of_pairs(block[:, a], block[:, b], variation)
                    if variation.reduction == "max":
                        np.maximum(total, s, out=total)
                    else:
                        total += s
            z[start:stop] = total * variation.factor(k)
        return z

    def _of_pairs(self, i: AnyArray, j: AnyArray, variation: Variation) -> FloatArray:
        s: FloatArray = self._sums[self.p][i, j]
        if self._shared is not None:
            shared = self._shared[i, j]
            if not np.all(shared > 0):
                bad = int(np.argmin(shared))
                raise ValueError(
                    f"nodes {i[bad]} and {j[bad]} share no observation so far, so their distance is unknown; take in "
                    "more observations, or leave the hyperedges that hold both out of the candidates."
                )
            if not math.isinf(self.p):
                s = s * (self.weight / shared)
        power = variation.q if math.isinf(self.p) else variation.q / self.p
        return s if power == 1 else s**power


def _nearest(distances: FloatArray, first: int, indices: AnyArray, nearest: FloatArray) -> None:
    """Write the neighbours of the nodes from `first` on, whose distances are the rows."""

    def work(start: int, stop: int, _: int) -> None:
        accumulation.nearest_in_rows(distances, first, indices, nearest, start, stop)

    _threads.over(work, _threads.split(len(distances), _threads.count()))


class Stream:
    """Learns again and again from what `RunningDistances` hold, each time from the dual vector found before.

    Parameters
    ----------
    settings : Settings
    n_nodes : int
    names : tuple of str, optional
    """

    def __init__(self, settings: Settings, n_nodes: int, names: tuple[str, ...] | None) -> None:
        settings = settings.check()
        _check_settings(settings, n_nodes)
        searched = settings.candidates is None and not is_word(settings.neighbors, "all")
        p = Variation.parse(settings.variation).p
        self.names = _checks.node_names(range(n_nodes) if names is None else names, n_nodes)
        self.distances = RunningDistances(n_nodes, p, searched, settings.memory_budget)
        self._start: FloatArray | None = None

    def take(self, X: FloatArray, settings: Settings, names: tuple[str, ...] | None, forgetting: float) -> Learned:
        """Take in observations and learn; where that is impossible (ValueError) they are taken in all the same."""
        settings = settings.check()
        _check_settings(settings, self.distances.n_nodes)
        if names is not None and names != self.names:
            raise ValueError("the nodes of the new observations have other names, or another order, than those before.")
        if Variation.parse(settings.variation).p != self.distances.p:
            raise ValueError(f"variation {settings.variation!r} needs other distances than were kept; begin anew.")
        with _threads.limit(settings.n_jobs):
            began = time.perf_counter()
            with _progress.stage("distances"):
                self.distances.add(X, forgetting)
            return self._learn(settings, time.perf_counter() - began)

    def _learn(self, settings: Settings, spent: float) -> Learned:
        distances, seconds = self.distances, {"distances": spent}
        unseen = distances.unseen()
        if unseen.any():
            raise ValueError(f"node {int(np.argmax(unseen))} has no observation so far (all missing); take in more.")
        began = time.perf_counter()
        candidates, neighbors = self._candidates(settings)
        z = distances.variation(candidates, Variation.parse(settings.variation))
        unit = scale.typical(candidates, z, settings.scale)
        seconds["candidates"] = time.perf_counter() - began
        options: dict[str, Any] = {"tol": settings.tol, "max_iter": settings.max_iter}
        options = {name: value for name, value in options.items() if value is not None}
        if settings.solver == "newton" and self._start is not None:
            options["start"] = self._start
        problem = Problem(candidates, z / unit, settings.alpha, settings.beta)
        solution = solve(problem, settings.solver, **{**(settings.solver_options or {}), **options})
        self._start = solution.dual
        seconds["solve"] = solution.seconds
        return Learned(
            hypergraph=candidates.hypergraph(solution.weights, settings.threshold, self.names),
            solution=solution,
            scale=unit,
            neighbors=neighbors,
            n_candidates=candidates.n_candidates,
            seconds=seconds,
            renumbered=False,
            _settings=settings,
            _candidates=candidates,
            _tables={},
            _inside=None,
            path=None,
            parameter=settings.alpha,
        )

    def _candidates(self, settings: Settings) -> tuple[Candidates, Neighbors | None]:
        n_nodes, budget = self.distances.n_nodes, settings.memory_budget
        if settings.candidates is not None:
            return listed_candidates(settings.candidates, n_nodes, self.names), None
        if is_word(settings.neighbors, "all"):
            return all_candidates(n_nodes, settings.cardinalities, memory_budget=budget), None
        wanted = neighbor_counts(settings, n_nodes)
        found = self.distances.neighbors(max(wanted.values()))
        return knn_candidates({k: found.indices[:, :r] for k, r in wanted.items()}, memory_budget=budget), found


def _check_settings(settings: Settings, n_nodes: int) -> None:
    """Refuse settings that a stream of so many nodes cannot follow, before any observation is taken in."""
    if settings.chooses:
        raise ValueError("alpha is chosen on signals, which a stream lets go; give alpha a number.")
    if settings.observation_weights is not None:
        raise ValueError("observation_weights are for fit; new observations are weighed by forgetting alone.")
    if settings.candidates is None and not is_word(settings.neighbors, "all"):
        if isinstance(settings.neighbors, str) and settings.neighbors != "auto":
            raise ValueError(f"neighbors of a stream must be numbers, 'auto' or 'all'; got {settings.neighbors!r}.")
        neighbor_counts(settings, n_nodes)
