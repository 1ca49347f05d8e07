"""How well a map of classes agrees with the ground truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsls._types import FloatArray, IntArray

__all__ = ["Scores", "score"]


@dataclass(frozen=True)
class Scores:
    """Shares of 1.

    Attributes
    ----------
    OA : float
        Overall accuracy: the share of pixels that are told right.
    AA : float
        Average accuracy: the mean over classes of `classes`.
    kappa : float
        Cohen's: agreement beyond that of chance.
    classes : array
        Share of the pixels of each class that are told right.
    """

    OA: float
    AA: float
    kappa: float
    classes: FloatArray


def score(told: IntArray, true: IntArray, n_classes: int) -> Scores:
    """Compare the classes, counted from 1, that pixels were told to be of with those that they are of.

    Every class must occur among the true ones.
    """
    confusion = np.zeros((n_classes, n_classes))
    np.add.at(confusion, (true - 1, told - 1), 1)
    total = confusion.sum()
    right = np.diagonal(confusion)
    each = right / confusion.sum(axis=1)
    overall = float(right.sum() / total)
    chance = float(confusion.sum(axis=0) @ confusion.sum(axis=1) / total**2)
    # Chance is 1 only where one class is all there is, and told.
    kappa = (overall - chance) / (1 - chance) if chance < 1 else 1.0
    return Scores(OA=overall, AA=float(each.mean()), kappa=kappa, classes=each)
