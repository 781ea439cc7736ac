"""The named worlds of one environment, where several processes serve the same ones from one database."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from envace_sdk.errors import FaultError, StaleWorldError, UnknownToolError, UnsavedWorldError, WorldError
from envace_sdk.faults import FaultPlan, Schedule
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.naming import checked_name, is_name
from envace_sdk.world.state import State
from envace_sdk.world.world import World

from .base import Rehearsal
from .environment import Environment
from .worlds import Worlds

if TYPE_CHECKING:
    from envace_sdk.store.bases import Base
    from envace_sdk.store.turn import Held, Turn
    from envace_sdk.store.turns import Turns

__all__ = ["SharedWorlds", "Watcher"]

T = TypeVar("T")

_ATTEMPTS: Final = 3


class Watcher(Protocol):
    """Hears how the worlds of a process fare."""

    def waited(self, toolset: str, seconds: float) -> None:
        """Others had a world's turn for so long."""

    def reloaded(self, toolset: str) -> None:
        """A world that was held had been changed by others."""

    def evicted(self, toolset: str) -> None:
        """A world is held no longer, to make room for another."""

    def holds(self, toolset: str, worlds: int) -> None:
        """So many worlds are held now."""


@dataclass(slots=True)
class _Seat:
    """A world that this process holds. `held` is what it knows to be stored."""

    world: World
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    held: Held | None = None
    users: int = 0


