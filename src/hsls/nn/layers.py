"""Hypergraph convolution, and the network of such layers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import nn

from hsls import _checks
from hsls.nn.structure import Propagation, propagation

__all__ = ["HypergraphConv", "HypergraphNetwork"]


class HypergraphConv(nn.Module):  # type: ignore[misc]
    r"""Hypergraph convolution with weighted hyperedges.

    .. math:: Y = D_v^{-1/2} H W D_e^{-1} H' D_v^{-1/2} X \Theta + 1 b'

    The weights of the hyperedges stand both between the incidence matrices and in the degrees
    :math:`D_v = \mathrm{diag}(H W 1)`. A node in no hyperedge gets b alone.

    Parameters
    ----------
    in_features, out_features : int
    bias : bool
        Add b.
    generator : torch.Generator, optional
        Where the initial weights (Glorot's uniform) are drawn from; torch's own by default.

    References
    ----------
    Y. Feng, H. You, Z. Zhang, R. Ji, Y. Gao, "Hypergraph neural networks", AAAI 2019.

    Examples
    --------
    >>> import torch
    >>> from hsls import Hypergraph
    >>> from hsls.nn import HypergraphConv, propagation
    >>> P = propagation(Hypergraph.from_edges([(0, 1), (1, 2, 3)], weights=[0.5, 2.0]))
    >>> HypergraphConv(5, 2)(torch.ones(4, 5), P).shape
    torch.Size([4, 2])
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, *, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.in_features = _checks.whole(in_features, "in_features")
        self.out_features = _checks.whole(out_features, "out_features")
        self.weight = nn.Parameter(torch.empty(self.out_features, self.in_features))
        self.bias = nn.Parameter(torch.empty(self.out_features)) if bias else None
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew and set the bias to 0."""
        nn.init.xavier_uniform_(self.weight, generator=generator)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, X: torch.Tensor, structure: Any) -> torch.Tensor:
        """New features of the nodes.

        Parameters
        ----------
        X : Tensor, shape (n_nodes, in_features)
        structure : Propagation, Hypergraph, incidence matrix, or list of them
            What is no `Propagation` is made one for this call; make it once, by `propagation`, to use it often.
        """
        P = _as_propagation(structure, X)
        if self.in_features < self.out_features:
            return nn.functional.linear(P @ X, self.weight, self.bias)
        Y = P @ nn.functional.linear(X, self.weight)
        return Y if self.bias is None else Y + self.bias

    def extra_repr(self) -> str:
        """What `repr` says of the layer."""
        return f"{self.in_features}, {self.out_features}, bias={self.bias is not None}"


class HypergraphNetwork(nn.Module):  # type: ignore[misc]
    """Hypergraph convolutions, batch normalisation before each and a ReLU between two; gives the logits of the nodes.

    Parameters
    ----------
    in_features : int
    out_features : int
        Number of classes.
    hidden : int
        Features of the nodes between two layers.
    n_layers : int
    generator : torch.Generator, optional
        Where the initial weights are drawn from; torch's own by default.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        hidden: int = 128,
        n_layers: int = 2,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        between = [_checks.whole(hidden, "hidden")] * (_checks.whole(n_layers, "n_layers") - 1)
        sizes = [_checks.whole(in_features, "in_features"), *between, _checks.whole(out_features, "out_features")]
        self.norms = nn.ModuleList(nn.BatchNorm1d(size) for size in sizes[:-1])
        self.layers = nn.ModuleList(
            HypergraphConv(size, following, generator=generator) for size, following in pairwise(sizes)
        )

    def forward(self, X: torch.Tensor, structure: Any) -> torch.Tensor:
        """Logits of the nodes, from their features and a structure as `HypergraphConv` takes it."""
        P = _as_propagation(structure, X)
        for number, (norm, layer) in enumerate(zip(self.norms, self.layers, strict=True)):
            X = layer(norm(torch.relu(X) if number else X), P)
        return X


def _as_propagation(structure: Any, X: torch.Tensor) -> Propagation:
    if isinstance(structure, Propagation):
        return structure
    return propagation(structure, dtype=X.dtype, device=X.device)
