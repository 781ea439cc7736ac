"""A gateway on standard input and output, before a server that it runs as its own child.

Messages pass as they are, byte for byte where they need no cleaning, but for tool calls, which the gate answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import uuid
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.types import INVALID_REQUEST

from envace_sdk.json import Json
from envace_sdk.tools.upstream import Target

from .gateway_calls import Caller, Gate
from .gateway_child import LEAVE, start, stop
from .gateway_frames import GONE, CannotPass, cleaned, dump, error, id_key, is_answer, is_call, parse
from .gateway_hearing import Unreadable, hear, ids_in, purged, told
from .gateway_pipes import Lines, signals, write_all
from .stdio import FRAME_LIMIT, Pipes

__all__ = ["StdioGateway"]

logger = logging.getLogger(__name__)

Message = dict[str, Json]
GRACE: Final = 5.0
"""Seconds that calls which were sent on may still take once the client has left, or has cancelled them."""


@dataclass
class _Going:
    """A tool call that the gate is at."""

    reply: asyncio.Future[Message]
    """What the server answers, once it was sent."""
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    def lose(self, why: str) -> None:
        """Let the call know that no answer comes."""
        self.reply.set_exception(ConnectionError(why))
        self.reply.exception()  # it may be that nobody waits for it: the call was never sent


class StdioGateway:
    """One client and one run of a server.

    Args:
        gate: what each tool call passes.
        target: the server's command.
        thread: the conversation, as the ledger has it.
        patience: seconds to wait for the client's user to answer a question.
    """

    def __init__(self, gate: Gate, target: Target, *, thread: str, patience: float) -> None:
        self._gate = gate
        self._target = target
        self._thread = thread
        self._patience = patience
        self._capabilities: Json = None
        self._going: dict[str, _Going] = {}
        self._open: dict[str, Json] = {}
        """Other requests of the client that the server has not answered, by key."""
        self._asked: dict[str, asyncio.Future[Json]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing = asyncio.Lock()
        self._feeding = asyncio.Lock()
        self._has_ended = False

    async def run(self, pipes: Pipes) -> int:
        """Relay until a side leaves or SIGINT or SIGTERM comes; gives the server's exit code where it left by itself.

        Raises:
            UpstreamError: the server cannot be started.
        """
        self._pipes = pipes
        self._process = process = await start(self._target)
        closing = asyncio.Event()
        with signals(closing):
            client = asyncio.create_task(self._hear_client())
            server = asyncio.create_task(self._hear_server())
            told_off = asyncio.create_task(closing.wait())
            done, _ = await asyncio.wait({client, server, told_off}, return_when=asyncio.FIRST_COMPLETED)
            server_left = server in done and client not in done
            if server_left:
                await self._server_has_ended()
            if self._tasks:
                for asked in self._asked.values():
                    if not asked.done():
                        asked.set_result(None)
                await asyncio.wait(self._tasks, timeout=GRACE)
            await stop(process)
            if not server_left:
                await self._server_has_ended()
                if self._tasks:
                    await asyncio.wait(self._tasks, timeout=GRACE)
            for task in (client, server, told_off):
                task.cancel()
            await asyncio.gather(client, server, told_off, return_exceptions=True)
        return process.returncode or 0 if server_left else 0

    # The client

    async def _hear_client(self) -> None:
        lines = Lines(self._pipes.reading)
        async for line in lines:
            try:
                message = parse(line)
            except CannotPass as problem:
                await self._answer(problem.answer)
                continue
            await self._from_client(message)

    async def _from_client(self, message: Message) -> None:
        method, identity = message.get("method"), message.get("id")
        if is_call(message):
            await self._begin(message)
            return
        if is_answer(message) and isinstance(identity, str) and identity in self._asked:
            waiting = self._asked[identity]
            if not waiting.done():
                waiting.set_result(message.get("result"))
            return
        params = message.get("params")
        if method == "initialize" and isinstance(params, dict):
            self._capabilities = params.get("capabilities")
        if method == "notifications/cancelled" and isinstance(params, dict):
            going = self._going.get(id_key(params.get("requestId")))
            if going is not None:
                going.cancelled.set()
        if isinstance(method, str) and "id" in message:
            if self._has_ended:
                await self._answer(error(identity, GONE, self._ending()))
                return
            self._open[id_key(identity)] = identity
        await self._send(cleaned(message))

    async def _begin(self, message: Message) -> None:
        key = id_key(message["id"])
        if key in self._going or key in self._open:
            await self._answer(error(message["id"], INVALID_REQUEST, "The id of a request that is still going"))
            return
        self._going[key] = going = _Going(asyncio.get_running_loop().create_future())
        task = asyncio.create_task(self._call(message, key, going))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _call(self, message: Message, key: str, going: _Going) -> None:
        caller = Caller(self._thread, self._capabilities, self._elicitor(going), going.cancelled.is_set)

        async def forward(request: Message) -> Message:
            if self._has_ended:
                raise ConnectionError(self._ending())
            await self._send(request)
            cancelled = asyncio.create_task(going.cancelled.wait())
            try:
                waited: set[asyncio.Future[Any]] = {going.reply, cancelled}
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                return await asyncio.wait_for(going.reply, None if going.reply.done() else GRACE)
            except TimeoutError:
                raise ConnectionError("the client cancelled it, and the server gave no answer") from None
            finally:
                cancelled.cancel()

        try:
            await self._answer(await self._gate.call(message, caller, forward))
        finally:
            del self._going[key]

    def _elicitor(self, going: _Going) -> Callable[[Mapping[str, Json]], Coroutine[Any, Any, Json]]:
        async def elicit(params: Mapping[str, Json]) -> Json:
            identity = f"envace-gateway-{uuid.uuid4()}"
            self._asked[identity] = waiting = asyncio.get_running_loop().create_future()
            cancelled = asyncio.create_task(going.cancelled.wait())
            try:
                ask = {"jsonrpc": "2.0", "id": identity, "method": "elicitation/create", "params": dict(params)}
                await self._answer(ask)
                await asyncio.wait({waiting, cancelled}, timeout=self._patience, return_when=asyncio.FIRST_COMPLETED)
                return waiting.result() if waiting.done() else None
            finally:
                cancelled.cancel()
                del self._asked[identity]

        return elicit

    async def _answer(self, message: Message | None) -> None:
        if message is not None:
            await self._write(told(message) + b"\n")

    async def _write(self, frame: bytes) -> None:
        async with self._writing:
            with contextlib.suppress(OSError):  # a client that has left hears nothing; its calls go on all the same
                await asyncio.to_thread(write_all, self._pipes.writing, frame)

    # The server

    async def _hear_server(self) -> None:
        output = self._process.stdout
        assert output is not None  # noqa: S101  for the type checker: opened with pipes
        while True:
            try:
                line = await output.readuntil(b"\n")
            except asyncio.IncompleteReadError as last:
                if last.partial.strip():
                    await self._from_server(last.partial)
                return
            except asyncio.LimitOverrunError:
                logger.error("the server sent a line of more than %d bytes", FRAME_LIMIT)
                return
            await self._from_server(line)

    async def _from_server(self, line: bytes) -> None:
        try:
            message = hear(line)
        except Unreadable as problem:
            await self._unheard(line, problem)
            return
        if not isinstance(message, dict):
            # What is no message can hold no answer to a call, and is passed on as it is; a batch can.
            for one in message if isinstance(message, list) else ():
                await self._from_server(json.dumps(one).encode() + b"\n")
            if message is None:
                await self._write(line)
            return
        if is_answer(message):
            key = id_key(message["id"])
            if key in self._going:
                reply = self._going[key].reply
                if not reply.done():
                    reply.set_result(message)
                return
            if self._open.pop(key, self) is self:
                return  # nobody waits for it; an answer that comes too late for its call must not look like another's
        text = purged(line, message)
        await self._write(line if text is line else text + b"\n")

    async def _unheard(self, line: bytes, problem: Unreadable) -> None:
        """Let nobody wait for an answer that cannot be read; what it was about to say is not passed on."""
        logger.error("%s sent a message that was dropped: %s", self._target, problem)
        why = f"the server's answer was dropped: {problem}"
        for identity in ids_in(line):
            going = self._going.get(id_key(identity))
            if going is not None and not going.reply.done():
                going.lose(why)
            elif self._open.pop(id_key(identity), self) is not self:
                await self._answer(error(identity, GONE, why))

    async def _send(self, message: Message) -> None:
        source = self._process.stdin
        assert source is not None  # noqa: S101  as above
        async with self._feeding:
            with contextlib.suppress(ConnectionError):  # that the server has ended is told where its output ends
                source.write(dump(message) + b"\n")
                await source.drain()

    async def _server_has_ended(self) -> None:
        self._has_ended = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), LEAVE)
        for going in self._going.values():
            if not going.reply.done():
                going.lose(self._ending())
        for identity in self._open.values():
            await self._answer(error(identity, GONE, self._ending()))
        self._open.clear()

    def _ending(self) -> str:
        code = self._process.returncode
        return f"the server {self._target} has ended{'' if code is None else f' (exit code {code})'}"
