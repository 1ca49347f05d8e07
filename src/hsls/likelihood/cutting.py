"""Groups of nodes cut off: all the hyperedges that join each of them to the rest left out at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsls._types import BoolArray, IntArray
from hsls.likelihood.evidence import Evidence, Refit, Score, above
from hsls.likelihood.field import node_labels
from hsls.likelihood.remainder import Remainders

__all__ = ["cut_off"]

# Groups are what stays connected as the lightest hyperedges go, at so many different shares of them.
_SHARES = 40
# Groups that are tried with a refit each, and how many prices the score may fall before it.
_TRIED = 20
_FALL = 3.0


@dataclass(frozen=True, eq=False)
class _Cut:
    """Hyperedges that join a group to the rest, and by how much the score rises without them before a refit."""

    joining: IntArray
    rise: float


def cut_off(evidence: Evidence, refit: Refit, score: Score, price: float) -> Refit:
    """The refit with groups cut off, where that is better.

    What a cut brings is known up to what the refit adds. Those that bring something without it are made together,
    where they do not meet; then the most promising ones are tried one by one.
    """
    best, remainders = score(refit), Remainders(evidence, refit)
    cuts = [
        _Cut(refit.support[joining], score(remainders.without(joining)) - best) for joining in _joining(evidence, refit)
    ]
    cuts = sorted((cut for cut in cuts if cut.rise > -_FALL * price), key=lambda cut: -cut.rise)
    together = evidence.edges.disjoint(cut.joining for cut in cuts if above(cut.rise, 0.0))
    for numbers in [np.concatenate([np.zeros(0, np.int64), *together]), *(cut.joining for cut in cuts[:_TRIED])]:
        kept = ~np.isin(refit.support, numbers)
        if not kept.all():
            trial = evidence.refit(refit.support[kept], refit.weights[kept])
            if above(score(trial), best):
                refit, best = trial, score(trial)
    return refit


def _joining(evidence: Evidence, refit: Refit) -> list[BoolArray]:
    """The hyperedges that join a group to the other nodes, for every group that may be apart.

    Groups are what stays connected without the lightest hyperedges, and the nodes of each hyperedge.
    """
    n_nodes, support, weights = evidence.edges.n_nodes, refit.support, refit.weights
    if not len(support):
        return []
    own = evidence.edges.take(support).incidence().toarray() > 0
    groups = {group.tobytes(): group for group in own}
    for share in np.quantile(weights, np.arange(1, _SHARES) / _SHARES):
        labels = node_labels(evidence.edges.take(support[weights >= share]))
        small = np.flatnonzero(np.bincount(labels) <= n_nodes // 2)
        groups.update({group.tobytes(): group for group in (labels == label for label in small.tolist())})
    inside = np.array(list(groups.values()), dtype=np.float32) @ own.T.astype(np.float32)
    joining = (inside > 0) & (inside < own.sum(axis=1))
    return list({some.tobytes(): some for some in joining if some.any()}.values())
