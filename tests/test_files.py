import errno
import os
import pickle
import stat

import numpy as np
import pytest

from hsls import Hypergraph, _files, write
from hsls._files import atomic_path, existing_file, numpy_arrays

# -- existing_file ---------------------------------------------------------------------------------------


def test_a_file_is_returned_as_a_path(tmp_path):
    (tmp_path / "x").write_text("1")
    assert existing_file(str(tmp_path / "x")) == tmp_path / "x"


def test_missing_empty_folder_and_unreadable(tmp_path, monkeypatch):
    (tmp_path / "empty").touch()
    (tmp_path / "full").write_text("1")
    with pytest.raises(ValueError, match=r"missing: there is no such file; check its name and folder\.$"):
        existing_file(tmp_path / "missing")
    with pytest.raises(ValueError, match=r"full/x: there is no such file"):
        existing_file(tmp_path / "full" / "x")
    with pytest.raises(ValueError, match=r"empty is an empty file"):
        existing_file(tmp_path / "empty")
    with pytest.raises(ValueError, match=r"is a folder; name a file inside it"):
        existing_file(tmp_path)
    with pytest.raises(ValueError, match=r"cannot be read: File name too long"):
        existing_file(tmp_path / ("x" * 5000))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ValueError, match=r"full cannot be read: permission denied"):
        existing_file(tmp_path / "full")


# -- atomic_path -----------------------------------------------------------------------------------------


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_file_appears_whole_at_the_end(tmp_path):
    with atomic_path(tmp_path / "x.csv") as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".csv"
        assert not (tmp_path / "x.csv").exists()
    assert names(tmp_path) == ["x.csv"]
    assert (tmp_path / "x.csv").read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("before", [None, "old"])
def test_an_exception_leaves_everything_as_it_was(tmp_path, error, before):
    target = tmp_path / "x.csv"
    if before:
        target.write_text(before)

    def interrupted():
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert names(tmp_path) == (["x.csv"] if before else [])
    assert not before or target.read_text() == before


def test_an_interruption_while_writing_a_hypergraph_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(Hypergraph.from_edges([(0, 1)]), tmp_path / "x.npz")
    assert names(tmp_path) == []


def test_permissions_are_those_of_an_ordinary_or_of_the_older_file(tmp_path):
    (tmp_path / "plain").touch()
    (tmp_path / "old").touch()
    (tmp_path / "old").chmod(0o640)
    for name in ("new", "old"):
        with atomic_path(tmp_path / name) as temporary:
            temporary.write_text("x")
    mode = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names(tmp_path)}
    assert mode["new"] == mode["plain"]
    assert mode["old"] == 0o640


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "real")
    with atomic_path(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "real").read_text() == "new"
    assert names(tmp_path / "folder") == ["real"]


def refused(path):
    with atomic_path(path):
        pytest.fail("the place was not refused")


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("old")
    os.mkfifo(tmp_path / "pipe")
    before = names(tmp_path)
    with pytest.raises(ValueError, match=r"nowhere/x\.csv cannot be written: the folder .*nowhere does not exist"):
        refused(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(ValueError, match=r"file/x\.csv cannot be written: .*file is not a folder"):
        refused(tmp_path / "file" / "x.csv")
    with pytest.raises(ValueError, match=r"cannot be written: it is a folder; add a file name"):
        refused(tmp_path)
    with pytest.raises(ValueError, match=r"pipe cannot be written: it is not an ordinary file"):
        refused(tmp_path / "pipe")
    with pytest.raises(ValueError, match=r"cannot be written: File name too long"):
        refused(tmp_path / ("x" * 5000))

    def full(*_args):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patch:
        patch.setattr(_files.os, "open", full)
        with pytest.raises(ValueError, match=r"x\.csv cannot be written: Read-only file system"):
            refused(tmp_path / "x.csv")
    monkeypatch.setattr(_files.os, "access", lambda path, mode: False)
    for name in ("x.csv", "file"):
        with pytest.raises(ValueError, match=rf"{name} cannot be written: permission denied"):
            refused(tmp_path / name)
    assert names(tmp_path) == before
    assert (tmp_path / "file").read_text() == "old"


# -- numpy_arrays ----------------------------------------------------------------------------------------


def test_arrays_by_name_and_only_one(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.arange(3), b=np.eye(2))
    np.save(tmp_path / "x.npy", np.arange(4))
    assert numpy_arrays(tmp_path / "x.npy")[""].tolist() == [0, 1, 2, 3]
    arrays = numpy_arrays(tmp_path / "x.npz")
    assert list(arrays) == ["a", "b"]
    assert arrays["a"].tolist() == [0, 1, 2]
    one = numpy_arrays(tmp_path / "x.npz", only="b")
    assert list(one) == ["a", "b"]
    assert one["b"].tolist() == [[1, 0], [0, 1]]
    assert one["a"].size == 0


def test_pickles_are_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was loaded",))

    (tmp_path / "x.npy").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match=r"x\.npy holds pickled Python objects, which are never loaded"):
        numpy_arrays(tmp_path / "x.npy")


def test_a_claim_of_absurd_size_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1000, 2)))
    content = (tmp_path / "x.npy").read_bytes().replace(b"(1000, 2), }" + b" " * 12, b"(10000000000000, 2), }  ")
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.npy is damaged or no numpy file"):
        numpy_arrays(tmp_path / "x.npy")
