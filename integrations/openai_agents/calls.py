"""The framework's calls as actions, and its results as ours."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from agents import RunContextWrapper
from pydantic_core import to_jsonable_python

from envace_sdk.evidence.canonical import digest
from envace_sdk.guard import Outcome, as_result
from envace_sdk.json import UNSET, Json
from envace_sdk.tools.model import ToolResult

__all__ = ["Approves", "arguments_in", "asks", "result_of", "turn_of", "value_of", "wire_of"]

Approves = bool | Callable[[RunContextWrapper[Any], dict[str, Any], str], Any]
"""What a tool's own `needs_approval` may be."""


def arguments_in(text: str | None) -> dict[str, Any] | None:
    """A model's arguments; None where they are no JSON object."""
    if not (text or "").strip():
        return {}
    try:
        found = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def turn_of(context: RunContextWrapper[Any]) -> str:
    """What the run was begun with, which is the same when it is resumed: a digest."""
    return digest(to_jsonable_python(context.turn_input, serialize_unknown=True))[:16]


async def asks(own: Approves, context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
    """What the tool itself says of the need for an approval."""
    found = own(context, arguments, call_id) if callable(own) else own
    return bool(await found if inspect.isawaitable(found) else found)


def result_of(value: Any) -> ToolResult:
    """What a tool returned."""
    if isinstance(value, ToolResult):
        return as_result(value)
    return as_result(to_jsonable_python(value, by_alias=True, exclude_none=True, serialize_unknown=True))


def value_of(outcome: Outcome) -> Any:
    """What the framework shows the model."""
    return outcome.result.first_text if outcome.replayed and outcome.result.is_error else outcome.value


def wire_of(result: ToolResult) -> Mapping[str, Json]:
    """A result as an MCP server would have sent it."""
    structured = {} if result.structured is UNSET else {"structuredContent": result.structured}
    return {"content": [dict(block) for block in result.content], **structured, "isError": result.is_error}
