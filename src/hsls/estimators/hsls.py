"""The estimator of the package's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils.metaestimators import available_if

from hsls.candidates import DEFAULT_MEMORY_BUDGET
from hsls.estimators._base import LearnedEstimator, shown
from hsls.learning import Learned, Settings, learn
from hsls.running import Stream

__all__ = ["HSLS"]

_ADVICE = "raise max_iter, or tol, or alpha * beta (fewer hyperedges make the problem harder)"
_FBF_ADVICE = "raise max_iter, try solver_options={'balance': 0.1}, or use solver='newton'"


def _rows_are_observations(estimator: HSLS) -> bool:
    if estimator.nodes != "columns":
        raise AttributeError("partial_fit takes new rows, which must be observations: use nodes='columns', or update.")
    return True


class HSLS(LearnedEstimator):
    r"""Learn a hypergraph on which the signals are smooth.

    Minimises, over weights w >= 0 of candidate hyperedges with variations z (after division by `scale`),

    .. math:: z'w - \alpha \sum_i \log (S w)_i + \beta \|w\|^2

    and proves how near the result is to the optimum: `duality_gap_`.

    Parameters
    ----------
    cardinalities : int or iterable of int
        Sizes of hyperedges to choose among; {2} learns a graph.
    neighbors : int, mapping, sequence, "auto", "all" or "certified"
        Each node is joined with every (k - 1)-subset of this many nearest neighbours: one number, one for each
        cardinality (in ascending order, or as a mapping). "auto": 8, or k + 2 where that is more, as far as there
        are nodes. "all": every subset of the nodes. "certified": the optimum over every subset, too, without making
        candidates of all: those that matter are searched for, until it is proved that there are no more.
    variation : str or Variation
        "sum-square", "sum-absolute", "max-square", "max-absolute" (the paper's), "mean-..." and "scaled-..." (sum over
        the number of pairs or of nodes), or "<reduction>-l<p>^<q>" for other norms.
    alpha, beta : float
        Weight of the degrees and of the squared weights. Which hyperedges are found depends on
        ``theta = 1 / sqrt(alpha beta)`` alone; the larger theta, the fewer. alpha may be "auto": the data choose theta
        and the number of hyperedges, in the place of `threshold`, for up to 4,000 nodes; see `criterion`.
    degree, n_hyperedges : float and int, optional
        A target in the place of alpha: the mean number of hyperedges of a node, or their number in all.
    criterion : {"ebic", "cv"}
        How "auto" chooses. A set of hyperedges is found as `HypergraphMLE` does, by the extended Bayesian information
        criterion or by the likelihood of held-out observations; theta and the number of hyperedges are those that
        agree with it best.
    gamma : float
        Of "ebic": the larger, the fewer hyperedges.
    folds : int
        Of "cv".
    scale : {"auto", "median", "mean"}, float or None
        What the variations are divided by, so that alpha and beta mean the same in any units. "auto": a sixth of what
        the nearest candidate of a typical node varies, which does not move with the number of neighbours. None: raw
        variations, as in the paper.
    threshold : float
        Least weight of a hyperedge of `hypergraph_`; 1e-2 is the paper's.
    solver : {"newton", "fbf"}
        "newton": dual Newton method, certified. "fbf": the paper's forward-backward-forward iteration.
    tol : float, optional
        newton: relative duality gap, 1e-6 by default. fbf: the paper's relative change, 1e-8 by default.
    max_iter : int, optional
        500 for newton and 10,000 for fbf by default.
    solver_options : mapping, optional
        Further arguments of the solver, such as ``{"balance": 0.1}`` for fbf.
    candidates : list, Hypergraph or Candidates, optional
        Candidates to choose among, as tuples of node names or positions, instead of those of the neighbours.
    observation_weights : array, optional
        Weight of each observation in all distances.
    neighbor_search : {"auto", "exact", "approximate"}
        See `hsls.neighbors.nearest_neighbors`.
    nodes : {"rows", "columns"}
        Where the nodes of X are.
    memory_budget : float, optional
        Bytes that candidates, variations and weights may take; None lifts the limit.
    n_jobs : int, optional
        Threads; None and -1 mean all cores.
    verbose : bool
        Show progress bars on a terminal.

    Attributes
    ----------
    hypergraph_ : Hypergraph
        Hyperedges of weight at least `threshold`, with the names of the nodes.
    candidates_ : Candidates
    weights_ : array
        Weight of every candidate.
    duality_gap_ : float
        Relative: ``(primal - dual) / (alpha N)``. The objective is this near to the optimum, at most.
    dual_ : array, shape (n_nodes,)
        At the optimum ``alpha / degree``.
    n_iter_ : int
    history_ : dict of arrays
        "iteration", "seconds", "primal", "dual_value" and "gap".
    certified_ : bool
        Whether `duality_gap_` is proved to hold over every hyperedge of the cardinalities, candidate or not; with
        ``neighbors="certified"``, or "all".
    certificate_ : Certificate or None
        Of ``neighbors="certified"``: rounds, hyperedges added, sets looked at, hyperedges that there are.
    scale_ : float
        What the variations were divided by.
    alpha_ : float
        alpha, given or chosen.
    path_ : Path or None
        The path along which alpha was chosen, with its scores; see `hsls.drawing.draw_path`.
    neighbors_ : Neighbors or None
        Neighbours, the method that found them, and whether it was exact.
    solution_ : Solution
        Its `weights` may follow another order of the candidates inside: use `weights_`.
    learned_ : Learned
    stream_ : Stream
        After `update`: the distances that it goes on from.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    B. T. Brown, H. Zhang, D. L. Lau, G. R. Arce, "Scalable Hypergraph Structure Learning with Diverse Smoothness
    Priors".

    Examples
    --------
    >>> from hsls import HSLS, random_hypergraph, smooth_signals
    >>> truth = random_hypergraph(40, 22, 3, random_state=0)
    >>> X = smooth_signals(truth, 250, random_state=0)
    >>> model = HSLS(cardinalities=3).fit(X)
    >>> model.hypergraph_
    Hypergraph(40 nodes, 22 hyperedges: 22 of 3 nodes)
    >>> model.duality_gap_ < 1e-6
    True
    """

    def __init__(
        self,
        cardinalities: Any = (2, 3),
        neighbors: Any = "auto",
        variation: Any = "max-square",
        alpha: Any = 1.0,
        beta: float = 1.0,
        *,
        degree: float | None = None,
        n_hyperedges: int | None = None,
        criterion: str = "ebic",
        gamma: float = 0.5,
        folds: int = 5,
        scale: Any = "auto",
        threshold: float = 1e-2,
        solver: str = "newton",
        tol: float | None = None,
        max_iter: int | None = None,
        solver_options: Mapping[str, Any] | None = None,
        candidates: Any = None,
        observation_weights: Any = None,
        neighbor_search: str = "auto",
        nodes: str = "rows",
        memory_budget: float | None = DEFAULT_MEMORY_BUDGET,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.cardinalities = cardinalities
        self.neighbors = neighbors
        self.variation = variation
        self.alpha = alpha
        self.beta = beta
        self.degree = degree
        self.n_hyperedges = n_hyperedges
        self.criterion = criterion
        self.gamma = gamma
        self.folds = folds
        self.scale = scale
        self.threshold = threshold
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.solver_options = solver_options
        self.candidates = candidates
        self.observation_weights = observation_weights
        self.neighbor_search = neighbor_search
        self.nodes = nodes
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> HSLS:
        """Learn the hypergraph of X.

        Parameters
        ----------
        X : array, or pandas or polars data frame
            Rows are nodes and columns observations, or the reverse with ``nodes="columns"``. NaN marks a missing
            value. The index, or the columns, of a data frame give the node names.
        y : ignored
        """
        settings = self._settings()
        signals, names = self._read(X)
        with shown(self.verbose):
            learned = learn(signals, settings, nodes=names)
        learned.solution.warn_unless_converged(self._advice)
        self.__dict__.pop("stream_", None)
        self._keep(learned)
        return self

    def update(self, X: Any, *, forgetting: float = 1.0) -> HSLS:
        """Take in new observations of the same nodes, and learn from all so far.

        The result is that of `fit` on all observations with the weights ``forgetting ** age``, the newest being of
        age 0, whatever pieces they come in. The candidates follow the distances as these change; the solver begins at
        the dual vector found before. Memory does not grow with the observations: the distances of all pairs of nodes
        are kept, N x N numbers (twice that for other than square variations, and once more from the first missing
        value on), which `memory_budget` limits.

        Parameters
        ----------
        X : array or data frame
            As in `fit`, oldest observation first. A node may be missing in it altogether if it was seen before.
        forgetting : float
            Above 0 and at most 1, which forgets nothing. With f below 1 about the last ``1 / (1 - f)`` observations
            count.

        Notes
        -----
        With ``scale="auto"`` the unit of the variations is found anew each time (`scale_`), so alpha and beta mean the
        same however many observations there are and however the level of the signals drifts: the hypergraph shows
        which nodes are alike compared with the others, not that all have become more alike. A number as `scale`
        keeps the unit; variations then grow with the sum of the observations' weights, ``stream_.distances.weight``.

        After `fit`, which keeps no distances, `update` cannot go on: begin with `update`. If learning is impossible
        after this piece, as where two nodes share no observation so far, the error says so and the piece is kept.

        Examples
        --------
        >>> from hsls import HSLS, random_hypergraph, smooth_signals
        >>> X = smooth_signals(random_hypergraph(40, 22, 3, random_state=0), 250, random_state=0)
        >>> model = HSLS(cardinalities=3)
        >>> for piece in (X[:, :100], X[:, 100:]):
        ...     model = model.update(piece)
        >>> model.hypergraph_.edges == HSLS(cardinalities=3).fit(X).hypergraph_.edges
        True
        """
        settings = self._settings()
        stream = self.__dict__.get("stream_")
        if stream is None and hasattr(self, "learned_"):
            raise ValueError(
                "this model was fitted by fit, which keeps no distances to go on from; begin with update instead, on a "
                "clone of it."
            )
        signals, names = self._read(X, first=stream is None)
        if stream is None:
            stream = Stream(settings, len(signals), names)
        self.stream_ = stream
        with shown(self.verbose):
            learned = stream.take(signals, settings, names, forgetting)
        learned.solution.warn_unless_converged(self._advice)
        self._keep(learned)
        return self

    @available_if(_rows_are_observations)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, *, forgetting: float = 1.0) -> HSLS:
        """`update` by scikit-learn's name, for ``nodes="columns"``: there, as elsewhere, X holds new rows.

        Parameters
        ----------
        X : array or data frame
            Rows are new observations, oldest first.
        y : ignored
        forgetting : float
            See `update`.
        """
        return self.update(X, forgetting=forgetting)

    def _settings(self) -> Settings:
        given = self.get_params(deep=False)
        return Settings(**{name: value for name, value in given.items() if name not in ("nodes", "verbose")})

    @property
    def _advice(self) -> str:
        return _ADVICE if self.solver == "newton" else _FBF_ADVICE

    def _keep(self, learned: Learned) -> None:
        super()._keep(learned)
        self.dual_ = learned.solution.dual
        self.certificate_ = learned.certificate
        self.certified_ = learned.over_all
        self.alpha_ = learned.parameter
