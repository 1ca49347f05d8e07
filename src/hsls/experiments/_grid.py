"""Weights over a grid of alpha and beta, by the paper's solver or along one certified path."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from hsls._types import FloatArray
from hsls._warnings import ConvergenceWarning
from hsls.problem import Problem
from hsls.solvers import Solution, fbf, solve_path

Point: TypeAlias = tuple[float, float]


def decades(first: int, last: int, steps: Sequence[float] = (1.0,)) -> list[float]:
    """Numbers on a logarithmic grid: each power of ten from the first to the last exponent times each step."""
    return [float(f"{step:g}e{power}") for power in range(first, last + 1) for step in steps]


def by_fbf(problem: Problem, points: Sequence[Point]) -> Iterator[tuple[Point, FloatArray, Solution]]:
    """Each point with the weights at which the paper's solver stops by its own rule."""
    for alpha, beta in points:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solution = fbf(_with(problem, alpha, beta))
        yield (alpha, beta), solution.weights, solution


def certified(problem: Problem, points: Sequence[Point]) -> Iterator[tuple[Point, FloatArray, Solution]]:
    """Each point with the weights of the optimum: ``sqrt(alpha / beta)`` times those for theta and alpha = beta = 1."""
    products = sorted({_product(point) for point in points})
    path = solve_path(problem, [1.0 / math.sqrt(product) for product in products])
    at = dict(zip(products, path, strict=True))
    for alpha, beta in points:
        solution = at[_product((alpha, beta))]
        yield (alpha, beta), math.sqrt(alpha / beta) * solution.weights, solution


def _with(problem: Problem, alpha: float, beta: float) -> Problem:
    return Problem(
        problem.candidates,
        problem.z,
        alpha,
        beta,
        degree_coefficient=problem.c,
        quadratic_coefficient=problem.q,
    )


def _product(point: Point) -> float:
    """``alpha beta``, equal for pairs that differ by rounding alone."""
    return float(f"{point[0] * point[1]:.12g}")
