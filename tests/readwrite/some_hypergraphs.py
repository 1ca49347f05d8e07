"""Generated hypergraphs that are hard to write down: any names, isolated nodes, any weights, or nothing at all."""

import numpy as np
from hypothesis import strategies as st

from hsls import Hypergraph

AWKWARD = [
    "",
    " ",
    "007",
    "7",
    "a,b",
    'say "x"',
    "two\nlines",
    "\r",
    "\r\n",
    "\0",
    "é",
    "日本",
    "\ufeffa",
    "NA",
    "nan",
]
NAMES = st.one_of(st.sampled_from(AWKWARD), st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
WEIGHTS = st.floats(min_value=0.0, allow_nan=False, allow_infinity=False)


@st.composite
def hypergraphs(draw):
    nodes = draw(st.lists(NAMES, unique=True, max_size=8))
    positions = st.integers(0, len(nodes) - 1)
    members = st.frozensets(positions, min_size=1, max_size=4)
    edges = draw(st.lists(members, unique=True, max_size=8)) if nodes else []
    weights = draw(st.lists(WEIGHTS, min_size=len(edges), max_size=len(edges)))
    H = Hypergraph.from_edges([sorted(edge) for edge in edges], weights, nodes=nodes)
    if not draw(st.booleans()):
        return H
    return H.with_frequencies(draw(st.lists(st.floats(0.0, 1.0), min_size=len(edges), max_size=len(edges))))


def same_to_the_bit(G, H):
    pairs = [(G.weights, H.weights)] + ([] if H.frequencies is None else [(G.frequencies, H.frequencies)])
    return G == H and all(np.array_equal(one.view(np.int64), other.view(np.int64)) for one, other in pairs)
