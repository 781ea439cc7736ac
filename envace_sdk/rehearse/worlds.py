"""The named worlds of one environment, as a server holds them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from envace_sdk.errors import OverdueCallError, StaleWorldError, UnknownToolError, WorldError
from envace_sdk.faults import FaultPlan, Schedule
from envace_sdk.faults.schedule import forget
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.naming import checked_name
from envace_sdk.world.state import State
from envace_sdk.world.world import World

from .base import Rehearsal
from .environment import Environment
from .faults import deliver

if TYPE_CHECKING:  # the database library takes longer to import than all the rest of a server
    from envace_sdk.store import Store

__all__ = ["Worlds"]


class Worlds:
    """Worlds by name, made when first asked for.

    Args:
        environment: what they are worlds of.
        seed: of new worlds.
        clock: of new worlds; default: the environment's start.
        limit: most worlds held at once.
        store: where they are kept between runs; each committed change is saved at once. Somebody else may change them
            there too: it is noticed when a change is saved, and the change then made on what is stored.
        faults: plan of the faults that new worlds meet. Plans are not stored; their counters are.
        call_seconds: most seconds that a call may take until its change is saved, waiting for its turn included.
    """

    def __init__(
        self,
        environment: Environment,
        *,
        seed: int = 0,
        clock: datetime | None = None,
        limit: int = 10_000,
        store: Store | None = None,
        faults: Schedule | None = None,
        call_seconds: float | None = None,
    ) -> None:
        self.environment = environment
        self._seed = seed
        self._clock = clock
        self._limit = limit
        self._store = store
        self._worlds: dict[str, World] = {}
        self._faults = faults
        self._call_seconds = call_seconds
        self._faults_of: dict[str, Schedule | None] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._worlds

    def __iter__(self) -> Iterator[World]:
        return iter(list(self._worlds.values()))

    def __len__(self) -> int:
        return len(self._worlds)

    def get(self, name: str = "default") -> World:
        """The world of that name: the one held, else the one stored, else a new one.

        Raises:
            WorldError: the name is not one, or the limit of worlds is reached.
        """
        world = self._worlds.get(name)
        return self._add(self._opened(name)) if world is None else world

    def look(self, name: str = "default") -> World:
        """As `get`, but a world that is not held is not held afterwards either: what happens in it is lost."""
        world = self._worlds.get(name)
        return self._opened(name) if world is None else world

    async def find(self, name: str) -> World | None:
        """The world of that name, if there is one to be called upon already. Raises: StoreError."""
        return self._worlds.get(name)

    async def peek(self, name: str = "default") -> World:
        """`look`, for servers: a subclass may have to wait for it. Raises: WorldError, StoreError."""
        return self.look(name)

    def admit(self, name: str) -> str:
        """The name, if there is or could be a world of it; none is made.

        Raises:
            WorldError: as `get`.
        """
        if name not in self._worlds:
            checked_name(name)
            self._require_room()
        return name

    def fork(self, name: str, new: str) -> World:
        """A copy of a world under another name. Raises: WorldError, also when that name is taken."""
        if new in self._worlds:
            raise WorldError(f"world {new!r} exists already; choose another name or reset it")
        fork = self._add(self.get(name).fork(checked_name(new)))
        self._faults_of[new] = self.faults(name)
        return fork

    async def forked(self, name: str, new: str) -> World:
        """`fork`, and saved. Raises: WorldError, also when that name is taken in the store; StoreError."""
        fork = self.fork(name, new)
        try:
            await self.save(fork)
        except StaleWorldError:
            self.let_go(new)
            raise WorldError(f"world {new!r} is stored already; choose another name") from None
        except Exception:
            self.let_go(new)
            raise
        return fork

    def drop(self, name: str) -> None:
        """Forget a world, in the store too. Raises: StoreError, and then nothing is forgotten."""
        if self._store is not None:
            self._store.delete(self.environment.toolset.name, name)
        self.let_go(name)

    def let_go(self, name: str) -> None:
        """Hold a world no longer; in the store it stays."""
        self._worlds.pop(name, None)
        self._faults_of.pop(name, None)

    def faults(self, name: str = "default") -> Schedule | None:
        """The faults that calls on the world of that name meet."""
        return self._faults_of.get(name, self._faults)

    async def switch_faults(self, name: str, plan: FaultPlan | None) -> None:
        """From now on, calls on that world meet the faults of `plan`, counted anew; None: no more faults.

        Raises:
            FaultError: a pattern of the plan matches no tool.
            WorldError, StoreError: as `get` and `change`.
        """
        schedule = None if plan is None else self.environment.schedule(plan)
        await self.change(self.get(name), forget)
        self._faults_of[name] = schedule

    async def call(self, name: str, call: ToolCall) -> Rehearsal:
        """`perform`, and the answer as a caller gets it.

        Raises:
            TimedOutError, DisconnectedError: a fault lost the answer.
            UnknownToolError, MissError, DynamicsError, FaultError, UnsatisfiableError, StoreError: as `perform`.
        """
        return await deliver(await self.perform(name, call))

    async def perform(self, name: str, call: ToolCall) -> Rehearsal:
        """`Environment.perform` on the world of that name, with the faults set for it, saved if it changed.

        Raises:
            UnknownToolError, MissError, DynamicsError, FaultError, UnsatisfiableError: as `Environment.perform`.
            OverdueCallError: it took longer than calls may; nothing has happened.
            StoreError: the change could not be saved; the world is as before.
        """
        try:
            async with asyncio.timeout(self._call_seconds) as bound:
                return await self._perform(name, call, bound)
        except TimeoutError as error:
            if not bound.expired():
                raise
            raise OverdueCallError(
                f"{call.name} took longer than {self._call_seconds:g} s: nothing has happened; a server gives calls "
                "more time with --call-timeout"
            ) from error

    async def _perform(self, name: str, call: ToolCall, bound: asyncio.Timeout) -> Rehearsal:
        if name not in self._worlds and call.name not in self.environment.toolset:
            raise UnknownToolError(call.name)  # and no world is made for it
        world = self.get(name)
        faults = self.faults(name)

        async def save(world: World) -> None:
            bound.reschedule(None)  # from here on it happens
            await self.save(world)

        try:
            return await self.environment.perform(world, call, faults=faults, save=save)
        except StaleWorldError:
            async with world.lock:
                await self._reload(world)
        try:
            return await self.environment.perform(world, call, faults=faults, save=save)
        except StaleWorldError as error:
            raise self._contended(world) from error

    async def change(self, world: World, change: Callable[[State], State]) -> None:
        """Put a world into the state that `change` makes of its own, as stored, and save it.

        Raises:
            StoreError: it could not be saved; the world is as it was.
        """
        async with world.lock:
            for _ in range(2):
                await self._reload(world)
                before = world.state
                world.commit(change(before))
                try:
                    await self.save(world)
                except StaleWorldError:
                    world.commit(before)
                except Exception:
                    world.commit(before)
                    raise
                else:
                    return
        raise self._contended(world)

    async def save(self, world: World) -> None:
        """Write a world's changes to the store, if there is one."""
        if self._store is not None:
            await asyncio.to_thread(self._store.save, self.environment.toolset.name, world)

    async def _reload(self, world: World) -> None:
        """Take what is stored as the world's state. One that is not stored, or was deleted there, stays as it is."""
        if self._store is not None:
            stored = await asyncio.to_thread(self._store.load, self.environment.toolset.name, world.name)
            if stored is not None:
                world.commit(stored)

    def _contended(self, world: World) -> StaleWorldError:
        return StaleWorldError(
            f"world {world.name!r} of {self.environment.toolset.name!r} was saved by somebody else twice while this "
            "was done: nothing has happened; try again, or use a world that nobody else changes"
        )

    def _opened(self, name: str) -> World:
        world = self.environment.world(checked_name(name), seed=self._seed, clock=self._clock)
        stored = self._store.load(self.environment.toolset.name, name) if self._store is not None else None
        if stored is not None:
            world.commit(stored)
        return world

    def _add(self, world: World) -> World:
        self._require_room()
        self._worlds[world.name] = world
        return world

    def _require_room(self) -> None:
        if len(self._worlds) >= self._limit:
            raise WorldError(f"{self._limit} worlds are held already; drop some, or raise the limit")
