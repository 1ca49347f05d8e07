"""The yearly tables, read a second time by other means, and the outlines of the states."""

from __future__ import annotations

import re
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from hsls.datasets import load_mortality, load_smoking, load_temperature, state_outlines, states

LOADERS = {"mortality": load_mortality, "smoking": load_smoking, "temperature": load_temperature}
YEARS = range(2011, 2020)
AWAY = {"Alaska", "Hawaii", "District of Columbia"}


def by_pandas(name, folder):
    """One row a state, one column a year, NaN where nothing is known, from the files as they are."""
    if name == "mortality":
        sheet = pd.read_excel(folder / "lung-cancer-mortality.xlsx", header=None)
        columns = [column for column in sheet if sheet.iloc[1, column] in YEARS]
        assert [sheet.iloc[1, column] for column in columns] == sorted(YEARS, reverse=columns != sorted(columns))
        table = sheet.iloc[3:].dropna(subset=columns).set_index(0)[columns]
        table.columns = [int(sheet.iloc[1, column]) for column in columns]
    elif name == "smoking":
        long = pd.read_csv(folder / "smoking-rates.csv", na_values="*")
        table = long.pivot(index="Location Description", columns="Year", values="Data Value")
    else:
        years = [
            pd.read_csv(folder / f"temperature-{year}.csv", comment="#", index_col="Name")["Value"] for year in YEARS
        ]
        table = pd.concat(years, axis=1, keys=YEARS)
    states_only = [row for row in table.index if row not in AWAY and "U.S." not in row and "United States" not in row]
    return table.loc[sorted(states_only), list(YEARS)].astype(float)


@pytest.mark.parametrize("name", LOADERS)
def test_the_tables_hold_what_the_files_say(data_folder, name):
    signals, expected = LOADERS[name](data=data_folder), by_pandas(name, data_folder)
    assert signals.values.shape == expected.shape == (48, 9)
    assert signals.names == tuple(expected.index)
    known = expected.notna().to_numpy()
    assert known.sum() == (48 * 9 - 1 if name == "smoking" else 48 * 9)
    np.testing.assert_array_equal(signals.values[known], expected.to_numpy()[known])


def test_all_tables_are_of_the_same_48_contiguous_states(data_folder):
    names = {load(data=data_folder).names for load in LOADERS.values()}
    assert len(names) == 1
    (names,) = names
    assert len(set(names)) == 48
    assert list(names) == sorted(names)
    assert {"Alabama", "New Jersey", "Wyoming"} <= set(names)
    assert not AWAY & set(names)


def test_the_missing_value_lies_on_the_line_through_the_eight_years_before(data_folder):
    """Least squares by the normal equations, in exact arithmetic."""
    signals, table = load_smoking(data=data_folder), by_pandas("smoking", data_folder)
    assert [(state, year) for state in table.index for year in YEARS if np.isnan(table.loc[state, year])] == [
        ("New Jersey", 2019)
    ]
    before = list(YEARS)[:-1]
    rates = [Fraction(str(table.loc["New Jersey", year])) for year in before]
    middle, mean = Fraction(sum(before), 8), sum(rates) / 8
    slope = sum((year - middle) * (rate - mean) for year, rate in zip(before, rates, strict=True))
    slope /= sum((year - middle) ** 2 for year in before)
    at_2019 = float(mean + slope * (2019 - middle))
    assert signals.values[signals.names.index("New Jersey"), -1] == pytest.approx(at_2019, rel=1e-12)
    assert 10 < at_2019 < 15


@pytest.mark.parametrize("name", LOADERS)
def test_normalisation_is_by_one_mean_and_one_population_standard_deviation(data_folder, name):
    raw, normalised = (LOADERS[name](data=data_folder, normalised=wanted) for wanted in (False, True))
    count = raw.values.size
    mean = raw.values.sum() / count
    deviation = np.sqrt(np.sum((raw.values - mean) ** 2) / count)
    np.testing.assert_allclose(normalised.values, (raw.values - mean) / deviation, rtol=0, atol=1e-12)
    assert normalised.names == raw.names
    assert normalised.values.std() == pytest.approx(1.0)
    assert not np.allclose(normalised.values.mean(axis=0), 0, atol=1e-3)  # not column by column


