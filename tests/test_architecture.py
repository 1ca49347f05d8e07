"""The rooms: imports point one way, kernels stand on nothing, and extras are loaded only where they are used."""

from __future__ import annotations

import ast
import graphlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

import hsls

SOURCE = Path(hsls.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]

# The name that a distribution is imported by, where that is another.
IMPORTED_AS = {"scikit-learn": "sklearn"}
# Folders that need an extra as a whole, and the extra; the package itself imports none of them.
EXTRAS = {"nn": {"torch"}}
# Folders that stand on the core, which is level 0, and on those of lower levels.
LEVELS = {"drawing": 1, "estimators": 1, "nn": 2, "experiments": 3, "cli": 4, "__main__": 5}


def name_of(file):
    parts = ("hsls", *file.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(file): file for file in sorted(SOURCE.rglob("*.py"))}


def imports(name, *, inside_functions):
    """Every module that a module imports when it runs; imports for type checkers are left out."""
    found = set()

    def visit(node):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.orelse:
                visit(child)
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not inside_functions:
            return
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            for alias in node.names:
                deeper = f"{node.module}.{alias.name}"
                found.add(deeper if deeper in FILES else node.module)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(FILES[name].read_text()))
    return found


def own(name, **options):
    return {other for other in imports(name, **options) if other.partition(".")[0] == "hsls"}


def foreign(name, **options):
    others = {other.partition(".")[0] for other in imports(name, **options)}
    return others - {"hsls"} - set(sys.stdlib_module_names)


def floor(name):
    """The folder of a module, or the module itself where it stands in none."""
    return name.split(".")[1] if name.count(".") else ""


def level(name):
    return LEVELS.get(floor(name), 0)


def test_the_source_was_found():
    assert {"hsls", "hsls.learning", "hsls._kernels.pairs", "hsls.solvers"} <= set(FILES)
    assert own("hsls.solvers", inside_functions=False) >= {"hsls.solvers.newton", "hsls.problem"}
    assert foreign("hsls.neighbors", inside_functions=True) == {"numpy", "scipy", "faiss"}
    assert foreign("hsls.neighbors", inside_functions=False) == {"numpy"}


@pytest.mark.parametrize("inside_functions", [False, True])
def test_no_module_imports_itself_in_a_circle(inside_functions):
    graph = {name: own(name, inside_functions=inside_functions) for name in FILES}
    assert list(graphlib.TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("name", FILES)
def test_only_what_is_always_installed_is_imported_at_once(name):
    installed = {re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["dependencies"]}
    installed = {IMPORTED_AS.get(distribution, distribution) for distribution in installed}
    assert foreign(name, inside_functions=False) <= installed | EXTRAS.get(floor(name), set())


@pytest.mark.parametrize("name", [name for name in FILES if floor(name) == "_kernels"])
def test_kernels_import_nothing_above_them(name):
    assert {floor(other) for other in own(name, inside_functions=True)} <= {"_kernels", "_types"}
    assert foreign(name, inside_functions=True) <= {"numpy", "numba"}


@pytest.mark.parametrize("name", FILES)
def test_imports_point_down(name):
    for other in own(name, inside_functions=True):
        assert level(other) < level(name) or floor(other) == floor(name) or level(other) == 0, other


@pytest.mark.parametrize("name", [name for name in FILES if floor(name) not in ("estimators", "experiments", "nn")])
def test_only_estimators_know_scikit_learn_and_only_kernels_the_compiler(name):
    known = foreign(name, inside_functions=True)
    assert "sklearn" not in known
    assert "numba" not in known or floor(name) == "_kernels"
