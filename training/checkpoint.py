"""Checkpoints: folders that are there whole or not at all, of files that hold data and never code.

    checkpoint-000020/
      policy/                 the weights, as transformers or peft load them
      optimizer.safetensors   Adam's moments and counts, by parameter
      random-0.safetensors    states of the random generators, one file per process
      state.json              step, settings, what the caller added, digests of the other files

A folder is written under another name and renamed when it is complete and on disk, so a run that is killed at any
moment leaves its last checkpoint usable. One that is replaced steps aside under a name of its own, by which it is found
should the run be killed before the new one has its place. Nothing in a checkpoint is pickled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from envace_sdk.errors import TrainingError
from envace_sdk.json import Json

__all__ = [
    "checkpoints",
    "folder_for",
    "latest",
    "prune",
    "random_states",
    "read_state",
    "read_tensors",
    "set_random_states",
    "step_of",
    "write_state",
    "write_tensors",
    "writing",
]

_FORMAT = 1
_NAME = re.compile(r"checkpoint-(\d{6,})")
_ASIDE = re.compile(r"\.checkpoint-(\d{6,})\.old\.partial")
"""A checkpoint that is being replaced: complete, and the only one of its step until the new one has its place."""
_STATE = "state.json"


def folder_for(directory: Path, step: int) -> Path:
    """Where the checkpoint after `step` updates lies."""
    return directory / f"checkpoint-{step:06}"


def step_of(folder: Path) -> int:
    """How many updates a checkpoint has seen, by its name."""
    return int(folder.name.removesuffix(".old.partial").rpartition("-")[2])


def checkpoints(directory: Path) -> list[Path]:
    """All complete checkpoints in a directory, oldest first."""
    if not directory.is_dir():
        return []
    complete = [path for path in directory.iterdir() if (path / _STATE).is_file()]
    aside = {step_of(path): path for path in complete if _ASIDE.fullmatch(path.name)}
    found = aside | {step_of(path): path for path in complete if _NAME.fullmatch(path.name)}
    return [found[step] for step in sorted(found)]


def latest(directory: Path) -> Path | None:
    """The newest complete checkpoint, if there is any."""
    found = checkpoints(directory)
    return found[-1] if found else None


def prune(directory: Path, keep: int) -> None:
    """Delete all but the newest `keep`, and what killed runs left half-written."""
    found = checkpoints(directory)
    for path in found[:-keep]:
        shutil.rmtree(path)
    for path in found[-keep:]:
        if _ASIDE.fullmatch(path.name):
            path.rename(folder_for(directory, step_of(path)))
    for path in directory.glob(".checkpoint-*.partial"):
        shutil.rmtree(path)


@contextlib.contextmanager
def writing(target: Path) -> Iterator[Path]:
    """A folder to write into, which becomes `target` when the block ends without an error.

    Put `write_state` last in the block. An older folder of that name is replaced.

    Raises:
        OSError: it cannot be written; what was there is left as it was.
    """
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        for path in [*partial.rglob("*"), partial]:
            _sync(path)
    except BaseException as error:
        shutil.rmtree(partial, ignore_errors=True)  # a disk may be full
        if isinstance(error, SafetensorError):
            raise OSError(str(error)) from error
        raise
    old = target.with_name(f".{target.name}.old.partial")
    if target.exists():
        shutil.rmtree(old, ignore_errors=True)
        target.rename(old)
    partial.rename(target)
    _sync(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Tensors by name, on the CPU, as a safetensors file."""
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


def write_state(folder: Path, values: Mapping[str, Json]) -> None:
    """`state.json`, with the digests of all files that are in the folder by now."""
    digests = {
        str(path.relative_to(folder)): _digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix == ".safetensors"
    }
    text = json.dumps({"format": _FORMAT, **values, "sha256": digests}, indent=1, allow_nan=False)
    (folder / _STATE).write_text(text + "\n", encoding="utf-8")


def read_state(folder: Path) -> dict[str, Any]:
    """`state.json`, after checking that every file it names is there and as it was written.

    Raises:
        TrainingError: it is no checkpoint, is of a newer format, or is damaged.
    """
    path = folder / _STATE
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TrainingError(f"{path}: cannot be read, so {folder} is no checkpoint: {error}") from error
    if not isinstance(state, dict) or state.get("format") != _FORMAT or not isinstance(state.get("sha256"), dict):
        raise TrainingError(f"{path}: is not of the format {_FORMAT} that this version reads")
    for name, digest in state["sha256"].items():
        item = folder / str(name)
        if not item.resolve().is_relative_to(folder.resolve()) or not item.is_file():
            raise TrainingError(f"{item}: is missing from the checkpoint; {_instead(folder)}")
        if _digest(item) != digest:
            raise TrainingError(f"{item}: is damaged (its digest is not the recorded one); {_instead(folder)}")
    return state


def _instead(folder: Path) -> str:
    older = [one for one in checkpoints(folder.parent) if step_of(one) < step_of(folder)]
    before = f"from {older[-1].name}" if older else "as it was before the first"
    return f"delete {folder} to go on {before}"


def read_tensors(path: Path) -> dict[str, Tensor]:
    """A safetensors file.

    Raises:
        TrainingError: it cannot be read.
    """
    try:
        found: dict[str, Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{path}: cannot be read: {error}") from error
    return found


def random_states(device: torch.device) -> dict[str, Tensor]:
    """The states of all generators that this process draws from: Python's, torch's, the device's."""
    version, numbers, gauss = random.getstate()
    if version != 3:
        raise TrainingError(f"Python's random generator has a state of version {version}, which cannot be stored")
    states = {
        "python": torch.tensor(numbers, dtype=torch.int64),
        "python_gauss": torch.tensor([] if gauss is None else [gauss], dtype=torch.float64),
        "torch": torch.get_rng_state(),
    }
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def set_random_states(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Go on drawing where `random_states` was taken."""
    gauss = states["python_gauss"].tolist()
    random.setstate((3, tuple(states["python"].tolist()), gauss[0] if gauss else None))
    torch.set_rng_state(states["torch"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Have the file system write a file or folder to disk now, so that the rename cannot come before it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
