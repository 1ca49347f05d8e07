"""Mortality: the paper's table to the last digit that it prints, and what else is told beside it."""

from __future__ import annotations

import json

import matplotlib
import numpy as np
import pytest

from hsls import HSLS, KNNHypergraph, total_variation
from hsls.datasets import load_mortality, load_smoking, load_temperature
from hsls.experiments import mortality
from hsls.experiments._outputs import Folder

KEYS = ["variation", "solver", "alpha", "beta", "knn_tv", "knn_edges", "tv", "edges", "smoking_tv", "temperature_tv"]

# As the paper prints them: K-NN and its hyperedges, HSLS and its hyperedges, smoking, temperature.
TABLE = {
    "sum-square": "59.3 32 41.9 38 305.5 2006.7",
    "sum-absolute": "148.5 32 142.7 32 431.1 922.2",
    "max-absolute": "63.0 32 60.4 32 206.1 500.3",
    "max-square": "28.5 32 11.5 34 162.0 1184.6",
}


# Some points of the grid.
POINTS = [(0.1, 0.01), (0.2, 0.01), (1.0, 0.001), (1.0, 0.01), (1.0, 0.1), (4.0, 0.01)]


@pytest.fixture(scope="module")
def done(data_folder, tmp_path_factory):
    """A run over a part of the grid; the points are found again among their neighbours."""
    folder = tmp_path_factory.mktemp("mortality")
    with pytest.MonkeyPatch.context() as patch, matplotlib.rc_context({"backend": "agg"}):
        patch.setattr(mortality, "GRID", POINTS)
        rows = mortality.run(Folder(folder), data=data_folder, n_jobs=1)
    return folder, rows


def row_of(rows, variation, solver):
    (row,) = [row for row in rows if (row["variation"], row["solver"]) == (variation, solver)]
    return row


@pytest.mark.parametrize("variation", TABLE)
def test_the_papers_column_is_reached_in_every_printed_digit(done, variation):
    row = row_of(json.loads((done[0] / "table.json").read_text()), variation, "fbf")
    shown = [f"{row[key]:.0f}" if key.endswith("edges") else f"{row[key]:.1f}" for key in KEYS[4:]]
    assert " ".join(shown) == TABLE[variation]


def test_the_table_has_a_row_a_variation_and_solver_with_the_agreed_keys(done):
    folder, rows = done
    assert json.loads((folder / "table.json").read_text()) == rows
    assert [(row["variation"], row["solver"]) for row in rows] == [(v, s) for v in TABLE for s in ("fbf", "newton")]
    assert all(list(row) == KEYS for row in rows)
    assert (folder / "table.csv").read_text().splitlines()[0] == ",".join(KEYS)
    for fbf, newton in zip(rows[::2], rows[1::2], strict=True):
        assert all(fbf[key] == newton[key] for key in ("alpha", "beta", "knn_tv", "knn_edges"))


@pytest.mark.parametrize("variation", TABLE)
@pytest.mark.parametrize("solver", ["fbf", "newton"])
@pytest.mark.filterwarnings("ignore:fbf reached max_iter")
def test_a_row_is_what_the_estimators_give(done, data_folder, variation, solver):
    row = row_of(done[1], variation, solver)
    tables = [
        load(data=data_folder, normalised=True).values for load in (load_mortality, load_smoking, load_temperature)
    ]
    X = tables[0]
    model = HSLS(3, 15, variation, row["alpha"], row["beta"], scale=None, solver=solver, threshold=1e-2).fit(X)
    H = model.hypergraph_.binary()
    assert row["edges"] == H.n_edges
    found = [total_variation(H, table, variation) for table in tables]
    assert [row["tv"], row["smoking_tv"], row["temperature_tv"]] == pytest.approx(found)
    nearest = KNNHypergraph(3).fit(X).hypergraph_
    assert (row["knn_tv"], row["knn_edges"]) == (pytest.approx(total_variation(nearest, X, variation)), nearest.n_edges)


def test_the_grid_is_logarithmic_and_holds_the_points_of_this_test():
    alphas = [step * 10.0**power for power in (-2, -1, 0, 1) for step in (1, 2, 4, 5)]
    betas = [10.0**power for power in range(-3, 2)]
    np.testing.assert_allclose(mortality.GRID, [(alpha, beta) for alpha in alphas for beta in betas], rtol=1e-12)
    assert set(POINTS) < set(mortality.GRID)


def test_every_point_is_kept_with_its_gap(done):
    grid = json.loads((done[0] / "grid.json").read_text())
    assert len(grid) == len(TABLE) * 2 * len(POINTS)
    assert {(row["alpha"], row["beta"]) for row in grid} == set(POINTS)
    assert all(row["relative_gap"] <= 1e-6 for row in grid if row["solver"] == "newton")
    for row in done[1]:
        assert row in [{key: point[key] for key in KEYS} for point in grid]


def test_the_optimum_selects_other_hyperedges(done):
    differences = json.loads((done[0] / "differences.json").read_text())
    assert [one["variation"] for one in differences] == list(TABLE)
    for one in differences:
        fbf, newton = (row_of(done[1], one["variation"], solver) for solver in ("fbf", "newton"))
        assert (one["fbf"], one["newton"]) == (fbf["edges"], newton["edges"])
        assert 0 <= one["common"] <= min(one["fbf"], one["newton"])
        assert one["relative_gap"] > 1e-6
    square = differences[-1]
    assert (square["fbf"], square["newton"]) == (34, 35)
    assert f"{row_of(done[1], 'max-square', 'newton')['tv']:.1f}" == "27.3"


def test_the_report_counts_the_figures_that_agree(done):
    folder, rows = done
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "24 of 24 figures agree in every printed digit" in report
    fbf = [line for line in report.splitlines() if "| fbf |" in line]
    assert len(fbf) == 4
    assert not any("**" in line for line in fbf)
    for row in rows[1::2]:
        (line,) = [line for line in report.splitlines() if line.startswith(f"| {row['variation']} | newton |")]
        assert f"**{row['temperature_tv']:.1f}**" in line
    assert {path.name for path in folder.iterdir()} == {
        "table.json", "table.csv", "grid.json", "grid.csv", "differences.json", "maps.png", "maps.pdf", "report.md",
    }  # fmt: skip


def test_a_figure_that_is_not_the_papers_is_counted_and_marked():
    row = {"variation": "max-square", "tv": 11.4499, "edges": 34}
    assert not mortality.agrees(row, "tv")
    assert mortality._shown(row, "tv") == "**11.4**"
    assert mortality.agrees(row | {"tv": 11.4501}, "tv")
    assert mortality._shown(row, "edges") == "34"


def test_three_maps_of_48_states_in_one_colour_scale(data_folder):
    figure = mortality.maps(data_folder)
    maps, bar = figure.axes[:3], figure.axes[3]
    assert [ax.get_title() for ax in maps] == ["mortality", "smoking", "temperature"]
    assert all(len(ax.collections) == 48 for ax in maps)
    low, high = bar.get_xlim()
    assert low == -high
    tables = [load(data=data_folder, normalised=True) for load in (load_mortality, load_smoking, load_temperature)]
    assert high == pytest.approx(max(np.abs(table.values.mean(axis=1)).max() for table in tables))
    # Orange above the mean, violet below: Kentucky has most lung cancer, Utah least.
    names = list(tables[0].names)
    colours = {name: maps[0].collections[names.index(name)].get_facecolor()[0] for name in ("Kentucky", "Utah")}
    assert colours["Kentucky"][0] > colours["Kentucky"][2]
    assert colours["Utah"][2] > colours["Utah"][0]
