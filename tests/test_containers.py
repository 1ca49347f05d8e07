import datetime
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from hsls import read_signals

NAN = float("nan")
NUMBERS = st.floats(allow_infinity=False)
MATRICES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=NUMBERS)


def same(A, B):
    """Equal number by number, NaN where the other has NaN."""
    return A.shape == B.shape and np.array_equal(A, B, equal_nan=True)


@given(MATRICES)
def test_binary_files_keep_every_bit(tmp_path_factory, X):
    folder = tmp_path_factory.mktemp("binary")
    np.save(folder / "x.npy", X)
    np.savez_compressed(folder / "x.npz", X=X)
    scipy.io.savemat(folder / "x.mat", {"X": X})
    pa.parquet.write_table(pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}), folder / "x.parquet")
    for ending in (".npy", ".npz", ".mat", ".parquet"):
        assert same(read_signals(folder / f"x{ending}").values, X)
        assert same(read_signals(folder / f"x{ending}", nodes="columns").values, X.T)


def test_several_arrays_need_a_choice(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.eye(2), b=np.ones((2, 3)))
    scipy.io.savemat(tmp_path / "x.mat", {"a": np.eye(2), "b": np.ones((2, 3)), "note": "text"})
    for file in (tmp_path / "x.npz", tmp_path / "x.mat"):
        assert read_signals(file, variable="b").values.tolist() == [[1, 1, 1], [1, 1, 1]]
        with pytest.raises(ValueError, match=r"holds several arrays \(a, b\); choose one with variable="):
            read_signals(file)
        with pytest.raises(ValueError, match=r"holds no array of numbers named 'note'; it has a, b"):
            read_signals(file, variable="note")


def test_integers_booleans_and_halves_become_float64(tmp_path):
    for dtype in (np.int8, np.uint64, np.bool_, np.float16, np.longdouble, ">f4"):
        np.save(tmp_path / "x.npy", np.array([[1, 0], [0, 1]], dtype=dtype))
        values = read_signals(tmp_path / "x.npy").values
        assert values.dtype == np.float64
        assert values.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("array", "error", "message"),
    [
        (
            np.arange(3.0),
            ValueError,
            r"must be a table with rows and columns, but has 1 dimension\(s\), shape \(3,\)",
        ),
        (np.ones((2, 2, 2)), ValueError, r"has 3 dimension\(s\), shape \(2, 2, 2\)"),
        (np.float64(1), ValueError, r"has 0 dimension\(s\)"),
        (np.ones((0, 3)), ValueError, r"is empty: 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (np.ones((2, 2), complex), ValueError, r"Complex data not supported: .*x\.np"),
        (
            np.array([[1, np.inf]]),
            ValueError,
            r"holds an infinite value at row 0, column 1 \(counted from 0\)",
        ),
        (np.array([["a"]]), TypeError, r"at row 0, column 0 \(counted from 0\) holds the text 'a'"),
        (np.array([["2020-01-01"]], "M8[D]"), TypeError, r"holds values of type datetime64"),
        (np.zeros((1, 1), [("a", "f8")]), TypeError, r"holds values of type \[\('a', '<f8'\)\]"),
    ],
)
def test_arrays_that_are_no_signals(tmp_path, array, error, message):
    np.save(tmp_path / "x.npy", array)
    np.savez(tmp_path / "x.npz", array)
    for file in (tmp_path / "x.npy", tmp_path / "x.npz"):
        with pytest.raises(error, match=message):
            read_signals(file)


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_pickles_are_never_loaded(tmp_path, ending):
    file = tmp_path / f"x{ending}"
    file.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match=r"holds pickled Python objects, which are never loaded"):
        read_signals(file)
    with file.open("wb") as stream:
        (np.save if ending == ".npy" else np.savez)(stream, np.array([[Trap()]], dtype=object))
    with pytest.raises(ValueError, match=r"holds pickled Python objects, which are never loaded"):
        read_signals(file)


