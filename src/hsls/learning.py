"""The way from signals to a hypergraph, in one call and free of scikit-learn: the estimators and the command line
stand on it."""

from __future__ import annotations

import inspect
import numbers
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hsls import _checks, _order, _progress, _threads, scale, variation
from hsls._frames import matrix
from hsls._types import AnyArray, FloatArray, Int32Array, IntArray
from hsls.candidates import (
    DEFAULT_MEMORY_BUDGET,
    Candidates,
    all_candidates,
    check_cardinalities,
    check_memory,
    knn_bound,
    knn_candidates,
    listed_candidates,
)
from hsls.certified import Certificate, solve_over_all
from hsls.hypergraph import Hypergraph
from hsls.likelihood.evidence import joins, variations
from hsls.neighbors import METHODS, Neighbors, check_neighbors, nearest_neighbors
from hsls.pricing import Pricing
from hsls.problem import Problem
from hsls.selection import Criterion, Path, Sample, choose_penalty, choose_theta, reach
from hsls.solvers import SOLVERS, Solution, solve

__all__ = ["Learned", "Settings", "candidates_for", "check_solver_options", "learn"]

# From here on nodes are renumbered for locality: their vectors outgrow a core's cache.
_RENUMBER_FROM = 50_000
# A k-d tree orders points well in few dimensions; elsewhere the graph of neighbours does.
_TREE_DIMENSIONS = 15
# Neighbours of each node unless the user says otherwise; more for hyperedges that need more.
_DEFAULT_NEIGHBORS = 8
# Signals beyond this, or all below its inverse, have squares that a double cannot hold.
_LARGEST = 1e150


