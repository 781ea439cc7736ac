"""Reading fixtures: one observed call a line, in JSON.

    {"episode": "a", "tool": "get_order", "arguments": {"order_id": "7"}, "result": {…}, "is_error": false}

`result` is an MCP result when it has a `content` list, else the plain value the tool answered.
Lines of one episode are in the order they were observed; `episode` defaults to "default".
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from envace_sdk.errors import FixtureError
from envace_sdk.json import UNSET, Json

from .fixture import Fixture
from .model import ToolCall, ToolResult

__all__ = ["load_fixtures", "result_from_wire"]

_KEYS = frozenset({"episode", "tool", "arguments", "result", "is_error"})


def load_fixtures(path: Path) -> list[Fixture]:
    """Read a fixtures file.

    Raises:
        FixtureError: the file cannot be read, or a line is not a fixture; the message names file, line and field.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FixtureError(f"{path}: cannot be read: {error}") from error
    positions: Counter[str] = Counter()
    fixtures = []
    for number, line in _lines(text):
        try:
            fixture = _fixture(line, positions)
        except FixtureError as error:
            raise FixtureError(f"{path}:{number}: {error}") from None
        fixtures.append(fixture)
    return fixtures


def result_from_wire(data: Mapping[str, Json], *, is_error: bool = False) -> ToolResult:
    """A `CallToolResult` object as it goes over the wire. Metadata is outside information, and left behind.

    Raises:
        FixtureError: a content block is not an object with a `type`.
    """
    content = data.get("content", [])
    if not isinstance(content, list) or not all(map(_is_block, content)):
        raise FixtureError("result.content: expected a list of content blocks, each with a `type`")
    return ToolResult(
        tuple(content), data.get("structuredContent", UNSET), is_error=is_error or data.get("isError") is True
    )


def _is_block(block: Json) -> bool:
    return isinstance(block, dict) and isinstance(block.get("type"), str)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines(): that also breaks at U+2028 and its like, which JSON strings may hold.
    return ((n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip())


def _fixture(line: str, positions: Counter[str]) -> Fixture:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FixtureError(f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise FixtureError("expected an object")
    if unknown := sorted(data.keys() - _KEYS):
        raise FixtureError(f"unknown field {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}")
    tool, arguments, episode = data.get("tool"), data.get("arguments", {}), data.get("episode", "default")
    if not isinstance(tool, str) or not tool:
        raise FixtureError("tool: expected the tool's name")
    if not isinstance(arguments, dict):
        raise FixtureError("arguments: expected an object")
    if not isinstance(episode, str):
        raise FixtureError("episode: expected a string")
    if "result" not in data:
        raise FixtureError("result: missing")
    is_error = data.get("is_error", False)
    if not isinstance(is_error, bool):
        raise FixtureError("is_error: expected true or false")
    position = positions[episode]
    positions[episode] += 1
    return Fixture(ToolCall(tool, arguments), _result(data["result"], is_error=is_error), episode, position)


def _result(value: Json, *, is_error: bool) -> ToolResult:
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        return result_from_wire(value, is_error=is_error)
    if isinstance(value, str):
        return ToolResult.text(value, is_error=is_error)
    plain = ToolResult.json(value, structured=True)
    return ToolResult(plain.content, UNSET if is_error else value, is_error=is_error)
