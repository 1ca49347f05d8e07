"""Checks of user input, each failing with one sentence: which input, what is wrong, what to do."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def positive(value: Any, name: str) -> float:
    """Return `value` as a float, or say that it must be a finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number above 0, got {value!r}.")
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}.")
    return number


def nonnegative(value: Any, name: str) -> float:
    """Return `value` as a float, or say that it must be a finite number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, 0 or more, got {value!r}.")
    number = float(value)
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{name} must be a finite number, 0 or more, got {value!r}.")
    return number


def whole(value: Any, name: str, least: int = 1) -> int:
    """Return `value` as an int, or say that it must be a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}.")
    return int(value)


def one_of(value: Any, name: str, known: Iterable[str]) -> str:
    """Return `value` if it is one of the `known` words; otherwise list them."""
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(repr(w) for w in words)}; got {value!r}.")
    return value


def node_names(names: Iterable[Any], count: int | None = None) -> tuple[str, ...]:
    """Return node names as distinct strings, `count` of them where it is given."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise TypeError(f"nodes must be a list of node names, got {names!r}.")
    result = tuple(map(str, names))
    if count is not None and len(result) != count:
        raise ValueError(f"nodes must hold one name for each of the {count} nodes, got {len(result)} names.")
    if len(set(result)) != len(result):
        seen: set[str] = set()
        repeated = next(name for name in result if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"node names must be distinct, but {repeated!r} stands more than once; rename one.")
    return result


def random_generator(random_state: Any) -> np.random.Generator:
    """The generator that `random_state` stands for: None (fresh), a seed, a Generator or a RandomState."""
    import numpy as np

    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(random_state._bit_generator)
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, bool) or not isinstance(random_state, numbers.Integral):
        raise TypeError(f"random_state must be None, a whole number or a numpy random Generator, got {random_state!r}.")
    return np.random.default_rng(whole(random_state, "random_state", least=0))
