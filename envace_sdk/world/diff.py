"""What changed between two states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.tools.finding import printable

from .collection import Collection
from .keys import Document
from .shown import shown
from .state import State

__all__ = ["EntityChange", "diff", "render"]


@dataclass(frozen=True, slots=True)
class EntityChange:
    """One entity that is not the same in both states."""

    kind: Literal["created", "updated", "deleted"]
    collection: str
    key: str
    fields: dict[str, tuple[Json | Unset, Json | Unset]] = field(default_factory=dict)
    """Dotted path to the value before and after; `UNSET` where there is none."""

    @property
    def name(self) -> str:
        """Collection and key: "orders/ORD-1"."""
        return f"{self.collection}/{self.key}"


def diff(before: State, after: State) -> list[EntityChange]:
    """The entities that differ: by collection, in the order of creation, deleted ones first.

    States that share their start (every fork and descendant of one world) are compared in time proportional to
    what changed since that start.
    """
    if before.collections is after.collections:
        return []
    names = sorted({*before.collections, *after.collections})
    return [
        change
        for name in names
        if before.collection(name) is not after.collection(name)
        for change in _changes(name, before.collection(name), after.collection(name))
    ]


def _changes(name: str, before: Collection, after: Collection) -> Iterator[EntityChange]:
    keys = after.changed_since(before)
    if keys is None:
        keys = {*before, *after}
    deleted: list[tuple[int, EntityChange]] = []
    present: list[tuple[int, EntityChange]] = []
    for key in keys:
        old, new = before.entry(key), after.entry(key)
        if old is new:
            continue
        if new is None and old is not None:
            fields = {path: (value, UNSET) for path, value in _leaves(old.document)}
            deleted.append((old.sequence, EntityChange("deleted", name, key, fields)))
        elif new is not None and old is None:
            fields = {path: (UNSET, value) for path, value in _leaves(new.document)}
            present.append((new.sequence, EntityChange("created", name, key, fields)))
        elif new is not None and old is not None and new.document is not old.document:
            fields = dict(_differences(old.document, new.document, ""))
            if fields:
                present.append((new.sequence, EntityChange("updated", name, key, fields)))
    for _, change in (*sorted(deleted, key=_place), *sorted(present, key=_place)):
        yield change


def _place(item: tuple[int, EntityChange]) -> tuple[int, str]:
    return item[0], item[1].key


def _leaves(document: Document) -> Iterator[tuple[str, Json]]:
    yield from document.items()


def _differences(before: Json, after: Json, path: str) -> Iterator[tuple[str, tuple[Json | Unset, Json | Unset]]]:
    """Down to the fields of nested objects; lists are compared whole, since their elements have no names."""
    for name in (*before, *(name for name in after if name not in before)):
        old, new = before.get(name, UNSET), after.get(name, UNSET)
        if old is new:
            continue
        inner = f"{path}.{name}" if path else name
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, inner)
        elif not _same(old, new):
            yield inner, (old, new)


def _same(old: Json | Unset, new: Json | Unset) -> bool:
    if isinstance(old, bool) is not isinstance(new, bool):
        return False
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(_same(a, b) for a, b in zip(old, new, strict=True))
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_same(old[name], new[name]) for name in old)
    return bool(old == new)


_MARKS = {"created": "+", "updated": "~", "deleted": "-"}


def render(changes: Sequence[EntityChange] | Iterable[EntityChange], *, fields: int = 6) -> str:
    """The changes as text, a line each: `~ orders/ORD-1: status "open" → "closed"`."""
    return "\n".join(_line(change, fields) for change in changes)


def _line(change: EntityChange, limit: int) -> str:
    said = []
    for path, (old, new) in list(change.fields.items())[:limit]:
        if change.kind == "updated":
            said.append(f"{path} {shown(old)} → {shown(new)}")
        elif change.kind == "created":
            said.append(f"{path} {shown(new)}")
    if change.kind != "deleted" and len(change.fields) > limit:
        said.append(f"and {len(change.fields) - limit} more")
    # Names and keys come from whoever made the call: one must not write further lines.
    return printable(f"{_MARKS[change.kind]} {change.name}{': ' if said else ''}{', '.join(said)}")