@dataclass(frozen=True)
class Settings:
    """Everything that `learn` can be told; each is described at `hsls.HSLS`."""

    cardinalities: Any = (2, 3)
    neighbors: Any = "auto"
    candidates: Any = None
    variation: Any = "max-square"
    alpha: Any = 1.0
    beta: float = 1.0
    scale: Any = "auto"
    solver: str = "newton"
    tol: float | None = None
    max_iter: int | None = None
    solver_options: Mapping[str, Any] = field(default_factory=dict)
    threshold: float = 1e-2
    observation_weights: Any = None
    neighbor_search: str = "auto"
    memory_budget: float | None = DEFAULT_MEMORY_BUDGET
    n_jobs: int | None = None
    degree: float | None = None
    n_hyperedges: int | None = None
    criterion: str = "ebic"
    gamma: float = 0.5
    folds: int = 5

    def check(self) -> Settings:
        """Refuse what no data could make right, before any work; returns the settings with cardinalities in order."""
        variation.Variation.parse(self.variation)
        if self.alpha != "auto":
            _checks.positive(self.alpha, "alpha")
        _checks.positive(self.beta, "beta")
        self._check_choice()
        if isinstance(self.scale, numbers.Real):
            _checks.positive(self.scale, "scale")
        elif self.scale is not None:
            _checks.one_of(self.scale, "scale (None, a number above 0, or a name)", scale.SCALES)
        _checks.one_of(self.solver, "solver", SOLVERS)
        if self.tol is not None:
            _checks.positive(self.tol, "tol")
        if self.max_iter is not None:
            _checks.whole(self.max_iter, "max_iter")
        _checks.nonnegative(self.threshold, "threshold")
        _checks.one_of(self.neighbor_search, "neighbor_search", METHODS)
        if self.memory_budget is not None:
            _checks.positive(self.memory_budget, "memory_budget")
        check_solver_options(self.solver, self.solver_options)
        if is_word(self.neighbors, "certified"):
            self._check_certified()
        cardinalities = check_cardinalities(self.cardinalities)
        if _is_list(self.neighbors) and _is_list(self.cardinalities) and tuple(self.cardinalities) != cardinalities:
            raise ValueError(
                "neighbors lists a number for each cardinality in ascending order, but cardinalities is "
                f"{[*map(int, self.cardinalities)]}; list them in that order, too."
            )
        return replace(self, cardinalities=cardinalities)

    def _check_certified(self) -> None:
        if self.candidates is not None:
            raise ValueError("neighbors='certified' is over every hyperedge, but candidates lists some; leave one out.")
        if self.solver != "newton":
            raise ValueError(f"neighbors='certified' needs solver='newton', got {self.solver!r}; choose that.")
        if self.scale in ("median", "mean"):
            raise ValueError(
                f"scale={self.scale!r} is over all hyperedges, which neighbors='certified' does not go through; use "
                "'auto', None or a number."
            )

    def _check_choice(self) -> None:
        Criterion(self.criterion, self.gamma, self.folds)
        if self.degree is not None:
            _checks.positive(self.degree, "degree")
        if self.n_hyperedges is not None:
            _checks.whole(self.n_hyperedges, "n_hyperedges")
        wishes = [self.alpha == "auto", self.degree is not None, self.n_hyperedges is not None]
        if sum(wishes) > 1:
            raise ValueError("alpha='auto', degree and n_hyperedges exclude one another; give one of them.")

    @property
    def chooses(self) -> bool:
        """Whether alpha follows from the data."""
        return self.alpha == "auto" or self.degree is not None or self.n_hyperedges is not None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def check_solver_options(solver: str, options: Any) -> None:
    """Refuse options that the solver does not know."""
    if not isinstance(options, Mapping | None):
        raise TypeError(f"solver_options must be a mapping such as {{'balance': 0.1}}, got {options!r}.")
    parameters = inspect.signature(SOLVERS[solver]).parameters.values()
    known = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    for name in options or ():
        _checks.one_of(name, f"an option in solver_options for {solver}", known)


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned hypergraph with everything that led to it.

    Attributes
    ----------
    hypergraph : Hypergraph
        The hyperedges of weight at least the threshold.
    solution : Solution
        Certificate and course of the solve. Its `weights` follow the order that the nodes were given inside, which
        is that of `candidates` unless `renumbered`; its `dual` always follows the user's order.
    scale : float
        What the variations were divided by.
    neighbors : Neighbors or None
    n_candidates : int
    seconds : dict
        Time by stage.
    renumbered : bool
        Whether the nodes were numbered for locality inside. `candidates` and `weights` are then made on first use.
    path : Path or None
        The path along which the parameter was chosen, where it was.
    parameter : float
        alpha, given or chosen; for the likelihood its penalty.
    certificate : Certificate or None
        Of ``neighbors="certified"``: what is proved about the hyperedges that are no candidates.
    """

    hypergraph: Hypergraph
    solution: Solution
    scale: float
    neighbors: Neighbors | None
    n_candidates: int
    seconds: dict[str, float]
    renumbered: bool
    _settings: Settings
    _candidates: Candidates | None
    _tables: dict[int, Int32Array]
    _inside: tuple[FloatArray, IntArray] | None
    """Where renumbered: the signals in the numbering inside, and the user's node at each place of it."""
    path: Path | None
    parameter: float
    certificate: Certificate | None = None

    @property
    def over_all(self) -> bool:
        """Whether the gap holds over every hyperedge of the cardinalities, candidate or not."""
        if self.certificate is not None:
            return self.certificate.complete
        return self._settings.candidates is None and is_word(self._settings.neighbors, "all")

    @cached_property
    def candidates(self) -> Candidates:
        """All candidates, in canonical order of the user's node positions."""
        if self._candidates is not None:
            return self._candidates
        return knn_candidates(self._tables, memory_budget=None)

    @cached_property
    def weights(self) -> FloatArray:
        """Weights of all `candidates`, in their order."""
        if self._inside is None:
            return self.solution.weights
        signals, order = self._inside
        return _weights(self.candidates, signals[_order.inverse(order)], self._settings, self.scale, self.solution.dual)


def learn(X: AnyArray, settings: Settings | None = None, *, nodes: Iterable[Any] | None = None) -> Learned:
    """Learn a hypergraph from signals.

    Parameters
    ----------
    X : array, shape (N, P)
        Row i holds the observations of node i; NaN marks a missing one.
    settings : Settings, optional
    nodes : iterable, optional
        Names of the nodes; "0", "1", ... by default.
    """
    settings = (settings or Settings()).check()
    with _threads.limit(settings.n_jobs):
        signals = check_signals(X)
        names = _checks.node_names(range(len(signals)) if nodes is None else nodes, len(signals))
        run = _learn_over_all if is_word(settings.neighbors, "certified") else _learn
        return run(signals, settings, names)


