"""Full-batch training of a node network, and the state that it is best in."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from hsls import _progress
from hsls._types import AnyArray, IntArray
from hsls.nn.structure import Propagation

# Entries of the features from which on a second thread pays. Below, an epoch is a hundred operations too short to
# share, and on a busy machine each would wait for the slowest thread.
_ENTRIES_WORTH_THREADS = 300_000


@dataclass(frozen=True)
class Schedule:
    """How long to train and at which learning rate; it is multiplied by `factor` on a plateau."""

    epochs: int
    learning_rate: float
    factor: float
    patience: int


class Targets:
    """Samples as the number of each class at each node: their loss then costs the same however many they are.

    Parameters
    ----------
    nodes, classes : arrays of int, shape (n_samples,)
    shape : (n_nodes, n_classes)
    """

    def __init__(self, nodes: IntArray, classes: IntArray, shape: tuple[int, int], device: torch.device) -> None:
        counts = np.bincount(nodes * shape[1] + classes, minlength=shape[0] * shape[1]).reshape(shape)
        self.shares = torch.from_numpy(counts / len(nodes)).to(device, torch.float32)

    def loss(self, logits: torch.Tensor) -> torch.Tensor:
        """Mean cross entropy of the samples."""
        return -(self.shares * torch.log_softmax(logits, dim=1)).sum()

    def accuracy(self, logits: torch.Tensor) -> torch.Tensor:
        """Share of the samples whose class has the largest logit."""
        return self.shares.gather(1, logits.argmax(dim=1, keepdim=True)).sum()


def train_network(
    network: nn.Module,
    X: torch.Tensor,
    structure: Propagation,
    training: Targets,
    validation: Targets,
    schedule: Schedule,
) -> dict[str, AnyArray]:
    """Train the network and leave it in the state of the least validation loss; returns what each epoch came to."""
    optimizer = torch.optim.Adam(network.parameters(), lr=schedule.learning_rate)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=schedule.factor, patience=schedule.patience)
    least, best = math.inf, network.state_dict()
    rows: list[tuple[Any, ...]] = []
    with _threads_worth(X), _progress.stage("training", schedule.epochs) as reporter:
        for epoch in range(1, schedule.epochs + 1):
            rate = optimizer.param_groups[0]["lr"]
            loss = _step(network, X, structure, training, optimizer)
            logits = evaluate(network, X, structure)
            held_out, right = float(validation.loss(logits)), float(validation.accuracy(logits))
            if not (math.isfinite(loss) and math.isfinite(held_out)):
                raise ValueError(f"the loss is {loss} in epoch {epoch}; standardise X, or lower learning_rate.")
            if held_out < least:
                least, best = held_out, copy.deepcopy(network.state_dict())
            plateau.step(held_out)
            rows.append((epoch, loss, held_out, right, rate))
            if reporter is not None:
                reporter.advance(epoch, f"validation loss {held_out:.3f}")
    network.load_state_dict(best)
    names = ("epoch", "train_loss", "validation_loss", "validation_accuracy", "learning_rate")
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


@contextmanager
def _threads_worth(X: torch.Tensor) -> Iterator[None]:
    """One thread within the block if there is little to compute; afterwards as many as before."""
    before = torch.get_num_threads()
    if X.numel() < _ENTRIES_WORTH_THREADS:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _step(
    network: nn.Module, X: torch.Tensor, structure: Propagation, training: Targets, optimizer: torch.optim.Optimizer
) -> float:
    """One step of gradient descent on all training samples; returns their loss before it."""
    network.train()
    optimizer.zero_grad()
    loss = training.loss(network(X, structure))
    loss.backward()
    optimizer.step()
    return float(loss.detach())


def evaluate(network: nn.Module, X: torch.Tensor, structure: Propagation) -> torch.Tensor:
    """Logits of the nodes, with the statistics that the batch normalisation has gathered."""
    network.eval()
    with torch.no_grad():
        logits: torch.Tensor = network(X, structure)
    return logits
