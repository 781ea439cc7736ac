"""Lines of older format versions, made into those of the present one."""

from __future__ import annotations

import json
from collections.abc import Mapping

from envace_sdk.json import Json

from .documents import parse
from .findings import FieldError

__all__ = ["is_headerless", "migrate_call"]

_KEYS = frozenset({"episode", "tool", "arguments", "result", "is_error"})


def is_headerless(line: Mapping[str, Json]) -> bool:
    """Whether a file that begins with this line is of version 1, which had no header."""
    return "kind" not in line


def migrate_call(line: Mapping[str, Json]) -> dict[str, Json]:
    """A line of version 1, `{"episode", "tool", "arguments", "result", "is_error"}`, as an exchange.

    `result` is an MCP result when it has a `content` list, else the plain value the tool answered. `arguments` may also
    be the JSON text of an object, as models write them.

    Raises:
        FixtureError: it is no such line; the message names the field.
    """
    if unknown := sorted(line.keys() - _KEYS):
        raise FieldError("", f"unknown field {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}")
    tool, arguments, episode = line.get("tool"), line.get("arguments", {}), line.get("episode", "default")
    if not isinstance(tool, str) or not tool:
        raise FieldError("tool", "expected the tool's name")
    if isinstance(arguments, str):
        try:
            arguments = parse(arguments)
        except FieldError as error:
            raise FieldError("arguments", f"expected an object, or JSON text of one; it is text, {error}") from None
    if not isinstance(arguments, dict):
        raise FieldError("arguments", "expected an object, or JSON text of one")
    if not isinstance(episode, str):
        raise FieldError("episode", "expected a string")
    if "result" not in line:
        raise FieldError("result", "missing")
    is_error = line.get("is_error", False)
    if not isinstance(is_error, bool):
        raise FieldError("is_error", "expected true or false")
    return {
        "kind": "exchange",
        "session": episode or "default",
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
        "result": _result(line["result"], is_error=is_error),
    }


def _result(value: Json, *, is_error: bool) -> dict[str, Json]:
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        if not all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in value["content"]):
            raise FieldError("result.content", "expected a list of content blocks, each with a `type`")
        kept = {name: member for name, member in value.items() if name != "_meta"}
        return {**kept, "isError": is_error or value.get("isError") is True}
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}], "isError": is_error}
    content = [{"type": "text", "text": json.dumps(value, ensure_ascii=False)}]
    if is_error:
        return {"content": content, "isError": True}
    return {"content": content, "structuredContent": value, "isError": False}
