"""Named states of worlds: in the store where there is one, else as long as the server runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from envace_sdk.errors import WorldError
from envace_sdk.world.naming import checked_name, is_name
from envace_sdk.world.state import State
from envace_sdk.world.world import World

if TYPE_CHECKING:
    from envace_sdk.store import Store

__all__ = ["Snapshots"]

LIMIT = 1_000
"""Most snapshots of one toolset that are kept in memory."""


class Snapshots:
    """The snapshots of one toolset's worlds. Any world of the toolset can be restored from any of them."""

    def __init__(self, toolset: str, store: Store | None = None) -> None:
        self._toolset = toolset
        self._store = store
        self._held: dict[str, State] = {}

    async def keep(self, name: str, world: World) -> State:
        """Keep the state that a world is in; an earlier snapshot of that name is replaced.

        Raises:
            WorldError: it is no name for a snapshot, or too many are held already.
            StoreError: the store refuses.
        """
        checked_name(name, "snapshot")
        state = world.snapshot()
        if self._store is not None:
            await asyncio.to_thread(self._store.save_snapshot, self._toolset, name, state, world=world.name)
        elif name not in self._held and len(self._held) >= LIMIT:
            raise WorldError(f"{LIMIT} snapshots are held already; take one of the same name again to replace it")
        else:
            self._held[name] = state
        return state

    async def get(self, name: str) -> State:
        """The state kept under a name. Raises: WorldError when there is none, StoreError."""
        found = None
        if self._store is None:
            found = self._held.get(name)
        elif is_name(name):
            found = await asyncio.to_thread(self._store.load_snapshot, self._toolset, name)
        if found is None:
            raise WorldError(f"no snapshot {name!r} (there are: {', '.join(await self.names()) or 'none'})")
        return found

    async def names(self) -> list[str]:
        """Their names, oldest first. Raises: StoreError."""
        if self._store is None:
            return list(self._held)
        return [snapshot.name for snapshot in await asyncio.to_thread(self._store.snapshots, self._toolset)]
