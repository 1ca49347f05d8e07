"""Maximum likelihood of hyperedge weights under the Gaussian field of the star expansion."""

from __future__ import annotations

from hsls.likelihood.field import LARGEST_BLOCK, Hyperedges, Likelihood
from hsls.likelihood.newton import maximise

__all__ = ["LARGEST_BLOCK", "Hyperedges", "Likelihood", "maximise"]
