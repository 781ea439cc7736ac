"""The client side of MCP, below the typed layer: what a live server answers, off-spec or not, with its exact text.

`connect` is what the core looks for by import string.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Final, NoReturn

import mcp.types as types
from mcp import MCPError
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from pydantic import ValidationError

from envace_sdk.errors import UpstreamError
from envace_sdk.json import Json
from envace_sdk.tools import exact
from envace_sdk.tools.eras import LATEST_HANDSHAKE, is_modern
from envace_sdk.tools.finding import Finding, warning
from envace_sdk.tools.upstream import Catalogue, Handshake, Target

from .upstream_errors import failure, first_cause, is_closed
from .upstream_frames import Frames
from .upstream_http import Endpoint
from .upstream_stdio import Child

__all__ = ["Connection", "connect"]

MAX_PAGES: Final = 1000
"""Pages of a catalogue that are read before giving up."""

_CLIENT: Final = types.Implementation(name="envace-sdk", version=version("envace-sdk"))


async def connect(target: Target) -> Connection:
    """Open a connection to a live server.

    Raises:
        UpstreamError: it cannot be started or reached, refuses, or does not speak MCP.
    """
    connection = Connection(target)
    try:
        await connection.open()
    except UpstreamError:
        if not (connection.ended_early and target.handshake == "auto"):
            raise
        # Some servers of before 2026 end when the first word is not `initialize`.
        connection = Connection(replace(target, handshake="legacy"))
        await connection.open()
    return connection


class Connection:
    """An open connection; implements `envace_sdk.tools.upstream.Upstream`."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._frames = Frames()
        self._carrier: Child | Endpoint = (
            Endpoint(target, self._frames) if target.url is not None else Child(target, self._frames)
        )
        self._ids = itertools.count(1_000_000)
        self._ready = asyncio.Event()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._dispatcher: JSONRPCDispatcher[Any] | None = None
        self._headers: dict[str, dict[tuple[str, ...], str]] = {}
        self.era = LATEST_HANDSHAKE
        """The protocol revision that is spoken."""
        self.server: dict[str, Json] = {}
        """What the server says of itself."""
        self.ended_early = False
        """Whether a process ended before it was ready."""

    async def open(self) -> None:
        """Connect and shake hands.

        Raises:
            UpstreamError: as `connect`.
        """
        self._task = asyncio.create_task(self._run(), name=f"upstream {self._target}")
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            await self.close()
            raise
        finally:
            ready.cancel()
        if not self._ready.is_set():
            self.ended_early = isinstance(self._carrier, Child) and self._carrier.has_ended
            await self._fail(None, "")

    async def close(self) -> None:
        """End the connection, and the process where there is one. Closing twice is harmless."""
        self._closing.set()
        if self._task is None:
            return
        if not self._ready.is_set():
            self._task.cancel()
        while not self._task.done():
            # The process must be gone when this returns, also when the caller is being cancelled meanwhile.
            with suppress(asyncio.CancelledError):
                await asyncio.wait({self._task})
        with suppress(asyncio.CancelledError):
            self._task.exception()

    async def list_tools_raw(self) -> Catalogue:
        """Every page of `tools/list`. A cursor that leads nowhere new ends the reading, with a finding.

        Raises:
            UpstreamError: the server refuses, is gone, does not answer in time, or does not answer with a list.
        """
        definitions: list[Json] = []
        texts: list[str] = []
        findings: list[Finding] = []
        cursors: set[str] = set()
        cursor: str | None = None
        for page in range(1, MAX_PAGES + 1):
            request_id = next(self._ids)
            result = await self._request("tools/list", {} if cursor is None else {"cursor": cursor}, request_id)
            tools = result.get("tools")
            if not isinstance(tools, list):
                raise UpstreamError(f"{self._target}: tools/list was answered without a list of tools")
            listed = self._texts(request_id, tools)
            if page > 1 and set(listed) <= set(texts):
                findings.append(_endless("the next page brought no new tool"))
                break
            definitions.extend(tools)
            texts.extend(listed)
            cursor = result.get("nextCursor")
            if cursor is None:
                break
            if not isinstance(cursor, str) or cursor in cursors:
                findings.append(_endless(f"the cursor {str(cursor)[:60]!r} leads back, or is none"))
                break
            cursors.add(cursor)
        else:
            raise UpstreamError(f"{self._target}: tools/list goes on after {MAX_PAGES} pages")
        self._headers = {name: x_mcp_header_map(schema) for name, schema in _with_headers(definitions)}
        return Catalogue(tuple(definitions), tuple(texts), self.era, self.server, page, tuple(findings))

    async def call_raw(self, name: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """The result of `tools/call` as it came.

        Raises:
            UpstreamError: the server answers with a protocol error, is gone, or does not answer in time.
        """
        return await self._request("tools/call", {"name": name, "arguments": dict(arguments)}, next(self._ids))

    async def ask_raw(self, method: str, params: Mapping[str, Json]) -> dict[str, Json]:
        """The answer to any request as it came: `{"result": …}`, or `{"error": …}` where the server refused.

        Raises:
            UpstreamError: the server is gone, or does not answer in time.
        """
        try:
            return {"result": await self._request(method, dict(params), next(self._ids))}
        except UpstreamError as error:
            cause = error.__cause__
            if not isinstance(cause, MCPError) or is_closed(cause) or cause.code == types.REQUEST_TIMEOUT:
                raise
            return {"error": cause.error.model_dump(exclude_none=True)}

    async def _run(self) -> None:
        async with self._carrier.run() as (read, write):
            self._dispatcher = JSONRPCDispatcher(read, write)
            timeout = self._target.timeout
            async with ClientSession(
                dispatcher=self._dispatcher, client_info=_CLIENT, read_timeout_seconds=timeout
            ) as session:
                await _shake_hands(session, self._target.handshake)
                self.era = session.protocol_version or LATEST_HANDSHAKE
                if session.server_info is not None:
                    self.server = session.server_info.model_dump(by_alias=True, mode="json", exclude_none=True)
                self._ready.set()
                await self._closing.wait()

    async def _request(self, method: str, params: dict[str, Json], request_id: int) -> dict[str, Json]:
        if self._dispatcher is None or self._closing.is_set():
            raise UpstreamError(f"{self._target}: the connection is closed")
        headers = {MCP_PROTOCOL_VERSION_HEADER: self.era}
        if is_modern(self.era):
            params["_meta"] = {
                types.PROTOCOL_VERSION_META_KEY: self.era,
                types.CLIENT_INFO_META_KEY: _CLIENT.model_dump(by_alias=True, mode="json", exclude_none=True),
                types.CLIENT_CAPABILITIES_META_KEY: {},
            }
            headers[MCP_METHOD_HEADER] = method
            if (named := params.get("uri" if method == "resources/read" else "name")) is not None:
                headers[MCP_NAME_HEADER] = encode_header_value(named)
            if method == "tools/call":
                headers |= mcp_param_headers(self._headers.get(params["name"], {}), params.get("arguments") or {})
        options: CallOptions = {"timeout": self._target.timeout, "request_id": request_id, "headers": headers}
        try:
            return await self._dispatcher.send_raw_request(method, params, options)
        except (MCPError, RuntimeError) as error:
            await self._fail(error, method)

    async def _fail(self, error: Exception | None, method: str) -> NoReturn:
        task = self._task
        if (error is None or is_closed(error)) and task is not None:
            # What ended the connection tells more than that it ended; it may take a moment to come out.
            await asyncio.wait({task}, timeout=0.5)
            if task.done() and not task.cancelled() and (cause := task.exception()) is not None:
                error = first_cause(cause) or error
        words = await self._carrier.last_words()
        raise failure(self._target, error, method, words, self._carrier.status) from error

    def _texts(self, request_id: int, tools: Sequence[Json]) -> list[str]:
        answer = self._frames.answer(request_id)
        array = exact.find_array(answer, "result", "tools") if answer is not None else None
        texts = exact.element_texts(array) if array is not None else []
        if len(texts) == len(tools):
            return texts
        return [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in tools]


async def _shake_hands(session: ClientSession, handshake: Handshake) -> None:
    """Find out which era the server speaks, as the SDK's own client does."""
    if handshake == "legacy":
        await session.initialize()
        return
    try:
        await session.discover()
    except (MCPError, ValidationError, RuntimeError):
        if handshake == "modern":
            raise
    else:
        return
    try:
        await session.initialize()
    except MCPError as error:
        # A server that was slow to start may have understood the first question after all, and hold on to it.
        if error.code != types.UNSUPPORTED_PROTOCOL_VERSION:
            raise
        await session.discover()


def _with_headers(definitions: Sequence[Json]) -> Iterator[tuple[str, Json]]:
    for definition in definitions:
        if isinstance(definition, dict) and isinstance(name := definition.get("name"), str):
            schema = definition.get("inputSchema")
            if isinstance(schema, dict) and find_invalid_x_mcp_header(schema) is None:
                yield name, schema


def _endless(why: str) -> Finding:
    found = warning(
        (),
        "endless-list",
        f"the pages of the list do not end: {why}",
        "the tools up to there were read; tell the server",
    )
    return replace(found, tool="*")
