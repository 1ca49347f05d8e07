"""Checks of user input: what passes, as what, and the sentence for what does not."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from hsls import _checks


@pytest.mark.parametrize("check", [_checks.positive, _checks.nonnegative])
@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), Fraction(2)])
def test_numbers_become_floats(check, value):
    assert check(value, "alpha") == 2.0
    assert type(check(value, "alpha")) is float


@pytest.mark.parametrize("value", [True, "1", None, 1j, [1.0], Decimal(1), np.array([1.0])])
def test_what_is_no_number_is_a_type_error_that_names_it(value):
    with pytest.raises(TypeError, match=r"^alpha must be a number above 0, got"):
        _checks.positive(value, "alpha")
    with pytest.raises(TypeError, match=r"^alpha must be a number, 0 or more, got"):
        _checks.nonnegative(value, "alpha")


@pytest.mark.parametrize("value", [-1, -1e-300, math.inf, -math.inf, math.nan])
def test_numbers_out_of_range(value):
    with pytest.raises(ValueError, match=r"^alpha must be a finite number above 0, got"):
        _checks.positive(value, "alpha")
    with pytest.raises(ValueError, match=r"^alpha must be a finite number, 0 or more, got"):
        _checks.nonnegative(value, "alpha")


def test_zero_is_nonnegative_but_not_positive():
    assert _checks.nonnegative(0, "alpha") == 0.0
    with pytest.raises(ValueError, match="above 0, got 0"):
        _checks.positive(0, "alpha")


def test_whole_numbers():
    assert _checks.whole(np.uint8(3), "k") == 3
    assert type(_checks.whole(np.uint8(3), "k")) is int
    assert _checks.whole(0, "k", least=0) == 0
    with pytest.raises(ValueError, match=r"^k must be at least 2, got 1\.$"):
        _checks.whole(1, "k", least=2)
    for value in (2.0, True, "2", None):
        with pytest.raises(TypeError, match=r"^k must be a whole number, got"):
            _checks.whole(value, "k")


def test_one_of_lists_what_is_known():
    assert _checks.one_of("b", "letter", ("a", "b")) == "b"
    for value in ("c", None, ["a"]):
        with pytest.raises(ValueError, match=r"^letter must be one of 'a', 'b'; got"):
            _checks.one_of(value, "letter", ("a", "b"))


def test_node_names_become_texts():
    assert _checks.node_names([1, "b", 2.5]) == ("1", "b", "2.5")
    assert _checks.node_names(iter("ab"), count=2) == ("a", "b")
    assert _checks.node_names([]) == ()


def test_node_names_refused():
    with pytest.raises(ValueError, match="one name for each of the 3 nodes, got 2 names"):
        _checks.node_names(["a", "b"], count=3)
    with pytest.raises(ValueError, match="'b' stands more than once; rename one"):
        _checks.node_names(["a", "b", "c", "b", "a"])
    with pytest.raises(ValueError, match="'1' stands more than once"):
        _checks.node_names([1, "1"])
    for value in ("abc", b"abc", 3, None):
        with pytest.raises(TypeError, match="nodes must be a list of node names, got"):
            _checks.node_names(value)


def test_a_seed_gives_the_same_numbers_each_time():
    first, second = (_checks.random_generator(seed).random(4) for seed in (7, np.int64(7)))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, _checks.random_generator(8).random(4))


def test_none_gives_other_numbers_each_time():
    assert not np.array_equal(_checks.random_generator(None).random(4), _checks.random_generator(None).random(4))


def test_a_generator_is_used_and_moves_on():
    generator = np.random.default_rng(0)
    assert _checks.random_generator(generator) is generator


def test_a_random_state_is_used_and_moves_on():
    state = np.random.RandomState(0)
    first = _checks.random_generator(state).random(4)
    second = _checks.random_generator(state).random(4)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, _checks.random_generator(np.random.RandomState(0)).random(4))


@pytest.mark.parametrize("value", [1.5, "0", True, np.random])
def test_what_is_no_random_state(value):
    with pytest.raises(TypeError, match="random_state must be None, a whole number or a numpy random Generator"):
        _checks.random_generator(value)


def test_a_negative_seed():
    with pytest.raises(ValueError, match="random_state must be at least 0, got -1"):
        _checks.random_generator(-1)
