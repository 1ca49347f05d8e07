import json
from pathlib import Path

import jsonschema
import pytest
import xgi
from hypothesis import given
from hypothesis import strategies as st
from some_hypergraphs import hypergraphs, same_to_the_bit

from hsls import Hypergraph
from hsls.readwrite import from_hif, read_hif, to_hif, write_hif

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "hif_schema.json").read_text(encoding="utf-8"))
SMALL = Hypergraph.from_edges([("a", "b"), ("b", "007", "c")], [0.25, 3.5], nodes=["z", "a", "b", "c", "007"])


@pytest.fixture
def file(tmp_path):
    return tmp_path / "x.json"


def through_file(H, folder):
    write_hif(H, folder / "x.json")
    return read_hif(folder / "x.json")


# -- writing ---------------------------------------------------------------------------------------------


@given(hypergraphs())
def test_round_trip_keeps_every_bit(tmp_path_factory, H):
    assert same_to_the_bit(from_hif(to_hif(H)), H)
    assert same_to_the_bit(through_file(H, tmp_path_factory.mktemp("hif")), H)


@given(hypergraphs())
def test_file_holds_the_document_in_utf8_and_follows_the_schema(tmp_path_factory, H):
    file = tmp_path_factory.mktemp("hif") / "x.hif"
    write_hif(H, file)
    document = json.loads(file.read_bytes().decode("utf-8"))
    assert document == to_hif(H)
    jsonschema.validate(document, SCHEMA, jsonschema.Draft7Validator)
    assert {"nodes", "edges", "incidences"} <= set(document)


@pytest.mark.parametrize(
    "wrong",
    [
        {"nodes": []},
        {"incidences": [{"edge": 0}]},
        {"incidences": [{"edge": 0, "node": "a", "attr": {}}]},
        {"incidences": [], "edges": [{"edge": 0, "weight": "1"}]},
        {"incidences": [], "nodes": [{"node": None}]},
        {"incidences": [], "network-type": "tree"},
        {"incidences": [], "weights": []},
    ],
)
def test_the_schema_refuses_what_is_no_hif(wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA, jsonschema.Draft7Validator)


def test_file_has_one_record_a_line(file):
    write_hif(SMALL, file)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert '{"edge": 0, "node": "b"},' in lines
    assert len(lines) == 1 + 2 + SMALL.n_nodes + SMALL.n_edges + len(SMALL.indices) + 1


def test_weights_stand_at_both_places():
    edges = to_hif(SMALL)["edges"]
    assert [edge["weight"] for edge in edges] == [edge["attrs"]["weight"] for edge in edges] == [0.25, 3.5]


def test_frequencies_stand_in_attrs_and_are_announced():
    document = to_hif(SMALL.with_frequencies([0.5, 0.9]))
    assert document["metadata"] == {"frequencies": True}
    assert [edge["attrs"]["frequency"] for edge in document["edges"]] == [0.5, 0.9]
    for wrong in ("0.5", None, True, 1.5, float("nan")):
        document["edges"][1]["attrs"]["frequency"] = wrong
        with pytest.raises(ValueError, match=r"edges\[1\] has the frequency .*; it must be from 0 to 1"):
            from_hif(document)
    assert from_hif(document | {"metadata": {}}).frequencies is None  # those of another kind, by another library
    del document["edges"][1]
    with pytest.raises(ValueError, match=r"incidences\[2\] holds the hyperedge 1, which states no frequency"):
        from_hif(document)


def test_lone_surrogate_is_refused_and_nothing_written(file):
    with pytest.raises(ValueError, match=r"'\\udc80' holds a lone surrogate"):
        write_hif(Hypergraph.from_edges([], nodes=["a", "\udc80"]), file)
    assert list(file.parent.iterdir()) == []


def test_only_hypergraphs_are_written(file):
    with pytest.raises(TypeError, match=r"H must be a hsls.Hypergraph, got dict"):
        write_hif({"incidences": []}, file)


# -- other libraries -------------------------------------------------------------------------------------


@given(hypergraphs())
def test_xgi_reads_what_we_write(tmp_path_factory, H):
    file = tmp_path_factory.mktemp("hif") / "x.json"
    write_hif(H, file)
    G = xgi.read_hif(file)
    assert set(G.nodes) == set(H.nodes)
    assert G.edges.members(dtype=dict) == {e: set(edge) for e, edge in enumerate(H.named_edges)}
    assert G.edges.attrs("weight").asdict() == dict(enumerate(H.weights.tolist()))


