"""Lines of older format versions, made into those of the present one."""

from __future__ import annotations

import json
from collections.abc import Mapping

from envace_sdk.json import Json

from .documents import parse
from .findings import FieldError

__all__ = ["is_headerless", "migrate_call", "plain_result"]

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


def plain_result(wire: Mapping[str, Json]) -> tuple[Json, bool]:
    """The `result` and the `is_error` of a line of version 1, in the shortest way that is read back as this result."""
    is_error = wire.get("isError") is True
    blocks = wire.get("content")
    content = [block for block in blocks if _is_block(block)] if isinstance(blocks, list) else []
    kept: dict[str, Json] = {**wire, "content": content, "isError": is_error}
    kept.pop("_meta", None)
    short = [wire["structuredContent"]] if "structuredContent" in wire else []
    short += [block["text"] for block in content if block.keys() == {"type", "text"} and isinstance(block["text"], str)]
    for value in short[:1]:
        if _same(value, kept, is_error=is_error):
            return value, is_error
    del kept["isError"]
    return kept, is_error


def _same(value: Json, wire: Mapping[str, Json], *, is_error: bool) -> bool:
    try:
        return _result(value, is_error=is_error) == wire
    except FieldError:
        return False


def _result(value: Json, *, is_error: bool) -> dict[str, Json]:
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        if not all(map(_is_block, value["content"])):
            raise FieldError("result.content", "expected a list of content blocks, each with a `type`")
        kept = {name: member for name, member in value.items() if name != "_meta"}
        return {**kept, "isError": is_error or value.get("isError") is True}
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}], "isError": is_error}
    content = [{"type": "text", "text": json.dumps(value, ensure_ascii=False)}]
    if is_error:
        return {"content": content, "isError": True}
    return {"content": content, "structuredContent": value, "isError": False}


def _is_block(block: Json) -> bool:
    return isinstance(block, dict) and isinstance(block.get("type"), str)
