"""Progress: told to the reporter of the context in the right order, and to nobody else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsls import _progress
from hsls.solvers import fbf, newton
from instances import random_problem


class Listener:
    """Keeps what it hears."""

    def __init__(self):
        self.heard = []

    def begin(self, stage, total):
        self.heard.append(("begin", stage, total))

    def advance(self, done, note=""):
        self.heard.append(("advance", done, note))

    def end(self):
        self.heard.append(("end",))

    def done(self):
        return [event[1] for event in self.heard if event[0] == "advance"]


def test_nobody_listens_by_default():
    with _progress.stage("sorting", 3) as reporter:
        assert reporter is None
    with _progress.towards("solving", 1e-6) as report:
        report(1e-3)


def test_a_stage_begins_advances_and_ends():
    listener = Listener()
    with _progress.reporting(listener), _progress.stage("sorting", 3) as reporter:
        assert reporter is listener
        reporter.advance(2, "half way")
    assert listener.heard == [("begin", "sorting", 3), ("advance", 2, "half way"), ("end",)]


def test_a_stage_that_fails_ends_too():
    listener = Listener()
    with pytest.raises(KeyError), _progress.reporting(listener), _progress.stage("sorting"):
        raise KeyError
    assert listener.heard == [("begin", "sorting", None), ("end",)]


def test_listening_ends_with_its_block_and_can_be_turned_off_inside():
    outer, inner = Listener(), Listener()
    with _progress.reporting(outer):
        with _progress.reporting(inner), _progress.stage("a"):
            pass
        with _progress.reporting(None), _progress.stage("b"):
            pass
        with _progress.stage("c"):
            pass
    with _progress.stage("d"):
        pass
    assert inner.heard == [("begin", "a", None), ("end",)]
    assert outer.heard == [("begin", "c", None), ("end",)]


@given(st.floats(1e-300, 10.0), st.lists(st.floats(), max_size=10))
def test_towards_counts_decades_from_one_to_the_tolerance(tolerance, gaps):
    listener = Listener()
    with _progress.reporting(listener), _progress.towards("solving", tolerance) as report:
        for gap in gaps:
            report(gap)
    goal = listener.heard[0][2]
    assert goal > 0
    if tolerance < 0.9:
        assert goal == pytest.approx(-math.log10(tolerance))
    for gap, done in zip(gaps, listener.done(), strict=True):
        if gap <= 0 or gap <= tolerance < 0.9:
            assert done == goal
        elif gap >= 1 or math.isnan(gap):
            assert done == 0
        else:
            assert done == pytest.approx(min(goal, -math.log10(gap)))


def test_the_note_names_what_is_measured():
    listener = Listener()
    with _progress.reporting(listener), _progress.towards("solving", 1e-4, "change") as report:
        report(1e-2)
    assert listener.heard[1] == ("advance", 2.0, "change 1.0e-02")


@pytest.mark.parametrize(
    ("solver", "options", "measure"),
    [(newton, {}, "gap"), (fbf, {}, "change"), (fbf, {"gap_tol": 1e-2, "balance": 0.3}, "gap")],
)
def test_a_solver_that_converges_arrives(solver, options, measure):
    listener = Listener()
    with _progress.reporting(listener):
        solution = solver(random_problem(), **options)
    assert solution.converged
    first, *_, last, end = listener.heard
    assert first[1] == "solving"
    assert last[1] == first[2]
    assert last[2].startswith(measure)
    assert end == ("end",)
