"""Overlap: the shares against candidates that are really made, and what is written."""

from __future__ import annotations

import json

import matplotlib
import numpy as np
import pytest

from hsls import smooth_signals
from hsls.candidates import knn_candidates
from hsls.datasets import COAUTHORSHIPS, load_coauthorship
from hsls.experiments import overlap
from hsls.experiments._outputs import Folder
from instances import nearest

SEEDS = 2


@pytest.fixture(scope="module")
def done(data_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("overlap")
    with matplotlib.rc_context({"backend": "agg"}):
        rows = overlap.run(Folder(folder), seeds=SEEDS, data=data_folder, n_jobs=1)
    return folder, rows


@pytest.mark.parametrize("name", COAUTHORSHIPS)
def test_shares_are_those_of_the_candidates(done, data_folder, name):
    truth = load_coauthorship(name, data=data_folder)
    rows = [row for row in done[1] if row["data"] == name]
    for row in rows[:: max(1, len(rows) // 3)]:
        shares = []
        for seed in range(SEEDS):
            X = smooth_signals(truth, 250, random_state=seed)
            table = nearest(X, row["neighbors"])
            sizes = [k for k in COAUTHORSHIPS[name].cardinalities if k - 1 <= row["neighbors"]]
            found = set(knn_candidates(dict.fromkeys(sizes, table)).edges)
            shares.append(np.mean([edge in found for edge in truth.edges]))
        assert row["share"] == pytest.approx(np.mean(shares))
        assert row["share_std"] == pytest.approx(np.std(shares, ddof=1))
        assert row["complete"] == pytest.approx(np.mean(np.array(shares) == 1.0))


@pytest.mark.parametrize("name", COAUTHORSHIPS)
def test_shares_grow_until_every_draw_has_all(done, name):
    rows = [row for row in done[1] if row["data"] == name]
    first = min(COAUTHORSHIPS[name].cardinalities) - 1
    assert [row["neighbors"] for row in rows] == list(range(first, first + len(rows)))
    for measure in ("share", "complete"):
        values = [row[measure] for row in rows]
        assert values == sorted(values)
        assert 0 <= values[0] <= values[-1] == 1.0
    assert rows[-1]["share_std"] == 0.0
    assert all(row["complete"] < 1.0 for row in rows[:-1])


def test_what_is_written(done):
    folder, rows = done
    names = {"table.json", "table.csv", "overlap.png", "overlap.pdf", "report.md"}
    assert {path.name for path in folder.iterdir()} == names
    assert json.loads((folder / "table.json").read_text()) == rows
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "2 draws" in report
    for name in COAUTHORSHIPS:
        own = [row for row in rows if row["data"] == name]
        (line,) = [line for line in report.splitlines() if line.startswith(f"| {overlap.title(name)} |")]
        assert line.endswith(f" | {own[-1]['neighbors']} |")


def test_bars_are_green_and_plain_only_where_all_draws_have_all(done):
    from hsls.drawing import _colours

    figure = overlap.figure(done[1])
    for ax, name in zip(figure.axes, COAUTHORSHIPS, strict=True):
        rows = [row for row in done[1] if row["data"] == name]
        bars = {round(bar.get_x() + bar.get_width() / 2): bar for bar in ax.patches}
        assert len(bars) == len(rows)
        for row in rows:
            bar = bars[row["neighbors"]]
            assert bar.get_height() == pytest.approx(100 * row["share"])
            full = row["share"] == 1.0
            colour = matplotlib.colors.to_rgba(_colours.GREEN if full else _colours.VERMILLION)
            assert bar.get_facecolor() == pytest.approx(colour)
            assert bool(bar.get_hatch()) != full


def test_one_draw_has_no_spread(data_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(overlap, "COAUTHORSHIPS", {"cora-uniform": COAUTHORSHIPS["cora-uniform"]})
    monkeypatch.setattr(overlap, "figure", lambda rows: matplotlib.figure.Figure())
    rows = overlap.run(Folder(tmp_path), seeds=1, data=data_folder, n_jobs=1)
    assert {row["share_std"] for row in rows} == {0.0}
    assert {row["complete"] for row in rows} <= {0.0, 1.0}


@pytest.mark.parametrize(("name", "title"), [("dblp-uniform", "DBLP (uniform)"), ("cora-mixed", "Cora (mixed)")])
def test_titles(name, title):
    assert overlap.title(name) == title
