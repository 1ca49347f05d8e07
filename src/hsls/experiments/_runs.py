"""Repetitions of an experiment, spread over processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from hsls import _progress, _threads

Task = TypeVar("Task")
Result = TypeVar("Result")


def each(work: Callable[[Task], Result], tasks: Iterable[Task], stage: str, n_jobs: int | None = None) -> list[Result]:
    """The results of `work` for each task, in their order, on as many processes as there are cores.

    Each process keeps to one thread: the problems are small, and their solvers mostly serial.
    """
    from joblib import Parallel, delayed

    listed = list(tasks)
    with _threads.limit(n_jobs):
        processes = max(1, min(_threads.count(), len(listed)))
    results: list[Result] = []
    with _progress.stage(stage, len(listed)) as reporter:
        parallel: Any = Parallel(n_jobs=processes, return_as="generator")
        for result in parallel(delayed(_alone)(work, task) for task in listed):
            results.append(result)
            if reporter is not None:
                reporter.advance(len(results), f"{len(results)} of {len(listed)}")
    return results


def _alone(work: Callable[[Task], Result], task: Task) -> Result:
    with _threads.limit(1):
        return work(task)
