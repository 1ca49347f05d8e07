"""One profile for all generated inputs: no deadlines (compilation counts), the same inputs every time in CI.

And where the real data are: nothing is fetched by a test.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Read when scipy is first imported; without it scikit-learn skips its checks of array libraries.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

settings.register_profile("hsls", deadline=None, max_examples=60, derandomize="CI" in os.environ)
settings.load_profile("hsls")


@pytest.fixture(scope="session")
def data_folder():
    """The folder of the real data: the one that HSLS_DATA names, else ../shared/data beside the checkout."""
    folder = Path(os.environ.get("HSLS_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not (folder / "coauthorship-dblp.pickle").is_file():
        missing = f"the real data are not in {folder}; name their folder by HSLS_DATA"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return folder
