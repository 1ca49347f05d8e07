"""What the estimators share: from whatever the user passes to signals with named nodes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from hsls import _progress
from hsls._types import FloatArray
from hsls.candidates import Candidates
from hsls.learning import Learned, check_signals
from hsls.resampling import Stability, stability
from hsls.tables import signals_from


class HypergraphEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators that learn a hypergraph of the rows (or the columns) of X."""

    nodes: str

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _read(self, X: Any, *, first: bool = True) -> tuple[FloatArray, tuple[str, ...] | None]:
        """Signals as an N x P array, and the node names where X has any; `first` unless others were read before."""
        signals = signals_from(X, nodes=self.nodes)
        shown_to_sklearn = signals.values if signals is X else X
        same_features = not first and self.nodes == "columns"
        if same_features:
            validate_data(self, shown_to_sklearn, reset=False, skip_check_array=True)
        values = check_signals(signals.values, unseen_nodes=not first)
        if not same_features:
            validate_data(self, shown_to_sklearn, skip_check_array=True)
        return values, signals.names

    def stability(
        self,
        X: Any,
        n_resamples: int = 50,
        *,
        fraction: float = 0.5,
        block: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> Stability:
        """How often this estimator finds each hyperedge of X again on resampled observations; see `hsls.stability`.

        The estimator itself stays as it is, fitted or not.
        """
        return stability(self, X, n_resamples, fraction=fraction, block=block, random_state=random_state, n_jobs=n_jobs)


class LearnedEstimator(HypergraphEstimator):
    """Base of those that keep a `Learned`."""

    learned_: Learned

    def _keep(self, learned: Learned) -> None:
        self.learned_ = learned
        self.hypergraph_ = learned.hypergraph
        self.solution_ = learned.solution
        self.duality_gap_ = learned.solution.relative_gap
        self.n_iter_ = learned.solution.n_iter
        self.history_ = learned.solution.history
        self.scale_ = learned.scale
        self.path_ = learned.path
        self.neighbors_ = learned.neighbors

    @property
    def candidates_(self) -> Candidates:
        """All candidates, in canonical order; for 50,000 nodes and more made on first use."""
        check_is_fitted(self, "learned_")
        return self.learned_.candidates

    @property
    def weights_(self) -> FloatArray:
        """Weight of every candidate, in the order of `candidates_`."""
        check_is_fitted(self, "learned_")
        return self.learned_.weights


@contextmanager
def shown(verbose: bool) -> Iterator[None]:
    """Progress bars on standard error within the block, if wanted."""
    if not verbose:
        yield
        return
    from hsls._bars import Bars

    with Bars() as bars, _progress.reporting(bars):
        yield
