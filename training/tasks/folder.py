"""Task sets on disk: a folder per toolset with a file per split, and a manifest that says how they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from envace_sdk.errors import TaskError
from envace_sdk.json import Json
from envace_sdk.tasks import Task, load_tasks

from .options import MakeOptions
from .split import SPLITS, Split

__all__ = ["MANIFEST", "TaskSet", "read_task_sets", "write_task_sets"]

MANIFEST: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The tasks of one toolset, by split."""

    toolset: str
    source: str
    """What `Environment.load` reads the toolset from."""
    splits: Mapping[Split, Sequence[Task]]

    @property
    def size(self) -> int:
        """How many tasks there are."""
        return sum(map(len, self.splits.values()))


def write_task_sets(folder: Path, sets: Sequence[TaskSet], options: MakeOptions) -> None:
    """Write `FOLDER/TOOLSET/{train,validation,test}.jsonl` and the manifest; an empty split has no file.

    Raises:
        TaskError: the folder holds task sets already, or cannot be written.
    """
    if (folder / MANIFEST).exists():
        raise TaskError(f"{folder} holds task sets already: choose another folder, or remove it")
    try:
        for one in sets:
            place = folder / one.toolset
            place.mkdir(parents=True, exist_ok=True)
            for name in SPLITS:
                if one.splits.get(name):
                    lines = [json.dumps(_dumped(task), ensure_ascii=False) + "\n" for task in one.splits[name]]
                    (place / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        (folder / MANIFEST).write_text(json.dumps(_manifest(sets, options), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise TaskError(f"{folder}: cannot be written: {error.strerror or error}") from error


def read_task_sets(folder: Path) -> list[TaskSet]:
    """Read what `write_task_sets` wrote.

    Raises:
        TaskError: it is not there, or a file is wrong; the message names it.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        named = [(str(name), str(one["source"])) for name, one in manifest["toolsets"].items()]
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise TaskError(f"{path}: is no manifest of task sets (`envace-sdk tasks make` writes one): {error}") from error
    for name, _ in named:
        if name == ".." or Path(name).name != name:
            raise TaskError(f"{path}: {name[:100]!r} can be no toolset of this folder")
    sets = []
    for name, source in named:
        files = {split: folder / name / f"{split}.jsonl" for split in SPLITS}
        sets.append(TaskSet(name, source, {split: load_tasks(f) if f.is_file() else [] for split, f in files.items()}))
    return sets


def _dumped(task: Task) -> Json:
    return task.model_dump(mode="json", exclude_defaults=True)


def _manifest(sets: Sequence[TaskSet], options: MakeOptions) -> dict[str, Json]:
    return {
        "made_by": f"envace-sdk {version('envace-sdk')}",
        "options": options.model_dump(mode="json"),
        "toolsets": {
            one.toolset: {
                "source": one.source,
                "tasks": {name: len(one.splits.get(name, ())) for name in SPLITS},
                "templates": {name: len({task.template for task in one.splits.get(name, ())}) for name in SPLITS},
            }
            for one in sets
        },
    }
