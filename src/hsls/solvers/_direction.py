"""Newton directions: exact by Cholesky for few nodes, inexact by conjugate gradients for many."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv

from hsls._types import FloatArray
from hsls.curvature import Curvature

# Up to this many nodes a factorisation costs less than the products of conjugate gradients.
DENSE_LIMIT = 200

# More steps of conjugate gradients than this no longer pay: the direction is one of descent at any number.
_MAX_STEPS = 200


def newton_direction(hessian: Curvature, gradient: FloatArray, accuracy: float) -> FloatArray:
    """Solve ``H p = -gradient``, to `accuracy` in the preconditioned residual where conjugate gradients do it."""
    if len(gradient) <= DENSE_LIMIT:
        _, p, info = dposv(hessian.dense(), -gradient)
        if info == 0:
            direction: FloatArray = p
            return direction
    return conjugate_gradients(hessian, -gradient, accuracy)


def conjugate_gradients(hessian: Curvature, right: FloatArray, accuracy: float) -> FloatArray:
    """Diagonally preconditioned conjugate gradients for ``H p = right`` from p = 0."""
    inverse = 1.0 / hessian.diagonal()
    p = np.zeros_like(right)
    residual = right.copy()
    scaled = inverse * residual
    search = scaled.copy()
    energy = float(residual @ scaled)
    target = accuracy**2 * energy
    for _ in range(_MAX_STEPS):
        if energy <= target or energy == 0.0:
            break
        image = hessian.product(search)
        length = energy / float(search @ image)
        p += length * search
        residual -= length * image
        np.multiply(inverse, residual, out=scaled)
        previous, energy = energy, float(residual @ scaled)
        search *= energy / previous
        search += scaled
    return p
