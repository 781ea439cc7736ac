"""The framework's results as ours, and back."""

from __future__ import annotations

from typing import Any

from agent_framework import Content
from pydantic_core import to_jsonable_python

from envace_sdk.guard import as_result
from envace_sdk.tools.model import ToolResult

__all__ = ["result_of", "told_of"]


def result_of(value: Any) -> ToolResult:
    """What a function returned: contents, as a rule."""
    if isinstance(value, list) and value and all(isinstance(item, Content) for item in value):
        blocks = [
            {"type": "text", "text": item.text or ""} if item.type == "text" else item.to_dict() for item in value
        ]
        return as_result(str(blocks[0]["text"]) if len(blocks) == 1 and "text" in blocks[0] else {"content": blocks})
    if isinstance(value, ToolResult):
        return as_result(value)
    return as_result(to_jsonable_python(value, serialize_unknown=True))


def told_of(result: ToolResult) -> str:
    """A recorded result, as text."""
    return "\n".join(str(block["text"]) for block in result.content if block.get("type") == "text")
