"""Stopping a run from outside: the first Ctrl-C ends it at the next safe point, the second at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

__all__ = ["Stop"]

T = TypeVar("T")


class Stop:
    """Whether the run is to stop. Rollouts are given up at once; an update that has begun is finished."""

    def __init__(self) -> None:
        self.requested = False
        self._waiting: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def request(self) -> None:
        """Stop as soon as nothing is lost by it."""
        self.requested = True
        if self._waiting is not None and self._loop is not None:
            # Of a signal handler the loop learns nothing by itself.
            self._loop.call_soon_threadsafe(self._waiting.set)

    async def turn(self) -> None:
        """Let a signal that came during an update be noticed."""
        await asyncio.sleep(0)

    async def unless(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What the work comes to; None if the run is to stop before, and then the work is cancelled."""
        self._loop, self._waiting = asyncio.get_running_loop(), asyncio.Event()
        if self.requested:
            self._waiting.set()
        working, waiting = asyncio.ensure_future(work), asyncio.ensure_future(self._waiting.wait())
        try:
            await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                working.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await working
                return None
            return working.result()
        finally:
            self._waiting = None
            for each in (working, waiting):
                each.cancel()

    @contextlib.contextmanager
    def on_signals(self, told: Callable[[], None]) -> Iterator[None]:
        """While in the block, the first SIGINT or SIGTERM requests the stop, and `told` is called; the next one kills.

        Args:
            told: tells people.
        """

        def handle(number: int, frame: Any) -> None:  # noqa: ARG001  the signature is Python's
            if self.requested:
                raise KeyboardInterrupt
            told()
            self.request()

        before = {each: signal.signal(each, handle) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
