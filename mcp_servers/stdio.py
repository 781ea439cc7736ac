"""MCP over standard input and output.

The SDK's own transport reads in a worker thread that no signal interrupts, and leaves a line that it cannot parse
unanswered. This one waits on the pipe itself, so that a server ends at once on end of input, SIGINT and SIGTERM.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

from .exact import Splice
from .request_ids import request_id

__all__ = ["Pipes", "claim_stdio", "serve"]

logger = logging.getLogger(__name__)

FRAME_LIMIT: Final = 64 * 1024 * 1024
"""Longest line that is read, in bytes."""
GRACE: Final = 1.0
"""Seconds that requests in flight may still take when the input has ended."""
_CHUNK: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Pipes:
    """The descriptors that carry frames."""

    reading: int
    writing: int


@contextlib.contextmanager
def claim_stdio() -> Iterator[Pipes]:
    """Take standard input and output away from everybody else, until left.

    Descriptor 1 then leads to standard error: whatever prints, a library or a warning, tears no frame.
    """
    sys.stdout.flush()
    pipes = Pipes(os.dup(0), os.dup(1))  # not inherited by child processes
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield pipes
    finally:
        sys.stdout.flush()
        for private, public in ((pipes.reading, 0), (pipes.writing, 1)):
            os.dup2(private, public)
            os.close(private)


async def serve(
    server: Server[Any], pipes: Pipes, *, splice: Splice | None = None, closing: anyio.Event | None = None
) -> None:
    """Serve one client until its input ends, it hangs up, `closing` is set, or SIGINT or SIGTERM arrives."""
    if sys.platform == "win32":
        await serve_in_threads(server, pipes)
        return
    with anyio.CancelScope() as scope, _signals(scope), _Outbox(pipes.writing, splice) as outbox:
        received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as sending:
            sending.start_soon(_send, sent, outbox, scope)
            async with anyio.create_task_group() as receiving:
                receiving.start_soon(_receive, pipes.reading, received, outbox)
                if closing is not None:
                    receiving.start_soon(_close, closing, scope)
                await server.run(incoming, outgoing, server.create_initialization_options())
                receiving.cancel_scope.cancel()


async def _close(closing: anyio.Event, scope: anyio.CancelScope) -> None:
    await closing.wait()
    scope.cancel()


async def serve_in_threads(server: Server[Any], pipes: Pipes) -> None:
    """Serve by the SDK's own transport, for systems whose pipes cannot be waited on. Nothing is spliced there."""
    with (
        os.fdopen(pipes.reading, encoding="utf-8", errors="replace", closefd=False) as source,
        os.fdopen(pipes.writing, "w", encoding="utf-8", newline="\n", closefd=False) as target,
    ):
        async with stdio_server(anyio.wrap_file(source), anyio.wrap_file(target)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


@contextlib.contextmanager
def _signals(scope: anyio.CancelScope) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    handled = (signal.SIGINT, signal.SIGTERM)
    try:
        for number in handled:
            loop.add_signal_handler(number, scope.cancel)
    except (NotImplementedError, RuntimeError, ValueError):  # not the main thread, or Windows: as they were
        yield
        return
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


async def _receive(
    descriptor: int, messages: MemoryObjectSendStream[SessionMessage | Exception], outbox: _Outbox
) -> None:
    async with messages:
        async for line in _lines(descriptor):
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError:
                await outbox.write(_fault(line))
                continue
            if isinstance(message, JSONRPCNotification) and "id" in from_json(line):
                await outbox.write(
                    _fault(line)
                )  # a request whose id is null or a fraction: its sender awaits an answer
                continue
            outbox.expect(message)
            await messages.send(SessionMessage(message))
        # `envace-sdk serve < frames` is owed its answers; the SDK drops what is unanswered when this stream ends.
        with anyio.move_on_after(GRACE):
            await outbox.settled.wait()


def _fault(line: bytes) -> JSONRPCError:
    """What a line that is no message is answered: to its sender the request would else hang."""
    try:
        from_json(line)
    except ValueError as error:
        fault = ErrorData(code=PARSE_ERROR, message=f"Parse error: {error}")
    else:
        expected = (
            "Expected one JSON-RPC 2.0 request, notification or response; the id of a request is text or an integer"
        )
        fault = ErrorData(code=INVALID_REQUEST, message=expected)
    return JSONRPCError(jsonrpc="2.0", id=request_id(line), error=fault)


async def _send(messages: MemoryObjectReceiveStream[SessionMessage], outbox: _Outbox, scope: anyio.CancelScope) -> None:
    async with messages:
        try:
            async for message in messages:
                await outbox.write(message.message)
        except (BrokenPipeError, ConnectionError):
            logger.info("the client hung up")
            scope.cancel()


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    """Lines until the end of input; blank ones and what is longer than the limit are skipped."""
    buffer = bytearray()
    while chunk := await _read(descriptor):
        buffer += chunk
        if b"\n" not in chunk:
            if len(buffer) > FRAME_LIMIT:
                logger.error("a line of more than %d bytes was dropped", FRAME_LIMIT)
                buffer.clear()
            continue
        *lines, rest = bytes(buffer).split(b"\n")
        buffer[:] = rest
        for line in lines:
            if line.strip():
                yield line
    if buffer.strip():
        yield bytes(buffer)


async def _read(descriptor: int) -> bytes:
    try:
        await anyio.wait_readable(descriptor)
    except PermissionError:  # a file, or the null device: always ready, and nothing one can wait on
        await anyio.lowlevel.checkpoint()
    return os.read(descriptor, _CHUNK)


class _Outbox:
    """Writes frames, one a line, without ever blocking the event loop on a pipe that is full."""

    def __init__(self, descriptor: int, splice: Splice | None) -> None:
        self._descriptor = descriptor
        self._splice = splice
        mode = os.fstat(descriptor).st_mode
        self._waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
        self._turn = anyio.Lock()
        self._owed: set[int | str] = set()
        self.settled = anyio.Event()
        """Set while no request waits for its answer."""
        self.settled.set()

    def __enter__(self) -> Self:
        if self._waits:
            os.set_blocking(self._descriptor, False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._waits:
            os.set_blocking(self._descriptor, True)

    def expect(self, message: JSONRPCMessage) -> None:
        """Remember that a request is owed an answer. A subscription is not: its answer comes when it is closed."""
        if isinstance(message, JSONRPCRequest) and message.method != "subscriptions/listen":
            if not self._owed:
                self.settled = anyio.Event()
            self._owed.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, request: object) -> None:
        if isinstance(request, int | str):
            self._owed.discard(request)
        if not self._owed:
            self.settled.set()

    async def write(self, message: JSONRPCMessage) -> None:
        frame = _frame(message)
        if self._splice is not None:
            frame = self._splice.apply(frame)
        async with self._turn:
            rest = memoryview(frame + b"\n")
            while rest:
                try:
                    rest = rest[os.write(self._descriptor, rest) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._descriptor)
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._settle(message.id)


def _frame(message: JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except (PydanticSerializationError, UnicodeError):
        logger.exception("a message cannot be written as JSON")
        if not isinstance(message, JSONRPCResponse):
            return b""
        error = ErrorData(code=INTERNAL_ERROR, message="The answer cannot be written as JSON")
        return JSONRPCError(jsonrpc="2.0", id=message.id, error=error).model_dump_json(exclude_none=True).encode()
