"""Worlds and snapshots that outlive the process."""

from __future__ import annotations

import json
import threading
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Self

from sqlalchemy import Connection, Engine, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from envace_sdk.errors import StaleWorldError, StoreError, WorldError
from envace_sdk.world.state import State
from envace_sdk.world.world import World

from . import migrate as migrations
from . import rows
from .bases import Base, Bases
from .changes import related
from .engine import reachable, reading, writing
from .schema import snapshots, worlds
from .types import json_text, lookup

__all__ = ["Store", "StoredSnapshot", "StoredWorld"]

_WORTH_COPYING: Final = 500
"""Entities from which on copying a relative's rows inside the database beats sending them."""

_CANDIDATES: Final = 16


@dataclass(frozen=True, slots=True)
class StoredWorld:
    """What there is to say of a stored world without loading it."""

    toolset: str
    name: str
    seed: int
    clock: datetime
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """What there is to say of a snapshot without loading it."""

    toolset: str
    name: str
    world: str
    """The world it was taken of."""
    version: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class _Saved:
    """What the database holds of a world, as far as this store knows."""

    id: int
    revision: int
    state: State
    base: Base | None = None


class Store:
    """Keeps worlds and snapshots in a database.

    What it last saved or loaded of each world, it remembers; saving again writes only what has changed since, in one
    transaction, and fails when somebody else has saved the world in between.

    Every method may be called from any thread, and blocks while the database works: `async` code calls
    `await asyncio.to_thread(store.save, toolset, world)`. `save` takes the world's state at the moment it runs.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._saved: dict[tuple[str, str], _Saved] = {}
        self._bases = Bases()

    @classmethod
    def open(cls, url: str | None = None, *, migrate: bool | None = None) -> Self:
        """Open the database at `url`; default: the user's own SQLite database.

        Args:
            url: `sqlite:///path`, or `postgresql://…` (needs the extra `postgres`).
            migrate: whether to bring the database to this version's tables; default: only SQLite, which has one user.

        Raises:
            StoreError: the database cannot be opened, is of a newer version, or of an older one and not to be migrated.
        """
        return cls(migrations.opened(url, migrate, "Store.open(url, migrate=True)"))

    def migrate(self) -> None:
        """Bring the database to this version's tables. Raises: StoreError when it is newer, or refuses."""
        migrations.migrate(self._engine)

    def reachable(self) -> bool:
        """Whether the database answers now."""
        return reachable(self._engine)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Worlds

    def save(self, toolset: str, world: World) -> None:
        """Write what has changed in a world since this store last saved or loaded it; the whole of a new one.

        Raises:
            StaleWorldError: somebody else saved or deleted the world since, or one of that name is stored that this
                store has not loaded. Nothing is written.
            StoreError: the database refuses.
        """
        with self._lock:
            state, identity = world.state, (toolset, world.name)
            saved = self._saved.get(identity)
            if saved is None:
                with writing(self._engine) as connection:
                    world_id, base = self._created(connection, toolset, world.name, state)
                self._remember(identity, _Saved(world_id, 1, state, base))
            elif saved.state is not state:
                with writing(self._engine) as connection:
                    self._claimed(connection, saved, toolset, world.name, state)
                    base = rows.write(connection, saved.id, saved.state, state, saved.base)
                self._remember(identity, _Saved(saved.id, saved.revision + 1, state, base))

    def load(self, toolset: str, name: str) -> State | None:
        """The stored state of a world, or None. From now on this store saves that world's changes since this state.

        Raises:
            StoreError: the database refuses.
        """
        with self._lock:
            with reading(self._engine) as connection:
                query = select(worlds).where(worlds.c.lookup == lookup(toolset, name))
                found = connection.execute(query).one_or_none()
                if found is None:
                    self._saved.pop((toolset, name), None)
                    return None
                state, base = self._state(connection, found)
            self._remember((toolset, name), _Saved(found.id, found.revision, state, base))
            return state

    def worlds(self, toolset: str | None = None) -> list[StoredWorld]:
        """The stored worlds, of one toolset or of all, oldest first. Raises: StoreError."""
        query = select(worlds).order_by(worlds.c.id)
        with self._lock, reading(self._engine) as connection:
            found = connection.execute(query if toolset is None else query.where(worlds.c.toolset == toolset))
            return [
                StoredWorld(w.toolset, w.name, w.seed, w.clock, w.version, w.created_at, w.updated_at) for w in found
            ]

    def delete(self, toolset: str, name: str) -> bool:
        """Delete a world; False when there is none. Raises: StoreError."""
        with self._lock:
            with writing(self._engine) as connection:
                gone = connection.execute(delete(worlds).where(worlds.c.lookup == lookup(toolset, name))).rowcount
            self._saved.pop((toolset, name), None)
            return gone > 0

    # Snapshots

    def save_snapshot(self, toolset: str, name: str, state: State, *, world: str = "") -> None:
        """Keep a state under a name; one of that name is replaced.

        Args:
            toolset: whose world it is of.
            name: of the snapshot.
            state: what to keep.
            world: the name of the world it was taken of.

        Raises:
            StoreError: the database refuses.
        """
        packed = zlib.compress(json_text(state.to_json()).encode(), level=1)
        with self._lock, writing(self._engine) as connection:
            connection.execute(delete(snapshots).where(snapshots.c.lookup == lookup(toolset, name)))
            connection.execute(
                insert(snapshots).values(
                    lookup=lookup(toolset, name),
                    toolset=toolset,
                    name=name,
                    world=world,
                    version=state.version,
                    state=packed,
                    created_at=datetime.now(UTC),
                )
            )

    def load_snapshot(self, toolset: str, name: str) -> State | None:
        """The state kept under a name, or None. Raises: StoreError, also when it is damaged."""
        with self._lock, reading(self._engine) as connection:
            query = select(snapshots.c.state).where(snapshots.c.lookup == lookup(toolset, name))
            packed = connection.execute(query).scalar_one_or_none()
        if packed is None:
            return None
        try:
            return State.from_json(json.loads(zlib.decompress(packed)))
        except (zlib.error, ValueError, RecursionError, WorldError) as error:
            raise StoreError(f"snapshot {name!r} of {toolset!r} cannot be read: {error}") from error

    def snapshots(self, toolset: str | None = None) -> list[StoredSnapshot]:
        """The snapshots, of one toolset or of all, oldest first. Raises: StoreError."""
        s = snapshots.c
        query = select(s.toolset, s.name, s.world, s.version, s.created_at).order_by(s.id)
        with self._lock, reading(self._engine) as connection:
            found = connection.execute(query if toolset is None else query.where(s.toolset == toolset))
            return [StoredSnapshot(*row) for row in found]

    def delete_snapshot(self, toolset: str, name: str) -> bool:
        """Delete a snapshot; False when there is none. Raises: StoreError."""
        with self._lock, writing(self._engine) as connection:
            query = delete(snapshots).where(snapshots.c.lookup == lookup(toolset, name))
            return connection.execute(query).rowcount > 0

    # Parts of the above

    def _remember(self, identity: tuple[str, str], saved: _Saved) -> None:
        self._saved.pop(identity, None)  # so that the newest comes last
        self._saved[identity] = saved

    def _created(self, connection: Connection, toolset: str, name: str, state: State) -> tuple[int, Base | None]:
        now = datetime.now(UTC)
        values = {"toolset": toolset, "name": name, "created_at": now, "updated_at": now, "revision": 1}
        try:
            made = connection.execute(
                insert(worlds).values(lookup=lookup(toolset, name), **values, **_columns(state)).returning(worlds.c.id)
            )
        except IntegrityError:
            raise StaleWorldError(
                f"world {name!r} of {toolset!r} is stored already: load it, or delete it, before saving it"
            ) from None
        world_id: int = made.scalar_one()
        relative = self._relative(connection, toolset, state)
        if relative is None:
            return world_id, rows.write(connection, world_id, State(), state)
        rows.copy(connection, relative.id, world_id)
        return world_id, rows.write(connection, world_id, relative.state, state, relative.base)

    def _relative(self, connection: Connection, toolset: str, state: State) -> _Saved | None:
        """A stored world of which a new one differs little, if it still is as this store last saw it."""
        if sum(map(len, state.collections.values())) < _WORTH_COPYING:
            return None
        newest_first = (saved for (of, _), saved in reversed(self._saved.items()) if of == toolset)
        for saved, _ in zip(newest_first, range(_CANDIDATES), strict=False):
            if related(saved.state, state):
                # Locked, so that it stays so until its rows are copied.
                query = select(worlds.c.revision).where(worlds.c.id == saved.id).with_for_update(read=True)
                if connection.execute(query).scalar_one_or_none() == saved.revision:
                    return saved
        return None

    def _claimed(self, connection: Connection, saved: _Saved, toolset: str, name: str, state: State) -> None:
        query = (
            update(worlds)
            .where(worlds.c.id == saved.id, worlds.c.revision == saved.revision)
            .values(revision=saved.revision + 1, updated_at=datetime.now(UTC), **_columns(state))
        )
        if connection.execute(query).rowcount != 1:
            raise StaleWorldError(
                f"world {name!r} of {toolset!r} was saved or deleted by somebody else meanwhile: load it again"
            )

    def _state(self, connection: Connection, found: Row[Any]) -> tuple[State, Base | None]:
        saved = self._saved.get((found.toolset, found.name))
        if saved is not None and (saved.id, saved.revision) == (found.id, found.revision):
            return saved.state, saved.base
        return rows.read(connection, found, self._bases)


def _columns(state: State) -> dict[str, Any]:
    return {"seed": state.seed, "clock": state.clock, "version": state.version}
