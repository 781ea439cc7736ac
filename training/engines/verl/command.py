"""What `envace-sdk train --engine verl` does, beneath its options."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from envace_sdk.errors import TrainingError

from ...run.job import Job
from ...run.machine import suitable_preset
from ...run.planning import plan
from ...run.settings import load_run_config
from .config import NAME
from .launch import check_installed, files, launch, launch_command, prepare

__all__ = ["run_verl"]


def run_verl(
    sources: Sequence[str],
    file: Path | None,
    changes: Mapping[str, Any],
    directory: Path,
    *,
    resume: bool,
    dry_run: bool,
    note: Callable[[str], None],
) -> None:
    """Begin a run and have verl train it, or go on with one.

    Args:
        sources: toolsets; none when a run is gone on with.
        file: a configuration.
        changes: settings that go before the file's.
        directory: of the run; with several machines, one that all of them see.
        resume: go on, with what lies in the run; verl finds its own checkpoints.
        dry_run: only say what would be done: the command, and the configuration it would read.
        note: told what is done.

    Raises:
        EnvaceError: what is given cannot be used; TrainingError: verl is not there, or ended with an error.
    """
    if resume:
        if file is not None or changes:
            raise TrainingError(f"a run of verl's is gone on with as it is; change {directory / 'verl'}/{NAME}.yaml")
        if dry_run:
            note(shlex.join(launch_command(directory)))
            return
        launch(directory, note)
        return
    if not dry_run:
        check_installed()
        Job.check_new(directory)  # before tasks are made
    config = load_run_config(file, changes, preset=suitable_preset())
    job = asyncio.run(plan(sources, config, directory, note))
    found = files(job)
    counts = ", ".join(f"{len(job.material.cases[split])} {split}" for split in job.material.cases)
    note(
        f"{config.model} learns {', '.join(one.toolset for one in job.material.sets)} with verl: {counts} tasks; "
        f"{config.steps} steps of role-wise GRPO, each {config.tasks.per_step} tasks x {config.rollout.group} "
        f"trajectories, {config.rendering}. No warm-up and no gate: begin with a model that knows its roles, such as "
        "one that `envace-sdk train export` wrote after a warm-up."
    )
    if dry_run:
        note(shlex.join(launch_command(directory)))
        note(f"{directory / 'verl' / NAME}.yaml would be:\n{found[f'{NAME}.yaml']}")
        return
    _begun(job, sources)
    launch(directory, note)


def _begun(job: Job, sources: Sequence[str]) -> None:
    job.begin(sources)
    prepare(job)
