"""``hsls reproduce``: tiny runs, and what they leave behind."""

from __future__ import annotations

import json

import pytest

from hsls.cli import reproduce


def test_an_experiment_writes_its_folder(run, tmp_path, data_folder):
    out = tmp_path / "new" / "overlap"
    words = ["overlap", "--out", out, "--seeds", "1", "--data", data_folder, "--jobs", "1"]
    status, printed, complaints = run("reproduce", *words)
    assert (status, complaints) == (0, "")
    assert {path.name for path in out.iterdir()} == {
        "table.json",
        "table.csv",
        "overlap.png",
        "overlap.pdf",
        "report.md",
    }
    rows = json.loads((out / "table.json").read_text())
    assert f"overlap  {len(rows)} rows" in printed
    assert f"written  {out}" in printed
    status, printed, _ = run("reproduce", *words, "--json")
    figures = json.loads(printed)
    assert figures == {"tables": {"overlap": rows}, "written": [str(out)]}


def test_the_folder_of_the_data_may_come_from_the_environment(run, tmp_path, data_folder, monkeypatch):
    monkeypatch.setenv("HSLS_DATA", str(data_folder))
    words = ["overlap", "--out", tmp_path / "a", "--seeds", "1", "--jobs", "1", "--quiet"]
    assert run("reproduce", *words) == (0, "", "")


@pytest.mark.parametrize("page", [None, "docs/page.md"])
def test_all_writes_a_folder_each_and_a_page(run, tmp_path, data_folder, monkeypatch, page):
    monkeypatch.setattr(reproduce, "EXPERIMENTS", {"overlap": "of the paper", "robustness": "beyond it"})
    out = tmp_path / "results"
    words = ["--page", tmp_path / page] if page else []
    status, printed, _ = run(
        "reproduce", "all", "--out", out, "--seeds", "1", "--data", data_folder, "--jobs", "1", *words
    )
    assert status == 0
    target = tmp_path / page if page else out / "reproduction.md"
    assert str(target) in printed
    text = target.read_text(encoding="utf-8")
    assert text.startswith("# Reproduction")
    assert f"({'../results/' if page else ''}overlap/overlap.png)" in text
    assert (out / "overlap" / "report.md").is_file()
    assert [path.name for path in out.iterdir() if path.is_dir()] == ["overlap"]


def test_help_names_the_experiments(run):
    status, printed, _ = run("reproduce", "--help")
    assert status == 0
    for name in ("overlap", "coauthorship", "mortality", "recovery", "robustness", "all"):
        assert name in printed
        assert run("reproduce", name, "--help")[0] == 0


def test_without_data_and_network_the_sentence_says_what_to_put_where(run, tmp_path, monkeypatch):
    import pooch

    def unreachable(*_, **__):
        raise OSError("no route")

    monkeypatch.setattr(pooch, "retrieve", unreachable)
    status, printed, complaint = run(
        "reproduce", "overlap", "--out", tmp_path / "out", "--data", tmp_path, "--seeds", "1", "--jobs", "1"
    )
    assert (status, printed) == (1, "")
    assert complaint.startswith(
        "hsls: error: coauthorship-dblp.pickle could not be fetched (OSError); put the file https:"
    )
    assert complaint.endswith("into a folder and name it by HSLS_DATA or data=.\n")
    assert complaint.count("\n") == 1
    assert not list(tmp_path.iterdir())
