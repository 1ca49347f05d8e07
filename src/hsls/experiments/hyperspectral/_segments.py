"""Superpixels of a scene and their features: mean spectra, places, and means of the convolutional features."""

from __future__ import annotations

import numpy as np

from hsls._types import AnyArray, FloatArray, IntArray
from hsls.experiments.hyperspectral._scene import Scene

__all__ = ["blocks", "ceiling", "means", "superpixels"]

#: What the paper asks SLIC for; on Indian Pines it finds 194.
N_SEGMENTS = 200


def superpixels(scene: Scene, n_segments: int = N_SEGMENTS) -> IntArray:
    """The superpixel of each pixel, from 0 on, found by SLIC of scikit-image.

    Parameters
    ----------
    scene : Scene
    n_segments : int
        How many to ask for; SLIC may find fewer or more.

    Returns
    -------
    int array of shape (height, width)
    """
    try:
        from skimage.segmentation import slic
    except ImportError:
        raise ImportError('superpixels need scikit-image; pip install "hsls[hyperspectral]".') from None
    found = slic(scene.cube, n_segments=n_segments, start_label=0, compactness=1, channel_axis=-1)
    labels: IntArray = np.unique(found, return_inverse=True)[1].reshape(found.shape)
    return labels


def blocks(scene: Scene, labels: IntArray, convolutional: AnyArray, standardise: bool = True) -> dict[str, FloatArray]:
    """The three sets of features, each a row a superpixel.

    Parameters
    ----------
    scene : Scene
    labels : int array of shape (height, width)
        From `superpixels`.
    convolutional : array of shape (pixels, features)
    standardise : bool
        Give each column mean 0 and standard deviation 1.
    """
    pixels = {
        "spectral": scene.cube.reshape(scene.n_pixels, -1),
        "spatial": np.indices(labels.shape).reshape(2, -1).T,
        "convolutional": convolutional,
    }
    found = {name: means(labels, values) for name, values in pixels.items()}
    return {name: _standardised(values) for name, values in found.items()} if standardise else found


def means(labels: IntArray, values: AnyArray) -> FloatArray:
    """Mean over each superpixel of what stands in one row a pixel."""
    order = np.argsort(labels, axis=None, kind="stable")
    sizes = np.bincount(labels.ravel())
    starts = np.cumsum(sizes) - sizes
    sums: FloatArray = np.add.reduceat(values[order].astype(np.float64), starts, axis=0)
    return sums / sizes[:, None]


def ceiling(labels: IntArray, classes: IntArray) -> float:
    """The best overall accuracy of any rule that gives all pixels of a superpixel one class."""
    labelled = classes > 0
    counts = np.zeros((int(labels.max()) + 1, int(classes.max()) + 1), dtype=np.int64)
    np.add.at(counts, (labels[labelled], classes[labelled]), 1)
    return float(counts.max(axis=1).sum() / labelled.sum())


def _standardised(values: FloatArray) -> FloatArray:
    """Columns of mean 0 and standard deviation 1; one that is constant becomes 0."""
    centred = values - values.mean(axis=0)
    spread = centred.std(axis=0)
    varies = spread > 1e-12 * np.abs(values).max(axis=0)
    return np.where(varies, centred / np.where(varies, spread, 1.0), 0.0)
