"""A run that was begun, with the settings that it goes on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from envace_sdk.errors import TrainingError

from .. import checkpoint
from ..config import merged, read_mapping
from ..policy import misfit
from .job import Job
from .settings import run_config

__all__ = ["resumed"]


def resumed(directory: Path, file: Path | None, changes: Mapping[str, Any]) -> Job:
    """The run with the settings it was begun with, but for those that are given now.

    Args:
        directory: where it lies.
        file: a configuration.
        changes: settings that go before the file's.

    Raises:
        TrainingError: there is none, or it cannot go on with these settings.
    """
    job = Job.found(directory)
    if "preset" in changes:
        raise TrainingError("--preset cannot change a run that was begun; change single settings with --config")
    own = {} if file is None else read_mapping(file)
    if own.get("model", job.config.model) != job.config.model:
        raise TrainingError(f"{file}: model: the run trains {job.config.model}; begin another with -o")
    own.pop("preset", None)  # what it stands for is in the run's settings
    given = merged(own, changes)
    if not given:
        return job
    source = "train" if file is None else str(file)
    config = run_config(merged(job.config.model_dump(mode="json"), given), source=source).from_anywhere()
    if config.tasks != job.config.tasks.model_copy(update={"per_step": config.tasks.per_step}):
        raise TrainingError(f"{source}: tasks: those of a run are made once; begin another with -o, or leave them")
    newest = checkpoint.latest(job.directory) or checkpoint.latest(job.warm_directory)
    reason = misfit(config.parameters.model_dump(mode="json"), job.config.parameters.model_dump(mode="json"))
    if newest is not None and reason:
        raise TrainingError(f"{source}: {reason}, in {newest}: begin another run with -o")
    if config.steps < job.steps_done:
        raise TrainingError(
            f"{source}: steps is {config.steps}, and {job.steps_done} are done: it counts all steps of the run"
        )
    return replace(job, config=config)
