"""Places for node names: beside the node, off other nodes and names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hsls._types import FloatArray

N_PLACES = 16
N_ROUNDS = 3
GAP = 0.8  # points between node and name


def text_boxes(texts: Sequence[str], font_size: float) -> tuple[FloatArray, FloatArray]:
    """Width and height of each text in points in matplotlib's font, read literally; and what is below its baseline."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=font_size)
    boxes = [text_to_path.get_text_width_height_descent(text, font, ismath=False) for text in texts]
    array = np.array(boxes, dtype=np.float64).reshape(-1, 3)
    return array[:, :2], array[:, 2]


def place(nodes: FloatArray, sizes: FloatArray, radius: float, away_from: FloatArray) -> FloatArray:
    """Centres of the names, all in points.

    Each name stands at one of `N_PLACES` directions from its node, at `radius` plus `GAP`. In a few rounds
    every name takes its cheapest place: overlap with names and nodes counts most, then the preference for
    the side away from `away_from` (the middle of what the node belongs to).
    """
    n = len(nodes)
    angles = 2 * np.pi * np.arange(N_PLACES) / N_PLACES
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    half = sizes / 2
    # The nearest centre in each direction at which the box stays outside the disc, by its own support.
    outward = directions[None] * (radius + GAP)
    centres = nodes[:, None] + outward + np.clip(directions * 1.6, -1, 1)[None] * half[:, None]
    wish = nodes - away_from
    norm = np.linalg.norm(wish, axis=1, keepdims=True)
    wish = np.divide(wish, norm, out=np.zeros_like(wish), where=norm > 0)
    preference = 0.12 * (1 - wish @ directions.T) * sizes.prod(axis=1, keepdims=True)
    fixed = preference.copy()
    for i in range(n):
        overlap = _overlap(centres[i], half[i], nodes, np.full((n, 2), radius))
        overlap[:, i] = 0
        fixed[i] += 3 * overlap.sum(axis=1)
    chosen = np.argmin(fixed, axis=1)
    for _ in range(N_ROUNDS):
        for i in range(n):
            others = np.arange(n) != i
            at = centres[others, chosen[others]]
            clash = _overlap(centres[i], half[i] + 0.4, at, half[others]).sum(axis=1)
            chosen[i] = int(np.argmin(fixed[i] + 2 * clash))
    result: FloatArray = centres[np.arange(n), chosen]
    return result


def _overlap(centres: FloatArray, half: FloatArray, others: FloatArray, other_half: FloatArray) -> FloatArray:
    """Area that boxes of one size at `centres` share with each of the other boxes."""
    distance = np.abs(centres[:, None] - others[None])
    shared = np.clip(half + other_half - distance, 0, 2 * np.minimum(half, other_half))
    area: FloatArray = shared.prod(axis=2)
    return area
