"""A hyperspectral scene: a cube of bands and the classes of its pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsls._types import AnyArray, Float32Array, IntArray

__all__ = ["Scene"]


@dataclass(frozen=True)
class Scene:
    """A scene, made by `Scene.of`.

    Attributes
    ----------
    cube : float32 array of shape (height, width, bands)
        Scaled to [0, 1] by its own minimum and maximum.
    classes : int array of shape (height, width)
        The class of each pixel, counted from 1; 0 is no class.
    """

    cube: Float32Array
    classes: IntArray

    @property
    def n_pixels(self) -> int:
        return self.classes.size

    @property
    def n_classes(self) -> int:
        return int(self.classes.max())

    @classmethod
    def of(cls, cube: AnyArray, classes: AnyArray) -> Scene:
        """Check and scale what was read from files.

        Parameters
        ----------
        cube : array of shape (height, width, bands)
            Numbers of any kind and range.
        classes : array of whole numbers, of shape (height, width)
        """
        if cube.ndim != 3 or cube.size == 0 or cube.dtype.kind not in "iuf":
            raise ValueError(
                f"the cube must hold numbers for height x width x bands, got shape {cube.shape}, {cube.dtype}."
            )
        if classes.shape != cube.shape[:2] or classes.dtype.kind not in "iu" or classes.min() < 0 or not classes.any():
            raise ValueError(
                "the ground truth must hold the class of each pixel of the cube (1, 2, ...; 0 for none), got shape "
                f"{classes.shape}, {classes.dtype} for a cube of shape {cube.shape}."
            )
        values = cube.astype(np.float64)
        low, high = values.min(), values.max()
        if not np.isfinite(high - low) or high == low:
            raise ValueError("the cube must hold finite values that are not all the same.")
        return cls(((values - low) / (high - low)).astype(np.float32), classes.astype(np.int64))
