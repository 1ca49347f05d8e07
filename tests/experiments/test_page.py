"""Pages of reports."""

from hsls.experiments import page


def test_links_lead_from_the_page_to_the_folder(tmp_path):
    folder = tmp_path / "results" / "one"
    folder.mkdir(parents=True)
    (folder / "report.md").write_text("![A](a.png) and [b](b.csv), [c](https://example.org/c), [d](../d.md)\n")
    (tmp_path / "docs").mkdir()
    page.write(tmp_path / "docs" / "page.md", {"one": folder}, "# Head\n")
    assert (tmp_path / "docs" / "page.md").read_text() == (
        "# Head\n\n![A](../results/one/a.png) and [b](../results/one/b.csv), [c](https://example.org/c), [d](../d.md)\n"
    )
