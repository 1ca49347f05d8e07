"""Random hyperedges, all different, that cover every node."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain, combinations

import numpy as np

from hsls import _flat
from hsls._types import FloatArray, IntArray

# Plain draws cover every node with probability near exp(-u), u the expected number of nodes left out: up to
# u = 2 they are simply repeated, and 100 of them then fail together with a probability below 1e-6.
MOST_UNCOVERED = 2.0
_ATTEMPTS = 100

# Random partners tried for one exchange before an arrangement is given up and another begun.
_EXCHANGES = 10_000


def covering(n_nodes: int, counts: Mapping[int, int], rng: np.random.Generator) -> list[IntArray]:
    """Different hyperedges that cover every node: for each cardinality k an array (counts[k], k)."""
    if uncovered(n_nodes, counts) <= MOST_UNCOVERED:
        for _ in range(_ATTEMPTS):
            blocks = [distinct(n_nodes, k, count, rng) for k, count in counts.items()]
            if len(np.unique(np.concatenate([block.ravel() for block in blocks]))) == n_nodes:
                return blocks
    while True:
        arranged = arrangement(n_nodes, counts, rng)
        if arranged is not None:
            return arranged


def uncovered(n_nodes: int, counts: Mapping[int, int]) -> float:
    """Expected number of nodes in none of uniformly drawn hyperedges."""
    return n_nodes * math.prod((1.0 - k / n_nodes) ** count for k, count in counts.items())


def possible(n_nodes: int, k: int) -> int:
    """Number of different hyperedges of k nodes; a lower bound, above 10^11, where it is astronomic."""
    return math.comb(n_nodes, min(k, n_nodes - k, 20))


def distinct(n_nodes: int, k: int, count: int, rng: np.random.Generator) -> IntArray:
    """`count` different hyperedges of k nodes, every such set equally likely."""
    total = possible(n_nodes, k)
    if total < 4 * count:
        everything = np.fromiter(chain.from_iterable(combinations(range(n_nodes), k)), np.int64, total * k)
        return everything.reshape(total, k)[rng.choice(total, count, replace=False)]
    rows = np.zeros((0, k), dtype=np.int64)
    while len(rows) < count:
        fresh = subsets(n_nodes, k, count - len(rows), rng)
        rows = _flat.distinct_rows(np.concatenate([rows, fresh]), n_nodes)
    return rows


def subsets(n_nodes: int, k: int, count: int, rng: np.random.Generator) -> IntArray:
    """`count` independent uniform k-subsets, each ascending (Floyd's algorithm, all of them side by side)."""
    rows = np.empty((count, k), dtype=np.int64)
    for place, last in enumerate(range(n_nodes - k, n_nodes)):
        drawn = rng.integers(0, last + 1, count)
        taken = np.any(rows[:, :place] == drawn[:, None], axis=1)
        rows[:, place] = np.where(taken, last, drawn)
    rows.sort(axis=1)
    return rows


def arrangement(n_nodes: int, counts: Mapping[int, int], rng: np.random.Generator) -> list[IntArray] | None:
    """Covering hyperedges from node degrees of at least 1, or None where they could not be arranged.

    The places in the hyperedges are filled at random by as many copies of each node as its degree says;
    places where a node meets itself, and hyperedges that repeat another, then change places with random
    others, which keeps the degrees.
    """
    sizes = np.repeat(np.array(list(counts), dtype=np.int64), list(counts.values()))
    indptr = np.concatenate([np.zeros(1, np.int64), sizes.cumsum()])
    degrees = covering_degrees(n_nodes, counts, rng)
    flat = rng.permutation(np.repeat(np.arange(n_nodes), degrees))
    while True:
        wrong = _wrong_places(n_nodes, counts, indptr, flat, rng)
        if len(wrong) == 0:
            return _blocks(flat, counts)
        for place in wrong.tolist():
            if not _exchange(place, indptr, flat, rng):
                return None


def covering_degrees(n_nodes: int, counts: Mapping[int, int], rng: np.random.Generator) -> IntArray:
    """Degrees of the nodes: independent, given that none is 0 and that they fill the hyperedges exactly.

    Without the conditions a degree is a sum of binomials, one for each cardinality. Drawn is how many nodes
    have each degree, a multinomial, again and again until the sum is right: exact, and the chance of one
    draw only falls with sqrt(n_nodes).
    """
    places = sum(k * count for k, count in counts.items())
    if places == n_nodes:
        return np.ones(n_nodes, dtype=np.int64)
    law = _degree_law(n_nodes, counts, places / n_nodes)
    values = np.arange(1, len(law) + 1)
    while True:
        draws = rng.multinomial(n_nodes, law, size=1024)
        right = np.flatnonzero(draws @ values == places)
        if len(right):
            return np.asarray(rng.permutation(np.repeat(values, draws[right[0]])))


def _degree_law(n_nodes: int, counts: Mapping[int, int], mean: float) -> FloatArray:
    """Probabilities of the degrees 1, 2, ...: sums of binomials without 0, tilted to the wanted mean.

    A tilt p_v -> p_v theta^v changes nothing once the sum of all degrees is given.
    """
    from scipy.optimize import brentq
    from scipy.special import gammaln

    longest = min(sum(counts.values()), int(mean + 12 * math.sqrt(mean) + 40))
    law = np.ones(1)
    for k, count in counts.items():
        v = np.arange(min(count, longest) + 1)
        log = gammaln(count + 1) - gammaln(v + 1) - gammaln(count - v + 1) + v * math.log(k / n_nodes)
        law = np.convolve(law, np.exp(log + (count - v) * math.log1p(-k / n_nodes)))[: longest + 1]
    values = np.arange(1, len(law))
    with np.errstate(divide="ignore"):
        log_law = np.log(law[1:])

    def tilted(log_theta: float) -> FloatArray:
        exponent = log_law + log_theta * values
        weights = np.exp(exponent - exponent.max())
        return np.asarray(weights / weights.sum())

    return tilted(brentq(lambda log_theta: float(tilted(log_theta) @ values) - mean, -50.0, 50.0))


def _blocks(flat: IntArray, counts: Mapping[int, int]) -> list[IntArray]:
    ends = np.cumsum([k * count for k, count in counts.items()])
    parts = np.split(flat, ends[:-1])
    return [np.sort(part.reshape(-1, k), axis=1) for part, k in zip(parts, counts, strict=True)]


def _wrong_places(
    n_nodes: int, counts: Mapping[int, int], indptr: IntArray, flat: IntArray, rng: np.random.Generator
) -> IntArray:
    """Places where a node stands a second time in its hyperedge; if none, one in each repeated hyperedge."""
    owners = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((flat, owners))
    again = (owners[order][1:] == owners[order][:-1]) & (flat[order][1:] == flat[order][:-1])
    if np.any(again):
        return np.asarray(order[1:][again])
    wrong, first = [np.zeros(0, np.int64)], 0
    for k, rows in zip(counts, _blocks(flat, counts), strict=True):
        packed = _flat.keys(rows, n_nodes)
        order = np.lexsort(packed[::-1])
        repeated = order[_flat.repeats([key[order] for key in packed])]
        wrong.append(first + repeated * k + rng.integers(0, k, len(repeated)))
        first += rows.size
    return np.concatenate(wrong)


def _exchange(place: int, indptr: IntArray, flat: IntArray, rng: np.random.Generator) -> bool:
    """Exchange a node with a random one of another hyperedge so that neither node meets itself."""
    number = _flat.owner(indptr, place)
    here = flat[indptr[number] : indptr[number + 1]]
    for other in rng.integers(0, len(flat), _EXCHANGES).tolist():
        number = _flat.owner(indptr, other)
        there = flat[indptr[number] : indptr[number + 1]]
        if flat[other] not in here and flat[place] not in there:
            flat[place], flat[other] = flat[other], flat[place]
            return True
    return False