def test_we_read_what_xgi_writes(file):
    G = xgi.Hypergraph()
    G.add_nodes_from(range(5))
    G.add_edge([0, 3, 1], idx="first", weight=0.5)
    G.add_edge([1, 2], idx=7)
    xgi.write_hif(G, file)
    H = read_hif(file)
    assert set(H.nodes) == {"0", "1", "2", "3", "4"}
    found = {frozenset(edge): w for edge, w in zip(H.named_edges, H.weights, strict=True)}
    assert found == {frozenset("031"): 0.5, frozenset("12"): 1.0}


# -- reading what others may write -----------------------------------------------------------------------


def document(incidences, **sections):
    records = [{"edge": edge, "node": node} for edge, node in incidences]
    return {"incidences": records, **sections}


def test_only_incidences():
    H = from_hif(document([("e", "b"), ("f", "a"), ("e", "a")]))
    assert Hypergraph.from_edges([("b", "a"), ("a",)], nodes=["b", "a"]) == H


def test_integer_ids_become_strings_and_nodes_keep_their_order():
    H = from_hif(document([(1, 5), (1, 2)], nodes=[{"node": 9}, {"node": 2}]))
    assert H.nodes == ("9", "2", "5")
    assert H.named_edges == [("2", "5")]


@pytest.mark.parametrize(
    "record",
    [
        {"weight": 2.5},
        {"attrs": {"weight": 2.5}},
        {"attr": {"weight": 2.5, "colour": "red"}},
        {"weight": 2.5, "attrs": {"weight": 2.5}},
    ],
)
def test_weight_is_found_where_it_stands(record):
    H = from_hif(document([(0, "a"), (1, "b")], edges=[{"edge": 1, **record}]))
    assert dict(zip(H.named_edges, H.weights.tolist(), strict=True)) == {("a",): 1.0, ("b",): 2.5}


def test_ids_1_and_text_1_are_two_hyperedges_but_clash_as_nodes():
    assert from_hif(document([(1, "a"), ("1", "b")])).n_edges == 2
    with pytest.raises(ValueError, match=r"incidences\[1\]: the ids 1 and '1' would be the same node name"):
        from_hif(document([(0, 1), (0, "1")]))


def test_repeated_incidences_count_once():
    assert from_hif(document([(0, "a"), (0, "b"), (0, "a")])).edges == [(0, 1)]


def test_empty_hyperedges_are_dropped_with_a_warning():
    data = document([("e", "a")], edges=[{"edge": "empty", "weight": 9.0}, {"edge": "e", "weight": 2.0}])
    with pytest.warns(UserWarning, match=r"dropped 1 empty hyperedge"):
        H = from_hif(data)
    assert Hypergraph.from_edges([("a",)], [2.0]) == H


@given(st.lists(st.tuples(st.frozensets(st.integers(0, 3), min_size=1), st.integers(0, 9)), max_size=12))
def test_repeated_hyperedges_are_merged_and_weights_added(edges):
    incidences = [(e, str(i)) for e, (members, _) in enumerate(edges) for i in members]
    records = [{"edge": e, "weight": w} for e, (_, w) in enumerate(edges)]
    data = document(incidences, nodes=[{"node": str(i)} for i in range(4)], edges=records)
    sums = {}
    for members, w in edges:
        sums[tuple(sorted(members))] = sums.get(tuple(sorted(members)), 0) + w
    if len(sums) < len(edges):
        with pytest.warns(UserWarning, match=rf"merged {len(edges) - len(sums)} hyperedge"):
            H = from_hif(data)
    else:
        H = from_hif(data)
    assert dict(zip(H.edges, H.weights, strict=True)) == sums


def test_weights_of_incidences_are_ignored_aloud():
    records = [{"edge": 0, "node": "a", "weight": 2}, {"edge": 0, "node": "b", "weight": 1}]
    with pytest.warns(UserWarning, match=r"ignored the weights of 1 single incidence"):
        assert from_hif({"incidences": records}).weights.tolist() == [1.0]


def test_byte_order_mark_is_read(file):
    file.write_text(json.dumps(to_hif(SMALL)), encoding="utf-8-sig")
    assert read_hif(file) == SMALL


# -- malformed -------------------------------------------------------------------------------------------

A = {"edge": 0, "node": "a"}

