import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hsls import read_signals

NAN = float("nan")
NUMBERS = st.floats(allow_infinity=False)
MATRICES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=NUMBERS)
LABELS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5).map("n-{}".format)


def same(A, B):
    """Equal number by number, NaN where the other has NaN."""
    return A.shape == B.shape and np.array_equal(A, B, equal_nan=True)


@pytest.fixture
def table(tmp_path):
    """Read signals from a text table with this content."""

    def read_text(content, ending=".csv", **options):
        file = tmp_path / f"x{ending}"
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_signals(file, **options)

    return read_text


@given(MATRICES, st.sampled_from([".csv", ".tsv", ".txt"]), st.data())
def test_text_keeps_every_bit_and_both_kinds_of_names(tmp_path_factory, X, ending, data):
    rows = data.draw(st.lists(LABELS, min_size=len(X), max_size=len(X), unique=True))
    columns = data.draw(st.lists(LABELS, min_size=X.shape[1], max_size=X.shape[1], unique=True))
    parting = {".csv": ",", ".tsv": "\t", ".txt": " "}[ending]
    lines = [
        ["corner", *columns],
        *([name, *map(repr, row)] for name, row in zip(rows, X.tolist(), strict=True)),
    ]
    quote = '"{}"'.format if ending != ".txt" else str
    cells = [[quote(cell.replace('"', '""')) if ending != ".txt" else cell for cell in line] for line in lines]
    file = tmp_path_factory.mktemp("text") / f"x{ending}"
    file.write_text("\n".join(parting.join(line) for line in cells), encoding="utf-8")
    if np.all(np.isnan(X)):
        with pytest.raises(ValueError, match="holds no numbers"):
            read_signals(file)
        return
    by_rows, by_columns = read_signals(file), read_signals(file, nodes="columns")
    assert same(by_rows.values, X)
    assert same(by_columns.values, X.T)
    assert by_rows.names == tuple(rows)
    assert by_columns.names == tuple(columns)


@given(MATRICES.filter(lambda X: not np.all(np.isnan(X))), st.booleans())
def test_what_pandas_saves_is_read_back(tmp_path_factory, X, lettered):
    file = tmp_path_factory.mktemp("pandas") / "x.csv"
    labels = [f"c{j}" for j in range(X.shape[1])]
    pd.DataFrame(X, columns=labels if lettered else None).to_csv(file)
    signals = read_signals(file, nodes="columns")
    assert same(signals.values, X.T)
    assert signals.names == (tuple(labels) if lettered else tuple(map(str, range(X.shape[1]))))


@given(MATRICES.filter(lambda X: not np.all(np.isnan(X))))
def test_what_numpy_saves_as_text_is_read_back(tmp_path_factory, X):
    file = tmp_path_factory.mktemp("numpy") / "x.txt"
    np.savetxt(file, X, fmt="%.17g", header="a remark, and more of it here than there are columns")
    signals = read_signals(file)
    assert same(signals.values, X)
    assert signals.names is None


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_byte_order_mark_and_blank_lines(table, ending, mark):
    content = mark + ending.join(["", "a,1,2", "", "b,3,4.5", "", ""])
    signals = table(content)
    assert signals.values.tolist() == [[1, 2], [3, 4.5]]
    assert signals.names == ("a", "b")


def test_missing_values(table):
    X = table("a,,NA,1\nb,NaN,nan,2\nc,null, ,3\n").values
    assert same(X, np.array([[NAN, NAN, 1], [NAN, NAN, 2], [NAN, NAN, 3]]))


def test_names_in_quotes_with_commas_and_blanks(table):
    signals = table('"Smith, John", 1 ,2\n a b ,3,-4e-3\n')
    assert signals.names == ("Smith, John", "a b")
    assert signals.values.tolist() == [[1, 2], [3, -0.004]]


LAYOUTS = [
    # content, values, names of the rows, names of the columns
    ("1.5,2\n3,4\n", [[1.5, 2], [3, 4]], None, None),
    ("1,2,3\n4,5,6\n", [[1, 2, 3], [4, 5, 6]], None, None),
    ("x,y\n1.5,2\n", [[1.5, 2]], None, ("x", "y")),
    ("id,x,y\na,1,2\nb,3,4\n", [[1, 2], [3, 4]], ("a", "b"), ("x", "y")),
    ("a,1.5,2\nb,3,4\n", [[1.5, 2], [3, 4]], ("a", "b"), None),
    ("a,1,2\nb,3,4\n", [[1, 2], [3, 4]], ("a", "b"), None),
    ("a,5,3,1\nb,3,4,1\n", [[5, 3, 1], [3, 4, 1]], ("a", "b"), None),
    ("a,,3\nb,3,4\n", [[NAN, 3], [3, 4]], ("a", "b"), None),
    (",x,y\n007,1,2\n8,3,4\n", [[1, 2], [3, 4]], ("007", "8"), ("x", "y")),
    (",2011,2012\na,1,2\nb,3,4\n", [[1, 2], [3, 4]], ("a", "b"), ("2011", "2012")),
    (",.1,.2\na,1,2\nb,3,4\n", [[1, 2], [3, 4]], ("a", "b"), (".1", ".2")),
    (",0\n0,.5\n1,2\n", [[0.5], [2]], ("0", "1"), ("0",)),
    (",2,3\n1,.5,4\n2,2,4\n", [[0.5, 4], [2, 4]], ("1", "2"), ("2", "3")),
    (",.2,.3\n1,.5,4\n2,2,4\n", [[NAN, 0.2, 0.3], [1, 0.5, 4], [2, 2, 4]], None, None),
    (",0,1\n0,.5,.25\n1,2,3\n", [[0.5, 0.25], [2, 3]], ("0", "1"), ("0", "1")),
    (",1,2\n5,2,2\n6,3,1\n", [[NAN, 1, 2], [5, 2, 2], [6, 3, 1]], None, None),
    ("x,2011,2012\n5,2,2\n6,3,1\n", [[5, 2, 2], [6, 3, 1]], None, ("x", "2011", "2012")),
    ("id,1990,total\na,1,2\nb,3,4\n", [[1, 2], [3, 4]], ("a", "b"), ("1990", "total")),
    ("x y\n1\n2\n", [[1], [2]], None, ("x y",)),
    ("# a remark\n# and one more\nid,x\na,1\n", [[1]], ("a",), ("x",)),
    ("#id,x\na,1\n", [[1]], ("a",), ("x",)),
    ("x,y\na,1,2\nb,3,4\n", [[1, 2], [3, 4]], ("a", "b"), ("x", "y")),
    ("7,1,2\nb,3,4\nc,5,6\n", [[1, 2], [3, 4], [5, 6]], ("7", "b", "c"), None),
    ("name,x\nNA,1\nZA,2\n", [[1], [2]], ("NA", "ZA"), ("x",)),
]


