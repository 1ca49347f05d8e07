"""How the command behaves towards shells, pipes and interruptions."""

import logging
import subprocess
import sys

import pytest

from hsls.cli import _report, main


def python(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("words", [["--help"], ["learn", "--help"], ["--version"], ["learn", "--alhpa", "1", "x.csv"]])
def test_help_and_mistyped_options_load_no_numerical_library(words):
    heavy = ("numpy", "scipy", "numba", "sklearn", "matplotlib", "rich")
    done = python(
        f"import sys; from hsls.cli import main; status = main({words!r}); "
        f"print('loaded', [name for name in {heavy!r} if name in sys.modules])"
    )
    assert done.stdout.endswith("loaded []\n"), done.stdout + done.stderr


def test_python_m_hsls_is_the_command():
    done = subprocess.run([sys.executable, "-m", "hsls", "frobnicate"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("hsls: error: ")


def test_an_interruption_leaves_nothing_half_written(run, signals, monkeypatch):
    out = signals.with_name("learned.csv")
    out.write_text("older")
    before = sorted(path.name for path in signals.parent.iterdir())

    def interrupted(*_):
        raise KeyboardInterrupt

    for place in ("hsls.learning.solve", "os.replace"):
        with monkeypatch.context() as patch:
            patch.setattr(place, interrupted)
            status, printed, complaint = run("learn", signals, "-o", out, "--alpha", "1")
        assert (status, printed) == (130, "")
        assert complaint == "hsls: interrupted; nothing half-written is left.\n"
        assert out.read_text() == "older"
        assert sorted(path.name for path in signals.parent.iterdir()) == before


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    done = python(
        "import subprocess, sys\n"
        "words = [sys.executable, '-m', 'hsls', '--help']\n"
        "child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)\n"
        "child.stdout.close()\n"
        "print(child.wait(), child.stderr.read())\n"
    )
    assert done.stdout == "0 b''\n"


def test_unexpected_errors_are_one_line_and_status_1(run, signals, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a\nb")

    monkeypatch.setattr("hsls.learning.solve", broken)
    status, _, complaint = run("learn", signals, "--alpha", "1")
    assert status == 1
    assert complaint == "hsls: error: unexpected RuntimeError: a b; run again with --debug for the traceback.\n"
    assert "Traceback" in run("learn", signals, "--alpha", "1", "--debug")[2]


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (MemoryError(), 1, "there is not enough memory; lower --neighbors or --cardinalities."),
        (ImportError("drawing needs matplotlib"), 1, "drawing needs matplotlib"),
        (OSError(28, "No space left on device", "x.json"), 1, "x.json: No space left on device."),
        (ValueError("x is wrong."), 2, "x is wrong."),
        (TypeError("x must be a number."), 2, "x must be a number."),
    ],
)
def test_errors_have_the_status_they_deserve(capsys, error, status, message):
    assert _report.failure(error, traceback=False) == status
    assert capsys.readouterr().err == f"hsls: error: {message}\n"


def test_warnings_and_the_log_become_lines(capsys):
    import warnings

    with _report.warnings_as_lines():
        warnings.warn("two\nlines", UserWarning, stacklevel=1)
        logging.getLogger("hsls").warning("from the log")
        logging.getLogger("hsls").info("not shown")
    assert capsys.readouterr().err == "hsls: warning: two lines\nhsls: warning: from the log\n"
    logging.getLogger("hsls").handlers.clear()


def test_names_that_the_terminal_cannot_show_are_escaped(monkeypatch, capsys):
    class Narrow:
        encoding = "ascii"

        def __init__(self):
            self.text = ""

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    narrow = Narrow()
    monkeypatch.setattr("sys.stdout", narrow)
    _report.say("Zürich")
    assert narrow.text == "Z\\xfcrich\n"


def test_debug_of_bad_usage_shows_the_traceback(capsys):
    assert main(["learn", "--debug", "none.csv"]) == 2
    assert "Traceback" in capsys.readouterr().err
