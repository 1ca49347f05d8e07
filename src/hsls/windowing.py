"""A hypergraph for every window of time: what comes, stays and goes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from hsls import _checks, _refits, _runs
from hsls._refits import Estimator
from hsls._types import BoolArray, FloatArray, IntArray
from hsls._warnings import ConvergenceWarning
from hsls.hypergraph import Hypergraph
from hsls.tables import Signals

__all__ = ["Window", "Windows", "iter_windows", "windows"]


@dataclass(frozen=True)
class Window:
    """The hypergraph of the observations from `start` to `stop`, the latter not included.

    `gap` is the relative duality gap of the fit (NaN for estimators without), `n_warnings` how many warnings it gave.
    """

    start: int
    stop: int
    hypergraph: Hypergraph
    gap: float = math.nan
    n_warnings: int = 0


@dataclass(frozen=True)
class Windows:
    """The hypergraphs of successive windows, on the same nodes.

    Attributes
    ----------
    windows : tuple of Window
    length, step : int
        Observations in a window, and from the start of one to the start of the next.
    """

    windows: tuple[Window, ...]
    length: int
    step: int

    @property
    def bounds(self) -> IntArray:
        """Start and stop of each window, shape (n_windows, 2)."""
        return np.array([(window.start, window.stop) for window in self.windows], dtype=np.int64)

    @property
    def hypergraphs(self) -> list[Hypergraph]:
        """The hypergraph of each window."""
        return [window.hypergraph for window in self.windows]

    @property
    def gaps(self) -> FloatArray:
        """The relative duality gap of each window's fit, NaN where the estimator tells none."""
        return np.array([window.gap for window in self.windows])

    @cached_property
    def union(self) -> Hypergraph:
        """Every hyperedge of any window: its mean weight in those that hold it, and as frequency the share of these."""
        return _refits.union(self.hypergraphs, len(self.windows))

    @cached_property
    def weights(self) -> FloatArray:
        """Weight of each hyperedge of `union` (rows) in each window (columns), 0 where it is not in."""
        table = np.zeros((self.union.n_edges, len(self.windows)))
        for number, window in enumerate(self.windows):
            table[_refits.positions_in(self.union, window.hypergraph), number] = window.hypergraph.weights
        table.setflags(write=False)
        return table

    @cached_property
    def presence(self) -> BoolArray:
        """Which hyperedge of `union` (rows) is in which window (columns)."""
        table = np.zeros((self.union.n_edges, len(self.windows)), dtype=bool)
        for number, window in enumerate(self.windows):
            table[_refits.positions_in(self.union, window.hypergraph), number] = True
        table.setflags(write=False)
        return table

    def __len__(self) -> int:
        return len(self.windows)

    def __repr__(self) -> str:
        return f"Windows({len(self.windows)} of {self.length} observations, one every {self.step})"


