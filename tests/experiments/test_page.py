"""Pages of reports: the reports in order, and links that lead to the figures from where it lies."""

from __future__ import annotations

import re

import pytest

from hsls.experiments import page


@pytest.fixture
def folders(tmp_path):
    made = {}
    for name in ("one", "two"):
        made[name] = tmp_path / "results" / name
        made[name].mkdir(parents=True)
        (made[name] / "figure.png").write_bytes(b"png")
        (made[name] / "report.md").write_text(
            f"## {name} é\n\n![A figure](figure.png)\n\n[a page](https://example.org/x.png) ![far](https://example.org/y.png)\n",
            encoding="utf-8",
        )
    return made


@pytest.mark.parametrize("place", ["page.md", "docs/page.md", "results/page.md", "results/one/page.md"])
def test_links_lead_to_the_figures_wherever_the_page_is(folders, tmp_path, place):
    target = tmp_path / place
    page.write(target, folders)
    text = target.read_text(encoding="utf-8")
    figures = re.findall(r"!\[A figure\]\(([^)]*)\)", text)
    assert [(target.parent / figure).resolve() for figure in figures] == [
        (folder / "figure.png").resolve() for folder in folders.values()
    ]
    assert text.count("(https://example.org/x.png)") == text.count("(https://example.org/y.png)") == 2
    assert text.startswith("# Reproduction\n")
    assert text.index("## one é") < text.index("## two é")


def test_a_page_replaces_an_older_one_and_may_be_relative(folders, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text("older")
    page.write("page.md", folders)
    assert "results/one/figure.png" in (tmp_path / "page.md").read_text(encoding="utf-8")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".hsls")]


def test_a_page_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(ValueError, match="it is a folder; add a file name"):
        page.check(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(ValueError, match="cannot be made a folder"):
        page.check(tmp_path / "file" / "page.md")
    page.check(tmp_path / "new" / "page.md")
    assert not (tmp_path / "new").exists()


def test_links_to_files_lead_there_from_the_page(tmp_path):
    folder = tmp_path / "results" / "one"
    folder.mkdir(parents=True)
    (folder / "report.md").write_text("![A](a.png) and [b](b.csv), [c](https://example.org/c), [d](../d.md)\n")
    (tmp_path / "docs").mkdir()
    page.write(tmp_path / "docs" / "page.md", {"one": folder}, "# Head\n")
    assert (tmp_path / "docs" / "page.md").read_text() == (
        "# Head\n\n![A](../results/one/a.png) and [b](../results/one/b.csv), [c](https://example.org/c), [d](../d.md)\n"
    )
