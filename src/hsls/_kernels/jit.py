"""How kernels are compiled."""

from __future__ import annotations

from typing import Any

import numba

# Reassociation lets sums run in vector registers; NaN and infinity keep their meaning.
FAST_SUMS = {"reassoc", "contract", "nsz"}


def kernel(function: Any) -> Any:
    """Compile without the interpreter lock, and keep the machine code on disk for the next process."""
    return numba.njit(nogil=True, cache=True, fastmath=FAST_SUMS)(function)


def inline(function: Any) -> Any:
    """A helper that the kernels absorb."""
    return numba.njit(nogil=True, cache=True, fastmath=FAST_SUMS, inline="always")(function)
