"""What breaks where the signals are not those of the model, and how far: every method on signals of other kinds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsls._files import PathLike
from hsls._runs import each
from hsls._types import FloatArray
from hsls.components import connected_components
from hsls.estimators import HSLS, HypergraphMLE, KNNHypergraph
from hsls.experiments._grid import by_fbf
from hsls.experiments._outputs import Folder, markdown, means
from hsls.experiments.coauthorship import GRID, NEIGHBORS, best
from hsls.experiments.overlap import N_OBSERVATIONS
from hsls.hypergraph import Hypergraph
from hsls.learning import Settings, candidates_for
from hsls.metrics import precision_recall_f1
from hsls.problem import Problem
from hsls.simulate import random_hypergraph, smooth_signals
from hsls.variation import of_candidates

#: Nodes and hyperedges of the simulated hypergraphs, of 2 and 3 nodes alike, and parts of one that is not connected.
SIZE = (30, 30)
PARTS = 3
CARDINALITIES = (2, 3)

ORACLE = "HSLS, oracle (paper's solver)"
METHODS = (ORACLE, "HSLS, default", "HSLS, automatic", "MLE, automatic", "Gao K-NN")
#: The methods that a cure is tried with.
CURED = ("HSLS, automatic", "MLE, automatic")

Generator = Callable[[Hypergraph, int, np.random.Generator], FloatArray]


# -- hypergraphs -------------------------------------------------------------------------------------------------------


def connected(nodes: int, edges: int, rng: np.random.Generator) -> Hypergraph:
    """A random hypergraph, drawn until one is connected."""
    while True:
        found = random_hypergraph(nodes, edges, CARDINALITIES, random_state=rng)
        if len(connected_components(found)) == 1:
            return found


def truth_of(task: Task) -> Hypergraph:
    """The same for all conditions of as many parts."""
    nodes, edges = SIZE
    parts = CONDITIONS[task.condition].parts
    rng = np.random.default_rng(task.seed)
    each_part = [connected(nodes // parts, edges // parts, rng) for _ in range(parts)]
    listed = [
        tuple(number * (nodes // parts) + i for i in edge)
        for number, part in enumerate(each_part)
        for edge in part.edges
    ]
    return Hypergraph.from_edges(listed, nodes=range(nodes))


# -- signals -----------------------------------------------------------------------------------------------------------


def _of_model(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
    return smooth_signals(truth, count, random_state=rng)


def _noisy(ratio: float) -> Generator:
    def signals(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
        X = _of_model(truth, count, rng)
        return X + math.sqrt(X.var() / ratio) * rng.standard_normal(X.shape)

    return signals


def _student(freedom: float) -> Generator:
    def signals(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
        X = _of_model(truth, count, rng)
        return np.asarray(X / np.sqrt(rng.chisquare(freedom, count) / freedom))

    return signals


def _outliers(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
    X = _of_model(truth, count, rng)
    hit = rng.random(X.shape) < 0.01
    return np.asarray(X + 10.0 * X.std() * hit * rng.standard_normal(X.shape))


def _autoregressive(memory: float) -> Generator:
    def signals(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
        X = _of_model(truth, count, rng)
        for t in range(1, count):
            X[:, t] = memory * X[:, t - 1] + math.sqrt(1.0 - memory**2) * X[:, t]
        return X

    return signals


def _filtered(response: Callable[[FloatArray], FloatArray]) -> Generator:
    """White noise through a filter of the eigenvalues, over the largest, of the clique expansion's Laplacian."""

    def signals(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
        values, vectors = np.linalg.eigh(truth.clique_laplacian().toarray())
        noise = rng.standard_normal((truth.n_nodes, count))
        return np.asarray((vectors * response(np.maximum(values, 0.0) / values[-1])) @ (vectors.T @ noise))

    return signals


def _largest(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
    """Each hyperedge has white noise of its own; a node shows the largest of its hyperedges, and a little of its own"""
    own = rng.standard_normal((truth.n_edges, count))
    X = np.full((truth.n_nodes, count), -np.inf)
    for e, members in enumerate(truth.edges):
        X[list(members)] = np.maximum(X[list(members)], own[e])
    return X + 0.1 * rng.standard_normal(X.shape)


def _signs(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
    return (_of_model(truth, count, rng) > 0).astype(np.float64)


def _shared(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
    X = _of_model(truth, count, rng)
    return np.asarray(X + X.std() * np.outer(rng.uniform(0.5, 1.5, len(X)), rng.standard_normal(count)))


def _levelled(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
    X = _of_model(truth, count, rng)
    return np.asarray(X + X.std() * rng.standard_normal((len(X), 1)))


def _scaled(truth: Hypergraph, count: int, rng: np.random.Generator) -> FloatArray:
    X = _of_model(truth, count, rng)
    return np.asarray(X * np.exp(0.5 * rng.standard_normal((len(X), 1))))


# -- cures -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cure:
    """What can be done about a condition.

    Attributes
    ----------
    name : str
    rows : callable, optional
        From the signals to those to learn from.
    options : callable, optional
        From the signals to options that both estimators know.
    of_likelihood : callable, optional
        From the signals to options that `HypergraphMLE` alone knows.
    """

    name: str
    rows: Callable[[FloatArray], FloatArray] = np.asarray
    options: Callable[[FloatArray], dict[str, Any]] = lambda _: {}
    of_likelihood: Callable[[FloatArray], dict[str, Any]] = lambda _: {}


def _centred(X: FloatArray) -> FloatArray:
    return np.asarray(X - X.mean(axis=1, keepdims=True))


def _standardised(X: FloatArray) -> FloatArray:
    return np.asarray(_centred(X) / X.std(axis=1, keepdims=True))


def _weights(X: FloatArray) -> dict[str, Any]:
    return {"observation_weights": 1.0 / X.var(axis=0)}


def _every_tenth(X: FloatArray) -> FloatArray:
    return np.ascontiguousarray(X[:, ::10])


CENTRED = Cure("rows less their means (`centre=True`)", _centred)
STANDARDISED = Cure("rows less their means, over their deviations", _standardised)
WEIGHTED = Cure("`observation_weights`: one over the variance of each observation", options=_weights)
THINNED = Cure("every tenth observation", _every_tenth)


@dataclass(frozen=True)
class Condition:
    """One way in which signals can be, and cures that are tried."""

    signals: Generator = _of_model
    n_observations: int = N_OBSERVATIONS
    parts: int = 1
    cures: tuple[Cure, ...] = ()


def _noise(ratio: float) -> Condition:
    """White noise of the model's mean variance over the ratio; the cure is told the share that it has on average."""

    def told(X: FloatArray) -> dict[str, Any]:
        return {"noise": float(X.var()) / (1.0 + ratio)}

    cure = Cure("`noise=` its variance (the likelihood alone has it)", of_likelihood=told)
    return Condition(_noisy(ratio), cures=(cure,))


CONDITIONS = {
    "the model": Condition(cures=(CENTRED, STANDARDISED, WEIGHTED)),
    "P = 100": Condition(n_observations=100),
    "P = 50": Condition(n_observations=50),
    "P = 20": Condition(n_observations=20),
    f"hypergraph of {PARTS} parts": Condition(parts=PARTS),
    **{f"white noise, SNR {ratio:g}": _noise(ratio) for ratio in (100.0, 10.0, 1.0)},
    "Student t, 3 degrees of freedom": Condition(_student(3.0), cures=(WEIGHTED,)),
    "1 % outliers of 10 deviations": Condition(_outliers, cures=(WEIGHTED,)),
    "AR(1) in time, 0.5": Condition(_autoregressive(0.5)),
    "AR(1) in time, 0.9": Condition(_autoregressive(0.9), cures=(THINNED,)),
    "heat diffusion": Condition(_filtered(lambda values: np.exp(-10.0 * values))),
    "Tikhonov filter": Condition(_filtered(lambda values: 1.0 / (1.0 + 10.0 * values))),
    "maximum over hyperedges": Condition(_largest),
    "signs": Condition(_signs),
    "common signal, gains 0.5 to 1.5": Condition(_shared),
    "levels of the nodes": Condition(_levelled, cures=(CENTRED,)),
    "units of the nodes": Condition(_scaled, cures=(STANDARDISED,)),
}


# -- the experiment ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """One draw of a hypergraph and of signals under one condition."""

    condition: str
    seed: int


def run(
    folder: Folder, *, seeds: int = 20, data: PathLike | None = None, n_jobs: int | None = None
) -> list[dict[str, Any]]:
    """Write table.*, draws.*, robustness.png, robustness.pdf and report.md; returns the rows of the table.

    All is simulated: `data` has no part.
    """
    tasks = [Task(condition, seed) for condition in CONDITIONS for seed in range(seeds)]
    draws = [row for rows in each(draw, tasks, "robustness", n_jobs) for row in rows]
    keys = dict.fromkeys((row["condition"], row["cure"], row["method"]) for row in draws)
    rows = [summary(draws, *key) for key in keys]
    folder.table("draws", draws)
    folder.table("table", rows)
    folder.figure("robustness", figure(rows))
    folder.text("report.md", report(rows, seeds))
    return rows


def draw(task: Task) -> list[dict[str, Any]]:
    """F1 of every method on one draw."""
    truth = truth_of(task)
    condition = CONDITIONS[task.condition]
    X = condition.signals(truth, condition.n_observations, np.random.default_rng([task.seed, 1]))
    found = [("", *one) for one in _found(X, truth)]
    for cure in condition.cures:
        found += [(cure.name, *one) for one in _automatic(X, cure)]
    return [_row(task, truth, *one) for one in found]


def _found(X: FloatArray, truth: Hypergraph) -> Iterator[tuple[str, Hypergraph]]:
    told = Settings(cardinalities=CARDINALITIES, neighbors=NEIGHBORS["mixed"]).check()
    candidates = candidates_for(X, told)
    problem = Problem(candidates, of_candidates(candidates, X, "max-square"))
    yield ORACLE, best(by_fbf(problem, GRID), candidates, truth)[0]
    yield "HSLS, default", HSLS(CARDINALITIES).fit(X).hypergraph_
    yield from _automatic(X, Cure(""))
    yield "Gao K-NN", KNNHypergraph(CARDINALITIES).fit(X).hypergraph_


def _automatic(X: FloatArray, cure: Cure) -> Iterator[tuple[str, Hypergraph]]:
    rows, options = cure.rows(X), cure.options(X)
    yield "HSLS, automatic", HSLS(CARDINALITIES, alpha="auto", **options).fit(rows).hypergraph_
    yield "MLE, automatic", HypergraphMLE(CARDINALITIES, **options, **cure.of_likelihood(X)).fit(rows).hypergraph_


def _row(task: Task, truth: Hypergraph, cure: str, method: str, found: Hypergraph) -> dict[str, Any]:
    precision, recall, f1 = precision_recall_f1(found, truth)
    return {
        "condition": task.condition,
        "seed": task.seed,
        "cure": cure,
        "method": method,
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "hyperedges": found.n_edges,
    }


def summary(draws: list[dict[str, Any]], condition: str, cure: str, method: str) -> dict[str, Any]:
    """Mean and standard deviation over the draws."""
    own = [row for row in draws if (row["condition"], row["cure"], row["method"]) == (condition, cure, method)]
    row: dict[str, Any] = {"condition": condition, "cure": cure, "method": method, "draws": len(own)}
    return row | means(own, ("precision", "recall", "f1", "hyperedges"))


# -- what is written ---------------------------------------------------------------------------------------------------


def figure(rows: list[dict[str, Any]]) -> Any:
    """Mean F1 of each method, a line of points a condition, the standard deviation as a bar."""
    from hsls.drawing import _canvas
    from hsls.drawing.convergence import COLOURS, MARKERS

    drawing, (ax,) = _canvas.panels(1, 1, 7.0, 6.0)
    names = list(dict.fromkeys(row["condition"] for row in rows))
    for number, method in enumerate(METHODS):
        own = [row for row in rows if row["method"] == method and not row["cure"]]
        places = [names.index(row["condition"]) + 0.13 * (number - 2) for row in own]
        ax.errorbar(
            [row["f1_mean"] for row in own], places, xerr=[row["f1_std"] for row in own], fmt=MARKERS[number],
            color=COLOURS[number], markersize=4, lw=0.7, label=method,
        )  # fmt: skip
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(0, 1.02)
    ax.set_xlabel("F1", fontsize=8)
    ax.tick_params(axis="x", labelsize=8)
    ax.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    drawing.legend(fontsize=7.5, loc="outside lower center", ncols=len(METHODS), frameon=False)
    return drawing


#: Losses of F1 that are told apart in words.
_SMALL, _LARGE = 0.05, 0.2


def report(rows: list[dict[str, Any]], seeds: int) -> str:
    """The section of the page on robustness."""
    at = {(row["condition"], row["cure"], row["method"]): row for row in rows}
    names = list(dict.fromkeys(row["condition"] for row in rows))
    table = [[name, *(_cell(at[name, "", method]) for method in METHODS)] for name in names]
    cures = [
        [name, cure.name, *(_cell(at[name, which, m]) for m in CURED for which in ("", cure.name))]
        for name in names
        for cure in CONDITIONS[name].cures
    ]
    nodes, edges = SIZE
    return f"""## Robustness: signals that are not those of the model

F1, mean ± standard deviation over {seeds} draws, each of a random connected hypergraph of its own ({nodes} nodes,
{edges} hyperedges of 2 and 3 nodes alike), the same under all conditions but that of {PARTS} parts; {N_OBSERVATIONS}
observations unless stated. The *oracle* picks alpha and beta by the true hyperedges, as the paper does; all others see
the signals and the cardinalities alone.

{markdown(["condition", *METHODS], table)}
{chr(10).join(_in_words(at, names))}

White noise of the stated ratio of variances, signal over noise, is added to the signals of the model. Student's signals
have the covariance structure of the model's and one random scale for all nodes of an observation. Outliers are single
values. Heat diffusion, exp(-10 L), and the Tikhonov filter, 1 / (1 + 10 L), are of white noise on the clique expansion,
L over its largest eigenvalue. In "maximum over hyperedges" each hyperedge has white noise of its own and a node shows
the largest of its hyperedges. Signs are 0 or 1. Levels are normal, as large as the signals; units are log-normal
factors, 0.5 the deviation of their logarithm.

### What was tried

{markdown(["condition", "what was tried", *(f"{m}{which}" for m in CURED for which in ("", ", cured"))], cures)}
![Mean F1 of each method under each condition](robustness.png)
"""


def _in_words(at: dict[tuple[str, str, str], dict[str, Any]], names: list[str]) -> Iterator[str]:
    """What the table says of the automatic likelihood and of HSLS by itself."""
    reference = names[0]
    for method in CURED:
        base = at[reference, "", method]["f1_mean"]
        losses = {name: base - at[name, "", method]["f1_mean"] for name in names[1:]}
        held = [name for name, loss in losses.items() if loss <= _SMALL]
        broken = [name for name, loss in losses.items() if loss > _LARGE]
        yield (
            f"- **{method}** loses at most {_SMALL:g} under: {_listed(held)}. It loses more than {_LARGE:g} under: "
            + (f"{_listed([_failure(name, losses[name], at[name, '', method]) for name in broken])}.")
        )
    behind = [
        f"{name} ({winner['method']}, {winner['f1_mean']:.3f} against {own['f1_mean']:.3f})"
        for name in names
        for own in [at[name, "", "MLE, automatic"]]
        for winner in [max((at[name, "", method] for method in METHODS), key=lambda row: float(row["f1_mean"]))]
        if winner["f1_mean"] > own["f1_mean"]
    ]
    yield f"- Another method is ahead of **MLE, automatic** under: {_listed(behind)}."


def _failure(name: str, loss: float, row: dict[str, Any]) -> str:
    way = "too many" if row["hyperedges_mean"] > SIZE[1] else "too few"
    return f"{name} (by {loss:.2f}, with {row['hyperedges_mean']:.0f} hyperedges, {way})"


def _listed(names: list[str]) -> str:
    return "; ".join(names) or "none"


def _cell(row: dict[str, Any]) -> str:
    return f"{row['f1_mean']:.3f} ± {row['f1_std']:.3f}"
