"""The way from signals to a hypergraph by maximum likelihood, free of scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hsls import _checks, _progress, _threads
from hsls._types import AnyArray, FloatArray, IntArray
from hsls.candidates import DEFAULT_MEMORY_BUDGET, Candidates, check_cardinalities, knn_candidates
from hsls.learning import Learned, Settings, Watch, candidates_and_neighbors, check_signals, is_word, sample_of
from hsls.likelihood.evidence import of_length_one
from hsls.likelihood.field import Likelihood
from hsls.likelihood.newton import maximise
from hsls.selection import Criterion, Path, choose_penalty

__all__ = ["LikelihoodSettings", "learn_by_likelihood"]

# Up to so many hyperedges "auto" takes all, and neighbours are nothing to choose.
_ALL = 200_000
# Beyond, the candidates of the nearest nodes are joined by those of so many most correlated ones.
_CORRELATED = 8
# Rows of the matrix of correlations at a time.
_ROWS = 1_000


@dataclass(frozen=True)
class LikelihoodSettings:
    """Everything that `learn_by_likelihood` can be told; each is described at `hsls.HypergraphMLE`."""

    cardinalities: Any = (2, 3)
    neighbors: Any = "auto"
    candidates: Any = None
    penalty: Any = "auto"
    criterion: str = "ebic"
    gamma: float = 0.5
    folds: int = 5
    threshold: float = 0.3
    scale: Any = "auto"
    centre: bool = False
    noise: float = 0.0
    tol: float = 1e-6
    max_iter: int = 200
    observation_weights: Any = None
    neighbor_search: str = "auto"
    memory_budget: float | None = DEFAULT_MEMORY_BUDGET
    n_jobs: int | None = None

    @property
    def chooses(self) -> bool:
        """Whether the penalty follows from the data."""
        return bool(self.penalty == "auto")

    def check(self) -> Settings:
        """Refuse what no data could make right; returns the settings of the way to the candidates."""
        if not self.chooses:
            _checks.positive(self.penalty, "penalty")
        if is_word(self.neighbors, "certified"):
            raise ValueError(
                f"neighbors='certified' is for HSLS; use 'all', as 'auto' does up to {_ALL:,} hyperedges, or a number."
            )
        Criterion(self.criterion, self.gamma, self.folds)
        _checks.nonnegative(self.noise, "noise")
        if not isinstance(self.centre, bool | np.bool_):
            raise TypeError(f"centre must be True or False, got {self.centre!r}.")
        return Settings(
            cardinalities=self.cardinalities,
            neighbors=self.neighbors,
            candidates=self.candidates,
            scale=self.scale,
            threshold=self.threshold,
            tol=self.tol,
            max_iter=self.max_iter,
            observation_weights=self.observation_weights,
            neighbor_search=self.neighbor_search,
            memory_budget=self.memory_budget,
            n_jobs=self.n_jobs,
        ).check()


def learn_by_likelihood(
    X: AnyArray, settings: LikelihoodSettings | None = None, *, nodes: Iterable[Any] | None = None
) -> Learned:
    """Learn a hypergraph from signals by penalised maximum likelihood; arguments as those of `hsls.learn`."""
    settings = settings or LikelihoodSettings()
    search = settings.check()
    with _threads.limit(settings.n_jobs):
        signals = check_signals(X)
        names = _checks.node_names(range(len(signals)) if nodes is None else nodes, len(signals))
        with _threads.for_dense(len(signals)):
            return _learn(signals, settings, search, names)


def _learn(X: FloatArray, settings: LikelihoodSettings, search: Settings, names: tuple[str, ...]) -> Learned:
    watch = Watch()
    if settings.centre:
        X = X - np.nanmean(X, axis=1, keepdims=True)
    search = _with_neighbors(search, X)
    with watch.stage("candidates"), _progress.stage("candidates"):
        candidates, neighbors = candidates_and_neighbors(X, search, names)
        if is_word(search.neighbors, "auto") and neighbors is not None and not np.isnan(X).any():
            candidates = _with_correlated(candidates, X, settings.memory_budget)
    with watch.stage("variation"), _progress.stage("variations"):
        sample = sample_of(candidates, X, settings.scale, settings.observation_weights, settings.noise)
    path: Path | None = None
    with watch.stage("solve"):
        if settings.chooses:
            criterion = Criterion(settings.criterion, settings.gamma, settings.folds)
            choice = choose_penalty(sample, criterion, tol=settings.tol, max_iter=settings.max_iter)
            path, solution, penalty = choice.path, choice.solution, choice.path.value
            weights = np.zeros(candidates.n_candidates)
            weights[choice.refit.support] = choice.refit.weights
            found = candidates.hypergraph(weights, 0.0, names)
        else:
            penalty = float(settings.penalty)
            problem = Likelihood(candidates, sample.variations(), penalty)
            solution = maximise(problem, tol=settings.tol, max_iter=settings.max_iter)
            found = candidates.hypergraph(solution.weights, settings.threshold, names)
    return Learned(
        hypergraph=found,
        solution=solution,
        scale=sample.unit,
        neighbors=neighbors,
        n_candidates=candidates.n_candidates,
        seconds=watch.seconds,
        renumbered=False,
        _settings=search,
        _candidates=candidates,
        _tables={},
        _inside=None,
        path=path,
        parameter=penalty,
    )


def _with_correlated(candidates: Candidates, X: FloatArray, memory_budget: float | None) -> Candidates:
    """The candidates and those of each node's most correlated ones, in either sign.

    The level of a component that stands alone tells nothing, so its nodes may be far from one another, but dependent.
    """
    table = _most_correlated(X, min(_CORRELATED, len(X) - 1))
    more = knn_candidates(
        {k: table for k in candidates.cardinalities if k - 1 <= table.shape[1]}, memory_budget=memory_budget
    )
    blocks = dict(zip(candidates.cardinalities, candidates.members, strict=True))
    for k, block in zip(more.cardinalities, more.members, strict=True):
        blocks[k] = np.unique(np.concatenate([blocks[k], block]), axis=0)
    return Candidates(candidates.n_nodes, tuple(blocks.values()))


def _most_correlated(X: FloatArray, count: int) -> IntArray:
    """The nodes of the largest ``|x_i'x_j| / ||x_j||`` for each node i, largest first, itself left out."""
    scaled = of_length_one(X)
    table = np.empty((len(X), count), dtype=np.int64)
    for first in range(0, len(X), _ROWS):
        strength = np.abs(scaled[first : first + _ROWS] @ scaled.T)
        rows = np.arange(len(strength))
        strength[rows, first + rows] = -1.0
        table[first : first + _ROWS] = np.argsort(-strength, axis=1, kind="stable")[:, :count]
    return table


def _with_neighbors(search: Settings, X: FloatArray) -> Settings:
    """The settings with "auto" neighbours decided: all hyperedges, unless these are too many.

    Of missing values there may be nodes that share no observation; neighbours always do.
    """
    if is_word(search.neighbors, "auto") and not np.isnan(X).any():
        sizes = check_cardinalities(search.cardinalities, len(X))
        if sum(math.comb(len(X), k) for k in sizes) <= _ALL:
            return replace(search, neighbors="all")
    return search