def _learn(X: FloatArray, settings: Settings, names: tuple[str, ...]) -> Learned:
    n_nodes = len(X)
    watch = Watch()
    signals, order = X, None
    neighbors: Neighbors | None = None
    tables: dict[int, Int32Array] = {}
    if settings.candidates is not None or is_word(settings.neighbors, "all"):
        candidates = _without_search(settings, n_nodes, names)
    else:
        wanted = neighbor_counts(settings, n_nodes)
        with watch.stage("neighbors"):
            signals, neighbors, order = _search(X, max(wanted.values()), settings)
        tables = {k: neighbors.indices[:, :r] for k, r in wanted.items()}
        with watch.stage("candidates"), _progress.stage("candidates"):
            candidates = knn_candidates(tables, memory_budget=settings.memory_budget)
    with watch.stage("variation"), _progress.stage("variations"):
        z = variation.of_candidates(candidates, signals, settings.variation, settings.observation_weights)
        unit = scale.typical(candidates, z, settings.scale)
        if unit != 1.0:
            z /= unit
    options, path, size = _options(settings, order), None, None
    if settings.chooses:
        with watch.stage("choose"):
            settings, path, size, start = _choose(settings, candidates, signals, z)
            if settings.solver == "newton":
                options["start"] = start
    with watch.stage("solve"):
        solution = solve(Problem(candidates, z, settings.alpha, settings.beta), settings.solver, **options)
    with watch.stage("hypergraph"):
        if order is None:
            found = candidates.hypergraph(solution.weights, settings.threshold, names)
        else:
            assert neighbors is not None
            dual = np.empty_like(solution.dual)
            dual[order] = solution.dual
            near = _near_threshold(candidates, solution.weights, settings.threshold, order)
            found = near.hypergraph(_weights(near, X, settings, unit, dual), settings.threshold, names)
            solution = replace(solution, dual=dual)
            neighbors = _renumbered(neighbors, order)
            tables = {k: neighbors.indices[:, : table.shape[1]] for k, table in tables.items()}
    return Learned(
        hypergraph=found if size is None else found.top(size),
        solution=solution,
        scale=unit,
        neighbors=neighbors,
        n_candidates=candidates.n_candidates,
        seconds=watch.seconds,
        renumbered=order is not None,
        _settings=settings,
        _candidates=candidates if order is None else None,
        _tables=tables,
        _inside=None if order is None else (signals, order),
        path=path,
        parameter=settings.alpha,
    )


def _learn_over_all(X: FloatArray, settings: Settings, names: tuple[str, ...]) -> Learned:
    """From the candidates of a few neighbours to the optimum over every hyperedge.

    Where alpha follows from the data it is chosen on these candidates, and proved optimal is the solution for it.
    """
    watch = Watch()
    size, path = None, None
    if settings.chooses:
        with watch.stage("choose"):
            near = _learn(X, replace(settings, neighbors="auto"), names)
        path = near.path
        size = near.hypergraph.n_edges if settings.degree is None else None
        threshold = 0.0 if settings.alpha == "auto" else settings.threshold
        settings = replace(
            settings, alpha=near.parameter, degree=None, n_hyperedges=None, scale=near.scale, threshold=threshold
        )
    counts = neighbor_counts(replace(settings, neighbors="auto"), len(X))
    with watch.stage("variation"), _progress.stage("variations"):
        kind = variation.Variation.parse(settings.variation)
        pricing = Pricing(variation.Distances(X, kind, settings.observation_weights), settings.memory_budget)
    with watch.stage("neighbors"):
        neighbors = nearest_neighbors(
            X, max(counts.values()), method=settings.neighbor_search, observation_weights=_omega(X, settings)
        )
    with watch.stage("candidates"), _progress.stage("candidates"):
        tables = {k: neighbors.indices[:, :r] for k, r in counts.items()}
        candidates = knn_candidates(tables, memory_budget=settings.memory_budget)
    with watch.stage("solve"):
        candidates, unit, solution, certificate = solve_over_all(
            candidates,
            pricing,
            settings.alpha,
            settings.beta,
            settings.scale,
            memory_budget=settings.memory_budget,
            options=_options(settings, None),
        )
    with watch.stage("hypergraph"):
        found = candidates.hypergraph(solution.weights, settings.threshold, names)
    return Learned(
        hypergraph=found if size is None else found.top(size),
        solution=solution,
        scale=unit,
        neighbors=neighbors,
        n_candidates=candidates.n_candidates,
        seconds=watch.seconds,
        renumbered=False,
        _settings=settings,
        _candidates=candidates,
        _tables={},
        _inside=None,
        path=path,
        parameter=settings.alpha,
        certificate=certificate,
    )


