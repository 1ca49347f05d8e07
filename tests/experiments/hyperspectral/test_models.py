"""The hypergraphs against their formula, and the choice of settings on validation pixels."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from extras import needed
from hsls import HSLS
from hsls.experiments.hyperspectral import _models
from hsls.experiments.hyperspectral._models import Learned, Nearest, Task, fit, pixel_probabilities

needed("torch")
import torch  # noqa: E402

RNG = np.random.default_rng(0)
CENTRES = np.repeat(np.eye(2), 15, axis=0)
BLOCKS = tuple(3 * CENTRES @ RNG.standard_normal((2, size)) + RNG.standard_normal((30, size)) for size in (6, 2, 4))
TRUE = 1 + CENTRES.argmax(axis=1)
GRID = (Learned((2, 3), "max-square", 4, 0.3), Learned((2, 3), "max-square", 6, 3.0))


@pytest.fixture
def task():
    order = np.arange(30)
    train, validation = order[::3], order[1::3]
    return Task(
        choices=GRID,
        X=np.concatenate(BLOCKS, axis=1),
        blocks=BLOCKS,
        train=(train, TRUE[train]),
        validation=(validation, TRUE[validation]),
        epochs=12,
        seed=3,
    )


@pytest.mark.parametrize("power", [1, 2])
def test_nearest_neighbours_by_the_formula(power):
    X, r = BLOCKS[0], 4
    H = Nearest(r, power).structure(X).toarray()
    distances = np.array([[np.linalg.norm(a - b) ** power for b in X] for a in X])
    for edge in range(len(X)):
        near = sorted((node for node in range(len(X)) if node != edge), key=lambda node: distances[edge, node])[:r]
        expected = np.zeros(len(X))
        expected[near] = np.exp(-distances[edge, near] / distances.mean())
        expected[edge] = 1
        np.testing.assert_allclose(H[:, edge], expected)


def test_a_hyperedge_never_counts_its_own_node_among_equals():
    H = Nearest(2).structure(np.zeros((4, 3)) + np.array([[0], [0], [0], [1]])).toarray()
    assert (np.count_nonzero(H, axis=0) == 3).all()
    np.testing.assert_array_equal(np.diag(H), 1)
    assert set(Nearest(2).structure(np.ones((4, 3))).data) == {1.0}


def test_learned_hypergraphs_are_the_estimators():
    theta = 2.0
    model = HSLS((2, 3), 5, "sum-absolute", alpha=1 / theta, beta=1 / theta).fit(BLOCKS[0])
    assert Learned((2, 3), "sum-absolute", 5, theta).structure(BLOCKS[0]) == model.hypergraph_


def test_the_settings_of_least_validation_loss_are_taken(task):
    found = fit(task)
    losses = [fit(dataclasses.replace(task, choices=(choice,))).validation_loss for choice in GRID]
    assert [choice for choice, _ in found.tried] == list(GRID)
    assert [loss for _, loss in found.tried] == losses
    assert found.choice == GRID[int(np.argmin(losses))]
    assert found.validation_loss == min(losses) == found.history["validation_loss"][found.epoch - 1]
    assert found.n_edges == sum(found.choice.structure(block).n_edges for block in BLOCKS)


def test_probabilities_are_those_of_the_nodes_and_tell_the_classes(task):
    found = fit(task)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    assert (found.probabilities.argmax(axis=1) + 1 == TRUE).mean() > 0.9


def test_the_threads_of_torch_are_given_back(task):
    before = torch.get_num_threads()
    fit(dataclasses.replace(task, choices=(Nearest(3),)))
    assert torch.get_num_threads() == before


def test_pixels_have_the_mean_of_their_superpixels():
    class Found:
        def __init__(self, probabilities):
            self.probabilities = np.array(probabilities)

    coarse, fine = Found([[1.0, 0.0], [0.5, 0.5]]), Found([[0.0, 1.0], [1.0, 0.0], [0.25, 0.75]])
    labels = np.array([[0, 1]]), np.array([[0, 2]])
    both = pixel_probabilities([(labels[0], coarse), (labels[1], fine)])
    np.testing.assert_allclose(both, [[0.5, 0.5], [0.375, 0.625]])


def test_the_models_are_those_of_the_paper_and_one_more():
    names = [model.name for model in _models.MODELS]
    assert len(names) == len(set(names) | {model.name for model in _models.TRIED}) - len(_models.TRIED) == 11
    assert [names[0], *names[1:9], names[-1]] == [_models.BASELINE, *_models.HSLS, _models.MULTI_SCALE]
    assert _models.MODELS[0].choices == (Nearest(9, 2),)
    sizes = {choice.cardinalities for model in _models.MODELS[1:9] for choice in model.choices}
    assert sizes == {(3,), (2, 3, 4)}
    assert {choice.variation for model in _models.MODELS[1:9] for choice in model.choices} == set(_models.VARIATIONS)
