"""Choices along a path: the best score wins, targets are hit, agreement is F1, folds are consecutive."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsls import Problem, Settings, learn, random_hypergraph, smooth_signals, solve
from hsls.candidates import Candidates
from hsls.learning import sample_of
from hsls.likelihood import LARGEST_BLOCK
from hsls.selection import Criterion, Sample, choose_penalty, choose_theta, reach
from instances import random_problem, seeds
from learned import gaussian_signals


def sample(seed=0, n_observations=80):
    truth = random_hypergraph(16, 9, 3, random_state=seed)
    X = smooth_signals(truth, n_observations, random_state=seed)
    return sample_of(learn(X, Settings(3, 6)).candidates, X, "auto")


@settings(max_examples=10)
@given(seeds(), st.sampled_from(["ebic", "cv"]))
def test_the_chosen_point_is_the_best_and_its_solution_certified(seed, name):
    own = sample(seed)
    choice = choose_penalty(own, Criterion(name), penalties=(0.2, 0.05, 0.0125))
    path = choice.path
    if name == "ebic":
        same = path.scores >= path.scores.max() - 1e-6 * abs(path.scores.max())
        assert path.chosen == int(np.argmax(same))
        price = Criterion().price(own.evidence())
        refit = choice.refit
        assert path.scores.max() == pytest.approx(refit.log_likelihood - price * refit.n_parameters)
    else:
        best = int(np.argmax(path.scores))
        assert path.scores[path.chosen] >= path.scores[best] - path.errors[best]
    assert path.value == path.values[path.chosen]
    assert path.n_hyperedges[path.chosen] >= len(choice.refit.support)
    assert choice.solution.relative_gap == path.relative_gaps[path.chosen] <= 1e-6


def test_the_price_of_a_parameter():
    own = sample().evidence()
    assert Criterion(gamma=0.0).price(own) == pytest.approx(math.log(80) / 2)
    assert Criterion(gamma=1.0).price(own) == pytest.approx(math.log(80) / 2 + math.log(len(own.edges)))


def test_folds_are_consecutive_and_hold_every_observation_once():
    own = Sample(sample().candidates, np.arange(16.0)[:, None] + np.arange(7.0) / 10, observation_weights=np.ones(7))
    parts = own.folds(3)
    assert [test.X.shape[1] for _, test in parts] == [3, 2, 2]
    np.testing.assert_array_equal(np.concatenate([test.X for _, test in parts], axis=1), own.X)
    assert all(train.X.shape[1] + test.X.shape[1] == 7 for train, test in parts)
    assert [len(train.observation_weights) for train, _ in parts] == [4, 5, 5]


def test_theta_is_the_one_that_agrees_best():
    problem = random_problem(5)
    target = solve(Problem(problem.candidates, 2.0 * problem.z)).weights
    wanted = np.argsort(-target)[:12]
    path, solution = choose_theta(problem, wanted, "ebic", thetas=(0.5, 1.0, 2.0, 4.0))
    assert path.scores.max() == 1.0
    kept = np.argsort(-solution.weights)[: path.n_hyperedges[path.chosen]]
    assert set(kept) == set(wanted)


@settings(max_examples=15)
@given(seeds(), st.integers(15, 32))
def test_a_number_of_hyperedges_is_reached_or_just_passed(seed, target):
    problem = random_problem(seed % 1000)

    def count(w):
        return int(np.sum(w > 0))

    path, solution = reach(problem, count, count, target, "n_hyperedges")
    assert solution.relative_gap <= 1e-6
    assert path.scores[path.chosen] == -abs(count(solution.weights) - target)
    assert path.scores[path.chosen] == max(path.scores[path.relative_gaps <= 1e-6])
    exact = solve(Problem(problem.candidates, path.value * problem.z), tol=1e-9)
    assert abs(count(exact.weights) - count(solution.weights)) <= 3


def test_a_target_out_of_reach_ends_at_the_nearest():
    problem = random_problem(0)

    def count(w):
        return int(np.sum(w > 0))

    path, _ = reach(problem, count, count, 10**6, "n_hyperedges")
    assert path.n_hyperedges[path.chosen] == path.n_hyperedges.max()


def test_too_many_nodes_for_a_choice():
    none = Sample(Candidates(LARGEST_BLOCK + 1, ()), np.zeros((LARGEST_BLOCK + 1, 2)))
    with pytest.raises(
        ValueError, match=r"made for up to 4,000 nodes, but there are 4,001; .* degree= or n_hyperedges="
    ):
        choose_penalty(none, Criterion())


def test_learned_tells_the_parameter_and_the_path():
    X = gaussian_signals()
    given_alpha = learn(X, Settings(alpha=0.5))
    assert (given_alpha.parameter, given_alpha.path) == (0.5, None)
    chosen = learn(X, Settings(degree=2.0))
    assert chosen.parameter == pytest.approx(chosen.path.value**-2)
    assert chosen.seconds["choose"] > 0
