"""What a layer needs of a hypergraph: the sparse matrix `Dv^-1/2 H W De^-1 H' Dv^-1/2`, or its factors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy import sparse

from hsls import _checks
from hsls._types import FloatArray
from hsls.hypergraph import Hypergraph

__all__ = ["Propagation", "propagation"]

FORMS = ("auto", "product", "factors")

# The product is worth it up to this many times as many entries as an incidence matrix: its two factors have twice as
# many, and the features of the hyperedges stand between them.
_PRODUCT_PAYS = 3


class Propagation:
    """The symmetric matrix `P = Dv^-1/2 H W De^-1 H' Dv^-1/2` of a hypergraph; `P @ X` multiplies by it.

    Made by `propagation`. P is kept as one sparse tensor, or as the two factors `B = Dv^-1/2 H W^1/2 De^-1/2` and
    `B'`, which need less memory and time if hyperedges have many nodes.

    Attributes
    ----------
    factors : tuple of torch.Tensor
        Sparse CSR tensors, ``(P,)`` or ``(B, B')``.
    """

    def __init__(self, factors: tuple[torch.Tensor, ...]) -> None:
        self.factors = factors

    @property
    def n_nodes(self) -> int:
        return int(self.factors[0].shape[0])

    @property
    def dtype(self) -> torch.dtype:
        return self.factors[0].dtype

    @property
    def device(self) -> torch.device:
        return self.factors[0].device

    def to(self, device: Any = None, dtype: torch.dtype | None = None) -> Propagation:
        """The same matrix on another device or with other floating-point numbers."""
        return Propagation(tuple(factor.to(device=device, dtype=dtype) for factor in self.factors))

    def tensor(self) -> torch.Tensor:
        """P itself, multiplied out, as one sparse CSR tensor."""
        if len(self.factors) == 1:
            return self.factors[0]
        B = _to_scipy(self.factors[0])
        return _to_torch(B @ B.T, self.dtype).to(self.device)

    def __matmul__(self, X: torch.Tensor) -> torch.Tensor:
        if X.ndim != 2 or X.shape[0] != self.n_nodes:
            raise ValueError(
                f"X must hold one row for each of the {self.n_nodes} nodes of the hypergraph, got {tuple(X.shape)}."
            )
        if (X.dtype, X.device) != (self.dtype, self.device):
            raise TypeError(
                f"X is {X.dtype} on {X.device}, but the propagation is {self.dtype} on {self.device}; "
                "bring one to the other with .to()."
            )
        product: torch.Tensor = _Multiply.apply(X, self)
        return product

    def __reduce__(self) -> tuple[Any, ...]:
        # PyTorch does not copy CSR tensors deeply, and warns when it unpickles them.
        return _from_scipy, (tuple(map(_to_scipy, self.factors)), self.dtype, self.device)

    def __repr__(self) -> str:
        form = "product" if len(self.factors) == 1 else "factors"
        entries = sum(len(factor.values()) for factor in self.factors)
        return f"Propagation({self.n_nodes} nodes, {form} of {entries} entries, {self.dtype}, {self.device})"


class _Multiply(torch.autograd.Function):  # type: ignore[misc]
    """`P @ X`. P is symmetric, so the gradient is multiplied by P, too: no sparse matrix is ever transposed."""

    @staticmethod
    def forward(context: Any, X: torch.Tensor, structure: Propagation) -> torch.Tensor:
        context.structure = structure
        for factor in reversed(structure.factors):
            X = factor @ X
        return X

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _Multiply.apply(gradient, context.structure), None


def propagation(
    structure: Any, weights: Any = None, *, form: str = "auto", dtype: torch.dtype | None = None, device: Any = None
) -> Propagation:
    r"""The matrix that a hypergraph network multiplies node features by.

    .. math:: P = D_v^{-1/2} H W D_e^{-1} H' D_v^{-1/2}

    with the N x E incidence matrix H, the weights W of the hyperedges, :math:`D_v = \mathrm{diag}(H W 1)`
    and :math:`D_e = \mathrm{diag}(H' 1)`. Rows and columns of nodes without any weight are zero.

    Parameters
    ----------
    structure : Hypergraph, matrix, or sequence of them
        A hypergraph, or its incidence matrix (scipy sparse or numpy, entries 0 or more, not only 0 and 1). Several
        on the same nodes are put side by side, as one hypergraph with the hyperedges of all.
    weights : array, or sequence of arrays, optional
        Weight of each hyperedge, 0 or more; for several structures one array (or None) for each. By default the
        weights of a `Hypergraph`, and 1 for the hyperedges of a matrix.
    form : {"auto", "product", "factors"}
        Keep P multiplied out, or as two factors; "auto" takes what needs less work.
    dtype : torch.dtype, optional
        Type of the entries, which are computed in double precision; torch's default type by default.
    device : optional
        Device to put it on, as torch names it; the CPU by default.

    Returns
    -------
    Propagation

    References
    ----------
    Y. Feng, H. You, Z. Zhang, R. Ji, Y. Gao, "Hypergraph neural networks", AAAI 2019.

    Examples
    --------
    >>> from hsls import Hypergraph
    >>> from hsls.nn import propagation
    >>> P = propagation(Hypergraph.from_edges([(0, 1), (0, 1, 2)], weights=[1.0, 3.0], nodes=4))
    >>> P.tensor().to_dense()
    tensor([[0.3750, 0.3750, 0.2887, 0.0000],
            [0.3750, 0.3750, 0.2887, 0.0000],
            [0.2887, 0.2887, 0.3333, 0.0000],
            [0.0000, 0.0000, 0.0000, 0.0000]])
    """
    _checks.one_of(form, "form", FORMS)
    B = _normalised(*_side_by_side(structure, weights))
    if form == "auto":
        form = "product" if _product_entries(B) <= _PRODUCT_PAYS * B.nnz else "factors"
    kind = torch.get_default_dtype() if dtype is None else dtype
    factors = (B @ B.T,) if form == "product" else (B, B.T)
    return _from_scipy(factors, kind, device)


def _normalised(H: sparse.csr_array, weights: FloatArray) -> sparse.csr_array:
    """`B = Dv^-1/2 H W^1/2 De^-1/2`, with 0 for the inverse of 0."""
    cardinality = np.asarray(H.sum(axis=0))
    left = sparse.diags_array(_inverse(np.sqrt(H @ weights)))
    return sparse.csr_array(left @ H @ sparse.diags_array(np.sqrt(weights * _inverse(cardinality))))


def _inverse(values: FloatArray) -> FloatArray:
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)


def _product_entries(B: sparse.csr_array) -> float:
    """Entries of `B B'`, at most."""
    each = np.bincount(B.indices, minlength=B.shape[1]).astype(float)
    return min(float(B.shape[0]) ** 2, float(each @ each))


# -- reading ---------------------------------------------------------------------------------------------------------


def _side_by_side(structure: Any, weights: Any) -> tuple[sparse.csr_array, FloatArray]:
    """One incidence matrix and its weights."""
    if not isinstance(structure, list | tuple):
        return _read(structure, weights, "structure")
    if not structure:
        raise ValueError("structure holds no hypergraph; give one or more.")
    each = [None] * len(structure) if weights is None else weights
    if not isinstance(each, list | tuple) or len(each) != len(structure):
        raise ValueError(f"weights must hold one array (or None) for each of the {len(structure)} structures.")
    _check_same_nodes(structure)
    parts = [_read(one, own, f"structure {i}") for i, (one, own) in enumerate(zip(structure, each, strict=True))]
    sizes = [H.shape[0] for H, _ in parts]
    if len(set(sizes)) > 1:
        raise ValueError(f"structures side by side must have the same nodes, got {sizes} nodes.")
    return sparse.csr_array(sparse.hstack([H for H, _ in parts])), np.concatenate([w for _, w in parts])


def _check_same_nodes(structures: Sequence[Any]) -> None:
    names = [one.nodes for one in structures if isinstance(one, Hypergraph)]
    if any(len(other) == len(names[0]) and other != names[0] for other in names[1:]):
        raise ValueError("structures side by side must have the same nodes in the same order; their names differ.")


def _read(structure: Any, weights: Any, name: str) -> tuple[sparse.csr_array, FloatArray]:
    """The incidence matrix and the weights of one structure, checked."""
    if isinstance(structure, Hypergraph):
        H = structure.incidence()
        given = structure.weights if weights is None else weights
    elif sparse.issparse(structure) or (isinstance(structure, np.ndarray) and structure.ndim == 2):
        H = sparse.csr_array(structure, dtype=np.float64)
        given = np.ones(H.shape[1]) if weights is None else weights
        if not np.all(np.isfinite(H.data) & (H.data >= 0)):
            raise ValueError(f"{name} must be an incidence matrix of finite entries, 0 or more.")
    else:
        raise TypeError(
            f"{name} must be a Hypergraph, an incidence matrix (scipy sparse or numpy), or a list of them, "
            f"got {type(structure).__name__}."
        )
    values = np.asarray(given, dtype=np.float64)
    if values.shape != (H.shape[1],):
        raise ValueError(f"weights of {name} must be {H.shape[1]} numbers, one a hyperedge, got {values.shape}.")
    if not np.all(np.isfinite(values) & (values >= 0)):
        raise ValueError(f"weights of {name} must be finite and 0 or more.")
    return H, values


# -- tensors ---------------------------------------------------------------------------------------------------------


def _to_torch(matrix: Any, dtype: torch.dtype) -> torch.Tensor:
    csr = sparse.csr_array(matrix)
    csr.sum_duplicates()
    with warnings.catch_warnings():
        # Of PyTorch's CSR tensors only the product with a dense matrix is used, which is there on every device.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta", category=UserWarning)
        return torch.sparse_csr_tensor(
            torch.from_numpy(csr.indptr.astype(np.int64)),
            torch.from_numpy(csr.indices.astype(np.int64)),
            torch.from_numpy(csr.data).to(dtype),
            size=csr.shape,
            check_invariants=False,
        )


def _from_scipy(factors: tuple[sparse.csr_array, ...], dtype: torch.dtype, device: Any) -> Propagation:
    return Propagation(tuple(_to_torch(factor, dtype).to(device) for factor in factors))


def _to_scipy(tensor: torch.Tensor) -> sparse.csr_array:
    parts = (tensor.values().double(), tensor.col_indices(), tensor.crow_indices())
    return sparse.csr_array(tuple(part.cpu().numpy() for part in parts), shape=tuple(tensor.shape))
