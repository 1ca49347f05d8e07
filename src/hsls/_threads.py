"""Run compiled kernels over ranges on all cores.

The kernels release the interpreter lock, so plain threads suffice: they compile faster than a parallel numba
region, work inside any caller's threads or processes, and leave the split, hence the result, in our hands.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from hsls import _checks

Result = TypeVar("Result")

# Rows of a dense matrix from which on a second thread pays: below, waking it takes longer than its work.
_ROWS_A_THREAD = 400

_limit: ContextVar[int | None] = ContextVar("hsls_threads", default=None)
_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_pool_lock = threading.Lock()


def available() -> int:
    """Cores that this process may use; the environment variable HSLS_NUM_THREADS overrides it."""
    setting = os.environ.get("HSLS_NUM_THREADS")
    if setting:
        if not setting.isdecimal() or int(setting) < 1:
            raise ValueError(f"HSLS_NUM_THREADS must be a whole number of at least 1, got {setting!r}.")
        return int(setting)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count() -> int:
    """Threads that the current context uses."""
    return _limit.get() or available()


@contextmanager
def limit(n_jobs: int | None) -> Iterator[None]:
    """Within the block use `n_jobs` threads; None or -1 means all cores, -2 all but one, and so on."""
    jobs = -1 if n_jobs is None else _checks.whole(n_jobs, "n_jobs", least=-sys.maxsize)
    if jobs == 0:
        raise ValueError("n_jobs must be a whole number other than 0 (-1 for all cores), got 0.")
    token = _limit.set(jobs if jobs > 0 else max(1, available() + 1 + jobs))
    try:
        yield
    finally:
        _limit.reset(token)


@contextmanager
def for_dense(n_rows: int) -> Iterator[None]:
    """Within the block let dense linear algebra on matrices of this size use as many threads as it gains from."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(count() if n_rows >= _ROWS_A_THREAD else 1, user_api="blas"):
        yield


def split(length: int, parts: int) -> list[tuple[int, int]]:
    """Cut ``range(length)`` into at most `parts` contiguous ranges of nearly equal length."""
    parts = max(1, min(parts, length))
    cuts = [length * i // parts for i in range(parts + 1)]
    return list(itertools.pairwise(cuts))


def over(function: Callable[[int, int, int], Result], ranges: list[tuple[int, int]]) -> list[Result]:
    """Call ``function(start, stop, number)`` for each range, at most `count` of them at once, this thread included.

    A call that fails, or an interrupt, keeps the ranges that have not begun from being run.
    """
    workers = min(count(), len(ranges))
    if workers <= 1:
        return [function(start, stop, number) for number, (start, stop) in enumerate(ranges)]
    waiting = deque(enumerate(ranges))
    results: dict[int, Result] = {}

    def work() -> None:
        try:
            while True:
                try:
                    number, (start, stop) = waiting.popleft()
                except IndexError:
                    return
                results[number] = function(start, stop, number)
        except BaseException:
            waiting.clear()
            raise

    helpers = [_executor().submit(work) for _ in range(workers - 1)]
    try:
        work()
    finally:
        # A helper that has not begun, because others keep the pool busy, has nothing left to do.
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()
    return [results[number] for number in range(len(ranges))]


def _executor() -> ThreadPoolExecutor:
    global _pool, _pool_size
    with _pool_lock:
        if _pool is None or _pool_size < count():
            # A smaller pool may still be at work for another thread, so it is left to finish by itself.
            _pool_size = count()
            _pool = ThreadPoolExecutor(_pool_size, thread_name_prefix="hsls")
        return _pool


def _forget_pool() -> None:
    """A forked child has none of its parent's threads, and perhaps a lock that nobody will release."""
    global _pool, _pool_size, _pool_lock
    _pool, _pool_size, _pool_lock = None, 0, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
