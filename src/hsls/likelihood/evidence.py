"""How well chosen hyperedges explain the signals: weights refitted without penalty, and the log-likelihood then."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hsls import variation
from hsls._types import FloatArray, IntArray
from hsls.candidates import Candidates
from hsls.likelihood.field import Hyperedges, Likelihood
from hsls.likelihood.newton import maximise

__all__ = ["Evidence", "Refit", "Score", "above"]

# In units of the typical variation: keeps the weight of hyperedges finite on which the signals are equal.
_FLOOR = 1e-6
# In the same units, of the variance of levels: signals that were centred over the nodes have levels of 0.
_LEAST_LEVEL = 1e-3
# Relative gap of a refit; times half the observations and the nodes it is the error of the log-likelihood.
_ACCURACY = 1e-6
# Added to the Hessian's diagonal, relatively: a triple and its pairs can be told apart by their number alone.
_RIDGE = 1e-9
# Weight that an added hyperedge starts from, over the mean.
_SMALL = 1e-2
# A rise of a score by less is none: refits are that accurate, and a parameter costs some fifty times as much.
_LEAST_RISE = 0.1
# How probable it may be, about, that independent nodes seem dependent somewhere.
_CHANCE = 0.01


@dataclass(frozen=True, eq=False)
class Refit:
    """Hyperedges with the weights of largest likelihood.

    Attributes
    ----------
    support : array of int
        Positions of the hyperedges of positive weight among the candidates.
    weights : array
    log_likelihood : float
        Of all observations, up to a constant; see `Evidence`.
    n_parameters : int
        Hyperedges and connected components.
    """

    support: IntArray
    weights: FloatArray
    log_likelihood: float
    n_parameters: int


Score: TypeAlias = Callable[[Refit], float]


def above(score: float, best: float) -> bool:
    """Whether a score is better, and not by rounding alone."""
    return score > best + _LEAST_RISE


class Evidence:
    r"""Log-likelihood of sets of hyperedges among candidates, weights refitted.

    Under the field, connected components are independent. What the signals tell within component b has the likelihood
    of `Likelihood`; its level ``1_b'x / sqrt(N_b)``, of which the field says nothing, is taken to be Gaussian with a
    variance v_b that is fitted, too. So the log-likelihood of P observations is, up to a constant,

    .. math:: \frac{P}{2} \Big( \sum_b \log\det (L_b + J_b) - \log v_b - 1 \; - \; tr(C L) \Big)

    over all components b, isolated nodes included. It is that of all N numbers whatever the components, so sets that
    connect different nodes can be compared.

    Parameters
    ----------
    edges : Hyperedges
        All candidates.
    z : array
        The variation of `Likelihood`.
    signals : array, shape (N, P)
        Such that ``C = signals @ signals.T``.
    n_observations : float
        P.
    """

    def __init__(self, edges: Hyperedges, z: FloatArray, signals: FloatArray, n_observations: float) -> None:
        self.edges = edges
        self.z = z
        self.signals = signals
        self.n_observations = n_observations
        typical = float(np.median(z)) or 1.0
        self._floor, self._least_level = _FLOOR * typical, _LEAST_LEVEL * typical

    @classmethod
    def of(
        cls,
        candidates: Candidates,
        X: FloatArray,
        *,
        unit: float = 1.0,
        observation_weights: Any = None,
        noise: float = 0.0,
    ) -> Evidence:
        """What the signals X tell on the candidates, variations divided by `unit`, see `variations`."""
        omega = variation.check_observation_weights(observation_weights, X.shape[1])
        z = variations(candidates, X, observation_weights, noise) / unit
        missing = np.isnan(X)
        if missing.any():
            X = np.where(missing, np.nanmean(X, axis=1, keepdims=True), X)
        return cls(
            Hyperedges.of(candidates),
            z,
            X * np.sqrt(omega / (omega.sum() * unit)),
            float(omega.sum() ** 2 / np.sum(omega**2)),
        )

    def refit(self, support: IntArray, start: FloatArray | None = None) -> Refit:
        """The weights of largest likelihood on these candidates."""
        problem = self.problem(support)
        levels = self._levels(problem.labels)
        value = -float(np.sum(np.log(levels) + 1.0))
        weights = np.zeros(0)
        if len(support):
            solution = maximise(problem, tol=_ACCURACY, start=start)
            kept = solution.weights > 0
            support, weights = support[kept], solution.weights[kept]
            value -= solution.primal
        return Refit(support, weights, 0.5 * self.n_observations * value, len(support) + len(levels))

    def refit_with(self, refit: Refit, added: IntArray) -> Refit:
        """The weights of largest likelihood with these candidates, too."""
        small = _SMALL * float(refit.weights.mean()) if len(refit.weights) else 1.0
        return self.refit(np.append(refit.support, added), np.append(refit.weights, np.full(len(added), small)))

    def held_out(self, refit: Refit, other: Evidence) -> float:
        """Log-likelihood of other observations, each, under a refit to these, times two."""
        problem = self.problem(refit.support)
        levels = self._levels(problem.labels)
        value = -float(np.sum(np.log(levels) + other._levels(problem.labels) / levels))
        value -= float(other.z[refit.support] @ refit.weights)
        for block in problem.blocks:
            point = block.at(refit.weights[block.numbers])
            if point is None:
                return -math.inf
            value += block.rank - point.value
        return value

    def losses(self, refit: Refit) -> FloatArray:
        """About how much the log-likelihood falls without each hyperedge, the others refitted (Wald's statistic)."""
        out = np.zeros(len(refit.support))
        problem = self.problem(refit.support)
        for block in problem.blocks:
            point = block.at(refit.weights[block.numbers])
            if point is not None:
                H = block.edges.hessian(point.theta)
                H[np.diag_indices(len(H))] *= 1.0 + _RIDGE
                out[block.numbers] = 0.25 * self.n_observations * point.w**2 / np.diagonal(np.linalg.inv(H))
        return out

    def gains(self, refit: Refit, least: float = 0.0, candidates: IntArray | None = None) -> FloatArray:
        """By how much the log-likelihood rises with each candidate added at its best weight, all else as it is.

        Of all candidates, or of those at some positions. One that joins components also joins their levels; so it may
        be negative. One whose gain is soon seen to be at most `least` has 0.
        """
        problem = self.problem(refit.support)
        out = self.gains_at(problem.labels, self.inverse(problem, refit.weights), candidates, least)
        taken = np.zeros(len(self.edges), dtype=bool)
        taken[refit.support] = True
        out[taken if candidates is None else taken[candidates]] = 0.0
        return out

    def gains_at(self, labels: IntArray, inverse: FloatArray, candidates: IntArray | None, least: float) -> FloatArray:
        """The same where the labels tell components apart and this is the inverse of L + J."""
        sizes = np.bincount(labels)
        sums = self.sums(labels)
        half = 0.5 * self.n_observations
        edges, cost = self.edges, self.z + self._floor
        if candidates is not None:
            edges, cost = edges.take(candidates), cost[candidates]
        return half * edges.rises(
            inverse,
            labels,
            sizes.astype(np.float64),
            sums @ sums.T,
            cost,
            self._least_level,
            least / half,
        )

    def parts(self) -> IntArray:
        """Numbers of parts of the nodes that seem independent.

        A part is what correlations connect that are larger than the largest of independent nodes would be.
        """
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        scaled = of_length_one(self.signals)
        n_nodes = len(scaled)
        least = math.sqrt(2.0 * math.log(max(n_nodes * (n_nodes - 1) / 2, 2)) / self.n_observations)
        linked = np.abs(scaled @ scaled.T) > least
        return np.asarray(connected_components(sparse.csr_array(linked), directed=False)[1], dtype=np.int64)

    def problem(self, support: IntArray) -> Likelihood:
        """The likelihood within components of these candidates."""
        return Likelihood(self.edges.take(support), self.z[support] + self._floor)

    def inverse(self, problem: Likelihood, weights: FloatArray) -> FloatArray:
        """The inverse of L + J over all nodes: 1 at a node in no hyperedge."""
        out = np.eye(self.edges.n_nodes)
        for block in problem.blocks:
            point = block.at(weights[block.numbers])
            if point is not None:
                out[np.ix_(block.nodes, block.nodes)] = point.theta
        return out

    def sums(self, labels: IntArray) -> FloatArray:
        """The sum of the signals of each component that the labels tell apart."""
        from scipy import sparse

        n_nodes, n_parts = len(labels), int(labels.max(initial=-1)) + 1
        parts = sparse.csr_array((np.ones(n_nodes), (labels, np.arange(n_nodes))), shape=(n_parts, n_nodes))
        return np.asarray(parts @ self.signals)

    def levels(self, sums: FloatArray, sizes: IntArray) -> FloatArray:
        """v_b of components of these sums and sizes."""
        return np.asarray(np.maximum(np.sum(sums**2, axis=1) / sizes, self._least_level))

    def _levels(self, labels: IntArray) -> FloatArray:
        return self.levels(self.sums(labels), np.bincount(labels))


def variations(
    candidates: Candidates, X: FloatArray, observation_weights: Any = None, noise: float = 0.0
) -> FloatArray:
    """z_e = tr(C M_e), what white noise of the given variance adds to it (|e| - 1 times) taken away, at least 0."""
    total = float(np.sum(variation.check_observation_weights(observation_weights, X.shape[1])))
    z = variation.of_candidates(candidates, X, "scaled-square", observation_weights) / total
    if noise:
        z = np.maximum(z - noise * joins(candidates), 0.0)
    return z


def of_length_one(signals: FloatArray) -> FloatArray:
    """Rows over their norms; those of norm 0 as they are."""
    norms = np.linalg.norm(signals, axis=1)
    return np.asarray(signals / np.where(norms > 0, norms, 1.0)[:, None])


def joins(candidates: Candidates) -> IntArray:
    """|e| - 1 for every candidate: the rank of M_e."""
    return np.repeat(np.array(candidates.cardinalities, dtype=np.int64) - 1, np.diff(candidates.offsets))
