"""How sure a learned hypergraph is: how often each hyperedge is found again on resampled observations.

References
----------
N. Meinshausen, P. Bühlmann, "Stability selection", Journal of the Royal Statistical Society B 72(4), 2010.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hsls import _checks, _refits, _runs
from hsls._refits import Estimator, Refit
from hsls._types import FloatArray, IntArray
from hsls._warnings import ConvergenceWarning
from hsls.hypergraph import Hypergraph
from hsls.tables import Signals

__all__ = ["Stability", "stability"]


@dataclass(frozen=True)
class Stability:
    """How often each hyperedge was found on resampled observations.

    Attributes
    ----------
    hypergraph : Hypergraph
        Of the fit on all observations, with the `frequencies` of its hyperedges.
    union : Hypergraph
        Every hyperedge that was found on some resample, with its frequency and, as weight, its mean weight over the
        resamples that it was found on.
    n_resamples : int
        Resamples drawn.
    n_failed : int
        Resamples on which no fit was possible; frequencies are shares of the others.
    n_warned : int
        Fits on resamples that gave a warning, such as that the solver did not converge.
    mean_selected : float
        Hyperedges found on a resample, on average.
    n_candidates : int or None
        Candidates of the fit on all observations.
    fraction : float
        Share of the observations in a resample.
    block : int or None
        Consecutive observations that are drawn together.
    seed : int
        As `random_state` it draws the same resamples again.
    """

    hypergraph: Hypergraph
    union: Hypergraph
    n_resamples: int
    n_failed: int
    n_warned: int
    mean_selected: float
    n_candidates: int | None
    fraction: float
    block: int | None
    seed: int

    @property
    def frequencies(self) -> FloatArray:
        """Frequency of each hyperedge of `hypergraph`."""
        assert self.hypergraph.frequencies is not None
        return self.hypergraph.frequencies

    def stable(self, threshold: float) -> Hypergraph:
        """The hyperedges found on at least this share of the resamples, whether or not on all observations."""
        return self.union.frequent(_checks.nonnegative(threshold, "threshold"))

    def expected_false(self, threshold: float) -> float:
        r"""Bound on the expected number of false hyperedges in ``stable(threshold)``.

        Meinshausen and Bühlmann's ``q^2 / ((2 threshold - 1) D)``, q hyperedges being found on a resample on average
        among D candidates. It holds for resamples of half of independent observations if the false hyperedges are
        exchangeable and the estimator no worse than guessing. Hyperedges that overlap a true one are not exchangeable
        with the rest, so take it for a guide.
        """
        threshold = _checks.nonnegative(threshold, "threshold")
        if not 0.5 < threshold <= 1:
            raise ValueError(f"threshold must be above 0.5 and at most 1 for the bound to hold, got {threshold}.")
        return self._bound() / (2 * threshold - 1)

    def threshold_for(self, expected_false: float) -> float:
        """The threshold at which `expected_false` is this number."""
        wanted = _checks.positive(expected_false, "expected_false")
        threshold = (1 + self._bound() / wanted) / 2
        if threshold > 1:
            raise ValueError(
                f"no threshold bounds the false hyperedges by {wanted:g}: {self.mean_selected:.4g} of "
                f"{self.n_candidates} candidates are found on a resample, which allows {self._bound():.3g} at least; "
                "make the estimator find fewer."
            )
        return threshold

    def _bound(self) -> float:
        if self.fraction != 0.5:
            raise ValueError(f"the bound is for resamples of half of the observations, not of {self.fraction:g}.")
        if not self.n_candidates:
            raise ValueError("the bound needs the number of candidates, which this estimator does not tell.")
        return self.mean_selected**2 / self.n_candidates

    def __repr__(self) -> str:
        return f"Stability({self.hypergraph.n_edges} hyperedges, {self.n_resamples} resamples, seed {self.seed})"


@dataclass(frozen=True)
class Plan:
    """Which resamples to draw; `of` checks."""

    n_observations: int
    n_resamples: int
    fraction: float
    block: int | None
    seed: int

    @classmethod
    def of(
        cls, n_observations: int, n_resamples: int = 50, fraction: float = 0.5, block: int | None = None,
        random_state: Any = None,
    ) -> Plan:  # fmt: skip
        """A plan for so many observations."""
        n_resamples = _checks.whole(n_resamples, "n_resamples")
        fraction = _checks.positive(fraction, "fraction")
        if fraction >= 1:
            raise ValueError(f"fraction must be below 1, got {fraction:g}; resamples are drawn without replacement.")
        length = 1 if block is None else _checks.whole(block, "block")
        if n_observations < 2 * length:
            raise ValueError(
                f"there are {n_observations} observations, too few to draw some from in blocks of {length}; "
                f"{'more are needed' if block is None else 'lower block'}."
            )
        rng = _checks.random_generator(random_state)
        seed = int(random_state if isinstance(random_state, numbers.Integral) else rng.integers(2**32))
        return cls(n_observations, n_resamples, fraction, None if block is None else length, seed)

    def draw(self) -> Iterator[IntArray]:
        """The positions of the observations of each resample, ascending."""
        length = self.block or 1
        blocks = np.array_split(np.arange(self.n_observations), np.arange(length, self.n_observations, length))
        size = min(len(blocks) - 1, max(1, round(self.fraction * len(blocks))))
        rng = np.random.default_rng(self.seed)
        for _ in range(self.n_resamples):
            chosen = np.sort(rng.choice(len(blocks), size, replace=False))
            yield np.concatenate([blocks[number] for number in chosen])


def stability(
    estimator: Estimator,
    X: Any,
    n_resamples: int = 50,
    *,
    fraction: float = 0.5,
    block: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Stability:
    """How often each hyperedge is found again on resampled observations.

    Parameters
    ----------
    estimator : HSLS, HypergraphMLE or another estimator of the package
        It is not changed: copies of it are fitted.
    X : array or data frame
        As for its `fit`.
    n_resamples : int
    fraction : float
        Share of the observations in a resample, drawn without replacement; half as in stability selection.
    block : int, optional
        Draw blocks of so many consecutive observations instead of single ones, for time series: neighbours in time
        are alike, and drawn one by one they would make every resample look like the whole.
    random_state : int, Generator, optional
        The result is the same for the same seed, whatever `n_jobs` is.
    n_jobs : int, optional
        Processes; -1 means all cores. By default as many, but one where all fits take less time than starting more.

    Returns
    -------
    Stability

    Warns
    -----
    Once, where fits on resamples were impossible (as where a node has no observation) or did not converge.

    Examples
    --------
    >>> from hsls import HSLS, random_hypergraph, smooth_signals, stability
    >>> X = smooth_signals(random_hypergraph(12, 6, 3, random_state=0), 100, random_state=0)
    >>> result = stability(HSLS(cardinalities=3), X, 20, random_state=0)
    >>> result.hypergraph.n_edges, result.union.n_edges
    (14, 62)
    """
    _refits.check(estimator)
    signals = _refits.signals_for(estimator, X)
    plan = Plan.of(signals.values.shape[1], n_resamples, fraction, block, random_state)
    model = _refits.copied(estimator).fit(X)
    return of_hypergraph(model.hypergraph_, _n_candidates(model), estimator, signals, plan, n_jobs)


def of_hypergraph(
    found: Hypergraph, n_candidates: int | None, estimator: Estimator, signals: Signals, plan: Plan, n_jobs: int | None
) -> Stability:
    """The same for a hypergraph that the estimator has found on all observations already."""
    work = partial(_refits.refit, estimator, signals)
    results = _runs.each_where_worth(work, plan.draw(), "resamples", n_jobs)
    fitted = [result.hypergraph for result in results if result.hypergraph is not None]
    _report(results, len(fitted))
    union = _refits.union(fitted, len(fitted))
    assert union.frequencies is not None
    places = _refits.positions_in(union, found)
    frequencies = np.append(union.frequencies, 0.0)[places]
    return Stability(
        hypergraph=found.with_frequencies(frequencies),
        union=union,
        n_resamples=len(results),
        n_failed=len(results) - len(fitted),
        n_warned=sum(result.n_warnings > 0 for result in results),
        mean_selected=float(np.mean([H.n_edges for H in fitted])),
        n_candidates=n_candidates,
        fraction=plan.fraction,
        block=plan.block,
        seed=plan.seed,
    )


def _report(results: list[Refit], n_fitted: int) -> None:
    """One warning each for what could not be fitted and for what did not converge; an error if nothing was fitted."""
    failures = [result.reason for result in results if result.hypergraph is None]
    if n_fitted == 0:
        raise ValueError(f"none of the {len(results)} resamples could be fitted: {failures[0]}")
    if failures:
        warnings.warn(
            f"{len(failures)} of {len(results)} resamples could not be fitted, and frequencies are over the others; "
            f"the first: {failures[0]}",
            UserWarning,
            stacklevel=4,
        )
    warned = sum(result.n_warnings > 0 for result in results)
    if warned:
        warnings.warn(
            f"{warned} of {len(results)} fits on resamples gave warnings, such as that the solver did not converge.",
            ConvergenceWarning,
            stacklevel=4,
        )


def _n_candidates(model: Any) -> int | None:
    for name in ("learned_", "candidates_"):
        count = getattr(getattr(model, name, None), "n_candidates", None)
        if count is not None:
            return int(count)
    return None
