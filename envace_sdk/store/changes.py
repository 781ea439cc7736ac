"""From two states to the rows that differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from envace_sdk.json import Json
from envace_sdk.world.collection import Collection
from envace_sdk.world.state import State

from .types import json_text, lookup

__all__ = ["COUNTER", "HISTORY", "NEXT", "Changes", "changes", "related"]

COUNTER: Final = "counter"
HISTORY: Final = "history"
NEXT: Final = "next"
"""The sequence number that a collection's next entity gets; there is one for every collection, empty ones too."""

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows to put, and lookups of rows to delete."""

    entities: list[Row] = field(default_factory=list)
    entities_gone: list[bytes] = field(default_factory=list)
    facts: list[Row] = field(default_factory=list)
    facts_gone: list[bytes] = field(default_factory=list)


def changes(before: State, after: State) -> Changes:
    """The rows to change so that those of `before` become those of `after`.

    Relatives (every fork and descendant of one world) are compared by what changed since their common start.

    Raises:
        StoreError: a document cannot be stored.
    """
    found = Changes()
    if before.collections is not after.collections:
        for name in sorted({*before.collections, *after.collections}):
            old, new = before.collection(name), after.collection(name)
            if old is not new:
                _compare(name, old, new, found)
    was, now = dict(_facts(before, after)), dict(_facts(after, before))
    for identity, value in now.items():
        if identity not in was or was[identity] != value:
            kind, name = identity
            found.facts.append({"lookup": lookup(kind, name), "kind": kind, "name": name, "value": value})
    found.facts_gone.extend(lookup(*identity) for identity in was if identity not in now)
    return found


def related(one: State, other: State) -> bool:
    """Whether the larger part of two states has a common start, so that comparing them is cheap."""
    largest = max(one.collections, key=lambda name: len(one.collections[name]), default=None)
    return largest is not None and one.collections[largest].changed_since(other.collection(largest)) is not None


def _compare(name: str, before: Collection, after: Collection, found: Changes) -> None:
    keys = after.changed_since(before)
    if keys is None:
        keys = {*before, *before.removed(), *after, *after.removed()}
    for key in keys:
        old, new = before.entry(key), after.entry(key)
        if new is None:
            if after.was_removed(key) and not before.was_removed(key):
                found.entities.append(_row(name, key, None, None))
            elif old is not None or (before.was_removed(key) and not after.was_removed(key)):
                found.entities_gone.append(lookup(name, key))
        elif new is not old and not (
            old is not None
            and old.sequence == new.sequence
            # Not `==`: to Python, 1 and 1.0 and True are equal.
            and (old.document is new.document or json_text(old.document) == json_text(new.document))
        ):
            found.entities.append(_row(name, key, new.sequence, new.document))


def _row(collection: str, key: str, sequence: int | None, document: Json) -> Row:
    return {
        "lookup": lookup(collection, key),
        "collection": collection,
        "key": key,
        "sequence": sequence,
        "document": document,
    }


def _facts(state: State, other: State) -> Iterator[tuple[tuple[str, str], Json]]:
    """The facts of a state, without the kinds that are plainly the same in the other."""
    if state.collections is not other.collections:
        for name, collection in state.collections.items():
            yield (NEXT, name), collection.next_sequence
    if state.counters is not other.counters:
        for name, number in state.counters.items():
            yield (COUNTER, name), number
    if state.history is not other.history:
        for name, text in state.history.items():
            yield (HISTORY, name), text
