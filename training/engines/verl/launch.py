"""A run, put down as verl takes it, and verl started on it."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from envace_sdk.errors import TrainingError

from ...rollout import Case
from ...run.job import Job
from .config import NAME, verl_config

__all__ = ["check_installed", "files", "launch", "launch_command", "prepare"]

_VERSIONS: Final = ">=0.9.1,<0.10"
"""What the plugin is tested with; verl changes what it builds on between minor versions."""


def check_installed() -> None:
    """Raises: TrainingError where verl is missing, or is not one that the plugin fits; the message says what to do."""
    if importlib.util.find_spec("verl") is None:
        raise TrainingError(
            f"verl is not installed: pip install 'envace-sdk[train]' 'verl[vllm]{_VERSIONS}', on every machine; "
            "docs/engines.md has more. --dry-run needs none of it"
        )
    try:
        importlib.import_module(f"{__package__}.plugin")
    except Exception as error:  # verl itself says nothing when a plugin fails, and would then not know our names
        raise TrainingError(
            f"the installed verl does not take the plugin (it fits verl{_VERSIONS}): {error}"
        ) from error


def files(job: Job) -> dict[str, str]:
    """What verl reads, by name of the file: its configuration and the tasks.

    Raises:
        TrainingError: settings do not suit verl.
    """
    directory = job.directory.resolve()
    cases = job.material.cases
    config = verl_config(job.config, job.place, directory, len(cases["train"]))
    measured = job.material.measured(job.config.evaluation.tasks, job.config.seed)
    return {
        f"{NAME}.yaml": yaml.safe_dump(config, sort_keys=False, width=120),
        "train.jsonl": _lines(cases["train"], "train"),
        "validation.jsonl": _lines(measured, "validation"),
    }


def prepare(job: Job) -> Path:
    """Write what verl reads into the run; the folder. Raises: TrainingError."""
    found, folder = files(job), job.directory / "verl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in found.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise TrainingError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return folder


def launch_command(directory: Path) -> list[str]:
    """The command that runs verl on a prepared run."""
    folder = str(directory.resolve() / "verl")
    return [sys.executable, "-m", "verl.trainer.main_ppo", "--config-path", folder, "--config-name", NAME]


def launch(directory: Path, note: Callable[[str], None]) -> None:
    """Run verl on a prepared run until it ends; it goes on from its own last checkpoint, if there is one.

    Raises:
        TrainingError: the run is not prepared, verl cannot be used, or it ended with an error.
    """
    if not (directory / "verl" / f"{NAME}.yaml").is_file():
        raise TrainingError(f"{directory}: was not begun with --engine verl")
    check_installed()
    command = launch_command(directory)
    note(shlex.join(command))
    environment = {"TENSORBOARD_DIR": str(directory.resolve() / "tensorboard"), **os.environ}
    code = _run(command, environment)
    if code:
        raise TrainingError(f"verl ended with exit code {code}; what it wrote above says why")


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603  our own command


def _lines(cases: Sequence[Case], split: str) -> str:
    return "".join(
        json.dumps(_entry(case, place, split), ensure_ascii=False) + "\n" for place, case in enumerate(cases)
    )


def _entry(case: Case, place: int, split: str) -> dict[str, Any]:
    """A task in the fields of verl's data sets; the agent loop goes by its name, and finds the rest in the run."""
    return {
        "data_source": case.environment.toolset.name,
        "prompt": [{"role": "user", "content": case.task.instruction}],
        "reward_model": {"style": "rule", "ground_truth": case.name},
        "extra_info": {"index": place, "case": case.name, "split": split},
    }
