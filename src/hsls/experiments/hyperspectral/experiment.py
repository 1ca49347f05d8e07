"""Superpixels of Indian Pines classified on hypergraphs: nearest neighbours, or learned (the paper's section V-C)."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from hsls import _checks, _threads
from hsls._files import PathLike
from hsls._runs import each
from hsls._types import IntArray
from hsls.datasets import load_indian_pines
from hsls.experiments._outputs import Folder
from hsls.experiments.hyperspectral import _cache, _cnn, _figures, _report
from hsls.experiments.hyperspectral._models import (
    BASELINE,
    HSLS,
    MODELS,
    TRIED,
    Choice,
    Fitted,
    Learned,
    Model,
    Task,
    fit,
    pixel_probabilities,
)
from hsls.experiments.hyperspectral._report import PAPER_BASELINE, PAPER_BEST, About
from hsls.experiments.hyperspectral._scene import Scene
from hsls.experiments.hyperspectral._scores import Scores, score
from hsls.experiments.hyperspectral._segments import N_SEGMENTS, blocks, ceiling, superpixels
from hsls.experiments.hyperspectral._splits import Split, draw
from hsls.experiments.hyperspectral.features import LEAK_FREE, PROTOCOLS, by_protocol, network_seed, trained

__all__ = ["BOTH", "run"]

BOTH = "both"
#: Epochs of a network on hypergraphs.
EPOCHS = 300


@dataclass(frozen=True)
class Outcome:
    """A model in one trial: its networks by the number of superpixels asked for, what it tells, and the scores."""

    protocol: str
    model: str
    trial: int
    fits: dict[int, Fitted]
    told: IntArray
    scores: Scores


def run(
    out: PathLike,
    *,
    trials: int = 5,
    epochs: int | None = None,
    protocol: str = LEAK_FREE,
    features: PathLike | None = None,
    seed: int = 0,
    device: str = "auto",
    data: PathLike | None = None,
    n_jobs: int | None = None,
) -> list[dict[str, Any]]:
    """Write tables, figures, the convolutional networks' curves and report.md; returns the rows of the table.

    Parameters
    ----------
    out : path
        The folder to write into; made if need be, once the other parameters have been found right.
    trials : int
        Each draws a split of its own.
    epochs : int, optional
        Of the convolutional networks and of those on hypergraphs; 200 and 300 by default.
    protocol : {"leak-free", "paper", "both"}
    features : path, optional
        Folder of convolutional networks trained elsewhere, looked into before the user's cache.
    seed : int
    device : {"auto", "cpu", "cuda"}
        Where convolutional networks are trained. Those on hypergraphs are small, and trained side by side on all cores.
    data : path, optional
    n_jobs : int, optional
    """
    from hsls.drawing import _canvas
    from hsls.nn._device import choose_device

    trials, seed = _checks.whole(trials, "trials"), _checks.whole(seed, "seed", least=0)
    if epochs is not None:
        epochs = _checks.whole(epochs, "epochs")
    protocols = PROTOCOLS if _checks.one_of(protocol, "protocol", (*PROTOCOLS, BOTH)) == BOTH else (protocol,)
    device = choose_device(device).type
    shelf, record = (None, None) if features is None else (_shelf(features), _record(features))
    _canvas.matplotlib()
    with _threads.limit(n_jobs):
        folder = Folder(out)
    cube, classes, names = load_indian_pines(data=data)
    scene = Scene.of(cube, classes)
    scales = sorted({scale for model in (*MODELS, *TRIED) for scale in model.scales})
    labels = {scale: superpixels(scene, scale) for scale in scales}
    settings = _cnn.Settings() if epochs is None else _cnn.Settings(epochs=epochs)
    networks = _networks(scene, trials, settings, seed, device, shelf)
    splits = [draw(scene.classes, trial, seed) for trial in range(trials)]
    stage = _Stage(scene, splits, labels, networks, EPOCHS if epochs is None else epochs, seed)
    outcomes = stage.outcomes([(name, model) for name in protocols for model in MODELS], "models", n_jobs)
    others = stage.outcomes([(name, model) for name in protocols for model in TRIED], "what else was tried", n_jobs)
    about = About(
        names=names[: scene.n_classes],
        protocols=protocols,
        trials=trials,
        seed=seed,
        epochs=(settings.epochs, stage.epochs),
        n_test=len(splits[0].test),
        networks=networks,
        superpixels={scale: (int(found.max()) + 1, ceiling(found, scene.classes)) for scale, found in labels.items()},
        trained_on=record,
    )
    return _write(folder, scene, outcomes, others, about)


# -- the convolutional networks ----------------------------------------------------------------------------------------


def _shelf(features: PathLike) -> _cache.Cache:
    if not Path(features).is_dir():
        raise ValueError(f"features names {features}, which is no folder; name one that holds cnn-*.npz files.")
    return _cache.Cache(features)


def _networks(
    scene: Scene, trials: int, settings: _cnn.Settings, seed: int, device: str, shelf: _cache.Cache | None
) -> list[_cnn.Trained]:
    look = [] if shelf is None else [shelf]
    found = []
    for trial in range(trials):
        name, network = trained(scene, trial, settings, seed, device, _cache.users(), look)
        if shelf is not None and not shelf.file(name).exists():
            warnings.warn(
                f"{shelf.folder} holds no network of trial {trial} with these epochs and this seed; it was taken from "
                "the cache or trained.",
                stacklevel=2,
            )
        found.append(network)
    return found


def _record(features: PathLike) -> dict[str, Any] | None:
    """What the stage command wrote of the networks in a folder, if it did."""
    file = Path(features) / "features.json"
    if not file.exists():
        return None
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        return {name: record[name] for name in ("device", "versions", "seed", "settings")}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} is no record of convolutional networks ({error}); remove it.") from None


# -- the networks on hypergraphs ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Stage:
    """All that models are trained and tested on."""

    scene: Scene
    splits: Sequence[Split]
    labels: dict[int, IntArray]
    networks: Sequence[_cnn.Trained]
    epochs: int
    seed: int

    def outcomes(self, wanted: Sequence[tuple[str, Model]], name: str, n_jobs: int | None) -> list[Outcome]:
        """Every model by its protocol, in every trial; nothing but the scores has seen a test pixel's class."""
        runs = [(protocol, model, trial) for protocol, model in wanted for trial in range(len(self.splits))]
        tasks = {self.key(*run, scale): self.task(*run, scale) for run in runs for scale in run[1].scales}
        fits = dict(zip(tasks, each(fit, tasks.values(), name, n_jobs), strict=True))
        return [self.outcome(*run, {scale: fits[self.key(*run, scale)] for scale in run[1].scales}) for run in runs]

    def key(self, protocol: str, model: Model, trial: int, scale: int) -> tuple[Any, ...]:
        """Equal for equal tasks: protocols share a network in one trial, models their network at one scale."""
        network = by_protocol(self.networks, protocol)[trial]
        standard = model.standard_input, model.standard_blocks
        return id(network), model.choices, model.together, standard, trial, scale

    def task(self, protocol: str, model: Model, trial: int, scale: int) -> Task:
        features = by_protocol(self.networks, protocol)[trial].features
        labels, split = self.labels[scale], self.splits[trial]
        given, joined = (
            tuple(blocks(self.scene, labels, features, standard).values())
            for standard in (model.standard_input, model.standard_blocks)
        )
        return Task(
            choices=model.choices,
            X=np.concatenate(given, axis=1),
            blocks=(np.concatenate(joined, axis=1),) if model.together else joined,
            train=self.shown(labels, split.train),
            validation=self.shown(labels, split.validation),
            epochs=self.epochs,
            # Equal for all models, so that they differ by their hypergraphs alone.
            seed=network_seed(trial, self.seed),
        )

    def shown(self, labels: IntArray, pixels: IntArray) -> tuple[IntArray, IntArray]:
        return labels.ravel()[pixels], self.scene.classes.ravel()[pixels]

    def outcome(self, protocol: str, model: Model, trial: int, fits: dict[int, Fitted]) -> Outcome:
        told = pixel_probabilities([(self.labels[scale], one) for scale, one in fits.items()]).argmax(axis=1) + 1
        test = self.splits[trial].test
        scores = score(told[test], self.scene.classes.ravel()[test], self.scene.n_classes)
        return Outcome(protocol, model.name, trial, fits, told.reshape(self.scene.classes.shape), scores)


