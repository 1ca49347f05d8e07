"""Real data: networks, tables and a scene, from a folder of yours, a cache, or the places that they are pinned to."""

from __future__ import annotations

from hsls.datasets.coauthorship import COAUTHORSHIPS, load_coauthorship
from hsls.datasets.hyperspectral import INDIAN_PINES_CLASSES, load_indian_pines
from hsls.datasets.states import load_mortality, load_smoking, load_temperature, state_outlines

__all__ = [
    "COAUTHORSHIPS",
    "INDIAN_PINES_CLASSES",
    "load_coauthorship",
    "load_indian_pines",
    "load_mortality",
    "load_smoking",
    "load_temperature",
    "state_outlines",
]
