"""What has been done in a world, for those who must know it to answer: kept in its state, so that forks have it too.

Only calls that may have changed something are kept. What was merely read follows from the state, and if it were kept,
asking twice would not give the same answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.state import State

__all__ = ["earlier", "remembered"]

_NAME: Final = "rehearse.calls"
_MOST: Final = 24
_LARGEST: Final = 4000
"""Characters of one call with its answer."""


def remembered(state: State, call: ToolCall, result: ToolResult) -> State:
    """The state that knows of the call. One that is very large is not kept."""
    entry: Json = [call.name, dict(call.arguments), result.value(), result.is_error]
    if len(json.dumps(entry)) > _LARGEST:
        return state
    kept = [*_read(state), entry][-_MOST:]
    return state.replace(history=state.history.set(_NAME, json.dumps(kept, ensure_ascii=False)))


def earlier(state: State) -> Sequence[tuple[ToolCall, ToolResult]]:
    """The calls that the state knows of, oldest first."""
    return [(ToolCall(name, arguments), _result(value, is_error)) for name, arguments, value, is_error in _read(state)]


def _read(state: State) -> list[tuple[str, dict[str, Json], Json, bool]]:
    text = state.history.get(_NAME)
    return [] if text is None else json.loads(text)


def _result(value: Json, is_error: bool) -> ToolResult:
    if isinstance(value, str):
        return ToolResult.text(value, is_error=is_error)
    return ToolResult.json(value, structured=False)