def test_gaps_lie_on_the_lines_of_their_own_rows():
    table = np.array([[1.0, 2.0, np.nan, 4.0], [5.0, np.nan, np.nan, 5.0], [1.0, 3.0, 2.0, 7.0]])
    before = table.copy()
    filled = states._line_through_gaps(table)
    np.testing.assert_allclose(filled, [[1, 2, 3, 4], [5, 5, 5, 5], [1, 3, 2, 7]], atol=1e-12)
    np.testing.assert_array_equal(table, before)


def test_a_table_with_too_few_states_is_refused():
    cells = {(f"state {i}", year): "1" for i in range(47) for year in YEARS}
    cells |= {("Hawaii", year): "1" for year in YEARS}
    with pytest.raises(ValueError, match=r"a table holds 47 states with all years from 2011 to 2019 instead of 48\."):
        states._table(cells, False, "a table")
    cells |= {("state 47", year): "1" for year in YEARS if year != 2015}
    with pytest.raises(ValueError, match="a table holds 47 states"):
        states._table(cells, False, "a table")


def test_mortality_without_openpyxl_says_what_to_install(data_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=re.escape('needs openpyxl; pip install "hsls[data]".')):
        load_mortality(data=data_folder)


def test_a_workbook_that_is_none_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "x.xlsx"
    file.write_bytes(b"PK\x03\x04 and then nothing")
    monkeypatch.setattr(states, "find", lambda source, data: file)
    with pytest.raises(ValueError, match=r"x\.xlsx is no table of mortality \("):
        load_mortality()


# -- outlines --------------------------------------------------------------------------------------------------------

# Land and inland water in thousands of square kilometres (U.S. Census Bureau, State Area Measurements).
AREAS = {"Colorado": 269.6, "Wyoming": 253.3, "Kansas": 213.1, "Iowa": 145.7, "Utah": 219.9, "New Mexico": 314.9}


def area(polygon):
    x, y = polygon.T
    return abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def test_outlines_are_polygons_of_the_right_area():
    outlines = state_outlines(AREAS)
    assert list(outlines) == list(AREAS)
    for name, known in AREAS.items():
        assert all(polygon.ndim == 2 and polygon.shape[1] == 2 and len(polygon) > 2 for polygon in outlines[name])
        assert sum(map(area, outlines[name])) == pytest.approx(1000 * known, rel=0.02)


def test_every_state_of_the_tables_has_an_outline_where_it_lies(data_folder):
    names = load_temperature(data=data_folder).names
    outlines = state_outlines(names)
    assert tuple(outlines) == names
    assert all(np.all(np.isfinite(polygon)) for polygons in outlines.values() for polygon in polygons)
    centre = {name: np.concatenate(polygons).mean(axis=0) for name, polygons in outlines.items()}
    assert centre["Washington"][0] < centre["Montana"][0] < centre["Minnesota"][0] < centre["Maine"][0]
    assert centre["Texas"][1] < centre["Oklahoma"][1] < centre["Kansas"][1] < centre["North Dakota"][1]
    assert any(len(polygons) > 1 for polygons in outlines.values())  # islands


def test_the_projection_keeps_areas_and_its_centre():
    np.testing.assert_allclose(states._albers(np.array([37.5]), np.array([-96.0])), [[0.0, 0.0]], atol=1e-9)
    for latitude, longitude in [(25, -120), (37.5, -96), (49, -70), (30, -85)]:
        step = 1e-3
        corners = np.add([(0, 0), (0, step), (step, step), (step, 0)], (latitude, longitude))
        on_sphere = 6371.0**2 * np.radians(step) * np.diff(np.sin(np.radians([latitude, latitude + step])))[0]
        assert area(states._albers(*corners.T)) == pytest.approx(on_sphere, rel=1e-5)


def test_a_name_that_is_no_state_is_refused():
    with pytest.raises(ValueError, match="names holds 'Cascadia', which is no state of the USA"):
        state_outlines(["Ohio", "Cascadia"])
