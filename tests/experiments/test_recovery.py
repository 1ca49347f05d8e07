"""The experiment on recovery: every method on one draw, and the report of its table."""

from __future__ import annotations

import numpy as np
import pytest

from hsls.experiments import recovery


def rows_of(counts=recovery.OBSERVATIONS):
    methods = {count: [m for m in recovery.METHODS if count == 250 or m != recovery.ORACLES[0]] for count in counts}
    draws = [
        {"data": name, "seed": seed, "observations": count, "method": method, "precision": 1.0, "recall": 0.5, "f1": f1}
        for count in counts
        for name in recovery.DATA
        for method in methods[count]
        for seed, f1 in enumerate((0.6, 0.8))
    ]
    return [
        recovery.summary(draws, name, count, method)
        for count in counts
        for name in recovery.DATA
        for method in methods[count]
    ]


@pytest.mark.filterwarnings("ignore:fbf reached max_iter")
def test_every_method_takes_part_in_a_draw(monkeypatch):
    monkeypatch.setattr(recovery, "SIMULATED_SIZE", (16, 10))
    task = recovery.Task(recovery.SIMULATED, 1001, recovery.N_OBSERVATIONS, None)  # connected
    rows = {row["method"]: row for row in recovery.draw(task)}
    assert set(rows) == set(recovery.METHODS)
    assert all(0 <= row["f1"] <= 1 for row in rows.values())
    assert rows["MLE, automatic"]["f1"] >= 0.9
    fewer = recovery.draw(recovery.Task(recovery.SIMULATED, 1001, 50, None))
    assert {row["method"] for row in fewer} == set(rows) - {recovery.ORACLES[0]}


def test_every_method_takes_part_on_networks(data_folder):
    rows = recovery.draw(recovery.Task("cora-mixed", 1000, 50, data_folder))
    assert {row["method"] for row in rows} == set(recovery.METHODS) - {recovery.ORACLES[0]}


def test_the_table_holds_means_and_standard_deviations():
    row = rows_of((250,))[0]
    assert (row["f1_mean"], row["draws"]) == (pytest.approx(0.7), 2)
    assert row["f1_std"] == pytest.approx(np.std([0.6, 0.8], ddof=1))


def test_the_report_has_a_table_for_each_number_of_observations():
    text = recovery.report(rows_of(), 2)
    for count in recovery.OBSERVATIONS:
        assert f"P = {count}:" in text
    assert text.count("0.700 ± 0.141") == 4 * (4 * len(recovery.METHODS) - 3)


def test_the_figure_has_a_panel_for_each_data_set():
    axes = recovery.figure(rows_of()).axes
    assert [len(ax.lines) for ax in axes] == [len(recovery.METHODS)] * 4
