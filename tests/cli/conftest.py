from __future__ import annotations

import numpy as np
import pytest

from hsls import random_hypergraph, smooth_signals, write
from hsls.cli import main


@pytest.fixture
def run(capsys):
    """Run a command line; returns its exit status, standard output and standard error."""

    def command(*words):
        status = main([str(word) for word in words])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return command


@pytest.fixture
def signals(tmp_path):
    """A table of smooth signals of 12 named nodes, and beside it the true hypergraph."""
    truth = random_hypergraph(12, 6, 3, random_state=1)
    X = smooth_signals(truth, 60, random_state=1)
    file = tmp_path / "signals.csv"
    rows = [",".join(["", *(f"t{t}" for t in range(X.shape[1]))])]
    rows += [",".join([f"n{i}", *map(repr, row)]) for i, row in enumerate(X.tolist())]
    file.write_text("\n".join(rows) + "\n")
    named = type(truth).from_edges(
        [[f"n{i}" for i in edge] for edge in truth.edges], nodes=[f"n{i}" for i in range(12)]
    )
    write(named, tmp_path / "truth.json")
    np.save(tmp_path / "signals.npy", X)
    return file
