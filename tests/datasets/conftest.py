from __future__ import annotations

import pooch
import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, no folder of the environment's, and no network."""

    class NoNetwork:
        def __init__(self, **_):
            pass

        def __call__(self, url, output_file, pooch):
            raise OSError(f"{url} is out of reach")

    folder = tmp_path / "cache"
    monkeypatch.delenv("HSLS_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda _: folder)
    monkeypatch.setattr(pooch, "HTTPDownloader", NoNetwork)
    return folder
