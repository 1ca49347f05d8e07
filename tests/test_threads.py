"""Ranges on several threads: the same results in the same order, never more threads than asked for."""

from __future__ import annotations

import multiprocessing
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsls import _threads

# Long enough for any machine under load; reached only by a failure.
PATIENCE = 60


def meeting(parties):
    """A function for `over` that returns only once `parties` threads are in it at the same time."""
    barrier = threading.Barrier(parties)

    def meet(start, stop, number):
        barrier.wait(PATIENCE)
        return number, start, stop

    return meet


class Crowd:
    """A function for `over` that counts how many threads are in it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.inside = self.most = 0

    def __call__(self, start, stop, number):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(0.002)
        with self.lock:
            self.inside -= 1


@given(st.integers(0, 200), st.integers(-2, 50))
def test_split_cuts_into_contiguous_ranges_of_nearly_equal_length(length, parts):
    ranges = _threads.split(length, parts)
    assert [i for start, stop in ranges for i in range(start, stop)] == list(range(length))
    assert len(ranges) == max(1, min(parts, length))
    sizes = [stop - start for start, stop in ranges]
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 5))
def test_over_gives_one_result_for_each_range_in_order(length, parts, threads):
    ranges = _threads.split(length, parts)
    with _threads.limit(threads):
        results = _threads.over(lambda start, stop, number: (number, start, stop), ranges)
    assert results == [(number, *pair) for number, pair in enumerate(ranges)]


def test_no_ranges_no_results():
    with _threads.limit(2):
        assert _threads.over(lambda *_: 1, []) == []


@pytest.mark.parametrize("threads", [2, 3])
def test_as_many_threads_as_asked_for_work_at_once(threads):
    with _threads.limit(threads):
        assert len(_threads.over(meeting(threads), _threads.split(30, threads))) == threads


def test_a_limit_holds_even_where_a_larger_pool_exists():
    with _threads.limit(4):
        _threads.over(meeting(4), _threads.split(4, 4))
    crowd = Crowd()
    with _threads.limit(2):
        _threads.over(crowd, _threads.split(20, 20))
    assert crowd.most <= 2


def test_one_thread_means_the_calling_one():
    with _threads.limit(1):
        assert set(_threads.over(lambda *_: threading.current_thread(), _threads.split(5, 5))) == {
            threading.current_thread()
        }


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failure_comes_out_and_ends_the_run(threads):
    ran = []

    def fail(_start, _stop, number):
        ran.append(number)
        raise IndexError(f"range {number}")

    with _threads.limit(threads):
        with pytest.raises(IndexError, match="range"):
            _threads.over(fail, _threads.split(100, 100))
        assert len(ran) <= threads
        assert _threads.over(lambda start, *_: start, [(0, 1), (1, 2)]) == [0, 1]


def test_a_failure_in_a_helping_thread_comes_out():
    caller = threading.current_thread()
    meet = meeting(2)

    def fail(*number):
        meet(*number)
        if threading.current_thread() is not caller:
            raise ValueError("the helper failed")

    with _threads.limit(2), pytest.raises(ValueError, match="the helper failed"):
        _threads.over(fail, _threads.split(2, 2))


def test_work_inside_work_ends():
    def inner(start, stop, _number):
        return sum(_threads.over(lambda a, b, _: b - a, _threads.split(stop - start, 4)))

    with _threads.limit(3):
        assert sum(_threads.over(inner, _threads.split(100, 10))) == 100


def test_callers_in_several_threads_share_the_pool():
    sums = []

    def call():
        with _threads.limit(2):
            sums.append(sum(_threads.over(lambda a, b, _: sum(range(a, b)), _threads.split(1000, 50))))

    callers = [threading.Thread(target=call) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(PATIENCE)
    assert sums == [sum(range(1000))] * 8


def test_a_limit_counts_as_scikit_learn_counts_jobs(monkeypatch):
    monkeypatch.setenv("HSLS_NUM_THREADS", "6")
    assert _threads.count() == 6
    for n_jobs, threads in [(None, 6), (-1, 6), (-2, 5), (-6, 1), (-100, 1), (1, 1), (3, 3), (9, 9)]:
        with _threads.limit(n_jobs):
            assert _threads.count() == threads
    with _threads.limit(2):
        with _threads.limit(5):
            assert _threads.count() == 5
        assert _threads.count() == 2
    assert _threads.count() == 6


def test_a_limit_ends_with_its_block_also_after_a_failure():
    before = _threads.count()
    with pytest.raises(KeyError), _threads.limit(before + 3):
        raise KeyError
    assert _threads.count() == before


def test_a_limit_is_of_its_own_thread_alone():
    before = _threads.count()
    seen = []
    with _threads.limit(before + 3):
        other = threading.Thread(target=lambda: seen.append(_threads.count()))
        other.start()
        other.join(PATIENCE)
    assert seen == [before]


@pytest.mark.parametrize(("n_jobs", "error"), [(0, ValueError), (True, TypeError), (1.5, TypeError), ("2", TypeError)])
def test_what_is_no_number_of_jobs_is_refused(n_jobs, error):
    with pytest.raises(error, match="n_jobs must be a whole number"), _threads.limit(n_jobs):
        pass


@pytest.mark.parametrize("setting", ["0", "-1", "two", "1.5", "²"])
def test_what_is_no_number_of_threads_is_refused(monkeypatch, setting):
    monkeypatch.setenv("HSLS_NUM_THREADS", setting)
    with pytest.raises(ValueError, match="HSLS_NUM_THREADS must be a whole number of at least 1"):
        _threads.count()


def _meet_in_child(queue):
    with _threads.limit(2):
        queue.put(_threads.over(meeting(2), _threads.split(10, 2)))


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
def test_the_pool_works_again_in_a_forked_child():
    with _threads.limit(2):
        _threads.over(meeting(2), _threads.split(10, 2))
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_meet_in_child, args=(queue,))
    child.start()
    child.join(PATIENCE)
    alive = child.is_alive()
    if alive:
        child.kill()
    assert not alive
    assert queue.get() == [(0, 0, 5), (1, 5, 10)]


@pytest.mark.parametrize(("rows", "threads", "expected"), [(20, 4, 1), (2_000, 1, 1)])
def test_dense_algebra_has_the_threads_that_it_gains_from(rows, threads, expected):
    from threadpoolctl import threadpool_info

    def blas():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = blas()
    with _threads.limit(threads), _threads.for_dense(rows):
        assert set(blas()) <= {expected}
    assert blas() == before
