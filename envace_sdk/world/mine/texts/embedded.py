"""JSON within texts: where it is, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from envace_sdk.json import Json

__all__ = ["STYLES", "Style", "decoded", "json_end", "json_spans", "style_of", "written"]

Style: TypeAlias = int | None
"""By how many blanks JSON is indented; None for one line with blanks between its parts, 0 for one without any."""
STYLES: Final[tuple[Style, ...]] = (None, 2, 0, 4, 1, 3)
_MOST_FAILURES: Final = 20
_DECODER: Final = json.JSONDecoder()


def json_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where there are JSON objects and lists; a single number in brackets is none, and nothing in braces is code."""
    failures = place = 0
    while failures < _MOST_FAILURES:
        place = min((at for at in (text.find("{", place), text.find("[", place)) if at >= 0), default=-1)
        if place < 0:
            return
        end, value = _decode(text, place)
        if end and (isinstance(value, dict) or len(value) > 1 or not isinstance(value[0], int | float)):
            yield place, end
            place = end
        else:
            failures += not end
            place += 1


def _decode(text: str, place: int) -> tuple[int, Json]:
    """The end of the JSON object or list with members that begins here, and its value; else (0, None)."""
    try:
        value, end = _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return 0, None
    return (end, value) if isinstance(value, dict | list) and value else (0, None)


def json_end(text: str, place: int) -> int:
    """Where the JSON object or list that begins here ends; -1 where none does."""
    if text[place : place + 1] not in ("{", "["):
        return -1
    try:
        return int(_DECODER.raw_decode(text, place)[1])
    except (ValueError, RecursionError):
        return -1


def decoded(text: str, style: Style) -> Json:
    """What a JSON text holds, if it is written in this style; else the text."""
    if not text.startswith(("{", "[")):
        return text
    try:
        value = json.loads(text)
        return value if written(value, style) == text else text
    except (ValueError, RecursionError):
        return text


def written(value: Json, style: Style) -> str:
    """A value as JSON in a style."""
    if style == 0:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value, ensure_ascii=False, indent=style)


def style_of(texts: Sequence[str]) -> tuple[bool, Style]:
    """Whether these are JSON texts, and the style in which most of them are written."""
    best, most = STYLES[0], 0
    for style in STYLES:
        exact = sum(not isinstance(decoded(text, style), str) for text in texts)
        if exact > most:
            best, most = style, exact
    telling = any(text not in ("[]", "{}") for text in texts)
    return telling and all(json_end(text, 0) == len(text) for text in texts), best
