"""Estimators in scikit-learn style: parameters in the constructor, `fit(X)`, results in attributes that end in `_`."""

from __future__ import annotations

from hsls.estimators.baselines import HGSI, KNNHypergraph
from hsls.estimators.hsls import HSLS
from hsls.estimators.mle import HypergraphMLE
from hsls.estimators.pdl_hgsp import PDLHGSP

__all__ = ["HGSI", "HSLS", "PDLHGSP", "HypergraphMLE", "KNNHypergraph"]
