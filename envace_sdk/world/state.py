"""The state of a rehearsed environment: an immutable value that forks for free."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Self

import immutables

from envace_sdk.errors import WorldError
from envace_sdk.json import Json

from .clock import clock_text, parse_clock
from .collection import Collection
from .dynamics import CollectionRule, Dynamics
from .index import Entry
from .keys import Document, key_of
from .plain import check_json, check_text

__all__ = ["DEFAULT_CLOCK", "FORMAT", "Collection", "State"]

DEFAULT_CLOCK = datetime(2026, 1, 1, 9, 0, 0, tzinfo=UTC)
"""When a world begins, unless told otherwise."""

FORMAT = 1
"""Version of the JSON form of a state (a snapshot file is just that); a newer one is refused."""

_TICK = timedelta(seconds=1)
_NOTHING = Collection()
_MOST = 2**53 - 1
"""The largest integer that every reader of JSON keeps exact."""


@dataclass(frozen=True, slots=True, eq=True)
class State:
    """Collections of documents, a clock, and the seed of all chance.

    Immutable: every change derives a new state, which shares nearly everything with this one; so a fork is
    just another reference. Documents must never be changed in place.
    """

    seed: int = 0
    clock: datetime = DEFAULT_CLOCK
    version: int = 0
    """How many committed writes led here."""
    collections: immutables.Map[str, Collection] = field(default_factory=immutables.Map)
    counters: immutables.Map[str, int] = field(default_factory=immutables.Map)
    """The next number to mint, per collection."""
    history: immutables.Map[str, str] = field(default_factory=immutables.Map)
    """Small facts that a layer of the ladder needs to remember, by name."""

    __hash__ = None  # type: ignore[assignment]  # compared by content, and content is large

    def collection(self, name: str) -> Collection:
        """The collection of that name; an empty one when there is none."""
        return self.collections.get(name, _NOTHING)

    def get(self, collection: str, key: str) -> Document | None:
        """One document, or None."""
        return self.collections.get(collection, _NOTHING).get(key)

    def put(self, collection: str, key: str, document: Document) -> State:
        """With the document under the key."""
        return self._with(collection, self.collections.get(collection, _NOTHING).put(key, document))

    def remove(self, collection: str, key: str) -> State:
        """Without the key, which is remembered as removed."""
        before = self.collections.get(collection, _NOTHING)
        after = before.remove(key)
        return self if after is before else self._with(collection, after)

    def _with(self, name: str, collection: Collection) -> State:
        collections = self.collections.set(name, collection)
        return State(self.seed, self.clock, self.version, collections, self.counters, self.history)

    def counted(self, counter: str, number: int) -> State:
        """With the next number to mint."""
        counters = self.counters.set(counter, number)
        return State(self.seed, self.clock, self.version, self.collections, counters, self.history)

    def at(self, clock: datetime) -> State:
        """At another time."""
        return replace(self, clock=clock)

    def replace(self, **changes: Any) -> State:
        """With some fields changed."""
        return replace(self, **changes)

    def tick(self) -> State:
        """After one committed write: a version later, and a second.

        Raises:
            WorldError: the clock is at the end of time.
        """
        try:
            clock = self.clock + _TICK
        except OverflowError as error:
            raise WorldError(f"the clock {clock_text(self.clock)} cannot advance") from error
        return State(self.seed, clock, self.version + 1, self.collections, self.counters, self.history)

    def random(self, *salt: str) -> Random:
        """A source of chance that depends on the seed, the version and the salt only."""
        text = json.dumps([self.seed, self.version, *salt])
        return Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))

    @classmethod
    def start(
        cls,
        *,
        seed: int = 0,
        clock: datetime = DEFAULT_CLOCK,
        collections: Mapping[str, Sequence[Document]] | None = None,
        dynamics: Dynamics,
    ) -> Self:
        """The state in which a world begins; entities get the keys that the dynamics' collections define.

        Raises:
            WorldError: a collection is not in the dynamics, or an entity has no key, or another's.
        """
        made = {}
        for name, documents in (collections or {}).items():
            rule = dynamics.collections.get(name)
            if rule is None:
                known = ", ".join(sorted(dynamics.collections)) or "none"
                raise WorldError(f"start data: the dynamics have no collection {name!r} (they have: {known})")
            made[name] = _keyed(name, documents, rule)
        for name in dynamics.collections:
            made.setdefault(name, _NOTHING)
        return cls(seed=seed, clock=_aware(clock), collections=immutables.Map(made))

    def to_json(self) -> dict[str, Json]:
        """Everything, as plain JSON; the form of a snapshot file."""
        return {
            "format": FORMAT,
            "seed": self.seed,
            "clock": clock_text(self.clock),
            "version": self.version,
            "counters": dict(sorted(self.counters.items())),
            "history": dict(sorted(self.history.items())),
            "collections": {
                name: {
                    "next": collection.next_sequence,
                    "entities": [[*entry] for entry in collection.entries()],
                    "removed": collection.removed(),
                }
                for name, collection in sorted(self.collections.items())
            },
        }

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Read what `to_json` wrote.

        Raises:
            WorldError: it is not that; the message names the place.
        """
        _require(isinstance(data, dict), "", "a snapshot is a JSON object")
        _require(data.get("format") == FORMAT, "format", f"this version reads format {FORMAT}")
        found = _member(data, "collections", dict, "")
        for name in found:
            check_text(str(name), "snapshot: collections")
        return cls(
            seed=_member(data, "seed", int, ""),
            clock=parse_clock(data.get("clock"), "snapshot: clock"),
            version=_count(data, "version", ""),
            collections=immutables.Map({name: _restored(name, value) for name, value in found.items()}),
            counters=_map_of(data, "counters", int),
            history=_map_of(data, "history", str),
        )

    def check_keys(self, dynamics: Dynamics) -> None:
        """Make sure that every entity is kept under the key that its own fields say.

        Raises:
            WorldError: one is not, and could be found in no way that agrees with what it shows.
        """
        for name, rule in dynamics.collections.items():
            for key, document in self.collection(name).items():
                own = key_of(document, rule.key)
                if own != key:
                    says = "have none" if own is None else f"say {own!r}"
                    raise WorldError(f"{name}: the entity under the key {key!r}: its fields ({_fields(rule)}) {says}")


