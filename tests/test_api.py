"""What users import: every name there, documented, its examples true; and nothing loaded before it is needed."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import hsls

MODULES = sorted(
    ["hsls", *(m.name for m in pkgutil.walk_packages(hsls.__path__, "hsls.") if not m.name.endswith("__main__"))]
)


def module(name):
    """The module, unless it needs an extra that is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] == "hsls":
            raise
        pytest.skip(f"{name} needs {error.name}")


def fresh(code):
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


# -- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", hsls.__all__)
def test_every_public_name_is_there_and_documented(name):
    value = getattr(hsls, name)
    assert name in dir(hsls)
    assert getattr(hsls, name) is value
    if name != "__version__":
        assert value.__name__ == name
        assert inspect.getdoc(value)


def test_what_is_promised_is_what_is_there():
    """`__all__`, the rooms that names are loaded from, and the imports that type checkers read, agree."""
    tree = ast.parse(Path(hsls.__file__).read_text())
    (typed,) = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {alias.name: statement.module for statement in typed.body for alias in statement.names}
    assert imported == {name: f"hsls.{room}" for name, room in hsls._ROOMS.items()}
    assert sorted(hsls.__all__) == sorted([*hsls._ROOMS, "__version__"])
    with pytest.raises(AttributeError, match="module 'hsls' has no attribute 'Hypegraph'"):
        hsls.Hypegraph  # noqa: B018


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_and_has_what_it_names(name):
    room = module(name)
    assert room.__doc__
    for public in getattr(room, "__all__", []):
        value = getattr(room, public)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), public


@pytest.mark.parametrize("name", [name for name in hsls.__all__ if inspect.isclass(getattr(hsls, name))])
def test_public_methods_are_documented(name):
    cls = getattr(hsls, name)
    undocumented = [
        attribute
        for attribute, value in vars(cls).items()
        if not attribute.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, classmethod))
        and not inspect.getdoc(value)
    ]
    assert not undocumented


@pytest.mark.parametrize(
    "name",
    [
        *(
            "HSLS",
            "HGSI",
            "HypergraphMLE",
            "KNNHypergraph",
            "PDLHGSP",
            "Problem",
            "Variation",
            "Candidates",
            "Hypergraph",
            "learn",
        ),
        *("random_hypergraph", "smooth_signals", "compare", "total_variation", "read_signals"),
        *("draw", "draw_comparison", "draw_convergence", "draw_path", "draw_timeline", "stability", "windows"),
    ],
)
def test_every_parameter_is_documented(name):
    value = getattr(hsls, name)
    doc = inspect.getdoc(value)
    for parameter in inspect.signature(value).parameters:
        assert parameter in doc


# -- examples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_are_true(name, tmp_path, monkeypatch):
    room = module(name)
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context({"backend": "agg"}), np.printoptions():
        result = doctest.testmod(room, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    with_examples = {
        name
        for name in hsls.__all__
        if name != "__version__" and any(test.examples for test in finder.find(getattr(hsls, name), name))
    }
    assert {
        "HSLS",
        "HGSI",
        "HypergraphMLE",
        "KNNHypergraph",
        "PDLHGSP",
        "Hypergraph",
        "compare",
        "random_hypergraph",
        "solve",
    } <= with_examples


# -- loading ---------------------------------------------------------------------------------------------------------


def test_importing_the_package_loads_no_numerical_library():
    loaded = fresh("import hsls, sys; hsls.__version__; dir(hsls); print(*sys.modules)").split()
    heavy = {"numpy", "scipy", "numba", "sklearn", "matplotlib", "pandas", "rich", "faiss", "torch"}
    assert not heavy & set(loaded)


def test_reading_and_comparing_load_neither_compiler_nor_scikit_learn():
    loaded = fresh("import hsls, sys; hsls.Hypergraph, hsls.read, hsls.compare; print(*sys.modules)").split()
    assert "numpy" in loaded
    assert not {"numba", "sklearn", "matplotlib", "pandas", "rich"} & set(loaded)


def test_learning_loads_no_extra_and_no_scikit_learn():
    loaded = fresh(
        "import hsls, sys; hsls.learn([[0.0], [1.0], [3.0]], hsls.Settings(cardinalities=2)); print(*sys.modules)"
    ).split()
    assert "numba" in loaded
    extras = {"matplotlib", "networkx", "pandas", "polars", "pyarrow", "faiss", "torch"}
    assert not {*extras, "sklearn", "rich"} & set(loaded)


def test_the_version_is_that_of_the_distribution():
    assert hsls.__version__ == importlib.metadata.version("hsls")
