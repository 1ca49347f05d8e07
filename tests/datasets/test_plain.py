"""Pickles of plain values come back; whatever names a class or a function is refused before anything runs."""

from __future__ import annotations

import collections
import datetime
import pickle
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hsls.datasets._plain import plain_pickle

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary())
PLAIN = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner), st.tuples(inner, inner), st.dictionaries(st.text(), inner))
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("pickles") / "x.pickle"


@given(PLAIN, st.integers(0, pickle.HIGHEST_PROTOCOL))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_plain_values_come_back(file, value, protocol):
    # Protocols below 3 have no bytes of their own: they are made by a call, which is refused.
    stored = pickle.dumps(value, protocol)
    file.write_bytes(stored)
    if b"_codecs" in stored or b"__builtin__" in stored:
        with pytest.raises(ValueError, match="only plain values are loaded"):
            plain_pickle(file)
    else:
        assert plain_pickle(file) == value


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return open, (str(self.target), "w")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "wrap", [lambda x: x, lambda x: [x], lambda x: {"a": [1, (2, x)]}, lambda x: {("a", "b"): {"c": [[], [x]]}}]
)
def test_code_is_refused_however_deep_and_does_not_run(file, tmp_path, wrap, protocol):
    file.write_bytes(pickle.dumps(wrap(Trap(tmp_path / "trapped")), protocol))
    with pytest.raises(ValueError, match=r"x\.pickle is no pickle of plain values: it names \w+\.open, and only plain"):
        plain_pickle(file)
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (np.arange(3), "numpy"),
        (np.float64(1.0), "numpy"),
        (collections.OrderedDict(a=1), "collections.OrderedDict"),
        (datetime.date(2011, 1, 1), "datetime.date"),
        ({1: {2: complex(1, 2)}}, "builtins.complex"),
        ([print], "builtins.print"),
        (Trap, "Trap"),
    ],
)
def test_every_class_and_function_is_refused(file, value, named):
    file.write_bytes(pickle.dumps(value))
    with pytest.raises(ValueError, match=re.escape(named)):
        plain_pickle(file)


@pytest.mark.parametrize(
    "content", [b"", b"no pickle", pickle.dumps({"a": [1, 2, 3]})[:-4], b"\x80\x05Pgone\n.", b"cos\n"]
)
def test_damaged_pickles_are_refused(file, content):
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.pickle is no pickle of plain values: "):
        plain_pickle(file)
