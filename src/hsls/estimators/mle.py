"""Penalised maximum likelihood under the Gaussian field of the star expansion."""

from __future__ import annotations

from typing import Any

from hsls.candidates import DEFAULT_MEMORY_BUDGET
from hsls.estimators._base import LearnedEstimator, shown
from hsls.likelihood.learning import LikelihoodSettings, learn_by_likelihood

__all__ = ["HypergraphMLE"]

_ADVICE = "raise max_iter, or tol, or the penalty"


class HypergraphMLE(LearnedEstimator):
    r"""Learn the hypergraph that makes the signals most likely.

    The signals are taken to be Gaussian on the star expansion of the hypergraph. Without its centres that is a field
    on the nodes with the precision matrix ``L(w) = sum_e w_e (diag(1_e) - 1_e 1_e' / |e|)``. Minimises, over weights
    w >= 0 of candidate hyperedges,

    .. math:: tr(C L(w)) - \log\det (L(w) + J / N) + \lambda \sum_e w_e

    with C the covariance of the signals and J all ones, and proves how near the result is to the optimum. Nodes that
    no candidates connect are solved apart.

    Parameters
    ----------
    cardinalities : int or iterable of int
        Sizes of hyperedges to choose among; {2} learns a graph.
    neighbors : int, mapping, sequence, "auto" or "all"
        As in `HSLS`, but where no value is missing "auto" takes all subsets of the nodes if these are up to 200,000,
        and beyond adds the subsets of each node's 8 most correlated nodes.
    penalty : float or "auto"
        lambda, for variations over `scale`. "auto": lambda and the hyperedges are chosen by `criterion`.
    criterion : {"ebic", "cv"}
        How "auto" chooses: by the extended Bayesian information criterion (the log-likelihood less
        ``log(P) / 2 + gamma log(D)`` for each parameter, with P observations and D candidates), or by the likelihood
        of held-out observations. "ebic" also adds, drops and swaps hyperedges, and cuts groups of nodes off.
    gamma : float
        Of "ebic": the larger, the fewer hyperedges.
    folds : int
        Of "cv": folds of consecutive observations.
    threshold : float
        Least weight of a hyperedge of `hypergraph_` where the penalty is a number.
    scale : {"auto", "median", "mean"}, float or None
        What the variations ``tr(C M_e)`` are divided by. "auto": ``tr(C M_e) / (|e| - 1)`` of the nearest candidate of
        a typical node, so that weights are about 1 and the penalty means the same in any units. Weights over `scale_`
        are in the units of the signals.
    centre : bool
        Take away the mean of each node's observations first. Otherwise nodes of different levels are far apart.
    noise : float
        Variance of white noise in the signals, in their units, which the variations are freed of.
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Newton iterations.
    candidates, observation_weights, neighbor_search, nodes, memory_budget, n_jobs, verbose
        As in `HSLS`.

    Attributes
    ----------
    hypergraph_ : Hypergraph
        With ``penalty="auto"`` the chosen hyperedges, their weights refitted without penalty; otherwise those of
        weight at least `threshold`.
    candidates_ : Candidates
    weights_ : array
        Weight of every candidate at the optimum of the penalised problem.
    penalty_ : float
        lambda, given or chosen.
    path_ : Path or None
        The path along which the penalty was chosen, with its scores; see `hsls.drawing.draw_path`.
    duality_gap_ : float
        Relative: ``(primal - dual) / (N - number of blocks)``. The objective is this near to the optimum, at most.
    n_iter_ : int
    history_ : dict of arrays
        "iteration", "seconds", "primal", "dual_value" and "gap".
    scale_ : float
        What the variations were divided by.
    neighbors_ : Neighbors or None
    solution_ : Solution
        Its `dual` holds, for every node, the factor s by which the inverse of ``L(w) + J / N``, off the constants, is
        a point of the dual problem.
    learned_ : Learned
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The matrices are dense: time grows as N^3, and blocks of up to 4,000 nodes are accepted. A choice takes some seconds
    for some hundred nodes, and minutes for thousands; beyond 400 it searches from fewer starts.

    Examples
    --------
    >>> from hsls import HypergraphMLE, compare, random_hypergraph, smooth_signals
    >>> truth = random_hypergraph(40, 22, 3, random_state=0)
    >>> model = HypergraphMLE(cardinalities=3).fit(smooth_signals(truth, 250, random_state=0))
    >>> model.duality_gap_ < 1e-6
    True
    >>> compare(model.hypergraph_, truth).f1
    1.0
    """

    def __init__(
        self,
        cardinalities: Any = (2, 3),
        neighbors: Any = "auto",
        penalty: Any = "auto",
        *,
        criterion: str = "ebic",
        gamma: float = 0.5,
        folds: int = 5,
        threshold: float = 0.3,
        scale: Any = "auto",
        centre: bool = False,
        noise: float = 0.0,
        tol: float = 1e-6,
        max_iter: int = 200,
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
        self.penalty = penalty
        self.criterion = criterion
        self.gamma = gamma
        self.folds = folds
        self.threshold = threshold
        self.scale = scale
        self.centre = centre
        self.noise = noise
        self.tol = tol
        self.max_iter = max_iter
        self.candidates = candidates
        self.observation_weights = observation_weights
        self.neighbor_search = neighbor_search
        self.nodes = nodes
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> HypergraphMLE:
        """Learn the hypergraph of X; see `HSLS.fit` for what X may be."""
        given = self.get_params(deep=False)
        settings = LikelihoodSettings(
            **{name: value for name, value in given.items() if name not in ("nodes", "verbose")}
        )
        signals, names = self._read(X)
        with shown(self.verbose):
            learned = learn_by_likelihood(signals, settings, nodes=names)
        learned.solution.warn_unless_converged(_ADVICE)
        self._keep(learned)
        self.penalty_ = learned.parameter
        return self
