"""A server run as a child process: its frames exactly as they come, its last words when it dies.

The SDK's own stdio client hands out parsed messages only, gives up on a line it finds off-spec, and does not tell why
a process ended; recording and pulling need all three.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError

from envace_sdk.errors import UpstreamError
from envace_sdk.tools.upstream import Target

from .upstream_frames import Frames

__all__ = ["Child"]

_GRACE: Final = 2.0
"""Seconds a server has to leave by itself once its standard input is closed, and again once it is told to."""

_MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one line."""

_MOST_NOISE: Final = 1000
"""Lines in a row that are no messages: what prints that much is not an MCP server."""

_TAIL: Final = 20
"""Lines of what it printed to quote when it fails."""


class Child:
    """One run of a server's command."""

    def __init__(self, target: Target, frames: Frames) -> None:
        self._target = target
        self._frames = frames
        self._process: Process | None = None
        self._errors: deque[str] = deque(maxlen=_TAIL)
        self._noise: deque[str] = deque(maxlen=3)
        self._flaw = ""
        self._stderr_done = anyio.Event()
        self.has_ended = False
        """Whether the process closed its output before it was told to leave."""

    @asynccontextmanager
    async def run(self) -> AsyncIterator[TransportStreams]:
        """Start the command; yields the two streams of the MCP transport contract, and ends the process after.

        Raises:
            UpstreamError: the command cannot be started.
        """
        process = await self._start()
        self._process = process
        to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, process, to_session)
                tasks.start_soon(self._write, process, from_session)
                tasks.start_soon(self._listen, process)
                try:
                    yield from_server, to_server
                finally:
                    with anyio.CancelScope(shield=True):
                        from_server.close()
                        to_server.close()
                        await self._stop(process)
                    tasks.cancel_scope.cancel()
        finally:
            for stream in (to_session, from_server, to_server, from_session):
                stream.close()
            with anyio.CancelScope(shield=True):
                await process.aclose()

    status: int | None = None
    """No HTTP here."""

    async def last_words(self) -> str:
        """Why the process is of no more use, as far as it shows: how it ended, what it printed."""
        parts = [self._flaw] if self._flaw else []
        process = self._process
        if process is not None and self.has_ended:
            with anyio.move_on_after(0.5):
                await process.wait()
                await self._stderr_done.wait()
            if process.returncode is not None:
                parts.append(f"it ended with exit code {process.returncode}")
        if self._errors:
            parts.append("its stderr ends:\n" + "\n".join(f"  {line}" for line in self._errors))
        elif self._noise:
            parts.append("it printed:\n" + "\n".join(f"  {line}" for line in self._noise))
        return "; ".join(parts)

    async def _start(self) -> Process:
        target = self._target
        environment = get_default_environment() | dict(target.env)
        if target.cwd is not None and not target.cwd.is_dir():
            raise UpstreamError(f"{target}: the working directory {target.cwd} is not there")
        program = shutil.which(target.command[0], path=environment.get("PATH", os.defpath))
        if program is None:
            raise UpstreamError(f"{target}: command not found: {target.command[0]}")
        try:
            return await anyio.open_process(
                [program, *target.command[1:]],
                env=environment,
                cwd=target.cwd,
                start_new_session=sys.platform != "win32",
            )
        except (OSError, ValueError) as error:
            raise UpstreamError(f"{target}: cannot be started: {error}") from error

    async def _read(self, process: Process, session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        assert process.stdout is not None  # noqa: S101  for the type checker: opened with pipes
        noise = 0
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with session:
                async for line in _lines(process.stdout):
                    message = self._message(line)
                    if message is not None:
                        noise = 0
                        await session.send(message)
                    elif line.strip():
                        noise += 1
                        self._noise.append(_printable(line))
                    if noise > _MOST_NOISE:
                        self._flaw = "it prints text that is not MCP"
                        return
                self.has_ended = True
        await _drain(process.stdout)

    def _message(self, line: bytes) -> SessionMessage | None:
        try:
            text = line.decode()
            message = jsonrpc_message_adapter.validate_python(json.loads(text), by_name=False)
        except (ValidationError, ValueError, RecursionError):
            return None
        self._frames.keep(text.strip())
        return SessionMessage(message)

    async def _write(self, process: Process, session: MemoryObjectReceiveStream[SessionMessage]) -> None:
        assert process.stdin is not None  # noqa: S101  as above
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            async with session:
                async for item in session:
                    await process.stdin.send(
                        item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                    )

    async def _listen(self, process: Process) -> None:
        assert process.stderr is not None  # noqa: S101  as above
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for line in _lines(process.stderr):
                if line.strip():
                    self._errors.append(_printable(line))
        self._stderr_done.set()

    async def _stop(self, process: Process) -> None:
        if process.stdin is not None:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await process.stdin.aclose()
        with anyio.move_on_after(0 if self._flaw else _GRACE):
            await process.wait()
            return
        if sys.platform == "win32":
            process.kill()
        else:
            await terminate_posix_process_tree(process, _GRACE)


async def _lines(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    """The lines of a stream, the last one too if nothing ends it; an over-long line is cut off."""
    buffer = bytearray()
    with suppress(anyio.EndOfStream):
        while True:
            chunk = await stream.receive()
            start = len(buffer)
            buffer += chunk
            if b"\n" in chunk:
                *lines, rest = _split(buffer, start)
                buffer = bytearray(rest)
                for line in lines:
                    yield line
            elif len(buffer) > _MOST_BYTES:
                yield bytes(buffer[:1000])
                buffer.clear()
    if buffer:
        yield bytes(buffer)


def _split(buffer: bytearray, start: int) -> list[bytes]:
    # Only what came last can hold a line break: a long line is not searched again with every chunk.
    first = buffer.index(b"\n", start)
    return [bytes(buffer[:first]), *bytes(buffer[first + 1 :]).split(b"\n")]


async def _drain(stream: ByteReceiveStream) -> None:
    """Read on, so that a server with more to say is not stuck in a full pipe instead of leaving."""
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while True:
            await stream.receive()


def _printable(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    shown = "".join(character if character.isprintable() else "�" for character in text.replace("\t", "  "))
    return shown if len(shown) <= 300 else shown[:299] + "…"
