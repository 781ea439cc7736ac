"""The turn of one world: what may be done with it while nobody else can."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, delete, insert, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from envace_sdk.errors import StaleWorldError, UnsavedWorldError
from envace_sdk.world.state import State

from . import rows
from .bases import Base
from .schema import worlds
from .types import lookup

if TYPE_CHECKING:
    from .turns import Turns

__all__ = ["Held", "Turn"]


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

    def asked(self, query: Select[tuple[Any]]) -> Any:
        """The one value that a query gives within the turn, or None."""
        return self._connection.execute(query).scalar_one_or_none()

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


def _stale(identity: tuple[str, str]) -> StaleWorldError:
    return StaleWorldError(
        f"world {identity[1]!r} of {identity[0]!r} was saved or deleted meanwhile by somebody who takes no turns: load "
        "it again"
    )
