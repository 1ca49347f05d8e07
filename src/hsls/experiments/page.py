"""Pages: the reports of experiments, one after the other."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from hsls._files import PathLike
from hsls.experiments._outputs import Folder

__all__ = ["HYPERSPECTRAL", "REPRODUCTION", "check", "write"]

REPRODUCTION = """# Reproduction

What of the paper's experiments was reproduced, what was not, and why. Every number on this page was printed by the
command

    make reproduce

The experiment on a hyperspectral scene, with neural networks, has [a page of its own](hyperspectral.md).
"Scalable Hypergraph Structure Learning with Diverse Smoothness Priors" (Brown, Zhang, Lau, Arce) is *the paper*.
"""

HYPERSPECTRAL = """# Hyperspectral images

Every number on this page was printed by the command

    make hyperspectral

where FEATURES=DIR names a folder of convolutional networks trained on an accelerator by
`python -m hsls.experiments.hyperspectral.features`; without it the command trains them itself. "Scalable Hypergraph
Structure Learning with Diverse Smoothness Priors" (Brown, Zhang, Lau, Arce) is *the paper*.
"""


def check(path: PathLike) -> None:
    """Refuse a path that no page can be written to."""
    if Path(path).is_dir():
        raise ValueError(f"{path} cannot be written: it is a folder; add a file name.")
    Folder(Path(path).parent)


def write(path: PathLike, folders: Mapping[str, Path], head: str = REPRODUCTION) -> None:
    """Join the report.md of each folder; figures and files stay where they are, and links lead there from the page."""
    home = Path(path).resolve().parent
    parts = [head]
    for folder in folders.values():
        prefix = Path(os.path.relpath(folder.resolve(), home)).as_posix()
        text = (folder / "report.md").read_text(encoding="utf-8")
        parts.append(re.sub(r"(\[[^\]]*\]\()([^)/]+\))", rf"\1{prefix}/\2", text))
    Folder(Path(path).parent).text(Path(path).name, "\n".join(parts))
