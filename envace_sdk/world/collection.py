"""One kind of entity: an immutable, ordered, indexed map of documents."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator
from heapq import merge
from itertools import islice

import immutables

from envace_sdk.errors import WorldError
from envace_sdk.json import UNSET, Json

from .index import MAX_INDEXES, Difference, Entry, Start, value_key
from .keys import Document, get_path
from .ordered import EMPTY, Ordered

__all__ = ["Collection"]

_Changes = immutables.Map[str, Entry | None]
_Trail = tuple[tuple[_Changes, str], ...]
"""The last steps that led to a collection: the changes before the step, and the key it changed."""
_LONGEST_TRAIL = 16


def _sequence(entry: Entry) -> int:
    return entry.sequence


def _from(entries: list[Entry], at: int) -> Iterator[Entry]:
    """The entries from a place on, without walking there as `islice` would."""
    return map(entries.__getitem__, range(at, len(entries))) if at else iter(entries)


class Collection:
    """Documents by key, in the order in which they were created.

    Immutable: `put` and `remove` derive a new collection that shares nearly everything with this one.
    It is a start, shared by all that derive from it, and the changes made since: so forks stay small, and two
    relatives are compared by looking at their changes only.
    """

    __slots__ = ("_added", "_changes", "_differences", "_lost", "_next", "_start", "_trail", "memo")

    def __init__(self, documents: Iterable[tuple[str, Document]] = ()) -> None:
        entries = [Entry(sequence, key, document) for sequence, (key, document) in enumerate(documents)]
        self._start = Start(entries)
        if len(self._start.by_key) != len(entries):
            raise WorldError(f"two entities have the key {_repeated(entries)!r}")
        self._changes: _Changes = immutables.Map()  # None marks a removed key
        self._added: Ordered = EMPTY  # the slots of the keys created since the start
        self._lost = 0  # entries of the start that are gone, or were made anew at a later place
        self._next = len(entries)
        self._differences: dict[str, Difference] = {}
        self._trail: _Trail = ()
        self.memo: dict[Hashable, object] = {}
        """A cache for what is costly to learn about this very collection; not inherited."""

    @classmethod
    def restore(cls, entries: Iterable[Entry], removed: Iterable[str], next_sequence: int) -> Collection:
        """A collection exactly as it was: places in the order of creation, and tombstones, included."""
        made = cls()
        made._start = Start(entries)
        made._changes = immutables.Map(dict.fromkeys(removed))
        made._next = next_sequence
        return made

    def _derive(self, key: str, changes: _Changes, added: Ordered, lost: int, next_sequence: int) -> Collection:
        made = Collection.__new__(Collection)
        made._start = self._start
        made._changes = changes
        made._added = added
        made._lost = lost
        made._next = next_sequence
        made._differences = {}
        made.memo = {}
        made._trail = (*self._trail[1 - _LONGEST_TRAIL :], (self._changes, key))
        return made

    def entry(self, key: str) -> Entry | None:
        """The entry of a key, or None."""
        entry = self._changes.get(key, UNSET)
        return self._start.by_key.get(key) if entry is UNSET else entry

    def get(self, key: str) -> Document | None:
        """The document of a key, or None."""
        entry = self.entry(key)
        return None if entry is None else entry.document

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.entry(key) is not None

    def __len__(self) -> int:
        return len(self._start.order) - self._lost + len(self._added)

    def __iter__(self) -> Iterator[str]:
        return (entry.key for entry in self.entries())

    def values(self) -> Iterator[Document]:
        """The documents in the order of creation."""
        return (entry.document for entry in self.entries())

    def items(self) -> Iterator[tuple[str, Document]]:
        """Keys and documents in the order of creation."""
        return ((entry.key, entry.document) for entry in self.entries())

    def entries(self, *, after: int = -1, skip: int = 0) -> Iterator[Entry]:
        """The entries in the order of creation, of those with a sequence number above `after` all but the first `skip`.

        Skipping costs nothing as long as nothing that the collection started with is gone.
        """
        order = self._start.order
        at = 0 if after < 0 else bisect_right(order, after, key=_sequence)
        if skip and not self._lost:
            jump = min(skip, len(order) - at)
            at, skip = at + jump, skip - jump
        found = self._walk(at, after)
        return islice(found, skip, None) if skip else found

    def _walk(self, at: int, after: int) -> Iterator[Entry]:
        changes = self._changes
        for entry in _from(self._start.order, at):
            now = changes.get(entry.key, entry)
            if now is not None and now.sequence == entry.sequence:
                yield now
        for _, key in self._added.after(after):
            now = changes[key]
            if now is not None:
                yield now

    def put(self, key: str, document: Document) -> Collection:
        """With the document under the key; a new key comes last in the order."""
        before = self.entry(key)
        if before is not None:
            entry = Entry(before.sequence, key, document)
            made = self._derive(key, self._changes.set(key, entry), self._added, self._lost, self._next)
        else:
            entry = Entry(self._next, key, document)
            added = self._added.add((self._next, key))
            made = self._derive(key, self._changes.set(key, entry), added, self._lost, self._next + 1)
        if self._differences:
            self._carry(made, key, entry)
        return made

    def remove(self, key: str) -> Collection:
        """Without the key, which is remembered as removed. A key that is not there changes nothing."""
        entry = self.entry(key)
        if entry is None:
            return self
        added = self._added.discard((entry.sequence, key))
        lost = self._lost + (added is self._added)
        made = self._derive(key, self._changes.set(key, None), added, lost, self._next)
        if self._differences:
            self._carry(made, key, None)
        return made

    def _carry(self, made: Collection, key: str, after: Entry | None) -> None:
        """Keep the indexes of this collection up to date on the one derived from it."""
        known = self._changes.get(key, UNSET)
        hidden = self._start.by_key.get(key) if known is UNSET else None
        before = None if known is UNSET else known
        for path, difference in list(self._differences.items()):
            made._differences[path] = difference.replace(path, key, hidden, before, after)

    def was_removed(self, key: str) -> bool:
        """Whether the key was here once and is gone."""
        return self._changes.get(key, UNSET) is None

    def find(self, field: str, value: Json, *, after: int = -1) -> Iterator[Document]:
        """The documents whose value at the path is JSON-equal to `value`, in the order of creation.

        An absent field counts as null. The index is built when a path is first asked for.
        """
        return (entry.document for entry in self.find_entries(field, value, after=after))

    def find_entries(self, field: str, value: Json, *, after: int = -1) -> Iterator[Entry]:
        """Like `find`, with keys and sequence numbers."""
        wanted = value_key(value)
        index = self._start.index(field)
        if index is None:
            return (e for e in self.entries(after=after) if value_key(get_path(e.document, field)) == wanted)
        bucket = index.get(wanted, [])
        at = 0 if after < 0 else bisect_right(bucket, after, key=_sequence)
        if not self._changes:
            return _from(bucket, at)
        changes = self._changes
        old = (entry for entry in _from(bucket, at) if entry.key not in changes)
        slots = self._difference(field).present.get(wanted, EMPTY)
        if not slots:
            return old
        new = (changes[key] for _, key in slots.after(after))
        return merge(old, (entry for entry in new if entry is not None), key=_sequence)

    def count(self, field: str, value: Json) -> int:
        """How many documents `find` gives, without walking them."""
        wanted: Hashable = value_key(value)
        index = self._start.index(field)
        if index is None:
            return sum(1 for _ in self.find_entries(field, value))
        if not self._changes:
            return len(index.get(wanted, ()))
        difference = self._difference(field)
        return len(index.get(wanted, ())) - difference.gone.get(wanted, 0) + len(difference.present.get(wanted, EMPTY))

    def _difference(self, path: str) -> Difference:
        found = self._differences.get(path)
        if found is None:
            found = Difference.build(path, self._start, self._changes)
            if len(self._differences) < MAX_INDEXES:
                self._differences[path] = found
        return found

    @property
    def changes(self) -> immutables.Map[str, Entry | None]:
        """The entries put since the collection was loaded, by key; None for a removed one."""
        return self._changes

    def removed(self) -> list[str]:
        """The removed keys, sorted."""
        return sorted(key for key, entry in self._changes.items() if entry is None)

    @property
    def next_sequence(self) -> int:
        """The sequence number that the next new key gets."""
        return self._next

    @property
    def facts(self) -> dict[Hashable, object]:
        """A cache for what is costly to learn about the entities that the collection started with."""
        return self._start.facts

    def started_with(self) -> list[Entry]:
        """The entries that the collection started with, whether or not they are still here. Do not change it."""
        return self._start.order

    def changed_since(self, other: Collection) -> Iterable[str] | None:
        """Keys among which are all that differ from a relative; None when the two do not share their start."""
        if self._start is not other._start:
            return None
        mine, yours = self._changes, other._changes
        if mine is yours:
            return ()
        recent = self._since(yours)
        return _unlike(mine, yours) if recent is None else recent

    def _since(self, earlier: _Changes) -> set[str] | None:
        """The keys changed on the way from an ancestor a few steps back; None when it is no such ancestor."""
        keys: set[str] = set()
        for changes, key in reversed(self._trail):
            keys.add(key)
            if changes is earlier:
                return keys
        return None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Collection):
            return NotImplemented
        if self is other:
            return True
        return (
            len(self) == len(other)
            and self._next == other._next
            and self.removed() == other.removed()
            and all(mine == yours for mine, yours in zip(self.entries(), other.entries(), strict=True))
        )

    __hash__ = None  # type: ignore[assignment]  # compared by content, and content is large

    def __repr__(self) -> str:
        return f"<Collection of {len(self)}>"


def _unlike(mine: _Changes, yours: _Changes) -> list[str]:
    """The keys whose entries are not the very same in both."""
    keys = []
    shared = 0
    for key, entry in mine.items():
        theirs = yours.get(key, UNSET)
        shared += theirs is not UNSET
        if theirs is not entry:
            keys.append(key)
    if shared < len(yours):
        keys.extend(key for key in yours if key not in mine)
    return keys


def _repeated(entries: list[Entry]) -> str:
    seen: set[str] = set()
    for entry in entries:
        if entry.key in seen:
            return entry.key
        seen.add(entry.key)
    return ""
