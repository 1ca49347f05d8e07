"""The models that are compared: hypergraphs on superpixels, and the network that classifies on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from hsls._types import AnyArray, FloatArray, IntArray
from hsls.experiments.hyperspectral._segments import N_SEGMENTS
from hsls.learning import Settings, learn

__all__ = [
    "AS_LOW",
    "BASELINE",
    "BASELINE_MULTI_SCALE",
    "CHOSEN",
    "HSLS",
    "MODELS",
    "MULTI_SCALE",
    "NEIGHBORS",
    "PLAIN",
    "RAW",
    "SCALES",
    "THETAS",
    "TRIED",
    "Choice",
    "Fitted",
    "Learned",
    "Model",
    "Nearest",
    "Task",
    "fit",
    "pixel_probabilities",
]

VARIATIONS = ("sum-square", "sum-absolute", "max-absolute", "max-square")
CARDINALITIES = {"uniform": (3,), "mixed": (2, 3, 4)}

#: What is chosen among, for all three blocks alike, by the loss of the validation pixels.
NEIGHBORS, THETAS = (4, 8), (0.3, 1.0, 3.0)
#: How many superpixels of the multi-scale models SLIC is asked for.
SCALES = (N_SEGMENTS, 400, 800, 1500)


@dataclass(frozen=True)
class Nearest:
    """A hyperedge around each node: its nearest neighbours, less of a member the further away it is.

    Attributes
    ----------
    neighbors : int
    power : int
        2: entries ``exp(-d^2 / mean d^2)``, the mean being over all pairs; 1: ``exp(-d / mean d)``.
    """

    neighbors: int = 9
    power: int = 2

    def structure(self, block: FloatArray) -> sparse.csr_array:
        """The incidence matrix."""
        n = len(block)
        distances = cdist(block, block) ** self.power
        others = distances + np.diag(np.full(n, np.inf))
        nodes = np.argsort(others, axis=1, kind="stable")[:, : self.neighbors]
        edges = np.repeat(np.arange(n), nodes.shape[1])
        unit = distances.mean() or 1.0  # all nodes may be equal
        entries = np.exp(-distances[edges, nodes.ravel()] / unit)
        near = sparse.csr_array((entries, (nodes.ravel(), edges)), shape=(n, n))
        return sparse.csr_array(near + sparse.eye_array(n))


@dataclass(frozen=True)
class Learned:
    """A hypergraph learned from the features, with its learned weights.

    Attributes
    ----------
    cardinalities : tuple of int
    variation : str
    neighbors : int
    theta : float
        ``1 / sqrt(alpha beta)``, for variations in units of their typical value.
    """

    cardinalities: tuple[int, ...]
    variation: str
    neighbors: int = 8
    theta: float = 1.0

    def structure(self, block: FloatArray) -> Any:
        """The hypergraph."""
        strength = 1 / self.theta
        settings = Settings(self.cardinalities, self.neighbors, None, self.variation, strength, strength)
        return learn(block, settings).hypergraph


Choice: TypeAlias = Nearest | Learned


@dataclass(frozen=True)
class Model:
    """A model of the comparison.

    Attributes
    ----------
    name : str
    choices : tuple
        Settings, of which each trial takes the one with the least validation loss.
    scales : tuple of int
        Numbers of superpixels; with several, each has a network, and the probabilities of a pixel are averaged.
    together : bool
        One hypergraph from all features at once instead of one for each block.
    standard_input, standard_blocks : bool
        Whether the features are standardised that the network has, and those that hypergraphs are made from.
    """

    name: str
    choices: tuple[Choice, ...]
    scales: tuple[int, ...] = (N_SEGMENTS,)
    together: bool = False
    standard_input: bool = True
    standard_blocks: bool = True


def _grid(cardinalities: tuple[int, ...], variation: str) -> tuple[Choice, ...]:
    return tuple(Learned(cardinalities, variation, r, theta) for r in NEIGHBORS for theta in THETAS)


BASELINE = "baseline"
HSLS = tuple(f"HSLS {kind} {variation}" for kind in CARDINALITIES for variation in VARIATIONS)
MULTI_SCALE, BASELINE_MULTI_SCALE = "HSLS multi-scale", "baseline multi-scale"

CHOSEN = "baseline, 3, 5 or 9 neighbours by validation loss"
AS_LOW = "baseline, nothing standardised, one hypergraph of all features"
RAW = "HSLS, nothing standardised"

#: Those of the paper, and one that goes past it beside its own baseline.
MODELS = (
    Model(BASELINE, (Nearest(),)),
    *(
        Model(f"HSLS {kind} {variation}", _grid(sizes, variation))
        for kind, sizes in CARDINALITIES.items()
        for variation in VARIATIONS
    ),
    Model(BASELINE_MULTI_SCALE, (Nearest(),), SCALES),
    Model(MULTI_SCALE, _grid(CARDINALITIES["mixed"], "max-square"), SCALES),
)

#: The settings of HSLS where nothing is chosen.
PLAIN = Learned(CARDINALITIES["mixed"], "max-square")

#: What else was tried.
TRIED = (
    Model(CHOSEN, tuple(map(Nearest, (3, 5, 9)))),
    Model("baseline, distances not squared", (Nearest(power=1),)),
    Model("baseline, one hypergraph of all features", (Nearest(),), together=True),
    Model("baseline, input not standardised", (Nearest(),), standard_input=False),
    Model("baseline, nothing standardised", (Nearest(),), standard_input=False, standard_blocks=False),
    Model(AS_LOW, (Nearest(),), together=True, standard_input=False, standard_blocks=False),
    Model("HSLS, 8 neighbours and theta 1", (PLAIN,)),
    Model("HSLS, one hypergraph of all features", (PLAIN,), together=True),
    Model("HSLS, input not standardised", (PLAIN,), standard_input=False),
    Model(RAW, (PLAIN,), standard_input=False, standard_blocks=False),
    *(Model(f"HSLS, {scale} superpixels asked for", (PLAIN,), (scale,)) for scale in SCALES[1:]),
)


# -- one network -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """What networks of one model are trained on in one trial, at one scale. No test pixel is in it.

    Attributes
    ----------
    choices : tuple
    X : array
        The input of the network: a row a superpixel.
    blocks : tuple of arrays
        Features that a hypergraph is made from each.
    train, validation : pairs of int arrays
        The superpixel and the class of each pixel.
    epochs, seed : int
    """

    choices: tuple[Choice, ...]
    X: FloatArray = field(repr=False)
    blocks: tuple[FloatArray, ...] = field(repr=False)
    train: tuple[IntArray, IntArray] = field(repr=False)
    validation: tuple[IntArray, IntArray] = field(repr=False)
    epochs: int
    seed: int


@dataclass(frozen=True)
class Fitted:
    """The network of a task.

    Attributes
    ----------
    choice : Nearest or Learned
        The settings taken.
    epoch : int
    validation_loss : float
    n_edges : int
        Number of hyperedges.
    probabilities : array of shape (superpixels, classes)
    history : dict of arrays
        As `HypergraphClassifier` has it.
    tried : list of (choice, validation loss)
    """

    choice: Choice
    epoch: int
    validation_loss: float
    n_edges: int
    probabilities: FloatArray = field(repr=False)
    history: dict[str, AnyArray] = field(repr=False)
    tried: list[tuple[Choice, float]] = field(repr=False)


def fit(task: Task) -> Fitted:
    """Train a network for each of the settings; the one with the least validation loss is returned."""
    with _one_thread():
        fits = [_fit(task, choice) for choice in task.choices]
    best = min(fits, key=lambda one: one.validation_loss)
    best.tried.extend((one.choice, one.validation_loss) for one in fits)
    return best


def _fit(task: Task, choice: Choice) -> Fitted:
    from hsls.nn import HypergraphClassifier

    structures = [choice.structure(block) for block in task.blocks]
    nodes, classes = (np.concatenate(pair) for pair in zip(task.train, task.validation, strict=True))
    train, validation = np.split(np.arange(len(nodes)), [len(task.train[0])])
    model = HypergraphClassifier(epochs=task.epochs, device="cpu", random_state=task.seed)
    model.fit(task.X, classes, hypergraph=structures, membership=nodes, train=train, validation=validation)
    return Fitted(
        choice=choice,
        epoch=model.best_epoch_,
        validation_loss=float(model.history_["validation_loss"].min()),
        n_edges=sum(_n_edges(one) for one in structures),
        probabilities=model.predict_proba(task.X),
        history=model.history_,
        tried=[],
    )


def _n_edges(structure: Any) -> int:
    return int(structure.shape[1]) if sparse.issparse(structure) else int(structure.n_edges)


def pixel_probabilities(fits: Sequence[tuple[IntArray, Fitted]]) -> FloatArray:
    """The mean over segmentations of the probabilities that each pixel's superpixel has."""
    return np.asarray(np.mean([one.probabilities[labels.ravel()] for labels, one in fits], axis=0))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep PyTorch to one thread: its matrices are small here, and tasks run side by side."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
