"""Variations: how much the signals differ over the nodes of a hyperedge.

With ``s_ij = ||x_i - x_j||_p^q`` for the pairs of a hyperedge e, a variation is the sum, the maximum or the mean of
s_ij over the pairs, or their sum over |e|. The sums favour small hyperedges; mean and scaled take that away.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from hsls import _checks, _threads
from hsls._kernels import pairs
from hsls._types import AnyArray, FloatArray
from hsls.candidates import Candidates

__all__ = ["VARIATIONS", "Variation", "of_candidates", "of_members"]

_REDUCTIONS = ("sum", "max", "mean", "scaled")
_DISTANCES = {"square": (2.0, 2.0), "absolute": (1.0, 1.0)}

#: The variations that have a name of their own.
VARIATIONS = tuple(f"{reduction}-{distance}" for reduction in _REDUCTIONS for distance in _DISTANCES)

# Candidates of one piece of work.
_CANDIDATES_A_PIECE = 1 << 16


@dataclass(frozen=True)
class Variation:
    """A variation: a reduction over pairs of the distance ``||x_i - x_j||_p^q``.

    Parameters
    ----------
    reduction : {"sum", "max", "mean", "scaled"}
        "mean" divides the sum by the number of pairs, "scaled" by the number of nodes.
    p : float
        At least 1; ``math.inf`` for the largest difference.
    q : float
        Power of the norm, above 0.

    Examples
    --------
    >>> Variation.parse("max-square")
    Variation(reduction='max', p=2.0, q=2.0)
    >>> Variation.parse("mean-l3^2")
    Variation(reduction='mean', p=3.0, q=2.0)
    """

    reduction: str = "max"
    p: float = 2.0
    q: float = 2.0

    def __post_init__(self) -> None:
        _checks.one_of(self.reduction, "reduction", _REDUCTIONS)
        if not (isinstance(self.p, int | float | np.integer | np.floating) and self.p >= 1):
            raise ValueError(f"p must be a number of at least 1 (math.inf allowed), got {self.p!r}.")
        object.__setattr__(self, "p", float(self.p))
        object.__setattr__(self, "q", _checks.positive(self.q, "q"))

    @classmethod
    def parse(cls, variation: str | Variation) -> Variation:
        """Read a name such as "max-square", or "<reduction>-l<p>" and "<reduction>-l<p>^<q>" for any p and q."""
        if isinstance(variation, Variation):
            return variation
        if isinstance(variation, str):
            if variation in VARIATIONS:
                reduction, distance = variation.split("-")
                return cls(reduction, *_DISTANCES[distance])
            general = re.fullmatch(r"(sum|max|mean|scaled)-l(inf|[0-9.]+)(?:\^([0-9.]+))?", variation)
            if general:
                try:
                    return cls(general[1], float(general[2]), float(general[3] or 1))
                except ValueError as error:
                    raise ValueError(f"variation {variation!r}: {error}") from None
        raise ValueError(
            f"variation must be one of {', '.join(VARIATIONS)}, or '<sum|max|mean|scaled>-l<p>^<q>' such as "
            f"'max-l3^2'; got {variation!r}."
        )

    def factor(self, k: int) -> float:
        """What the sum or maximum over the pairs of k nodes is multiplied with."""
        return {"mean": 2.0 / (k * (k - 1)), "scaled": 1.0 / k}.get(self.reduction, 1.0)


class Distances:
    """Signals made ready for pair distances under a variation and weights of the observations.

    Parameters
    ----------
    X : array, shape (N, P)
        NaN marks a missing value: the sum over t below is then taken over the observations that both nodes have,
        and scaled up by the total weight over the shared weight (a maximum, p = inf, is not scaled).
    variation : Variation
    observation_weights : array of P numbers, 0 or more, optional
        ``s_ij = (sum_t omega_t |x_it - x_jt|^p)^(q/p)``; for p = inf only whether a weight is 0 matters.
    """

    def __init__(self, X: AnyArray, variation: Variation, observation_weights: Any = None) -> None:
        self.variation = variation
        p = variation.p
        omega = check_observation_weights(observation_weights, X.shape[1])
        signals = np.asarray(X, dtype=np.float64)
        if observation_weights is not None:
            keep = omega > 0
            signals, omega = signals[:, keep], omega[keep]
            if not math.isinf(p):
                signals = signals * omega ** (1.0 / p)
        self.X: FloatArray = np.ascontiguousarray(signals)
        self.observed: FloatArray = omega if np.isnan(self.X).any() else np.empty(0)
        self.kind = {2.0: pairs.SQUARE, 1.0: pairs.ABSOLUTE, math.inf: pairs.LARGEST}.get(p, pairs.POWER)
        self.power = variation.q if math.isinf(p) else variation.q / p

    def of_members(self, members: AnyArray, out: FloatArray) -> None:
        """Write the variation of each row of a (D, k) array of node positions into `out`."""
        unsigned = np.ascontiguousarray(members, dtype=np.int32).view(np.uint32)
        k = members.shape[1]
        reduction = pairs.MAX if self.variation.reduction == "max" else pairs.SUM
        factor = self.variation.factor(k)

        def work(start: int, stop: int, _: int) -> int:
            found: int = pairs.reduce_members(
                unsigned, self.X, self.observed, self.kind, self.variation.p, self.power, reduction, factor,
                out, start, stop,
            )  # fmt: skip
            return found

        pieces = _threads.split(len(members), math.ceil(len(members) / _CANDIDATES_A_PIECE))
        for bad in _threads.over(work, pieces) if len(members) else []:
            if bad >= 0:
                self.refuse_strangers(members[bad])

    def refuse_strangers(self, nodes: AnyArray) -> NoReturn:
        """Complain about the first two of the nodes that share no observation."""
        seen = ~np.isnan(self.X)
        i, j = next((int(i), int(j)) for i in nodes for j in nodes if i < j and not np.any(seen[i] & seen[j]))
        raise ValueError(
            f"nodes {i} and {j} share no observation, so their distance is unknown; remove one of them, "
            "fill in values, or leave the hyperedges that hold both out of the candidates."
        )


def of_members(
    members: AnyArray, X: AnyArray, variation: str | Variation = "max-square", observation_weights: Any = None
) -> FloatArray:
    """Variation of the signals X (N x P) on each row of a (D, k) array of node positions."""
    out = np.empty(len(members))
    Distances(X, Variation.parse(variation), observation_weights).of_members(members, out)
    return out


def of_candidates(
    candidates: Candidates,
    X: AnyArray,
    variation: str | Variation = "max-square",
    observation_weights: Any = None,
) -> FloatArray:
    """Variation of the signals X (N x P) on every candidate."""
    distances = Distances(X, Variation.parse(variation), observation_weights)
    z = np.empty(candidates.n_candidates)
    for block, start, stop in zip(candidates.members, candidates.offsets[:-1], candidates.offsets[1:], strict=True):
        distances.of_members(block, z[start:stop])
    check_finite(z, variation)
    return z


def check_finite(z: AnyArray, variation: str | Variation) -> None:
    """Refuse variations, or distances, beyond what double precision holds."""
    if not z.max(initial=0.0) < math.inf:
        raise ValueError(
            f"the variation {variation!r} of the signals overflows; divide the signals by a large number, or choose a "
            "variation with lower powers."
        )


def check_observation_weights(weights: Any, n_observations: int) -> FloatArray:
    """Return the weights of the observations, 1 each by default."""
    if weights is None:
        return np.ones(n_observations)
    omega = np.asarray(weights, dtype=np.float64)
    if omega.shape != (n_observations,):
        raise ValueError(
            f"observation_weights must hold one number for each of the {n_observations} observations, "
            f"got shape {omega.shape}."
        )
    if not np.all(np.isfinite(omega)) or np.any(omega < 0) or not np.any(omega > 0):
        raise ValueError("observation_weights must be finite, 0 or more, and not all 0.")
    return omega
