"""``python -m hsls`` is the command ``hsls``."""

from __future__ import annotations

import sys

from hsls.cli import main

if __name__ == "__main__":
    sys.exit(main())
