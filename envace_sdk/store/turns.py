"""Worlds that several processes change at once, in a PostgreSQL database: each call gets the world's turn.

A turn is one transaction. It begins with an advisory lock on the world, so that turns of one world follow one another
over all processes, while those of different worlds do not meet. It ends when the world is saved, or given back.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Self

from sqlalchemy import Connection, Row, Select, func, literal, select, text
from sqlalchemy.exc import DBAPIError, OperationalError

from envace_sdk.errors import (
    BusyWorldError,
    DoubtfulSaveError,
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
from .turn import Held, Turn
from .types import lookup

__all__ = ["Turns"]

_PAUSE: Final = 0.1
"""Seconds between two attempts to reach a database that is away."""


class Turns:
    """Gives turns of worlds. Every method may be called from any thread, and blocks while the database works.

    Args:
        url: of the database, which must be PostgreSQL.
        connections: most connections at once, which is most turns at once.
        wait: seconds to wait for a turn that others have.
        patience: seconds to wait for a database that is away.
        limit: most worlds of one toolset that are stored. Above 10,000 it is held against a count that is up to ten
            seconds old.

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
            saved_at = turn.asked(query)
            revision = 0 if turn.held is None else turn.held.revision
        finally:
            turn.end()
        if revision == held.revision and saved_at == at:
            return
        if revision <= held.revision:
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