class SharedWorlds(Worlds):
    """Worlds that live in a database; this process holds some of them, as long as they are as stored.

    Each call takes the world's turn, which no other process has meanwhile, and is answered only after what it changed
    has been saved.

    Args:
        environment: what they are worlds of.
        turns: of the database. As many calls run at once as it has connections.
        seed, clock, faults, call_seconds: as `Worlds`.
        held: most worlds held at once; the one that was used longest ago makes room.
        watcher: hears of waits, reloads and evictions.
    """

    def __init__(
        self,
        environment: Environment,
        turns: Turns,
        *,
        seed: int = 0,
        clock: datetime | None = None,
        held: int = 1_000,
        faults: Schedule | None = None,
        call_seconds: float | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        super().__init__(environment, seed=seed, clock=clock, faults=faults, call_seconds=call_seconds)
        self._turns = turns
        self._most_held = held
        self._watcher = watcher
        self._base: Base | None = None
        self._seats: OrderedDict[str, _Seat] = OrderedDict()
        # A turn that has begun must always find a thread to end in, or those that wait for it would wait for good.
        self._threads = ThreadPoolExecutor(turns.connections, thread_name_prefix="envace-turn")
        self._free = asyncio.Semaphore(turns.connections)

    def close(self) -> None:
        """Wait until what is being saved is saved."""
        self._threads.shutdown(wait=True, cancel_futures=False)

    def __contains__(self, name: str) -> bool:
        return name in self._seats

    def __iter__(self) -> Iterator[World]:
        return iter([seat.world for seat in self._seats.values()])

    def __len__(self) -> int:
        return len(self._seats)

    def get(self, name: str = "default") -> World:
        """The world of that name as it is held, which may be behind what is stored: see `find`.

        Raises:
            WorldError: it is not held.
        """
        seat = self._seats.get(name)
        if seat is None:
            raise WorldError(f"world {name!r} is not held by this process")
        return seat.world

    def admit(self, name: str) -> str:
        """The name, if it can be a world's. Raises: WorldError."""
        return checked_name(name)

    async def find(self, name: str) -> World | None:
        """The world of that name as it is stored, or as it is here where it was only read. Raises: StoreError."""
        if not is_name(name):
            return None
        known = name in self._seats
        async with self._turn(name) as (seat, turn):
            if not known and turn.held is None:
                del self._seats[name]
                return None
            return seat.world

    async def peek(self, name: str = "default") -> World:
        """The world of that name as it is stored, or else as a new one would be. Raises: WorldError, StoreError."""
        async with self._turn(checked_name(name)) as (seat, _):
            return seat.world

    async def forked(self, name: str, new: str) -> World:
        """Store a copy of a world under another name. Raises: WorldError, also when that name is taken; StoreError."""
        checked_name(new)
        source = await self.peek(name)
        async with self._turn(new) as (seat, turn):
            if turn.held is not None:
                raise WorldError(f"world {new!r} is stored already; choose another name")
            seat.world.commit(source.state)
            await self._keep(seat, turn)
            return seat.world

    async def remove(self, name: str) -> bool:
        """Delete a world; False when none is stored. Raises: StoreError."""
        async with self._turn(name) as (seat, turn):
            gone = await self._in_thread(turn.delete)
            seat.held = None
            self._seats.pop(name, None)
            return gone

    def drop(self, name: str) -> None:
        """Not to be had without waiting: see `remove`."""
        raise WorldError(f"world {name!r} is shared by several processes: await remove({name!r})")

    async def switch_faults(self, name: str, plan: FaultPlan | None) -> None:  # noqa: ARG002
        """Plans of single worlds are not stored, so that the other processes would not know. Raises: FaultError."""
        raise FaultError(
            f"the faults of world {name!r} cannot be switched: several processes serve it; start the server with "
            "--faults, or serve without --workers"
        )

    async def _perform(self, name: str, call: ToolCall, bound: asyncio.Timeout) -> Rehearsal:
        if call.name not in self.environment.toolset:
            raise UnknownToolError(call.name)
        for attempt in range(_ATTEMPTS):
            try:
                async with self._turn(name) as (seat, turn):

                    async def save(_: World, seat: _Seat = seat, turn: Turn = turn) -> None:
                        bound.reschedule(None)  # from here on it happens
                        await self._keep(seat, turn)

                    return await self.environment.perform(seat.world, call, faults=self._faults, save=save)
            except (StaleWorldError, UnsavedWorldError):  # nothing has happened
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError

    async def change(self, world: World, change: Callable[[State], State]) -> None:
        """Put a world into the state that `change` makes of what is stored, and save it.

        Raises:
            StoreError: it could not be saved; nothing has happened, unless the error says otherwise.
        """
        for attempt in range(_ATTEMPTS):
            try:
                async with self._turn(world.name) as (seat, turn):
                    seat.world.commit(change(seat.world.state))
                    await self._keep(seat, turn)
                    world.commit(seat.world.state)
                    return
            except (StaleWorldError, UnsavedWorldError):
                if attempt == _ATTEMPTS - 1:
                    raise

    async def save(self, world: World) -> None:
        """Store a world's state, whatever is stored."""
        state = world.state
        await self.change(world, lambda _: state)

    @asynccontextmanager
    async def _turn(self, name: str) -> AsyncIterator[tuple[_Seat, Turn]]:
        """The turn of a world, which is as stored, or as a new one where it is not."""
        seat = self._seated(name)
        seat.users += 1
        try:
            async with seat.lock, self._free:
                toolset = self.environment.toolset.name
                if self._base is None:
                    self._base = await self._in_thread(self._turns.base, self.environment.start)
                turn = await self._in_thread(self._turns.take, toolset, name, seat.held, undo=_ended)
                try:
                    self._take_over(seat, turn)
                    yield seat, turn
                finally:
                    if not turn.ended:
                        await self._in_thread(turn.end)
        finally:
            seat.users -= 1
            self._make_room()

    def _take_over(self, seat: _Seat, turn: Turn) -> None:
        toolset = self.environment.toolset.name
        if turn.waited and self._watcher is not None:
            self._watcher.waited(toolset, turn.waited)
        if turn.read and seat.held is not None and self._watcher is not None:
            self._watcher.reloaded(toolset)
        if turn.held is not None:
            seat.world.commit(turn.held.state)
        else:
            seat.world.commit(seat.world.origin)
        seat.held = turn.held

    async def _keep(self, seat: _Seat, turn: Turn) -> None:
        # Where this fails, what is held is behind what is stored, or as stored: the next turn finds out.
        seat.held = await self._in_thread(turn.keep, seat.world.state, self._base)

    def _seated(self, name: str) -> _Seat:
        seat = self._seats.get(name)
        if seat is None:
            world = self.environment.world(checked_name(name), seed=self._seed, clock=self._clock)
            seat = self._seats[name] = _Seat(world)
            self._tell_count()
        else:
            self._seats.move_to_end(name)
        return seat

    def _make_room(self) -> None:
        if len(self._seats) <= self._most_held:
            return
        for name in [name for name, seat in self._seats.items() if not seat.users]:
            if len(self._seats) <= self._most_held:
                break
            del self._seats[name]
            if self._watcher is not None:
                self._watcher.evicted(self.environment.toolset.name)
        self._tell_count()

    def _tell_count(self) -> None:
        if self._watcher is not None:
            self._watcher.holds(self.environment.toolset.name, len(self._seats))

    async def _in_thread(
        self, work: Callable[..., T], *arguments: object, undo: Callable[[T], None] | None = None
    ) -> T:
        """What `work` gives. Whoever is cancelled meanwhile waits all the same until it is done, and undone."""
        future = asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            while not future.done():
                try:
                    await asyncio.wait([future])
                except asyncio.CancelledError:
                    continue
            if undo is not None and future.exception() is None:
                undo(future.result())
            raise


def _ended(turn: Turn) -> None:
    turn.end()
