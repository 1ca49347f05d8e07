"""Run benchmarks: ``python -m benchmarks [NAME ...]``; all of them by default."""

from __future__ import annotations

import sys

import numpy as np

from benchmarks import calibration, certified, confidence, likelihood, scale, solvers, startup
from benchmarks.table import summary
from hsls import _threads

BENCHMARKS = {
    "paper": solvers.paper_regime,
    "rival": solvers.fair_rival,
    "clarabel": solvers.clarabel,
    "million": scale.million,
    "growth": scale.growth,
    "pass": scale.one_pass,
    "graph": scale.graph,
    "certified": certified.certified,
    "startup": startup.startup,
    "likelihood": likelihood.likelihood,
}

# Tables that no target of speed goes with: only when named.
TABLES = {
    "calibration": calibration.calibration,
    "confidence": confidence.confidence,
    "stream": confidence.stream,
}


def main() -> int:
    names = sys.argv[1:] or list(BENCHMARKS)
    known = {**BENCHMARKS, **TABLES}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    print(
        f"Threads: {_threads.count()}; numpy {np.__version__}. Every ratio is within one run, on the same candidates."
    )
    for name in names:
        known[name]()
    summary()
    return 0


if __name__ == "__main__":
    sys.exit(main())
