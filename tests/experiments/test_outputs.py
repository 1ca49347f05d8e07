"""Files of experiments: the same values in every form, all or nothing, and a folder only once there is something."""

from __future__ import annotations

import csv
import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from hsls.experiments._outputs import Folder, markdown

ROWS = [
    {"name": "a,b", "share": np.float64(0.1), "count": np.int64(3), "none": None},
    {"name": 'é "x"', "share": 1 / 3, "count": 4, "none": 2.5},
]


def test_a_table_is_the_same_in_json_and_csv(tmp_path):
    Folder(tmp_path).table("table", ROWS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv", "table.json"]
    assert json.loads((tmp_path / "table.json").read_text(encoding="utf-8")) == ROWS
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["name"] for row in read] == ["a,b", 'é "x"']
    assert [float(row["share"]) for row in read] == [0.1, 1 / 3]
    assert [row["none"] for row in read] == ["", "2.5"]
    assert b"\r" not in (tmp_path / "table.csv").read_bytes()


def test_a_table_of_nothing(tmp_path):
    Folder(tmp_path).table("empty", [])
    assert json.loads((tmp_path / "empty.json").read_text()) == []
    assert (tmp_path / "empty.csv").read_text().strip() == ""


def test_arrays_are_lists_and_other_objects_are_refused_with_nothing_written(tmp_path):
    folder = Folder(tmp_path / "new")
    with pytest.raises(TypeError, match="object cannot be written as JSON"):
        folder.json("x", {"a": object()})
    assert not list(tmp_path.rglob("*"))
    folder.json("x", {"a": np.arange(3), "b": np.bool_(True)})
    assert json.loads((tmp_path / "new" / "x.json").read_text()) == {"a": [0, 1, 2], "b": True}


def test_the_folder_is_made_with_the_first_file(tmp_path):
    folder = Folder(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()
    folder.text("x.md", "é\n")
    assert (tmp_path / "a" / "b" / "x.md").read_bytes() == "é\n".encode()
    Folder(tmp_path / "a" / "b").text("x.md", "new\n")
    assert (tmp_path / "a" / "b" / "x.md").read_text() == "new\n"


def test_a_relative_folder_and_the_one_that_one_is_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Folder("new").text("x", "1")
    Folder(".").text("y", "2")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["new", "x", "y"]


def test_a_figure_is_written_as_png_and_pdf(tmp_path):
    figure = Figure(figsize=(1, 1))
    figure.subplots().plot([0, 1])
    Folder(tmp_path / "f").figure("lines", figure)
    assert (tmp_path / "f" / "lines.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "f" / "lines.pdf").read_bytes().startswith(b"%PDF")
    assert len(list((tmp_path / "f").iterdir())) == 2


def test_a_folder_that_cannot_be_is_refused_at_once(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "deeper" / "still"):
        with pytest.raises(ValueError, match=r"cannot be made a folder: .*file is no folder\.$"):
            Folder(path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    for path in (tmp_path, tmp_path / "new"):
        with pytest.raises(ValueError, match=r"cannot be written: permission denied\.$"):
            Folder(path)


def test_a_folder_that_cannot_be_made_after_all(tmp_path):
    folder = Folder(tmp_path / "new")
    (tmp_path / "new").write_text("in the way")
    with pytest.raises(ValueError, match="cannot be made a folder: File exists"):
        folder.text("x", "y")


CELLS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=5)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=4))
def test_a_table_in_markdown_has_as_many_cells_in_each_line(rows):
    lines = markdown(["one", "two"], rows).splitlines()
    assert lines[:2] == ["| one | two |", "| --- | --- |"]
    for line, row in zip(lines[2:], rows, strict=True):
        cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
        assert [cell.replace("\\|", "|") for cell in cells] == list(row)
