"""Equality indexes: which entities have a given value at a given path.

The many entities a world started with never change in the index of that start, which all forks share; each
collection adds the small difference it has made since.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import immutables

from envace_sdk.json import UNSET, Json

from .keys import Document, get_path
from .ordered import EMPTY, Ordered

__all__ = ["MAX_INDEXES", "Difference", "Entry", "Start", "value_key"]

MAX_INDEXES = 32
"""Indexed paths per collection; finding by any further path walks the collection."""

_TRUE, _FALSE = ("true",), ("false",)


class Entry(NamedTuple):
    """An entity at its place in the order of creation."""

    sequence: int
    key: str
    document: Document


def value_key(value: Json) -> Hashable:
    """Something hashable that is equal for JSON-equal values only: 2 is 2.0, true is not 1, absent is null."""
    if isinstance(value, str) or value is None:
        return value
    if value is True:
        return _TRUE
    if value is False:
        return _FALSE
    if value is UNSET:
        return None
    if isinstance(value, int | float):
        return value
    return ("json", json.dumps(_plain(value), sort_keys=True))


def _plain(value: Json) -> Json:
    """Integral floats as integers, so that equal numbers have equal text."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


class Start:
    """What a collection held when it was loaded in bulk: never changes, and is shared by every fork."""

    __slots__ = ("by_key", "facts", "indexes", "order")

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.order: list[Entry] = list(entries)
        self.by_key: dict[str, Entry] = {entry.key: entry for entry in self.order}
        self.indexes: dict[str, dict[Hashable, list[Entry]]] = {}
        self.facts: dict[Hashable, object] = {}
        """Whatever is costly to learn about these entities and stays true of them."""

    def index(self, path: str) -> dict[Hashable, list[Entry]] | None:
        """The entries by their value at the path, built when first asked for; None when there are too many indexes."""
        found = self.indexes.get(path)
        if found is None and len(self.indexes) < MAX_INDEXES:
            found = {}
            for entry in self.order:
                found.setdefault(value_key(get_path(entry.document, path)), []).append(entry)
            self.indexes[path] = found
        return found


class Difference(NamedTuple):
    """How a collection's index at one path differs from its start's."""

    present: immutables.Map[Hashable, Ordered]
    """The slots of the entities put since the start, by value."""
    gone: immutables.Map[Hashable, int]
    """How many entries of the start with this value were replaced or removed."""

    @classmethod
    def build(cls, path: str, start: Start, changes: immutables.Map[str, Entry | None]) -> Difference:
        """From nothing, for all changes at once."""
        present: dict[Hashable, list[tuple[int, str]]] = {}
        gone: dict[Hashable, int] = {}
        for key, entry in changes.items():
            if entry is not None:
                value = value_key(get_path(entry.document, path))
                present.setdefault(value, []).append((entry.sequence, key))
            old = start.by_key.get(key)
            if old is not None:
                value = value_key(get_path(old.document, path))
                gone[value] = gone.get(value, 0) + 1
        ordered = {value: Ordered.of(sorted(slots)) for value, slots in present.items()}
        return cls(immutables.Map(ordered), immutables.Map(gone))

    def replace(
        self, path: str, key: str, start: Entry | None, before: Entry | None, after: Entry | None
    ) -> Difference:
        """After one change. `start`: the entry of the start that this change is the first to hide."""
        present, gone = self
        if start is not None:
            value = value_key(get_path(start.document, path))
            gone = gone.set(value, gone.get(value, 0) + 1)
        old = UNSET if before is None else value_key(get_path(before.document, path))
        new = UNSET if after is None else value_key(get_path(after.document, path))
        if before is not None and after is not None and old == new and before.sequence == after.sequence:
            return Difference(present, gone)
        if before is not None:
            rest = present[old].discard((before.sequence, key))
            present = present.set(old, rest) if len(rest) else present.delete(old)
        if after is not None:
            present = present.set(new, present.get(new, EMPTY).add((after.sequence, key)))
        return Difference(present, gone)
