"""Where to compute."""

from __future__ import annotations

import torch

from hsls import _checks


def choose_device(name: str) -> torch.device:
    """The device that "auto" (a GPU if there is one), "cpu" or "cuda" stands for."""
    _checks.one_of(name, "device", ("auto", "cpu", "cuda"))
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise ValueError("device is 'cuda', but PyTorch finds no GPU; use 'auto' or 'cpu'.")
    return torch.device("cuda" if available and name != "cpu" else "cpu")
