"""Which samples train, which validate, and at which node and of which class each is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hsls._types import AnyArray, BoolArray, IntArray


@dataclass(frozen=True)
class Samples:
    """Labelled samples: the node of each, and the position of its class in `classes`."""

    nodes: IntArray
    labels: IntArray
    classes: AnyArray
    training: IntArray
    validation: IntArray


def read_samples(
    y: Any, n_nodes: int, membership: Any, train: Any, validation: Any, unlabelled: Any, fraction: float, rng: Any
) -> Samples:
    """Samples for training and validation; without `validation`, a fraction of each class is drawn for it."""
    y = read_labels(y)
    nodes = read_membership(membership, n_nodes, len(y))
    labelled = is_labelled(y, unlabelled)
    held_out = None if validation is None else _positions(validation, "validation", labelled)
    if train is not None:
        training = _positions(train, "train", labelled)
    else:
        training = np.flatnonzero(labelled)
        training = training if held_out is None else np.setdiff1d(training, held_out)
    if not len(training):
        raise ValueError("no sample is left to train on; y must hold labels of samples that are not for validation.")
    classes, labels = _classes(y, training, held_out)
    if held_out is None:
        training, held_out = draw_validation(training, labels, fraction, rng)
    elif np.intersect1d(training, held_out).size:
        raise ValueError("train and validation must have no sample in common.")
    return Samples(nodes, labels, classes, training, held_out)


def read_labels(y: Any) -> AnyArray:
    """One label a sample; a marker that is a number stays one beside texts."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be a list of labels, one a sample, got an array of shape {labels.shape}.")
    if labels.dtype.kind in "US":
        return np.asarray(y, dtype=object)
    if labels.dtype.kind == "f" and not np.all(labels == np.floor(labels)):
        raise ValueError("y must hold classes, but it holds numbers that are not whole.")
    return labels


def is_labelled(y: AnyArray, unlabelled: Any) -> BoolArray:
    """Where y is not the marker of samples without label."""
    return np.array([label != unlabelled for label in y.tolist()], dtype=bool)


def read_membership(membership: Any, n_nodes: int, n_samples: int | None = None) -> IntArray:
    """The node of each sample; by default the samples are the nodes."""
    if membership is None:
        if n_samples not in (None, n_nodes):
            raise ValueError(
                f"y holds {n_samples} labels for {n_nodes} nodes; give membership, the node of each sample."
            )
        return np.arange(n_nodes)
    nodes = np.asarray(membership)
    if nodes.ndim != 1 or nodes.dtype.kind not in "iu":
        raise TypeError("membership must be a list of whole numbers, the node of each sample.")
    if n_samples is not None and len(nodes) != n_samples:
        raise ValueError(f"membership must hold the node of each of the {n_samples} samples, got {len(nodes)}.")
    if nodes.size and not (nodes.min() >= 0 and nodes.max() < n_nodes):
        raise ValueError(f"membership must hold nodes from 0 to {n_nodes - 1}, got {nodes.min()} to {nodes.max()}.")
    return nodes.astype(np.int64)


def draw_validation(training: IntArray, labels: IntArray, fraction: float, rng: Any) -> tuple[IntArray, IntArray]:
    """Hold out the fraction of each class, rounded, but never its last sample."""
    drawn = []
    for label in np.unique(labels[training]):
        members = rng.permutation(training[labels[training] == label])
        drawn.append(members[: min(round(fraction * len(members)), len(members) - 1)])
    held_out = np.sort(np.concatenate(drawn))
    return np.setdiff1d(training, held_out), held_out


def _positions(chosen: Any, name: str, labelled: BoolArray) -> IntArray:
    """Positions of the samples of a mask or list, checked to have a label."""
    given = np.asarray(chosen)
    if given.dtype == np.bool_ and given.shape == labelled.shape:
        positions = np.flatnonzero(given)
    elif given.ndim == 1 and given.dtype.kind in "iu":
        positions = np.unique(given.astype(np.int64))
    else:
        raise TypeError(f"{name} must be positions of samples or a boolean mask of length {len(labelled)}.")
    if not len(positions):
        raise ValueError(f"{name} holds no sample; give one or more, or leave it out.")
    if positions[0] < 0 or positions[-1] >= len(labelled):
        raise ValueError(f"{name} must hold positions from 0 to {len(labelled) - 1}, of the samples in y.")
    if not labelled[positions].all():
        missing = positions[~labelled[positions]][0]
        raise ValueError(f"{name} holds sample {missing}, which has no label in y.")
    return positions


def _classes(y: AnyArray, training: IntArray, held_out: IntArray | None) -> tuple[AnyArray, IntArray]:
    """The classes of the training samples, and the position of each sample's class there (-1 for none)."""
    try:
        classes = np.asarray(np.unique(y[training]).tolist())
    except TypeError:
        raise TypeError("y must hold labels of one kind, all texts or all numbers.") from None
    if len(classes) < 2:
        raise ValueError(f"the training samples must be of two classes or more, but all are {classes.tolist()[0]!r}.")
    lookup = {label: position for position, label in enumerate(classes.tolist())}
    labels = np.array([lookup.get(label, -1) for label in y.tolist()], dtype=np.int64)
    if held_out is not None and (labels[held_out] < 0).any():
        unknown = y[held_out][labels[held_out] < 0].tolist()[0]
        raise ValueError(f"validation holds the class {unknown!r}, of which there is no training sample.")
    return classes, labels
