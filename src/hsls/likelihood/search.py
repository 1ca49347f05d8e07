"""A better set of hyperedges in steps: drop those that explain little, add those that would explain much."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hsls.likelihood.evidence import Evidence, Refit

__all__ = ["improve"]

# Hyperedges added in one step, at most, and how many of the best are looked at for them.
_ADDED = 32
_LOOKED_AT = 200
# Weight that an added hyperedge starts from, over the mean.
_SMALL = 1e-2
# Differences of the score below this share are rounding.
_ROUNDING = 1e-9


def improve(
    evidence: Evidence, refit: Refit, score: Callable[[Refit], float], price: float, max_rounds: int = 100
) -> Refit:
    """Drop and add hyperedges, several at a time and fewer where that does not help, while the score rises.

    Parameters
    ----------
    evidence : Evidence
    refit : Refit
        Where to begin.
    score : callable
        What is to rise.
    price : float
        What a hyperedge must at least add to the log-likelihood to be looked at.
    max_rounds : int
    """
    best = score(refit)
    for _ in range(max_rounds):
        before = best
        for propose in (_without, _with):
            for trial in propose(evidence, refit, price):
                value = score(trial)
                if value > best + _ROUNDING * abs(best):
                    refit, best = trial, value
                    break
        if best == before:
            break
    return refit


def _without(evidence: Evidence, refit: Refit, price: float) -> Iterator[Refit]:
    """All that are not worth their price left out, then the worst half of them, and so on down to one."""
    losses = evidence.losses(refit)
    order = np.argsort(losses, kind="stable")
    count = int(np.sum(losses < price))
    while count:
        kept = np.sort(order[count:])
        yield evidence.refit(refit.support[kept], refit.weights[kept])
        count //= 2


def _with(evidence: Evidence, refit: Refit, price: float) -> Iterator[Refit]:
    """The best that share no node added, then half of them, and so on; also without what that makes needless."""
    gains = evidence.gains(refit)
    order = [e for e in np.argsort(-gains, kind="stable")[:_LOOKED_AT].tolist() if gains[e] > price]
    apart = _apart(evidence, order)[:_ADDED]
    count = len(apart)
    while count:
        added = np.array(apart[:count], dtype=np.int64)
        small = _SMALL * float(refit.weights.mean()) if len(refit.weights) else 1.0
        trial = evidence.refit(np.append(refit.support, added), np.append(refit.weights, np.full(count, small)))
        yield trial
        kept = evidence.losses(trial) >= price
        if not kept.all():
            yield evidence.refit(trial.support[kept], trial.weights[kept])
        count //= 2


def _apart(evidence: Evidence, order: list[int]) -> list[int]:
    """The hyperedges that share no node with one before them."""
    found: list[int] = []
    used: set[int] = set()
    pointers, indices = evidence.edges.indptr, evidence.edges.indices
    for e in order:
        members = indices[pointers[e] : pointers[e + 1]].tolist()
        if used.isdisjoint(members):
            used.update(members)
            found.append(e)
    return found
