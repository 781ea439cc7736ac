"""Arguments and results as exporters write them: as JSON, as JSON within text, in the wrappers of frameworks."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Mapping
from typing import Final, TypeGuard

from envace_sdk.errors import FixtureError
from envace_sdk.json import UNSET, Json, Unset

from ..documents import parse

__all__ = ["arguments_of", "error_text", "from_text", "is_wire_result", "result_of", "text_of"]

_BLOCKS: Final = {"text": "text", "image": "data", "audio": "data", "resource": "resource", "resource_link": "uri"}
"""The kinds of MCP content, each with a member that every such block has."""
_LONGEST_LITERAL: Final = 100_000
_TRACEBACK: Final = "Traceback (most recent call last)"


def from_text(text: str, *, is_encoded: bool = False) -> Json:
    """The object or list that a text is the JSON of; otherwise the text itself.

    Numbers and the like stay text, since a tool that answers `7` in a text says no more than that. With `is_encoded`,
    for sources that write every value as JSON, a text in quotes is the text within them.
    """
    begin = text.lstrip()[:1]
    if begin not in (("{", "[", '"') if is_encoded else ("{", "[")):
        return text
    try:
        return parse(text)
    except FixtureError:
        return text


def arguments_of(value: Json) -> Mapping[str, Json]:
    """The arguments of a call: an object, or text that is one as JSON or as Python writes it; none is none.

    Raises:
        FixtureError: it is none of them.
    """
    if value is None or value == "":
        return {}
    found = value
    if isinstance(found, str):
        found = from_text(found, is_encoded=True)
        if isinstance(found, str):
            found = _literal(found)
    if not isinstance(found, dict):
        raise FixtureError(f"expected an object, or JSON text of one, got {_short(value)}")
    return found


def result_of(value: Json, *, is_encoded: bool = False) -> Json:
    """What a tool answered, as a recording holds it: an MCP result, or the plain value."""
    if isinstance(value, str):
        found = from_text(value, is_encoded=is_encoded)
        return found if isinstance(found, str) else result_of(found)
    if isinstance(value, dict):
        return _object_result(value)
    if isinstance(value, list) and value and all(map(_is_block, value)):
        if len(value) == 1 and value[0]["type"] == "text":
            return from_text(value[0]["text"])
        return {"content": value}
    return value


def is_wire_result(value: Json | Unset) -> TypeGuard[dict[str, Json]]:
    """Whether it is the result of an MCP call."""
    if not isinstance(value, dict) or not isinstance(value.get("content"), list):
        return False
    return all(map(_is_block, value["content"])) and (bool(value["content"]) or "isError" in value)


def text_of(content: Json) -> str | None:
    """All text of a message's content; None where it holds something else."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [block.get("text") if isinstance(block, dict) else block for block in content]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if texts and len(texts) == len(parts) else None


def error_text(error: str) -> str:
    """What an exception said, from how Python or a tracer wrote it: `ValueError('no such order')Traceback …`."""
    text = error.split(_TRACEBACK, 1)[0].strip()
    name, bracket, rest = text.partition("(")
    if not bracket or not rest.endswith(")") or not name.replace(".", "").replace("_", "").isalnum():
        return text or error.strip().rsplit("\n", 1)[-1]
    said = _python(rest[:-1].rstrip(","))
    return said if isinstance(said, str) else text


def _object_result(value: dict[str, Json]) -> Json:
    if is_wire_result(value):
        return {name: value[name] for name in ("content", "structuredContent", "isError") if name in value}
    if isinstance(value.get("content"), list):
        # A recording takes a `content` list for MCP's; this one is the tool's own.
        return {
            "content": [{"type": "text", "text": json.dumps(value, ensure_ascii=False)}],
            "structuredContent": value,
        }
    return value


def _is_block(block: Json) -> bool:
    if not isinstance(block, dict) or not isinstance(kind := block.get("type"), str):
        return False
    needed = _BLOCKS.get(kind)
    return needed is not None and needed in block and (kind != "text" or isinstance(block["text"], str))


def _literal(text: str) -> Json | Unset:
    """The object that Python's `str` wrote. Tracers did so before they wrote JSON."""
    if not text.lstrip().startswith("{"):
        return UNSET
    found = _python(text.strip())
    return found if isinstance(found, dict) else UNSET


def _python(text: str) -> Json | Unset:
    """The JSON value that a Python literal stands for. Python's own parser bounds how deep it goes."""
    if len(text) > _LONGEST_LITERAL:
        return UNSET
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            found = json.dumps(ast.literal_eval(text), allow_nan=False)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return UNSET
    return json.loads(found)


def _short(value: Json) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return shown if len(shown) <= 60 else shown[:59] + "…"
