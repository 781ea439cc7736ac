"""Reading task files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NoReturn

from pydantic import ValidationError

from envace_sdk.errors import TaskError
from envace_sdk.json import Json
from envace_sdk.problems import first_of

from .model import Task

__all__ = ["load_tasks"]

_FILE: Final = "tasks.jsonl"
_MOST_MISTAKES: Final = 20


def load_tasks(path: str | Path) -> list[Task]:
    """Read a task file, or the `tasks.jsonl` of a toolset's folder. Lines that are blank are skipped.

    Raises:
        TaskError: the file cannot be read, or lines are not tasks; the message names file, line, task and field of
            each mistake (the first 20).
    """
    path = Path(path)
    file = path / _FILE if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"{file}: cannot be read: {error}") from error
    tasks: list[Task] = []
    mistakes: list[str] = []
    # Not splitlines(): that also breaks at U+2028 and its like, which JSON strings may hold.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and len(mistakes) < _MOST_MISTAKES:
            try:
                tasks.append(_task(line))
            except TaskError as error:
                mistakes.append(f"{file}:{number}: {error}")
    if mistakes:
        raise TaskError("\n".join(mistakes))
    return tasks


def _task(line: str) -> Task:
    try:
        data = json.loads(line, object_pairs_hook=_distinct, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise TaskError(f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise TaskError("expected a JSON object")
    try:
        return Task.model_validate(data)
    except ValidationError as error:
        name = f"task {data['id'][:100]!r}: " if isinstance(data.get("id"), str) else ""
        raise TaskError(name + first_of(_mistakes(error))) from error


def _mistakes(error: ValidationError) -> Iterator[str]:
    for mistake in error.errors(include_url=False):
        place = ".".join(str(part) for part in mistake["loc"])
        says = "unknown field" if mistake["type"] == "extra_forbidden" else mistake["msg"].removeprefix("Value error, ")
        yield f"{place}: {says}" if place else says


def _distinct(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Of two members of one name, JSON readers silently keep the last."""
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise TaskError(f"the member {twice!r} is given twice")
    return made


def _no_number(text: str) -> NoReturn:
    raise TaskError(f"{text} is not a JSON number")
