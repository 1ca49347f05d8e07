"""A better set of hyperedges: cut groups off, drop what explains little, add what explains much."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from hsls._types import BoolArray, IntArray
from hsls.likelihood.evidence import Evidence, Refit
from hsls.likelihood.field import node_labels

__all__ = ["combine", "improve"]

# Hyperedges added in one step, at most, and how many of the best are looked at for them.
_ADDED = 32
_LOOKED_AT = 200
# Weight that an added hyperedge starts from, over the mean.
_SMALL = 1e-2
# A rise of the score by less is none: refits are that accurate, and a parameter costs some fifty times as much.
_LEAST_RISE = 0.1
# Groups are what stays connected as the lightest hyperedges go, at so many different shares of them; of these and the
# hyperedges' own nodes so many that the work, N^2 each, stays within bounds.
_SHARES = 40
_WORK = 6e6

Score = Callable[[Refit], float]


def improve(
    evidence: Evidence, refit: Refit, score: Score, price: float, *, cuts: bool = True, max_rounds: int = 100
) -> Refit:
    """Cut groups off, drop and add hyperedges, several at a time and fewer where that does not help, while it rises.

    Parameters
    ----------
    evidence : Evidence
    refit : Refit
        Where to begin.
    score : callable
        What is to rise.
    price : float
        What a hyperedge must at least add to the log-likelihood to be looked at.
    cuts : bool
        Whether to cut groups off, which takes most of the time.
    max_rounds : int
    """
    if not cuts:
        return _stepped(evidence, refit, score, price, max_rounds)
    while True:
        before = score(refit)
        refit = _cut(evidence, refit, score)
        refit = _stepped(evidence, refit, score, price, max_rounds)
        if not _above(score(refit), before):
            return refit


def combine(evidence: Evidence, refits: Sequence[Refit], score: Score) -> Refit:
    """The best set, with those parts of the others in which they are better.

    Where two sets differ, the hyperedges that share nodes are taken over together.
    """
    ranked = sorted(refits, key=score, reverse=True)
    best, value = ranked[0], score(ranked[0])
    rising = True
    while rising:
        rising = False
        for other in ranked[1:]:
            for part in _parts(evidence, np.setxor1d(best.support, other.support)):
                keep, take = ~np.isin(best.support, part), np.isin(other.support, part)
                trial = evidence.refit(
                    np.append(best.support[keep], other.support[take]),
                    np.append(best.weights[keep], other.weights[take]),
                )
                if _above(score(trial), value):
                    best, value, rising = trial, score(trial), True
    return best


def _above(value: float, best: float) -> bool:
    return value > best + _LEAST_RISE


def _stepped(evidence: Evidence, refit: Refit, score: Score, price: float, max_rounds: int) -> Refit:
    best = score(refit)
    for _ in range(max_rounds):
        before = best
        for propose in (_without, _with):
            for trial in propose(evidence, refit, price):
                value = score(trial)
                if _above(value, best):
                    refit, best = trial, value
                    break
        if best == before:
            break
    return refit


def _cut(evidence: Evidence, refit: Refit, score: Score) -> Refit:
    """Every group in turn cut off, all the hyperedges that join it to the rest left out at once, if that is better."""
    best = score(refit)
    incidence = evidence.edges.incidence()
    for group in _groups(evidence, refit):
        inside = np.asarray(incidence[refit.support] @ group.astype(np.float64))
        joining = (inside > 0) & (inside < evidence.edges.sizes[refit.support])
        if joining.any():
            trial = evidence.refit(refit.support[~joining], refit.weights[~joining])
            if _above(score(trial), best):
                refit, best = trial, score(trial)
    return refit


def _groups(evidence: Evidence, refit: Refit) -> list[BoolArray]:
    """Nodes that may be apart from the others, those first that the least weight joins to them."""
    n_nodes, support, weights = evidence.edges.n_nodes, refit.support, refit.weights
    if not len(support):
        return []
    found: dict[bytes, BoolArray] = {}
    for cut in np.quantile(weights, np.arange(1, _SHARES) / _SHARES):
        labels = node_labels(evidence.edges.take(support[weights >= cut]))
        small = np.flatnonzero(np.bincount(labels) <= n_nodes // 2)
        found.update({group.tobytes(): group for group in (labels == label for label in small.tolist())})
    own = evidence.edges.take(support).incidence().toarray() > 0
    found.update({group.tobytes(): group for group in own})
    groups = np.array(list(found.values()))
    inside = groups.astype(np.float64) @ own.T
    joining = (inside > 0) & (inside < own.sum(axis=1))
    order = np.argsort(joining @ weights, kind="stable")
    most = max(1, int(_WORK / n_nodes**2))
    return [groups[place] for place in order[:most].tolist() if joining[place].any()]


def _parts(evidence: Evidence, numbers: IntArray) -> list[IntArray]:
    """The hyperedges of these numbers, those that share nodes together."""
    edges = evidence.edges.take(numbers)
    of_edge = node_labels(edges)[edges.indices[edges.indptr[:-1]]]
    return [numbers[of_edge == label] for label in np.unique(of_edge)]


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
    gains = evidence.gains(refit, price)
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
