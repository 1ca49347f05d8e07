"""Annealing of a drawing: hulls short, nodes apart, and neither in a hull to which it does not belong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hsls._kernels import arrangement
from hsls._kernels.arrangement import Rules, Sets
from hsls._types import FloatArray, IntArray
from hsls.drawing._stress import circle_radius

# The drawing's unit is the distance of two neighbouring nodes. By kind of pair (node and node, node and
# foreign hull, two hulls, two hulls that share a node): the gap wanted, and the weight of its squared
# shortfall. A node in a foreign hull misleads; two hulls that cross only look crowded.
WANTED = np.array([1.0, 0.65, 0.55, 0.0])
WEIGHT = np.array([3.0, 2.5, 0.6, 0.4])
COHESION = 0.2  # weight of the squared excess of a member's distance from the centroid over the rest radius
SLACK = 1.4  # rest radius over the radius of the regular polygon with sides of 1
TEMPERATURE = 0.7  # at the start, at most; what is nearly right already stays cooler and keeps its shape
COOL = 0.25  # energy a node below which the start is cooler
N_PLACES = 12  # that a node considers each turn
N_DIRECTIONS = 32  # gaps are then exact within 1 - cos(pi / 32) = 0.5 %
MAX_SWEEPS = 300
BUDGET = 8e6  # pairs of sets looked at in a whole layout, about: one to two seconds


@dataclass(frozen=True)
class Arrangement:
    """The hyperedges of one component, ready for `hsls._kernels.arrangement`."""

    indptr: IntArray
    indices: IntArray
    n_nodes: int

    @property
    def n_edges(self) -> int:
        return len(self.indptr) - 1

    @property
    def cost(self) -> float:
        """Of one sweep, in pairs of sets."""
        return (self.n_nodes + len(self.indices)) * (self.n_nodes + self.n_edges)

    @cached_property
    def sets(self) -> Sets:
        nodes = np.arange(self.n_nodes)
        indptr = np.concatenate([self.indptr, self.indptr[-1] + 1 + nodes])
        owners = np.repeat(np.arange(self.n_edges), np.diff(self.indptr))
        return Sets(
            indptr=indptr,
            indices=np.concatenate([self.indices, nodes]),
            edge_ptr=np.concatenate([[0], np.cumsum(np.bincount(self.indices, minlength=self.n_nodes))]),
            edges=owners[np.argsort(self.indices, kind="stable")],
            n_edges=self.n_edges,
            rest=SLACK * circle_radius(np.diff(indptr)),
        )

    def energy(self, positions: FloatArray) -> float:
        return float(arrangement.energy(positions, self.sets, _rules()))

    def anneal(self, positions: FloatArray, n_sweeps: int, rng: np.random.Generator) -> FloatArray:
        """Positions after `n_sweeps` turns of every node, the temperature falling to 0."""
        positions = positions.copy()
        rules = _rules()
        half = N_PLACES // 2
        disorder = self.energy(positions) / (COOL * self.n_nodes)
        hottest = TEMPERATURE * min(1.0, disorder, n_sweeps / 100)  # a short run has no time to cool
        for left in np.linspace(1.0, 0.0, n_sweeps):
            moves = rng.normal(size=(self.n_nodes, N_PLACES, 2))
            moves[:, 0] = 0.0  # staying is always among the places
            moves[:, 1:half] *= 0.05 + left
            moves[:, half:] *= 0.6 + 1.4 * left
            noise = -hottest * max(0.0, 1.25 * left - 0.25) * rng.gumbel(size=(self.n_nodes, N_PLACES))
            arrangement.sweep(positions, self.sets, rules, rng.permutation(self.n_nodes), moves, noise)
        return positions


def _rules() -> Rules:
    angles = 2 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
    return Rules(np.stack([np.cos(angles), np.sin(angles)], axis=1), WANTED, WEIGHT, COHESION)
