"""Orders of a listing: by dotted fields, null and absent last, mixed types side by side."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cmp_to_key, lru_cache
from heapq import merge
from typing import Any

from envace_sdk.json import UNSET, Json

from .collection import Collection
from .expressions.values import sort_key
from .index import Entry
from .keys import Document, get_path

__all__ = ["Order", "parse_order"]

_MAX_FIELDS, _MAX_WISH = 8, 200
"""Fields, and characters of one text, that a caller's wish may have."""
_MAX_KEPT = 8
"""Listings kept ready per collection."""


class Order:
    """Dotted fields, the first of which counts most; "-" before one for descending. Ties: the order of creation."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = tuple((field.lstrip("+-"), field.startswith("-")) for field in fields if field.lstrip("+-"))

    def __bool__(self) -> bool:
        return bool(self._fields)

    def before(self, other: Order, collection: Collection) -> Order:
        """The order by these fields, but those that no entity has, and by the other where they leave a tie."""
        if not self._fields:
            return other
        known = [pair for pair in self._fields if _occurs(collection, pair[0])]
        if not known:
            return other
        made = Order(())
        made._fields = (*known, *(pair for pair in other._fields if pair[0] not in {name for name, _ in known}))
        return made

    def sorted(self, entries: list[Entry]) -> list[Entry]:
        """The entries, given in the order of creation, in this order."""
        for path, descending in reversed(self._fields):
            keyed = [(get_path(entry.document, path), entry) for entry in entries]
            there = [(sort_key(value), entry) for value, entry in keyed if value is not None and value is not UNSET]
            there.sort(key=_key, reverse=descending)
            entries = [entry for _, entry in there]
            entries += [entry for value, entry in keyed if value is None or value is UNSET]
        return entries

    def listing(self, collection: Collection) -> Iterator[Entry]:
        """All entities of a collection in this order, at the cost of what changed in it since it was loaded."""
        fact = ("listing", self._fields)
        kept = collection.facts.get(fact)
        if not isinstance(kept, list):
            kept = self.sorted(collection.started_with())
            _keep(collection.facts, fact, kept)
        changed = collection.changes
        if not changed:
            return iter(kept)
        old = (entry for entry in kept if entry.key not in changed)
        fresh = collection.memo.get(fact)
        if not isinstance(fresh, list):
            fresh = self.sorted(sorted((entry for entry in changed.values() if entry is not None), key=_sequence))
            _keep(collection.memo, fact, fresh)
        return merge(old, fresh, key=cmp_to_key(self._compare))

    def _compare(self, left: Entry, right: Entry) -> int:
        for path, descending in self._fields:
            mine, yours = _place(left.document, path), _place(right.document, path)
            if mine == yours:
                continue
            if mine is None or yours is None:
                return 1 if mine is None else -1
            return -1 if (mine < yours) is not descending else 1
        return left.sequence - right.sequence


def _keep(cache: dict[Hashable, object], fact: Hashable, listing: list[Entry]) -> None:
    # Callers may ask for any order, and must not fill the memory by it.
    if sum(isinstance(name, tuple) and name[0] == "listing" for name in cache) < _MAX_KEPT:
        cache[fact] = listing


def _key(pair: tuple[Any, Entry]) -> Any:
    return pair[0]


def _sequence(entry: Entry) -> int:
    return entry.sequence


def _place(document: Document, path: str) -> Any:
    value = get_path(document, path)
    return None if value is None or value is UNSET else sort_key(value)


def _occurs(collection: Collection, path: str) -> bool:
    return any(get_path(document, path) not in (UNSET, None) for document in collection.values())


def parse_order(wish: Json) -> Order:
    """A caller's wish: a field or a list of them; "-price", "price desc", "price:desc" all mean the same."""
    texts = wish[:_MAX_FIELDS] if isinstance(wish, list) else [wish]
    return _parsed(tuple(text for text in texts if isinstance(text, str) and len(text) <= _MAX_WISH))


@lru_cache(maxsize=256)
def _parsed(texts: tuple[str, ...]) -> Order:
    fields = []
    for text in texts:
        for part in text.split(","):
            name, _, way = part.strip().replace(":", " ").partition(" ")
            sign = "-" if way.strip().lower() in {"desc", "descending"} else ""
            fields.append(sign + name if name else "")
    return Order(fields[:_MAX_FIELDS])
