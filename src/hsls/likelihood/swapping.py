"""Hyperedges replaced by one or two others that share nodes with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hsls._types import IntArray
from hsls.likelihood.evidence import Evidence, Refit, Score, above
from hsls.likelihood.remainder import Remainders

__all__ = ["swap"]

# Replacements that are tried with a refit each, the most promising first, and how many prices the score may fall before
# the refit, or before a second hyperedge is refitted.
_TRIED = 40
_FALL, _FALL_WITH_TWO = 3.0, 1.0


def swap(evidence: Evidence, refit: Refit, score: Score, price: float) -> Refit:
    """The refit with hyperedges replaced, where that is better."""
    best = score(refit)
    for old, new in _promising(evidence, refit, score, price):
        if old in refit.support and new not in refit.support:
            kept = refit.support != old
            trial = evidence.refit_with(
                replace(refit, support=refit.support[kept], weights=refit.weights[kept]), np.array([new])
            )
            if not above(score(trial), best):
                around = _around(evidence, np.array([old, new]), trial)
                gains = evidence.gains(trial, price, around)
                second = int(np.argmax(gains))
                if score(trial) + gains[second] - price > best - _FALL_WITH_TWO * price:
                    trial = evidence.refit_with(trial, around[[second]])
            if above(score(trial), best):
                refit, best = trial, score(trial)
    return refit


def _around(evidence: Evidence, numbers: IntArray, refit: Refit) -> IntArray:
    """The candidates that share a node with one of these, and are not in the refit."""
    return np.setdiff1d(evidence.edges.touching(np.unique(evidence.edges.take(numbers).indices)), refit.support)


def _promising(evidence: Evidence, refit: Refit, score: Score, price: float) -> list[tuple[int, int]]:
    """Hyperedges with the best in the place of each, those first with which the score is best before a refit."""
    remainders, best = Remainders(evidence, refit), score(refit)
    found = []
    for place, old in enumerate(refit.support.tolist()):
        around = _around(evidence, np.array([old]), refit)
        if len(around):
            rest, gains = remainders.gains_without(np.arange(len(refit.support)) == place, around, price)
            new = int(np.argmax(gains))
            rise = score(rest) + float(gains[new]) - price - best
            if rise > -_FALL * price:
                found.append((rise, old, int(around[new])))
    return [(old, new) for _, old, new in sorted(found, reverse=True)[:_TRIED]]
