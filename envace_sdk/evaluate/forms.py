"""The form in which answers are compared: JSON as it is, and texts as lines with fixed words and values between them.

What a text says in fixed words is its structure, as the keys are the structure of an object; what stands between them
is its values. Which words are fixed is told by the recordings alone: see `Wording`. JSON in texts is opened, and so are
lists and dictionaries as Python prints them.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterator, Mapping
from typing import Final

from envace_sdk.json import UNSET, Json
from envace_sdk.tools.model import ToolResult

from .texts import Wording

__all__ = ["DEEPEST", "answer_value", "bounded", "comparable", "form_of", "norm", "same", "text_of", "texts_in"]

DEEPEST: Final = 60
_NESTED: Final = (dict, list)
_LISTS: Final = (list, tuple)
_NUMBERS: Final = (int, float)
_LONGEST_LITERAL: Final = 50_000


def answer_value(result: ToolResult) -> Json:
    """The answer as data: structured content, else the content blocks, texts that hold JSON as JSON."""
    return bounded(result.structured) if result.structured is not UNSET else _content(result)


def comparable(recorded: ToolResult, played: ToolResult) -> tuple[Json, Json]:
    """Both answers as data of one kind: structured content counts where both have it."""
    if recorded.structured is not UNSET and played.structured is not UNSET:
        return bounded(recorded.structured), bounded(played.structured)
    if (recorded.content and played.content) or (recorded.structured is UNSET and played.structured is UNSET):
        return _content(recorded), _content(played)
    return answer_value(recorded), answer_value(played)


def bounded(value: Json) -> Json:
    """The value, with what is nested more than sixty levels deep cut off."""
    level, pending = 0, [value]
    while pending and level <= DEEPEST:
        pending = [
            part
            for item in pending
            if isinstance(item, _NESTED)
            for part in (item.values() if isinstance(item, dict) else item)
            if isinstance(part, _NESTED)
        ]
        level += 1
    return _cut(value, DEEPEST) if pending else value


def text_of(value: Json) -> str:
    """The same text for the same JSON, whatever the order of keys."""
    return json.dumps(value, sort_keys=True)


def same(one: Json, other: Json) -> bool:
    """Whether two scalars are the same value: 2 and 2.0 are, true and 1 are not."""
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, _NUMBERS) and isinstance(other, _NUMBERS):
        return one == other or ((isinstance(one, float) or isinstance(other, float)) and _is_close(one, other))
    return type(one) is type(other) and bool(one == other)


def norm(value: Json) -> str:
    """The text of a scalar, by which values of different types and cases are found to be the same."""
    if isinstance(value, str):
        return value.strip().casefold()
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def form_of(value: Json, tool: str, is_error: bool, wording: Wording, path: str = "", *, alone: bool = True) -> Json:
    """The form of an answer. Objects and lists stay, texts become `Lines`, JSON inside texts is opened.

    A text is a string that is the whole answer, or the only member of an object, or has several lines.
    """
    if isinstance(value, dict):
        sole = len(value) == 1
        return {
            name: form_of(part, tool, is_error, wording, f"{path}/{name}", alone=sole) for name, part in value.items()
        }
    if isinstance(value, _LISTS):
        return [form_of(item, tool, is_error, wording, f"{path}/*", alone=False) for item in value]
    if isinstance(value, str):
        opened = _opened(value)
        if opened is not UNSET:
            return form_of(opened, tool, is_error, wording, path, alone=False)
        if alone or "\n" in value:
            return wording.read((tool, is_error, path), value)
    return value


def texts_in(value: Json, path: str = "", *, alone: bool = True) -> Iterator[tuple[str, str]]:
    """The texts in an answer with their key paths: those that `form_of` takes apart, and others of several words."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from texts_in(part, f"{path}/{name}", alone=len(value) == 1)
    elif isinstance(value, _LISTS):
        for item in value:
            yield from texts_in(item, f"{path}/*", alone=False)
    elif isinstance(value, str):
        opened = _opened(value)
        if opened is not UNSET:
            yield from texts_in(opened, path, alone=False)
        elif alone or " " in value or "\n" in value:
            yield path, value


def _is_close(one: float, other: float) -> bool:
    try:
        return math.isclose(one, other) or (math.isnan(one) and math.isnan(other))
    except OverflowError:  # an integer beyond what a float can be
        return False


def _cut(value: Json, levels: int) -> Json:
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return "…"
    if isinstance(value, dict):
        return {name: _cut(part, levels - 1) for name, part in value.items()}
    return [_cut(item, levels - 1) for item in value]


def _content(result: ToolResult) -> Json:
    if not result.content:
        return "" if result.structured is UNSET else bounded(result.structured)
    values = [_block(block) for block in result.content]
    return values[0] if len(values) == 1 else values


def _block(block: Mapping[str, Json]) -> Json:
    if block.get("type") != "text":
        return bounded({name: part for name, part in block.items() if name != "_meta"})
    text = str(block.get("text", ""))
    try:
        return bounded(json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return text


def _opened(text: str) -> Json:
    """What a string holds, if that is an object or a list, as JSON or as Python prints them; else UNSET."""
    if text[:1] not in ("{", "["):
        return UNSET
    try:
        return bounded(json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return _literal(text)


def _literal(text: str) -> Json:
    if len(text) > _LONGEST_LITERAL or text.rstrip()[-1:] not in ("}", "]"):
        return UNSET
    try:
        value = ast.literal_eval(text)
        return bounded(json.loads(json.dumps(value, allow_nan=False))) if _is_json(value) else UNSET
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return UNSET


def _is_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_is_json, value.values()))
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, str | int | float)


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON")
