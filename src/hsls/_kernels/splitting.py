"""Iterations of the forward-backward-forward solver.

Conventions as in `incidence`, but for the cardinality, which is read off `members` as it runs: so all blocks have one
type, and many iterations over several of them are one call. `quadratic` and `coefficient` are of length 1 where they
are the same for all candidates; their steps are 0 then and 1 otherwise.
"""

from __future__ import annotations

import math
from typing import Any

from hsls._kernels.jit import kernel


@kernel
def forward(
    members: Any,
    z: Any,
    quadratic: Any,
    quadratic_step: int,
    coefficient: Any,
    coefficient_step: int,
    gamma: float,
    w: Any,
    d: Any,
    point: Any,
    degree_w: Any,
    degree_point: Any,
    start: int,
    stop: int,
) -> None:
    """First half of an iteration: ``p1 = max(0, w - gamma (quadratic w + S'd) - gamma z)``, and S w, S p1."""
    k = members.shape[1]
    for e in range(start, stop):
        c = coefficient[e * coefficient_step]
        total = 0.0
        for j in range(k):
            total += d[members[e, j]]
        y = w[e] - gamma * (quadratic[e * quadratic_step] * w[e] + c * total)
        p = max(0.0, y - gamma * z[e])
        point[e] = p
        for j in range(k):
            degree_w[members[e, j]] += c * w[e]
            degree_point[members[e, j]] += c * p


@kernel
def correct(
    members: Any,
    quadratic: Any,
    quadratic_step: int,
    coefficient: Any,
    coefficient_step: int,
    gamma: float,
    w: Any,
    d: Any,
    point: Any,
    p2: Any,
    start: int,
    stop: int,
) -> tuple[float, float]:
    """Second half: ``w += q1 - y1`` in place; returns ||change||^2 and the squared norm of w before it."""
    k = members.shape[1]
    change, norm = 0.0, 0.0
    for e in range(start, stop):
        c = coefficient[e * coefficient_step]
        total_d, total_p = 0.0, 0.0
        for j in range(k):
            total_d += d[members[e, j]]
            total_p += p2[members[e, j]]
        q = quadratic[e * quadratic_step]
        y1 = w[e] - gamma * (q * w[e] + c * total_d)
        q1 = point[e] - gamma * (q * point[e] + c * total_p)
        delta = q1 - y1
        norm += w[e] * w[e]
        change += delta * delta
        w[e] += delta
    return change, norm


@kernel
def dual_step(alpha: float, gamma: float, d: Any, degree_w: Any, p2: Any) -> None:
    """``p2 = prox(y2)`` of the logarithms' conjugate at ``y2 = d + gamma S w``."""
    for i in range(len(d)):
        y = d[i] + gamma * degree_w[i]
        p2[i] = 0.5 * (y - math.sqrt(y * y + 4.0 * alpha * gamma))


@kernel
def dual_correct(gamma: float, d: Any, degree_w: Any, degree_point: Any, p2: Any) -> tuple[float, float]:
    """``d += q2 - y2`` in place; returns ||change||^2 and the squared norm of d before it."""
    change, norm = 0.0, 0.0
    for i in range(len(d)):
        delta = p2[i] + gamma * (degree_point[i] - degree_w[i]) - d[i]
        norm += d[i] * d[i]
        change += delta * delta
        d[i] += delta
    return change, norm


@kernel
def larger_change(change_w: float, norm_w: float, change_d: float, norm_d: float) -> float:
    """The larger squared relative change of the two variables; infinite where one was 0."""
    if norm_w == 0.0 or norm_d == 0.0:
        return math.inf
    return max(change_w / norm_w, change_d / norm_d)


@kernel
def iterate(
    blocks: Any,
    starts: Any,
    z: Any,
    quadratic: Any,
    quadratic_step: int,
    coefficient: Any,
    coefficient_step: int,
    alpha: float,
    gammas: Any,
    tol: float,
    w: Any,
    d: Any,
    point: Any,
    degree_w: Any,
    degree_point: Any,
    p2: Any,
) -> tuple[int, float]:
    """Iterations with the steps `gammas` until the change is below `tol`: their number, and the last change."""
    change = math.inf
    for iteration in range(len(gammas)):
        gamma = gammas[iteration]
        degree_w[:] = 0.0
        degree_point[:] = 0.0
        for b in range(len(blocks)):
            first, last = starts[b], starts[b + 1]
            forward(
                blocks[b], z[first:last], quadratic[first * quadratic_step :], quadratic_step,
                coefficient[first * coefficient_step :], coefficient_step, gamma, w[first:last], d,
                point[first:last], degree_w, degree_point, 0, last - first,
            )  # fmt: skip
        dual_step(alpha, gamma, d, degree_w, p2)
        change_w, norm_w = 0.0, 0.0
        for b in range(len(blocks)):
            first, last = starts[b], starts[b + 1]
            more, size = correct(
                blocks[b], quadratic[first * quadratic_step :], quadratic_step,
                coefficient[first * coefficient_step :], coefficient_step, gamma, w[first:last], d,
                point[first:last], p2, 0, last - first,
            )  # fmt: skip
            change_w, norm_w = change_w + more, norm_w + size
        change_d, norm_d = dual_correct(gamma, d, degree_w, degree_point, p2)
        change = larger_change(change_w, norm_w, change_d, norm_d)
        if change < tol:
            return iteration + 1, change
    return len(gammas), change
