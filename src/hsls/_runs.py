"""Many runs of one piece of work, spread over processes: repetitions, resamples, windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from hsls import _progress, _threads

Task = TypeVar("Task")
Result = TypeVar("Result")


def each(work: Callable[[Task], Result], tasks: Iterable[Task], stage: str, n_jobs: int | None = None) -> list[Result]:
    """The results of `work` for each task, in their order, on as many processes as there are cores.

    Each process keeps to one thread: the problems are small, and their solvers mostly serial.
    """
    listed = list(tasks)
    results: list[Result] = []
    with _progress.stage(stage, len(listed)) as reporter:
        for result in stream(work, listed, n_jobs, most=len(listed)):
            results.append(result)
            if reporter is not None:
                reporter.advance(len(results), f"{len(results)} of {len(listed)}")
    return results


def stream(
    work: Callable[[Task], Result], tasks: Iterable[Task], n_jobs: int | None = None, most: int | None = None
) -> Iterator[Result]:
    """The same one by one, and of the tasks only those taken up that are soon to be run; at most `most` processes."""
    from joblib import Parallel, delayed

    with _threads.limit(n_jobs):
        processes = _threads.count() if most is None else max(1, min(_threads.count(), most))
    parallel: Any = Parallel(n_jobs=processes, return_as="generator")
    yield from parallel(delayed(_alone)(work, task) for task in tasks)


def _alone(work: Callable[[Task], Result], task: Task) -> Result:
    with _threads.limit(1), _progress.reporting(None):
        return work(task)