def _aware(clock: datetime) -> datetime:
    if clock.tzinfo is None:
        raise WorldError(f"the clock {clock.isoformat()} needs a time zone")
    return clock.astimezone(UTC)


def _keyed(name: str, documents: Sequence[Document], rule: CollectionRule) -> Collection:
    pairs: dict[str, Document] = {}
    for position, document in enumerate(documents):
        if not isinstance(document, dict):
            raise WorldError(f"start data: {name}[{position}] is not an object")
        key = key_of(document, rule.key)
        if key is None:
            raise WorldError(f"start data: {name}[{position}] has no key: it needs {_fields(rule)}")
        if key in pairs:
            raise WorldError(f"start data: {name}[{position}] has the key {key!r}, which an earlier one has too")
        pairs[key] = document
    return Collection(pairs.items())


def _fields(rule: CollectionRule) -> str:
    return repr(rule.key) if isinstance(rule.key, str) else " and ".join(map(repr, rule.key))


def _require(holds: bool, place: str, says: str) -> None:
    if not holds:
        raise WorldError(f"snapshot{': ' if place else ''}{place}: {says}")


def _member(data: dict[str, Json], name: str, kind: type, place: str) -> Json:
    value: Json = data.get(name)
    where = f"{place}.{name}" if place else name
    article = {dict: "an object", list: "a list", int: "an integer", str: "a string"}[kind]
    _require(isinstance(value, kind) and not isinstance(value, bool), where, f"expected {article}")
    return value


def _count(data: dict[str, Json], name: str, place: str) -> int:
    value: int = _member(data, name, int, place)
    where = f"{place}.{name}" if place else name
    _require(0 <= value <= _MOST, where, f"expected an integer from 0 to {_MOST}")
    return value


def _map_of(data: dict[str, Json], name: str, kind: type) -> immutables.Map[str, Any]:
    values = _member({name: data.get(name, {})}, name, dict, "")
    check_json(values, f"snapshot: {name}")
    for key in values:
        _member(values, key, kind, name)
    return immutables.Map(values)


def _restored(name: str, data: Json) -> Collection:
    place = f"collections.{name}"
    _require(isinstance(data, dict), place, "expected an object")
    following = _count(data, "next", place)
    entries: list[Entry] = []
    keys: set[str] = set()
    last = -1
    for position, row in enumerate(_member(data, "entities", list, place)):
        here = f"{place}.entities[{position}]"
        _require(isinstance(row, list) and len(row) == 3, here, "expected [sequence number, key, document]")
        sequence, key, document = row
        _require(
            type(sequence) is int and last < sequence < following, here, "sequence numbers must rise, below `next`"
        )
        _require(isinstance(key, str) and key not in keys, here, f"the key {key!r} is not a new string")
        check_text(key, f"snapshot: {here}: the key")
        _require(isinstance(document, dict), here, "the document is not an object")
        check_json(document, f"snapshot: {here}")
        last = sequence
        keys.add(key)
        entries.append(Entry(sequence, key, document))
    removed = _member({"removed": data.get("removed", [])}, "removed", list, place)
    check_json(removed, f"snapshot: {place}.removed")
    for key in removed:
        _require(
            isinstance(key, str) and key not in keys, f"{place}.removed", f"{key!r} is not the key of a removed entity"
        )
    return Collection.restore(entries, removed, following)
