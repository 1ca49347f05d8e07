"""Learn hypergraphs from signals by certified convex optimisation."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hsls._version import __version__

if TYPE_CHECKING:
    from hsls._warnings import ConvergenceWarning
    from hsls.candidates import Candidates
    from hsls.drawing import draw, draw_comparison, draw_convergence, draw_path, draw_timeline
    from hsls.estimators import HGSI, HSLS, PDLHGSP, HypergraphMLE, KNNHypergraph
    from hsls.hypergraph import Hypergraph
    from hsls.learning import Learned, Settings, learn
    from hsls.metrics import compare, total_variation
    from hsls.problem import Problem
    from hsls.readwrite import read, write
    from hsls.resampling import Stability, stability
    from hsls.selection import Path
    from hsls.simulate import random_hypergraph, smooth_signals
    from hsls.solvers import Solution, solve, solve_path
    from hsls.tables import read_signals
    from hsls.variation import Variation
    from hsls.windowing import Windows, windows

# What users import from `hsls`, and the room it lives in; loaded on first use, so that `import hsls` and
# `hsls --help` cost nothing.
_ROOMS = {
    "HGSI": "estimators",
    "HSLS": "estimators",
    "Candidates": "candidates",
    "ConvergenceWarning": "_warnings",
    "Hypergraph": "hypergraph",
    "HypergraphMLE": "estimators",
    "KNNHypergraph": "estimators",
    "Learned": "learning",
    "PDLHGSP": "estimators",
    "Path": "selection",
    "Problem": "problem",
    "Settings": "learning",
    "Solution": "solvers",
    "Stability": "resampling",
    "Variation": "variation",
    "Windows": "windowing",
    "learn": "learning",
    "solve": "solvers",
    "solve_path": "solvers",
    "draw": "drawing",
    "draw_comparison": "drawing",
    "draw_convergence": "drawing",
    "draw_path": "drawing",
    "draw_timeline": "drawing",
    "random_hypergraph": "simulate",
    "smooth_signals": "simulate",
    "stability": "resampling",
    "compare": "metrics",
    "total_variation": "metrics",
    "read": "readwrite",
    "read_signals": "tables",
    "windows": "windowing",
    "write": "readwrite",
}

__all__ = [
    "HGSI",
    "HSLS",
    "PDLHGSP",
    "Candidates",
    "ConvergenceWarning",
    "Hypergraph",
    "HypergraphMLE",
    "KNNHypergraph",
    "Learned",
    "Path",
    "Problem",
    "Settings",
    "Solution",
    "Stability",
    "Variation",
    "Windows",
    "__version__",
    "compare",
    "draw",
    "draw_comparison",
    "draw_convergence",
    "draw_path",
    "draw_timeline",
    "learn",
    "random_hypergraph",
    "read",
    "read_signals",
    "smooth_signals",
    "solve",
    "solve_path",
    "stability",
    "total_variation",
    "windows",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        value = getattr(importlib.import_module(f"hsls.{_ROOMS[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hsls' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])
