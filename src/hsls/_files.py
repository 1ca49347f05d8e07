"""Files: what may be read, writing all or nothing, and numpy's containers without pickles."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import numpy as np

from hsls._types import AnyArray

PathLike: TypeAlias = str | os.PathLike[str]


def existing_file(path: PathLike) -> Path:
    """Return `path` if it is a file with something in it that may be read; otherwise say what it is."""
    file = Path(path)
    try:
        status = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{file}: there is no such file; check its name and folder.") from None
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}.") from None
    if stat.S_ISDIR(status.st_mode):
        raise ValueError(f"{file} is a folder; name a file inside it.")
    if stat.S_ISREG(status.st_mode) and status.st_size == 0:
        raise ValueError(f"{file} is an empty file; there is nothing to read in it.")
    if not os.access(file, os.R_OK):
        raise ValueError(f"{file} cannot be read: permission denied.")
    return file


@contextmanager
def atomic_path(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`, with the same ending; it becomes `path` on success.

    On any exception, an interruption included, the temporary file is removed and an older file at `path`
    stays as it was. The temporary file exists (empty) from the start, so what opens it must overwrite.
    """
    # Through a symbolic link the file it points to is replaced, not the link.
    target = Path(os.path.realpath(path))
    try:
        _check_target(target, str(path))
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}.") from None
    temporary = target.parent / f".hsls-{secrets.token_hex(8)}{target.suffix}"
    try:
        try:
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        except OSError as error:
            raise ValueError(f"{path} cannot be written: {error.strerror}.") from None
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _check_target(target: Path, shown: str) -> None:
    folder = target.parent
    if not folder.exists():
        raise ValueError(f"{shown} cannot be written: the folder {folder} does not exist; create it first.")
    if not folder.is_dir():
        raise ValueError(f"{shown} cannot be written: {folder} is not a folder.")
    if target.is_dir():
        raise ValueError(f"{shown} cannot be written: it is a folder; add a file name.")
    if target.exists() and not target.is_file():
        raise ValueError(f"{shown} cannot be written: it is not an ordinary file.")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise ValueError(f"{shown} cannot be written: permission denied.")


def numpy_arrays(path: PathLike, only: str | None = None) -> dict[str, AnyArray]:
    """Return the arrays of a .npz file by name, or that of a .npy file under the name ""; never a pickle.

    With `only`, the other arrays of a .npz stay unread: their names come with empty arrays.
    """
    file = existing_file(path)
    try:
        with file.open("rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"": loaded}
            with loaded:
                unread = np.empty(0)
                arrays = {name: loaded[name] if only in (None, name) else unread for name in loaded.files}
            for name, value in arrays.items():
                if not isinstance(value, np.ndarray):
                    raise ValueError(f"its member {name} is no array")
            return arrays
    except Exception as error:
        # Any byte of the file may be wrong, and numpy, zipfile and zlib then raise a dozen different types.
        if "pickle" in str(error):
            raise ValueError(f"{file} holds pickled Python objects, which are never loaded; save numbers.") from None
        raise ValueError(f"{file} is damaged or no numpy file ({reason(error)}).") from None


def reason(error: Exception) -> str:
    """What another library's error says, short enough to stand in a sentence."""
    return str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
