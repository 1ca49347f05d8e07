"""Work over processes: in order, one thread each, told to whoever listens."""

from __future__ import annotations

import operator

import pytest

from hsls import _progress, _threads
from hsls._runs import each


class Listener:
    def __init__(self):
        self.told = []

    def begin(self, stage, total):
        self.told.append((stage, total))

    def advance(self, done, note=""):
        self.told.append((done, note))

    def end(self):
        self.told.append("end")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    assert each(operator.neg, iter([5, 3, 8, -1]), "negating", n_jobs) == [-5, -3, 8 - 16, 1]


def test_a_task_keeps_to_one_thread():
    with _threads.limit(3):
        assert each(lambda _: _threads.count(), [0, 1], "counting", 1) == [1, 1]
        assert _threads.count() == 3


def test_progress_is_told_task_by_task():
    listener = Listener()
    with _progress.reporting(listener):
        each(operator.neg, [1, 2], "negating", 1)
    assert listener.told == [("negating", 2), (1, "1 of 2"), (2, "2 of 2"), "end"]


def test_what_goes_wrong_in_a_task_is_raised():
    listener = Listener()
    with _progress.reporting(listener), pytest.raises(ValueError, match="invalid literal"):
        each(int, ["1", "x"], "reading", 1)
    assert listener.told[-1] == "end"
    with pytest.raises(ValueError, match="n_jobs must be a whole number other than 0"):
        each(int, ["1"], "reading", 0)


def test_no_tasks_have_no_results():
    assert each(int, [], "nothing", 2) == []
