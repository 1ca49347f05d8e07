"""What every solver returns."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field

import numpy as np

from hsls._types import FloatArray
from hsls._warnings import ConvergenceWarning

__all__ = ["Solution"]


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a solve, with its certificate.

    Attributes
    ----------
    weights : array, shape (n_candidates,)
    dual : array, shape (n_nodes,)
        v of the certificate, 0 for nodes that no candidate holds.
    primal, dual_value : float
        Objective at `weights`, and the lower bound on the optimum that `dual` proves.
    gap, relative_gap : float
        ``primal - dual_value`` at most: the objective is within `gap` of the optimum. Relative to ``alpha * N``.
    n_iter : int
    status : {"converged", "max_iter", "stalled"}
        "stalled": the iterates no longer change in floating point, short of the wanted gap.
    solver : str
    seconds : float
    history : dict of arrays
        "iteration", "seconds", "primal", "dual_value" and "gap" (relative), one entry for each recorded iteration.
    """

    weights: FloatArray
    dual: FloatArray
    primal: float
    dual_value: float
    gap: float
    relative_gap: float
    n_iter: int
    status: str
    solver: str
    seconds: float
    history: dict[str, FloatArray] = field(repr=False)

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    def __repr__(self) -> str:
        return (
            f"Solution({self.solver}: {self.status} after {self.n_iter} iterations, objective {self.primal:.9g}, "
            f"relative gap {self.relative_gap:.2g})"
        )

    def warn_unless_converged(self, advice: str) -> None:
        """Warn with the reached gap and what to try, unless the solver converged."""
        if not self.converged:
            reason = "reached max_iter" if self.status == "max_iter" else "made no more progress in floating point"
            warnings.warn(
                f"{self.solver} {reason} after {self.n_iter} iterations at a relative gap of "
                f"{self.relative_gap:.2g}; {advice}.",
                ConvergenceWarning,
                stacklevel=3,
            )


class History:
    """Collects the course of a solve."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._rows: list[tuple[float, float, float, float, float]] = []

    def add(self, iteration: int, primal: float, dual_value: float, relative_gap: float) -> None:
        self._rows.append((iteration, self.seconds(), primal, dual_value, relative_gap))

    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def arrays(self) -> dict[str, FloatArray]:
        columns = np.array(self._rows, dtype=np.float64).reshape(-1, 5).T
        names = ("iteration", "seconds", "primal", "dual_value", "gap")
        return {name: column.copy() for name, column in zip(names, columns, strict=True)}
