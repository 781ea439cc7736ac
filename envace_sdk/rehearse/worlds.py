"""The named worlds of one environment, as a server holds them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from envace_sdk.errors import StoreError, WorldError
from envace_sdk.faults import FaultPlan, Schedule
from envace_sdk.faults.schedule import forget
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.world import World

from .base import Rehearsal
from .environment import Environment
from .faults import deliver

if TYPE_CHECKING:  # the database library takes longer to import than all the rest of a server
    from envace_sdk.store import Store

__all__ = ["Worlds"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Worlds:
    """Worlds by name, made when first asked for.

    Args:
        environment: what they are worlds of.
        seed: of new worlds.
        clock: of new worlds; default: the environment's start.
        limit: most worlds held at once.
        store: where they are kept between runs; each committed change is saved at once.
        faults: plan of the faults that new worlds meet. Plans are not stored; their counters are.
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
    ) -> None:
        self.environment = environment
        self._seed = seed
        self._clock = clock
        self._limit = limit
        self._store = store
        self._worlds: dict[str, World] = {}
        self._faults = faults
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

    def fork(self, name: str, new: str) -> World:
        """A copy of a world under another name. Raises: WorldError, also when that name is taken."""
        if new in self._worlds:
            raise WorldError(f"world {new!r} exists already; choose another name or reset it")
        fork = self._add(self.get(name).fork(self._checked(new)))
        self._faults_of[new] = self.faults(name)
        return fork

    def drop(self, name: str) -> None:
        """Forget a world, in the store too."""
        self._worlds.pop(name, None)
        self._faults_of.pop(name, None)
        if self._store is not None:
            self._store.delete(self.environment.toolset.name, name)

    def faults(self, name: str = "default") -> Schedule | None:
        """The faults that calls on the world of that name meet."""
        return self._faults_of.get(name, self._faults)

    async def switch_faults(self, name: str, plan: FaultPlan | None) -> None:
        """From now on, calls on that world meet the faults of `plan`, counted anew; None: no more faults.

        Raises:
            FaultError: a pattern of the plan matches no tool.
            WorldError, StoreError: as `get` and `save`.
        """
        schedule = None if plan is None else self.environment.schedule(plan)
        world = self.get(name)
        async with world.lock:
            world.commit(forget(world.state))
            self._faults_of[name] = schedule
        await self.save(world)

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
            StoreError: the change could not be saved; the world is as before, if nothing happened in it since.
        """
        world = self.get(name)
        before = world.state
        rehearsal = await self.environment.perform(world, call, faults=self.faults(name))
        if world.state is not before:
            try:
                await self.save(world)
            except StoreError:
                if world.state is rehearsal.state:
                    world.commit(before)
                raise
        return rehearsal

    async def save(self, world: World) -> None:
        """Write a world's changes to the store, if there is one."""
        if self._store is not None:
            await asyncio.to_thread(self._store.save, self.environment.toolset.name, world)

    def _opened(self, name: str) -> World:
        world = self.environment.world(self._checked(name), seed=self._seed, clock=self._clock)
        stored = self._store.load(self.environment.toolset.name, name) if self._store is not None else None
        if stored is not None:
            world.commit(stored)
        return world

    def _add(self, world: World) -> World:
        if len(self._worlds) >= self._limit:
            raise WorldError(f"{self._limit} worlds are held already; drop some, or raise the limit")
        self._worlds[world.name] = world
        return world

    @staticmethod
    def _checked(name: str) -> str:
        if not _NAME.fullmatch(name):
            raise WorldError(f"{name[:120]!r} is no world name: use 1 to 100 of A-Z a-z 0-9 . _ -, not . _ - first")
        return name
