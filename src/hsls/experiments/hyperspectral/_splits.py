"""Which pixels train, validate and test in each trial (the paper's table IV)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsls._types import IntArray

__all__ = ["Split", "draw"]

#: Labelled pixels drawn from each class for training and validation; fewer from the classes that have few.
DRAWN, DRAWN_FROM_SMALL, SMALL_CLASSES = 50, 15, (1, 7, 9)
#: Of these, the pixels of each class that validate.
VALIDATION = 4


@dataclass(frozen=True)
class Split:
    """Labelled pixels, as sorted positions in the flattened scene."""

    train: IntArray
    validation: IntArray
    test: IntArray


def draw(classes: IntArray, trial: int, seed: int = 0) -> Split:
    """Draw the split of a trial.

    Only the raw words of PCG64 are used, which numpy promises to keep: all machines and versions draw the same.

    Parameters
    ----------
    classes : int array of shape (height, width)
        0 is no class.
    trial : int
    seed : int
    """
    bits = np.random.PCG64(np.random.SeedSequence([seed, trial]))
    flat = classes.ravel()
    train, validation, test = [], [], []
    for label in range(1, int(flat.max()) + 1):
        pixels = np.flatnonzero(flat == label)
        drawn = DRAWN_FROM_SMALL if label in SMALL_CLASSES else DRAWN
        if len(pixels) <= drawn:
            raise ValueError(f"class {label} has {len(pixels)} pixels, but a split needs more than {drawn} of it.")
        shuffled = pixels[np.argsort(bits.random_raw(len(pixels)), kind="stable")]
        validation.append(shuffled[:VALIDATION])
        train.append(shuffled[VALIDATION:drawn])
        test.append(shuffled[drawn:])
    return Split(*(np.sort(np.concatenate(part)) for part in (train, validation, test)))
