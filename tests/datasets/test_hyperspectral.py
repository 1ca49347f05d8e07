"""Indian Pines: the right bytes, from a folder or from the package that brings them."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from extras import needed
from hsls.datasets import INDIAN_PINES_CLASSES, load_indian_pines

FILES = ("Indian_pines_corrected.npy", "Indian_pines_gt.npy")


@pytest.fixture
def nowhere(monkeypatch):
    monkeypatch.delenv("HSLS_DATA", raising=False)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "tensorly" else find_spec(name, *a)
    )


def test_the_scene_is_the_one_that_everybody_uses(monkeypatch):
    needed("tensorly")
    monkeypatch.delenv("HSLS_DATA", raising=False)
    cube, classes, names = load_indian_pines()
    assert (cube.shape, cube.dtype, classes.shape) == ((145, 145, 200), np.uint16, (145, 145))
    sizes = [46, 1428, 830, 237, 483, 730, 28, 478, 20, 972, 2455, 593, 205, 1265, 386, 93]
    np.testing.assert_array_equal(np.bincount(classes.ravel())[1:], sizes)
    assert names is INDIAN_PINES_CLASSES
    assert len(names) == len(sizes)


def test_a_folder_comes_before_the_package(tmp_path, nowhere, monkeypatch):
    needed("tensorly")
    monkeypatch.undo()
    monkeypatch.delenv("HSLS_DATA", raising=False)
    cube, classes, _ = load_indian_pines()
    for name, array in zip(FILES, (cube, classes), strict=True):
        np.save(tmp_path / name, array)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: pytest.fail("looked for the package"))
    np.testing.assert_array_equal(load_indian_pines(data=tmp_path)[0], cube)
    monkeypatch.setenv("HSLS_DATA", str(tmp_path))
    np.testing.assert_array_equal(load_indian_pines()[1], classes)


def test_another_file_of_that_name_is_refused(tmp_path):
    np.save(tmp_path / FILES[0], np.zeros((145, 145, 200), np.uint16))
    with pytest.raises(ValueError, match=r"is not the file that is expected .* of the package tensorly"):
        load_indian_pines(data=tmp_path)


def test_without_the_package_it_says_what_to_install(nowhere):
    with pytest.raises(ImportError, match=r'pip install "hsls\[hyperspectral\]", or put the file'):
        load_indian_pines()


def test_a_folder_without_the_files_leads_on_to_the_package(tmp_path, nowhere):
    with pytest.raises(ImportError, match="comes with the package tensorly"):
        load_indian_pines(data=tmp_path)
