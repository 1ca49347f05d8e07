"""Yearly tables of the 48 contiguous states of the USA, 2011 to 2019, and the states' outlines."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterable, Mapping

import numpy as np

from hsls._files import PathLike, reason
from hsls._types import FloatArray
from hsls.datasets._store import Source, find
from hsls.tables import Signals

__all__ = ["YEARS", "load_mortality", "load_smoking", "load_temperature", "state_outlines"]

YEARS = range(2011, 2020)

# Lambert's and Albers' usual standard parallels and centre for the contiguous states, in degrees.
_PARALLELS, _CENTRE = (29.5, 45.5), (37.5, -96.0)

_REPOSITORY = "Ben-Brown-Code/Scalable-Hypergraph-Structure-Learning-with-Diverse-Smoothness-Priors"
_COMMIT = "4b263194337b92a5a2f4f5a7b9f486175531a68f"

_MORTALITY = Source(
    "lung-cancer-mortality.xlsx",
    _REPOSITORY,
    _COMMIT,
    "Datasets/Lung Cancer Mortality/Lung Cancer Mortality Rates.xlsx",
    "0110c2f638d93538f30e2fa3cf5d80a6898c8ad9bcc94a96d89652a12ed92a68",
)
_SMOKING = Source(
    "smoking-rates.csv",
    _REPOSITORY,
    _COMMIT,
    "Datasets/Smoking Rates/Smoking Rates.csv",
    "1956f6627841627c7ffd61b063bed66ce0250d37b039dfe0f1c6dde9108ac4a5",
)
_TEMPERATURE_SUMS = {
    2011: "ee8254ea09f41c11bde79f0685ddfe73490b69bf62e8937ae47ab8c860340215",
    2012: "a2160013667fe6c6ee56ab60f4dbc143dbcc64eb4920d7d3a08487d00213c316",
    2013: "e870d9e25fb105463b7c40ec93b14daedc772d94f53a82112c1cd47239de95c9",
    2014: "f79d30d7ee525c2391b9e00b176b7c61e0e399f8fa578113789cde738a0b6dc5",
    2015: "f4ba026aeccb5ffc03e2c651930dcd318716b987483d61fb3aec6bb42c81feec",
    2016: "71ebcc748eacf14ebe8d78a63e9cf9572ab5071ffd03f6dcbbe7ac0fd9076760",
    2017: "126f8b4cbb872f9de01d1f6d05e8a6eca544203fa473a12462d82961c25eddf4",
    2018: "eb406fb975f3bbfe67286648855d1eca1d97294ca189a5c3813edc9075f62fee",
    2019: "61a017d42f5788f1df4c0b532dae10bff343d9e2abf93f1e228b68e96ae5b5e7",
}

# What stands in the tables where a value is missing.
_MISSING = (None, "", "*", "-99")

_LEFT_OUT = ("Alaska", "Hawaii", "District of Columbia", "U.S. Total")


def load_mortality(*, data: PathLike | None = None, normalised: bool = False) -> Signals:
    """Deaths by lung cancer per 100,000, both sexes; needs openpyxl.

    Parameters
    ----------
    data : path, optional
        Folder to look for the file in first; by default the one that the environment variable HSLS_DATA names.
    normalised : bool
        Subtract the mean of all entries and divide by their population standard deviation.

    Returns
    -------
    Signals
        One row a state, in alphabetical order, and one column a year, 2011 to 2019.
    """
    file = find(_MORTALITY, data)
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ImportError('reading the table of mortality needs openpyxl; pip install "hsls[data]".') from None
    try:
        with file.open("rb") as stream:  # the workbook keeps a file of its own open
            sheet = load_workbook(stream, read_only=True, data_only=True).worksheets[0]
            rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"{file} is no table of mortality ({reason(error)}).") from None
    # The second row holds a year above each group of three columns, the third "Total", "Male" and "Female".
    total = {year: column for column, year in enumerate(rows[1]) if year in YEARS}
    if {rows[2][column] for column in total.values()} != {"Total"}:
        raise ValueError(f"{file} is no table of mortality: a year does not begin with the column Total.")
    cells = {
        (str(row[0]), year): row[column]
        for row in rows[3:]  # the notes below the table stand in the first column alone
        for year, column in total.items()
        if row[column] is not None
    }
    return _table(cells, normalised, str(file))


def load_smoking(*, data: PathLike | None = None, normalised: bool = False) -> Signals:
    """Adults who smoke, in per cent.

    The missing value, of New Jersey in 2019, is filled as in the paper: by a straight line through the years before.
    Parameters and result as in `load_mortality`.
    """
    file = find(_SMOKING, data)
    with file.open(encoding="utf-8-sig", newline="") as lines:
        cells = {(row["Location Description"], int(row["Year"])): row["Data Value"] for row in csv.DictReader(lines)}
    return _table(cells, normalised, str(file))


def load_temperature(*, data: PathLike | None = None, normalised: bool = False) -> Signals:
    """Mean temperature of the year, in degrees Fahrenheit; parameters and result as in `load_mortality`."""
    cells: dict[tuple[str, int], str] = {}
    for year in YEARS:
        file = find(_temperature(year), data)
        with file.open(encoding="utf-8", newline="") as lines:
            table = csv.DictReader(line for line in lines if not line.startswith("#"))
            cells |= {(row["Name"], year): row["Value"] for row in table}
    return _table(cells, normalised, "the table of temperature")


def _temperature(year: int) -> Source:
    return Source(
        f"temperature-{year}.csv",
        _REPOSITORY,
        _COMMIT,
        f"Datasets/Temperature/Avg_Temp_{year}.csv",
        _TEMPERATURE_SUMS[year],
    )


def _table(cells: Mapping[tuple[str, int], object], normalised: bool, source: str) -> Signals:
    names = sorted({state for state, _ in cells} - {*_LEFT_OUT})
    names = [name for name in names if all((name, year) in cells for year in YEARS)]
    if len(names) != 48:
        raise ValueError(f"{source} holds {len(names)} states with all years from 2011 to 2019 instead of 48.")
    values = np.array([[_number(cells[name, year]) for year in YEARS] for name in names])
    values = _line_through_gaps(values)
    if normalised:
        values = (values - values.mean()) / values.std()
    return Signals(values, tuple(names))


def _number(cell: object) -> float:
    return float("nan") if cell in _MISSING else float(str(cell))


def _line_through_gaps(values: FloatArray) -> FloatArray:
    """The table with missing values on the least-squares lines of what their rows hold."""
    filled = values.copy()
    years = np.arange(values.shape[1], dtype=np.float64)
    for row in filled:
        known = ~np.isnan(row)
        if not known.all():
            row[~known] = np.polyval(np.polyfit(years[known], row[known], 1), years[~known])
    return filled


def state_outlines(names: Iterable[str]) -> dict[str, list[FloatArray]]:
    """Outlines of states as polygons in the plane (Albers' equal-area projection, in kilometres).

    Boundaries of the U.S. Census Bureau (TIGER/Line), from the package bokeh_sampledata.
    """
    try:
        from bokeh_sampledata.us_states import data
    except ImportError:
        raise ImportError('outlines of states need bokeh_sampledata; pip install "hsls[data]".') from None
    by_name = {state["name"]: state for state in data.values()}
    outlines = {}
    for name in names:
        if name not in by_name:
            raise ValueError(f"names holds {name!r}, which is no state of the USA.")
        points = _albers(np.asarray(by_name[name]["lats"]), np.asarray(by_name[name]["lons"]))
        gaps = np.flatnonzero(np.isnan(points[:, 0]))
        parts = np.split(points, gaps)
        outlines[name] = [part[~np.isnan(part[:, 0])] for part in parts if np.sum(~np.isnan(part[:, 0])) > 2]
    return outlines


def _albers(latitude: FloatArray, longitude: FloatArray) -> FloatArray:
    """Points of the sphere in the plane, areas kept (Snyder, "Map Projections", 1987, section 14)."""
    radius = 6371.0
    first, second = np.radians(_PARALLELS)
    middle, meridian = np.radians(_CENTRE)
    n = (np.sin(first) + np.sin(second)) / 2
    c = np.cos(first) ** 2 + 2 * n * np.sin(first)
    rho = radius * np.sqrt(c - 2 * n * np.sin(np.radians(latitude))) / n
    rho_middle = radius * np.sqrt(c - 2 * n * np.sin(middle)) / n
    theta = n * (np.radians(longitude) - meridian)
    return np.stack([rho * np.sin(theta), rho_middle - rho * np.cos(theta)], axis=1)
