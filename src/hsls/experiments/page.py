"""The page on reproduction: the reports of the experiments, one after the other."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from hsls._files import PathLike
from hsls.experiments._outputs import Folder

__all__ = ["check", "write"]

_HEAD = """# Reproduction

What of the paper's experiments was reproduced, what was not, and why. Every number on this page was printed by the
command

    make reproduce

"Scalable Hypergraph Structure Learning with Diverse Smoothness Priors" (Brown, Zhang, Lau, Arce) is *the paper*.
"""


def check(path: PathLike) -> None:
    """Refuse a path that no page can be written to."""
    if Path(path).is_dir():
        raise ValueError(f"{path} cannot be written: it is a folder; add a file name.")
    Folder(Path(path).parent)


def write(path: PathLike, folders: Mapping[str, Path]) -> None:
    """Join the report.md of each folder; the figures stay where they are, and links lead there from the page."""
    home = Path(path).resolve().parent
    parts = [_HEAD]
    for folder in folders.values():
        prefix = Path(os.path.relpath(folder.resolve(), home)).as_posix()
        text = (folder / "report.md").read_text(encoding="utf-8")
        parts.append(re.sub(r"(!\[[^\]]*\]\()([^)/]+\))", rf"\1{prefix}/\2", text))
    Folder(Path(path).parent).text(Path(path).name, "\n".join(parts))
