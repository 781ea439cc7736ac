"""The exact text of the tools in a JSON document, so that a catalogue can be written and served byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

__all__ = ["element_texts", "find_array", "is_one_line", "join", "one_line"]

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_INSIGNIFICANT: Final = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\n\r]+', re.DOTALL)


def find_array(text: str, *keys: str) -> str | None:
    """The text of the array under these keys of a JSON document (no keys: of the document itself), or None.

    The text must be JSON. Of a key given twice, the last one counts, as for every reader of JSON.
    """
    start = _skip(text, 0)
    for key in keys:
        if text[start : start + 1] != "{":
            return None
        found = None
        for name, value in _members(text, start):
            if name == key:
                found = value
        if found is None:
            return None
        start = found
    if text[start : start + 1] != "[":
        return None
    return text[start : _end(text, start)]


def element_texts(array: str) -> list[str]:
    """The text of each element of a JSON array, without the space around it."""
    return list(_elements(array))


def join(elements: Sequence[str]) -> str:
    """One array of these elements, on one line, each element's text as it is but for line breaks between tokens."""
    return "[" + ",".join(map(one_line, elements)) + "]"


def one_line(text: str) -> str:
    """The same JSON on one line: untouched if it is on one, else without the space between its tokens."""
    if is_one_line(text):
        return text
    return _INSIGNIFICANT.sub(lambda found: found[1] or "", text)


def is_one_line(text: str) -> bool:
    """Whether JSON text is on one line (a line break inside a string is written as an escape)."""
    return "\n" not in text and "\r" not in text


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    at = _skip(text, start + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        yield name, at
        at = _skip(text, _end(text, at))
        if text[at] == ",":
            at = _skip(text, at + 1)


def _elements(array: str) -> Iterator[str]:
    at = _skip(array, 1)
    while array[at] != "]":
        end = _end(array, at)
        yield array[at:end]
        at = _skip(array, end)
        if array[at] == ",":
            at = _skip(array, at + 1)


def _end(text: str, start: int) -> int:
    return _DECODER.raw_decode(text, start)[1]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
