"""Large problems: a million nodes, growth with N, the cost of one pass, the graph case."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from benchmarks.instances import points
from benchmarks.table import hand_over, header, in_own_process, judge, once, row, seconds, span, title
from hsls import Problem, Settings, _threads, learn, variation
from hsls._types import AnyArray
from hsls.candidates import all_candidates, knn_candidates
from hsls.neighbors import nearest_neighbors
from hsls.solvers import newton


def million() -> None:
    """Run in a process of its own, so that the peak of memory is that of the work."""
    in_own_process("benchmarks.scale", "_million")


def _million(n_nodes: int = 1_000_000, r: int = 10) -> None:
    title(f"N = {n_nodes:,} points in 3-D, k = 3, r = {r}")
    learn(points(60_000), Settings(cardinalities=3, neighbors=r))  # compile
    X = points(n_nodes)
    base = _peak()
    user, _ = once(lambda: KDTree(X).query(X, k=r + 1, workers=_threads.count()))
    Y = X[KDTree(X).indices]
    search, neighbors = once(lambda: nearest_neighbors(Y, r))
    enumerate_, candidates = once(lambda: knn_candidates({3: neighbors.indices}))
    vary, z = once(lambda: variation.of_candidates(candidates, Y, "max-square"))
    z /= np.median(z)
    nearby, solution = once(lambda: newton(Problem(candidates, z), tol=1e-6))
    ours = enumerate_ + vary + nearby
    n_bytes = sum(block.nbytes for block in candidates.members) + z.nbytes
    peak = _peak()
    header("stage", "time")
    row("exact K-NN, points in the user's (random) order", span(user))
    row("exact K-NN, points in the tree's order (what hsls runs)", span(search))
    row(f"candidates ({len(candidates):,})", span(enumerate_))
    row("variations", span(vary))
    row(f"solve, alpha = beta = 1, z over its median: gap {solution.relative_gap:.1e}", span(nearby))
    row("candidates + variations + solve", span(ours))
    print(f"\nbytes of candidates and z {n_bytes / 1e9:.3f} GB, peak memory {peak / 1e9:.3f} GB "
          f"(of it {base / 1e9:.3f} GB before the work began)")  # fmt: skip
    for what, knn in (("user's order", user), ("tree's order", search)):
        print(f"candidates + variations + solve over exact K-NN in the {what}: {ours / knn:.2f}")
    judge("million nodes: work over exact K-NN of the points as given", f"{ours / user:.2f}", "<= 2", ours <= 2 * user)
    judge("million nodes: peak memory over candidates and z", f"{peak / n_bytes:.2f}", "< 3", peak < 3 * n_bytes)
    harder, again = once(lambda: newton(Problem(candidates, 23.5 * z), tol=1e-6))
    print(f"solve at the default scale (theta 23.5 times larger): {span(harder)}, gap {again.relative_gap:.1e}")
    hand_over()


def growth() -> None:
    """Time of the whole of `learn` against N."""
    title("Growth with N: learn() on points in 3-D, k = 3, r = 10, defaults otherwise")
    header("N", "candidates", "time", "time a node")
    sizes, times = (1_000, 10_000, 100_000, 1_000_000), []
    for n_nodes in sizes:
        X = points(n_nodes)
        run = lambda X=X: learn(X, Settings(cardinalities=3, neighbors=10))  # noqa: E731
        run() if n_nodes < 1_000_000 else None
        elapsed, learned = once(run) if n_nodes > 10_000 else seconds(run)
        times.append(elapsed)
        row(n_nodes, learned.n_candidates, span(elapsed), span(elapsed / n_nodes))
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    print(f"\nexponent of time against N: {slope:.3f}")
    judge("exponent of time against N, 1e3 to 1e6", f"{slope:.3f}", "<= 1.1", slope <= 1.1)


def one_pass() -> None:
    """One pass of the solver against a plain read of the same bytes by all cores."""
    in_own_process("benchmarks.scale", "_one_pass")


def _one_pass(n_nodes: int = 1_000_000) -> None:
    import numba

    title("One pass over the candidates, N = 1,000,000")

    @numba.njit(nogil=True, fastmath=True)
    def read(words, start, stop):  # type: ignore[no-untyped-def]
        total = np.uint64(0)
        for i in range(start, stop):
            total ^= words[i]
        return total

    X = points(n_nodes)
    header("numbering of the nodes", "active", "pass", "plain read", "pass / read")
    for name, Y in (("for locality (what hsls does)", X[KDTree(X).indices]), ("random", X)):
        candidates = knn_candidates({3: nearest_neighbors(Y, 10).indices})
        z = variation.of_candidates(candidates, Y, "max-square")
        z /= np.median(z)
        problem = Problem(candidates, z)
        n_words = candidates.members[0].size // 2
        pair = (candidates.members[0].reshape(-1)[: 2 * n_words].view(np.uint64), z.view(np.uint64))
        for share in (0.0, 0.5, 1.0):
            v = np.full(n_nodes, float(np.quantile(z[::1000], share)) / 3 if share else 1e-9)
            reading, _ = seconds(lambda pair=pair: _read_all(read, pair), least=5)
            passing, point = seconds(lambda problem=problem, v=v: problem.at(v), least=5)
            active = float(np.mean(problem.weights(point.v) > 0))
            row(name, f"{100 * active:.0f} %", span(passing), span(reading), passing / reading)
            if name != "random":
                judge(
                    f"one pass, {100 * active:.0f} % active: over a plain read", f"{passing / reading:.2f}", "<= 6",
                    passing <= 6 * reading,
                )  # fmt: skip
    hand_over()


def _read_all(read: Any, arrays: tuple[AnyArray, ...]) -> None:
    """Read every word of the arrays once, by all threads."""
    for words in arrays:
        ranges = _threads.split(len(words), _threads.count())
        _threads.over(lambda a, b, _, words=words: read(words, a, b), ranges)


def graph() -> None:
    """The graph case: all pairs."""
    title("Graph: cardinalities {2}, all pairs, N = 3,000, alpha = beta = 1, z over its median, gap 1e-6")
    header("signals", "pairs", "variations", "solve", "iterations", "gap")
    for name, X in (
        ("uniform points in 3-D", points(3_000)),
        ("normal, P = 100", np.random.default_rng(0).normal(size=(3_000, 100))),
    ):
        candidates = all_candidates(3_000, 2)
        vary, z = once(lambda X=X, candidates=candidates: variation.of_candidates(candidates, X, "sum-square"))
        z = z / np.median(z)
        solving, solution = seconds(lambda candidates=candidates, z=z: newton(Problem(candidates, z), tol=1e-6))
        row(name, len(candidates), span(vary), span(solving), solution.n_iter, f"{solution.relative_gap:.1e}")
        judge(f"graph of all pairs, N = 3,000, {name}", span(solving), "(prototype 0.18 s)", True)


def _peak() -> float:
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
