"""What happened before a call: earlier calls with their answers, in a recording or in a world."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice

from envace_sdk.json import Json
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.keys import key_text

from .stamps import stamps

__all__ = ["Event", "Leaf", "call_key", "leaves"]

Leaf = tuple[str, str, Json]
"""Where a single value stands (list positions as `*`), its text, and the value."""

_MOST_LEAVES = 200
_MOST_OBJECTS = 100
_DEPTH = 12
_LONGEST = 8_000
_MOST_WORDS = 400
_WHOLE = 200
_WORD = re.compile(r"[^\s,;:'\"`()\[\]{}<>|=]+")


def call_key(tool: str, arguments: Mapping[str, Json]) -> str:
    """A digest of the tool and its arguments, whatever the order of their keys."""
    text = json.dumps([tool, arguments], sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


def leaves(value: Json, place: str = "", depth: int = 0) -> Iterator[Leaf]:
    """The single values in a JSON value, in order."""
    if isinstance(value, dict):
        if depth < _DEPTH:
            for name, part in value.items():
                yield from leaves(part, f"{place}/{name}", depth + 1)
    elif isinstance(value, list):
        if depth < _DEPTH:
            for part in value:
                yield from leaves(part, f"{place}/*", depth + 1)
    else:
        yield place, key_text(value), value


class Event:
    """One call that happened, with its answer as data. Never changed in place."""

    def __init__(
        self,
        tool: str,
        arguments: Mapping[str, Json],
        value: Json,
        *,
        is_error: bool,
        key: str = "",
        told: str = "",
        result: ToolResult | None = None,
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.value = value
        self.is_error = is_error
        self.key = key or call_key(tool, arguments)
        self.told = told
        """The episode whose precedent it was answered after; "" for what was not invented."""
        self.result = result
        """The answer whole, where it may have to be given again."""

    @cached_property
    def given(self) -> tuple[Leaf, ...]:
        """The single values of the arguments."""
        return _bounded(self.arguments)

    @cached_property
    def shown(self) -> tuple[Leaf, ...]:
        """The single values of the answer."""
        return _bounded(self.value)

    @cached_property
    def given_texts(self) -> frozenset[str]:
        """Every value of the arguments, as text."""
        return frozenset(text for _, text, _ in self.given)

    @cached_property
    def shown_texts(self) -> frozenset[str]:
        """Every value of the answer as text, and every word of its texts."""
        found: set[str] = set()
        for _, text, value in self.shown:
            if value is None or isinstance(value, bool):
                continue
            if len(text) <= _WHOLE:
                found.add(text)
            if isinstance(value, str):
                found |= words(text)
                found.update(stamps(text))
        return frozenset(found)

    def said_of(self, text: str) -> dict[str, Json]:
        """What the call and its answer say of the thing that a value names: its fields by name.

        In the answer, the objects that hold the value speak of it, and so do the answer as a whole and the arguments
        if the call was given it.
        """
        objects = [fields for holds, fields in self._answered if text in holds]
        if text in self.given_texts:
            if isinstance(self.value, dict):
                objects.append(self.value)
            objects += [fields for _, fields in self._asked]
        else:
            objects += [fields for holds, fields in self._asked if text in holds]
        found: dict[str, Json] = {}
        for fields in objects:
            for name, value in fields.items():
                found.setdefault(name, value)
        return found

    @cached_property
    def _answered(self) -> list[_Object]:
        return list(islice(_objects(self.value), _MOST_OBJECTS))

    @cached_property
    def _asked(self) -> list[_Object]:
        return list(islice(_objects(self.arguments), _MOST_OBJECTS))


_Object = tuple[frozenset[str], dict[str, Json]]
"""The texts of an object's single values, and the object."""


def _objects(value: Json, depth: int = 0) -> Iterator[_Object]:
    if isinstance(value, dict):
        plain = (part for part in value.values() if isinstance(part, str | int | float) and not isinstance(part, bool))
        yield frozenset(map(key_text, plain)), value
    if depth < _DEPTH:
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from _objects(part, depth + 1)


def words(text: str) -> set[str]:
    """The words of a text, and of those that are paths the last part."""
    found: set[str] = set()
    for match in _WORD.finditer(text[:_LONGEST]):
        word = match.group().rstrip(".!?")
        found.add(word)
        if "/" in word:
            found.add(word.rstrip("/").rpartition("/")[2])
        if len(found) >= _MOST_WORDS:
            break
    found.discard("")
    return found


def _bounded(value: Json) -> tuple[Leaf, ...]:
    found = []
    for leaf in leaves(value):
        found.append(leaf)
        if len(found) >= _MOST_LEAVES:
            break
    return tuple(found)
