"""Worlds that may be called from any thread and any event loop, and that note what was called."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from envace_sdk.faults import FaultPlan
from envace_sdk.rehearse import Environment, Rehearsal, Worlds
from envace_sdk.tools.model import ToolCall

__all__ = ["Call", "NotedWorlds", "run"]

_T = TypeVar("_T")
_PAUSE = 0.001
"""Seconds between two looks at whether it is one's turn."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that happened, with what it was answered (whether or not a fault let the answer through)."""

    world: str
    call: ToolCall
    rehearsal: Rehearsal


class NotedWorlds(Worlds):
    """As `Worlds`, for callers in several threads, each with its own event loop or none."""

    def __init__(self, environment: Environment, **options: Any) -> None:
        super().__init__(environment, **options)
        self.calls: list[Call] = []
        self._turn = threading.Lock()

    async def perform(self, name: str, call: ToolCall) -> Rehearsal:
        """As `Worlds.perform`."""
        async with self._in_turn():
            rehearsal = await super().perform(name, call)
            self.calls.append(Call(name, call, rehearsal))
        return rehearsal

    async def switch_faults(self, name: str, plan: FaultPlan | None) -> None:
        """As `Worlds.switch_faults`."""
        async with self._in_turn():
            await super().switch_faults(name, plan)

    @contextlib.asynccontextmanager
    async def _in_turn(self) -> AsyncIterator[None]:
        # A world's own lock belongs to one event loop; this one to none, so it can only be tried.
        while not self._turn.acquire(blocking=False):  # noqa: ASYNC110
            await asyncio.sleep(_PAUSE)
        try:
            yield
        finally:
            self._turn.release()


def run(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run to the end, also where an event loop is running already, which then stands still meanwhile."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    outcome: list[_T] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(asyncio.run(coroutine))
        except BaseException as error:  # raised again, in the thread that asked
            failure.append(error)

    thread = threading.Thread(target=work, name="envace-sdk")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
