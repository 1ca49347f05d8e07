"""Moving the nodes of a drawing one at a time, so that hulls and foreign nodes keep clear of one another.

Everything is a set of points in the plane: the hyperedges, and each node as a set of one. With the support
function ``h_A(u) = max_{p in A} u.p`` the largest gap of two sets over directions u,
``max_u -(h_A(u) + h_B(-u))``, is the distance of their convex hulls where it is positive and minus the depth
of their overlap where it is negative. The energy of a drawing adds, over pairs of sets, weight * shortfall^2
where the gap falls short of the wanted one, and, over hyperedges, cohesion times the squared excess of each
member's distance from the centroid over a radius of rest. Pairs whose circles (around the centroids) are
already as far apart as wanted are not looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hsls._kernels.jit import kernel
from hsls._types import AnyArray, FloatArray, IntArray


class Sets(NamedTuple):
    """Hyperedges, then nodes as sets of one: the members of each, and the hyperedges of each node."""

    indptr: IntArray
    indices: IntArray
    edge_ptr: IntArray
    edges: IntArray
    n_edges: int
    rest: FloatArray  # radius of rest of each set


class Rules(NamedTuple):
    """Directions (an even number, going round), and what the energy wants.

    `wanted` and `weight` are by kind of pair: two nodes, node and foreign hull, two hulls, two hulls that
    share a node. A node and its own hull want nothing of each other.
    """

    directions: FloatArray
    wanted: FloatArray
    weight: FloatArray
    cohesion: float


@kernel
def describe(positions: FloatArray, sets: Sets, rules: Rules, s: int, support: AnyArray, circles: AnyArray) -> None:
    """Write the support function of set `s`, and its circle: centroid and largest distance from it."""
    start, stop = sets.indptr[s], sets.indptr[s + 1]
    x = y = 0.0
    for at in range(start, stop):
        x += positions[sets.indices[at], 0]
        y += positions[sets.indices[at], 1]
    x /= stop - start
    y /= stop - start
    radius = 0.0
    for m in range(len(rules.directions)):
        support[s, m] = -np.inf
    for at in range(start, stop):
        px, py = positions[sets.indices[at], 0], positions[sets.indices[at], 1]
        radius = max(radius, np.hypot(px - x, py - y))
        for m in range(len(rules.directions)):
            along = px * rules.directions[m, 0] + py * rules.directions[m, 1]
            support[s, m] = max(support[s, m], along)
    circles[s, 0] = x
    circles[s, 1] = y
    circles[s, 2] = radius


@kernel
def shortfall(a: AnyArray, b: AnyArray, wanted: float) -> float:
    """How far the largest gap of two sets, given their support functions, falls short of `wanted`."""
    half = len(a) // 2
    least = np.inf
    for m in range(len(a)):
        least = min(least, a[m] + b[m - half if m >= half else m + half])
        if -least >= wanted:
            return 0.0
    return wanted + least


@kernel
def offer(
    positions: FloatArray, sets: Sets, circles: FloatArray, i: int, moves: FloatArray, places: FloatArray
) -> None:
    """Write the places node `i` considers: half are moves from where it stands, the others moves from the
    centre of its fellows in one of its hyperedges, each hyperedge in turn."""
    n_places, degree = len(places), sets.edge_ptr[i + 1] - sets.edge_ptr[i]
    for c in range(n_places):
        x, y = positions[i, 0], positions[i, 1]
        if c >= n_places // 2 and degree > 0:
            e = sets.edges[sets.edge_ptr[i] + c % degree]
            size = sets.indptr[e + 1] - sets.indptr[e]
            if size > 1:
                x = (circles[e, 0] * size - x) / (size - 1)
                y = (circles[e, 1] * size - y) / (size - 1)
        places[c, 0] = x + moves[c, 0]
        places[c, 1] = y + moves[c, 1]


@kernel
def reach(positions: FloatArray, sets: Sets, rules: Rules, s: int, i: int, places: FloatArray, trial: AnyArray) -> None:
    """Write the support function of set `s` with its member `i` at each of the places."""
    for m in range(len(rules.directions)):
        ux, uy = rules.directions[m, 0], rules.directions[m, 1]
        others = -np.inf
        for at in range(sets.indptr[s], sets.indptr[s + 1]):
            j = sets.indices[at]
            if j != i:
                others = max(others, positions[j, 0] * ux + positions[j, 1] * uy)
        for c in range(len(places)):
            trial[c, m] = max(others, places[c, 0] * ux + places[c, 1] * uy)


@kernel
def price(
    positions: FloatArray, sets: Sets, rules: Rules, s: int, i: int, place: AnyArray, trial: AnyArray,
    support: FloatArray, circles: FloatArray, relation: IntArray,
) -> float:  # fmt: skip
    """Energy of set `s`, its member `i` at `place`, by itself and with every set that `i` is not in.

    `relation` is 1 for the sets that share a node with `s`, and 2 for those that hold `i`.
    """
    is_node = s >= sets.n_edges
    start, stop = sets.indptr[s], sets.indptr[s + 1]
    x = circles[s, 0] + (place[0] - positions[i, 0]) / (stop - start)
    y = circles[s, 1] + (place[1] - positions[i, 1]) / (stop - start)
    radius = total = 0.0
    for at in range(start, stop):
        j = sets.indices[at]
        dx = (place[0] if j == i else positions[j, 0]) - x
        dy = (place[1] if j == i else positions[j, 1]) - y
        distance = np.hypot(dx, dy)
        radius = max(radius, distance)
        if not is_node:
            total += rules.cohesion * max(0.0, distance - sets.rest[s]) ** 2
    for t in range(len(relation)):
        if relation[t] == 2:
            continue
        t_is_node = t >= sets.n_edges
        shares = relation[t] == 1
        if shares and (is_node or t_is_node):
            continue
        kind = 3 if shares else 2 - is_node - t_is_node
        clear = radius + circles[t, 2] + rules.wanted[kind]
        dx, dy = x - circles[t, 0], y - circles[t, 1]
        if dx * dx + dy * dy < clear * clear:
            total += rules.weight[kind] * shortfall(trial, support[t], rules.wanted[kind]) ** 2
    return total


@kernel
def relate(sets: Sets, s: int, relation: IntArray, mark: int) -> None:
    """Mark the sets that share a node with `s`, but for those marked 2."""
    for at in range(sets.indptr[s], sets.indptr[s + 1]):
        j = sets.indices[at]
        if relation[sets.n_edges + j] != 2:
            relation[sets.n_edges + j] = mark
        for by in range(sets.edge_ptr[j], sets.edge_ptr[j + 1]):
            if relation[sets.edges[by]] != 2:
                relation[sets.edges[by]] = mark


@kernel
def sweep(
    positions: FloatArray, sets: Sets, rules: Rules, order: IntArray, moves: FloatArray, noise: FloatArray
) -> None:
    """Give each node in turn the best of its candidate places; positions change in place.

    Parameters
    ----------
    order : the nodes in the order of their turns
    moves : (n_nodes, n_places, 2), for `offer`
    noise : (n_nodes, n_places), added to the energies. With minus Gumbel noise of scale T the choice is a draw
        from the Boltzmann distribution of the places at temperature T.
    """
    n_sets, n_places, n_directions = len(sets.indptr) - 1, moves.shape[1], len(rules.directions)
    support, circles = np.empty((n_sets, n_directions)), np.empty((n_sets, 3))
    for s in range(n_sets):
        describe(positions, sets, rules, s, support, circles)
    most = 0
    for i in range(len(positions)):
        most = max(most, sets.edge_ptr[i + 1] - sets.edge_ptr[i])
    trial = np.empty((most + 1, n_places, n_directions))
    places, energy = np.empty((n_places, 2)), np.empty(n_places)
    relation = np.zeros(n_sets, np.int64)
    for turn in range(len(order)):
        i = order[turn]
        offer(positions, sets, circles, i, moves[i], places)
        first, degree = sets.edge_ptr[i], sets.edge_ptr[i + 1] - sets.edge_ptr[i]
        for c in range(n_places):
            energy[c] = noise[i, c]
        for a in range(degree):
            relation[sets.edges[first + a]] = 2
        relation[sets.n_edges + i] = 2
        for a in range(degree + 1):
            s = sets.edges[first + a] if a < degree else sets.n_edges + i
            reach(positions, sets, rules, s, i, places, trial[a])
            relate(sets, s, relation, 1)
            for c in range(n_places):
                energy[c] += price(positions, sets, rules, s, i, places[c], trial[a, c], support, circles, relation)
                for b in range(a if a < degree else 0):
                    energy[c] += rules.weight[3] * shortfall(trial[a, c], trial[b, c], rules.wanted[3]) ** 2
            relate(sets, s, relation, 0)
        best = 0
        for c in range(n_places):
            if energy[c] < energy[best]:
                best = c
        positions[i, 0], positions[i, 1] = places[best, 0], places[best, 1]
        for a in range(degree + 1):
            s = sets.edges[first + a] if a < degree else sets.n_edges + i
            relation[s] = 0
            describe(positions, sets, rules, s, support, circles)


@kernel
def energy(positions: FloatArray, sets: Sets, rules: Rules) -> float:
    """The energy of the whole drawing."""
    n_sets = len(sets.indptr) - 1
    support, circles = np.empty((n_sets, len(rules.directions))), np.empty((n_sets, 3))
    relation = np.zeros(n_sets, np.int64)
    total = 0.0
    for s in range(n_sets):
        describe(positions, sets, rules, s, support, circles)
    for s in range(n_sets):
        i = sets.indices[sets.indptr[s]]
        relation[:] = 0
        relate(sets, s, relation, 1)
        relation[s] = 2
        own = price(positions, sets, rules, s, i, positions[i], support[s], support, circles, relation)
        relation[:] = 2
        alone = price(positions, sets, rules, s, i, positions[i], support[s], support, circles, relation)
        total += alone + 0.5 * (own - alone)  # every pair is met twice
    return total
