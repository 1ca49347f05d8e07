"""Colours that stay apart for colour-blind readers, and hyperedges that meet in different ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hsls._types import BoolArray, FloatArray, IntArray

# Okabe and Ito, "Color universal design" (2008), without black.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
VERMILLION, SKY, YELLOW = "#D55E00", "#56B4E9", "#F0E442"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, YELLOW)

N_DIRECTIONS = 16


def colour_numbers(outlines: Sequence[FloatArray], palette: Sequence[str] = PALETTE) -> IntArray:
    """A colour of the palette for each outline, as unlike those of the outlines it meets as can be.

    Greedy, the outline with most meetings first: the colour least like those of its neighbours, and, a
    little, the one used least so far.
    """
    from matplotlib.colors import to_rgb

    shades = np.array([to_rgb(colour) for colour in palette])
    likeness = np.exp(-((shades[:, None] - shades[None]) ** 2).sum(axis=2) / 0.12)
    meets = meeting(outlines)
    colours = np.full(len(outlines), -1)
    used = np.zeros(len(palette))
    for number in np.argsort([-len(row) for row in meets], kind="stable"):
        near = colours[meets[number]]
        cost = likeness[near[near >= 0]].sum(axis=0) + 0.1 * used / max(used.sum(), 1.0)
        colours[number] = np.argmin(cost)
        used[colours[number]] += 1
    return colours


def meeting(outlines: Sequence[FloatArray]) -> list[IntArray]:
    """For each convex outline, the others that it meets, to within the angle of the directions tried."""
    if not outlines:
        return []
    angles = 2 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
    directions = np.stack([np.cos(angles), np.sin(angles)])
    reach = np.array([(outline @ directions).max(axis=0) for outline in outlines])
    opposite = np.roll(reach, N_DIRECTIONS // 2, axis=1)
    rows = []
    for number, own in enumerate(reach):
        apart: BoolArray = np.any(own + opposite < 0, axis=1)
        apart[number] = True
        rows.append(np.flatnonzero(~apart))
    return rows


def faded(colour: str, alpha: float) -> tuple[float, float, float, float]:
    """The colour with an opacity."""
    from matplotlib.colors import to_rgba

    red, green, blue, _ = to_rgba(colour)
    return red, green, blue, float(alpha)


def darker(colour: str, by: float = 0.25) -> str:
    """The colour mixed with black, for outlines."""
    from matplotlib.colors import to_hex, to_rgb

    return str(to_hex([part * (1 - by) for part in to_rgb(colour)]))
