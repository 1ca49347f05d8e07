import fractions

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from hsls import read_signals
from hsls.tables import signals_from

NAN = float("nan")
NUMBERS = st.floats(allow_infinity=False)
MATRICES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=NUMBERS)


def same(A, B):
    """Equal number by number, NaN where the other has NaN."""
    return A.shape == B.shape and np.array_equal(A, B, equal_nan=True)


FRAME = {"who": ["a", "b", "c"], "x": [1, 2, None], "y": [True, False, True], "z": [0.5, None, 2.5]}
FRAME_VALUES = np.array([[1, 1, 0.5], [2, 0, NAN], [NAN, 1, 2.5]])


@pytest.fixture
def table(tmp_path):
    """Read signals from a text table with this content."""

    def read_text(content, ending=".csv", **options):
        file = tmp_path / f"x{ending}"
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_signals(file, **options)

    return read_text


# -- options ---------------------------------------------------------------------------------------------


def test_options_that_do_not_apply(tmp_path, table):
    np.save(tmp_path / "x.npy", np.eye(2))
    with pytest.raises(ValueError, match=r"variable is for \.npz and \.mat files"):
        table("1,2\n", variable="X")
    with pytest.raises(ValueError, match=r"variable is for \.npz and \.mat files"):
        read_signals(tmp_path / "x.npy", variable="X")
    with pytest.raises(ValueError, match=r"header is for text tables \(\.csv, \.tsv, \.txt\)"):
        read_signals(tmp_path / "x.npy", header=True)
    with pytest.raises(ValueError, match=r"nodes must be one of 'rows', 'columns'; got 'both'"):
        read_signals(tmp_path / "x.npy", nodes="both")
    with pytest.raises(ValueError, match=r"nodes must be one of 'rows', 'columns'; got 0"):
        signals_from(np.eye(2), nodes=0)
    with pytest.raises(ValueError, match=r"the ending '\.xlsx', but signals are read from \.csv, \.tsv, .*\.parquet"):
        table("1,2\n", ending=".xlsx")
    with pytest.raises(ValueError, match=r"missing\.csv: there is no such file"):
        read_signals(tmp_path / "missing.csv")


# -- in memory -------------------------------------------------------------------------------------------


@given(MATRICES, st.sampled_from(["rows", "columns"]))
def test_every_container_gives_the_same_numbers(X, nodes):
    before = X.copy()
    expected = X if nodes == "rows" else X.T
    columns = [f"c{j}" for j in range(X.shape[1])]
    nullable = pd.DataFrame(X).astype("Float64")
    containers = [X, X.tolist(), X.astype(object), pd.DataFrame(X), nullable, pl.DataFrame(X, schema=columns)]
    containers += [np.asfortranarray(X), np.ma.masked_invalid(X)]
    for container in containers:
        assert same(signals_from(container, nodes).values, expected)
    assert same(X, before)


def test_float64_is_not_copied_and_not_written_to():
    X = np.arange(6.0).reshape(2, 3)
    X.setflags(write=False)
    for nodes in ("rows", "columns"):
        assert np.shares_memory(signals_from(X, nodes).values, X)
    frame = pd.DataFrame(X)
    assert np.shares_memory(signals_from(frame).values, frame.to_numpy())


def test_names_of_pandas_frames():
    X = np.eye(2)
    named = pd.DataFrame(X, index=["a", "b"], columns=[2011, 2012])
    assert signals_from(named).names == ("a", "b")
    assert signals_from(named, "columns").names == ("2011", "2012")
    assert signals_from(pd.DataFrame(X)).names is None
    assert signals_from(pd.DataFrame(X), "columns").names is None
    assert signals_from(pd.DataFrame(np.eye(4))[2:]).names == ("2", "3")
    with pytest.raises(ValueError, match=r"X: node names must be distinct, but 'a' stands more than once"):
        signals_from(pd.DataFrame(X, index=["a", "a"]))


def test_names_of_polars_frames():
    frame = pl.DataFrame(FRAME, strict=False)
    rows, columns = signals_from(frame), signals_from(frame, "columns")
    assert same(rows.values, FRAME_VALUES)
    assert same(columns.values, FRAME_VALUES.T)
    assert rows.names == ("a", "b", "c")
    assert columns.names == ("x", "y", "z")
    assert signals_from(frame.drop("who")).names is None


def test_missing_and_mixed_columns_of_pandas():
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], "Int64"),
            "b": pd.array([True, None], "boolean"),
            "f": [0.5, None],
            "o": [1, 2],
        }
    )
    expected = np.array([[1, 1, 0.5, 1], [NAN, NAN, NAN, 2]])
    assert same(signals_from(frame).values, expected)
    assert same(signals_from(frame.astype(object)).values, expected)


def test_objects_that_are_numbers():
    X = [[1, fractions.Fraction(1, 2)], [None, True], [np.float32(0.25), pd.NA]]
    assert same(signals_from(X).values, np.array([[1, 0.5], [NAN, 1], [0.25, NAN]]))


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[1, 2], [3, "a"]], TypeError, r"X at row 1, column 1 \(counted from 0\) holds the text 'a'"),
        ([["1", "2"]], TypeError, r"X at row 0, column 0 \(counted from 0\) holds the text '1'"),
        (pd.DataFrame({"x": [1.0, 2.0], "y": [1, "a"]}), TypeError, r"row 1, column 1 .* holds the text 'a'"),
        (
            pd.DataFrame({"w": pd.to_datetime(["2020-01-01"])}),
            TypeError,
            r"row 0, column 0 .* holds no number",
        ),
        (pl.DataFrame({"x": [1.0], "y": ["a"]}), TypeError, r"X holds String in the column 'y'; numbers are"),
        (np.array([[{"a": 1}]]), TypeError, r"argument must be .* string.* number"),
        ([[1.0, 2.0], [3.0]], ValueError, r"X is ragged: row 1 holds 1 values and row 0 2"),
        ([1.0, 2.0], ValueError, r"X must be a table with rows and columns, but has 1 dimension"),
        (pd.Series([1.0, 2.0]), ValueError, r"X must be a table .* 1 dimension"),
        (None, ValueError, r"X must be a table .* 0 dimension"),
        ("text", ValueError, r"X must be a table .* 0 dimension"),
        (
            np.empty((0, 3)),
            ValueError,
            r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\.$",
        ),
        (
            np.empty((12, 0)),
            ValueError,
            r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required\.$",
        ),
        (pd.DataFrame(index=range(3)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (pl.DataFrame(), ValueError, r"0 sample\(s\) \(shape=\(0, 0\)\)"),
        ([[1 + 2j]], ValueError, r"Complex data not supported"),
        (np.array([[1 + 2j, None]]), ValueError, r"Complex data not supported"),
        (pd.DataFrame({"x": [1j]}), ValueError, r"Complex data not supported"),
        (
            [[1.0, float("inf")]],
            ValueError,
            r"X holds an infinite value at row 0, column 1 \(counted from 0\)",
        ),
        ([[10**400]], ValueError, r"X holds an infinite value at row 0, column 0"),
        (np.array([[np.longdouble("1e4000")]]), ValueError, r"X holds an infinite value at row 0, column 0"),
        (
            sparse.csr_array(np.eye(2)),
            TypeError,
            r"X is a sparse matrix, but signals are dense; give its \.toarray",
        ),
        (sparse.coo_matrix(np.eye(2)), TypeError, r"X is a sparse matrix"),
    ],
)
def test_what_is_no_matrix_of_numbers(X, error, message):
    with pytest.raises(error, match=message):
        signals_from(X)
