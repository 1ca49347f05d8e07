"""The energy of a drawing against its definition, and sweeps that never raise it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsls import Hypergraph
from hsls._kernels.arrangement import sweep
from hsls.drawing._arrange import COHESION, N_DIRECTIONS, SLACK, WANTED, WEIGHT, Arrangement, _rules


@st.composite
def arrangements(draw: st.DrawFn) -> tuple[Hypergraph, np.ndarray]:
    """A small hypergraph, overlapping and nested hyperedges likely, and crowded positions."""
    n = draw(st.integers(1, 7))
    edges = draw(
        st.lists(st.frozensets(st.integers(0, n - 1), min_size=1, max_size=4), min_size=1, max_size=6, unique=True)
    )
    seed = draw(st.integers(0, 10_000))
    return Hypergraph.from_edges(edges, nodes=n), np.random.default_rng(seed).normal(size=(n, 2))


def circles_apart(a: np.ndarray, b: np.ndarray) -> float:
    """Distance of the circles around the two centroids that hold the points."""
    middle_a, middle_b = a.mean(axis=0), b.mean(axis=0)
    radii = sum(np.linalg.norm(p - m, axis=1).max() for p, m in ((a, middle_a), (b, middle_b)))
    return float(np.linalg.norm(middle_a - middle_b) - radii)


def energy_by_definition(H: Hypergraph, positions: np.ndarray) -> float:
    angles = 2 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
    directions = np.stack([np.cos(angles), np.sin(angles)])
    total = 0.0
    for edge in H.edges:
        points = positions[list(edge)]
        rest = SLACK * 0.5 / np.sin(np.pi / max(len(edge), 2))
        excess = np.linalg.norm(points - points.mean(axis=0), axis=1) - rest
        total += COHESION * np.sum(np.maximum(excess, 0) ** 2)
    sets = [*H.edges, *((i,) for i in range(H.n_nodes))]
    for (s, a), (t, b) in combinations(enumerate(sets), 2):
        n_hulls = (s < H.n_edges) + (t < H.n_edges)
        shares = bool(set(a) & set(b))
        if shares and n_hulls < 2:
            continue
        kind = 3 if shares else n_hulls
        if circles_apart(positions[list(a)], positions[list(b)]) >= WANTED[kind]:
            continue  # far away; directions would see up to 0.5 % less of the distance
        along_a, along_b = positions[list(a)] @ directions, positions[list(b)] @ directions
        gap = (along_b.min(axis=0) - along_a.max(axis=0)).max()
        total += WEIGHT[kind] * max(0.0, WANTED[kind] - gap) ** 2
    return total


@given(arrangements())
def test_the_energy_is_that_of_the_definition(case):
    H, positions = case
    got = Arrangement(H.indptr, H.indices, H.n_nodes).energy(positions)
    assert got == pytest.approx(energy_by_definition(H, positions), rel=1e-9, abs=1e-9)


@given(arrangements(), st.integers(0, 10_000))
def test_a_sweep_without_noise_never_raises_the_energy(case, seed):
    H, positions = case
    arrangement = Arrangement(H.indptr, H.indices, H.n_nodes)
    rng = np.random.default_rng(seed)
    moves = rng.normal(size=(H.n_nodes, 6, 2))
    moves[:, 0] = 0
    energies = [arrangement.energy(positions)]
    for node in rng.permutation(H.n_nodes):  # one node a sweep: each single move counts
        sweep(positions, arrangement.sets, _rules(), np.array([node]), moves, np.zeros((H.n_nodes, 6)))
        energies.append(arrangement.energy(positions))
    assert np.all(np.diff(energies) <= 1e-9 * (1 + energies[0]))


def test_sweeps_bring_a_node_out_of_a_foreign_hull():
    H = Hypergraph.from_edges([(0, 1, 2), (3, 4)])
    positions = np.array([[0, 0], [2, 0], [1, 2], [1, 0.7], [4, 0.7]], dtype=float)
    arrangement = Arrangement(H.indptr, H.indices, H.n_nodes)
    settled = arrangement.anneal(positions, 60, np.random.default_rng(0))
    assert arrangement.energy(positions) > 1
    assert arrangement.energy(settled) < 1e-3
    np.testing.assert_array_equal(positions[3], [1, 0.7])  # the input stays as it was
