"""Bars on a terminal that is a text in memory: drawn while a stage lasts, gone after it; elsewhere nothing at all."""

from __future__ import annotations

import io
import re
import sys

import pytest

from hsls import _progress, learn
from hsls._bars import Bars
from learned import gaussian_signals


class Terminal(io.StringIO):
    """Keeps what is written to it and says that it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def screen(written):
    """The lines that stand on a terminal in the end: line feeds, returns, cursor up and erased lines played back."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", written):
        if part == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif part == "\r":
            column = 0
        elif part == "\x1b[2K":
            lines[row] = ""
        elif re.fullmatch(r"\x1b\[\d*A", part):
            row -= int(part[2:-1] or 1)
        elif not part.startswith("\x1b"):
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + len(part) :]
            column += len(part)
    return [line.rstrip() for line in lines if line.strip()]


def shown(bars):
    """What the bars show, as a text."""
    bars._progress.refresh()
    return "\n".join(screen(bars._stream.getvalue()))


def test_a_stage_has_a_bar_with_its_name_and_note_as_long_as_it_lasts(terminal):
    with Bars(terminal) as bars:
        bars.begin("sorting", 10)
        bars.advance(5, "gap 1.0e-03 [half]")
        assert re.search(r"sorting +━+.* 0:00:00 gap 1\.0e-03 \[half\]", shown(bars))
        bars.end()
        assert shown(bars) == ""
        bars.begin("solving", None)
        assert "solving" in shown(bars)
        assert "sorting" not in shown(bars)
    assert screen(terminal.getvalue()) == []


def test_half_the_work_is_half_the_bar(terminal):
    with Bars(terminal) as bars:
        bars.begin("sorting", 10)
        lengths = []
        for done in (0, 2, 5, 10):
            bars.advance(done)
            bars._progress.refresh()
            (task,) = bars._progress.tasks
            lengths.append(task.percentage)
    assert lengths == [0, 20, 50, 100]


def test_a_stage_inside_a_stage_has_its_own_bar(terminal):
    with Bars(terminal) as bars, _progress.reporting(bars):
        with _progress.stage("outer", 2) as outer:
            outer.advance(1)
            with _progress.stage("inner", 4) as inner:
                inner.advance(3)
                assert [task.percentage for task in bars._progress.tasks] == [50, 75]
            outer.advance(2)
            assert [task.percentage for task in bars._progress.tasks] == [100]
        assert not bars._progress.tasks


def test_what_is_written_to_standard_error_stays_above_the_bars(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal)
    with Bars() as bars:
        bars.begin("sorting", 10)
        print("a warning", file=sys.stderr)
        bars._progress.refresh()
        lines = screen(terminal.getvalue())
        assert lines[0] == "a warning"
        assert "sorting" in lines[1]
    assert sys.stderr is terminal
    assert screen(terminal.getvalue()) == ["a warning"]


def test_standard_output_stays_standard_output(terminal, monkeypatch):
    output = io.StringIO()
    monkeypatch.setattr(sys, "stdout", output)
    with Bars(terminal) as bars:
        bars.begin("sorting", 10)
        print("a result")
    assert output.getvalue() == "a result\n"
    assert screen(terminal.getvalue()) == []


def test_a_failure_takes_the_bars_away(terminal):
    with pytest.raises(KeyError), Bars(terminal) as bars, _progress.reporting(bars), _progress.stage("sorting", 3):
        raise KeyError
    assert screen(terminal.getvalue()) == []
    written = terminal.getvalue()
    bars.begin("sorting", 3)
    bars.advance(1)
    bars.end()
    assert terminal.getvalue() == written


def test_the_same_bars_can_be_used_again(terminal):
    bars = Bars(terminal)
    for stage in ("first", "second"):
        with bars:
            bars.begin(stage, 2)
            assert stage in shown(bars)
    assert screen(terminal.getvalue()) == []


def test_learning_shows_its_stages(terminal):
    with Bars(terminal) as bars, _progress.reporting(bars):
        learned = learn(gaussian_signals())
    assert "solving" in terminal.getvalue()
    assert screen(terminal.getvalue()) == []
    assert learned.hypergraph == learn(gaussian_signals()).hypergraph


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_nothing_is_written_where_there_is_no_terminal(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    with Bars() as bars, _progress.reporting(bars), _progress.stage("sorting", 3) as reporter:
        reporter.advance(1, "half way")
    assert stream is None or stream.getvalue() == ""
