"""Progress of a call that takes long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

__all__ = ["Heartbeat"]


class Heartbeat:
    """Reports the seconds passed, every `interval` of them, until it is left.

    A call that ends sooner costs a timer and nothing else.
    """

    def __init__(self, report: Callable[[float], Awaitable[None]], *, interval: float) -> None:
        self._report = report
        self._interval = interval
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        self._timer = asyncio.get_running_loop().call_later(self._interval, self._start)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._beat())

    async def _beat(self) -> None:
        beats = 0
        while True:
            beats += 1
            await self._report(beats * self._interval)
            await asyncio.sleep(self._interval)
