"""Placing the drawings of components side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hsls._types import BoolArray, FloatArray, IntArray

MARGIN = 0.55  # half the least gap between two components
N_CELLS = 160  # a side, at most


def pack(drawings: Sequence[Sequence[FloatArray]], aspect: float) -> list[FloatArray]:
    """Shifts that put drawings side by side, each drawing given by the points of each of its hulls.

    The largest goes to the middle, each following one to the free place nearest to the middle, where the
    vertical distance counts `aspect` times. Free places are found on a grid by convolution, so their number
    hardly matters.
    """
    from scipy.signal import fftconvolve

    boxes = np.array([np.ptp(np.concatenate(hulls), axis=0) + 2 * MARGIN for hulls in drawings]).reshape(-1, 2)
    areas = boxes.prod(axis=1)
    side = float(boxes.max(initial=0.0) + 2 * np.sqrt(aspect * areas.sum()))
    cell = max(0.2, side / N_CELLS)
    count = int(np.ceil(side / cell)) + 2
    taken = np.zeros((count, count))
    shifts = [np.zeros(2)] * len(drawings)
    for number in np.argsort(-areas, kind="stable").tolist():
        mask, corner = _mask(drawings[number], cell)
        free = np.rint(fftconvolve(taken, mask[::-1, ::-1].astype(float), mode="valid")) == 0
        at = _nearest(free, np.array(mask.shape), count, aspect)
        taken[at[0] : at[0] + mask.shape[0], at[1] : at[1] + mask.shape[1]] += mask
        shifts[number] = cell * at - corner
    return shifts


def _mask(hulls: Sequence[FloatArray], cell: float) -> tuple[BoolArray, FloatArray]:
    """The cells within MARGIN of a drawing or enclosed by it, and the corner of the first one."""
    from scipy.ndimage import binary_fill_holes

    points = np.concatenate(hulls)
    corner = points.min(axis=0) - MARGIN
    mask = np.zeros(np.ceil((np.ptp(points, axis=0) + 2 * MARGIN) / cell).astype(int), dtype=bool)
    angles = np.pi * np.arange(32) / 16
    directions = np.stack([np.cos(angles), np.sin(angles)])
    for hull in hulls:
        first = np.floor((hull.min(axis=0) - MARGIN - corner) / cell).astype(int)
        last = np.ceil((hull.max(axis=0) + MARGIN - corner) / cell).astype(int)
        box = (slice(first[0], last[0]), slice(first[1], last[1]))
        inside = mask[box]
        centres = corner + cell * (first + np.moveaxis(np.indices(inside.shape), 0, -1) + 0.5)
        inside |= np.all(centres @ directions <= (hull @ directions).max(axis=0) + MARGIN, axis=-1)
    return binary_fill_holes(mask), corner


def _nearest(free: BoolArray, shape: IntArray, count: int, aspect: float) -> IntArray:
    """The first cell of the free place whose middle is nearest to the middle of the grid."""
    across, up = np.indices(free.shape)
    cost = (across + shape[0] / 2 - count / 2) ** 2 + (aspect * (up + shape[1] / 2 - count / 2)) ** 2
    return np.array(np.unravel_index(np.argmin(np.where(free, cost, np.inf)), free.shape))
