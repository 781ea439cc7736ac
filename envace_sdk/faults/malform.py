"""Results that are broken on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from envace_sdk.json import UNSET, Json
from envace_sdk.jsonschema import compile_schema
from envace_sdk.tools.model import Tool, ToolResult

__all__ = ["malform"]

_ODD: tuple[Json, ...] = ({}, {"unexpected": True}, {"error": None}, [], "", None, 0, False)
"""Values of every type: a schema that admits all of them forbids nothing that is looked for here."""


def malform(result: ToolResult, tool: Tool, breaks: Literal["protocol", "schema", "json"] | None) -> ToolResult:
    """The result, broken in the way wanted, or in the nearest one that is possible for this tool.

    An error result has no structured content to break: it breaks the protocol.
    """
    if breaks == "json":
        return ToolResult.text(_cut(result.first_text))
    broken = UNSET if breaks == "protocol" or result.is_error else _broken_value(result, tool)
    if broken is not UNSET:
        return ToolResult.json(broken, structured=True)
    # Content must be a list; a lone block is what servers send that forget it.
    block = {"type": "text", "text": result.first_text}
    return ToolResult((block,), is_error=result.is_error, wire={"content": block, "isError": result.is_error})


def _cut(text: str) -> str:
    """The first half, which is no JSON."""
    half = text[: len(text) // 2]
    try:
        json.loads(half)
    except (ValueError, RecursionError):
        return half or "{"
    return f'{{"{half}'


def _broken_value(result: ToolResult, tool: Tool) -> Json:
    """The answer, as little changed as it takes to break the output schema; `UNSET` where nothing breaks it."""
    if tool.output_schema is None:
        return UNSET
    validator = compile_schema(tool.output_schema, where=f"{tool.name}.outputSchema")
    # Objects first: the handshake era carries no other structured content.
    tried = (*_changed(result.value()), *_ODD)
    return next((value for value in tried if not validator.is_valid(value)), UNSET)


def _changed(value: Json) -> Iterator[Json]:
    """The value with one member of another type, or without one, the last first."""
    if not isinstance(value, dict):
        return
    for name in reversed(value):
        yield {**value, name: [value[name]] if not isinstance(value[name], list) else "[]"}
    for name in reversed(value):
        yield {key: kept for key, kept in value.items() if key != name}