def windows(
    estimator: Estimator, X: Any, length: int, *, step: int | None = None, n_jobs: int | None = None
) -> Windows:
    """Learn one hypergraph for every window of `length` consecutive observations.

    Every window is fitted by itself, as `fit` would; `HSLS.update` instead follows a stream with a fading memory.

    Parameters
    ----------
    estimator : HSLS, HypergraphMLE or another estimator of the package
        It is not changed: copies of it are fitted.
    X : array, data frame, or iterator of these
        As for its `fit`. An iterator (as a generator is) gives a long series piece by piece, oldest observation first;
        no more of it is held than the windows that are being fitted.
    length : int
    step : int, optional
        Observations from one window's start to the next; `length` by default, so that windows touch. Observations at
        the end that fill no window are left out.
    n_jobs : int, optional
        Processes; -1 means all cores. By default as many, but one where all fits take less time than starting more,
        and one for an iterator.

    Returns
    -------
    Windows
        For more windows than should be held at once, `hsls.windowing.iter_windows` gives them one by one.

    Examples
    --------
    >>> from hsls import HSLS, random_hypergraph, smooth_signals, windows
    >>> X = smooth_signals(random_hypergraph(12, 6, 3, random_state=0), 300, random_state=0)
    >>> result = windows(HSLS(cardinalities=3), X, 100, step=50)
    >>> result, result.bounds.tolist()
    (Windows(5 of 100 observations, one every 50), [[0, 100], [50, 150], [100, 200], [150, 250], [200, 300]])
    """
    if hasattr(X, "__next__"):
        found = list(iter_windows(estimator, X, length, step=step, n_jobs=n_jobs))
        if not found:
            raise ValueError(f"the series is shorter than one window of {length} observations; lower length.")
    else:
        length, step = _checked(estimator, length, step)
        signals = _refits.signals_for(estimator, X)
        count = signals.values.shape[1]
        if count < length:
            raise ValueError(f"a window of {length} observations is longer than the series of {count}; lower length.")
        starts = range(0, count - length + 1, step)
        found = _runs.each_where_worth(partial(_window, estimator, signals, length), starts, "windows", n_jobs)
    unsure = sum(window.n_warnings > 0 for window in found)
    if unsure:
        warnings.warn(
            f"the fits of {unsure} of {len(found)} windows gave warnings, such as that the solver did not converge.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Windows(tuple(found), length, length if step is None else step)


def iter_windows(
    estimator: Estimator, chunks: Iterable[Any], length: int, *, step: int | None = None, n_jobs: int | None = None
) -> Iterator[Window]:
    """The windows of a series that comes in pieces, one by one, in memory that does not grow with the series.

    Parameters
    ----------
    estimator, length, step
        As in `windows`.
    chunks : iterable of arrays or data frames
        Pieces of any lengths of the series, oldest observation first.
    n_jobs : int, optional
        Processes, 1 by default; with more, four windows for each are read ahead.

    Yields
    ------
    Window
        In their order, each as soon as its last observation has come and it is fitted.
    """
    length, step = _checked(estimator, length, step)
    if estimator.get_params(deep=False).get("observation_weights") is not None:
        raise ValueError("observation_weights are for one table; leave them out where the series comes in pieces.")
    pieces = (_refits.signals_for(estimator, chunk) for chunk in chunks)
    work = partial(_window_of_piece, estimator, length)
    return _runs.stream(work, _cut(pieces, length, step), 1 if n_jobs is None else n_jobs)


def _checked(estimator: Any, length: int, step: int | None) -> tuple[int, int]:
    _refits.check(estimator)
    length = _checks.whole(length, "length")
    return length, length if step is None else _checks.whole(step, "step")


def _cut(pieces: Iterable[Signals], length: int, step: int) -> Iterator[tuple[int, Signals]]:
    """Start and signals of each window; no more is held than the observations that windows to come need."""
    held: FloatArray | None = None
    names: tuple[str, ...] | None = None
    first = start = 0  # of what is held, and of the next window
    for piece in pieces:
        if held is None:
            held, names = piece.values[:, :0], piece.names
        if len(piece.values) != len(held) or piece.names != names:
            raise ValueError("the nodes of a piece of the series are others than those of the first piece.")
        held = np.concatenate([held, piece.values], axis=1)
        while start + length <= first + held.shape[1]:
            yield start, Signals(held[:, start - first : start - first + length].copy(), names)
            start += step
        over = min(start - first, held.shape[1])
        held, first = held[:, over:].copy(), first + over


def _window(estimator: Estimator, signals: Signals, length: int, start: int) -> Window:
    return _fitted(estimator, signals, np.arange(start, start + length), start)


def _window_of_piece(estimator: Estimator, length: int, task: tuple[int, Signals]) -> Window:
    return _fitted(estimator, task[1], np.arange(length), task[0])


def _fitted(estimator: Estimator, signals: Signals, observations: IntArray, start: int) -> Window:
    stop = start + len(observations)
    result = _refits.refit(estimator, signals, observations)
    if result.hypergraph is None:
        raise ValueError(f"observations {start} to {stop - 1}: {result.reason}")
    return Window(start, stop, result.hypergraph, result.gap, result.n_warnings)