@pytest.mark.parametrize("ending", [".npy", ".npz", ".mat", ".parquet"])
@pytest.mark.parametrize("content", [b"nonsense", b"\x00" * 300, b"PK\x03\x04", b"\x93NUMPY\x01", b"PAR1" * 5])
def test_damaged_files_are_refused_in_one_sentence(tmp_path, ending, content):
    (tmp_path / f"x{ending}").write_bytes(content)
    with pytest.raises(ValueError, match=rf"x\{ending} (is damaged|holds)") as caught:
        read_signals(tmp_path / f"x{ending}")
    assert "\n" not in str(caught.value)


def test_truncated_files_are_refused(tmp_path):
    X = np.arange(600.0).reshape(20, 30)
    np.save(tmp_path / "x.npy", X)
    np.savez_compressed(tmp_path / "x.npz", X)
    scipy.io.savemat(tmp_path / "x.mat", {"X": X}, do_compression=True)
    pd.DataFrame(X).rename(columns=str).to_parquet(tmp_path / "x.parquet")
    for file in sorted(tmp_path.iterdir()):
        content = file.read_bytes()
        for size in (1, len(content) // 3, len(content) - 9):
            file.write_bytes(content[:size])
            with pytest.raises(ValueError, match=rf"x\{file.suffix} (is damaged|holds)"):
                read_signals(file)


def test_matlab_7_3_and_sparse_and_no_numbers(tmp_path):
    header = b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + b"\x00\x02IM"
    (tmp_path / "x.mat").write_bytes(header + bytes(400))
    with pytest.raises(
        ValueError, match=r"is a MATLAB 7\.3 file, which is HDF5; save it again with save\(\.\.\., '-v7'\)"
    ):
        read_signals(tmp_path / "x.mat")
    scipy.io.savemat(tmp_path / "x.mat", {"S": sparse.csc_array(np.eye(2))})
    with pytest.raises(TypeError, match=r"S is a sparse matrix, but signals are dense; save full\(S\)"):
        read_signals(tmp_path / "x.mat")
    scipy.io.savemat(tmp_path / "x.mat", {"note": "text"})
    with pytest.raises(ValueError, match=r"holds no array of numbers"):
        read_signals(tmp_path / "x.mat")


# -- parquet ---------------------------------------------------------------------------------------------

FRAME = {"who": ["a", "b", "c"], "x": [1, 2, None], "y": [True, False, True], "z": [0.5, None, 2.5]}
FRAME_VALUES = np.array([[1, 1, 0.5], [2, 0, NAN], [NAN, 1, 2.5]])


@pytest.mark.parametrize("library", ["pandas index", "pandas column", "polars", "arrow dictionary"])
def test_parquet_with_names(tmp_path, library):
    file = tmp_path / "year=2011" / "x.parquet"
    file.parent.mkdir()
    if library == "polars":
        pl.DataFrame(FRAME).write_parquet(file)
    elif library == "arrow dictionary":
        pa.parquet.write_table(pa.table({**FRAME, "who": pa.array(FRAME["who"]).dictionary_encode()}), file)
    else:
        frame = pd.DataFrame(FRAME)
        (frame.set_index("who") if library == "pandas index" else frame).to_parquet(file)
    rows, columns = read_signals(file), read_signals(file, nodes="columns")
    assert same(rows.values, FRAME_VALUES)
    assert same(columns.values, FRAME_VALUES.T)
    assert rows.names == ("a", "b", "c")
    assert columns.names == ("x", "y", "z")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    pl.DataFrame(FRAME).write_parquet(tmp_path / "x.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    signals = read_signals(tmp_path / "x.parquet")
    assert same(signals.values, FRAME_VALUES)
    assert signals.names == ("a", "b", "c")
    (tmp_path / "y.parquet").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"y\.parquet is damaged or no parquet file"):
        read_signals(tmp_path / "y.parquet")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r'needs pyarrow: pip install "hsls\[tables\]"'):
        read_signals(tmp_path / "x.parquet")


def test_parquet_with_other_than_numbers(tmp_path):
    pl.DataFrame({"x": [1.0], "when": [datetime.date(2020, 1, 1)]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(TypeError, match=r"holds date32\[day\] in the column 'when'; numbers are expected"):
        read_signals(tmp_path / "x.parquet")
