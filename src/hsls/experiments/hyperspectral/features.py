"""Train the convolutional networks and keep their features; needs nothing but numpy and torch.

    python -m hsls.experiments.hyperspectral.features --cube cube.npy --gt gt.npy --trials 5 --device cuda --out DIR

A machine with an accelerator need not have the other libraries. The files that this writes are those of the cache, so
that they may be copied into it; what is already in the folder is not trained again.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from hsls import _checks, _progress
from hsls._files import atomic_path, numpy_arrays, reason
from hsls.experiments.hyperspectral import _cnn, _splits
from hsls.experiments.hyperspectral._cache import Cache, key
from hsls.experiments.hyperspectral._scene import Scene

__all__ = ["LEAK_FREE", "PAPER", "PROTOCOLS", "by_protocol", "main", "network_seed", "trained"]

#: `leak-free`: each trial has its own network. `paper`: the one network that tests best serves every trial, though it
#: was trained on pixels that test in the others.
PROTOCOLS = LEAK_FREE, PAPER = ("leak-free", "paper")


def network_seed(trial: int, seed: int) -> int:
    """The seed of a trial's network, apart from that of its split."""
    return int(np.random.SeedSequence([seed, trial, 1]).generate_state(1)[0])


def trained(
    scene: Scene, trial: int, settings: _cnn.Settings, seed: int, device: str, keep: Cache, look: Sequence[Cache] = ()
) -> tuple[str, _cnn.Trained]:
    """The network of a trial and the key it is kept under: from a cache if one has it, else trained and kept.

    Parameters
    ----------
    scene : Scene
    trial : int
    settings : Settings
    seed : int
        Of the whole experiment.
    device : str
    keep : Cache
        Looked into last; what is trained is put there.
    look : sequence of Cache
        Others to look into first.
    """
    split = _splits.draw(scene.classes, trial, seed)
    own = network_seed(trial, seed)
    name = key(scene, split, settings, own)
    for cache in (*look, keep):
        if (found := cache.get(name)) is not None:
            return name, found
    new = _cnn.train(scene, split, settings, own, device)
    keep.put(name, new)
    return name, new


def by_protocol(networks: Sequence[_cnn.Trained], protocol: str) -> list[_cnn.Trained]:
    """The network that serves each trial, given each trial's own and one of `PROTOCOLS`."""
    if _checks.one_of(protocol, "protocol", PROTOCOLS) == LEAK_FREE:
        return list(networks)
    return [max(networks, key=lambda network: network.test_accuracy)] * len(networks)


class _Lines:
    """Progress as a line on standard error, for each tenth of a stage."""

    def __init__(self) -> None:
        self._stage, self._total, self._said = "", 1.0, 0

    def begin(self, stage: str, total: float | None) -> None:
        self._stage, self._total, self._said = stage, total or 1.0, 0

    def advance(self, done: float, note: str = "") -> None:
        tenth = int(10 * done / self._total)
        if tenth > self._said:
            self._said = tenth
            print(f"{self._stage} {done:g} of {self._total:g}  {note}", file=sys.stderr, flush=True)

    def end(self) -> None:
        pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = _options().parse_args(arguments)
    try:
        _run(options)
    except (ValueError, TypeError, FloatingPointError, RuntimeError, ImportError) as error:
        print(f"features: {reason(error)}.", file=sys.stderr)
        return 2 if isinstance(error, ValueError | TypeError) else 1
    return 0


def _options() -> argparse.ArgumentParser:
    defaults = _cnn.Settings()
    parser = argparse.ArgumentParser(prog="python -m hsls.experiments.hyperspectral.features", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--cube", required=True, metavar="NPY", help="height x width x bands")
    parser.add_argument("--gt", required=True, metavar="NPY", help="class of each pixel, 0 for none")
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder to write into; made if need be")
    parser.add_argument("--trials", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=defaults.epochs, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    parser.add_argument("--device", default="cpu", help="as torch names it: cpu, cuda (default: %(default)s)")
    return parser


def _run(options: argparse.Namespace) -> None:
    trials, seed = _checks.whole(options.trials, "--trials"), _checks.whole(options.seed, "--seed", least=0)
    settings = _cnn.Settings(epochs=_checks.whole(options.epochs, "--epochs"))
    scene = Scene.of(_array(options.cube), _array(options.gt))
    cache = Cache(options.out)
    rows: list[dict[str, Any]] = []
    with _progress.reporting(_Lines()):
        for trial in range(trials):
            begun = time.perf_counter()
            name, network = trained(scene, trial, settings, seed, options.device, cache)
            rows.append(_row(trial, cache.file(name).name, network, time.perf_counter() - begun))
            print(_line(rows[-1]), file=sys.stderr, flush=True)
    summary = {
        "seed": seed,
        "settings": dataclasses.asdict(settings),
        "device": _device(options.device),
        "versions": _versions(),
        "trials": rows,
    }
    with atomic_path(cache.folder / "features.json") as temporary:
        temporary.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


def _array(path: str) -> Any:
    arrays = numpy_arrays(path)
    if set(arrays) != {""}:
        raise ValueError(f"{path} must be a .npy file of one array.")
    return arrays[""]


def _row(trial: int, file: str, network: _cnn.Trained, seconds: float) -> dict[str, Any]:
    best = network.epoch - 1
    return {
        "trial": trial,
        "file": file,
        "epoch": network.epoch,
        "validation_loss_at_epoch": network.validation_loss[best],
        "validation_accuracy_at_epoch": network.validation_accuracy[best],
        "test_accuracy": network.test_accuracy,
        "seconds": round(seconds, 2),
        "train_loss": network.train_loss,
        "validation_loss": network.validation_loss,
        "validation_accuracy": network.validation_accuracy,
    }


def _line(row: dict[str, Any]) -> str:
    return (
        f"trial {row['trial']}: epoch {row['epoch']}, validation {100 * row['validation_accuracy_at_epoch']:.1f} %, "
        f"test {100 * row['test_accuracy']:.2f} %, {row['seconds']:.1f} s"
    )


def _device(device: str) -> str:
    import torch

    return torch.cuda.get_device_name(device) if torch.device(device).type == "cuda" else device


def _versions() -> dict[str, str]:
    import platform

    import torch

    from hsls import __version__

    return {
        "hsls": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
    }


if __name__ == "__main__":
    sys.exit(main())
