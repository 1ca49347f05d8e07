"""Blocks of candidates with numbers for all that kernels read, drawn."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import strategies as st

from hsls.incidence import Block


@st.composite
def blocks(draw):
    """A block of candidates (repeats allowed), a range of it, and numbers for all that kernels read."""
    k = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_nodes, count = draw(st.integers(k, 9)), draw(st.integers(1, 12))
    members = np.array([np.sort(rng.permutation(n_nodes)[:k]) for _ in range(count)])
    start = draw(st.integers(0, count))
    block = Block(members, 0)
    S = np.zeros((n_nodes, count))
    np.add.at(S, (members.T, np.arange(count)), 1.0)
    inside = np.arange(count) >= start
    stop = draw(st.integers(start, count))
    inside &= np.arange(count) < stop
    return SimpleNamespace(
        k=k,
        n_nodes=n_nodes,
        count=count,
        args=(block.shape, block.members),
        range=(start, stop),
        inside=inside,
        members=members,
        S=S,
        z=np.where(rng.random(count) < 0.2, 0.0, rng.uniform(0, 3, count)),
        v=rng.uniform(0, 2, n_nodes),
        p=rng.standard_normal(n_nodes),
        w=rng.standard_normal(count),
        values=rng.uniform(0.5, 2, count),
        others=rng.uniform(0.5, 2, count),
        before=rng.standard_normal(n_nodes),
    )


def given_values(values, step):
    """What a kernel is passed for `step`, and what it then means for each candidate."""
    return (values, values) if step else (values[:1].copy(), np.full(len(values), values[0]))
