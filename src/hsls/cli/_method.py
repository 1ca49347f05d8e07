"""The method of ``hsls learn``: which one the options ask for, and what they mean to it.

Nothing numerical is imported at the top.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hsls.cli import _options

if TYPE_CHECKING:
    from hsls._refits import Estimator
    from hsls.learning import Learned, Settings
    from hsls.likelihood.learning import LikelihoodSettings
    from hsls.tables import Signals

HSLS, MLE = "hsls", "mle"
METHODS = (MLE, HSLS)

#: Nodes up to which the likelihood is used unless a method is named: its time grows as their number cubed.
LARGEST = 500

# Options by the attribute that holds them, whose default is None: those of one method alone.
_OF = {
    HSLS: ("alpha", "beta", "degree", "n_hyperedges", "variation", "solver", "balance"),
    MLE: ("penalty", "noise"),
}
_TARGETS = ("degree", "n_hyperedges")
_PARAMETER = {HSLS: "alpha", MLE: "penalty"}
_ADVICE = {
    HSLS: "raise --max-iter or --tol, or raise --alpha or --beta",
    MLE: "raise --max-iter or --tol, or the --penalty",
}


@dataclass(frozen=True)
class Method:
    """A method with its settings.

    Attributes
    ----------
    name : {"mle", "hsls"}
    settings : Settings or LikelihoodSettings
        As the method has them.
    asked : bool
        Whether the user named the method, or gave an option that only it has.
    centre : bool
        Whether each node's mean is taken away first.
    """

    name: str
    settings: Settings | LikelihoodSettings
    asked: bool
    centre: bool

    @property
    def parameter(self) -> str:
        return _PARAMETER[self.name]

    @property
    def advice(self) -> str:
        """What to do where it did not converge."""
        return _ADVICE[self.name]

    @property
    def chooses(self) -> bool:
        """Whether the parameter follows from the data."""
        return self.settings.chooses

    def prepared(self, signals: Signals) -> Signals:
        """The signals to learn from: as they are, or for HSLS, which does not centre them, centred."""
        import numpy as np

        from hsls.learning import check_signals

        X = np.ascontiguousarray(check_signals(signals.values))  # so that rounding is the same for rows and columns
        if self.centre and self.name == HSLS:
            X = X - np.nanmean(X, axis=1, keepdims=True)
        return replace(signals, values=X)

    def learn(self, signals: Signals, names: tuple[str, ...]) -> Learned:
        """Learn from prepared signals."""
        from hsls.learning import Settings, learn
        from hsls.likelihood.learning import learn_by_likelihood

        if isinstance(self.settings, Settings):
            return learn(signals.values, self.settings, nodes=names)
        return learn_by_likelihood(signals.values, replace(self.settings, centre=self.centre), nodes=names)

    def estimator(self) -> Estimator:
        """The estimator that learns the same from prepared signals."""
        from hsls import estimators

        if self.name == HSLS:
            return estimators.HSLS(**vars(self.settings))
        return estimators.HypergraphMLE(**(vars(self.settings) | {"centre": self.centre}))


def add(parser: _options.Parser) -> None:
    group = parser.add_argument_group("method")
    group.add_argument(
        "-m", "--method", metavar="mle|hsls",
        help="mle: the likelihood of a Gaussian field; hsls: the smoothness of the signals (default: mle; hsls where "
        f"one of its options is given, or for more than {LARGEST:,} nodes)",
    )  # fmt: skip
    group.add_argument(
        "--criterion", metavar="ebic|cv",
        help="how the data choose --penalty or --alpha: extended BIC or cross-validation (default: ebic)",
    )  # fmt: skip
    group.add_argument(
        "--centre", action=argparse.BooleanOptionalAction,
        help="whether each node's mean is taken away first, so that nodes of different levels are not far apart "
        "(default: yes, unless the method is named hsls or one of its options is given, which is as in the paper)",
    )  # fmt: skip
    group.add_argument("--path-plot", metavar="FILE", help="draw the path of the choice: .png, .pdf or .svg")


def of(arguments: argparse.Namespace) -> Method:
    """The method that the options ask for; refuses options that do not go together."""
    name, asked = _name(arguments)
    automatic = _is_automatic(arguments, name)
    target = name == HSLS and any(getattr(arguments, option) is not None for option in _TARGETS)
    if not automatic:
        _refuse_choice(arguments, name, target)
    if automatic and arguments.threshold is not None:
        raise ValueError(
            f"--threshold is for a number as --{_PARAMETER[name]}, but an automatic choice finds how many hyperedges "
            "to keep; leave it out, or give a number."
        )
    if name == MLE and arguments.neighbors == "certified":
        raise ValueError("--neighbors certified is for --method hsls; for mle use 'all', a number or 'auto'.")
    settings = _of_hsls(arguments) if name == HSLS else _of_likelihood(arguments)
    settings.check()
    centre = name == MLE if arguments.centre is None else bool(arguments.centre)
    return Method(name, settings, asked, centre)


def for_signals(
    method: Method, arguments: argparse.Namespace, n_nodes: int, n_observations: int
) -> tuple[Method, str | None]:
    """The method for signals of this size, and what to tell the user where it is another one than usual.

    Where the user asked for no parameter and the likelihood, by which the data choose one, would take long, HSLS takes
    over with alpha = 1. A single observation is its own mean.
    """
    if method.centre and n_observations == 1:
        if arguments.centre:
            raise ValueError("--centre leaves nothing of 1 observation; leave it out.")
        method = replace(method, centre=False)
    insists = method.asked if method.name == MLE else arguments.alpha is not None or _has_target(arguments)
    if n_nodes <= LARGEST or insists:
        return method, None
    if arguments.criterion or arguments.path_plot:
        option = "--criterion" if arguments.criterion else "--path-plot"
        raise ValueError(
            f"{option} is for a choice by the data, which for more than {LARGEST:,} nodes (there are {n_nodes:,}) has "
            "to be asked for, as it takes long; give --method mle or --alpha auto."
        )
    settings = replace(_of_hsls(arguments), alpha=1.0)
    reason = (
        f"there are {n_nodes:,} nodes, and the likelihood takes long for more than {LARGEST:,}: this is HSLS with "
        "alpha 1; --method mle or --alpha auto insist on a choice by the data."
    )
    return Method(HSLS, settings, method.asked, method.centre), reason


def _name(arguments: argparse.Namespace) -> tuple[str, bool]:
    from hsls import _checks

    given = {
        name: [option for option in options if getattr(arguments, option) is not None] for name, options in _OF.items()
    }
    if arguments.method is not None:
        name = str(_checks.one_of(arguments.method, "--method", METHODS))
        other = HSLS if name == MLE else MLE
        if given[other]:
            raise ValueError(
                f"{_option(given[other][0])} is for --method {other}, but the method is {name}; leave one out."
            )
        return name, True
    if given[HSLS] and given[MLE]:
        raise ValueError(
            f"{_option(given[HSLS][0])} is for --method {HSLS} and {_option(given[MLE][0])} for --method {MLE}; leave "
            "one out."
        )
    if given[HSLS] or arguments.neighbors == "certified":
        if given[MLE]:
            raise ValueError(
                f"--neighbors certified is for --method hsls and {_option(given[MLE][0])} for --method mle; leave one "
                "out."
            )
        return HSLS, True
    return MLE, bool(given[MLE])


def _is_automatic(arguments: argparse.Namespace, name: str) -> bool:
    given = getattr(arguments, _PARAMETER[name])
    return given == "auto" or (given is None and not (name == HSLS and _has_target(arguments)))


def _has_target(arguments: argparse.Namespace) -> bool:
    return any(getattr(arguments, option) is not None for option in _TARGETS)


def _refuse_choice(arguments: argparse.Namespace, name: str, target: bool) -> None:
    """Refuse what belongs to a choice where there is none, or another one."""
    wished = [_option(option) for option in _TARGETS if name == HSLS and getattr(arguments, option) is not None]
    given = wished[0] if wished else f"--{_PARAMETER[name]} with a number"
    if arguments.criterion is not None:
        raise ValueError(f"--criterion is for an automatic choice, but {given} leaves it nothing; leave one out.")
    if arguments.path_plot is not None and not target:
        raise ValueError(f"--path-plot draws the path of a choice, but {given} leaves none; leave one out.")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _shared(arguments: argparse.Namespace) -> dict[str, Any]:
    """What both methods know; left out where the method's own default holds."""
    given: dict[str, Any] = {
        "cardinalities": arguments.cardinalities,
        "neighbors": arguments.neighbors,
        "scale": arguments.scale,
        "neighbor_search": arguments.neighbor_search,
        "n_jobs": arguments.jobs,
    }
    for name in ("threshold", "tol", "max_iter", "criterion"):
        if getattr(arguments, name) is not None:
            given[name] = getattr(arguments, name)
    if arguments.memory_budget is not _options.DEFAULT:
        given["memory_budget"] = arguments.memory_budget
    return given


def _of_hsls(arguments: argparse.Namespace) -> Settings:
    from hsls.learning import Settings

    given = _shared(arguments)
    for name in ("variation", "alpha", "beta", "degree", "n_hyperedges", "solver"):
        if getattr(arguments, name) is not None:
            given[name] = getattr(arguments, name)
    if arguments.balance is not None:
        solver = arguments.solver or "newton"
        if solver != "fbf":
            raise ValueError(f"--balance is for --solver fbf, but the solver is {solver}; leave it out.")
        given["solver_options"] = {"balance": arguments.balance}
    if _is_automatic(arguments, HSLS):
        given["alpha"] = "auto"
    return Settings(**given)


def _of_likelihood(arguments: argparse.Namespace) -> LikelihoodSettings:
    from hsls.likelihood.learning import LikelihoodSettings

    given = _shared(arguments)
    for name in _OF[MLE]:
        if getattr(arguments, name) is not None:
            given[name] = getattr(arguments, name)
    return LikelihoodSettings(**given)
