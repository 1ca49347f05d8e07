"""What remains without some hyperedges, the other weights as they are: many such sets from one factorisation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hsls._types import BoolArray, FloatArray, IntArray
from hsls.likelihood.evidence import Evidence, Refit
from hsls.likelihood.field import node_labels

__all__ = ["Remainders"]


class Remainders:
    """The remainders of a refit.

    Their log-likelihoods are at most those of refits to the same hyperedges, and near them where little is left out.
    """

    def __init__(self, evidence: Evidence, refit: Refit) -> None:
        problem = evidence.problem(refit.support)
        self._evidence, self._refit = evidence, refit
        self._edges, self._labels, self._cost = problem.edges, problem.labels, problem.z
        self._sums = evidence.sums(problem.labels)
        self._inverse = evidence.inverse(problem, refit.weights)

    def without(self, left_out: BoolArray) -> Refit:
        """The hyperedges of the refit but for these, weights unchanged."""
        return self._refit_of(left_out, self._change(left_out))

    def gains_without(self, left_out: BoolArray, candidates: IntArray, least: float) -> tuple[Refit, FloatArray]:
        """That, and what these candidates would then bring; see `Evidence.gains`."""
        change = self._change(left_out)
        rest = self._refit_of(left_out, change)
        if not math.isfinite(rest.log_likelihood):
            return rest, np.zeros(len(candidates))
        inverse = self._inverse - change.V.T @ np.linalg.solve(change.grown, change.S @ change.V)
        return rest, self._evidence.gains_at(change.labels, inverse, candidates, least)

    def _refit_of(self, left_out: BoolArray, change: _Change) -> Refit:
        weights = self._refit.weights
        value = change.logdet() + float(self._cost[left_out] @ weights[left_out])
        for split in change.splits:
            value -= self._terms(split.sums, split.sizes)
            value += self._terms(self._sums[[split.whole]], np.array([split.sizes.sum()]))
        n_more = sum(len(split.sizes) - 1 for split in change.splits)
        return Refit(
            self._refit.support[~left_out],
            weights[~left_out],
            self._refit.log_likelihood + 0.5 * self._evidence.n_observations * value,
            self._refit.n_parameters - int(left_out.sum()) + n_more,
        )

    def _splits(self, old: IntArray, labels: IntArray) -> list[_Split]:
        """Those of the old components that are in parts under the new labels."""
        found = []
        for whole in old.tolist():
            nodes = np.flatnonzero(self._labels == whole)
            names, part_of, sizes = np.unique(labels[nodes], return_inverse=True, return_counts=True)
            if len(names) > 1:
                order = np.argsort(sizes, kind="stable")
                parts = [nodes[part_of == part] for part in order.tolist()]
                # What the small parts sum up to is summed; what is left of the whole is the largest part's.
                signals = np.array([self._evidence.signals[part].sum(axis=0) for part in parts[:-1]])
                inverse = np.array([self._inverse[part].sum(axis=0) for part in parts[:-1]])
                ones = (self._labels == whole).astype(np.float64)
                found.append(
                    _Split(
                        whole,
                        parts,
                        sizes[order],
                        np.vstack([signals, self._sums[whole] - signals.sum(axis=0)]),
                        np.vstack([inverse, ones - inverse.sum(axis=0)]),
                    )
                )
        return found

    def _change(self, left_out: BoolArray) -> _Change:
        gone = self._edges.take(np.flatnonzero(left_out))
        touched = np.unique(gone.indices)
        labels = node_labels(self._edges.take(np.flatnonzero(~left_out)))
        splits = self._splits(np.unique(self._labels[touched]), labels)
        n_nodes = len(self._labels)
        place = np.zeros(n_nodes, dtype=np.int64)
        place[touched] = np.arange(len(touched))
        U = [(np.arange(n_nodes) == touched[:, None]).astype(np.float64)]
        V = [self._inverse[touched]]
        signs = []
        for split in splits:
            ones = np.zeros((len(split.parts), n_nodes))
            for row, part in zip(ones, split.parts, strict=True):
                row[part] = 1.0
            lengths = np.sqrt(split.sizes)[:, None]
            constant = ones.sum(axis=0, keepdims=True) / np.sqrt(split.sizes.sum())
            U += [ones / lengths, constant]
            V += [split.inverse / lengths, constant]
            signs += [1.0] * len(split.parts) + [-1.0]
        S = np.diag(np.concatenate([np.zeros(len(touched)), signs]))
        own = gone.numbered(place, len(touched)).laplacian(self._refit.weights[left_out])
        S[: len(touched), : len(touched)] = -own
        return _Change(labels, splits, S, np.vstack(V), np.eye(len(S)) + S @ (np.vstack(V) @ np.vstack(U).T))

    def _terms(self, sums: FloatArray, sizes: IntArray) -> float:
        return float(np.sum(np.log(self._evidence.levels(sums, sizes)) + 1.0))


@dataclass(frozen=True, eq=False)
class _Split:
    """A component that falls apart: its parts, with the sums of the signals and of the rows of the inverse in each."""

    whole: int
    parts: list[IntArray]
    sizes: IntArray
    sums: FloatArray
    inverse: FloatArray


@dataclass(frozen=True, eq=False)
class _Change:
    """How A, which is L and the J of every component, changes: by ``K = U' S U`` with few rows U.

    These are the unit vectors of the touched nodes, and the constants of components that come and go. With
    ``V = U A^-1`` the determinant grows by that of ``I + S V U'``, and ``V' (I + S V U')^-1 S V`` leaves the inverse.
    """

    labels: IntArray
    splits: list[_Split]
    S: FloatArray
    V: FloatArray
    grown: FloatArray

    def logdet(self) -> float:
        """By how much log det A grows; minus infinity where rounding leaves nothing of it."""
        sign, value = np.linalg.slogdet(self.grown)
        return float(value) if sign > 0 else -np.inf