@pytest.mark.parametrize(("content", "values", "row_names", "column_names"), LAYOUTS)
def test_header_and_names_are_found(table, content, values, row_names, column_names):
    rows, columns = table(content), table(content, nodes="columns")
    assert same(rows.values, np.array(values, dtype=float))
    assert same(columns.values, rows.values.T)
    assert (rows.names, columns.names) == (row_names, column_names)


def test_a_header_without_corner_as_r_writes_it(table):
    signals = table("x y\na 1 2\nb 3 4\n", ending=".txt")
    assert signals.values.tolist() == [[1, 2], [3, 4]]
    assert signals.names == ("a", "b")


def test_header_can_be_said(table):
    numbers = "2011,2012\n5,2\n6,3\n"
    assert table(numbers, header=True, nodes="columns").names == ("2011", "2012")
    assert len(table(numbers, header=True).values) == 2
    assert len(table(numbers).values) == 3
    doubtful = "node,2011,2012\na,1,2\nb,3,4\n"
    with pytest.raises(ValueError, match=r"row 1 \(node, 2011, 2012, \.\.\.\) may be a header or a node's values; say"):
        table(doubtful)
    assert table(doubtful, header=True).names == ("a", "b")
    assert table(doubtful, header=False).names == ("node", "a", "b")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"is an empty file"),
        ("\n\n\n", r"holds no rows"),
        ("x,y\n", r"holds no numbers, only a header"),
        ("NA,\n,\n", r"holds no numbers\.$"),
        ("a\nb\n", r"row 2, column 1 \('a'\) holds the text 'b'"),
        ("1,2\n3\n", r"row 2 has 1 cells where 2 are expected"),
        ("x,y\n1,2\n\n3,4,5\n", r"row 4 has 3 cells where 2 are expected"),
        ("x,y,z\n1,2\n", r"row 2 has 2 cells where 3 are expected"),
        (
            "x,y\n1,2\n3,oops\n",
            r"row 3, column 2 \('y'\) holds the text 'oops'; a number \(or NA\) is expected",
        ),
        ("1.5,oops,2\n1,2,3\n", r"row 1, column 2 holds the text 'oops'"),
        ("1,2\n3,4\n5,1_0\n", r"row 3, column 2 holds the text '1_0'"),
        ("1,2\n3," + "z" * 99 + "\n", rf"row 2, column 2 holds the text '{'z' * 40}\.\.\.'"),
        (
            "id,x,y\na,1,2\nb,3,inf\n",
            r"row 3, column 3 \('y'\) holds an infinite value; values must be finite",
        ),
        ("1,2\n-Infinity,4\n", r"row 2, column 1 holds an infinite value"),
        ("1,2\n3,1e999\n", r"row 2, column 2 holds an infinite value"),
        ("a,1.5\na,2\n", r": node names must be distinct, but 'a' stands more than once"),
        ("1;2\n3;4\n", r"the cells are parted by semicolons, not commas; save it with commas"),
        ("1\t2\n3\t4\n", r"the cells are parted by tabs, not commas"),
        ('1,2\n"3,4\n', r"row 2 cannot be read \(unexpected end of data\)"),
        (b"1,2\n\xe9,4\n", r"is not UTF-8 text \(.*\); save it as UTF-8"),
        ("1,2\n".encode("utf-16"), r"is not UTF-8 text"),
        (pickle.dumps([1.0, 2.0]), r"is not UTF-8 text|holds the text"),
    ],
)
def test_bad_text_tables_are_refused_in_one_sentence(table, content, message):
    with pytest.raises(ValueError, match=r"x\.csv.*" + message) as caught:
        table(content)
    assert "\n" not in str(caught.value)


@given(MATRICES, st.data())
def test_a_text_among_numbers_is_named_wherever_it_stands(tmp_path_factory, X, data):
    X = np.nan_to_num(X)
    i = data.draw(st.integers(0, len(X) - 1))
    j = data.draw(st.integers(0, X.shape[1] - 1))
    cells = [list(map(repr, row)) for row in X.tolist()]
    cells[i][j] = "1.2.3"
    file = tmp_path_factory.mktemp("text") / "x.csv"
    file.write_text("\n".join(["0.5," * (X.shape[1] - 1) + "0.5"] * (len(X) + 1) + [",".join(row) for row in cells]))
    with pytest.raises(ValueError, match=rf"row {len(X) + i + 2}, column {j + 1} holds the text '1\.2\.3'"):
        read_signals(file)


def test_a_text_below_the_first_rows_is_named(table):
    with pytest.raises(ValueError, match=r"row 501, column 2 holds the text 'x'"):
        table("1,2\n" * 500 + "1,x\n")