def _choose(
    settings: Settings, candidates: Candidates, X: FloatArray, z: FloatArray
) -> tuple[Settings, Path, int | None, FloatArray]:
    """The settings with alpha chosen, the path, how many hyperedges to keep, and a dual vector to start from."""
    problem = Problem(candidates, z, 1.0, settings.beta)
    size: int | None = None
    if settings.alpha == "auto":
        sample = sample_of(candidates, X, "auto", settings.observation_weights)
        criterion = Criterion(settings.criterion, settings.gamma, settings.folds)
        with _threads.for_dense(len(X)):
            wanted = choose_penalty(sample, criterion).refit.support
        path, solution = choose_theta(problem, wanted, settings.criterion)
        size = int(path.n_hyperedges[path.chosen])
        settings = replace(settings, threshold=0.0)
    else:
        cardinalities = np.repeat(candidates.cardinalities, np.diff(candidates.offsets))

        def count(w: FloatArray) -> int:
            return int(np.sum((w >= settings.threshold) & (w > 0)))

        def degree(w: FloatArray) -> float:
            return float(np.sum(cardinalities[(w >= settings.threshold) & (w > 0)])) / candidates.n_nodes

        if settings.degree is not None:
            path, solution = reach(problem, degree, count, settings.degree, "degree")
        else:
            assert settings.n_hyperedges is not None
            size = settings.n_hyperedges
            path, solution = reach(problem, count, count, size, "n_hyperedges")
    alpha = 1.0 / (path.value**2 * settings.beta)
    return replace(settings, alpha=alpha), path, size, solution.dual / path.value


def sample_of(
    candidates: Candidates, X: FloatArray, choice: Any, observation_weights: Any = None, noise: float = 0.0
) -> Sample:
    """Signals and candidates for the likelihood, in the unit in which a typical nearest candidate weighs 1."""
    z = variations(candidates, X, observation_weights, noise) / joins(candidates)
    return Sample(candidates, X, scale.typical(candidates, z, choice, 1.0), observation_weights, noise)


def check_signals(X: AnyArray, *, unseen_nodes: bool = False) -> FloatArray:
    """Return the signals as an N x P array of doubles; refuse infinite values, unseen nodes and fewer than two."""
    signals = matrix(X, "X, the signals,")
    if len(signals) < 2:
        raise ValueError("the signals hold 1 node (n_samples=1); a hypergraph needs at least 2 nodes.")
    infinite = np.isinf(signals)
    if infinite.any():
        i, t = np.argwhere(infinite)[0].tolist()
        raise ValueError(
            f"the signals hold an infinite value (inf) at node {i}, observation {t}; replace it, or use NaN if it is "
            "missing."
        )
    unseen = np.isnan(signals).all(axis=1)
    if unseen.any() and not unseen_nodes:
        raise ValueError(f"node {int(np.argmax(unseen))} has no observation (all missing); remove it.")
    largest = max(float(np.fmax.reduce(signals, axis=None)), -float(np.fmin.reduce(signals, axis=None)))
    if largest > _LARGEST or 0 < largest < 1 / _LARGEST:
        raise ValueError(
            f"the largest of the signals is {largest:.1e} in magnitude, and its square beyond what double precision "
            "holds; give the signals in another unit."
        )
    return signals


def neighbor_counts(settings: Settings, n_nodes: int) -> dict[int, int]:
    """Number of neighbours for each cardinality, checked against the number of nodes and the memory budget."""
    cardinalities = check_cardinalities(settings.cardinalities, n_nodes)
    given = settings.neighbors
    if given is None or is_word(given, "auto"):
        counts = {k: min(n_nodes - 1, max(_DEFAULT_NEIGHBORS, k + 2)) for k in cardinalities}
    elif isinstance(given, str):
        raise ValueError(
            f"neighbors must be a number, one for each cardinality, 'auto', 'all' or 'certified'; got {given!r}."
        )
    elif isinstance(given, Mapping):
        if set(given) != set(cardinalities):
            raise ValueError(f"neighbors names cardinalities {[*given]}, but cardinalities is {cardinalities}.")
        counts = dict(given)
    elif np.ndim(given) == 0:
        counts = dict.fromkeys(cardinalities, given)
    else:
        if len(given) != len(cardinalities):
            raise ValueError(
                f"neighbors holds {len(given)} numbers for {len(cardinalities)} cardinalities; give one for each."
            )
        counts = dict(zip(cardinalities, given, strict=True))
    for k, r in counts.items():
        check_neighbors(r, n_nodes)
        if r < k - 1:
            raise ValueError(f"neighbors is {r}, but a hyperedge of {k} nodes needs at least {k - 1}; raise it.")
    counts = {k: int(r) for k, r in counts.items()}
    check_memory(knn_bound(n_nodes, counts), settings.memory_budget, "neighbors")
    return counts


def candidates_for(X: AnyArray, settings: Settings, names: tuple[str, ...] | None = None) -> Candidates:
    """The candidates that `learn` would choose among, or start from, in the user's order."""
    return candidates_and_neighbors(X, settings, names)[0]


