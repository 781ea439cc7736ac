"""Worlds that several processes change at once, in a PostgreSQL database: each call gets the world's turn.

A turn is one transaction. It begins with an advisory lock on the world, so that turns of one world follow one another
over all processes, while those of different worlds do not meet. It ends when the world is saved, or given back.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Self

from sqlalchemy import Connection, Row, Select, delete, func, insert, literal, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from envace_sdk.errors import (
    BusyWorldError,
    DoubtfulSaveError,
    StaleWorldError,
    StoreError,
    UnsavedWorldError,
)
from envace_sdk.world.state import State

from . import migrate as migrations
from . import rows
from .bases import Base, Bases
from .engine import connect, errors_named
from .room import Room
from .schema import worlds
from .types import lookup

__all__ = ["Held", "Turn", "Turns"]

_PAUSE: Final = 0.1
"""Seconds between two attempts to reach a database that is away."""


@dataclass(frozen=True, slots=True)
class Held:
    """A stored world as it was seen last."""

    id: int
    revision: int
    state: State
    base: Base | None


class Turn:
    """The turn of one world: nobody else changes it before `keep` or `end`.

    Args:
        held: what is stored; None where the world is not.
        waited: seconds for which others had the turn.
        read: whether the world had to be read, because it was not known as it is stored.
    """

    def __init__(
        self,
        turns: Turns,
        identity: tuple[str, str],
        connection: Connection,
        held: Held | None,
        waited: float,
        read: bool,
    ) -> None:
        self.held = held
        self.waited = waited
        self.read = read
        self.ended = False
        self._turns = turns
        self._identity = identity
        self._connection = connection

    def keep(self, state: State, base: Base) -> Held:
        """Save a state as the world's, durably, and end the turn.

        Args:
            state: of the world from now on.
            base: what a new world is stored on: only what differs from it is written.

        Raises:
            StaleWorldError: somebody who takes no turns has saved the world meanwhile. Nothing is written.
            UnsavedWorldError: the database went away before. Nothing is written.
            DoubtfulSaveError: it went away in the middle, and has not come back in time to say what became of it.
            StoreError: the database refuses a value. Nothing is written.
            WorldError: no further world may be stored.
        """
        now = datetime.now(UTC)
        try:
            with self._turns.unsaved():
                held = self._write(state, base, now)
            try:
                self._connection.commit()
            except DBAPIError as error:
                self._connection.invalidate()
                self._turns.require_saved(self._identity, held, now, error)
        except UnsavedWorldError:
            self._connection.invalidate()
            raise
        finally:
            self.end()
        return held

    def delete(self) -> bool:
        """Delete the world, and end the turn; False when there is none. Raises: UnsavedWorldError, StoreError."""
        try:
            with self._turns.unsaved():
                if self.held is not None:
                    self._connection.execute(delete(worlds).where(worlds.c.id == self.held.id))
                self._connection.commit()
        finally:
            self.end()
        return self.held is not None

    def end(self) -> None:
        """Give the turn back; nothing has happened. Does nothing where the turn has ended."""
        if not self.ended:
            self.ended = True
            with suppress(DBAPIError):  # it broke, and the turn ended with it
                self._connection.close()

    def _write(self, state: State, base: Base, now: datetime) -> Held:
        toolset, name = self._identity
        columns = {"seed": state.seed, "clock": state.clock, "version": state.version, "updated_at": now}
        if (held := self.held) is None:
            self._turns.room.require(self._connection, toolset)
            values = {
                "lookup": lookup(toolset, name),
                "toolset": toolset,
                "name": name,
                "created_at": now,
                "revision": 1,
            }
            try:
                made = self._connection.execute(insert(worlds).values(**values, **columns).returning(worlds.c.id))
            except IntegrityError:
                raise _stale(self._identity) from None
            world_id: int = made.scalar_one()
            rows.put_facts(self._connection, world_id, [base.fact])
            return Held(world_id, 1, state, rows.write(self._connection, world_id, base.state, state, base))
        query = (
            update(worlds)
            .where(worlds.c.id == held.id, worlds.c.revision == held.revision)
            .values(revision=held.revision + 1, **columns)
        )
        if self._connection.execute(query).rowcount != 1:
            raise _stale(self._identity)
        base_after = rows.write(self._connection, held.id, held.state, state, held.base)
        return Held(held.id, held.revision + 1, state, base_after)


class Turns:
    """Gives turns of worlds. Every method may be called from any thread, and blocks while the database works.

    Args:
        url: of the database, which must be PostgreSQL.
        connections: most connections at once, which is most turns at once.
        wait: seconds to wait for a turn that others have.
        patience: seconds to wait for a database that is away.
        limit: most worlds of one toolset that are stored. It is held against a count that is up to ten seconds old.

    Raises:
        StoreError: the database is another, or cannot be used.
    """

    def __init__(
        self, url: str, *, connections: int = 8, wait: float = 10.0, patience: float = 10.0, limit: int = 1_000_000
    ) -> None:
        self._engine = connect(url, connections=connections)
        if self._engine.dialect.name != "postgresql":
            self._engine.dispose()
            raise StoreError("worlds that several processes change at once need PostgreSQL: postgresql://HOST/NAME")
        self.connections = connections
        self._wait = wait
        self._patience = patience
        self.room = Room(limit)
        self._bases = Bases()

    def prepare(self, *, migrate: bool | None = None) -> None:
        """Make sure that the tables are there. Raises: StoreError."""
        migrations.prepare(self._engine, migrate, "Store.open(url, migrate=True), or serve --migrate")

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def base(self, start: State) -> Base:
        """The base for worlds that begin like this. Raises: UnsavedWorldError, StoreError."""
        known = self._bases.known(start)
        if known is None:
            with self.unsaved(), self._engine.begin() as connection:
                known = self._bases.keep(connection, start)
        return known

    def take(self, toolset: str, name: str, held: Held | None = None) -> Turn:
        """Wait for a world's turn.

        Args:
            toolset: whose world it is.
            name: of the world.
            held: the world as the caller knows it: it is read only if it is stored otherwise by now.

        Raises:
            BusyWorldError: others had the turn for too long.
            UnsavedWorldError: the database cannot be reached.
            StoreError: the world is damaged.
        """
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._taken((toolset, name), held)
            except UnsavedWorldError:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(_PAUSE)

    def _taken(self, identity: tuple[str, str], held: Held | None) -> Turn:
        with self.unsaved():
            connection = self._engine.connect()
            try:
                found, waited = self._locked(connection, identity)
                if found is None:
                    return Turn(self, identity, connection, None, waited, read=held is not None)
                if held is not None and (held.id, held.revision) == (found.id, found.revision):
                    return Turn(self, identity, connection, held, waited, read=False)
                now = Held(found.id, found.revision, *rows.read(connection, found, self._bases))
                return Turn(self, identity, connection, now, waited, read=True)
            except BaseException:
                connection.close()
                raise

    def _locked(self, connection: Connection, identity: tuple[str, str]) -> tuple[Row[Any] | None, float]:
        """The world's row, once it is this turn's, and the seconds that took."""
        key = int.from_bytes(lookup(*identity)[:8], "big", signed=True)
        found = connection.execute(_row(identity, func.pg_try_advisory_xact_lock(key))).one()
        if found.mine:
            return (None if found.id is None else found), 0.0
        began = time.monotonic()
        connection.execute(text(f"SET LOCAL lock_timeout = {max(int(self._wait * 1000), 1)}"))
        try:
            connection.execute(select(func.pg_advisory_xact_lock(key)))
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) == "55P03":
                raise BusyWorldError(
                    f"world {identity[1]!r} of {identity[0]!r} was in use by others for {self._wait:g} s: nothing has "
                    "happened; try again, or use a world that fewer callers share"
                ) from error
            raise
        # Seen anew: whoever had the turn has saved since.
        found = connection.execute(_row(identity, literal(True))).one()
        return (None if found.id is None else found), time.monotonic() - began

    def require_saved(self, identity: tuple[str, str], held: Held, at: datetime, cause: DBAPIError) -> None:
        """Find out whether a save whose acknowledgement was lost has happened: it has, when this returns.

        Raises:
            UnsavedWorldError: it has not.
            DoubtfulSaveError: that cannot be found out.
        """
        name = f"world {identity[1]!r} of {identity[0]!r}"
        try:
            turn = self.take(*identity)
        except StoreError as error:
            raise DoubtfulSaveError(
                f"the database went away while {name} was saved, and did not come back in time to say whether it was: "
                "look into the world before the call is sent again"
            ) from error
        try:
            query = select(worlds.c.updated_at).where(worlds.c.lookup == lookup(*identity))
            saved_at = turn._connection.execute(query).scalar_one_or_none()
            revision = 0 if turn.held is None else turn.held.revision
        finally:
            turn.end()
        if revision == held.revision and saved_at == at:
            return
        if revision < held.revision or (revision == held.revision and saved_at != at):
            raise UnsavedWorldError(f"the database went away before {name} was saved: nothing has happened") from cause
        raise DoubtfulSaveError(
            f"the database went away while {name} was saved, and others have saved it since: look into the world "
            "before the call is sent again"
        ) from cause

    @contextmanager
    def unsaved(self) -> Iterator[None]:
        """What the database layer raises where nothing has been committed, as errors of ours."""
        try:
            with errors_named(self._engine):
                yield
        except StoreError as error:
            cause = error.__cause__
            if type(error) is not StoreError:  # it says what it is
                raise
            if isinstance(cause, OperationalError) or (isinstance(cause, DBAPIError) and cause.connection_invalidated):
                raise UnsavedWorldError(f"{error} (nothing has happened)") from cause
            raise


def _row(identity: tuple[str, str], mine: Any) -> Select[Any]:
    one = select(literal(1).label("one")).subquery()
    return select(mine.label("mine"), worlds).select_from(one.outerjoin(worlds, worlds.c.lookup == lookup(*identity)))


def _stale(identity: tuple[str, str]) -> StaleWorldError:
    return StaleWorldError(
        f"world {identity[1]!r} of {identity[0]!r} was saved or deleted meanwhile by somebody who takes no turns: load "
        "it again"
    )
