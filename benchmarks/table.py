"""Timing and tables."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROWS: list[tuple[str, str, str, str]] = []


def seconds(work: Callable[[], Any], least: int = 3, budget: float = 2.0) -> tuple[float, Any]:
    """Least time of several calls (at least `least`, then as many as fit into `budget` seconds), and the result."""
    gc.collect()
    times, result = [], None
    began = time.perf_counter()
    while len(times) < least or (time.perf_counter() - began < budget and len(times) < 100):
        result = None
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def once(work: Callable[[], Any]) -> tuple[float, Any]:
    """Time of a single call, for what takes long."""
    gc.collect()
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def title(text: str) -> None:
    print(f"\n## {text}\n", flush=True)


def header(*names: str) -> None:
    print("| " + " | ".join(names) + " |")
    print("|" + " --- |" * len(names), flush=True)


def row(*cells: Any) -> None:
    print("| " + " | ".join(_text(cell) for cell in cells) + " |", flush=True)


def judge(what: str, figure: str, target: str, met: bool) -> None:
    """Remember a figure that has a target, for the summary at the end."""
    ROWS.append((what, figure, target, "met" if met else "MISSED"))


def summary() -> None:
    if not ROWS:
        return
    title("Targets")
    header("what", "measured", "target", "")
    for cells in ROWS:
        row(*cells)


def span(value: float) -> str:
    """A time in readable units."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def _text(cell: Any) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else str(cell)


def in_own_process(module: str, function: str) -> None:
    """Run ``module.function()`` in a new interpreter and take over the figures that it judged."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "rows")
        code = f"from {module} import {function}; {function}()"
        subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ, HSLS_BENCH_ROWS=str(target)))
        ROWS.extend(tuple(json.loads(line)) for line in target.read_text().splitlines())


def hand_over() -> None:
    """Write the judged figures to where the parent process expects them."""
    target = os.environ.get("HSLS_BENCH_ROWS")
    if target:
        Path(target).write_text("".join(json.dumps(cells) + "\n" for cells in ROWS))