def candidates_and_neighbors(
    X: AnyArray, settings: Settings, names: tuple[str, ...] | None = None
) -> tuple[Candidates, Neighbors | None]:
    """The candidates that `learn` would choose among, and the neighbours they come from, in the user's order."""
    if is_word(settings.neighbors, "certified"):
        settings = replace(settings, neighbors="auto")
    if settings.candidates is not None or is_word(settings.neighbors, "all"):
        return _without_search(settings, len(X), names), None
    wanted = neighbor_counts(settings, len(X))
    found = nearest_neighbors(
        X, max(wanted.values()), method=settings.neighbor_search, observation_weights=_omega(X, settings)
    )
    tables = {k: found.indices[:, :r] for k, r in wanted.items()}
    return knn_candidates(tables, memory_budget=settings.memory_budget), found


def is_word(neighbors: Any, word: str) -> bool:
    """Whether the neighbours are given by this word; arrays, too, may stand in its place."""
    return isinstance(neighbors, str) and neighbors == word


def _without_search(settings: Settings, n_nodes: int, names: tuple[str, ...] | None) -> Candidates:
    if settings.candidates is not None:
        return listed_candidates(settings.candidates, n_nodes, names)
    return all_candidates(n_nodes, settings.cardinalities, memory_budget=settings.memory_budget)


def _omega(X: AnyArray, settings: Settings) -> FloatArray | None:
    if settings.observation_weights is None:
        return None
    return variation.check_observation_weights(settings.observation_weights, X.shape[1])


def _search(X: FloatArray, r: int, settings: Settings) -> tuple[FloatArray, Neighbors, IntArray | None]:
    """Neighbours in a numbering with locality: signals in that numbering, neighbours, and the user's node at each."""
    omega = _omega(X, settings)
    # Only the dual solver's weights follow from node values, which are all that is put back into the user's order.
    renumber = len(X) >= _RENUMBER_FROM and settings.solver == "newton"
    order: IntArray | None = None
    if renumber and X.shape[1] <= _TREE_DIMENSIONS and not np.isnan(X).any():
        order = _order.of_points(X)  # the search itself runs faster so, too
        X = X[order]
    found = nearest_neighbors(X, r, method=settings.neighbor_search, observation_weights=omega)
    if renumber and order is None:
        order = _order.of_neighbors(found.indices)
        found = _renumbered(found, _order.inverse(order))
        X = X[order]
    return X, found, order


def _options(settings: Settings, order: IntArray | None) -> dict[str, Any]:
    """What the solver is told, nodes in the numbering inside."""
    options: dict[str, Any] = dict(settings.solver_options or {})
    start = options.get("start")
    if order is not None and start is not None and np.shape(start) == order.shape:
        options["start"] = np.asarray(start)[order]
    if settings.tol is not None:
        options["tol"] = settings.tol
    if settings.max_iter is not None:
        options["max_iter"] = settings.max_iter
    return options


def _weights(candidates: Candidates, X: FloatArray, settings: Settings, unit: float, dual: FloatArray) -> FloatArray:
    """Weights of the candidates at a dual vector over all nodes."""
    if candidates.n_candidates == 0:
        return np.zeros(0)
    z = variation.of_candidates(candidates, X, settings.variation, settings.observation_weights)
    if unit != 1.0:
        z /= unit
    problem = Problem(candidates, z, settings.alpha, settings.beta)
    return problem.weights(dual[problem.nodes])


def _near_threshold(candidates: Candidates, weights: FloatArray, threshold: float, order: IntArray) -> Candidates:
    """The candidates at or just below the threshold and above, in the user's numbering and canonical order.

    Sums over members come in another order there, so a weight may move in its last digit: what is kept is decided on
    the weights computed in the user's order.
    """
    blocks = []
    for block, first in zip(candidates.members, candidates.offsets, strict=False):
        w = weights[first : first + len(block)]
        chosen = np.flatnonzero((w >= threshold * (1 - 1e-9)) & (w > 0))
        rows = np.sort(order[block[chosen]], axis=1).astype(np.int32)
        blocks.append(np.ascontiguousarray(rows[np.lexsort(rows.T[::-1])]))
    return Candidates(candidates.n_nodes, tuple(blocks))


def _renumbered(neighbors: Neighbors, becomes: IntArray) -> Neighbors:
    """The neighbours when node i becomes node ``becomes[i]``."""
    came_from = _order.inverse(becomes)
    indices = becomes.astype(np.int32)[neighbors.indices[came_from]]
    return replace(neighbors, indices=indices, distances=neighbors.distances[came_from])


class Watch:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - began