MALFORMED = [
    ([A], r"its top level must be a JSON object"),
    ({"edges": []}, r'has no "incidences"'),
    ({"incidences": {}}, r'"incidences" must be a list, got dict'),
    ({"incidences": [], "nodes": "abc"}, r'"nodes" must be a list, got str'),
    ({"incidences": [A, A, A, {"edge": 0}]}, r'incidences\[3\] has no "node"'),
    ({"incidences": [A, {"node": "a"}]}, r'incidences\[1\] has no "edge"'),
    ({"incidences": [A, ["e", "a"]]}, r'incidences\[1\] must be an object with "edge", got list'),
    ({"incidences": [{"edge": True, "node": "a"}]}, r'incidences\[0\] has the "edge" True; an id must be'),
    ({"incidences": [{"edge": 1.5, "node": "a"}]}, r'incidences\[0\] has the "edge" 1.5; an id must be'),
    (
        {"incidences": [{"edge": 0, "node": ["a"]}]},
        r"incidences\[0\] has the \"node\" \['a'\]; an id must be",
    ),
    ({"incidences": [], "nodes": [{"node": "a"}, {}]}, r'nodes\[1\] has no "node"'),
    ({"incidences": [], "nodes": [{"node": 1}, {"node": 1}]}, r"nodes\[1\] lists the node 1 a second time"),
    ({"incidences": [], "nodes": [{"node": 1}, {"node": "1"}]}, r"nodes\[1\]: the ids 1 and '1'"),
    ({"incidences": [A], "edges": [{"edge": 0}, {"edge": 0}]}, r"edges\[1\] lists the hyperedge 0 a second"),
    (
        {"incidences": [A], "edges": [{"edge": 0, "weight": -1}]},
        r"edges\[0\] has the weight -1.0; weights must",
    ),
    ({"incidences": [A], "edges": [{"edge": 0, "weight": 10**400}]}, r"edges\[0\] has the weight inf"),
    (
        {"incidences": [A], "edges": [{"edge": 0, "weight": "2"}]},
        r"edges\[0\] has the weight '2', which is no",
    ),
    (
        {"incidences": [A], "edges": [{"edge": 0, "attrs": {"weight": None}}]},
        r"weight None, which is no number",
    ),
    (
        {"incidences": [A], "edges": [{"edge": 0, "weight": 1, "attrs": {"weight": 2}}]},
        r"two weights, 1.0 and 2.0",
    ),
    ({"incidences": [A], "network-type": "directed"}, r"holds a directed hypergraph; only undirected"),
    ({"incidences": [A], "network-type": "asc"}, r"holds a simplicial complex \(asc\)"),
    ({"incidences": [A], "network-type": "tree"}, r'"network-type" must be "undirected", got \'tree\''),
]


@pytest.mark.parametrize(("data", "message"), MALFORMED)
def test_malformed_document_says_where(file, data, message):
    with pytest.raises(ValueError, match="^HIF document.*" + message):
        from_hif(data)
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ValueError, match="x.json.*" + message):
        read_hif(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"incidences": [\n  {"edge": 0,, }]}', r"x\.json is no JSON: .* at line 2, column 14"),
        (b'{"incidences": [', r"x\.json is no JSON: .* at line 1, column 17"),
        (b'{"incidences": [], "edges": [{"edge": 0, "weight": NaN}]}', r"NaN is not a JSON number"),
        (b'{"incidences": [], "edges": [{"edge": 0, "weight": 1e999}]}', r"edges\[0\] has the weight inf"),
        (b'{"incidences": ["\xe9"]}', r"is not UTF-8 text \(byte 17\)"),
        (b"[" * 200_000, r"nests too deeply|is no JSON"),
        (b'{"incidences": [{"edge": ' + b"9" * 5000 + b', "node": 1}]}', r"is no JSON: Exceeds the limit"),
    ],
)
def test_broken_json_says_where(file, text, message):
    file.write_bytes(text)
    with pytest.raises(ValueError, match=message):
        read_hif(file)


def test_merged_weights_beyond_the_largest_number_are_refused():
    records = [{"edge": e, "weight": 1.7e308} for e in range(2)]
    with (
        pytest.warns(UserWarning, match="merged"),
        pytest.raises(ValueError, match="HIF document: hyperedge 0 has weight inf"),
    ):
        from_hif(document([(0, "a"), (1, "a")], edges=records))


def test_extreme_weights_survive():
    extreme = [5e-324, 0.1 + 0.2, 1.7976931348623157e308, 0.0]
    H = Hypergraph.from_edges([(0,), (1,), (2,), (3,)], extreme, nodes=4)
    assert from_hif(json.loads(json.dumps(to_hif(H)))).weights.tolist() == extreme
