"""Neural networks on hypergraphs, learned or given, in PyTorch: propagation, convolution, a network, a classifier."""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        'hsls.nn needs PyTorch; install it with: pip install "hsls[torch]"', name="torch"
    ) from None

from hsls.nn.classifier import HypergraphClassifier
from hsls.nn.layers import HypergraphConv, HypergraphNetwork
from hsls.nn.structure import Propagation, propagation

__all__ = ["HypergraphClassifier", "HypergraphConv", "HypergraphNetwork", "Propagation", "propagation"]
