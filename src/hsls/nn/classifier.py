"""Classification of the nodes of a hypergraph, or of samples that belong to them, scikit-learn style."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from hsls import _checks
from hsls._types import AnyArray, FloatArray
from hsls.estimators._base import shown
from hsls.nn._device import choose_device
from hsls.nn._samples import is_labelled, read_labels, read_membership, read_samples
from hsls.nn._training import Schedule, Targets, evaluate, train_network
from hsls.nn.layers import HypergraphNetwork
from hsls.nn.structure import Propagation, propagation

__all__ = ["HypergraphClassifier"]


class HypergraphClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify nodes from their features, the hypergraph that joins them, and the labels of a few.

    A `HypergraphNetwork` is trained on all nodes at once: Adam on the cross entropy of the training samples, a lower
    learning rate whenever the loss of the validation samples stays on a plateau, and in the end the state in which
    that loss was least. Labels may belong to samples of which several are at one node, such as the pixels of a
    superpixel; each sample has the prediction of its node.

    Parameters
    ----------
    hidden : int
        Features of the nodes between two layers.
    n_layers : int
    epochs : int
    learning_rate : float
        Of Adam, at the start.
    factor, patience : float, int
        The learning rate is multiplied by `factor` when the validation loss has not fallen for more than `patience`
        epochs.
    validation_fraction : float
        Share of the training samples of each class that is held out for validation unless `fit` is told which; where
        nothing is (0, or one sample in each class) the training samples validate, too.
    unlabelled : int, str or None
        What y holds for samples without label.
    device : {"auto", "cpu", "cuda"}
        Where to train; "auto": on a GPU if there is one.
    random_state : None, int, numpy.random.Generator or RandomState
        Draws the initial weights and the validation samples; torch's own random state is neither used nor changed.
    verbose : bool
        Show a progress bar on a terminal.

    Attributes
    ----------
    classes_ : array
        Classes of the training samples, sorted.
    module_ : HypergraphNetwork
        In the state of the least validation loss, on the CPU.
    propagation_ : Propagation
        Of the hypergraph of `fit`.
    history_ : dict of arrays
        "epoch", "train_loss" (before the epoch's step), "validation_loss" and "validation_accuracy" (after it) and
        "learning_rate".
    n_iter_ : int
        Number of epochs.
    best_epoch_ : int
        The epoch, counted from 1, that `module_` is of.
    train_, validation_ : arrays of int
        Positions in y of the samples that trained and that validated.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from hsls import Hypergraph
    >>> from hsls.nn import HypergraphClassifier
    >>> H = Hypergraph.from_edges([(0, 1, 2), (1, 2, 3), (4, 5, 6), (5, 6, 7)])
    >>> X = np.random.default_rng(0).standard_normal((8, 4))
    >>> y = ["left", -1, -1, "left", "right", -1, -1, "right"]  # -1: no label
    >>> model = HypergraphClassifier(epochs=50, validation_fraction=0, random_state=0).fit(X, y, hypergraph=H)
    >>> print(*model.predict(X))
    left left left left right right right right
    """

    def __init__(
        self,
        hidden: int = 128,
        n_layers: int = 2,
        *,
        epochs: int = 300,
        learning_rate: float = 0.01,
        factor: float = 0.7,
        patience: int = 5,
        validation_fraction: float = 0.2,
        unlabelled: Any = -1,
        device: str = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.n_layers = n_layers
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.factor = factor
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.unlabelled = unlabelled
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, *, hypergraph: Any, membership: Any = None, train: Any = None, validation: Any = None
    ) -> HypergraphClassifier:
        """Train the network.

        Parameters
        ----------
        X : array or data frame, shape (n_nodes, n_features)
            Features of the nodes.
        y : array, shape (n_samples,)
            Class of each sample, `unlabelled` for those without.
        hypergraph : Hypergraph, incidence matrix, list of them, or Propagation
            What joins the nodes; see `propagation`, which also takes weights of hyperedges.
        membership : array of int, shape (n_samples,), optional
            Node of each sample; by default the samples are the nodes.
        train : array, optional
            Samples to train on, as positions or a boolean mask; by default all that have a label and are not for
            validation. Labels of samples in neither are not looked at.
        validation : array, optional
            Samples that choose learning rate and state, likewise; by default `validation_fraction` of `train`.
        """
        schedule, fraction, device = self._schedule(), _fraction(self.validation_fraction), choose_device(self.device)
        features = validate_data(self, X, dtype=np.float32, ensure_min_samples=2)
        structure = _structure(hypergraph, len(features))
        rng = _checks.random_generator(self.random_state)
        generator = torch.Generator().manual_seed(int(rng.integers(2**63)))
        samples = read_samples(y, len(features), membership, train, validation, self.unlabelled, fraction, rng)
        shape = (len(features), len(samples.classes))
        training = Targets(samples.nodes[samples.training], samples.labels[samples.training], shape, device)
        chosen = samples.validation
        validation = Targets(samples.nodes[chosen], samples.labels[chosen], shape, device) if len(chosen) else training
        network = HypergraphNetwork(features.shape[1], shape[1], self.hidden, self.n_layers, generator=generator)
        network.to(device, torch.float32)
        signals = torch.tensor(features, device=device)
        with shown(self.verbose):
            history = train_network(network, signals, structure.to(device), training, validation, schedule)
        self.classes_ = samples.classes
        self.train_, self.validation_ = samples.training, samples.validation
        self.module_ = network.cpu()
        self.propagation_ = structure
        self.history_ = history
        self.n_iter_ = schedule.epochs
        self.best_epoch_ = int(history["epoch"][np.argmin(history["validation_loss"])])
        return self

    def predict(self, X: Any, *, membership: Any = None, hypergraph: Any = None) -> AnyArray:
        """Class of each node, or of each sample where `membership` gives its node.

        Parameters
        ----------
        X : array or data frame, shape (n_nodes, n_features)
        membership : array of int, shape (n_samples,), optional
        hypergraph : optional
            What joins the rows of X, if that is not the hypergraph of `fit`.
        """
        nodes, logits = self._logits(X, membership, hypergraph)
        return np.asarray(self.classes_[logits.argmax(dim=1).numpy()][nodes])

    def predict_proba(self, X: Any, *, membership: Any = None, hypergraph: Any = None) -> FloatArray:
        """Probability of each class (in the order of `classes_`), by node or by sample; see `predict`."""
        nodes, logits = self._logits(X, membership, hypergraph)
        return np.asarray(torch.softmax(logits.double(), dim=1).numpy()[nodes])

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, membership: Any = None, hypergraph: Any = None
    ) -> float:
        """Share of the labelled samples of y whose class is predicted; see `predict`."""
        predicted = self.predict(X, membership=membership, hypergraph=hypergraph)
        labels = read_labels(y)
        if len(labels) != len(predicted):
            raise ValueError(f"y must hold a label for each of the {len(predicted)} samples, got {len(labels)}.")
        known = is_labelled(labels, self.unlabelled)
        if not known.any():
            raise ValueError("y holds no label to score the predictions by.")
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(labels[known].tolist(), predicted[known].tolist(), sample_weight=weight))

    def _schedule(self) -> Schedule:
        factor = _checks.positive(self.factor, "factor")
        if factor >= 1:
            raise ValueError(f"factor must be below 1, got {self.factor!r}.")
        return Schedule(
            _checks.whole(self.epochs, "epochs"),
            _checks.positive(self.learning_rate, "learning_rate"),
            factor,
            _checks.whole(self.patience, "patience", least=0),
        )

    def _logits(self, X: Any, membership: Any, hypergraph: Any) -> tuple[AnyArray, torch.Tensor]:
        """The node of each sample to predict, and the logits of the nodes."""
        check_is_fitted(self, "module_")
        features = validate_data(self, X, dtype=np.float32, reset=False)
        structure = _structure(self.propagation_ if hypergraph is None else hypergraph, len(features))
        nodes = read_membership(membership, len(features))
        return nodes, evaluate(self.module_, torch.tensor(features), structure)


def _fraction(value: Any) -> float:
    fraction = _checks.nonnegative(value, "validation_fraction")
    if fraction >= 1:
        raise ValueError(f"validation_fraction must be below 1, got {value!r}.")
    return fraction


def _structure(hypergraph: Any, n_nodes: int) -> Propagation:
    """The propagation of the hypergraph on the CPU, checked against the number of nodes."""
    given = hypergraph if isinstance(hypergraph, Propagation) else propagation(hypergraph)
    if given.n_nodes != n_nodes:
        raise ValueError(f"X holds {n_nodes} nodes (rows), but the hypergraph has {given.n_nodes}.")
    return given.to("cpu", torch.float32)
