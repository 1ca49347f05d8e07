"""Indian Pines: a scene of fields and woods in Indiana, in 200 bands from 0.4 to 2.5 micrometres (AVIRIS, 1992)."""

from __future__ import annotations

from hsls._files import PathLike, numpy_arrays
from hsls._types import AnyArray
from hsls.datasets._store import PackageFile, find

__all__ = ["INDIAN_PINES_CLASSES", "load_indian_pines"]

_CUBE = PackageFile(
    "Indian_pines_corrected.npy",
    "tensorly",
    "datasets/data/Indian_pines_corrected.npy",
    "8f038e4d81569e38ebfc72a15c9984c150de42580ab260be10a13442e912e451",
)
_GROUND_TRUTH = PackageFile(
    "Indian_pines_gt.npy",
    "tensorly",
    "datasets/data/Indian_pines_gt.npy",
    "44610d21625b311b05b8e0c4ba9a6cc755c2fbb9df48e4d89419024aa6ad3f9d",
)

#: The names of the classes 1 to 16, in order.
INDIAN_PINES_CLASSES = (
    "Alfalfa",
    "Corn-notill",
    "Corn-mintill",
    "Corn",
    "Grass-pasture",
    "Grass-trees",
    "Grass-pasture-mowed",
    "Hay-windrowed",
    "Oats",
    "Soybean-notill",
    "Soybean-mintill",
    "Soybean-clean",
    "Wheat",
    "Woods",
    "Buildings-grass-trees-drives",
    "Stone-steel-towers",
)


def load_indian_pines(*, data: PathLike | None = None) -> tuple[AnyArray, AnyArray, tuple[str, ...]]:
    """Load the scene, its ground truth and the names of its classes; needs the package tensorly, which brings them.

    Parameters
    ----------
    data : path, optional
        Folder to look for the files in first; by default the one that the environment variable HSLS_DATA names. With
        the files there tensorly is not needed.

    Returns
    -------
    cube : uint16 array of shape (145, 145, 200)
        Radiance, for each pixel and band; the bands that water absorbs are left out.
    classes : uint8 array of shape (145, 145)
        The class of each pixel, from 1 to 16; 0 is no class.
    names : tuple of str
        Of the classes from 1 on.
    """
    cube, classes = (numpy_arrays(find(source, data))[""] for source in (_CUBE, _GROUND_TRUTH))
    return cube, classes, INDIAN_PINES_CLASSES
