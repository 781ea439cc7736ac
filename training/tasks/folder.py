"""Task sets on disk: a folder per toolset with a file per split, and a manifest that says how they were made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final
from urllib.parse import quote

from envace_sdk.errors import TaskError
from envace_sdk.json import Json
from envace_sdk.tasks import Task, load_tasks

from .options import MakeOptions
from .split import SPLITS, Split

__all__ = ["MANIFEST", "TaskSet", "read_task_sets", "write_task_sets"]

MANIFEST: Final = "manifest.json"

_PLAIN: Final = frozenset(" _-.,+=@()")
"""What the name of a folder may hold beside letters and digits."""
_LONGEST: Final = 120
"""Bytes of the name of a folder; file systems allow 255."""


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

    A toolset whose name can be no folder's, such as `acme/shop`, has one of another name, which the manifest tells.

    Raises:
        TaskError: the folder holds task sets already, or cannot be written.
    """
    if (folder / MANIFEST).exists():
        raise TaskError(f"{folder} holds task sets already: choose another folder, or remove it")
    try:
        for one in sets:
            place = folder / _folder_name(one.toolset)
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
        named = [
            (str(name), str(one["source"]), str(one.get("folder", name))) for name, one in manifest["toolsets"].items()
        ]
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise TaskError(f"{path}: is no manifest of task sets (`envace-sdk tasks make` writes one): {error}") from error
    for _, _, place in named:
        if place == ".." or Path(place).name != place:
            raise TaskError(f"{path}: {place[:100]!r} can be no toolset of this folder")
    sets = []
    for name, source, place in named:
        files = {split: folder / place / f"{split}.jsonl" for split in SPLITS}
        sets.append(TaskSet(name, source, {split: load_tasks(f) if f.is_file() else [] for split, f in files.items()}))
    return sets


def _folder_name(toolset: str) -> str:
    """The toolset's name, which a stranger's server may have given itself, as the name of a folder: an ordinary one as
    it is, and of any other what is unusual percent-encoded, so that no two are the same and none leads elsewhere.
    """
    name = "".join(
        one if one.isalnum() or one in _PLAIN else quote(one, safe="", errors="surrogatepass") for one in toolset
    )
    if name.startswith(".") or name == MANIFEST:
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name.encode()) > _LONGEST:
        digest = hashlib.sha256(toolset.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        name = f"{name.encode()[: _LONGEST - 20].decode(errors='ignore')}%-{digest}"
    return name or "%"


def _dumped(task: Task) -> Json:
    return task.model_dump(mode="json", exclude_defaults=True)


def _manifest(sets: Sequence[TaskSet], options: MakeOptions) -> dict[str, Json]:
    return {
        "made_by": f"envace-sdk {version('envace-sdk')}",
        "options": options.model_dump(mode="json"),
        "toolsets": {
            one.toolset: {
                "source": one.source,
                **({} if (place := _folder_name(one.toolset)) == one.toolset else {"folder": place}),
                "tasks": {name: len(one.splits.get(name, ())) for name in SPLITS},
                "templates": {name: len({task.template for task in one.splits.get(name, ())}) for name in SPLITS},
            }
            for one in sets
        },
    }
