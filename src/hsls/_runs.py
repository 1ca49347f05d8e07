"""Many runs of one piece of work, spread over processes: repetitions, resamples, windows."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from hsls import _progress, _threads

Task = TypeVar("Task")
Result = TypeVar("Result")

# Unless the user says how many, processes are started only for more work than they take to start, in seconds.
_WORTH_PROCESSES = 10.0
# Tasks of a stream that are taken up together, for each process.
_AHEAD = 4


def each(work: Callable[[Task], Result], tasks: Iterable[Task], stage: str, n_jobs: int | None = None) -> list[Result]:
    """The results of `work` for each task, in their order, on as many processes as there are cores.

    Each process keeps to one thread: the problems are small, and their solvers mostly serial.
    """
    listed = list(tasks)
    results: list[Result] = []
    with _progress.stage(stage, len(listed)) as reporter:
        for result in _spread(work, listed, n_jobs):
            results.append(result)
            if reporter is not None:
                reporter.advance(len(results), f"{len(results)} of {len(listed)}")
    return results


def each_where_worth(
    work: Callable[[Task], Result], tasks: Iterable[Task], stage: str, n_jobs: int | None = None
) -> list[Result]:
    """The same, but in this process alone where `n_jobs` is None and the time of the first task says so."""
    first, *others = tasks
    began = time.perf_counter()
    results = [_alone(work, first)]
    if n_jobs is None and (time.perf_counter() - began) * len(others) < _WORTH_PROCESSES:
        n_jobs = 1
    return results + each(work, others, stage, n_jobs)


def stream(work: Callable[[Task], Result], tasks: Iterable[Task], n_jobs: int | None = None) -> Iterator[Result]:
    """The same one by one: of the tasks only so many are taken up at once as keep the processes busy."""
    with _threads.limit(n_jobs):
        together = 1 if _threads.count() == 1 else _AHEAD * _threads.count()
    waiting = iter(tasks)
    while batch := list(itertools.islice(waiting, together)):
        yield from _spread(work, batch, n_jobs)


def _spread(work: Callable[[Task], Result], tasks: list[Task], n_jobs: int | None) -> Iterator[Result]:
    from joblib import Parallel, delayed

    with _threads.limit(n_jobs):
        processes = max(1, min(_threads.count(), len(tasks)))
    parallel: Any = Parallel(n_jobs=processes, return_as="generator")
    yield from parallel(delayed(_alone)(work, task) for task in tasks)


def _alone(work: Callable[[Task], Result], task: Task) -> Result:
    with _threads.limit(1), _progress.reporting(None):
        return work(task)
