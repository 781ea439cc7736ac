"""Reading and writing lines on descriptors, for a gateway: by threads, so that it works on any system and any file."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Final

from .stdio import FRAME_LIMIT

__all__ = ["Lines", "signals", "write_all"]

logger = logging.getLogger(__name__)

_CHUNK: Final = 1 << 16


class Lines:
    """Lines of a descriptor, read by a thread of its own: one that is idle waits in no event loop, on any system."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(64)
        self._loop = asyncio.get_running_loop()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        threading.Thread(target=self._read, name="gateway input", daemon=True).start()
        while (line := await self._queue.get()) is not None:
            yield line

    def _read(self) -> None:
        buffer = bytearray()
        with contextlib.suppress(RuntimeError, OSError):  # the loop is closed: nobody reads any more
            while chunk := os.read(self._descriptor, _CHUNK):
                start = len(buffer)
                buffer += chunk
                if buffer.find(b"\n", start) < 0:
                    if len(buffer) > FRAME_LIMIT:
                        logger.error("a line of more than %d bytes was dropped", FRAME_LIMIT)
                        buffer.clear()
                    continue
                *lines, rest = bytes(buffer).split(b"\n")
                buffer[:] = rest
                for line in filter(bytes.strip, lines):
                    self._put(line)
            if buffer.strip():
                self._put(bytes(buffer))
        with contextlib.suppress(RuntimeError):
            self._put(None)

    def _put(self, line: bytes | None) -> None:
        placing = self._queue.put(line)
        try:
            future = asyncio.run_coroutine_threadsafe(placing, self._loop)
        except RuntimeError:
            placing.close()
            raise
        with contextlib.suppress(asyncio.CancelledError, TimeoutError):
            future.result()


def write_all(descriptor: int, frame: bytes) -> None:
    """Write all of it, however long the reader takes."""
    rest = memoryview(frame)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@contextlib.contextmanager
def signals(closing: asyncio.Event) -> Iterator[None]:
    """Meanwhile SIGINT and SIGTERM set the event."""
    loop = asyncio.get_running_loop()
    handled: list[signal.Signals] = []
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread, or Windows
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, closing.set)
            handled.append(number)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
