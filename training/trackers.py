"""Where metrics are shown beside `metrics.jsonl`: TensorBoard, the store, wandb or trackio."""

from __future__ import annotations

import importlib
import os
import socket
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias

from envace_sdk.errors import StoreError, TrainingError
from envace_sdk.store import TrainingRuns
from envace_sdk.variables import STORE_URL

__all__ = ["Tracker", "TrackerName", "open_tracker"]

TrackerName: TypeAlias = Literal["tensorboard", "store", "trackio", "wandb"]
Steps: TypeAlias = Mapping[int, Mapping[str, float]]
"""Metrics by step."""

_PROJECT: Final = "envace"


class Tracker(Protocol):
    """Somewhere that numbers are shown."""

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Take the numbers of a step."""

    def close(self) -> None:
        """Take no more."""


def open_tracker(name: str, directory: Path, known: Steps, run: Mapping[str, Any]) -> Tracker:
    """The tracker of that name.

    Args:
        name: as in the config.
        directory: of the run.
        known: what was logged so far, up to where the run goes on; what a tracker holds beyond that is void.
        run: settings of the run, for trackers that show them.

    Raises:
        TrainingError: it is not installed; StoreError: the store cannot be used.
    """
    try:
        match name:
            case "tensorboard":
                return _TensorBoard(directory, max(known, default=0))
            case "store":
                return _Stored(directory, known, run)
            case _:
                return _Wandb(name, directory, run)
    except ImportError as error:
        raise TrainingError(f"trackers: {name} is not installed: pip install {name}, or leave it out") from error


class _TensorBoard:
    def __init__(self, directory: Path, resume_at: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(directory / "tensorboard"), purge_step=resume_at + 1)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class _Stored:
    """The store at ENVACE_STORE_URL, or the user's own.

    A database that fails on the way stops no training: what it missed is written with the next step that it takes, and
    all of it when the run is resumed.
    """

    def __init__(self, directory: Path, known: Steps, run: Mapping[str, Any]) -> None:
        try:
            self._runs = TrainingRuns.open(os.environ.get(STORE_URL))
            self._run = self._runs.begin(socket.gethostname(), str(directory.resolve()), run, known)
        except StoreError as error:
            hint = f"set {STORE_URL} to another database, or leave `store` out of `trackers`"
            raise StoreError(f"trackers: store: {error}; {hint}") from error
        self._missing: dict[int, Mapping[str, float]] = {}

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._missing[step] = dict(values)
        try:
            self._runs.add(self._run, self._missing)
        except StoreError as error:
            warnings.warn(f"step {step} is in the run's folder, but not in the store: {error}", stacklevel=2)
        else:
            self._missing.clear()

    def close(self) -> None:
        self._runs.close()


class _Wandb:
    """wandb, or trackio, which offers the same functions."""

    def __init__(self, name: str, directory: Path, run: Mapping[str, Any]) -> None:
        self._module = importlib.import_module(name)
        # A wandb run is found again by its id, a trackio run by its name.
        own = {"id": directory.name, "dir": str(directory)} if name == "wandb" else {}
        self._module.init(project=_PROJECT, name=directory.name, config=dict(run), resume="allow", **own)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._module.log(dict(values), step=step)

    def close(self) -> None:
        self._module.finish()