# -- what is written ---------------------------------------------------------------------------------------------------


def _write(
    folder: Folder,
    scene: Scene,
    outcomes: Sequence[Outcome],
    others: Sequence[Outcome],
    about: About,
) -> list[dict[str, Any]]:
    rows = [_summary(group) | {"paper_OA_mean": None, "paper_OA_std": None} for group in _groups(outcomes)]
    for protocol in about.protocols:
        own = [row for row in rows if row["protocol"] == protocol]
        best = max((row for row in own if row["model"] in HSLS), key=lambda row: row["OA_mean"])
        for row, known in ((own[0], PAPER_BASELINE), (best, PAPER_BEST)):
            row["paper_OA_mean"], row["paper_OA_std"] = known
    tried = [_summary(group) for group in _groups(others)]
    by_class = [row for group in _groups(outcomes) for row in _by_class(group, about.names)]
    folder.table("table", rows)
    folder.table("classes", by_class)
    folder.table("trials", [_trial(one) for one in (*outcomes, *others)])
    folder.table("settings", [row for one in outcomes for row in _settings(one)])
    folder.table("grid", [row for one in outcomes for row in _grid(one)])
    folder.table("tried", tried)
    folder.json("cnn", [_network(trial, network) for trial, network in enumerate(about.networks)])
    folder.json("run", _run(about))
    first = [one for one in outcomes if one.protocol == about.protocols[0]]
    maps = {one.model: one.told for one in first if one.trial == 0}
    histories = {
        name: [one.fits[N_SEGMENTS].history for one in first if one.model == name] for name in (BASELINE, *HSLS)
    }
    folder.figure("scene", _figures.scene(scene, about.names))
    folder.figure("maps", _figures.maps(maps, scene, about.names))
    folder.figure("curves", _figures.curves(about.networks, histories))
    folder.text("table.md", "\n".join(f"{name}:\n\n{_report.table(rows, name)}" for name in about.protocols))
    folder.text("report.md", _report.report(rows, by_class, tried, about))
    return rows


