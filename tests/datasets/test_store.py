"""Where files of data are looked for, in which order, and that a wrong one is never taken."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import pooch
import pytest

from hsls.datasets import _store
from hsls.datasets._store import Source, find
from hsls.datasets.coauthorship import _NETWORKS
from hsls.datasets.states import _MORTALITY, _SMOKING, YEARS, _temperature

RIGHT, WRONG = b"the right bytes", b"the wrong bytes"
SOURCE = Source(
    "some table.csv", "owner/repository", "c0ffee", "a folder/the table.csv", hashlib.sha256(RIGHT).hexdigest()
)
URL = "https://raw.githubusercontent.com/owner/repository/c0ffee/a%20folder/the%20table.csv"


def holding(folder, content=RIGHT):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SOURCE.name).write_bytes(content)
    return folder


@pytest.fixture
def served(monkeypatch):
    """What the network has to offer; returns the addresses that were asked for."""
    asked = []

    def serve(content):
        class Downloader:
            def __init__(self, timeout):
                assert timeout > 0

            def __call__(self, url, output_file, pooch):
                asked.append(url)
                Path(output_file).write_bytes(content)

        monkeypatch.setattr(pooch, "HTTPDownloader", Downloader)
        return asked

    return serve


def test_the_address_is_that_of_the_pinned_commit():
    assert SOURCE.url == URL


def test_the_folder_that_is_named_comes_first_then_the_settings_then_the_cache(tmp_path, monkeypatch, cache, served):
    asked = served(RIGHT)
    named, setting = holding(tmp_path / "named"), holding(tmp_path / "setting")
    monkeypatch.setenv("HSLS_DATA", str(setting))
    assert find(SOURCE, named) == named / SOURCE.name
    assert find(SOURCE, str(named)) == named / SOURCE.name
    assert find(SOURCE) == setting / SOURCE.name
    (setting / SOURCE.name).unlink()
    assert not cache.exists()
    assert asked == []
    assert find(SOURCE) == cache / SOURCE.name
    assert asked == [URL]


@pytest.mark.parametrize("setting", [None, ""])
def test_without_a_setting_the_cache_is_filled_once(monkeypatch, cache, served, setting):
    if setting is not None:
        monkeypatch.setenv("HSLS_DATA", setting)
    asked = served(RIGHT)
    for _ in range(3):
        assert find(SOURCE).read_bytes() == RIGHT
    assert asked == [URL]
    assert [file.name for file in cache.iterdir()] == [SOURCE.name]


def test_a_wrong_file_in_a_folder_is_refused_and_not_replaced(tmp_path, monkeypatch, served):
    asked = served(RIGHT)
    folder = holding(tmp_path / "wrong", WRONG)
    found, expected = hashlib.sha256(WRONG).hexdigest()[:12], SOURCE.sha256[:12]
    message = re.escape(f"{folder / SOURCE.name} is not the file that is expected there (its SHA-256 begins {found}, "
                        f"not {expected}); put {URL} in its place.")  # fmt: skip
    with pytest.raises(ValueError, match=message):
        find(SOURCE, folder)
    monkeypatch.setenv("HSLS_DATA", str(folder))
    with pytest.raises(ValueError, match=message):
        find(SOURCE)
    assert asked == []
    assert (folder / SOURCE.name).read_bytes() == WRONG


def test_a_wrong_file_from_the_network_is_refused_and_not_kept(cache, served):
    served(WRONG)
    with pytest.raises(ConnectionError, match=r"some table\.csv could not be fetched \(ValueError\)"):
        find(SOURCE)
    assert not list(cache.iterdir())


def test_a_damaged_file_in_the_cache_is_fetched_again(cache, served):
    asked = served(RIGHT)
    holding(cache, WRONG)
    assert find(SOURCE).read_bytes() == RIGHT
    assert asked == [URL]


def test_an_empty_file_and_a_folder_of_that_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match="is an empty file"):
        find(SOURCE, holding(tmp_path, b""))
    (tmp_path / SOURCE.name).unlink()
    (tmp_path / SOURCE.name).mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        find(SOURCE, tmp_path)


@pytest.mark.parametrize("made", [False, True])
def test_without_network_one_sentence_says_which_file_to_put_where(tmp_path, made):
    """Also where the folder that is named lacks the file."""
    with pytest.raises(ConnectionError) as error:
        find(SOURCE, tmp_path if made else None)
    assert str(error.value) == (
        f"some table.csv could not be fetched (OSError); put the file {URL} as some table.csv into a folder and name "
        "it by HSLS_DATA or data=."
    )


def test_without_pooch_the_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError) as error:
        find(SOURCE)
    assert str(error.value) == (
        f'fetching data needs pooch; pip install "hsls[data]", or put the file {URL} as some table.csv into a folder '
        "and name it by HSLS_DATA or data=."
    )


def test_a_folder_that_is_none_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("x")
    for wrong in (tmp_path / "none", file):
        with pytest.raises(ValueError, match=r"^data names") as error:
            find(SOURCE, wrong)
        assert str(error.value) == f"data names {wrong}, which is no folder; name the one that holds some table.csv."
    monkeypatch.setenv(_store.SETTING, str(file))
    with pytest.raises(ValueError, match=f"HSLS_DATA names {re.escape(str(file))}, which is no folder"):
        find(SOURCE)


def test_the_files_of_the_data_sets_have_the_checksums_of_their_list(data_folder):
    sources = [*_NETWORKS.values(), _MORTALITY, _SMOKING, *(_temperature(year) for year in YEARS)]
    assert len({source.name for source in sources}) == 13
    for source in sources:
        assert find(source, data_folder) == data_folder / source.name
    listed = dict(reversed(line.split()) for line in (data_folder / "SHA256SUMS").read_text().splitlines())
    assert {source.name: source.sha256 for source in sources} == listed
