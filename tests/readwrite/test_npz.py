import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given
from some_hypergraphs import hypergraphs, same_to_the_bit

from hsls import Hypergraph
from hsls.readwrite import read_npz, write_npz

SMALL = Hypergraph.from_edges([("a", "b"), ("b", "007", "c")], [0.25, 3.5], nodes=["z", "a", "b", "c", "007"])


@pytest.fixture
def file(tmp_path):
    return tmp_path / "x.npz"


def altered(file, **changes):
    """A file of SMALL in which some arrays are replaced, or left out where None."""
    write_npz(SMALL, file)
    with np.load(file) as loaded:
        arrays = dict(loaded) | changes
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    return file


@given(hypergraphs())
def test_round_trip_keeps_every_bit_and_is_the_same_bytes_each_time(tmp_path_factory, H):
    folder = tmp_path_factory.mktemp("npz")
    write_npz(H, folder / "a.npz")
    G = read_npz(folder / "a.npz")
    assert same_to_the_bit(G, H)
    write_npz(G, folder / "b.npz")
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()


def test_lone_surrogates_survive(file):
    H = Hypergraph.from_edges([], nodes=["\ud800", "\udc80a"])
    write_npz(H, file)
    assert read_npz(file) == H


def test_file_holds_no_objects(file):
    write_npz(SMALL, file)
    with np.load(file, allow_pickle=False) as arrays:
        assert {arrays[name].dtype.kind for name in arrays.files} <= set("iuf")


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def object_array():
    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    return stream.getvalue()


def zipped(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in ("hsls_version", "name_bytes", "name_offsets", "indptr", "indices", "weights"):
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


@pytest.mark.parametrize("content", [pickle.dumps(Trap()), object_array(), zipped(object_array())])
def test_pickles_are_never_loaded(file, content):
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.npz holds pickled Python objects, which are never loaded"):
        read_npz(file)


@pytest.mark.parametrize(
    "content", [zipped(b"no array"), zipped(b""), zipped(b"\x93NUMPY"), b"PK\x03\x04", b"\x93NUMPY"]
)
def test_damaged_files(file, content):
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.npz (is damaged|holds pickled)"):
        read_npz(file)


def test_every_truncation_is_refused(file):
    write_npz(SMALL, file)
    content = file.read_bytes()
    for size in range(1, len(content), 7):
        file.write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"x\.npz (is damaged|holds)"):
            read_npz(file)


def test_a_changed_byte_of_the_data_is_noticed(file):
    write_npz(SMALL, file)
    content = bytearray(file.read_bytes())
    content[content.index(SMALL.weights.tobytes())] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"is damaged or no numpy file \(Bad CRC-32"):
        read_npz(file)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": None, "indptr": None}, r"the arrays indptr, weights are missing"),
        ({"weights": np.ones(2, np.float32)}, r"weights must be float64"),
        ({"weights": np.array(["a", "b"])}, r"weights has dtype <U1 and shape \(2,\)"),
        ({"weights": np.ones(2, complex)}, r"weights has dtype complex128"),
        ({"weights": np.ones((2, 1))}, r"weights has dtype float64 and shape \(2, 1\)"),
        ({"weights": np.ones(3)}, r"weights must hold one number for each of the 2"),
        ({"weights": np.array([1, np.nan])}, r"hyperedge 1 has weight nan"),
        ({"weights": np.array([1, -1.0])}, r"hyperedge 1 has weight -1"),
        ({"indices": np.array([0, 1, 2, 3, 9])}, r"holds node 9"),
        ({"frequencies": np.array([1, 2])}, r"frequencies has dtype int64"),
        ({"frequencies": np.array([0.1])}, r"frequencies must hold one number for each of the 2"),
        ({"frequencies": np.array([0.1, 1.5])}, r"hyperedge 1 has frequency 1.5; frequencies must be from 0 to 1"),
        ({"indices": np.zeros(5)}, r"indices has dtype float64"),
        ({"indptr": np.array([0, 2, 4])}, r"indptr must start at 0"),
        ({"name_offsets": np.array([0, 1, 99])}, r"name_offsets do not fit"),
        ({"name_offsets": np.array([], int)}, r"name_offsets do not fit"),
        ({"name_bytes": np.full(7, 0xFF, np.uint8)}, r"node names are no UTF-8 text"),
        ({"name_bytes": np.full(7, 97, np.uint8)}, r"node names must be distinct, but 'a'"),
        ({"hsls_version": np.int64(2)}, r"has version 2 of this format, but this hsls reads 1"),
        ({"hsls_version": np.array([1])}, r"hsls_version has dtype int64 and shape \(1,\)"),
    ],
)
def test_wrong_arrays(file, changes, message):
    altered(file, **changes)
    with pytest.raises(ValueError, match=r"x\.npz.*" + message):
        read_npz(file)


def test_the_alterations_start_from_a_sound_file(file):
    assert read_npz(altered(file)) == SMALL
