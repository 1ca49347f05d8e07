"""Products with the incidence matrix of one block of candidates of equal cardinality.

Conventions of every function here: `shape` is a tuple of k zeros, so that the compiler knows k and unrolls the
loops over members; `members` is a (D, k) array of unsigned 32-bit node positions (unsigned, so that no test for
negative indices is compiled in); the work is the candidates `start` to `stop`; arrays over nodes that are added
to belong to the calling thread alone. `curvature` holds 1 / (2 beta q_e), of length 1 where it is the same for
all candidates: `step` is 0 then and 1 otherwise.
"""

from __future__ import annotations

from typing import Any

from hsls._kernels.jit import inline, kernel


@kernel
def gather(shape: Any, members: Any, v: Any, out: Any, start: int, stop: int) -> None:
    """out_e = sum of v over e."""
    for e in range(start, stop):
        total = 0.0
        for j in range(len(shape)):
            total += v[members[e, j]]
        out[e] = total


@kernel
def scatter(shape: Any, members: Any, w: Any, out: Any, start: int, stop: int) -> None:
    """out_i += sum of w over the candidates that hold i."""
    for e in range(start, stop):
        for j in range(len(shape)):
            out[members[e, j]] += w[e]


@kernel
def dual_pass(
    shape: Any, members: Any, z: Any, curvature: Any, step: int, v: Any, degree: Any, start: int, stop: int
) -> float:
    """Weights w = max(0, S'v - z) * curvature: adds their degrees, returns sum of u^2 * curvature.

    Branch-free: about half the candidates are active on the way to the solution, in no order that a processor
    could predict.
    """
    quadratic = 0.0
    for e in range(start, stop):
        u = -z[e]
        for j in range(len(shape)):
            u += v[members[e, j]]
        u = max(u, 0.0)
        w = u * curvature[e * step]
        quadratic += u * w
        for j in range(len(shape)):
            degree[members[e, j]] += w
    return quadratic


@kernel
def weights(
    shape: Any, members: Any, z: Any, curvature: Any, step: int, v: Any, out: Any, start: int, stop: int
) -> None:
    """out_e = max(0, (S'v)_e - z_e) * curvature_e."""
    for e in range(start, stop):
        u = -z[e]
        for j in range(len(shape)):
            u += v[members[e, j]]
        out[e] = max(u, 0.0) * curvature[e * step]


@kernel
def compact(
    shape: Any,
    members: Any,
    z: Any,
    curvature: Any,
    step: int,
    v: Any,
    out_members: Any,
    out_curvature: Any,
    start: int,
    stop: int,
) -> int:
    """Copy the active candidates of the range to the head of the outputs; return their number."""
    found = 0
    for e in range(start, stop):
        u = -z[e]
        for j in range(len(shape)):
            u += v[members[e, j]]
        if u > 0.0:
            for j in range(len(shape)):
                out_members[found, j] = members[e, j]
            if step:
                out_curvature[found] = curvature[e]
            found += 1
    return found


@inline
def is_near(shape: Any, members: Any, e: int, z: Any, v: Any, least: Any, ratio: float) -> Any:
    """Whether ``z_e < ratio (S'v)_e``, or e is the least of one of its nodes."""
    total, share = 0.0, 0.0
    for j in range(len(shape)):
        total += v[members[e, j]]
        share = max(share, least[members[e, j]])
    return z[e] < ratio * total or z[e] <= len(shape) * share


@kernel
def count_near(shape: Any, members: Any, z: Any, v: Any, least: Any, ratio: float, start: int, stop: int) -> int:
    """Number of candidates with ``z_e < ratio (S'v)_e``, and of each node's least."""
    found = 0
    for e in range(start, stop):
        found += is_near(shape, members, e, z, v, least, ratio)
    return found


@kernel
def take_near(
    shape: Any,
    members: Any,
    z: Any,
    curvature: Any,
    step: int,
    v: Any,
    least: Any,
    ratio: float,
    out_members: Any,
    out_z: Any,
    out_curvature: Any,
    start: int,
    stop: int,
) -> None:
    """Copy the candidates that `count_near` counts."""
    found = 0
    for e in range(start, stop):
        if is_near(shape, members, e, z, v, least, ratio):
            for j in range(len(shape)):
                out_members[found, j] = members[e, j]
            out_z[found] = z[e]
            if step:
                out_curvature[found] = curvature[e]
            found += 1


@kernel
def normal_product(
    shape: Any, members: Any, curvature: Any, step: int, p: Any, out: Any, start: int, stop: int
) -> None:
    """out += S diag(curvature) S' p."""
    for e in range(start, stop):
        total = 0.0
        for j in range(len(shape)):
            total += p[members[e, j]]
        total *= curvature[e * step]
        for j in range(len(shape)):
            out[members[e, j]] += total


@kernel
def normal_diagonal(shape: Any, members: Any, curvature: Any, step: int, out: Any, start: int, stop: int) -> None:
    """out += diagonal of S diag(curvature) S'."""
    for e in range(start, stop):
        for j in range(len(shape)):
            out[members[e, j]] += curvature[e * step]


@kernel
def normal_matrix(shape: Any, members: Any, curvature: Any, step: int, out: Any, start: int, stop: int) -> None:
    """out += S diag(curvature) S' as a dense matrix."""
    for e in range(start, stop):
        for a in range(len(shape)):
            for b in range(len(shape)):
                out[members[e, a], members[e, b]] += curvature[e * step]


@kernel
def least_at_nodes(shape: Any, members: Any, z: Any, out: Any, start: int, stop: int) -> None:
    """out_i = the least z_e / k over the candidates that hold i, where that is below out_i."""
    for e in range(start, stop):
        share = z[e] / len(shape)
        for j in range(len(shape)):
            out[members[e, j]] = min(out[members[e, j]], share)
