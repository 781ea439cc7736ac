"""From two states to the rows that differ."""

from __future__ import annotations

from collections.abc import Mapping
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
        _compare_facts(NEXT, _following(before), _following(after), found)
    if before.counters is not after.counters:
        _compare_facts(COUNTER, before.counters, after.counters, found)
    if before.history is not after.history:
        _compare_facts(HISTORY, before.history, after.history, found)
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


def _following(state: State) -> dict[str, int]:
    return {name: collection.next_sequence for name, collection in state.collections.items()}


def _compare_facts(kind: str, before: Mapping[str, Json], after: Mapping[str, Json], found: Changes) -> None:
    kept = 0
    for name, value in after.items():
        old = before.get(name)
        kept += old is not None
        if old != value:
            found.facts.append({"lookup": lookup(kind, name), "kind": kind, "name": name, "value": value})
    if kept < len(before):
        found.facts_gone.extend(lookup(kind, name) for name in before if name not in after)
