"""Outlines around sets of points in the plane: the convex hull, grown by a padding and rounded."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hsls._types import FloatArray

__all__ = ["convex_hull", "rounded_hull"]

# Largest turn between two neighbouring vertices of an arc, in radians. The chord then stays within
# 1 - cos(ARC_STEP / 2) = 0.1 % of the padding from the arc.
ARC_STEP = np.pi / 36


def convex_hull(points: ArrayLike) -> FloatArray:
    """Corners of the convex hull, counter-clockwise from the leftmost (then lowest) point.

    Andrew's monotone chain. Unlike Qhull it takes one point, coincident points and collinear points: they
    give one or two corners. The result does not depend on the order of the points.

    Parameters
    ----------
    points : array-like, shape (n, 2)

    Examples
    --------
    >>> convex_hull([(0, 0), (2, 0), (1, 0.5), (1, 2), (1, 0)])
    array([[0., 0.],
           [2., 0.],
           [1., 2.]])
    """
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != 2 or len(array) == 0:
        raise ValueError(f"points must be an array of shape (n, 2) with n at least 1, got shape {array.shape}.")
    if not np.all(np.isfinite(array)):
        raise ValueError("points must be finite, but at least one coordinate is not.")
    ordered = np.unique(array, axis=0).tolist()
    if len(ordered) <= 2:
        return np.array(ordered)
    lower = _chain(ordered)
    upper = _chain(ordered[::-1])
    return np.array(lower[:-1] + upper[:-1])


def _chain(ordered: list[list[float]]) -> list[list[float]]:
    """The left-turning chain from the first to the last point."""
    chain: list[list[float]] = []
    for x, y in ordered:
        while len(chain) >= 2:
            (ax, ay), (bx, by) = chain[-2], chain[-1]
            if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                break
            chain.pop()
        chain.append([x, y])
    return chain


def rounded_hull(points: ArrayLike, padding: float) -> FloatArray:
    """Outline of all points of the plane within `padding` of the convex hull of `points`.

    One point gives a disc, two a capsule, more a convex hull with rounded corners.

    Parameters
    ----------
    points : array-like, shape (n, 2)
    padding : float
        Above 0.

    Returns
    -------
    array, shape (m, 2)
        Vertices of a closed convex polygon, counter-clockwise, the first not repeated at the end.
    """
    if not padding > 0:
        raise ValueError(f"padding must be above 0, got {padding!r}.")
    corners = convex_hull(points)
    if len(corners) == 1:
        angles = np.arange(0.0, 2 * np.pi - ARC_STEP / 2, ARC_STEP)
        return corners + padding * _unit(angles)
    edges = np.roll(corners, -1, axis=0) - corners
    leaving = np.arctan2(edges[:, 1], edges[:, 0]) - np.pi / 2  # outward normal of the edge after each corner
    arriving = np.roll(leaving, 1)
    pieces = []
    for corner, start, stop in zip(corners, arriving, leaving, strict=True):
        turn = (stop - start) % (2 * np.pi)
        if turn > 1.5 * np.pi:  # the two edges are parallel to within rounding; no turn exceeds pi
            turn = 0.0
        steps = max(1, int(np.ceil(turn / ARC_STEP)))
        pieces.append(corner + padding * _unit(start + turn * np.arange(steps + 1) / steps))
    return np.concatenate(pieces)


def _unit(angles: FloatArray) -> FloatArray:
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)
