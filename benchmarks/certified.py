"""The optimum over every hyperedge: what the search for missing candidates costs."""

from __future__ import annotations

import numpy as np

from benchmarks.instances import points
from benchmarks.table import header, judge, once, row, span, title
from hsls import Settings, learn, random_hypergraph, smooth_signals
from hsls._types import FloatArray


def certified() -> None:
    """Low and high dimensions, several variations; noise without structure, the hard case."""
    title("neighbors='certified', alpha = beta = 1, defaults otherwise")
    header("signals", "N", "P", "k", "variation", "rounds", "added", "examined at last", "possible", "time", "gap")
    smooth = smooth_signals(random_hypergraph(1_000, 600, 3, random_state=0), 250, random_state=0)
    noise = np.random.default_rng(0).standard_normal((1_000, 250))
    for signals, X, cardinalities, variation in (
        ("uniform points", points(1_000), (3,), "max-square"),
        ("uniform points", points(10_000), (3,), "max-square"),
        ("uniform points", points(10_000), (3,), "sum-absolute"),
        ("uniform points", points(10_000), (2, 3), "mean-square"),
        ("uniform points", points(100_000), (3,), "max-square"),
        ("smooth", smooth, (2, 3), "max-square"),
        ("smooth", smooth, (2, 3), "mean-square"),
        ("smooth", smooth[:200], (2, 3, 4), "scaled-absolute"),
        ("noise", noise, (2, 3), "max-square"),
        ("noise", noise, (2, 3), "mean-square"),
        ("noise", noise[:400, :100], (2, 3, 4), "max-square"),
    ):
        _one(signals, X, cardinalities, variation)


def _one(signals: str, X: FloatArray, cardinalities: tuple[int, ...], variation: str) -> None:
    told = Settings(cardinalities, "certified", variation=variation)
    learn(X[:100], told)  # compile
    seconds, learned = once(lambda: learn(X, told))
    proof = learned.certificate
    assert proof is not None
    gap = f"{learned.solution.relative_gap:.1e}"
    sizes = ", ".join(map(str, cardinalities))
    row(
        signals,
        *X.shape,
        sizes,
        variation,
        proof.rounds,
        proof.added,
        proof.examined,
        proof.possible,
        span(seconds),
        gap,
    )
    if len(X) == 10_000:
        met = proof.complete and seconds < 180
        judge(f"certified over all, N = 10,000 in 3-D, k = {sizes}, {variation}", span(seconds), "< 3 min", met)
