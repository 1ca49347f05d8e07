"""The typical variation that the objective is measured in, so that alpha and beta mean the same in any units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hsls import _checks, _threads
from hsls._kernels import selection
from hsls._types import FloatArray
from hsls.candidates import Candidates

__all__ = ["SCALES", "typical"]

SCALES = ("auto", "median", "mean")

# "auto" makes the variation of a typical node's nearest candidate this large. With alpha = beta = 1 few hyperedges a
# node stay then; from 3 to 10 the choice hardly matters (`make calibration` prints the table, on simulated signals).
_NEAREST = 6.0

# From here on the median by counting, which reads the values twice and copies few, beats numpy's, which copies all.
_MANY = 100_000


def typical(
    candidates: Candidates,
    z: FloatArray,
    scale: str | float | None,
    nearest_is: float = _NEAREST,
    least: Callable[[], FloatArray] | None = None,
) -> float:
    """The number that the variations are to be divided by.

    "auto" looks at the least variation among each node's candidates and makes its median over the nodes `nearest_is`:
    unlike the median over the candidates it does not move with the number of neighbours. Where such a median is 0,
    as when most nodes are identical, the median of all variations takes its place, then their mean, then 1. `least`
    gives the least variation at each node where that may not be among the candidates.
    """
    if scale is None:
        return 1.0
    if not isinstance(scale, str):
        return _checks.positive(scale, "scale")
    choice = _checks.one_of(scale, "scale (None, a number above 0, or a name)", SCALES)
    if choice == "auto":
        nearest = float(np.median(least_at_nodes(candidates, z) if least is None else least()))
        if nearest > 0:
            return nearest / nearest_is
    if choice != "mean":
        middle = median(z)
        if middle > 0:
            return middle
    return float(np.mean(z)) or 1.0


def least_at_nodes(candidates: Candidates, z: FloatArray) -> FloatArray:
    """For each node that a candidate holds, the least variation among its candidates."""
    parts = _threads.count() if len(z) > _MANY else 1

    def work(part: int, _stop: int, _number: int) -> FloatArray:
        out = np.full(candidates.n_nodes, np.inf)
        for block, first in zip(candidates.members, candidates.offsets, strict=False):
            start, stop = len(block) * part // parts, len(block) * (part + 1) // parts
            selection.least_at_nodes(block.view(np.uint32), z[first : first + len(block)], out, start, stop)
        return out

    least = np.minimum.reduce(_threads.over(work, [(part, part + 1) for part in range(parts)]))
    return np.asarray(least[np.isfinite(least)])


def median(values: FloatArray) -> float:
    """Median of finite numbers of at least 0, exactly, without a copy of all of them."""
    if len(values) < _MANY:
        return float(np.median(values))
    # The bit patterns of such doubles order as the doubles do, and the leading bits bin them.
    bits = np.ascontiguousarray(values).view(np.uint64)
    ranges = _threads.split(len(bits), _threads.count())

    def count(start: int, stop: int, _: int) -> Any:
        histogram = np.zeros(selection.BINS, dtype=np.int64)
        selection.count_bins(bits, histogram, start, stop)
        return histogram

    reached = np.cumsum(sum(_threads.over(count, ranges)))
    ranks = ((len(bits) - 1) // 2, len(bits) // 2)
    first, last = (int(np.searchsorted(reached, rank, side="right")) for rank in ranks)
    chosen = np.concatenate(_threads.over(lambda a, b, _: selection.take_bins(bits, first, last, a, b), ranges))
    below = int(reached[first - 1]) if first else 0
    places = [rank - below for rank in ranks]
    middle = np.partition(chosen, places)[places].view(np.float64)
    return float(middle.mean())
