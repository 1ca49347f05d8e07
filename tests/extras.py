"""Libraries that only an extra brings: without them tests are skipped, but not where everything must be installed."""

from __future__ import annotations

import importlib
import os

import pytest


def needed(*names):
    """Import modules, or skip; in CI a missing one is an error."""
    for name in names:
        if "CI" in os.environ:
            importlib.import_module(name)
        else:
            pytest.importorskip(name)
