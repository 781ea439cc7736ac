"""Training runs on the disk: where they are, their metrics, and the trajectories that were kept."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from envace_sdk.errors import StoreError
from envace_sdk.evaluate.curves import means

__all__ = ["FIGURES", "MOST_OVERLAID", "NO_RUN", "WARMUP", "TrainingRun", "find_runs", "points", "reached"]

FIGURES: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "Success": (("success", "eval/success"), "share of tasks"),
    "Reward by role": (("reward/act", "reward/rehearse"), "mean reward"),
    "Fidelity": (("eval/fidelity", "agreement"), "share of answers"),
    "Entropy, nats per token": (("act/entropy", "rehearse/entropy"), "nats per token"),
    "Turns that can be read": (("format/act", "format/rehearse"), "share of turns"),
    "Turns of a trajectory": (("turns",), "turns"),
    "Tokens by role": (("act/tokens", "rehearse/tokens"), "tokens"),
    "Dropped: trajectories, and rows cut off": (("masked", "truncated_rows"), "count"),
    "How trajectories end": (("ended/answered", "ended/malformed", "ended/truncated"), "share of trajectories"),
    "Groups with something to learn from": (("learning_share",), "share of groups"),
    "Gradient norm": (("grad_norm",), "norm"),
    "Seconds per step": (("time/rollout_seconds", "time/seconds"), "seconds"),
    "Loss of the warm-up": (("warmup/loss",), "loss"),
}
"""What is drawn of a run: by title the metrics, and the unit that they share."""

MOST_OVERLAID: Final = 6
"""Runs that are drawn over each other: colours that can be told apart are few."""

NO_RUN: Final = "{}: no training run lies in it: there is no run.json or metrics.jsonl in it or below it"
_METRICS: Final = "metrics.jsonl"
_MANIFEST: Final = "run.json"
WARMUP: Final = "warmup"
"""The folder of the warm-up in a run; the names of its metrics begin so, since its steps are counted from 1 too."""

_DEEPEST: Final = 4
_MOST_RUNS: Final = 500
_MOST_BYTES: Final = 64 * 2**20
_MOST_POINTS: Final = 400
_FARTHEST: Final = 1e300
_MOST_TRAJECTORIES: Final = 50


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """One run."""

    name: str
    folder: Path

    @property
    def model(self) -> str:
        """What is trained, as far as the run says it."""
        try:
            found = json.loads(_read(self.folder / _MANIFEST))
        except (StoreError, ValueError, RecursionError):
            return ""
        config = found.get("config") if isinstance(found, Mapping) else None
        return str(config.get("model", "")) if isinstance(config, Mapping) else ""

    def steps(self) -> list[dict[str, Any]]:
        """The numbers of each step, first those of the warm-up, as `warmup/…`; lines that are none are left out.

        Raises:
            StoreError: they cannot be read.
        """
        folder = self.folder / WARMUP
        warm = [] if folder.is_symlink() else _steps(folder / _METRICS)
        named = [{name if name == "step" else f"{WARMUP}/{name}": one[name] for name in one} for one in warm]
        return [*named, *_steps(self.folder / _METRICS)]

    def sampled_steps(self) -> list[int]:
        """The steps of which trajectories were kept."""
        files = (self.folder / "samples").glob("*.jsonl")
        return sorted(int(file.stem) for file in files if file.stem.isascii() and file.stem.isdecimal())

    def samples(self, step: int) -> list[dict[str, Any]]:
        """The trajectories that were kept of a step. Raises: StoreError when they cannot be read."""
        return list(_objects(_read(self.folder / "samples" / f"{step:06}.jsonl")))[:_MOST_TRAJECTORIES]


def find_runs(folders: Iterable[Path]) -> dict[str, TrainingRun]:
    """The runs in some folders, each of which is one or holds some, by name."""
    found: dict[str, TrainingRun] = {}
    for top in folders:
        for folder in _runs_below(top, 0):
            name = top.name if folder == top else str(folder.relative_to(top))
            while name in found:  # two folders with runs of one name
                name += "'"
            found[name] = TrainingRun(name, folder)
            if len(found) >= _MOST_RUNS:
                return found
    return found


def reached(steps: Sequence[Mapping[str, Any]]) -> str:
    """How far a run with these steps is, in words: `step 20`, or `warm-up step 3`."""
    last = steps[-1] if steps else {"step": 0}
    is_warm = any(name.startswith(f"{WARMUP}/") for name in last)
    return f"{'warm-up ' if is_warm else ''}step {last['step']}"


def points(steps: Sequence[Mapping[str, Any]], name: str, *, smooth: int = 1) -> list[tuple[float, float]]:
    """A curve: step and value, where the value can be drawn; thinned out where there are very many.

    Args:
        steps: the numbers of each step.
        name: of the metric.
        smooth: the points that each is made the mean of.
    """
    every = means([(float(one["step"]), float(one[name])) for one in steps if _is_figure(one.get(name))], smooth)
    stride = max(1, math.ceil(len(every) / _MOST_POINTS))
    return every[::stride]


def _is_figure(value: Any) -> bool:
    """Whether it is a number, and the distance of two such is one too."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -_FARTHEST < value < _FARTHEST


def _runs_below(folder: Path, depth: int) -> Iterator[Path]:
    if (folder / _METRICS).is_file() or (folder / _MANIFEST).is_file():
        yield folder
    elif depth < _DEEPEST and folder.is_dir():
        for inner in sorted(folder.iterdir()):
            if inner.is_dir() and not inner.is_symlink() and inner.name != WARMUP and not inner.name.startswith("."):
                yield from _runs_below(inner, depth + 1)


def _steps(file: Path) -> list[dict[str, Any]]:
    """The numbers of each step; none where there is no such file yet, as during the warm-up."""
    found = _objects(_read(file)) if file.exists() else ()
    return [one for one in found if _is_figure(one.get("step")) and isinstance(one["step"], int)]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):  # cut short by a kill, or none of ours
            continue
        if isinstance(found, dict):
            yield found


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode(errors="replace")
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or error}") from error
