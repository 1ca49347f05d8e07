"""Real data: co-authorship networks and tables by state, from a folder of yours, a cache, or their pinned addresses."""

from __future__ import annotations

from hsls.datasets.coauthorship import COAUTHORSHIPS, load_coauthorship
from hsls.datasets.states import load_mortality, load_smoking, load_temperature, state_outlines

__all__ = [
    "COAUTHORSHIPS",
    "load_coauthorship",
    "load_mortality",
    "load_smoking",
    "load_temperature",
    "state_outlines",
]
