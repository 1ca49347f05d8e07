"""Planar positions for the nodes of a hypergraph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hsls import _checks
from hsls._types import FloatArray, IntArray
from hsls.drawing import _arrange, _stress
from hsls.drawing._pack import pack

if TYPE_CHECKING:
    from hsls.hypergraph import Hypergraph

__all__ = ["layout"]

ASPECT = 1.2  # width over height that the packing aims at
MAX_MAJORISED = 600  # vertices of the star expansion; the cost of majorisation is their number cubed
MAX_STARTS = 4


def layout(H: Hypergraph, *, random_state: Any = 0) -> FloatArray:
    """Planar positions at which the hyperedges of a hypergraph can be read as hulls.

    Each connected component is laid out for itself: first so that distances follow those along the star
    expansion (classical scaling, then stress majorisation), then by annealing node by node so that hulls are
    short, nodes are about 1 or more apart, and no node lies in a hull to which it does not belong where that
    can be avoided. Components are then packed side by side, isolated nodes in rows below.

    The annealing looks at a bounded number of pairs, so time stays at one to a few seconds while quality
    falls with size: at 60 nodes and 45 hyperedges it runs in full, at 200 nodes a tenth of that, and beyond
    about 1,000 nodes in one component not at all. Stress majorisation is left out where a component has more
    than 600 nodes and hyperedges together; what remains there is classical scaling from 50 pivots.

    Parameters
    ----------
    H : Hypergraph
        Weights play no part.
    random_state : None, int, numpy.random.Generator or RandomState
        The same number gives the same positions.

    Returns
    -------
    array, shape (n_nodes, 2)
    """
    rng = _checks.random_generator(random_state)
    positions = np.zeros((H.n_nodes, 2))
    groups, drawings = [], []
    for nodes, indptr, indices in _components(H):
        budget = _arrange.BUDGET * len(nodes) / H.n_nodes
        placed = _one_component(_arrange.Arrangement(indptr, indices, len(nodes)), budget, rng)
        positions[nodes] = placed
        groups.append(nodes)
        drawings.append(np.split(placed[indices], indptr[1:-1]))
    for nodes, shift in zip(groups, pack(drawings, ASPECT), strict=True):
        positions[nodes] += shift
    linked = np.concatenate([np.zeros(0, np.int64), *groups])
    isolated = np.setdiff1d(np.arange(H.n_nodes), linked)
    positions[isolated] = _rows(len(isolated), positions[linked])
    if H.n_nodes:
        positions -= (positions.max(axis=0) + positions.min(axis=0)) / 2
    return positions


def _components(H: Hypergraph) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Nodes of each component of two nodes or more, and its hyperedges by position among them."""
    from scipy.sparse import csgraph

    if H.n_edges == 0:
        return
    star = _stress.star_graph(H.indptr, H.indices, H.n_nodes)
    count, label = csgraph.connected_components(star, directed=False)
    nodes_of = _grouped(label[: H.n_nodes], count)
    edges_of = _grouped(label[H.n_nodes :], count)
    local = np.empty(H.n_nodes, dtype=np.int64)
    for nodes, edges in zip(nodes_of, edges_of, strict=True):
        if len(nodes) > 1:
            local[nodes] = np.arange(len(nodes))
            members = [local[H.indices[H.indptr[e] : H.indptr[e + 1]]] for e in edges]
            yield nodes, np.concatenate([[0], np.cumsum(H.cardinalities[edges])]), np.concatenate(members)


def _grouped(label: IntArray, count: int) -> list[IntArray]:
    """Positions of each label, ascending."""
    return np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label, minlength=count))[:-1])


def _one_component(component: _arrange.Arrangement, budget: float, rng: np.random.Generator) -> FloatArray:
    """Positions of the nodes of a connected hypergraph, its longest axis horizontal."""
    n = component.n_nodes
    if component.n_edges == 1:
        return _polygon(n)
    graph = _stress.star_graph(component.indptr, component.indices, n)
    scaled = _stress.classical_scaling(graph)
    n_sweeps = int(min(_arrange.MAX_SWEEPS, budget / component.cost))
    n_starts = int(np.clip(budget / (component.cost * _arrange.MAX_SWEEPS), 1, MAX_STARTS))
    best, least = scaled[:n], np.inf
    for _ in range(n_starts):
        positions = scaled + rng.normal(scale=0.1, size=scaled.shape)
        if len(positions) <= MAX_MAJORISED:
            positions = _stress.majorise(positions, graph, 80)
        positions = component.anneal(positions[:n], n_sweeps, rng) if n_sweeps else positions[:n]
        energy = component.energy(positions) if n_starts > 1 else 0.0
        if energy < least:
            best, least = positions, energy
    centred = best - best.mean(axis=0)
    _, _, axes = np.linalg.svd(centred.T @ centred)
    turned: FloatArray = centred @ axes.T
    return turned


def _polygon(n: int) -> FloatArray:
    """Corners of a regular polygon with sides of 1, the lowest side horizontal."""
    angles = 2 * np.pi * np.arange(n) / n - np.pi / 2 + np.pi / n
    radius = _stress.circle_radius(np.array([n]))
    corners: FloatArray = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return corners


def _rows(n: int, above: FloatArray) -> FloatArray:
    """Positions of isolated nodes: centred rows below what is drawn already."""
    width = middle = top = 0.0
    if len(above):
        left, right = float(above[:, 0].min()), float(above[:, 0].max())
        width, middle, top = right - left, (left + right) / 2, float(above[:, 1].min()) - 1.3
    each = max(int(width) + 1, int(np.ceil(np.sqrt(ASPECT * n))))
    row, column = np.divmod(np.arange(n), each)
    in_row = np.minimum(each, n - row * each)
    return np.stack([middle + column - (in_row - 1) / 2, top - row], axis=1)
