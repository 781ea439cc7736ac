"""A trained policy as an ordinary model folder, adapters merged into the weights."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, Final

from transformers.utils import logging

from envace_sdk.errors import TrainingError
from envace_sdk.rehearse.prompting import ABOUT

from .. import checkpoint
from ..rows import Role
from .job import Job
from .machine import load_weights

__all__ = ["export", "trained_weights"]

_ADAPTER: Final = "adapter_model.safetensors"


def trained_weights(job: Job, step: int | None = None) -> Path:
    """The folder of the policy's weights after a step, by default the newest; the warm-up's where there are no others.

    Raises:
        TrainingError: nothing has been saved, or not at that step.
    """
    if step is not None:
        folder = checkpoint.folder_for(job.directory, step)
        if folder not in checkpoint.checkpoints(job.directory):
            there = ", ".join(path.name for path in checkpoint.checkpoints(job.directory)) or "none"
            raise TrainingError(f"{folder}: there is no such checkpoint; there are: {there}")
        checkpoint.read_state(folder)
        return folder / "policy"
    newest = checkpoint.latest(job.directory) or checkpoint.latest(job.warm_directory)
    if newest is None:
        raise TrainingError(f"{job.directory}: nothing has been saved yet; go on with `envace-sdk train --resume`")
    checkpoint.read_state(newest)
    return newest / "policy"


def export(job: Job, target: Path, *, step: int | None = None, role: Role = "rehearse") -> Path:
    """Write the policy as transformers, vLLM and `--model` of every command load it.

    Args:
        job: the run.
        target: the folder to write, whole or not at all.
        step: of which checkpoint; by default the newest.
        role: with separate parameters, whose.

    Raises:
        TrainingError: there is nothing to export, or the folder cannot be written, or is not empty.
    """
    weights = trained_weights(job, step)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise TrainingError(f"{target}: is there already; name another folder")
    model, tokenizer = _merged(job, weights, role)
    rollout = job.config.rollout
    about = {
        "tool_format": rollout.format,
        "style": rollout.style,
        "rendering": job.config.rendering,
        "rehearsal": {
            "style": rollout.style,
            "examples": rollout.recorded,
            "entities": rollout.entities,
            "history": rollout.history,
            "budget": rollout.prompt_characters,
        },
        "trained_on": [one.toolset.name for one in job.material.trained_on(job.config.tasks.hold_back)],
        "from": job.config.model,
    }
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with checkpoint.writing(target) as partial:
            logging.disable_progress_bar()
            model.save_pretrained(partial)
            tokenizer.save_pretrained(partial)
            (partial / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise TrainingError(f"{target}: cannot be written: {error.strerror or error}") from error
    finally:
        logging.enable_progress_bar()
    return target


def _merged(job: Job, weights: Path, role: Role) -> tuple[Any, Any]:
    """The model with its tokenizer, adapters merged."""
    parameters = job.config.parameters
    if parameters.method == "full":
        return load_weights(str(weights))
    from peft import PeftModel  # full training does without it

    base, tokenizer = load_weights(job.place)
    with warnings.catch_warnings():
        # peft asks models for an attribute that transformers has since renamed.
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing", category=FutureWarning)
        folder = weights / role if parameters.separate else weights
        if not (folder / _ADAPTER).is_file():  # peft would fall back on a file that must be unpickled
            raise TrainingError(f"{folder}: has no {_ADAPTER}; only adapters in safetensors are read")
        return PeftModel.from_pretrained(base, str(folder)).merge_and_unload(), tokenizer
