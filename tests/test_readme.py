"""The commands and code of the README and of a page beside it are run, and print what they are said to print."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from hsls.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [Path("README.md"), Path("docs", "stability.md")]


def blocks(page, language):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def matches(expected, printed):
    """Whether the text is as expected; "..." stands for anything, a time for any time, a gap for any gap."""
    pattern = re.escape(expected.strip()).replace(re.escape("..."), ".*?")
    pattern = re.sub(r"\d+\\\.\d+\\ s\b", r"\\d+\\.\\d+ s", pattern)
    pattern = re.sub(r"\d\\\.\de\\-\d\d", r"\\d\\.\\de-\\d\\d", pattern)
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_python_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    programs, outputs = blocks(page, "python"), blocks(page, "text")
    assert len(programs) == len(outputs) >= 1
    for program, expected in zip(programs, outputs, strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, str(page), "exec"), {})
        assert printed.getvalue() == expected


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_commands_print_what_they_say(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (console,) = blocks(page, "console")
    steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE)
    assert len(steps) >= 4
    for command, expected in steps:
        words = shlex.split(command)
        assert words[0] == "hsls"
        assert main(words[1:]) == 0, command
        printed = capsys.readouterr()
        assert printed.err == ""
        assert matches(expected, printed.out), f"{command}\n{printed.out}"


def test_links_lead_to_files():
    for target in re.findall(r"\]\(((?!http)[^)#]+)\)", README):
        assert (ROOT / target).is_file(), target


@pytest.mark.parametrize("target", re.findall(r"`?make (\w+)", README))
def test_make_has_what_is_named(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_matcher_can_fail():
    assert matches("a ... c", "a b c\n")
    assert not matches("a ... c", "a b d")
    assert not matches("a", "a b")
    assert matches("took 0.12 s, gap 1.0e-09", "took 3.45 s, gap 7.2e-08")
    assert not matches("took 0.12 s", "took 3.45 m")
