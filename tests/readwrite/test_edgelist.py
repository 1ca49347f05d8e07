import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_hypergraphs import hypergraphs, same_to_the_bit

from hsls import Hypergraph, read, write
from hsls.readwrite import read_csv, write_csv

SMALL = Hypergraph.from_edges([("a", "b"), ("b", "007", "c")], [0.25, 3.5], nodes=["z", "a", "b", "c", "007"])


@pytest.fixture
def table(tmp_path):
    """Read a table written by hand."""

    def read_text(text, encoding="utf-8"):
        (tmp_path / "x.csv").write_bytes(text.encode(encoding) if isinstance(text, str) else text)
        return read_csv(tmp_path / "x.csv")

    return read_text


@given(hypergraphs())
def test_round_trip_keeps_every_bit(tmp_path_factory, H):
    file = tmp_path_factory.mktemp("csv") / "x.csv"
    write_csv(H, file)
    assert same_to_the_bit(read_csv(file), H)


def test_the_layout_of_the_file(tmp_path):
    H = Hypergraph.from_edges([("a", "b,c"), ("b,c",)], [0.1, 2.0], nodes=["b,c", "", "a"])
    write_csv(H, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == (
        'hyperedge,node,weight\n,"b,c",\n,"",0\n,a,\n0,"b,c",2.0\n1,"b,c",0.1\n1,a,0.1\n'
    )


@given(hypergraphs(), st.randoms(use_true_random=False))
def test_order_of_the_incidences_does_not_matter(tmp_path_factory, H, rng: random.Random):
    rows = [
        f'{e},"{i}",{w!r}\n' for e, (edge, w) in enumerate(zip(H.edges, H.weights.tolist(), strict=True)) for i in edge
    ]
    rng.shuffle(rows)
    file = tmp_path_factory.mktemp("csv") / "x.csv"
    file.write_text("hyperedge,node,weight\n" + "".join(f",{i},\n" for i in range(H.n_nodes)) + "".join(rows))
    numbered = Hypergraph([str(i) for i in range(H.n_nodes)], H.indptr, H.indices, H.weights)
    assert same_to_the_bit(read_csv(file), numbered)


def test_frequencies_are_a_column_of_their_own(table, tmp_path):
    write_csv(Hypergraph.from_edges([("a", "b"), ("c",)], [0.1, 2.0]).with_frequencies([0.5, 1.0]), tmp_path / "y.csv")
    text = (tmp_path / "y.csv").read_text()
    assert text.splitlines()[0] == "hyperedge,node,weight,frequency"
    assert text.splitlines()[4:] == ["0,c,2.0,0.5", "1,a,0.1,1.0", "1,b,0.1,1.0"]
    with pytest.raises(ValueError, match=r"row 2 has the frequency '2'; it must be from 0 to 1"):
        table("hyperedge,node,frequency\nx,a,2\n")
    with pytest.raises(ValueError, match=r"row 3 has the frequency ''; it must be from 0 to 1"):
        table("hyperedge,node,frequency\nx,a,1\ny,b,\n")
    with pytest.raises(ValueError, match=r"row 3 has the frequency 0.5, but another row of the hyperedge 'x' has 1"):
        table("hyperedge,node,frequency\nx,a,1\nx,b,0.5\n")
    with pytest.raises(ValueError, match=r"hyperedges 0 and 1 hold the same nodes"):
        table("hyperedge,node,frequency\nx,a,1\ny,a,0.5\n")
    assert table("hyperedge,frequency,node\nx,.25,a\n").frequencies.tolist() == [0.25]


# -- by hand ---------------------------------------------------------------------------------------------


def test_nodes_stand_in_order_of_appearance(table):
    H = table("hyperedge,node,weight\nfirst,d,2\nfirst,b,2\nsecond,a,1\nfirst,a,2\n,e,\n")
    assert Hypergraph.from_edges([("d", "b", "a"), ("a",)], [2, 1], nodes=["d", "b", "a", "e"]) == H


def test_weights_may_be_left_out(table):
    plain = Hypergraph.from_edges([("a", "b"), ("c",)])
    assert table("hyperedge,node\n0,a\n0,b\n1,c\n") == plain
    assert table("hyperedge,node,weight\n0,a,\n0,b,\n1,c,\n") == plain
    assert table("hyperedge,node,weight\n0,a,\n0,b,4\n1,c,1.0\n").weights.tolist() == [1.0, 4.0]


def test_columns_may_stand_in_another_order_and_blank_rows_anywhere(table):
    H = table("\ufeffWeight, Node ,hyperedge\r\n\r\n.5,a,x\r\n,,\r\n0.50,b,x\r\n\r\n")
    assert Hypergraph.from_edges([("a", "b")], [0.5]) == H


def test_names_keep_their_blanks_and_zeros(table):
    assert table("hyperedge,node\n0, a\n0,007\n0,a\n").nodes == (" a", "007", "a")


def test_repeats_are_merged(table):
    with pytest.warns(UserWarning, match=r"x\.csv: merged 1 hyperedge"):
        H = table("hyperedge,node,weight\n0,a,1\n0,b,1\n0,a,1\n1,b,2\n1,a,2\n")
    assert Hypergraph.from_edges([("a", "b")], [3.0]) == H


def test_header_alone_is_the_empty_hypergraph(table):
    assert table("hyperedge,node,weight\n") == Hypergraph.from_edges([], nodes=0)


HEADER = "hyperedge,node,weight\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,a,1\n", r"row 1 must be the header hyperedge,node,weight; got '0,a,1'"),
        ("hyperedge,node,weigth\n0,a,1\n", r"row 1 must be the header"),
        ("hyperedge,node,node\n", r"row 1 must be the header"),
        ("\n\n", r"holds no rows; it must begin with the header"),
        (HEADER + "0,a,1\n0,b\n", r"row 3 has 2 cells where 3 are expected"),
        (HEADER + "0,a,1\n\n0,b,1,2\n", r"row 4 has 4 cells where 3 are expected"),
        (HEADER + "0,a,one\n", r"row 2 has the weight 'one', which is no number"),
        (HEADER + "0,a,1_0\n", r"row 2 has the weight '1_0', which is no number"),
        (HEADER + "0,a,-1\n", r"row 2 has the weight -1.0; weights must be finite and 0 or more"),
        (HEADER + "0,a,inf\n", r"row 2 has the weight inf; weights must be finite"),
        (HEADER + "0,a,nan\n", r"row 2 has the weight nan; weights must be finite"),
        (
            HEADER + "0,a,1\n0,b,2\n",
            r"row 3 has the weight 2.0, but another row of the hyperedge '0' has 1.0",
        ),
        (HEADER + "0,,1\n", r"row 2 has no node"),
        (HEADER + ",a,2\n", r"row 2 has the weight '2' but no hyperedge"),
        (HEADER + ",a,\n,b,\n,a,\n", r"row 4 lists the node 'a' a second time"),
        (HEADER + '0,"a,1\n', r"row 2 is no CSV \(unexpected end of data\)"),
        (HEADER + '0,"a"b,1\n', r"row 2 is no CSV"),
        (HEADER.encode() + b"0,\xe9,1\n", r"is not UTF-8 text"),
    ],
)
def test_malformed_rows_are_named(table, text, message):
    with pytest.raises(ValueError, match=r"x\.csv.*" + message):
        table(text)


def test_lone_surrogate_is_refused_and_nothing_written(tmp_path):
    with pytest.raises(ValueError, match=r"'\\udc80' holds a lone surrogate"):
        write_csv(Hypergraph.from_edges([], nodes=["\udc80"]), tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


# -- by ending -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.json", "x.hif", "x.hif.json", "x.npz", "x.csv", "X.CSV"])
def test_the_ending_chooses_the_format(tmp_path, name):
    write(SMALL, tmp_path / name)
    assert read(str(tmp_path / name)) == SMALL
    start = {"json": b"{", "hif": b"{", "npz": b"PK", "csv": b"hyper"}[name.rpartition(".")[2].lower()]
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(("name", "has"), [("x.xml", r"the ending '\.xml'"), ("x", "no ending"), (".csv", "no ending")])
def test_other_endings_are_refused(tmp_path, name, has):
    for use in (lambda: write(SMALL, tmp_path / name), lambda: read(tmp_path / name)):
        with pytest.raises(
            ValueError, match=has + r"; a hypergraph's file must end in one of \.json, \.hif, \.npz, \.csv"
        ):
            use()
    assert list(tmp_path.iterdir()) == []
