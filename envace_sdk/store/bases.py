"""States that many worlds begin with: kept once, so that each of these worlds keeps only what differs."""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from collections import OrderedDict
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from envace_sdk.errors import StoreError, WorldError
from envace_sdk.world.state import State

from .changes import changes
from .schema import bases
from .types import json_text, lookup

__all__ = ["BASE", "Base", "Bases"]

BASE: Final = "base"
"""The kind of the fact that names a world's base."""

_REMEMBERED: Final = 32


class Base:
    """A state that is kept, and what it is found by."""

    def __init__(self, digest: str, state: State) -> None:
        self.digest = digest
        self.state = state

    @property
    def fact(self) -> dict[str, Any]:
        """The row that a world on this base has."""
        return {"lookup": lookup(BASE, ""), "kind": BASE, "name": "", "value": self.digest}

    @cached_property
    def entities(self) -> frozenset[bytes]:
        """The lookups of its entities: a world that lacks one of them without having removed it has another base."""
        return frozenset(row["lookup"] for row in changes(State(), self.state).entities)

    @cached_property
    def facts(self) -> frozenset[bytes]:
        """As `entities`, of its facts."""
        return frozenset(row["lookup"] for row in changes(State(), self.state).facts)


class Bases:
    """The bases of one database. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Base] = OrderedDict()
        self._of: OrderedDict[int, tuple[State, Base]] = OrderedDict()

    def known(self, state: State) -> Base | None:
        """The base made of this very state, if it was kept already."""
        with self._lock:
            found = self._of.get(id(state))
        return None if found is None else found[1]

    def keep(self, connection: Connection, state: State) -> Base:
        """Keep a state as a base, unless an equal one is. Raises: StoreError when it cannot be stored."""
        text = json_text(State(collections=state.collections, counters=state.counters, history=state.history).to_json())
        digest = hashlib.sha256(text.encode()).hexdigest()
        dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
        packed = {"digest": digest, "state": zlib.compress(text.encode(), level=6), "created_at": datetime.now(UTC)}
        connection.execute(dialect.insert(bases).values(**packed).on_conflict_do_nothing())
        base = Base(digest, state)
        with self._lock:
            self._known[digest] = base  # this very state: worlds that follow it share its documents
            self._of[id(state)] = (state, base)
            while len(self._of) > _REMEMBERED:
                self._of.popitem(last=False)
        return base

    def get(self, connection: Connection, digest: str) -> Base:
        """The base of that digest. Raises: StoreError when it is missing or damaged."""
        with self._lock:
            if digest in self._known:
                self._known.move_to_end(digest)
                return self._known[digest]
        packed = connection.execute(select(bases.c.state).where(bases.c.digest == digest)).scalar_one_or_none()
        if packed is None:
            raise StoreError(f"the base {digest[:100]} is missing: worlds that begin with it cannot be read")
        try:
            base = Base(digest, State.from_json(json.loads(zlib.decompress(packed))))
        except (zlib.error, ValueError, RecursionError, WorldError) as error:
            raise StoreError(f"the base {digest[:100]} cannot be read: {error}") from error
        with self._lock:
            self._known[digest] = base
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return base
