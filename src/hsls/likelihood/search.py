"""A better set of hyperedges: drop what explains little, add what explains much, cut groups off, swap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hsls import _progress
from hsls._types import FloatArray, IntArray
from hsls.likelihood.cutting import cut_off
from hsls.likelihood.evidence import Evidence, Refit, Score, above
from hsls.likelihood.field import node_labels
from hsls.likelihood.swapping import swap

__all__ = ["combine", "explore", "heaviest", "heavy", "improve"]

# Weights, over that of a hyperedge of typical variation, from which on hyperedges make a set: what explains much and
# nearly all, to be improved from either side.
_STARTS = (0.3, 0.2, 0.1)
# With more nodes than these, where a step takes long, only the best of the sets is improved.
_MANY, _FEW = 400, 1
# Of the improved sets so many are improved by cuts and swaps, too.
_BEST = 2
# Hyperedges added in one step, at most, and how many of the best are looked at for them.
_ADDED = 32
_LOOKED_AT = 200


def explore(evidence: Evidence, offers: Sequence[Sequence[FloatArray]], score: Score, price: float) -> list[Refit]:
    """The best set that begins from each offer of weights; the best of all begins from all of them.

    The heavy hyperedges of each offer, and none at all, are starts from which hyperedges are dropped and added while
    the score rises; for more than 400 nodes only the best is. The best that come of it are improved by cutting
    groups off and swapping hyperedges, all is combined, and that improved once more.
    """
    starts = [
        [
            evidence.refit(chosen, weights[chosen])
            for weights in own
            for chosen in heaviest(weights, heavy(weights, _STARTS))
        ]
        for own in offers
    ]
    starts[0].append(evidence.refit(np.zeros(0, dtype=np.int64)))
    places = [(at, place) for at, own in enumerate(starts) for place in range(len(own))]

    def ranked(some: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Those of different hyperedges, the best first."""
        found: dict[bytes, tuple[int, int]] = {}
        for at, place in sorted(some, key=lambda which: -score(starts[which[0]][which[1]])):
            found.setdefault(np.sort(starts[at][place].support).tobytes(), (at, place))
        return list(found.values())

    if evidence.edges.n_nodes > _MANY:
        places = ranked(places)[:_FEW]
    with _progress.stage("choosing", len(places) + _BEST + 1) as reporter:

        def advance(done: int) -> None:
            if reporter is not None:
                reporter.advance(done)

        for done, (at, place) in enumerate(places):
            starts[at][place] = improve(evidence, starts[at][place], score, price, thorough=False)
            advance(done + 1)
        improved = []
        for done, (at, place) in enumerate(ranked(places)[:_BEST]):
            starts[at][place] = improve(evidence, starts[at][place], score, price)
            improved.append(starts[at][place])
            advance(len(places) + done + 1)
        together = combine(evidence, [starts[at][place] for at, place in places], score)
        if not any(together is one for one in improved):
            together = improve(evidence, together, score, price)
    found = [max(own, key=score) for own in starts]
    found[max(range(len(found)), key=lambda at: score(found[at]))] = together
    return found


def heaviest(weights: FloatArray, sizes: Sequence[int]) -> list[IntArray]:
    """Positions of the largest weights, ascending, as many as each size says."""
    order = np.argsort(-weights, kind="stable")
    return [np.sort(order[:size]) for size in sizes]


def heavy(weights: FloatArray, cuts: Sequence[float]) -> list[int]:
    """The different numbers of weights of at least each cut, at least 1."""
    return sorted({max(1, int(np.sum(weights >= cut))) for cut in cuts})


def improve(
    evidence: Evidence, refit: Refit, score: Score, price: float, *, thorough: bool = True, max_rounds: int = 100
) -> Refit:
    """Drop and add hyperedges, several at a time and fewer where that does not help, cut groups off and swap.

    Parameters
    ----------
    evidence : Evidence
    refit : Refit
        Where to begin.
    score : callable
        What is to rise; the search ends when it does not.
    price : float
        What a hyperedge must at least add to the log-likelihood to be looked at.
    thorough : bool
        Whether to cut groups off and to swap hyperedges, which takes most of the time.
    max_rounds : int
    """
    if not thorough:
        return _stepped(evidence, refit, score, price, max_rounds)
    while True:
        before = score(refit)
        refit = cut_off(evidence, refit, score, price)
        refit = _stepped(evidence, refit, score, price, max_rounds)
        refit = swap(evidence, refit, score, price)
        if not above(score(refit), before):
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
                if above(score(trial), value):
                    best, value, rising = trial, score(trial), True
    return best


def _stepped(evidence: Evidence, refit: Refit, score: Score, price: float, max_rounds: int) -> Refit:
    best = score(refit)
    for _ in range(max_rounds):
        before = best
        for propose in (_without, _with):
            for trial in propose(evidence, refit, price):
                value = score(trial)
                if above(value, best):
                    refit, best = trial, value
                    break
        if best == before:
            break
    return refit


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
    order = np.argsort(-gains, kind="stable")[:_LOOKED_AT]
    apart = evidence.edges.disjoint(order[gains[order] > price, None])[:_ADDED]
    count = len(apart)
    while count:
        trial = evidence.refit_with(refit, np.concatenate(apart[:count]))
        yield trial
        kept = evidence.losses(trial) >= price
        if not kept.all():
            yield evidence.refit(trial.support[kept], trial.weights[kept])
        count //= 2
