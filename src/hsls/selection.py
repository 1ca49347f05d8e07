"""The parameter and the hyperedges chosen by the data alone: a path of solutions, scored by a named criterion.

Every solution of the penalised likelihood's path offers sets of hyperedges. Their weights are refitted without penalty
(`Evidence`), and the set of the best score wins.

- "ebic", the extended Bayesian information criterion: the log-likelihood less ``log(P) / 2 + gamma log(D)`` for each
  parameter, with P observations and D candidates.
- "cv", cross-validation: the log-likelihood of held-out observations, averaged over folds of consecutive ones; of the
  sets within one standard error of the best the smallest.

HSLS then takes the point of its own path that agrees best with that set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsls import _checks, _progress
from hsls._types import BoolArray, FloatArray, IntArray
from hsls.candidates import Candidates
from hsls.likelihood.evidence import Evidence, Refit, Score, variations
from hsls.likelihood.field import LARGEST_BLOCK, Likelihood
from hsls.likelihood.newton import maximise
from hsls.likelihood.search import explore, heaviest, heavy
from hsls.problem import Problem
from hsls.solvers import Solution, newton, solve_path

__all__ = ["CRITERIA", "Choice", "Criterion", "Path", "Sample", "choose_penalty", "choose_theta", "reach"]

CRITERIA = ("ebic", "cv")

#: Penalties of the path in units of the typical variation, from the largest; each is half the one before.
PENALTIES = tuple(0.2 * 0.5**step for step in range(6))
#: Values of theta of the path, for variations over their typical value.
THETAS = tuple(0.1 * 2.0 ** (step / 2) for step in range(15))

# Weights, over that of a hyperedge of typical variation, from which on hyperedges make a set for cross-validation.
_CUTS = (0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
# Relative gap of the path's solutions where they are starts of a search; the chosen one is solved further.
_LOOSE = 1e-3
# Relative differences of scores within the accuracy of the refits: the same set, reached from several penalties.
_SAME = 1e-6
# Targets: factor by which theta is first stepped, and steps in all.
_STRIDE = 4.0
_STEPS = 60


@dataclass(frozen=True)
class Criterion:
    """What sets of hyperedges are judged by.

    Parameters
    ----------
    name : {"ebic", "cv"}
    gamma : float
        Of "ebic"; 0 makes it the plain Bayesian information criterion.
    folds : int
        Of "cv".
    """

    name: str = "ebic"
    gamma: float = 0.5
    folds: int = 5

    def __post_init__(self) -> None:
        _checks.one_of(self.name, "criterion", CRITERIA)
        _checks.nonnegative(self.gamma, "gamma")
        _checks.whole(self.folds, "folds", least=2)

    def price(self, evidence: Evidence) -> float:
        """What "ebic" takes off for a parameter."""
        return 0.5 * math.log(evidence.n_observations) + self.gamma * math.log(max(len(evidence.edges), 2))


@dataclass(frozen=True, eq=False)
class Path:
    """Solutions along one parameter, and the one chosen.

    Attributes
    ----------
    parameter : {"penalty", "theta"}
    criterion : {"ebic", "cv", "degree", "n_hyperedges"}
    values : array
        The parameter.
    scores : array
        The best score found at each, the larger the better; for a target, minus the distance to it.
    errors : array
        Standard error of each score over the folds; NaN for criteria that have none.
    n_hyperedges : array of int
        Size of the set of that score.
    relative_gaps : array
        Certificate of each solution.
    chosen : int
        Position of the chosen point.
    """

    parameter: str
    criterion: str
    values: FloatArray
    scores: FloatArray
    errors: FloatArray
    n_hyperedges: IntArray
    relative_gaps: FloatArray
    chosen: int

    @property
    def value(self) -> float:
        """The parameter at the chosen point."""
        return float(self.values[self.chosen])

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return (
            f"Path({len(self)} points, {self.criterion} chose {self.parameter} {self.value:.4g} with "
            f"{self.n_hyperedges[self.chosen]} hyperedges)"
        )


@dataclass(frozen=True, eq=False)
class Choice:
    """A path, the solution at its chosen point, and the hyperedges chosen there with their refitted weights."""

    path: Path
    solution: Solution
    refit: Refit


@dataclass(frozen=True, eq=False)
class Sample:
    """Signals and candidates, all observations or some.

    Parameters
    ----------
    candidates : Candidates
    X : array, shape (N, P)
    unit : float
        What the variations of the likelihood are divided by.
    observation_weights : array, optional
    noise : float
        Variance of white noise in the signals.
    """

    candidates: Candidates
    X: FloatArray
    unit: float = 1.0
    observation_weights: Any = None
    noise: float = 0.0

    def only(self, observations: BoolArray) -> Sample:
        """The sample of these observations."""
        omega = None if self.observation_weights is None else np.asarray(self.observation_weights)[observations]
        return Sample(self.candidates, np.ascontiguousarray(self.X[:, observations]), self.unit, omega, self.noise)

    def evidence(self) -> Evidence:
        if self.candidates.n_nodes > LARGEST_BLOCK:
            raise ValueError(
                f"an automatic choice compares likelihoods, made for up to {LARGEST_BLOCK:,} nodes, but there are "
                f"{self.candidates.n_nodes:,}; give a number, or for HSLS a target, degree= or n_hyperedges=."
            )
        return Evidence.of(
            self.candidates,
            self.X,
            unit=self.unit,
            observation_weights=self.observation_weights,
            noise=self.noise,
        )

    def variations(self) -> FloatArray:
        """The variations of the likelihood, in the unit."""
        return variations(self.candidates, self.X, self.observation_weights, self.noise) / self.unit

    def folds(self, count: int) -> list[tuple[Sample, Sample]]:
        """Samples with a fold of consecutive observations left out, and of that fold."""
        observed = self.X.shape[1]
        if observed < count:
            raise ValueError(
                f"criterion 'cv' with {count} folds needs as many observations, but there are {observed}; lower folds, "
                "or use 'ebic'."
            )
        number = np.arange(observed) * count // observed
        return [(self.only(number != fold), self.only(number == fold)) for fold in range(count)]


# -- penalised likelihood ----------------------------------------------------------------------------------------------


def choose_penalty(
    sample: Sample,
    criterion: Criterion,
    *,
    penalties: Sequence[float] = PENALTIES,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> Choice:
    """The penalty of the likelihood and the hyperedges.

    With "ebic", the heavy hyperedges of each solution, of that without hyperedges across parts of the nodes that seem
    independent, and none at all, are starts of a search, see `explore`.
    """
    evidence = sample.evidence()
    values = sorted(map(float, penalties), reverse=True)
    folds = criterion.name == "cv"
    solutions = _penalised(evidence, values, tol if folds else max(tol, _LOOSE), max_iter)
    offers = _offers(evidence, values, solutions, max_iter)
    if folds:
        held_out = [
            (train, test.evidence(), _offers(train, values, _penalised(train, values, tol, max_iter), max_iter))
            for part, test in sample.folds(criterion.folds)
            for train in [part.evidence()]
        ]
        return _by_folds(values, evidence, solutions, offers, held_out)
    score, price = _ebic(evidence, criterion)
    found = explore(evidence, offers, score, price)
    scores = np.array([score(refit) for refit in found])
    # The same set may have been reached from several penalties.
    chosen = int(np.argmax(scores >= scores.max() - _SAME * abs(scores.max())))
    problem = Likelihood(evidence.edges, evidence.z, values[chosen])
    solutions[chosen] = maximise(problem, tol=tol, max_iter=max_iter, start=solutions[chosen].weights)
    path = Path(
        parameter="penalty",
        criterion="ebic",
        values=np.array(values, dtype=np.float64),
        scores=scores,
        errors=np.full(len(scores), np.nan),
        n_hyperedges=np.array([len(refit.support) for refit in found]),
        relative_gaps=np.array([one.relative_gap for one in solutions]),
        chosen=chosen,
    )
    return Choice(path, solutions[chosen], found[chosen])


def _offers(
    evidence: Evidence, penalties: Sequence[float], solutions: Sequence[Solution], max_iter: int
) -> list[list[FloatArray]]:
    """For each penalty the weights of its solution, and those without hyperedges across parts that seem independent.

    Where all nodes seem to be one part, or no hyperedge is within one, the former alone.
    """
    inside = np.flatnonzero(evidence.edges.within(evidence.parts()))
    if len(inside) in (0, len(evidence.edges)):
        return [[one.weights] for one in solutions]
    within = np.zeros((len(penalties), len(evidence.edges)))
    within[:, inside] = [one.weights for one in _penalised(evidence, penalties, _LOOSE, max_iter, inside)]
    return [[one.weights, weights] for one, weights in zip(solutions, within, strict=True)]


def _penalised(
    evidence: Evidence, penalties: Sequence[float], tol: float, max_iter: int, among: IntArray | None = None
) -> list[Solution]:
    """Solutions for each penalty, each started from the one before, among all hyperedges or some."""
    edges, z = (evidence.edges, evidence.z) if among is None else (evidence.edges.take(among), evidence.z[among])
    found: list[Solution] = []
    for penalty in penalties:
        problem = Likelihood(edges, z, penalty)
        found.append(maximise(problem, tol=tol, max_iter=max_iter, start=found[-1].weights if found else None))
    return found


def _ebic(evidence: Evidence, criterion: Criterion) -> tuple[Score, float]:
    price = criterion.price(evidence)
    return lambda refit: refit.log_likelihood - refit.n_parameters * price, price


def _by_folds(
    values: Sequence[float],
    evidence: Evidence,
    solutions: list[Solution],
    offers: list[list[FloatArray]],
    held_out: list[tuple[Evidence, Evidence, list[list[FloatArray]]]],
) -> Choice:
    """The smallest set whose mean score over the folds is within one standard error of the best."""
    points = [
        (number, offer, size)
        for number, own in enumerate(offers)
        for offer, weights in enumerate(own)
        for size in heavy(weights, _CUTS)
    ]
    table = np.empty((len(points), len(held_out)))
    with _progress.stage("choosing", len(held_out)) as reporter:
        for fold, (train, test, own) in enumerate(held_out):
            for row, (number, offer, size) in enumerate(points):
                # The last is the only one where the fold seems to be one part.
                (support,) = heaviest(own[number][min(offer, len(own[number]) - 1)], [size])
                table[row, fold] = train.held_out(train.refit(support), test)
            if reporter is not None:
                reporter.advance(fold + 1)
    means = table.mean(axis=1)
    errors = table.std(axis=1, ddof=1) / math.sqrt(table.shape[1])
    best = int(np.argmax(means))
    near = [row for row in range(len(points)) if means[row] >= means[best] - errors[best]]
    winner = min(near, key=lambda row: (points[row][2], -float(means[row])))
    rows = [
        max((row for row, point in enumerate(points) if point[0] == number), key=lambda row: float(means[row]))
        for number in range(len(values))
    ]
    number, offer, size = points[winner]
    rows[number] = winner
    path = Path(
        parameter="penalty",
        criterion="cv",
        values=np.array(values, dtype=np.float64),
        scores=means[rows],
        errors=errors[rows],
        n_hyperedges=np.array([points[row][2] for row in rows]),
        relative_gaps=np.array([one.relative_gap for one in solutions]),
        chosen=number,
    )
    (support,) = heaviest(offers[number][offer], [size])
    return Choice(path, solutions[number], evidence.refit(support))


# -- HSLS --------------------------------------------------------------------------------------------------------------


def choose_theta(
    problem: Problem, wanted: IntArray, criterion: str, *, thetas: Sequence[float] = THETAS, tol: float = 1e-6
) -> tuple[Path, Solution]:
    """The theta of HSLS, and how many of its hyperedges of largest weight, that agree best with a wanted set.

    The set is one that `choose_penalty` chose. Agreement is the F1 score: HSLS ranks hyperedges well, but the sets
    that its weights offer differ so much in likelihood, through the few hyperedges that are wrong, that scored by it
    directly they keep too many. Returns the solution for alpha = beta = 1 and variations theta z, as `solve_path`
    has it; the alpha and beta of `problem` have no part.
    """
    solutions = solve_path(problem, thetas, tol=tol)
    right = np.zeros(problem.n_candidates)
    right[wanted] = 1.0
    scores, sizes = [], []
    for one in solutions:
        order = np.argsort(-one.weights, kind="stable")[: int(np.sum(one.weights > 0))]
        kept = np.arange(1, len(order) + 1)
        agreement = 2.0 * np.cumsum(right[order]) / (kept + len(wanted))
        best = int(np.argmax(agreement))
        scores.append(float(agreement[best]))
        sizes.append(int(kept[best]))
    path = Path(
        parameter="theta",
        criterion=criterion,
        values=np.array(thetas, dtype=np.float64),
        scores=np.array(scores),
        errors=np.full(len(scores), np.nan),
        n_hyperedges=np.array(sizes),
        relative_gaps=np.array([one.relative_gap for one in solutions]),
        chosen=int(np.argmax(scores)),
    )
    return path, solutions[path.chosen]


def reach(
    problem: Problem,
    measure: Callable[[FloatArray], float],
    count: Callable[[FloatArray], int],
    target: float,
    name: str,
    *,
    beta: float = 1.0,
    tol: float = 1e-6,
) -> tuple[Path, Solution]:
    """The theta at which a measure of the weights, which falls as theta grows, comes nearest to the target.

    The smallest theta wins among those that are as near. Weights are those for ``alpha = 1 / (theta^2 beta)``. Where
    theta is so large that the solver does not converge, it is taken to be too large. Returns the solution for
    alpha = beta = 1 and variations theta z, as `solve_path` has it.
    """
    seen: dict[float, tuple[Solution, float, int]] = {}

    def at(theta: float) -> float:
        near = min(seen, key=lambda other: abs(math.log(other / theta)), default=None)
        start = None if near is None else seen[near][0].dual * (theta / near)
        scaled = Problem(problem.candidates, theta * problem.z)
        solution = newton(scaled, tol=tol, start=start)
        if not solution.converged and start is not None:  # too far away to start from
            solution = newton(scaled, tol=tol)
        weights = solution.weights / (theta * beta)
        seen[theta] = solution, measure(weights), count(weights)
        return seen[theta][1]

    with _progress.stage("choosing", _STEPS) as reporter:
        low, high, theta = 0.0, math.inf, 1.0
        for step in range(_STEPS):
            value, solved = at(theta), seen[theta][0].converged
            if value == target and solved:
                break
            low, high = (theta, high) if value > target and solved else (low, theta)
            if low > 0 and high < low * (1 + 1e-6):
                break
            theta = low * _STRIDE if math.isinf(high) else high / _STRIDE if low == 0 else math.sqrt(low * high)
            if not 1e-8 < theta < 1e8:
                break
            if reporter is not None:
                reporter.advance(step + 1)
    values = sorted(seen)
    misses = [abs(seen[theta][1] - target) for theta in values]
    chosen = min(range(len(values)), key=lambda at: (not seen[values[at]][0].converged, misses[at]))
    path = Path(
        parameter="theta",
        criterion=name,
        values=np.array(values),
        scores=-np.array(misses),
        errors=np.full(len(values), np.nan),
        n_hyperedges=np.array([seen[theta][2] for theta in values]),
        relative_gaps=np.array([seen[theta][0].relative_gap for theta in values]),
        chosen=chosen,
    )
    return path, seen[values[chosen]][0]
