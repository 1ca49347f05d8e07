"""Files of the data sets: where they are, where they come from, and whether they are the right ones."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from hsls._files import PathLike, existing_file

__all__ = ["SETTING", "PackageFile", "Source", "cache_folder", "find"]

#: The environment variable that names a folder to look into first.
SETTING = "HSLS_DATA"

_SECONDS = 30


@dataclass(frozen=True)
class Source:
    """A public file, pinned: its name here, its repository, commit and path there, and the SHA-256 of its bytes."""

    name: str
    repository: str
    commit: str
    path: str
    sha256: str

    @property
    def url(self) -> str:
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{quote(self.path)}"


@dataclass(frozen=True)
class PackageFile:
    """A file that another package brings along: its name here, the package, its path there, and its SHA-256."""

    name: str
    package: str
    path: str
    sha256: str

    @property
    def url(self) -> str:
        return f"{self.path} of the package {self.package}"


def cache_folder() -> Path:
    """The folder, on this machine and for this user, of what was fetched or computed before."""
    try:
        import pooch
    except ImportError:
        raise ImportError('the cache needs pooch; pip install "hsls[data]".') from None
    return Path(pooch.os_cache("hsls"))


def find(source: Source | PackageFile, data: PathLike | None = None) -> Path:
    """The file of a source: in the folder `data`, else in that of HSLS_DATA, else where it comes from.

    That is the cache or, the first time, the address of a public file, and the installed package of a package's.
    Wherever it is found its checksum must be right.
    """
    named = data if data is not None else os.environ.get(SETTING) or None
    if named is not None:
        folder = Path(named)
        if not folder.is_dir():
            told = "data" if data is not None else SETTING
            raise ValueError(f"{told} names {folder}, which is no folder; name the one that holds {source.name}.")
        if (folder / source.name).exists():
            return _checked(source, existing_file(folder / source.name))
    return _fetched(source) if isinstance(source, Source) else _installed(source)


def _checked(source: Source | PackageFile, file: Path) -> Path:
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != source.sha256:
        raise ValueError(
            f"{file} is not the file that is expected there (its SHA-256 begins {found[:12]}, not "
            f"{source.sha256[:12]}); put {source.url} in its place."
        )
    return file


def _installed(source: PackageFile) -> Path:
    # Found without importing the package, which may take seconds.
    package = importlib.util.find_spec(source.package)
    for folder in (package and package.submodule_search_locations) or ():
        if (Path(folder) / source.path).exists():
            return _checked(source, existing_file(Path(folder) / source.path))
    raise ImportError(
        f'{source.name} comes with the package {source.package}; pip install "hsls[hyperspectral]", or put the file '
        f"into a folder and name it by {SETTING} or data=."
    )


def _fetched(source: Source) -> Path:
    by_hand = f"put the file {source.url} as {source.name} into a folder and name it by {SETTING} or data="
    try:
        import pooch
    except ImportError:
        raise ImportError(f'fetching data needs pooch; pip install "hsls[data]", or {by_hand}.') from None
    pooch.get_logger().setLevel("WARNING")
    try:
        fetched = pooch.retrieve(
            source.url,
            known_hash=f"sha256:{source.sha256}",
            path=cache_folder(),
            fname=source.name,
            downloader=pooch.HTTPDownloader(timeout=_SECONDS),
        )
    except Exception as error:  # whatever the network, the cache's folder or the checksum have to say
        raise ConnectionError(f"{source.name} could not be fetched ({type(error).__name__}); {by_hand}.") from None
    return Path(fetched)
