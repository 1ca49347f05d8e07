"""Co-authorship hypergraphs: papers are nodes, and the papers of one author a hyperedge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hsls import _checks
from hsls._files import PathLike
from hsls.candidates import check_cardinalities
from hsls.components import component_labels, on_nodes
from hsls.datasets._plain import plain_pickle
from hsls.datasets._store import Source, find
from hsls.hypergraph import Hypergraph

__all__ = ["COAUTHORSHIPS", "Selection", "coauthorship_network", "load_coauthorship"]

_REPOSITORY = "malllabiisc/HyperGCN"
_COMMIT = "370a07b86770322684e5b2c65bd3ad7caa15cb8e"

_NETWORKS = {
    "dblp": Source(
        "coauthorship-dblp.pickle",
        _REPOSITORY,
        _COMMIT,
        "data/coauthorship/dblp/hypergraph.pickle",
        "a8dbbed2041a8c1b836cbc29986ca777128eb9d75f2e006da899a801971f3278",
    ),
    "cora": Source(
        "coauthorship-cora.pickle",
        _REPOSITORY,
        _COMMIT,
        "data/coauthorship/cora/hypergraph.pickle",
        "777d661210bdd122a4ce25284e07c6368e875a28122e75dca912c631db0935f6",
    ),
}


@dataclass(frozen=True)
class Selection:
    """A connected part of a network: which one, the cardinalities kept, and how many nodes and hyperedges it has.

    `own` says whether it is the very hypergraph of the paper, or stands in for one whose selection the paper does not
    describe; `paper` holds that one's numbers of nodes and hyperedges.
    """

    network: str
    cardinalities: tuple[int, ...]
    n_nodes: int
    n_edges: int
    paper: tuple[int, int]

    @property
    def own(self) -> bool:
        return self.paper == (self.n_nodes, self.n_edges)


#: The hypergraphs of the comparison, by name.
COAUTHORSHIPS = {
    "dblp-uniform": Selection("dblp", (3,), 40, 22, (40, 22)),
    "dblp-mixed": Selection("dblp", (2, 3), 84, 66, (58, 39)),
    "cora-uniform": Selection("cora", (3,), 12, 6, (21, 10)),
    "cora-mixed": Selection("cora", (2, 3), 30, 23, (61, 48)),
}


def load_coauthorship(name: str, *, data: PathLike | None = None) -> Hypergraph:
    """Load one of the hypergraphs that the methods are compared on.

    Parameters
    ----------
    name : {"dblp-uniform", "dblp-mixed", "cora-uniform", "cora-mixed"}
        The first is the paper's own. The paper does not say how its other three were selected, and the public files
        do not give them; the others here are connected parts of the same files that stand in for them.
    data : path, optional
        Folder to look into first; by default the one that the environment variable HSLS_DATA names.

    Returns
    -------
    Hypergraph
        Node names are the numbers of the papers in the network; all weights are 1.
    """
    selection = COAUTHORSHIPS[_checks.one_of(name, "name", COAUTHORSHIPS)]
    whole = coauthorship_network(selection.network, selection.cardinalities, data=data)
    labels = component_labels(whole)
    n_nodes, n_edges = np.bincount(labels), np.bincount(labels[whole.indices[whole.indptr[:-1]]])
    ours = np.flatnonzero((n_nodes == selection.n_nodes) & (n_edges == selection.n_edges))[0]
    return on_nodes(whole, np.flatnonzero(labels == ours).tolist())


def coauthorship_network(
    network: str, cardinalities: int | Iterable[int] | None = None, *, data: PathLike | None = None
) -> Hypergraph:
    """Load a whole network: the papers of each author, equal sets once, authors of one paper left out.

    Parameters
    ----------
    network : {"dblp", "cora"}
    cardinalities : int or iterable of int, optional
        Keep the hyperedges of these numbers of nodes, and the nodes in them; by default all of at least 2.
    data : path, optional
        As in `load_coauthorship`.
    """
    source = _NETWORKS[_checks.one_of(network, "network", _NETWORKS)]
    wanted = None if cardinalities is None else set(check_cardinalities(cardinalities))
    authors = plain_pickle(find(source, data))
    papers = {tuple(sorted(set(papers))) for papers in authors.values()}
    kept = sorted(group for group in papers if len(group) > 1 and (wanted is None or len(group) in wanted))
    names = sorted({paper for group in kept for paper in group})
    return Hypergraph.from_edges([map(str, group) for group in kept], nodes=names)
