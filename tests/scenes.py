"""A small scene whose classes have spectra of their own."""

from __future__ import annotations

import numpy as np

from hsls.experiments.hyperspectral._cnn import LEAST_BANDS, Settings
from hsls.experiments.hyperspectral._scene import Scene

#: A network of seconds.
TINY = Settings(epochs=4, batch_size=16, widths=(2, 3, 4, 5))


def raw(seed=0, bands=LEAST_BANDS):
    """The cube and ground truth of 12 x 14 pixels: 28 of class 1, of which the paper draws 15, and 70 of class 2."""
    rng = np.random.default_rng(seed)
    classes = np.repeat([1, 2, 2, 0, 2, 2, 1, 0, 2, 0, 0, 0], 14).reshape(12, 14)
    spectra = np.array([rng.random(bands), np.linspace(0, 1, bands), np.linspace(1, 0, bands)])
    cube = np.round(1000 * (spectra[classes] + 0.05 * rng.random((12, 14, bands)))).astype(np.uint16)
    return cube, classes.astype(np.uint8)


def scene(seed=0, bands=LEAST_BANDS):
    return Scene.of(*raw(seed, bands))
