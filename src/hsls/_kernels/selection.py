"""Order statistics of the variations."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsls._kernels.jit import kernel

# Sign, exponent and four bits of the mantissa: neighbouring bins differ by 6 %.
_SHIFT = 48
BINS = 1 << (64 - _SHIFT)


@kernel
def count_bins(bits: Any, histogram: Any, start: int, stop: int) -> None:
    """histogram_b += number of patterns with leading bits b."""
    for e in range(start, stop):
        histogram[bits[e] >> np.uint64(_SHIFT)] += 1


@kernel
def take_bins(bits: Any, first: int, last: int, start: int, stop: int) -> Any:
    """The patterns of the bins `first` to `last`."""
    number = 0
    for e in range(start, stop):
        b = np.int64(bits[e] >> np.uint64(_SHIFT))
        if first <= b <= last:
            number += 1
    out = np.empty(number, np.uint64)
    number = 0
    for e in range(start, stop):
        b = np.int64(bits[e] >> np.uint64(_SHIFT))
        if first <= b <= last:
            out[number] = bits[e]
            number += 1
    return out


@kernel
def least_at_nodes(members: Any, z: Any, out: Any, start: int, stop: int) -> None:
    """out_i = the least z_e over the candidates that hold i, where that is below out_i."""
    for e in range(start, stop):
        for j in range(members.shape[1]):
            i = members[e, j]
            out[i] = min(out[i], z[e])
