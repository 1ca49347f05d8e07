"""One profile for all generated inputs: no deadlines (compilation counts), the same inputs every time in CI."""

from __future__ import annotations

import os

from hypothesis import settings

# Read when scipy is first imported; without it scikit-learn skips its checks of array libraries.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

settings.register_profile("hsls", deadline=None, max_examples=60, derandomize="CI" in os.environ)
settings.load_profile("hsls")
