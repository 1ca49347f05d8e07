"""Pickles of plain values: dicts, lists, strings and numbers, and nothing that could run."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["plain_pickle"]


class _Plain(pickle.Unpickler):
    """Refuses every global, so that no class is looked up and nothing called."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise pickle.UnpicklingError(f"it names {module_name}.{global_name}, and only plain values are loaded")


def plain_pickle(path: Path) -> Any:
    """Load a pickle that holds plain values only; any other is refused."""
    with path.open("rb") as file:
        try:
            return _Plain(file).load()
        except Exception as error:  # a damaged pickle raises almost anything
            raise ValueError(f"{path} is no pickle of plain values: {error}.") from None
