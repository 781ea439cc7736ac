"""A run on disk: what it is, where its parts lie, and how it is found again.

RUN/
  run.json             toolsets, model, all settings
  tasks/               the tasks, by toolset and split
  warmup/              metrics.jsonl and checkpoints of the supervised updates
  checkpoint-000010/   of the training proper
  metrics.jsonl        a line per step; tensorboard/ shows the same
  samples/             some trajectories of each step
  report.html
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Self

from envace_sdk.errors import TrainingError
from envace_sdk.files import write_whole
from envace_sdk.json import Json

from .. import checkpoint
from ..trajectory import Trajectory
from .material import Material
from .settings import RunConfig, run_config

__all__ = ["MANIFEST", "Job"]

MANIFEST: Final = "run.json"


@dataclass(frozen=True, slots=True)
class Job:
    """One run."""

    directory: Path
    place: str
    """The folder or hub id of the model."""
    config: RunConfig
    material: Material

    @property
    def warm_directory(self) -> Path:
        """Where the warm-up lies."""
        return self.directory / "warmup"

    @property
    def steps_done(self) -> int:
        """Of training proper, by the newest checkpoint."""
        newest = checkpoint.latest(self.directory)
        return 0 if newest is None else checkpoint.step_of(newest)

    @property
    def config_left(self) -> RunConfig:
        """The settings with as many updates as are left."""
        warm = checkpoint.latest(self.warm_directory)
        warmed = 0 if warm is None else checkpoint.step_of(warm)
        warmup = self.config.warmup.model_copy(update={"steps": max(0, self.config.warmup.steps - warmed)})
        return self.config.model_copy(update={"steps": self.config.steps - self.steps_done, "warmup": warmup})

    def take_warm_up(self, other: Job) -> None:
        """Begin from the weights that another run was warmed up to, if it was, and this one has no warm-up yet."""
        last = checkpoint.latest(other.warm_directory)
        if self.warm_directory.exists() or last is None or checkpoint.read_state(last)["extra"] != "done":
            return
        partial = self.warm_directory.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(other.warm_directory, partial)
        partial.replace(self.warm_directory)

    @staticmethod
    def check_new(directory: Path) -> None:
        """See that a run can begin in a directory.

        Raises:
            TrainingError: it holds one already, or cannot be written.
        """
        if (directory / MANIFEST).exists():
            raise TrainingError(f"{directory} holds a run already: add --resume, or name another folder with -o")
        there = next(place for place in (directory, *directory.absolute().parents) if place.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise TrainingError(f"{directory}: cannot be written: {there} is no folder that you may write to")

    def begin(self, sources: Sequence[str]) -> None:
        """Write down what is run. Raises: TrainingError where the directory holds a run, or cannot be written."""
        self.check_new(self.directory)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self.material.write(self.directory / "tasks", self.config.tasks)
            values = {
                "made_by": f"envace-sdk {version('envace-sdk')}",
                "tools": list(sources),
                "place": self.place,
            }
            self._write(values)
        except OSError as error:
            raise TrainingError(f"{self.directory}: cannot be written: {error.strerror or error}") from error

    def keep_settings(self) -> None:
        """Write down settings that are others by now: what goes on later, or measures, goes by them.

        Raises:
            TrainingError: the run cannot be read or written.
        """
        try:
            self._write(_manifest(self.directory))
        except OSError as error:
            raise TrainingError(f"{self.directory}: cannot be written: {error.strerror or error}") from error

    def _write(self, values: Mapping[str, Json]) -> None:
        text = json.dumps({**values, "config": self.config.model_dump(mode="json")}, indent=1)
        write_whole(self.directory / MANIFEST, text + "\n")

    @classmethod
    def found(cls, directory: Path, config: RunConfig | None = None) -> Self:
        """A run that was begun.

        Args:
            directory: where.
            config: settings instead of those it was begun with.

        Raises:
            TrainingError: there is none; EnvaceError: its tasks or toolsets cannot be read.
        """
        values = _manifest(directory)
        config = config or run_config(values["config"], source=str(directory / MANIFEST))
        return cls(directory, values["place"], config, Material.read(directory / "tasks"))

    def keep_samples(self, step: int, trajectories: Sequence[Trajectory]) -> None:
        """Write the best and the worst trajectories of a step down, for people to read."""
        ranked = sorted(trajectories, key=lambda one: (one.reward, one.task, one.sample), reverse=True)
        half = self.config.samples // 2
        kept = ranked[: self.config.samples - half] + ranked[len(ranked) - min(half, len(ranked)) :]
        lines = [json.dumps(one.as_json(), ensure_ascii=False, default=str) + "\n" for one in _distinct(kept)]
        if lines:
            folder = self.directory / "samples"
            folder.mkdir(exist_ok=True)
            write_whole(folder / f"{step:06}.jsonl", "".join(lines))

    def samples(self, most: int) -> list[tuple[int, list[dict[str, Json]]]]:
        """The newest trajectories that were kept, by step. Raises: TrainingError: a file cannot be read."""
        found = []
        for path in sorted((self.directory / "samples").glob("*.jsonl"))[-most:]:
            try:
                # Not splitlines: texts of models hold other characters that it takes for ends of lines.
                lines = path.read_text(encoding="utf-8").split("\n")
                found.append((int(path.stem), [json.loads(line) for line in lines if line]))
            except (OSError, ValueError, RecursionError) as error:
                raise TrainingError(f"{path}: cannot be read: {error}") from error
        return found


def _manifest(directory: Path) -> dict[str, Any]:
    path = directory / MANIFEST
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return {**values, "place": str(values["place"]), "config": dict(values["config"])}
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise TrainingError(f"{path}: cannot be read, so {directory} holds no run: {error}") from error


def _distinct(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    return list({(one.task, one.sample): one for one in trajectories}.values())
