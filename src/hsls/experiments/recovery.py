"""Recovery without the truth in hand: HSLS and the likelihood chosen by the data, beside each one's own oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hsls._files import PathLike
from hsls._runs import each
from hsls._types import FloatArray
from hsls.datasets import COAUTHORSHIPS, load_coauthorship
from hsls.estimators import HGSI, HSLS, HypergraphMLE, KNNHypergraph
from hsls.experiments._grid import by_fbf, certified, decades
from hsls.experiments._outputs import Folder, markdown, means
from hsls.experiments.overlap import N_OBSERVATIONS, title
from hsls.hypergraph import Hypergraph
from hsls.learning import Settings, candidates_for
from hsls.metrics import precision_recall_f1
from hsls.problem import Problem
from hsls.selection import PENALTIES
from hsls.simulate import random_hypergraph, smooth_signals
from hsls.variation import of_candidates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIMULATED = "simulated-mixed"
#: Nodes and hyperedges of the simulated data, of 2, 3 and 4 nodes alike.
SIMULATED_SIZE = (200, 120)
DATA = ("dblp-uniform", "dblp-mixed", "cora-mixed", SIMULATED)
OBSERVATIONS = (50, 100, N_OBSERVATIONS, 1000)

ORACLES = ("HSLS, oracle (paper's solver)", "HSLS, oracle (certified)", "MLE, oracle")
AUTOMATIC = ("HSLS, automatic", "HSLS, automatic (cv)", "MLE, automatic", "MLE, automatic (cv)")
PLAIN = ("Gao K-NN", "HGSI")
METHODS = (*ORACLES[:2], *AUTOMATIC[:2], ORACLES[2], *AUTOMATIC[2:], *PLAIN)

# The grids of the paper's protocol; see the co-authorship experiment.
GRID = [(alpha, beta) for alpha in decades(1, 4) for beta in decades(-2, 1)]
NEIGHBORS = {True: 6, False: 8}
THRESHOLD = 1e-2
# Where the likelihood's oracle cuts.
CUTS = np.linspace(0.05, 0.8, 16)

Found: TypeAlias = Iterator[tuple[str, Hypergraph]]


@dataclass(frozen=True)
class Task:
    """One draw of signals on one data set."""

    name: str
    seed: int
    n_observations: int
    data: PathLike | None


def run(
    folder: Folder, *, seeds: int = 20, data: PathLike | None = None, n_jobs: int | None = None
) -> list[dict[str, Any]]:
    """Write table.*, draws.*, observations.png, observations.pdf and report.md; returns the rows of the table."""
    # The largest data set first: no process then has it to itself in the end.
    tasks = [
        Task(name, seed, count, data) for name in reversed(DATA) for count in OBSERVATIONS for seed in range(seeds)
    ]
    draws = [row for rows in each(draw, tasks, "recovery", n_jobs) for row in rows]
    rows = [
        summary(draws, name, count, method)
        for count in OBSERVATIONS
        for name in DATA
        for method in METHODS
        if any((row["data"], row["observations"], row["method"]) == (name, count, method) for row in draws)
    ]
    folder.table("draws", draws)
    folder.table("table", rows)
    folder.figure("observations", figure(rows))
    folder.text("report.md", report(rows, seeds))
    return rows


def draw(task: Task) -> list[dict[str, Any]]:
    """F1 of every method on one draw; the paper's solver only at the paper's number of signals."""
    truth = truth_of(task)
    X = smooth_signals(truth, task.n_observations, random_state=task.seed)
    found = [*_hsls(X, truth, task.n_observations == N_OBSERVATIONS), *_likelihood(X, truth), *_plain(X, truth)]
    return [_row(task, truth, method, hypergraph) for method, hypergraph in found]


def truth_of(task: Task) -> Hypergraph:
    if task.name == SIMULATED:
        return random_hypergraph(*SIMULATED_SIZE, (2, 3, 4), random_state=task.seed)
    named = load_coauthorship(task.name, data=task.data)
    return Hypergraph.from_members(named.members().values(), named.weights, named.n_nodes)


def _hsls(X: FloatArray, truth: Hypergraph, paper: bool) -> Found:
    sizes = tuple(truth.members())
    neighbors = NEIGHBORS[len(sizes) == 1]
    candidates = candidates_for(X, Settings(cardinalities=sizes, neighbors=neighbors).check())
    problem = Problem(candidates, of_candidates(candidates, X, "max-square"))
    solved: dict[str, Callable[..., Any]] = {ORACLES[1]: certified}
    if paper:
        solved[ORACLES[0]] = by_fbf
    for method, by in solved.items():
        yield method, _best((candidates.hypergraph(w, THRESHOLD) for _, w, _ in by(problem, GRID)), truth)
    yield AUTOMATIC[0], HSLS(sizes, alpha="auto").fit(X).hypergraph_
    yield AUTOMATIC[1], HSLS(sizes, alpha="auto", criterion="cv").fit(X).hypergraph_


def _likelihood(X: FloatArray, truth: Hypergraph) -> Found:
    sizes = tuple(truth.members())
    solutions = (HypergraphMLE(sizes, penalty=penalty, threshold=float(CUTS[0])).fit(X) for penalty in PENALTIES)
    yield ORACLES[2], _best((one.hypergraph_.threshold(float(cut)) for one in solutions for cut in CUTS), truth)
    yield AUTOMATIC[2], HypergraphMLE(sizes).fit(X).hypergraph_
    yield AUTOMATIC[3], HypergraphMLE(sizes, criterion="cv").fit(X).hypergraph_


def _plain(X: FloatArray, truth: Hypergraph) -> Found:
    sizes = tuple(truth.members())
    yield PLAIN[0], KNNHypergraph(sizes).fit(X).hypergraph_
    yield PLAIN[1], HGSI(sizes, n_hyperedges=truth.n_edges).fit(X).hypergraph_


def _best(found: Iterator[Hypergraph], truth: Hypergraph) -> Hypergraph:
    return max(found, key=partial(_f1, truth))


def _f1(truth: Hypergraph, found: Hypergraph) -> float:
    return precision_recall_f1(found, truth)[2]


def _row(task: Task, truth: Hypergraph, method: str, found: Hypergraph) -> dict[str, Any]:
    precision, recall, f1 = precision_recall_f1(found, truth)
    return {
        "data": task.name,
        "seed": task.seed,
        "observations": task.n_observations,
        "method": method,
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "hyperedges": found.n_edges,
    }


def summary(draws: list[dict[str, Any]], name: str, count: int, method: str) -> dict[str, Any]:
    """Mean and standard deviation over the draws."""
    own = [row for row in draws if (row["data"], row["observations"], row["method"]) == (name, count, method)]
    row: dict[str, Any] = {"data": name, "observations": count, "method": method, "draws": len(own)}
    return row | means(own, ("precision", "recall", "f1"))


def figure(rows: list[dict[str, Any]]) -> Any:
    """F1 against the number of observations, a panel a data set."""
    from hsls.drawing import _canvas

    drawing, axes = _canvas.panels(2, 2, 7.4, 5.6)
    for ax, name in zip(axes, DATA, strict=True):
        _panel(ax, name, [row for row in rows if row["data"] == name])
    axes[0].legend(fontsize=6.5, loc="lower right", framealpha=0.9)
    return drawing


def _panel(ax: Axes, name: str, rows: list[dict[str, Any]]) -> None:
    from hsls.drawing.convergence import COLOURS, LINES, MARKERS

    for number, method in enumerate(METHODS):
        own = [row for row in rows if row["method"] == method]
        counts, means = [row["observations"] for row in own], [row["f1_mean"] for row in own]
        ax.plot(
            counts, means, lw=1, markersize=3, label=method, color=COLOURS[number % len(COLOURS)],
            linestyle=LINES[number % len(LINES)], marker=MARKERS[number % len(MARKERS)],
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xticks(OBSERVATIONS, [str(count) for count in OBSERVATIONS])
    ax.minorticks_off()
    ax.set_ylim(0, 1.02)
    ax.set_title(_title(name), fontsize=9)
    ax.set_xlabel("observations", fontsize=8)
    ax.set_ylabel("F1", fontsize=8)
    ax.tick_params(labelsize=8)


def _title(name: str) -> str:
    nodes, edges = SIMULATED_SIZE
    return title(name) if name in COAUTHORSHIPS else f"simulated: {nodes} nodes, {edges} hyperedges of 2, 3, 4"


def report(rows: list[dict[str, Any]], seeds: int) -> str:
    """The section of the page on recovery."""
    cells = {(row["data"], row["observations"], row["method"]): row for row in rows}
    tables = []
    for count in OBSERVATIONS:
        lines = [[_title(name), *(_cell(cells.get((name, count, method))) for method in METHODS)] for name in DATA]
        tables.append(f"P = {count}:\n\n{markdown(['data', *METHODS], lines)}")
    return f"""## Recovery without the truth in hand

F1, mean ± standard deviation over {seeds} draws of the paper's signals, the same for all methods. An *oracle* picks its
parameters by the true hyperedges: HSLS (max-square, raw variations) alpha from 10 to 10,000 and beta from 0.01 to 10 as
in the paper's protocol, by the paper's solver at its own stopping rule (for P = {N_OBSERVATIONS} alone) or at the
certified optimum; the likelihood its penalty and where it cuts. The *automatic* ones see the signals and the
cardinalities that occur, nothing else; they choose by the extended BIC, where *cv* is named by cross-validation. They
may be ahead of the oracle: it takes the weights as they are, while the extended BIC leads a search from them. Gao et
al.'s K-NN has no parameter; HGSI is told the true number of hyperedges.

{chr(10).join(tables)}
![F1 against the number of observations](observations.png)
"""


def _cell(row: dict[str, Any] | None) -> str:
    return "" if row is None else f"{row['f1_mean']:.3f} ± {row['f1_std']:.3f}"
