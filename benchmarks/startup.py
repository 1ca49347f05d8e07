"""What a user waits for at first use, and on the 40-node example afterwards, from the shell."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.table import header, judge, row, span, title


def startup() -> None:
    """Times of whole commands, with an empty and with a filled cache of compiled kernels."""
    title("From the shell")
    header("command", "time")
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, NUMBA_CACHE_DIR=str(Path(folder, "cache")))
        signals, learned = str(Path(folder, "signals.csv")), str(Path(folder, "learned.json"))
        simulate = ["simulate", "-o", signals, "--seed", "0"]
        learn = ["learn", signals, "-o", learned, "--cardinalities", "3"]
        _run(simulate, environment)
        first = _run(learn, environment)
        again = min(_run(learn, environment) for _ in range(5))
        helps = min(_run(["--help"], environment) for _ in range(5))
        first_demo = _run(["demo", "--out", str(Path(folder, "demo"))], environment)
        again_demo = _run(["demo", "--out", str(Path(folder, "demo"))], environment)
    row("hsls learn, 40 nodes, first use (kernels are compiled)", span(first))
    row("hsls learn, 40 nodes, afterwards", span(again))
    row("hsls --help", span(helps))
    row("hsls demo, after the above (kernels of the drawing are compiled)", span(first_demo))
    row("hsls demo, afterwards", span(again_demo))
    judge("first use after install, compilation included", span(first), "< 15 s", first < 15)
    judge("hsls learn on 40 nodes afterwards", span(again), "< 2 s", again < 2)


def _run(arguments: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "hsls", *arguments], check=True, env=environment, capture_output=True)
    return time.perf_counter() - start
