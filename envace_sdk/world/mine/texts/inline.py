"""Lists within a line: `[{'id': 1}, {'id': 2}]`, or `a, b, c`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from .embedded import json_end

__all__ = ["SEPARATORS", "bare_lists", "items_of", "list_spans", "plain_items", "skeleton"]

_MOST_FAILURES: Final = 20
_LONGEST: Final = 100_000
_OPEN: Final = {"[": "]", "{": "}", "(": ")"}
_STEP: Final = re.compile(r"""[][(){},]|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""")
_STARTS: Final = ("[", "{", "(", "'", '"')
_KEY: Final = re.compile(r"""(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")\s*:""")
SEPARATORS: Final = (", ", ",", "; ", " | ", "|")
_BARE: Final = re.compile(r"[:=][ ](?P<list>[\w./@+~-]+(?:,[ ]?[\w./@+~-]+)+)(?=[.;]?(?:\n|\Z))")
_MOST_SHAPES: Final = 3


def list_spans(text: str) -> list[tuple[int, int]]:
    """Where lists in brackets are, as programs print them; a single word in brackets is none."""
    spans: list[tuple[int, int]] = []
    failures = 0
    place = text.find("[")
    while place >= 0 and failures < _MOST_FAILURES:
        found = _items(text, place, min(len(text), place + _LONGEST))
        if found is None or not _is_list(found[1]):
            failures += found is None
            place = text.find("[", place + 1)
        else:
            spans.append((place, found[0]))
            place = text.find("[", found[0])
    return spans


def bare_lists(text: str) -> Iterator[tuple[int, int]]:
    """Where there are single words with commas between them, after a label and up to the end of a line."""
    for found in _BARE.finditer(text):
        yield found.span("list")


def _is_list(items: Sequence[str]) -> bool:
    return len(items) != 1 or items[0].startswith(_STARTS)


def _items(text: str, place: int, end: int) -> tuple[int, list[str]] | None:
    """Where the list that begins here ends, and its items; None where it does not end on its line."""
    closing = [_OPEN[text[place]]]
    items: list[str] = []
    begin = at = place + 1
    while True:
        found = _STEP.search(text, at, end)
        if found is None or "\n" in text[at : found.start()]:
            return None
        sign, at = found.group(), found.end()
        if sign in _OPEN:
            closing.append(_OPEN[sign])
        elif sign == ",":
            if len(closing) == 1:
                items.append(text[begin : found.start()])
                begin = at + (text[at : at + 1] == " ")
        elif len(sign) == 1:
            if sign != closing.pop():
                return None
            if not closing:
                last = text[begin : found.start()]
                return at, [*items, last] if items or last else []


def items_of(text: str) -> list[str] | None:
    """The items of a list in brackets, if joining them with ", " makes the same text."""
    found = _items(text, 0, len(text)) if text.startswith("[") else None
    if found is None or found[0] != len(text) or text != f"[{', '.join(found[1])}]":
        return None
    return found[1]


def skeleton(text: str) -> str:
    """What the items of a list look like: the keys of objects, else how they begin."""
    if json_end(text, 0) == len(text) and text != "[]":
        return "{json}"
    if not text.startswith("["):
        return "w"
    found = _items(text, 0, len(text))
    shapes: dict[str, None] = {}
    for item in found[1] if found else ():
        keys = [single or double for single, double in _KEY.findall(item)] if item.startswith("{") else []
        first = item[:1]
        kind = "#" if first.isdigit() or first == "-" else "w" if first.isalnum() else first
        shapes[f"{{{','.join(keys)}}}" if keys else kind] = None
    return f"[{'|'.join(list(shapes)[:_MOST_SHAPES])}]"


def plain_items(texts: Sequence[str]) -> tuple[str, list[list[str]]] | None:
    """If these texts are lists of single words or the like: what separates the items, and the items of each."""
    for separator in SEPARATORS:
        if not any(separator in text for text in texts):
            continue
        split = [text.split(separator) if text else [] for text in texts]
        counts = {len(items) for items in split}
        alone = all(
            item and not any(char.isspace() or char in ",;|" for char in item) for items in split for item in items
        )
        if len(counts) > 1 and alone:
            return separator, split
    return None
