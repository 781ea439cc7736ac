"""What happened in a world, kept in its history as far as later answers may depend on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from envace_sdk.json import UNSET, Json
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.state import State

from .events import Event
from .scene import REMEMBERED

__all__ = ["noted", "read_journal"]

_COUNT: Final = "~"
_KINDS: Final = (str, str, bool, str, dict)
_LONGEST: Final = 20_000
"""An event whose text is longer is remembered without its answer, and one whose arguments are, not at all."""


def noted(state: State, event: Event, result: ToolResult, redacted: Callable[[Json], Json]) -> State:
    """The state in which the call has happened; the oldest is forgotten when there are too many.

    `redacted` takes secrets out; an answer that holds any is not remembered, since it could not be given again.
    """
    row: list[Json] = [event.tool, event.key, event.is_error, event.told, redacted(dict(event.arguments))]
    answer = [dict(block) for block in result.content]
    if result.structured is not UNSET:
        answer.append({"data": result.structured})
    try:
        text = json.dumps([*row, *answer], separators=(",", ":"))
        if len(text) > _LONGEST or redacted(answer) != answer:
            text = json.dumps(row, separators=(",", ":"))
    except RecursionError:
        return state
    if len(text) > _LONGEST:
        return state
    count = _count(state)
    history = state.history.set(f"{_COUNT}{count % REMEMBERED}", text).set(_COUNT, str(count + 1))
    return state.replace(history=history)


def read_journal(state: State) -> list[Event]:
    """The events, oldest first."""
    count = _count(state)
    rows = (state.history.get(f"{_COUNT}{n % REMEMBERED}", "") for n in range(max(0, count - REMEMBERED), count))
    return [event for row in rows if (event := _event(row)) is not None]


def _count(state: State) -> int:
    text = state.history.get(_COUNT, "0")
    return int(text) if text.isdecimal() else 0


@lru_cache(maxsize=4096)
def _event(text: str) -> Event | None:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not _is_row(row):
        return None  # a snapshot may hold anything
    tool, key, is_error, told, arguments, *answer = row
    data = [block["data"] for block in answer if "type" not in block]
    blocks = tuple(block for block in answer if "type" in block)
    result = ToolResult(blocks, data[0] if data else UNSET, is_error=is_error) if answer else None
    value = None if result is None else result.value()
    return Event(tool, arguments, value, is_error=is_error, key=key, told=told, result=result)


def _is_row(row: Json) -> bool:
    return (
        isinstance(row, list)
        and len(row) >= len(_KINDS)
        and all(isinstance(part, kind) for part, kind in zip(row, _KINDS, strict=False))
        and all(isinstance(block, dict) and ("type" in block or "data" in block) for block in row[len(_KINDS) :])
    )