def _groups(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """The trials of each model by each protocol, in the order that they come in."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault((one.protocol, one.model), []).append(one)
    return list(groups.values())


def _summary(group: Sequence[Outcome]) -> dict[str, Any]:
    row: dict[str, Any] = {"protocol": group[0].protocol, "model": group[0].model}
    for name in ("OA", "AA", "kappa"):
        row[f"{name}_mean"], row[f"{name}_std"] = _percent([getattr(one.scores, name) for one in group])
    return row


def _by_class(group: Sequence[Outcome], names: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for number, name in enumerate(names):
        mean, std = _percent([float(one.scores.classes[number]) for one in group])
        rows.append({"protocol": group[0].protocol, "model": group[0].model, "class": number + 1, "name": name,
                     "accuracy_mean": mean, "accuracy_std": std})  # fmt: skip
    return rows


def _percent(shares: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation, in percent to four digits after the point."""
    values = 100 * np.array(shares)
    return round(float(values.mean()), 4), round(float(values.std(ddof=1)), 4) if len(values) > 1 else 0.0


def _trial(one: Outcome) -> dict[str, Any]:
    scores = {name: round(100 * getattr(one.scores, name), 4) for name in ("OA", "AA", "kappa")}
    return {"protocol": one.protocol, "model": one.model, "trial": one.trial, **scores}


def _settings(one: Outcome) -> list[dict[str, Any]]:
    """What was chosen for each number of superpixels."""
    return [
        {**_of(one, scale, found.choice), "superpixels": len(found.probabilities), "hyperedges": found.n_edges,
         "epoch": found.epoch, "validation_loss": round(found.validation_loss, 6)}
        for scale, found in one.fits.items()
    ]  # fmt: skip


def _grid(one: Outcome) -> list[dict[str, Any]]:
    """What was chosen among."""
    return [
        {**_of(one, scale, choice), "validation_loss": round(loss, 6)}
        for scale, found in one.fits.items()
        for choice, loss in found.tried
    ]


def _of(one: Outcome, scale: int, choice: Choice) -> dict[str, Any]:
    theta = choice.theta if isinstance(choice, Learned) else None
    return {"protocol": one.protocol, "model": one.model, "trial": one.trial, "asked_for": scale,
            "neighbors": choice.neighbors, "theta": theta}  # fmt: skip


def _network(trial: int, network: _cnn.Trained) -> dict[str, Any]:
    return {
        "trial": trial,
        "epoch": network.epoch,
        "test_accuracy": network.test_accuracy,
        "train_loss": network.train_loss,
        "validation_loss": network.validation_loss,
        "validation_accuracy": network.validation_accuracy,
    }


def _run(about: About) -> dict[str, Any]:
    return {
        "seed": about.seed,
        "trials": about.trials,
        "protocols": list(about.protocols),
        "epochs": {"convolutional networks": about.epochs[0], "networks on hypergraphs": about.epochs[1]},
        "superpixels": [
            {"asked_for": scale, "found": number, "ceiling": share}
            for scale, (number, share) in sorted(about.superpixels.items())
        ],
        "convolutional networks": about.trained_on,
        "versions": {name: metadata.version(name) for name in ("hsls", "numpy", "scipy", "torch", "scikit-image")},
    }
